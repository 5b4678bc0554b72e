#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use catalog::{Command, Commands};
use domain::{OrgId, UserId};

use super::*;
use crate::Roster;

fn name(text: &str) -> ToolName {
    ToolName::parse(text).unwrap()
}

fn command(text: &str, effect: Effect, surface: Surface) -> Command {
    Command { name: name(text), category: Category::parse("navigation").unwrap(), effect, surface, narration: None }
}

fn listed(channel: &ChannelDefinition, role: &RoleDefinition) -> ToolList {
    let catalog = catalog::tools::builtin().build().unwrap();
    let settings = Settings {
        categories: BTreeMap::from([(Category::parse("account").unwrap(), Bundle::OwnData)]),
        commands: Commands::of([
            command("go", Effect::Reversible, Surface::Global),
            command("wipe", Effect::Irreversible, Surface::Screen("bin".to_owned())),
        ]),
        ..Settings::default()
    };
    let channel_name = ChannelName::parse("web").unwrap();
    let principal = Principal::new(OrgId::parse("acme").unwrap(), UserId::parse("ada").unwrap(), channel_name);
    ToolList::of(catalog.own(), channel, &settings, role, &principal)
}

/// `name origin effect admitted verdict` of each.
fn lines(list: &ToolList) -> Vec<String> {
    let line = |tool: &Listed| {
        let admitted = tool.admitted.map_or_else(NotAdmitted::as_str, |()| "yes");
        format!("{} {} {} {admitted} {}", tool.name, tool.origin.as_str(), tool.effect, tool.verdict)
    };
    list.tools.iter().map(line).collect()
}

#[test]
fn a_list_says_what_is_admitted_and_what_a_call_does() {
    let mut role = Roster::builtin().default_role().clone();
    role.scope.exclude = BTreeSet::from([name("clock")]);
    let expected = [
        "clock catalog read excluded run",
        "go client reversible yes run",
        "whoami catalog read yes run",
        "wipe client irreversible effect requires_human",
    ];
    assert_eq!(lines(&listed(&ChannelDefinition::default(), &role)), expected);
    role.scope.categories = Some(BTreeSet::from([Category::parse("account").unwrap()]));
    role.scope.include = BTreeSet::from([name("wipe")]);
    role.policy = BTreeMap::from([(name("whoami"), Verdict::Ask)]);
    let expected = [
        "clock catalog read excluded run",
        "go client reversible category run",
        "whoami catalog read yes ask",
        "wipe client irreversible yes requires_human",
    ];
    assert_eq!(lines(&listed(&ChannelDefinition::default(), &role)), expected);
    let silent = ChannelDefinition { asks: Asks::Nobody, ..ChannelDefinition::default() };
    assert_eq!(lines(&listed(&silent, &role))[2], "whoami catalog read yes deny");
}

#[test]
fn its_json_says_the_same() {
    let json = listed(&ChannelDefinition::default(), Roster::builtin().default_role()).json();
    assert_eq!((&json["role"], &json["channel"]), (&json!("assistant"), &json!("web")));
    assert_eq!(
        json["items"][2],
        json!({"name": "whoami", "title": "Who am I", "origin": "catalog", "category": "account", "data": "own",
            "effect": "read", "admitted": true, "verdict": "run"})
    );
    assert_eq!(
        json["items"][3],
        json!({"name": "wipe", "origin": "client", "category": "navigation", "surface": "bin", "effect": "irreversible",
            "admitted": false, "reason": "effect", "verdict": "requires_human"})
    );
}
