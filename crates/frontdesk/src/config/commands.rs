//! `[commands]`: the manifest of client tools, a folder of TOML files, one command each.

use std::collections::BTreeMap;

use catalog::{Command, Narration, Surface, Untagged};
use domain::{Category, Effect, ToolName};

use super::{
    Categories, Place, Sections, file,
    folder::{self, Folder},
    problem::Problems,
    reader::{Placed, Reader},
};

/// The folder that counts beside a configuration file if `commands.path` names none.
const USUAL: &str = "commands";

/// What is declared.
#[derive(Debug, Clone, Default)]
pub struct Commands {
    /// In the order of their files; `None`: there is no manifest.
    pub(super) declared: Option<Vec<Placed<Command>>>,
}

impl Commands {
    pub(super) fn read(sections: &mut Sections<'_>, categories: &Categories) -> Self {
        let named = sections.read("commands", |from| {
            let path = from.text("path")?;
            Some(Folder::named(&path.value, from.resolve(&path.value, &path.at), path.at))
        });
        let folder = match named {
            Some(folder) => folder,
            None => match sections.beside_file(USUAL) {
                Some(folder) => folder,
                None => return Self::default(),
            },
        };
        let usual = matches!(folder.at, Place::Configuration);
        let mut files = folder.names(sections.problems);
        files.retain(|name| name.ends_with(".toml"));
        if usual && files.is_empty() {
            return Self::default();
        }
        let mut declared: Vec<Placed<Command>> = Vec::new();
        let mut places: BTreeMap<ToolName, Place> = BTreeMap::new();
        for name in files {
            let Some((text, file)) = folder.read(&name, sections.problems) else { continue };
            let whole = folder::start(&file);
            let errors = sections.problems.errors.len();
            let table = file::parse(&text, file, sections.problems);
            if sections.problems.errors.len() > errors {
                continue;
            }
            let mut from = Reader::new("command", table, sections.environment, sections.problems);
            let command = command(&mut from, &whole, categories);
            from.finish();
            let Some(command) = command else { continue };
            match places.get(&command.value.name) {
                Some(other) => {
                    let message = format!("the command \"{}\" is declared at {other} too", command.value.name);
                    sections.problems.error(&command.at, "duplicate-name", message);
                }
                None => {
                    places.insert(command.value.name.clone(), command.at.clone());
                    declared.push(command);
                }
            }
        }
        Self { declared: Some(declared) }
    }

    /// What clients' tools are; `untagged` counts where nothing is declared.
    pub fn manifest(&self, untagged: Untagged) -> catalog::Commands {
        match &self.declared {
            Some(declared) => catalog::Commands::of(declared.iter().map(|command| command.value.clone())),
            None => catalog::Commands::none(untagged),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Placed<Command>> {
        self.declared.iter().flatten()
    }
}

/// One file. It is placed where its name stands.
fn command(from: &mut Reader<'_>, whole: &Place, categories: &Categories) -> Option<Placed<Command>> {
    let name = from.required::<ToolName>("name", whole);
    let category = from.required::<Category>("category", whole);
    let effects = Effect::ALL.map(|effect| (effect.as_str(), effect));
    let effect = from.one_of("effect", &effects);
    if effect.is_none() && !from.was_wrong() {
        missing(
            from.problems,
            whole,
            "command.effect says what a call does: read, reversible, irreversible, gesture or human_only",
        );
    }
    let surface = match from.text("surface") {
        Some(text) if text.value != "global" => Surface::Screen(text.value),
        _ => Surface::Global,
    };
    let narration = from.table("narration").map(|(table, at)| {
        let mut from = Reader::new("command.narration", table, from.environment, from.problems);
        let calling = from.required::<String>("calling", &at);
        let done = from.text("done").map(|done| done.value);
        from.finish();
        calling.map(|calling| Narration { calling: calling.value, done })
    });
    let (name, category, effect) = (name?, category?, effect?);
    categories.check(&category, &format!("the command \"{}\"", name.value), from.problems);
    let command =
        Command { name: name.value, category: category.value, effect: effect.value, surface, narration: narration.flatten() };
    Some(Placed { value: command, at: name.at })
}

fn missing(problems: &mut Problems, at: &Place, message: &str) {
    problems.error(at, "missing-key", message);
}
