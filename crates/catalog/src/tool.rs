//! What a tool implements, and what it gets and gives.

use std::sync::Arc;

use async_trait::async_trait;
use domain::{Clock, Contract, Principal, RunId, ThreadId};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use storage::Store;
use tokio_util::sync::CancellationToken;

/// Who calls, for what, and until when. Cheap to clone.
#[derive(Clone)]
pub struct CallContext {
    /// Whose data the tool may touch: user and organization, fixed for the turn.
    pub principal: Principal,
    pub store: Store,
    pub clock: Arc<dyn Clock>,
    pub thread: ThreadId,
    pub run: RunId,
    /// Cancelled when the run stops; the executor drops the call then.
    pub cancel: CancellationToken,
}

/// The arguments of a call: a JSON object that fits the tool's input schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Args(pub Map<String, Value>);

impl Args {
    /// The arguments as the tool's own type.
    pub fn parse<T: DeserializeOwned>(self) -> Result<T, ToolError> {
        serde_json::from_value(Value::Object(self.0))
            .map_err(|error| ToolError::new(format!("the arguments cannot be read: {error}")))
    }
}

/// What a call answers; fits the tool's output schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Output(pub Value);

impl Output {
    pub fn of<T: Serialize>(value: &T) -> Result<Self, ToolError> {
        serde_json::to_value(value).map(Self).map_err(|_| ToolError::new("the result cannot be written as JSON"))
    }
}

/// A call that did not work, in words the model can act on: a lower-case fragment, without secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolError(String);

impl ToolError {
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// A tool that only looks. It may be run again and in parallel with others.
#[async_trait]
pub trait Read: Send + Sync {
    fn contract(&self) -> &Contract;

    /// Arguments were checked against the input schema, the caller's membership too. Dropped on stop or time-out.
    async fn call(&self, ctx: &CallContext, args: Args) -> Result<Output, ToolError>;
}
