//! `organization_info`: the person's active organization.

use async_trait::async_trait;
use catalog::{Args, CallContext, Output, Read, ToolError, schema_of};
use domain::{Category, Contract, Effect, ToolName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::organizations::{self, Profile};

/// Nothing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoArgs {}

#[derive(Debug, Serialize, JsonSchema)]
struct Info {
    /// The organization's id.
    organization: String,
    /// Absent if nobody has filled it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<Profile>,
}

/// Id and profile of the principal's organization.
pub struct OrganizationInfo(Contract);

impl Default for OrganizationInfo {
    fn default() -> Self {
        Self(Contract {
            name: ToolName::parse("organization_info").expect("a valid literal"),
            title: "Organization".to_owned(),
            description: "Tells the name, country and currency of the user's active organization.".to_owned(),
            input: schema_of::<NoArgs>(),
            output: schema_of::<Info>(),
            category: Category::parse("account").expect("a valid literal"),
            effect: Effect::Read,
        })
    }
}

#[async_trait]
impl Read for OrganizationInfo {
    fn contract(&self) -> &Contract {
        &self.0
    }

    async fn call(&self, ctx: &CallContext, _args: Args) -> Result<Output, ToolError> {
        let mut tx = ctx.store.read().await?;
        let profile = organizations::find(&mut tx, &ctx.principal).await?;
        Output::of(&Info { organization: ctx.principal.org.to_string(), profile })
    }
}
