//! The words of Frontdesk as types, and the ports other crates implement.
//!
//! Nothing here does I/O, reads a clock or makes an id by itself: time and ids come in as values.
//! To add a word: one module, one `pub use` line. To add a port: a trait in [`ports`], its typed error beside it.

pub mod bookmark;
pub mod chat;
pub mod contract;
pub mod crash;
pub mod decision;
pub mod error;
pub mod event;
pub mod ids;
pub mod interrupt;
pub mod limits;
pub mod message;
pub mod ports;
pub mod principal;
pub mod rank;
pub mod run;
pub mod secret;

pub use bookmark::Bookmark;
pub use chat::{
    ChatEvent, ChatMessage, ChatRequest, Effort, FinishReason, ModelError, ModelRef, RunIdentity, ToolChoice, ToolSpec,
};
pub use contract::{Contract, Effect};
pub use decision::{Bundle, Decision};
pub use error::Code;
pub use event::{Event, EventError, Outcome, Verifier};
pub use ids::{
    Category, ChannelName, IdError, MessageId, OrgId, RoleName, RunId, RunKey, ThreadId, ThreadKey, ToolCallId, ToolName, UserId,
    WorkerId,
};
pub use interrupt::{Answer, AnsweredBy, ClientToolStyle, InterruptFault, InterruptKind};
pub use limits::Limits;
pub use message::{Message, Part, Reasoning, Source, ToolCall};
pub use ports::{ChatModel, ChatStream, Clock, Ids, Signal, Signals};
pub use principal::Principal;
pub use run::{CancelReason, ClientTool, Offset, RUN_VERSION, RunInput, RunStatus, TokenUsage};
pub use secret::Secret;
