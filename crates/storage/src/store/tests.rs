use super::*;

fn refused(url: &str) -> String {
    target(url).unwrap_err().to_string()
}

#[test]
fn urls_name_an_engine() {
    assert_eq!(target("sqlite:frontdesk.db").unwrap(), Target::Sqlite("frontdesk.db".into()));
    assert_eq!(target("sqlite:///var/lib/a.db").unwrap(), Target::Sqlite("/var/lib/a.db".into()));
    assert_eq!(target("postgres://ada@db/frontdesk").unwrap(), Target::Postgres);
    assert!(refused("sqlite::memory:").contains("neither sqlite:PATH nor postgres://"));
    assert!(refused("sqlite:").contains("\"sqlite:\""));
}

#[test]
fn a_refused_url_keeps_its_password_to_itself() {
    for url in ["mysql://ada:p@ss@db/x", "ada:p@ss@db"] {
        assert!(!refused(url).contains("ss@"), "{}", refused(url));
    }
    let options = StoreOptions { url: "postgres://ada:secret@db/x".into(), durability: Durability::Full, connections: 0 };
    assert!(!format!("{options:?}").contains("secret"));
}
