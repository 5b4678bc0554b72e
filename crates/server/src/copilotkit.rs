//! `/v1/copilotkit`: the runtime that CopilotKit's client looks for (`ag-ui.md` 3.9), as paths and as one endpoint.
//!
//! There is one agent, `default`: the id its client asks for unless an application names another. Roles are no agents:
//! which of them answers is the turn's to decide, and an id for each would promise a choice that nobody has.
//! A run posted here is a run like any other; only the addresses, and what is told of a thread, are CopilotKit's.

pub(crate) mod connect;
pub(crate) mod info;
pub(crate) mod run;
pub(crate) mod single;
pub(crate) mod stop;

use axum::extract::{Path, rejection::PathRejection};
use domain::Code;

use crate::problem::{ApiError, excerpt};

pub(crate) const AGENT: &str = "default";

/// Refuses an agent that is not there.
fn known(agent: &str) -> Result<(), ApiError> {
    if agent == AGENT {
        return Ok(());
    }
    let detail = format!("there is no agent \"{}\" here; the one there is is called \"{AGENT}\"", excerpt(agent, 40));
    Err(ApiError::new(Code::NotFound, detail))
}

/// As [`known`], of a path whose only parameter names the agent.
fn known_in(path: Result<Path<String>, PathRejection>) -> Result<(), ApiError> {
    let Path(agent) = path.map_err(|_| ApiError::not_found())?;
    known(&agent)
}
