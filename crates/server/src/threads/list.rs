//! `GET /v1/threads?limit&cursor`: one's threads, those with the newest messages first.

use axum::extract::State;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::ThreadKey;
use storage::ThreadSummary;

use super::Item;
use crate::{
    app::{App, Member},
    page::{self, Asked, Page},
    problem::ApiError,
};

pub(crate) async fn handler(State(app): State<App>, Member(principal): Member, asked: Asked) -> Result<Page<Item>, ApiError> {
    let query = page::query(asked)?;
    let limit = page::limit(&query)?;
    let after = query.get("cursor").map(|text| decode(text).ok_or_else(|| page::bad_cursor("cursor"))).transpose()?;
    // One more than is shown tells whether there is another page.
    let mut threads = app.store().threads(&principal, limit + 1, after).await?;
    let shown = limit as usize;
    let next_cursor = (threads.len() > shown).then(|| encode(&threads[shown - 1]));
    threads.truncate(shown);
    Ok(Page { items: threads.into_iter().map(Item::from).collect(), next_cursor })
}

fn encode(last: &ThreadSummary) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}.{}", last.updated_at, last.key))
}

/// A place in the list, which says nothing of whose list it is.
fn decode(text: &str) -> Option<(i64, ThreadKey)> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
    let (updated_at, key) = text.split_once('.')?;
    Some((updated_at.parse().ok()?, ThreadKey::parse(key).ok()?))
}
