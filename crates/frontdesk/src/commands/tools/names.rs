//! The names of tools and commands as a Rust source, so that a misspelt one in a role does not compile.

use std::collections::BTreeSet;

use domain::ToolName;

/// `names.rs`, without its last line end.
pub(super) fn source<'a>(program: &str, names: impl Iterator<Item = &'a ToolName>) -> String {
    let names: BTreeSet<&ToolName> = names.collect();
    let mut source = format!(
        "//! The names of all tools and commands. Written by `{program} tools --rust`; do not edit.\n\nuse catalog::Known;\n"
    );
    let mut taken = BTreeSet::new();
    for name in names {
        let wanted = constant(name.as_str());
        let mut constant = wanted.clone();
        let mut count = 1;
        while !taken.insert(constant.clone()) {
            count += 1;
            constant = format!("{wanted}_{count}");
        }
        source += &format!("\npub const {constant}: Known = Known::new({:?});", name.as_str());
    }
    source
}

/// A name as Rust's constants are written.
fn constant(name: &str) -> String {
    let fit = |character: char| if character.is_ascii_alphanumeric() { character.to_ascii_uppercase() } else { '_' };
    let constant: String = name.chars().map(fit).collect();
    if constant.starts_with(|first: char| first.is_ascii_digit()) || constant == "_" { format!("N{constant}") } else { constant }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_a_constant_of_its_own() {
        let names = ["todo_list", "b.c", "b-c", "2nd", "_", "a\"b"].map(|name| ToolName::parse(name).expect("a name"));
        let expected = "\
//! The names of all tools and commands. Written by `shop tools --rust`; do not edit.

use catalog::Known;

pub const N2ND: Known = Known::new(\"2nd\");
pub const N_: Known = Known::new(\"_\");
pub const A_B: Known = Known::new(\"a\\\"b\");
pub const B_C: Known = Known::new(\"b-c\");
pub const B_C_2: Known = Known::new(\"b.c\");
pub const TODO_LIST: Known = Known::new(\"todo_list\");";
        assert_eq!(source("shop", names.iter()), expected);
    }
}
