//! Named points where a test may kill the process, to prove that nothing is lost there.
//!
//! Without the feature `crash-points` (always, in a product build) a point compiles to nothing.

/// Aborts the process when `FRONTDESK_CRASH_AT` is `name` or `name:N` (the N-th pass, counted from 1).
#[cfg(feature = "crash-points")]
pub fn point(name: &'static str) {
    use std::sync::atomic::{AtomicU64, Ordering};
    static PASSES: AtomicU64 = AtomicU64::new(0);
    let Ok(wanted) = std::env::var("FRONTDESK_CRASH_AT") else { return };
    let (wanted, pass) = match wanted.rsplit_once(':') {
        Some((name, pass)) => (name.to_owned(), pass.parse().unwrap_or(1)),
        None => (wanted, 1),
    };
    if wanted == name && PASSES.fetch_add(1, Ordering::SeqCst) + 1 == pass {
        std::process::abort();
    }
}

/// Nothing: the feature `crash-points` is off.
#[cfg(not(feature = "crash-points"))]
#[inline(always)]
pub fn point(_name: &'static str) {}
