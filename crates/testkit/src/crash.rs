//! The crash harness: people talk while the server is killed again and again; then everything is compared.
//!
//! [`load`] talks, [`kill`] kills, [`pause`] stops a worker and lets it go on, [`check`] compares what clients, provider
//! and database know. A violation is a sentence.

pub mod check;
pub mod kill;
pub mod load;
pub mod pause;
pub mod random;

/// What was found.
#[derive(Debug, Default)]
pub struct Report {
    /// (what killed the process, how often).
    pub kills: Vec<(String, u32)>,
    pub turns: usize,
    /// Runs that ended as a dead letter: their lease ran out three times.
    pub abandoned: usize,
    pub requests: usize,
    pub violations: Vec<String>,
}
