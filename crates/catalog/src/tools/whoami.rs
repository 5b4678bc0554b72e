//! `whoami`: who the assistant is talking to.

use async_trait::async_trait;
use domain::{Category, Contract, Effect, ToolName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Args, CallContext, Output, Read, ToolError, schema_of};

/// Nothing.
#[derive(Debug, Deserialize, JsonSchema)]
struct NoArgs {}

#[derive(Debug, Serialize, JsonSchema)]
struct Person {
    /// The user's id.
    user: String,
    /// The user's active organization.
    organization: String,
    /// The user's name, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// How the user reached the assistant.
    channel: String,
}

/// User, organization, name and channel of the turn's principal.
pub struct Whoami(Contract);

impl Default for Whoami {
    fn default() -> Self {
        Self(Contract {
            name: ToolName::parse("whoami").expect("a valid literal"),
            title: "Who am I".to_owned(),
            description: "Tells which user of which organization the assistant is talking to, and through which channel."
                .to_owned(),
            input: schema_of::<NoArgs>(),
            output: schema_of::<Person>(),
            category: Category::parse("account").expect("a valid literal"),
            effect: Effect::Read,
        })
    }
}

#[async_trait]
impl Read for Whoami {
    fn contract(&self) -> &Contract {
        &self.0
    }

    async fn call(&self, ctx: &CallContext, _args: Args) -> Result<Output, ToolError> {
        Output::of(&Person {
            user: ctx.principal.user.to_string(),
            organization: ctx.principal.org.to_string(),
            name: ctx.principal.name.clone(),
            channel: ctx.principal.channel.to_string(),
        })
    }
}
