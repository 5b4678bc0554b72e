//! Intake, the queue's workers, the turn in seven steps, and what its readers see.
//!
//! Every channel hands its messages to one [`Orchestrator`]: [`Orchestrator::submit`] stores a turn or refuses it,
//! [`Orchestrator::work`] runs what is queued, [`Orchestrator::follow`] is one reader's view of a run. It never
//! branches on which role or channel runs, and it speaks to no provider and no socket.
//! To add a step of the turn: a module beside `turn`'s others, called from `turn::run` in the order of the way.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod channel;
mod control;
mod follow;
mod hub;
mod intake;
mod log;
mod orchestrator;
mod roster;
mod settings;
mod signals;
mod sweeper;
mod tools;
mod turn;
mod worker;

pub use channel::{Asks, Capabilities, ChannelDefinition, Channels};
pub use follow::{Follow, FollowError, From, ItemKind, Reader, StreamItem};
pub use intake::{Submission, SubmitError, Ticket};
pub use orchestrator::{Orchestrator, Parts};
pub use roster::*;
pub use settings::{OnDisconnect, Settings};
pub use signals::InProcess;
pub use tools::{Listed, NotListed, ToolList};
pub use worker::{Enlisted, WorkScope};
