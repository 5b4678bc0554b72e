//! Roles.

/// The set of roles.
#[derive(Debug, Clone, Default)]
pub struct Roster {}
