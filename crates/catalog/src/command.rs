//! Commands: client tools that a manifest declares. The manifest is the tag; what a client mounts with a request is the set.

use std::collections::BTreeMap;

use domain::{Category, Effect, ToolName};

/// A client tool as it is declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    pub name: ToolName,
    pub category: Category,
    pub effect: Effect,
    pub surface: Surface,
    pub narration: Option<Narration>,
}

/// Where a client mounts a command; said to people, not enforced: a client mounts what it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Surface {
    Global,
    /// A screen, by the application's name for it.
    Screen(String),
}

/// Keys of the texts a client speaks when a call lands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Narration {
    pub calling: String,
    pub done: Option<String>,
}

/// What a client's tool may be that no manifest declares.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Untagged {
    /// It runs in the person's browser, as a gesture.
    #[default]
    Run,
    RequiresHuman,
}

/// The manifest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commands {
    by_name: BTreeMap<ToolName, Command>,
    untagged: Untagged,
}

/// What a client's tool is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tag<'a> {
    /// `None`: of no category.
    pub category: Option<&'a Category>,
    pub effect: Effect,
    pub narration: Option<&'a Narration>,
}

impl Commands {
    /// Without a manifest: `untagged` says what every client tool is.
    pub fn none(untagged: Untagged) -> Self {
        Self { by_name: BTreeMap::new(), untagged }
    }

    /// With one: what it does not declare, only a person runs. Of two of a name the later counts.
    pub fn of(commands: impl IntoIterator<Item = Command>) -> Self {
        let by_name = commands.into_iter().map(|command| (command.name.clone(), command)).collect();
        Self { by_name, untagged: Untagged::RequiresHuman }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Command> {
        self.by_name.values()
    }

    pub fn get(&self, name: &ToolName) -> Option<&Command> {
        self.by_name.get(name)
    }

    /// What a mounted tool is; `said` is the effect its client claims, which can only make it stricter.
    pub fn tag(&self, name: &ToolName, said: Option<Effect>) -> Tag<'_> {
        let declared = self.by_name.get(name);
        let effect = match (declared, self.untagged) {
            (Some(command), _) => command.effect,
            (None, Untagged::Run) => Effect::Gesture,
            (None, Untagged::RequiresHuman) => Effect::HumanOnly,
        };
        Tag {
            category: declared.map(|command| &command.category),
            effect: said.map_or(effect, |said| stricter(effect, said)),
            narration: declared.and_then(|command| command.narration.as_ref()),
        }
    }
}

/// The one that may do less unasked.
fn stricter(one: Effect, other: Effect) -> Effect {
    let order = |effect| match effect {
        Effect::Read => 0,
        Effect::Gesture => 1,
        Effect::Reversible => 2,
        Effect::Irreversible => 3,
        Effect::HumanOnly => 4,
    };
    if order(other) > order(one) { other } else { one }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn command(name: &str, effect: Effect) -> Command {
        let (name, category) = (ToolName::parse(name).unwrap(), Category::parse("navigation").unwrap());
        Command { name, category, effect, surface: Surface::Global, narration: None }
    }

    #[test]
    fn a_client_can_only_make_a_command_stricter() {
        let commands = Commands::of([command("go", Effect::Reversible)]);
        let effect = |name: &str, said| commands.tag(&ToolName::parse(name).unwrap(), said).effect;
        assert_eq!(effect("go", None), Effect::Reversible);
        for said in [Effect::Read, Effect::Gesture, Effect::Reversible] {
            assert_eq!(effect("go", Some(said)), Effect::Reversible);
        }
        assert_eq!(effect("go", Some(Effect::Irreversible)), Effect::Irreversible);
        assert_eq!(effect("other", Some(Effect::Read)), Effect::HumanOnly);
    }

    #[test]
    fn without_a_manifest_tools_run_unless_told_otherwise() {
        let name = ToolName::parse("go").unwrap();
        assert_eq!(Commands::default().tag(&name, None).effect, Effect::Gesture);
        assert_eq!(Commands::none(Untagged::RequiresHuman).tag(&name, None).effect, Effect::HumanOnly);
    }
}
