//! `GET /v1/tools[?role=&channel=]`: what there is to call, what a role may be offered of it, and what a call does.

use axum::{
    Json,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use domain::{ChannelName, IdError, Principal, RoleName};
use orchestrator::NotListed;

use crate::{
    app::{App, Member},
    page::{self, Asked},
    problem::ApiError,
};

pub(crate) async fn handler(State(app): State<App>, Member(principal): Member, asked: Asked) -> Result<Response, ApiError> {
    let query = page::query(asked)?;
    let name = |key: &str| query.get(key).map(String::as_str);
    let role = name("role").map(RoleName::parse).transpose().map_err(|error| bad("role", error))?;
    let channel = name("channel").map(ChannelName::parse).transpose().map_err(|error| bad("channel", error))?;
    let principal = Principal { channel: channel.unwrap_or_else(|| principal.channel.clone()), ..principal };
    let list = app.orchestrator().tools(&principal, role.as_ref()).await.map_err(|error| match error {
        NotListed::Role => ApiError::input("role", error),
        NotListed::Channel => ApiError::input("channel", error),
    })?;
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(list.json())).into_response())
}

fn bad(key: &str, error: IdError) -> ApiError {
    ApiError::input(key, error)
}
