use std::collections::BTreeSet;

use catalog::tools::builtin;
use domain::Effect;

use super::*;

fn client(names: &[&str]) -> Vec<ClientTool> {
    names
        .iter()
        .map(|name| ClientTool { name: (*name).to_owned(), description: "its".to_owned(), parameters: json!({}) })
        .collect()
}

fn scope(effects: &[Effect]) -> Scope {
    Scope { effects: effects.iter().copied().collect(), ..Scope::default() }
}

fn offered(client: &[ClientTool], scope: &Scope) -> Vec<String> {
    let catalog = builtin().build().unwrap();
    let shelf = Shelf { catalog: &catalog, client, scope };
    shelf.offer().iter().map(ToString::to_string).collect()
}

#[test]
fn the_clients_tools_stand_among_the_catalogs_in_name_order() {
    let tools = client(&["zoom", "color", "not a name", "clock"]);
    let both = scope(&[Effect::Read, Effect::Gesture]);
    assert_eq!(offered(&tools, &both), ["clock", "color", "not a name", "whoami", "zoom"]);
    assert_eq!(offered(&tools, &scope(&[Effect::Read])), ["clock", "whoami"]);
    let without = Scope { exclude: BTreeSet::from([ToolName::parse("zoom").unwrap()]), ..both.clone() };
    assert_eq!(offered(&tools, &without), ["clock", "color", "not a name", "whoami"]);
    let tagged = Scope { categories: Some(BTreeSet::new()), ..both };
    assert_eq!(offered(&tools, &tagged), [""; 0]);
}

#[test]
fn twenty_tools_at_most_and_the_catalogs_first() {
    let names: Vec<String> = (0..128).map(|number| format!("a{number:03}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let offered = offered(&client(&names), &scope(&[Effect::Read, Effect::Gesture]));
    assert_eq!(offered.len(), MAX_TOOLS);
    assert_eq!((&*offered[17], &*offered[18], &*offered[19]), ("a017", "clock", "whoami"));
}

#[test]
fn a_client_cannot_take_the_name_of_a_tool_of_ours() {
    let catalog = builtin().build().unwrap();
    let client = client(&["clock"]);
    let scope = scope(&[Effect::Gesture]);
    let shelf = Shelf { catalog: &catalog, client: &client, scope: &scope };
    assert!(shelf.find(&ToolName::parse("clock").unwrap()).is_none());
    assert!(shelf.offer().is_empty());
}
