//! What a tool implements, and what it gets and gives.

use std::sync::Arc;

use async_trait::async_trait;
use domain::{Clock, Contract, Principal, RunId, ThreadId};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use storage::{StorageError, Store, Tx};
use tokio_util::sync::CancellationToken;

/// Who calls, for what, and until when. Cheap to clone.
#[derive(Clone)]
pub struct CallContext {
    /// Whose data the tool may touch: user and organization, fixed for the turn.
    pub principal: Principal,
    pub store: ReadOnly,
    pub clock: Arc<dyn Clock>,
    pub thread: ThreadId,
    pub run: RunId,
    /// Cancelled when the run stops; the executor drops the call then.
    pub cancel: CancellationToken,
}

/// The store of a tool that only looks. Cheap to clone.
#[derive(Clone)]
pub struct ReadOnly(Store);

impl ReadOnly {
    /// A snapshot for the application's own tables: the database refuses a write in it, and it never waits for writers.
    /// One at a time in a call (connections are few), dropped before anything else is waited for.
    ///
    /// Every statement names the principal's organization, and the user where a row is a person's. The product's tables
    /// are not to be read here: they change without notice.
    pub async fn read(&self) -> Result<Tx, ToolError> {
        Ok(self.0.read().await?)
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0
    }
}

impl From<Store> for ReadOnly {
    fn from(store: Store) -> Self {
        Self(store)
    }
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

/// So that a tool says `?`: what is wrong is logged, the model is told whether to try again.
impl From<StorageError> for ToolError {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::Unavailable(_) | StorageError::Conflict(_) => {
                tracing::warn!(%error, "a tool's data cannot be reached");
                Self::new("the data cannot be reached right now; try again later")
            }
            _ => {
                tracing::error!(%error, "a tool's data cannot be read");
                Self::new("the data cannot be read; trying again will not help")
            }
        }
    }
}

/// A write whose approval is being carried out: the arguments are the ones that were approved.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovedCall {
    pub principal: Principal,
    pub thread: ThreadId,
    pub run: RunId,
    pub args: Args,
}

/// A tool that changes the application's own tables, in the transaction that records its approval. It may be applied
/// twice, of which one is rolled back, and touches nothing but `tx`.
#[async_trait]
pub trait Write: Send + Sync {
    fn contract(&self) -> &Contract;

    async fn apply(&self, tx: &mut Tx, call: &ApprovedCall) -> Result<Output, ToolError>;
}

/// A tool that only looks. It may be run again and in parallel with others.
#[async_trait]
pub trait Read: Send + Sync {
    fn contract(&self) -> &Contract;

    /// Arguments were checked against the input schema, the caller's membership too. Dropped on stop or time-out.
    async fn call(&self, ctx: &CallContext, args: Args) -> Result<Output, ToolError>;
}
