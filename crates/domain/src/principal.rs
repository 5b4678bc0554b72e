//! Who is asking.

use serde::{Deserialize, Serialize};

use crate::{ChannelName, OrgId, UserId};

/// User, active organization and channel; fixed for a turn. Membership is checked apart, on every tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Principal {
    pub org: OrgId,
    pub user: UserId,
    pub channel: ChannelName,
    /// A person's name to show, from the token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// BCP 47 language tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// IANA time zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
}

impl Principal {
    pub fn new(org: OrgId, user: UserId, channel: ChannelName) -> Self {
        Self { org, user, channel, name: None, locale: None, zone: None }
    }
}
