//! What the endpoints share, and the table of them.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{DefaultBodyLimit, FromRequestParts, Request, State},
    http::request,
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use domain::{ClientToolStyle, Clock, Code, Ids, Principal, RunId};
use orchestrator::Orchestrator;
use storage::Store;
use url::Url;

use crate::{
    agui,
    auth::{AuthError, AuthSettings, Authenticator, FetchKeys},
    auth_demo, cancel, copilotkit, cors, health, host,
    problem::ApiError,
    root, run, threads, tools,
};

/// `server.*`, `auth.*` and what of `limits.*` is the edge's.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `limits.body_bytes`.
    pub body_bytes: usize,
    /// `server.allowed_hosts`: names a request's `Host` may have, without port; empty allows any.
    pub allowed_hosts: Vec<String>,
    /// `server.allowed_origins`: pages of these may call the API from a browser, `*` all; empty only our own.
    pub allowed_origins: Vec<String>,
    /// `server.public_url`: where people reach us, if not at the listener's address.
    pub public_url: Option<Url>,
    /// `worker.grace_seconds`: how long open streams may go on once [`serve`](crate::serve()) was told to stop.
    pub grace: Duration,
    pub auth: AuthSettings,
    /// `channels.web.client_tools`: how a client that can go on from an interrupt hears of its tools' calls.
    pub client_tools: ClientToolStyle,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            body_bytes: domain::Limits::default().body_bytes,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            public_url: None,
            grace: Duration::from_secs(25),
            auth: AuthSettings::default(),
            client_tools: ClientToolStyle::Universal,
        }
    }
}

/// What a server is made of.
pub struct ServerParts {
    /// Its store is open and migrated.
    pub orchestrator: Orchestrator,
    pub ids: Arc<dyn Ids>,
    pub clock: Arc<dyn Clock>,
    /// For `auth.jwks`.
    pub fetch_keys: FetchKeys,
    pub settings: Settings,
}

/// The endpoints and what they share. Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Inner>);

struct Inner {
    orchestrator: Orchestrator,
    ids: Arc<dyn Ids>,
    authenticator: Authenticator,
    settings: Settings,
}

impl App {
    /// Opens the keys; in demo mode makes them and demo's person.
    pub async fn open(parts: ServerParts) -> Result<Self, AuthError> {
        let ServerParts { orchestrator, ids, clock, fetch_keys, settings } = parts;
        let authenticator = Authenticator::open(orchestrator.store().clone(), &settings.auth, clock, fetch_keys).await?;
        Ok(Self(Arc::new(Inner { orchestrator, ids, authenticator, settings })))
    }

    /// The id of a run whose client gave it none.
    pub(crate) fn mint(&self, prefix: &str) -> Result<RunId, ApiError> {
        RunId::parse(format!("{prefix}{}", self.ids().ulid())).map_err(|error| {
            tracing::error!(%error, "the source of ids gave no id");
            ApiError::new(Code::Internal, "the request could not be taken; send it again")
        })
    }

    pub fn router(&self) -> Router {
        let router = Router::new()
            .route("/", get(root::handler))
            .route("/healthz", get(health::healthz))
            .route("/readyz", get(health::readyz))
            .route("/v1/agui", post(agui::post::handler).get(agui::get::handler))
            .route("/v1/copilotkit", post(copilotkit::single::handler))
            .route("/v1/copilotkit/", post(copilotkit::single::handler))
            .route("/v1/copilotkit/info", get(copilotkit::info::handler))
            .route("/v1/copilotkit/agent/{id}/run", post(copilotkit::run::handler))
            .route("/v1/copilotkit/agent/{id}/connect", post(copilotkit::connect::handler))
            .route("/v1/copilotkit/agent/{id}/stop/{thread}", post(copilotkit::stop::handler))
            .route("/v1/runs/{id}", get(run::handler))
            .route("/v1/runs/{id}/cancel", post(cancel::handler))
            .route("/v1/threads", get(threads::list::handler))
            .route(
                "/v1/threads/{id}",
                get(threads::show::handler).patch(threads::rename::handler).delete(threads::delete::handler),
            )
            .route("/v1/threads/{id}/messages", get(threads::messages::handler))
            .route("/v1/tools", get(tools::handler))
            .route(auth_demo::PATH, post(auth_demo::handler))
            .fallback(async || ApiError::not_found())
            .method_not_allowed_fallback(async || {
                ApiError::new(Code::MethodNotAllowed, "this address does not answer that method; Allow says which it does")
            });
        cors::layer(router, &self.settings().allowed_origins)
            .layer(middleware::from_fn_with_state(self.clone(), check_host))
            .layer(DefaultBodyLimit::disable())
            .with_state(self.clone())
    }

    pub(crate) fn orchestrator(&self) -> &Orchestrator {
        &self.0.orchestrator
    }

    pub(crate) fn store(&self) -> &Store {
        self.0.orchestrator.store()
    }

    pub(crate) fn ids(&self) -> &dyn Ids {
        &*self.0.ids
    }

    pub(crate) fn authenticator(&self) -> &Authenticator {
        &self.0.authenticator
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.0.settings
    }
}

async fn check_host(State(app): State<App>, request: Request, next: Next) -> Response {
    let allowed = &app.settings().allowed_hosts;
    if allowed.is_empty() || host::of(request.headers()).is_some_and(|host| host::is_allowed(host, allowed)) {
        return next.run(request).await;
    }
    ApiError::new(Code::Forbidden, "this Host is not one of server.allowed_hosts").into_response()
}

/// A valid token's principal; whether that is a member, the endpoint's work says.
pub(crate) struct Caller(pub(crate) Principal);

impl FromRequestParts<App> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut request::Parts, app: &App) -> Result<Self, ApiError> {
        app.authenticator().principal(&parts.headers).await.map(Self)
    }
}

/// A valid token's principal that is a member now.
pub(crate) struct Member(pub(crate) Principal);

impl FromRequestParts<App> for Member {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut request::Parts, app: &App) -> Result<Self, ApiError> {
        let Caller(principal) = Caller::from_request_parts(parts, app).await?;
        app.authenticator().member(&principal).await?;
        Ok(Self(principal))
    }
}
