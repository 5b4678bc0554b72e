//! `/v1/threads`: a person's conversations. Another's and unknown ones look the same: 404.

pub(crate) mod delete;
pub(crate) mod list;
pub(crate) mod messages;
pub(crate) mod rename;
pub(crate) mod show;

use axum::extract::{Path, rejection::PathRejection};
use domain::{ChannelName, ThreadId};
use serde::Serialize;
use storage::ThreadSummary;

use crate::{problem::ApiError, run::rfc3339};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Item {
    id: ThreadId,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    channel: ChannelName,
    created_at: String,
    /// When the last message came; a new title does not count.
    updated_at: String,
    messages: i64,
}

impl From<ThreadSummary> for Item {
    fn from(summary: ThreadSummary) -> Self {
        Self {
            id: summary.id,
            title: summary.title,
            channel: summary.channel,
            created_at: rfc3339(summary.created_at),
            updated_at: rfc3339(summary.updated_at),
            messages: summary.messages,
        }
    }
}

/// The id of a path, percent-decoded once. What can be no id belongs to no thread.
fn thread_id(path: Result<Path<String>, PathRejection>) -> Result<ThreadId, ApiError> {
    let Path(id) = path.map_err(|_| not_found())?;
    ThreadId::parse(id).map_err(|_| not_found())
}

fn not_found() -> ApiError {
    ApiError::new(domain::Code::NotFound, "no thread of yours has this id")
}
