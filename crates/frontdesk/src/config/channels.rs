//! `[channels.NAME]`: how people reach the assistant. The web is always there; other channels are not there yet.

use domain::ClientToolStyle;

use super::{
    Sections,
    reader::Reader,
    value::{Node, Table, Value},
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
}

impl Channels {
    pub(super) fn read(sections: &mut Sections<'_>) -> Self {
        let mut channels = Self::default();
        for (name, node) in named(sections, "channels") {
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
        let mut from =
            Reader::new("channels.web", table(sections, "channels.web", node), sections.environment, sections.problems);
        let styles = [("universal", ClientToolStyle::Universal), ("interrupt", ClientToolStyle::Interrupt)];
        let client_tools = from.one_of("client_tools", &styles).map(|style| style.value).unwrap_or_default();
        from.finish();
        Self { client_tools }
    }
}

/// The tables of a section that holds nothing else.
fn named(sections: &mut Sections<'_>, name: &'static str) -> Vec<(String, Node)> {
    let Some(node) = sections.take(name) else { return Vec::new() };
    table(sections, name, node).0.into_iter().collect()
}

fn table(sections: &mut Sections<'_>, name: &str, node: Node) -> Table {
    match node.value {
        Value::Table(table) => table,
        other => {
            let message = format!("{name} must be a table of settings, not {}", other.kind());
            sections.problems.error(&node.at, "wrong-type", message);
            Table::default()
        }
    }
}
