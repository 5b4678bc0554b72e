#![allow(clippy::unwrap_used)]

use async_trait::async_trait;
use domain::{Category, Effect};
use serde_json::{Value, json};

use super::*;
use crate::{Args, CallContext, Output, ToolError};

struct Fake(Contract);

#[async_trait]
impl Read for Fake {
    fn contract(&self) -> &Contract {
        &self.0
    }
    async fn call(&self, _ctx: &CallContext, _args: Args) -> Result<Output, ToolError> {
        Ok(Output(Value::Null))
    }
}

fn fake(name: &str) -> Fake {
    Fake(Contract {
        name: ToolName::parse(name).unwrap(),
        title: name.to_owned(),
        description: String::new(),
        input: json!({"type": "object"}),
        output: json!({}),
        category: Category::parse("test").unwrap(),
        effect: Effect::Read,
    })
}

#[test]
fn tools_come_in_name_order() {
    let catalog = Catalog::builder().read(fake("b")).read(fake("a")).read(fake("C")).build().unwrap();
    let names: Vec<_> = catalog.own().iter().map(|entry| entry.contract.name.as_str()).collect();
    assert_eq!(names, ["C", "a", "b"]);
    assert!(catalog.own().get(&ToolName::parse("a").unwrap()).is_some());
    assert!(catalog.own().get(&ToolName::parse("z").unwrap()).is_none());
}

#[test]
fn names_and_schemas_are_checked() {
    let name = |text: &str| ToolName::parse(text).unwrap();
    let build = |tools: Vec<Fake>| {
        let builder = tools.into_iter().fold(Catalog::builder(), |builder, tool| builder.read(tool));
        builder.build().err().unwrap()
    };
    assert_eq!(build(vec![fake("a b")]), CatalogError::Name(name("a b")));
    assert_eq!(build(vec![fake(&"a".repeat(65))]), CatalogError::Name(name(&"a".repeat(65))));
    assert_eq!(build(vec![fake("a"), fake("a")]), CatalogError::Twice(name("a")));
    let mut tool = fake("a");
    tool.0.input = json!({"type": "string"});
    assert_eq!(build(vec![tool]), CatalogError::NotAnObject(name("a")));
    let mut tool = fake("a");
    tool.0.input = json!({"type": "object", "properties": 3});
    assert!(matches!(build(vec![tool]), CatalogError::Schema { which: "input", .. }));
    let mut tool = fake("a");
    tool.0.output = json!({"$ref": "https://example.com/schema"});
    assert!(matches!(build(vec![tool]), CatalogError::Schema { which: "output", .. }));
}
