//! The migrations of this build. A released one is never edited; a new one goes to the end of both lists.

use super::Migration;

pub(super) const SQLITE: &[Migration] = &[
    Migration { version: 1, sql: include_str!("../../migrations/sqlite/0001_init.sql") },
    Migration { version: 2, sql: include_str!("../../migrations/sqlite/0002_interrupts.sql") },
];

pub(super) const POSTGRES: &[Migration] = &[
    Migration { version: 1, sql: include_str!("../../migrations/postgres/0001_init.sql") },
    Migration { version: 2, sql: include_str!("../../migrations/postgres/0002_interrupts.sql") },
];
