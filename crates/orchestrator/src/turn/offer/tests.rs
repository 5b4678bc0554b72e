mod any;

use std::collections::BTreeSet;

use catalog::{Catalog, Command, Surface, Untagged, tools::builtin};
use domain::Category;

use super::*;
use crate::Roster;

fn client(names: &[&str]) -> Vec<ClientTool> {
    let tool =
        |name: &&str| ClientTool { name: (*name).to_owned(), description: "its".to_owned(), parameters: json!({}), effect: None };
    names.iter().map(tool).collect()
}

fn name(text: &str) -> ToolName {
    ToolName::parse(text).unwrap()
}

fn role(effects: &[Effect]) -> RoleDefinition {
    let mut role = Roster::builtin().default_role().clone();
    role.scope.effects = effects.iter().copied().collect();
    role
}

struct Bench {
    catalog: Catalog,
    channel: Tools,
    commands: Commands,
}

impl Bench {
    fn new() -> Self {
        Self { catalog: builtin().build().unwrap(), channel: Tools::default(), commands: Commands::default() }
    }

    fn shelf<'a>(&'a self, client: &'a [ClientTool], role: &'a RoleDefinition) -> Shelf<'a> {
        Shelf { tools: self.catalog.own(), channel: &self.channel, client, commands: &self.commands, role }
    }

    fn offered(&self, client: &[ClientTool], role: &RoleDefinition, query: &str) -> Vec<String> {
        self.shelf(client, role).offer(query).iter().map(ToString::to_string).collect()
    }
}

const LOOK_AND_POINT: [Effect; 2] = [Effect::Read, Effect::Gesture];

#[test]
fn the_clients_tools_stand_among_the_servers_in_name_order() {
    let bench = Bench::new();
    let tools = client(&["zoom", "color", "not a name", "clock"]);
    let both = role(&LOOK_AND_POINT);
    assert_eq!(bench.offered(&tools, &both, ""), ["clock", "color", "not a name", "whoami", "zoom"]);
    assert_eq!(bench.offered(&tools, &role(&[Effect::Read]), ""), ["clock", "whoami"]);
    let mut without = both.clone();
    without.scope.exclude = BTreeSet::from([name("zoom")]);
    assert_eq!(bench.offered(&tools, &without, ""), ["clock", "color", "not a name", "whoami"]);
    let mut tagged = both;
    tagged.scope.categories = Some(BTreeSet::new());
    assert_eq!(bench.offered(&tools, &tagged, ""), [""; 0]);
}

#[test]
fn a_client_cannot_take_the_name_of_a_tool_of_ours() {
    let bench = Bench::new();
    let client = client(&["clock"]);
    let role = role(&[Effect::Gesture]);
    assert!(bench.shelf(&client, &role).find(&name("clock")).is_none());
    assert!(bench.shelf(&client, &role).offer("clock").is_empty());
}

#[test]
fn of_many_the_best_for_the_message_are_offered_and_what_the_role_always_offers() {
    let bench = Bench::new();
    let names: Vec<String> = (0..100).map(|number| format!("paint_{number:03}")).collect();
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.push("open_invoice");
    let mut role = role(&LOOK_AND_POINT);
    role.always = vec![name("whoami"), name("not_there")];
    let offered = bench.offered(&client(&names), &role, "open the invoice of may");
    assert_eq!(offered.len(), MAX_RANKED + 1);
    for wanted in ["open_invoice", "whoami"] {
        assert!(offered.contains(&wanted.to_owned()), "{offered:?}");
    }
    assert!(offered.is_sorted(), "{offered:?}");
    assert_eq!(offered, bench.offered(&client(&names), &role, "open the invoice of may"));
}

#[test]
fn the_manifest_is_the_tag_and_what_is_mounted_the_set() {
    let mut bench = Bench::new();
    let command = |text: &str, effect| {
        let (name, category) = (name(text), Category::parse("navigation").unwrap());
        Command { name, category, effect, surface: Surface::Global, narration: None }
    };
    bench.commands =
        Commands::of([command("go", Effect::Reversible), command("wipe", Effect::Irreversible), command("far", Effect::Gesture)]);
    let tools = client(&["go", "wipe", "odd"]);
    let mut role = role(&[Effect::Gesture, Effect::Reversible]);
    assert_eq!(bench.offered(&tools, &role, ""), ["go", "odd"]);
    role.scope.include = BTreeSet::from([name("wipe")]);
    assert_eq!(bench.offered(&tools, &role, ""), ["go", "odd", "wipe"]);
    let shelf = bench.shelf(&tools, &role);
    assert_eq!(shelf.find(&name("wipe")).unwrap().effect(), Effect::Irreversible);
    assert_eq!(shelf.find(&name("odd")).unwrap().effect(), Effect::HumanOnly);
    bench.commands = Commands::none(Untagged::Run);
    assert_eq!(bench.shelf(&tools, &role).find(&name("odd")).unwrap().effect(), Effect::Gesture);
}
