//! `org`: the tenants.

use domain::OrgId;
use serde_json::json;

use super::org_id;
use crate::{Exit, Failure, out, program::Program};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Add an organization; one that is there stays as it is
    Add {
        #[arg(value_parser = org_id)]
        org: OrgId,
    },
    /// List organizations
    List {
        /// One JSON document
        #[arg(long)]
        json: bool,
    },
    /// Remove an organization and its memberships; its threads stay
    Remove {
        #[arg(value_parser = org_id)]
        org: OrgId,
    },
}

pub(crate) async fn run(program: Program, arguments: Arguments) -> Result<Exit, Failure> {
    let store = program.store().await?;
    match arguments.command {
        Command::Add { org } => {
            let word = if store.add_organization(&org).await? { "added" } else { "already there" };
            out::line(&format!("organization {org}: {word}"))?;
        }
        Command::List { json } => {
            let organizations = store.organizations().await?;
            if json {
                let items: Vec<_> =
                    organizations.iter().map(|org| json!({"id": org.id, "createdAt": out::time(org.created_at)})).collect();
                out::json(&json!({"items": items}))?;
            } else {
                for organization in organizations {
                    out::line(organization.id.as_str())?;
                }
            }
        }
        Command::Remove { org } => {
            if !store.remove_organization(&org).await? {
                store.close().await;
                return Err(Failure::failed(format!("there is no organization {org}; `org list` shows those there are")));
            }
            out::line(&format!("organization {org}: removed"))?;
        }
    }
    store.close().await;
    Ok(Exit::Done)
}
