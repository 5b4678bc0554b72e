//! `[roles]` and `[roster]`: the assistant's roles as files, `<name>/ROLE.md` each, and which of them answers.

use std::collections::{BTreeMap, BTreeSet};

use catalog::{Scope, Verdict};
use domain::{Category, Effect, Effort, RoleName, ToolName};
use orchestrator::{RoleDefinition, Roster};

use super::{
    Categories, Place, Sections,
    folder::{self, Folder},
    problem::{Problems, nearest},
    reader::{Placed, Reader},
    value::Value,
    yaml,
};

/// The file of a role in the folder of its name.
const FILE: &str = "ROLE.md";
/// Most characters of a role's instructions, which every model call carries.
const MAX_INSTRUCTIONS: usize = 64 * 1024;

/// What configuration says of the roster.
#[derive(Debug, Clone, Default)]
pub struct Roles {
    /// `None`: the program's own count.
    pub(super) read: Option<Vec<Role>>,
    /// The one that answers.
    pub(super) default: Option<Placed<RoleName>>,
    version: String,
}

/// A role with the places of what it names, which only a catalog can check.
#[derive(Debug, Clone)]
pub(super) struct Role {
    pub definition: RoleDefinition,
    pub mentions: Vec<(Mention, Placed<ToolName>)>,
}

/// As what a role names a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mention {
    Scope,
    Always,
    Policy(Verdict),
}

impl Roles {
    pub(super) fn read(sections: &mut Sections<'_>, categories: &Categories) -> Self {
        let default = sections.read("roster", |from| from.name::<RoleName>("default"));
        let folder = sections.read("roles", |from| {
            let path = from.text("path")?;
            Some(Folder::named(&path.value, from.resolve(&path.value, &path.at), path.at))
        });
        let Some(folder) = folder else { return Self { read: None, default, version: String::new() } };
        let errors = sections.problems.errors.len();
        let mut roles = Vec::new();
        let mut hash = Fnv::default();
        for name in folder.names(sections.problems) {
            let path = format!("{name}/{FILE}");
            if !folder.full.join(&path).is_file() {
                continue;
            }
            let Some((text, file)) = folder.read(&path, sections.problems) else { continue };
            hash.add(&name);
            hash.add(&text);
            let whole = folder::start(&file);
            let Some((settings, instructions)) = yaml::split(&text) else {
                let message = "a role begins with its settings, between two lines ---";
                sections.problems.error(&whole, "syntax", message);
                continue;
            };
            let Some(table) = yaml::parse(settings, &file, sections.problems) else { continue };
            let mut from = Reader::new("role", table, sections.environment, sections.problems);
            roles.extend(role(&mut from, &name, instructions, &whole, categories));
            from.finish();
        }
        let default =
            if sections.problems.errors.len() > errors { default } else { leader(default, &roles, &folder, sections.problems) };
        Self { read: Some(roles), default, version: format!("files-{:016x}", hash.0) }
    }

    /// The roster: the files', or the program's own. What is wrong with the one that is to answer is said.
    pub(super) fn roster(&self, own: Roster, problems: &mut Problems) -> Roster {
        let roster = match &self.read {
            None => own,
            Some(roles) => {
                let mut definitions: Vec<_> = roles.iter().map(|role| role.definition.clone()).collect();
                let led = |role: &RoleDefinition| self.default.as_ref().is_some_and(|name| name.value == role.name);
                let Some(place) = definitions.iter().position(led) else { return own };
                let first = definitions.remove(place);
                return Roster::new(first, definitions, self.version.clone());
            }
        };
        let Some(wanted) = &self.default else { return roster };
        match roster.clone().led_by(&wanted.value) {
            Some(roster) => roster,
            None => {
                unknown(wanted, roster.roles().map(|role| role.name.as_str()), problems);
                roster
            }
        }
    }
}

/// Which role answers: the one that is named, else the only one.
fn leader(named: Option<Placed<RoleName>>, roles: &[Role], folder: &Folder, problems: &mut Problems) -> Option<Placed<RoleName>> {
    let names = || roles.iter().map(|role| role.definition.name.as_str());
    match (named, roles) {
        (_, []) => {
            let message =
                format!("there is no role in {}; a role is a folder of its name with a file {FILE}", folder.shown.display());
            problems.error(&folder.at, "not-found", message);
            None
        }
        (Some(named), _) => {
            if !names().any(|name| name == named.value.as_str()) {
                unknown(&named, names(), problems);
            }
            Some(named)
        }
        (None, [only]) => Some(Placed { value: only.definition.name.clone(), at: folder.at.clone() }),
        (None, _) => {
            let list = names().collect::<Vec<_>>().join(", ");
            problems.error(
                &folder.at,
                "missing-key",
                format!("there are several roles ({list}); roster.default says which one answers"),
            );
            None
        }
    }
}

fn unknown<'a>(wanted: &Placed<RoleName>, names: impl Iterator<Item = &'a str>, problems: &mut Problems) {
    let near = nearest(wanted.value.as_str(), names).map(str::to_owned);
    problems.error_near(&wanted.at, "unknown-role", format!("there is no role \"{}\"", wanted.value), near);
}

/// One file; `None`: it cannot be used, which was said.
fn role(from: &mut Reader<'_>, name: &str, instructions: &str, whole: &Place, categories: &Categories) -> Option<Role> {
    let name = match RoleName::parse(name) {
        Ok(name) => name,
        Err(error) => {
            from.problems.error(whole, "invalid-value", error.to_string());
            return None;
        }
    };
    let title = from.text("title").map_or_else(|| name.to_string(), |title| title.value);
    let mut mentions = Vec::new();
    let scope = match from.table("scope") {
        Some((table, at)) => {
            let mut from = Reader::new("role.scope", table, from.environment, from.problems);
            let scope = scope(&mut from, &name, &at, categories, &mut mentions);
            from.finish();
            scope
        }
        None => {
            from.problems.error(whole, "missing-key", "role.scope says which tools the role may be offered; it needs effects");
            Scope::default()
        }
    };
    let always = from.names::<ToolName>("always").unwrap_or_default();
    if let Some(beyond) = always.get(RoleDefinition::MAX_ALWAYS) {
        let message = format!("role.always holds at most {} tools", RoleDefinition::MAX_ALWAYS);
        from.problems.error(&beyond.at, "out-of-range", message);
    }
    mentions.extend(always.iter().cloned().map(|name| (Mention::Always, name)));
    let policy = policy(from, &mut mentions);
    let tiers = [("minimal", Effort::Minimal), ("low", Effort::Low), ("medium", Effort::Medium), ("high", Effort::High)];
    let tier = from.one_of("tier", &tiers).map(|tier| tier.value).unwrap_or_default();
    let instructions = instructions.trim();
    if instructions.is_empty() || instructions.chars().count() > MAX_INSTRUCTIONS {
        let message = format!("the text below the settings is the role's instructions: 1 to {MAX_INSTRUCTIONS} characters");
        from.problems.error(whole, "out-of-range", message);
    }
    let definition = RoleDefinition {
        name,
        title,
        instructions: instructions.to_owned(),
        scope,
        always: always.into_iter().map(|name| name.value).collect(),
        policy,
        tier,
    };
    Some(Role { definition, mentions })
}

fn scope(
    from: &mut Reader<'_>,
    role: &RoleName,
    at: &Place,
    categories: &Categories,
    mentions: &mut Vec<(Mention, Placed<ToolName>)>,
) -> Scope {
    let admitted = from.names::<Category>("categories");
    for category in admitted.iter().flatten() {
        categories.check(category, &format!("the scope of role \"{role}\""), from.problems);
    }
    let effects = from.names::<String>("effects");
    if effects.is_none() && !from.was_wrong() {
        let message = "role.scope.effects says what calls may do, such as [read]; [] admits only what include names";
        from.problems.error(at, "missing-key", message);
    }
    let words = Effect::ALL.map(Effect::as_str);
    let mut known = BTreeSet::new();
    for word in effects.unwrap_or_default() {
        match Effect::parse(&word.value) {
            Some(effect) => drop(known.insert(effect)),
            None => {
                let message = format!("an effect is one of {}, not \"{}\"", words.join(", "), word.value);
                from.problems.error_near(&word.at, "unknown-value", message, nearest(&word.value, words).map(str::to_owned));
            }
        }
    }
    let mut names = |key| -> BTreeSet<ToolName> {
        let names = from.names::<ToolName>(key).unwrap_or_default();
        mentions.extend(names.iter().cloned().map(|name| (Mention::Scope, name)));
        names.into_iter().map(|name| name.value).collect()
    };
    let (include, exclude) = (names("include"), names("exclude"));
    Scope {
        categories: admitted.map(|names| names.into_iter().map(|name| name.value).collect()),
        effects: known,
        include,
        exclude,
    }
}

fn policy(from: &mut Reader<'_>, mentions: &mut Vec<(Mention, Placed<ToolName>)>) -> BTreeMap<ToolName, Verdict> {
    let mut policy = BTreeMap::new();
    let Some((table, _)) = from.table("policy") else { return policy };
    let words = Verdict::ALL.map(Verdict::as_str);
    for (name, node) in table.0 {
        let verdict = match &node.value {
            Value::Text(text) => Verdict::parse(text).ok_or_else(|| nearest(text, words).map(str::to_owned)),
            _ => Err(None),
        };
        match (ToolName::parse(&name), verdict) {
            (Ok(name), Ok(verdict)) => {
                mentions.push((Mention::Policy(verdict), Placed { value: name.clone(), at: node.key }));
                policy.insert(name, verdict);
            }
            (Err(error), _) => from.problems.error(&node.key, "invalid-value", error.to_string()),
            (Ok(name), Err(near)) => {
                let message = format!("role.policy.{name} must be one of {}", words.join(", "));
                from.problems.error_near(&node.at, "unknown-value", message, near);
            }
        }
    }
    policy
}

/// FNV-1a: a roster's version is the same in every build and process.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn add(&mut self, text: &str) {
        for byte in text.bytes().chain([0xff]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
