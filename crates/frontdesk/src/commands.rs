//! What the commands do, one file each: `Arguments`, then `run`.

pub(crate) mod bus;
pub(crate) mod migrate;
pub(crate) mod org;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod threads;
pub(crate) mod token;
pub(crate) mod tools;
pub(crate) mod user;
pub(crate) mod worker;

use domain::{ChannelName, IdError, OrgId, Principal, UserId};

use crate::Failure;

/// Whose threads a command is about; `local` of organization `local` unless told otherwise.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Person {
    /// The person, as tokens name them in `sub`
    #[arg(long, value_name = "SUB", default_value = server::LOCAL, value_parser = user_id)]
    pub(crate) user: UserId,
    /// The organization
    #[arg(long, value_name = "ORG", default_value = server::LOCAL, value_parser = org_id)]
    pub(crate) org: OrgId,
}

impl Person {
    /// As this person from the command line.
    pub(crate) fn principal(&self) -> Result<Principal, Failure> {
        let channel = ChannelName::parse("cli").map_err(|error| Failure::failed(error.to_string()))?;
        Ok(Principal::new(self.org.clone(), self.user.clone(), channel))
    }
}

pub(crate) fn org_id(text: &str) -> Result<OrgId, IdError> {
    OrgId::parse(text)
}

pub(crate) fn user_id(text: &str) -> Result<UserId, IdError> {
    UserId::parse(text)
}
