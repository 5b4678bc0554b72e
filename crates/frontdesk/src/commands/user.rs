//! `user`: who belongs to an organization.

use domain::{OrgId, UserId};
use serde_json::json;

use super::{org_id, user_id};
use crate::{Exit, Failure, out, program::Program};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make a person a member of an organization that exists
    Add {
        #[arg(value_parser = user_id)]
        sub: UserId,
        #[arg(long, value_name = "ORG", value_parser = org_id)]
        org: OrgId,
        /// What the person is in the organization, such as `admin`
        #[arg(long, value_name = "R", value_parser = role)]
        role: Option<String>,
    },
    /// List the members of an organization
    List {
        #[arg(long, value_name = "ORG", value_parser = org_id)]
        org: OrgId,
        /// One JSON document
        #[arg(long)]
        json: bool,
    },
    /// End a person's membership
    Remove {
        #[arg(value_parser = user_id)]
        sub: UserId,
        #[arg(long, value_name = "ORG", value_parser = org_id)]
        org: OrgId,
    },
}

fn role(text: &str) -> Result<String, domain::IdError> {
    domain::RoleName::parse(text).map(|role| role.to_string())
}

/// A misspelt organization is no empty one.
async fn known(store: &storage::Store, org: &OrgId) -> Result<(), Failure> {
    if store.organizations().await?.iter().any(|known| known.id == *org) {
        return Ok(());
    }
    store.close().await;
    Err(Failure::failed(format!("there is no organization {org}; add it with `org add {org}`")))
}

pub(crate) async fn run(program: Program, arguments: Arguments) -> Result<Exit, Failure> {
    let store = program.store().await?;
    match arguments.command {
        Command::Add { sub, org, role } => {
            known(&store, &org).await?;
            let word = if store.add_user(&org, &sub, role.as_deref()).await? { "added" } else { "already there" };
            out::line(&format!("{sub} in {org}: {word}"))?;
        }
        Command::List { org, json } => {
            known(&store, &org).await?;
            let users = store.users(&org).await?;
            if json {
                let item =
                    |user: &storage::User| json!({"id": user.id, "role": user.role, "expiresAt": user.expires_at.map(out::time)});
                out::json(&json!({"items": users.iter().map(item).collect::<Vec<_>>()}))?;
            } else {
                for user in users {
                    let role = user.role.map(|role| format!("  {role}")).unwrap_or_default();
                    let until = user.expires_at.map(|at| format!("  until {}", out::time(at))).unwrap_or_default();
                    out::line(&format!("{}{role}{until}", user.id))?;
                }
            }
        }
        Command::Remove { sub, org } => {
            if !store.remove_user(&org, &sub).await? {
                store.close().await;
                return Err(Failure::failed(format!("{sub} is no member of {org}; `user list --org {org}` shows those who are")));
            }
            out::line(&format!("{sub} in {org}: removed"))?;
        }
    }
    store.close().await;
    Ok(Exit::Done)
}
