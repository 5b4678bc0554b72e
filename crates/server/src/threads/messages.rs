//! `GET /v1/threads/{id}/messages?limit&before`: the transcript from its end, oldest first within a page; `before` is
//! the `nextCursor` of the page after. While a run is active it goes up to that run's question.

use axum::extract::{Path, State, rejection::PathRejection};
use domain::MessageId;
use storage::Hydrated;

use super::{not_found, thread_id};
use crate::{
    app::{App, Member},
    page::{self, Asked, Page},
    problem::ApiError,
    wire::transcript::{UiMessage, ui_messages},
};

pub(crate) async fn handler(
    State(app): State<App>,
    Member(principal): Member,
    id: Result<Path<String>, PathRejection>,
    asked: Asked,
) -> Result<Page<UiMessage>, ApiError> {
    let thread = thread_id(id)?;
    let query = page::query(asked)?;
    let limit = page::limit(&query)?;
    let before = query.get("before").map(MessageId::parse).transpose().map_err(|_| page::bad_cursor("before"))?;
    app.store().thread_key(&principal, &thread).await?.ok_or_else(not_found)?;
    let before = before.as_ref().map(MessageId::as_str);
    let Hydrated { messages: rows, truncated, .. } = app.store().hydrate(&principal, &thread, Some(limit), before).await?;
    let next_cursor = rows.first().filter(|_| truncated).map(|row| row.message.id().to_string());
    Ok(Page { items: ui_messages(&rows), next_cursor })
}
