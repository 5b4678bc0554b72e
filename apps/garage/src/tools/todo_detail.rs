//! `todo_detail`: one todo with its notes and its car.

use async_trait::async_trait;
use catalog::{Args, CallContext, Output, Read, ToolError, schema_of};
use domain::{Category, Contract, Effect, ToolName};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    cars::{self, CarId},
    todos::{self, Status, TodoId},
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// The todo's id, from todo_list.
    id: TodoId,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Detail {
    id: TodoId,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    notes: Option<String>,
    status: Status,
    /// The day it is due, as YYYY-MM-DD.
    #[serde(skip_serializing_if = "Option::is_none")]
    due: Option<String>,
    /// The car it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    car: Option<About>,
    /// RFC 3339, UTC.
    created_at: String,
    /// RFC 3339, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_at: Option<String>,
    /// Where the app shows it.
    screen: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct About {
    id: CarId,
    /// Make, model and plate.
    name: String,
}

/// One of the person's todos, whole.
pub struct TodoDetail(Contract);

impl Default for TodoDetail {
    fn default() -> Self {
        Self(Contract {
            name: ToolName::parse("todo_detail").expect("a valid literal"),
            title: "Todo".to_owned(),
            description: "Shows one of the user's todos with its notes, its car and when it was made and done.".to_owned(),
            input: schema_of::<Wanted>(),
            output: schema_of::<Detail>(),
            category: Category::parse("todos").expect("a valid literal"),
            effect: Effect::Read,
        })
    }
}

#[async_trait]
impl Read for TodoDetail {
    fn contract(&self) -> &Contract {
        &self.0
    }

    async fn call(&self, ctx: &CallContext, args: Args) -> Result<Output, ToolError> {
        let Wanted { id } = args.parse()?;
        let mut tx = ctx.store.read().await?;
        let Some(todo) = todos::find(&mut tx, &ctx.principal, &id).await? else {
            return Err(ToolError::new(format!("the user has no todo \"{}\"; todo_list gives the ids there are", id.0)));
        };
        let car = match &todo.car {
            Some(car) => cars::find(&mut tx, &ctx.principal, car).await?,
            None => None,
        };
        Output::of(&Detail {
            screen: format!("/todos/{}", todo.id.0),
            id: todo.id,
            title: todo.title,
            notes: todo.notes,
            status: todo.status,
            due: todo.due,
            car: car.map(|car| About { name: format!("{} {}, {}", car.make, car.model, car.plate), id: car.id }),
            created_at: time(todo.created_at)?,
            completed_at: todo.completed_at.map(time).transpose()?,
        })
    }
}

/// Whole seconds.
fn time(ms: i64) -> Result<String, ToolError> {
    let time = Timestamp::from_second(ms.div_euclid(1000)).map_err(|_| ToolError::new("the todo's time is out of range"))?;
    Ok(time.to_string())
}
