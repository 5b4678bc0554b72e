//! The channels there are. A channel is a definition the turn reads, never a name it asks for.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use catalog::Tools;
use domain::{ChannelName, RoleName, ToolName};

/// How people reach the assistant, as far as a turn is concerned.
#[derive(Debug, Clone, Default)]
pub struct ChannelDefinition {
    pub asks: Asks,
    /// What its server side runs itself, such as a hand-off.
    pub tools: Tools,
    /// Which tool a capability is here.
    pub capability_tools: Capabilities,
    /// The same for one role; it counts before the channel's own.
    pub role_capability_tools: BTreeMap<RoleName, Capabilities>,
}

pub type Capabilities = BTreeMap<String, ToolName>;

/// Whether the channel can show a person what is to happen and take the answer. Who cannot ask, denies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Asks {
    #[default]
    People,
    Nobody,
}

impl ChannelDefinition {
    /// The tool of a capability for a role; `None`: the channel binds none.
    pub fn capability(&self, role: &RoleName, capability: &str) -> Option<&ToolName> {
        let of_role = self.role_capability_tools.get(role).and_then(|tools| tools.get(capability));
        of_role.or_else(|| self.capability_tools.get(capability))
    }
}

/// The channels this build knows. Runs of others are dead-lettered, never guessed.
#[derive(Debug, Clone, Default)]
pub enum Channels {
    /// Any name, without tools of its own.
    #[default]
    Any,
    Only(BTreeMap<ChannelName, Arc<ChannelDefinition>>),
}

impl Channels {
    pub fn get(&self, channel: &ChannelName) -> Option<&ChannelDefinition> {
        static PLAIN: LazyLock<ChannelDefinition> = LazyLock::new(ChannelDefinition::default);
        match self {
            Self::Any => Some(&PLAIN),
            Self::Only(known) => known.get(channel).map(|channel| &**channel),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_roles_own_binding_comes_before_the_channels() {
        let tool = |name: &str| ToolName::parse(name).unwrap();
        let role = |name: &str| RoleName::parse(name).unwrap();
        let bound = |name: &str| BTreeMap::from([("handoff".to_owned(), tool(name))]);
        let channel = ChannelDefinition {
            capability_tools: bound("open_support_chat"),
            role_capability_tools: BTreeMap::from([(role("sales"), bound("book_sales_call"))]),
            ..ChannelDefinition::default()
        };
        assert_eq!(channel.capability(&role("sales"), "handoff"), Some(&tool("book_sales_call")));
        assert_eq!(channel.capability(&role("support"), "handoff"), Some(&tool("open_support_chat")));
        assert_eq!(channel.capability(&role("sales"), "fax"), None);
    }
}
