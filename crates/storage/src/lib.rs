//! The floor everything stands on: SQLite (rusqlite) and PostgreSQL (sqlx) behind one [`Store`] and one [`Tx`], one
//! SQL text for both, one file per aggregate, named operations.
//!
//! It knows no HTTP, no model and no role. Every query of a person's data takes a principal; every write of a run
//! takes its [`RunLease`] and is refused ([`LeaseError::Fenced`]) once another attempt holds the run.
//! To add an aggregate: one file here with its operations, a migration per engine, its cases in `tests/it`.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod error;
mod store;
mod tx;

mod changes;
mod migrate;
mod postgres;
mod sqlite;
#[cfg(test)]
mod testing;

mod accounts;
mod frames;
mod interrupts;
mod messages;
mod retry;
mod row;
mod runs;
mod settings;
mod sweep;
mod threads;
mod workers;

pub use accounts::{Membership, Organization, User};
pub use error::{LeaseError, OpenError, StorageError};
pub use frames::{Frame, FrameBatch};
pub use interrupts::{NewInterrupt, OpenInterrupt};
pub use messages::{History, StoredMessage};
pub use migrate::Migrations;
pub use runs::{
    Accept, Accepted, Beat, CancelOutcome, Claim, Claimed, Decide, Finish, ModelCall, NewMessage, Refusal, RunLease, RunRecord,
    RunRef, StepCommit, WhenBusy,
};
pub use store::{Durability, Engine, Store, StoreOptions};
pub use sweep::{DeadRun, SweepPolicy, Swept};
pub use threads::{DeletedThread, Hydrated, ThreadStatus, ThreadSummary, ThreadView, TurnView};
pub use tx::{FromValue, Row, Tx, Value};
pub use workers::WorkerRecord;
