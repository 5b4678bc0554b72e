//! What configuration decides about turns.

use std::{collections::BTreeMap, time::Duration};

use catalog::{Commands, Policy};
use domain::{Bundle, Category, Limits};
use storage::WhenBusy;

use crate::Channels;

/// The defaults are the contract's.
#[derive(Debug, Clone)]
pub struct Settings {
    pub limits: Limits,
    pub when_busy: WhenBusy,
    pub on_disconnect: OnDisconnect,
    /// How long frames stay after a run's end.
    pub retention: Duration,
    /// How long runs in flight may go on once a worker was told to stop.
    pub grace: Duration,
    pub channels: Channels,
    /// Whose data each declared category is about; empty: none is declared, and every one may be.
    pub categories: BTreeMap<Category, Bundle>,
    /// What clients' tools are.
    pub commands: Commands,
    /// What a call does.
    pub policy: Policy,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            when_busy: WhenBusy::Queue,
            on_disconnect: OnDisconnect::Linger(Duration::from_secs(30)),
            retention: Duration::from_secs(600),
            grace: Duration::from_secs(25),
            channels: Channels::Any,
            categories: BTreeMap::new(),
            commands: Commands::default(),
            policy: Policy::default(),
        }
    }
}

/// What becomes of a run once its last reader's socket closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDisconnect {
    /// It is cancelled after so long.
    Linger(Duration),
    /// It goes on to its end.
    Detach,
    /// It is cancelled at once.
    Abort,
}
