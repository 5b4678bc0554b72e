//! Every text a model sees that is not a role's, a tool's or a person's: sections of `prompts/*.md`, filled in here.

use std::{collections::HashMap, sync::LazyLock};

use jiff::{Timestamp, tz::TimeZone};

use super::grounding::Grounding;

type Sections = HashMap<&'static str, &'static str>;

static NOTES: LazyLock<Sections> = LazyLock::new(|| sections(include_str!("../../prompts/notes.md")));
static CONTEXT: LazyLock<Sections> = LazyLock::new(|| sections(include_str!("../../prompts/context.md")));

/// A section of `notes.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Note {
    Frame,
    Stopped,
    Left,
    Deadline,
    ModelUnavailable,
    ModelRefused,
    ContextTooLong,
    StepLimit,
    /// For the person, when a model does not keep to [`Note::StepLimit`].
    StepLimitAnswer,
    /// The run is a dead letter.
    Lost,
    /// The turn panicked.
    Broken,
    Length,
    ContentFilter,
    CallCutOff,
    CallNeverRun,
    NoResult,
    BadArguments,
    Unattended,
    UnknownTool,
    NoTools,
    /// A client tool whose result never came.
    ClientCutOff,
    /// A person would have to approve, and nothing can ask one.
    ApprovalUnavailable,
    /// Only a person does it.
    RequiresHuman,
    Denied,
}

impl Note {
    fn name(self) -> &'static str {
        match self {
            Self::Frame => "frame",
            Self::Stopped => "stopped",
            Self::Left => "left",
            Self::Deadline => "deadline",
            Self::ModelUnavailable => "model_unavailable",
            Self::ModelRefused => "model_refused",
            Self::ContextTooLong => "context_too_long",
            Self::StepLimit => "step_limit",
            Self::StepLimitAnswer => "step_limit_answer",
            Self::Lost => "lost",
            Self::Broken => "broken",
            Self::Length => "length",
            Self::ContentFilter => "content_filter",
            Self::CallCutOff => "call_cut_off",
            Self::CallNeverRun => "call_never_run",
            Self::NoResult => "no_result",
            Self::BadArguments => "bad_arguments",
            Self::Unattended => "unattended",
            Self::UnknownTool => "unknown_tool",
            Self::NoTools => "no_tools",
            Self::ClientCutOff => "client_cut_off",
            Self::ApprovalUnavailable => "approval_unavailable",
            Self::RequiresHuman => "requires_human",
            Self::Denied => "denied",
        }
    }

    pub(crate) fn text(self) -> String {
        self.fill(&[])
    }

    pub(crate) fn fill(self, values: &[(&str, &str)]) -> String {
        fill(NOTES.get(self.name()).copied().unwrap_or_default(), values)
    }
}

/// What goes with the last message of a turn: never part of the stored row.
pub(crate) struct Context<'a> {
    pub(crate) now_ms: i64,
    /// IANA name; anything else counts as UTC.
    pub(crate) zone: Option<&'a str>,
    pub(crate) grounding: Option<&'a Grounding>,
    /// Older turns were left out.
    pub(crate) earlier_left_out: bool,
}

impl Context<'_> {
    pub(crate) fn render(&self) -> String {
        let section = |name: &str| CONTEXT.get(name).copied().unwrap_or_default();
        let mut body = Vec::new();
        if let Some(clock) = self.clock(section("clock")) {
            body.push(clock);
        }
        if self.earlier_left_out {
            body.push(section("earlier").to_owned());
        }
        if let Some(grounding) = self.grounding {
            body.push(fill(section("grounding"), &[("facts", &fenced(&grounding.facts))]));
            if grounding.cut {
                body.push(section("grounding_cut").to_owned());
            }
        }
        fill(section("frame"), &[("body", &body.join("\n"))])
    }

    fn clock(&self, template: &str) -> Option<String> {
        let zone = self.zone.and_then(|name| TimeZone::get(name).ok()).unwrap_or(TimeZone::UTC);
        let name = zone.iana_name().unwrap_or("UTC").to_owned();
        let now = Timestamp::from_millisecond(self.now_ms).ok()?.to_zoned(zone);
        let (weekday, date, time) = (now.strftime("%A"), now.date(), now.strftime("%H:%M"));
        Some(fill(
            template,
            &[("weekday", &weekday.to_string()), ("date", &date.to_string()), ("time", &time.to_string()), ("zone", &name)],
        ))
    }
}

/// Client data cannot close its fence, nor open another.
fn fenced(text: &str) -> String {
    text.replace('<', "&lt;")
}

/// `{{name}}` by its value; what a value holds is not filled again.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(start) = rest.find("{{") {
        let (before, from) = rest.split_at(start);
        out.push_str(before);
        let Some(end) = from.find("}}") else {
            rest = from;
            break;
        };
        let name = &from[2..end];
        match values.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => out.push_str(value),
            None => out.push_str(&from[..end + 2]),
        }
        rest = &from[end + 2..];
    }
    out.push_str(rest);
    out
}

/// Text under each `## name`, without the blank lines around it.
fn sections(file: &'static str) -> Sections {
    let mut out = Sections::new();
    for section in file.split("\n## ").skip(1) {
        if let Some((name, text)) = section.split_once('\n') {
            out.insert(name.trim(), text.trim());
        }
    }
    out
}

#[cfg(test)]
mod tests;
