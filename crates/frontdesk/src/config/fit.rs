//! Whether roles and commands fit the tools there are, which only a program with its catalog knows.

use std::collections::BTreeMap;

use catalog::{Catalog, Verdict};
use domain::{Category, Effect, ToolName};
use orchestrator::Roster;

use super::{
    Config, Invalid, Problem,
    problem::{Problems, nearest},
    reader::Placed,
    roles::{Mention, Role},
};

/// What a name stands for.
struct What<'a> {
    category: &'a Category,
    effect: Effect,
    /// The application's own, which no policy lets write unasked.
    guarded: bool,
}

impl Config {
    /// The roles that count: those of `roles.path`, else the program's `own`. Refuses names that nothing has, categories
    /// that are not declared, and rules that would let something be written unasked.
    pub fn fit(&self, catalog: &Catalog, own: Roster) -> Result<Roster, Invalid> {
        let mut problems = Problems::default();
        let mut names: BTreeMap<&ToolName, What<'_>> = BTreeMap::new();
        for entry in catalog.own().iter() {
            let contract = &entry.contract;
            names.insert(&contract.name, What { category: &contract.category, effect: contract.effect, guarded: true });
            self.categories.check_tool(&contract.category, &contract.name, &mut problems);
        }
        for command in self.commands.iter() {
            let Placed { value, at } = command;
            if names.contains_key(&value.name) || catalog.may_be_a_sources(&value.name) {
                let message = format!("\"{}\" is the name of a tool of the server's; a command needs another", value.name);
                problems.error(at, "duplicate-name", message);
                continue;
            }
            names.insert(&value.name, What { category: &value.category, effect: value.effect, guarded: false });
        }
        for role in self.roles.read.iter().flatten() {
            for (mention, name) in &role.mentions {
                match names.get(&name.value) {
                    Some(what) => problems.errors.extend(unfit(role, *mention, name, what)),
                    None if catalog.may_be_a_sources(&name.value) => {
                        if *mention == Mention::Policy(Verdict::Run) {
                            let message = format!(
                                "\"{}\" comes from elsewhere: its reads run anyway, its writes never unasked",
                                name.value
                            );
                            problems.error(&name.at, "unsafe-policy", message);
                        }
                    }
                    None => {
                        let near = nearest(name.value.as_str(), names.keys().map(|name| name.as_str())).map(str::to_owned);
                        let message = format!("there is no tool or command \"{}\"", name.value);
                        problems.error_near(&name.at, "unknown-tool", message, near);
                    }
                }
            }
        }
        let roster = self.roles.roster(own, &mut problems);
        problems.sort();
        if problems.errors.is_empty() { Ok(roster) } else { Err(Invalid(problems.errors)) }
    }
}

/// What is wrong with the way a role names a tool.
fn unfit(role: &Role, mention: Mention, name: &Placed<ToolName>, what: &What<'_>) -> Option<Problem> {
    let writes = !matches!(what.effect, Effect::Read | Effect::Gesture);
    let tool = &name.value;
    let (code, message) = match mention {
        Mention::Policy(Verdict::Run | Verdict::Ask) if what.effect == Effect::HumanOnly => {
            ("unsafe-policy", format!("only a person runs \"{tool}\"; a policy can only deny it"))
        }
        Mention::Policy(Verdict::Run) if what.guarded && writes => {
            ("unsafe-policy", format!("\"{tool}\" is {}: it never runs unasked; use ask, requires_human or deny", what.effect))
        }
        Mention::Always => match role.definition.scope.judge(tool, Some(what.category), what.effect) {
            Ok(()) => return None,
            Err(why) => {
                ("not-admitted", format!("the scope does not admit \"{tool}\": {why}; include it, or offer it not always"))
            }
        },
        Mention::Policy(_) | Mention::Scope => return None,
    };
    Some(Problem { at: name.at.clone(), code, message, nearest: None })
}
