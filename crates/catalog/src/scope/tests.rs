#![allow(clippy::unwrap_used)]

use proptest::{collection::btree_set, option, prelude::*};
use serde_json::json;

use super::*;

fn effect() -> impl Strategy<Value = Effect> {
    prop::sample::select(vec![Effect::Read, Effect::Reversible, Effect::Irreversible, Effect::Gesture, Effect::HumanOnly])
}

fn category() -> impl Strategy<Value = Category> {
    "[a-c]".prop_map(|text| Category::parse(text).unwrap())
}

fn name() -> impl Strategy<Value = ToolName> {
    "[x-z]".prop_map(|text| ToolName::parse(text).unwrap())
}

prop_compose! {
    fn scope()(
        categories in option::of(btree_set(category(), 0..3)),
        effects in btree_set(effect(), 0..4),
        include in btree_set(name(), 0..3),
        exclude in btree_set(name(), 0..3),
    ) -> Scope {
        Scope { categories, effects, include, exclude }
    }
}

prop_compose! {
    fn contract()(name in name(), category in category(), effect in effect()) -> Contract {
        Contract { name, title: String::new(), description: String::new(), input: json!({}), output: json!({}), category, effect }
    }
}

proptest! {
    #[test]
    fn exclude_wins(mut scope in scope(), contract in contract()) {
        scope.exclude.insert(contract.name.clone());
        prop_assert!(!scope.admits(&contract));
    }

    #[test]
    fn include_admits_whatever_it_is(mut scope in scope(), contract in contract()) {
        scope.exclude.remove(&contract.name);
        scope.include.insert(contract.name.clone());
        prop_assert!(scope.admits(&contract));
    }

    #[test]
    fn without_effects_only_include_admits(mut scope in scope(), contract in contract()) {
        scope.effects.clear();
        scope.include.remove(&contract.name);
        prop_assert!(!scope.admits(&contract));
    }

    #[test]
    fn absent_categories_mean_any(mut scope in scope(), contract in contract()) {
        scope.categories = None;
        scope.include.remove(&contract.name);
        scope.exclude.remove(&contract.name);
        prop_assert_eq!(scope.admits(&contract), scope.effects.contains(&contract.effect));
    }

    #[test]
    fn an_empty_list_of_categories_admits_none(mut scope in scope(), contract in contract()) {
        scope.categories = Some(BTreeSet::new());
        scope.include.remove(&contract.name);
        prop_assert!(!scope.admits(&contract));
    }
}
