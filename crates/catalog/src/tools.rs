//! The built-in tools, one file each.

mod clock;
mod whoami;

pub use clock::Clock;
pub use whoami::Whoami;

use crate::{Builder, Catalog};

/// A builder that holds the built-in tools.
pub fn builtin() -> Builder {
    Catalog::builder().read(Clock::default()).read(Whoami::default())
}
