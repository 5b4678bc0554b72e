//! `[channels.NAME]`: how people reach the assistant. The web is always there; other channels are not there yet.

use catalog::Untagged;
use domain::ClientToolStyle;

use super::{
    Sections,
    reader::{Placed, Reader},
    value::Node,
};

#[derive(Debug, Clone, Default)]
pub struct Channels {
    pub web: Web,
}

/// `[channels.web]`
#[derive(Debug, Clone, Default)]
pub struct Web {
    /// How clients hear of their tools' calls: `universal`, which every client reads, or `interrupt` for those that can go
    /// on from one.
    pub client_tools: ClientToolStyle,
    /// What a client's tool is while no manifest declares commands; `None`: it runs.
    pub(super) untagged: Option<Placed<Untagged>>,
}

impl Channels {
    pub(super) fn read(sections: &mut Sections<'_>) -> Self {
        let mut channels = Self::default();
        for (name, node) in sections.named("channels") {
            match name.as_str() {
                "web" => channels.web = Web::read(sections, node),
                _ => {
                    let message = format!("channels.{name}.* is not available in this version; remove it");
                    sections.problems.error(&node.key, "not-available", message);
                }
            }
        }
        channels
    }
}

impl Web {
    fn read(sections: &mut Sections<'_>, node: Node) -> Self {
        let table = sections.table("channels.web", node);
        let mut from = Reader::new("channels.web", table, sections.environment, sections.problems);
        let styles = [("universal", ClientToolStyle::Universal), ("interrupt", ClientToolStyle::Interrupt)];
        let client_tools = from.one_of("client_tools", &styles).map(|style| style.value).unwrap_or_default();
        let untagged = from.one_of("untagged", &[("run", Untagged::Run), ("requires_human", Untagged::RequiresHuman)]);
        from.finish();
        Self { client_tools, untagged }
    }

    /// What a client's tool is that nobody declared.
    pub fn untagged(&self) -> Untagged {
        self.untagged.as_ref().map(|untagged| untagged.value).unwrap_or_default()
    }
}
