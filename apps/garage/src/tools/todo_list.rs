//! `todo_list`: the person's todos, the next due first.

use async_trait::async_trait;
use catalog::{Args, CallContext, Output, Read, ToolError, schema_of};
use domain::{Category, Contract, Effect, ToolName};
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    cars::CarId,
    page::Page,
    todos::{self, Status, Todo, TodoId},
};

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Which {
    #[default]
    Open,
    Done,
    All,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Wanted {
    /// Open todos if absent.
    #[serde(default)]
    status: Which,
    /// Only todos due before this day (YYYY-MM-DD), the day itself left out.
    due_before: Option<String>,
    /// Only todos whose title or notes hold this text.
    #[schemars(length(min = 1, max = 200))]
    text: Option<String>,
    /// Most todos to list; 20 if absent.
    #[schemars(range(min = 1, max = 50))]
    limit: Option<u32>,
    /// The nextCursor of the page before.
    cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Listed {
    todos: Vec<Item>,
    /// There are more: call again with it as cursor, and the same filters.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Item {
    id: TodoId,
    title: String,
    status: Status,
    /// The day it is due, as YYYY-MM-DD.
    #[serde(skip_serializing_if = "Option::is_none")]
    due: Option<String>,
    /// The car it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    car: Option<CarId>,
}

/// The person's todos, filtered, a page at a time.
pub struct TodoList(Contract);

impl Default for TodoList {
    fn default() -> Self {
        Self(Contract {
            name: ToolName::parse("todo_list").expect("a valid literal"),
            title: "Todos".to_owned(),
            description:
                "Lists the user's todos, the next due first: open ones, those due before a day, those that mention a word."
                    .to_owned(),
            input: schema_of::<Wanted>(),
            output: schema_of::<Listed>(),
            category: Category::parse("todos").expect("a valid literal"),
            effect: Effect::Read,
        })
    }
}

#[async_trait]
impl Read for TodoList {
    fn contract(&self) -> &Contract {
        &self.0
    }

    async fn call(&self, ctx: &CallContext, args: Args) -> Result<Output, ToolError> {
        let Wanted { status, due_before, text, limit, cursor } = args.parse()?;
        let page = Page::read(limit, cursor.as_deref())?;
        let due_before = due_before.as_deref().map(day).transpose()?;
        let status = match status {
            Which::Open => Some(Status::Open),
            Which::Done => Some(Status::Done),
            Which::All => None,
        };
        let mut tx = ctx.store.read().await?;
        let found = todos::list(&mut tx, &ctx.principal, &todos::Filter { status, due_before, text }, &page).await?;
        let (found, next_cursor) = page.cut(found);
        Output::of(&Listed { todos: found.into_iter().map(Item::from).collect(), next_cursor })
    }
}

impl From<Todo> for Item {
    fn from(todo: Todo) -> Self {
        Self { id: todo.id, title: todo.title, status: todo.status, due: todo.due, car: todo.car }
    }
}

/// As the table keeps days.
fn day(text: &str) -> Result<String, ToolError> {
    let day: Date = text.parse().map_err(|_| ToolError::new(format!("\"{text}\" is no day; write it as YYYY-MM-DD")))?;
    Ok(day.to_string())
}
