//! What a run may end waiting for, and what comes back.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Code, Effect, Outcome, RunId, ToolCall, ToolCallId};

/// Who is waited for. The word of its kind begins the interrupt's id: `client_tool_<call id>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InterruptKind {
    /// The client runs the call and sends its result.
    ClientTool,
}

impl InterruptKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClientTool => "client_tool",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::ClientTool].into_iter().find(|kind| kind.as_str() == text)
    }

    /// The interrupt's id on the wire.
    pub fn id(self, call: &ToolCallId) -> String {
        format!("{}_{call}", self.as_str())
    }

    /// Kind and call of an interrupt's id; `None`: not one of ours.
    pub fn of(id: &str) -> Option<(Self, ToolCallId)> {
        let kind = [Self::ClientTool].into_iter().find(|kind| id.starts_with(&format!("{}_", kind.as_str())))?;
        let call = id.get(kind.as_str().len() + 1..)?;
        Some((kind, ToolCallId::parse(call).ok()?))
    }
}

/// SHA-256 of the text `undefined`, which stands for a schema that is not there, and of `{}` (`ag-ui.md` 3.2).
const NO_SCHEMA: &str = "sha256:eb045d78d273107348b0300c01d29b7552d622abbc6faf81b3ec55359aa9950c";
const ANY_SCHEMA: &str = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";

/// A client tool's interrupt as AG-UI's clients read it (`ag-ui.md` 3.2); `run` is the one that ends with it.
pub fn client_tool(call: &ToolCall, run: &RunId) -> Value {
    let id = InterruptKind::ClientTool.id(&call.id);
    let input: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
    json!({
        "id": id,
        "reason": "tanstack:client_tool_execution",
        "message": format!("{} runs in the client", call.name),
        "toolCallId": call.id,
        "responseSchema": {},
        "metadata": {
            "kind": InterruptKind::ClientTool.as_str(),
            "toolName": call.name,
            "input": input,
            "frontdesk": { "effect": Effect::Gesture.as_str() },
            "tanstack:interruptBinding": {
                "v": 1,
                "kind": "client-tool-execution",
                "interruptId": id,
                "toolName": call.name,
                "toolCallId": call.id,
                "outputSchemaHash": NO_SCHEMA,
                "responseSchemaHash": ANY_SCHEMA,
                "interruptedRunId": run,
                "generation": 0,
            },
        },
    })
}

/// How a client learns of its tools' calls (`ag-ui.md` 3.2 and 3.3).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientToolStyle {
    /// CUSTOM `tool-input-available` and a finish that lists the calls; results come as `tool` messages.
    #[default]
    Universal,
    /// RUN_FINISHED with outcome `interrupt`; results come as `resume`.
    Interrupt,
}

impl ClientToolStyle {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Universal => "universal",
            Self::Interrupt => "interrupt",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Universal, Self::Interrupt].into_iter().find(|style| style.as_str() == text)
    }

    pub fn is_universal(&self) -> bool {
        *self == Self::Universal
    }

    /// How a run ends that waits for these calls; `run` is what its client calls it.
    pub fn outcome<'a>(self, calls: impl IntoIterator<Item = &'a ToolCall>, run: &RunId) -> Outcome {
        let calls = calls.into_iter();
        match self {
            Self::Universal => Outcome::Success { pending_tool_call_ids: calls.map(|call| call.id.clone()).collect() },
            Self::Interrupt => Outcome::Interrupt { interrupts: calls.map(|call| client_tool(call, run)).collect() },
        }
    }
}

/// What a client says of something a run waits for.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub call: ToolCallId,
    /// What the model reads: JSON or text.
    pub content: String,
    /// The tool threw, or the person would not.
    pub error: bool,
    pub by: AnsweredBy,
}

/// How an answer came, which decides what happens if nothing waits for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnsweredBy {
    /// A `tool` message. Clients send them again with every request: one that nothing waits for is dropped.
    Row,
    /// A `resume` entry for the interrupt of this id: one that nothing waits for is a fault.
    Resume(String),
}

/// Why an answer was not taken. The whole batch is refused with it, nothing is consumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterruptFault {
    /// The interrupt's id, as the client sent it; for a missing one ours.
    pub interrupt: String,
    /// `incomplete-batch`: the run waits for this one too; `unknown-interrupt`: nothing ever waited for it; `conflict`:
    /// it was answered before, and not like this; `stale`: the conversation went on without it.
    pub code: Code,
    /// The run that ended waiting for it, if there is one.
    pub run: Option<RunId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupts_id_names_its_kind_and_call() {
        let call = ToolCallId::parse("call_01J").expect("valid");
        let id = InterruptKind::ClientTool.id(&call);
        assert_eq!(id, "client_tool_call_01J");
        assert_eq!(InterruptKind::of(&id), Some((InterruptKind::ClientTool, call)));
        for foreign in ["", "client_tool_", "client_tool", "approval_call_01J", "call_01J"] {
            assert_eq!(InterruptKind::of(foreign), None, "{foreign}");
        }
    }
}
