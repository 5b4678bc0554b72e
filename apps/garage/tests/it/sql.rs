//! The statements of the sources: only the garage's tables, always within an organization.

use std::{fs, path::Path};

/// Texts between quotes that hold SQL, with the file they stand in.
fn statements(folder: &Path) -> Vec<(String, String)> {
    let mut out = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            out.extend(statements(&path));
        } else {
            let text = fs::read_to_string(&path).unwrap();
            let literals = text.split('"').skip(1).step_by(2);
            let sql =
                literals.filter(|text| ["SELECT ", "INSERT ", "UPDATE ", "DELETE "].iter().any(|word| text.starts_with(word)));
            out.extend(sql.map(|sql| (path.display().to_string(), sql.to_owned())));
        }
    }
    out
}

/// The names after the words that a table's name comes after.
fn tables(sql: &str) -> Vec<&str> {
    let words: Vec<_> = sql.split_whitespace().collect();
    let named = words.windows(2).filter(|pair| ["FROM", "INTO", "JOIN", "UPDATE"].contains(&pair[0]) && pair[1] != "SET");
    named.map(|pair| pair[1]).collect()
}

#[test]
fn statements_name_the_garage_s_tables_and_an_organization() {
    let found = statements(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(found.len() >= 8, "{found:?}");
    for (file, sql) in found {
        let tables = tables(&sql);
        assert!(!tables.is_empty() && tables.iter().all(|table| table.starts_with("garage_")), "{file}: {sql}");
        let within =
            if sql.starts_with("INSERT") { sql.contains("org_id") } else { sql.matches("org_id = $1").count() == tables.len() };
        assert!(within, "{file}: {sql}");
        assert!(!tables.contains(&"garage_todos") || sql.contains("user_id") || sql.contains("UNION"), "{file}: {sql}");
    }
}
