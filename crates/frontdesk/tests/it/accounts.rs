//! `migrate`, `org`, `user`, `token`, `threads`, `bus`: each on a store of its own.

use crate::desk::{Desk, Ran};

#[track_caller]
fn prints(ran: Ran, out: &str) {
    assert_eq!(ran, Ran { code: Some(0), out: out.to_owned(), err: String::new() });
}

#[test]
fn migrate_makes_the_store_and_can_be_repeated() {
    let desk = Desk::new().write("frontdesk.toml", "[store]\nurl = \"sqlite:desk.db\"\n");
    let first = desk.run(&["migrate"]);
    assert_eq!(first.code, Some(0), "{first:?}");
    assert!(first.out.contains("desk.db is at version "), "{first:?}");
    assert!(desk.path("desk.db").exists());
    assert_eq!(desk.run(&["migrate"]), first);
}

#[test]
fn organizations_are_added_listed_and_removed() {
    let desk = Desk::new();
    prints(desk.run(&["org", "add", "acme"]), "organization acme: added\n");
    prints(desk.run(&["org", "add", "acme"]), "organization acme: already there\n");
    prints(desk.run(&["org", "list"]), "acme\n");
    prints(desk.run(&["org", "remove", "acme"]), "organization acme: removed\n");
    prints(desk.run(&["org", "list"]), "");
    let again = desk.run(&["org", "remove", "acme"]);
    assert_eq!(again.code, Some(1));
    assert_eq!(again.err, "frontdesk: there is no organization acme; `org list` shows those there are\n");
}

#[test]
fn people_belong_to_an_organization() {
    let desk = Desk::new();
    for command in [&["user", "add", "ada", "--org", "acme"][..], &["user", "list", "--org", "acme"]] {
        let ran = desk.run(command);
        assert_eq!(ran.code, Some(1));
        assert_eq!(ran.err, "frontdesk: there is no organization acme; add it with `org add acme`\n");
    }
    prints(desk.run(&["org", "add", "acme"]), "organization acme: added\n");
    prints(desk.run(&["user", "add", "ada", "--org", "acme", "--role", "admin"]), "ada in acme: added\n");
    prints(desk.run(&["user", "list", "--org", "acme"]), "ada  admin\n");
    prints(desk.run(&["org", "list"]), "acme\n");
    prints(desk.run(&["user", "remove", "ada", "--org", "acme"]), "ada in acme: removed\n");
    let again = desk.run(&["user", "remove", "ada", "--org", "acme"]);
    assert_eq!(again.code, Some(1));
    assert_eq!(again.err, "frontdesk: ada is no member of acme; `user list --org acme` shows those who are\n");
}

#[test]
fn a_token_stands_alone_on_its_line_in_both_modes() {
    for desk in [Desk::new(), Desk::new().with("FRONTDESK__AUTH__JWT_SECRET", "0123456789abcdef0123456789abcdef")] {
        let ran = desk.run(&["token", "--sub", "ada", "--org", "acme", "--ttl", "15m"]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
        let token = ran.out.strip_suffix('\n').unwrap();
        assert_eq!(token.split('.').count(), 3);
        assert!(!token.contains(char::is_whitespace));
    }
    let ran = Desk::new().run(&["token", "--sub", "ada", "--org", "acme", "--ttl", "soon"]);
    assert_eq!(ran.code, Some(2));
}

#[test]
fn an_empty_store_has_no_threads_and_no_dead_letters() {
    let desk = Desk::new();
    prints(desk.run(&["threads", "list"]), "");
    prints(desk.run(&["threads", "list", "--json"]), "{\n  \"items\": []\n}\n");
    prints(desk.run(&["bus", "dead", "--json"]), "{\n  \"items\": []\n}\n");
    let ran = desk.run(&["threads", "show", "t1"]);
    assert_eq!(ran.code, Some(1));
    assert_eq!(ran.err, "frontdesk: local of local has no thread t1; `threads list` shows those there are\n");
}
