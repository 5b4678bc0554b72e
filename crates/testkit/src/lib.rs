//! What the tests of the real binary stand on: a scripted provider, processes that can be killed, a strict client.
//!
//! Never in a release, and never a dependency of the product. To script something new: a directive in [`script`], what
//! it does in [`scripted`].

pub mod agui;
pub mod binary;
pub mod crash;
pub mod http;
pub mod postgres;
pub mod process;
pub mod provider;
pub mod script;
pub mod scripted;
pub mod strict;
pub mod token;
pub mod wait;
pub mod world;

#[cfg(feature = "ai-test")]
pub mod model;

pub use agui::{Answer, Client, Item, Plain, Sse, input, kinds, lines, said, story, unqueued};
pub use http::Request;
pub use postgres::Postgres;
pub use process::{Frontdesk, Process, Ran, Setup, signal};
pub use provider::{Asked, Provider};
pub use world::{Engine, World};
