//! `/v1/agui`: the agent endpoint of AG-UI, with the reads that its clients make besides.

pub(crate) mod get;
mod hydrate;
pub(crate) mod post;
pub(crate) mod replay;
