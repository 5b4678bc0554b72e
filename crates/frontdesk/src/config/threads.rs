//! `[threads]`: what happens to a thread when readers leave or messages meet.

use std::time::Duration;

use orchestrator::OnDisconnect;
use storage::WhenBusy;

use super::reader::Reader;

#[derive(Debug, Clone)]
pub struct Threads {
    /// When the last reader's socket closed: go on for `linger_seconds` (30), for ever, or not at all.
    pub on_disconnect: OnDisconnect,
    /// A message while a run is active.
    pub when_busy: WhenBusy,
}

#[derive(Clone, Copy, PartialEq)]
enum Word {
    Linger,
    Detach,
    Abort,
}

impl Threads {
    pub(super) fn read(from: &mut Reader<'_>) -> Self {
        let word = from
            .one_of("on_disconnect", &[("linger", Word::Linger), ("detach", Word::Detach), ("abort", Word::Abort)])
            .map_or(Word::Linger, |word| word.value);
        let linger = Duration::from_secs(from.integer("linger_seconds", 0..=86_400).unwrap_or(30));
        let busy = [("queue", WhenBusy::Queue), ("reject", WhenBusy::Reject), ("interrupt", WhenBusy::Interrupt)];
        from.later("when_interrupted");
        Self {
            on_disconnect: match word {
                Word::Linger => OnDisconnect::Linger(linger),
                Word::Detach => OnDisconnect::Detach,
                Word::Abort => OnDisconnect::Abort,
            },
            when_busy: from.one_of("when_busy", &busy).map_or(WhenBusy::Queue, |word| word.value),
        }
    }
}
