//! What holds of an offer whatever the role, the catalog, the manifest and the page.

use async_trait::async_trait;
use catalog::{ApprovedCall, Args, CallContext, Catalog, Command, NotAdmitted, Output, Read, Scope, Surface, ToolError, Write};
use domain::{Category, Contract};
use proptest::{
    collection::{btree_set, vec},
    option,
    prelude::*,
};

use super::super::*;
use crate::Roster;

struct Tool(Contract);

#[async_trait]
impl Read for Tool {
    fn contract(&self) -> &Contract {
        &self.0
    }

    async fn call(&self, _: &CallContext, _: Args) -> Result<Output, ToolError> {
        Err(ToolError::new("never called"))
    }
}

#[async_trait]
impl Write for Tool {
    fn contract(&self) -> &Contract {
        &self.0
    }

    async fn apply(&self, _: &mut storage::Tx, _: &ApprovedCall) -> Result<Output, ToolError> {
        Err(ToolError::new("never called"))
    }
}

fn effect() -> impl Strategy<Value = Effect> {
    prop::sample::select(Effect::ALL.to_vec())
}

fn category() -> impl Strategy<Value = Category> {
    "[a-c]".prop_map(|text| Category::parse(text).unwrap())
}

/// Few enough to meet, and of a client's such as no provider takes.
fn name() -> impl Strategy<Value = ToolName> {
    prop_oneof!["[a-d]_[0-9]", "[a-d][._/][0-9]", "ü[0-9]", "[a-d]{60}[0-9.]{8}"].prop_map(|text| ToolName::parse(text).unwrap())
}

fn own_name() -> impl Strategy<Value = ToolName> {
    "[a-d]_[0-9]".prop_map(|text| ToolName::parse(text).unwrap())
}

prop_compose! {
    fn scope()(
        categories in option::of(btree_set(category(), 0..3)),
        effects in btree_set(effect(), 0..5),
        include in btree_set(name(), 0..4),
        exclude in btree_set(name(), 0..4),
    ) -> Scope {
        Scope { categories, effects, include, exclude }
    }
}

prop_compose! {
    fn role()(scope in scope(), always in vec(own_name(), 0..12)) -> RoleDefinition {
        RoleDefinition { scope, always, ..Roster::builtin().default_role().clone() }
    }
}

/// A name once.
fn catalog() -> impl Strategy<Value = Tools> {
    let tool = (own_name(), category(), effect());
    vec(tool, 0..40).prop_map(|tools| {
        let mut seen = std::collections::BTreeSet::new();
        let mut builder = Catalog::builder();
        for (name, category, effect) in tools.into_iter().filter(|(name, ..)| seen.insert(name.clone())) {
            let (title, description) = (format!("the {name}"), "paints a page".to_owned());
            let input = json!({"type": "object"});
            let tool = Tool(Contract { name, title, description, input, output: json!({}), category, effect });
            builder = match effect {
                Effect::Read => builder.read(tool),
                Effect::Gesture => builder,
                _ => builder.write(tool),
            };
        }
        builder.build().unwrap().own().clone()
    })
}

fn commands() -> impl Strategy<Value = Commands> {
    let command = (name(), category(), effect()).prop_map(|(name, category, effect)| Command {
        name,
        category,
        effect,
        surface: Surface::Global,
        narration: None,
    });
    prop_oneof![Just(Commands::default()), vec(command, 0..30).prop_map(Commands::of)]
}

fn client() -> impl Strategy<Value = Vec<ClientTool>> {
    let tool = (name(), option::of(effect())).prop_map(|(name, effect)| ClientTool {
        name: name.to_string(),
        description: "the page's".to_owned(),
        parameters: json!({}),
        effect,
    });
    vec(tool, 0..60)
}

/// What the scope says of a name as it would be found.
fn judged(shelf: &Shelf<'_>, name: &ToolName) -> Result<(), NotAdmitted> {
    match shelf.tools.get(name) {
        Some(entry) => shelf.role.scope.judge(name, Some(&entry.contract.category), entry.contract.effect),
        None => {
            let mounted = shelf.client.iter().find(|tool| tool.name == name.as_str()).expect("it comes from somewhere");
            let tag = shelf.commands.tag(name, mounted.effect);
            let shown = if tag.category.is_none() { Effect::Gesture } else { tag.effect };
            shelf.role.scope.judge(name, tag.category, shown)
        }
    }
}

proptest! {
    #[test]
    fn an_offer_is_small_admitted_in_order_and_of_unique_names(
        catalog in catalog(), commands in commands(), client in client(), role in role(), query in "[a-d_0-9 ]{0,20}",
    ) {
        let channel = Tools::default();
        let shelf = Shelf { tools: &catalog, channel: &channel, client: &client, commands: &commands, role: &role };
        let offer = shelf.offer(&query);
        prop_assert!(offer.len() <= MAX_TOOLS);
        let for_model: Vec<_> = offer.iter().map(|name| name.for_model().into_owned()).collect();
        prop_assert!(for_model.is_sorted_by(|a, b| a < b), "{for_model:?}");
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        prop_assert!(for_model.iter().all(|name| (1..=64).contains(&name.len()) && name.chars().all(fits)), "{for_model:?}");
        for name in &offer {
            prop_assert_eq!(judged(&shelf, name), Ok(()), "{}", name);
            // The reverse way leads to the same tool, and the server's own is never a client's.
            prop_assert_eq!(called(&offer, &name.for_model()), Some(name));
            let is_own = catalog.get(name).is_some();
            prop_assert_eq!(matches!(shelf.find(name), Some(Found::Server(_))), is_own);
        }
        prop_assert_eq!(&offer, &shelf.offer(&query));
        prop_assert_eq!(shelf.specs(&offer).len(), offer.len());

        // What the role always offers is there, and of few everything.
        let mut always: Vec<_> = catalog.iter().map(|entry| &entry.contract.name).collect();
        always.retain(|name| role.always.contains(name) && judged(&shelf, name).is_ok());
        if always.len() <= RoleDefinition::MAX_ALWAYS && !client.iter().any(|tool| role.always.iter().any(|n| n.as_str() == tool.name)) {
            prop_assert!(always.iter().all(|name| offer.contains(name)), "{always:?} {offer:?}");
        }
        let admitted = catalog.iter().filter(|entry| role.scope.admits(&entry.contract)).count();
        prop_assert!(offer.len() >= admitted.min(MAX_RANKED));
    }

    #[test]
    fn a_continuation_has_no_more_than_was_stored(
        catalog in catalog(), commands in commands(), client in client(), later in client(), role in role(), narrower in scope(),
    ) {
        let channel = Tools::default();
        let shelf = Shelf { tools: &catalog, channel: &channel, client: &client, commands: &commands, role: &role };
        let stored = shelf.offer("page");
        prop_assert_eq!(&shelf.still_offered(&stored), &stored);
        let role = RoleDefinition { scope: narrower, ..role.clone() };
        let now = Shelf { client: &later, role: &role, ..shelf };
        for name in now.still_offered(&stored) {
            prop_assert!(stored.contains(&name));
            prop_assert_eq!(judged(&now, &name), Ok(()), "{}", name);
        }
    }
}
