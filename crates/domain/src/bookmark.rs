//! How far a reader has come in a run's stream.

use std::sync::Arc;

use crate::{Offset, RunId};

/// What a reader has been sent: the value of `id:` lines, of `Last-Event-ID` and of `?offset=`.
///
/// On the wire `<run id>:<attempt>.<seq>[.<bridged>][~<open>]`, opaque to clients. Everything in it came from outside
/// once it is read: it says what its own reader is sent and nothing else.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bookmark {
    pub offset: Offset,
    /// Events that it was sent of the bridge that leads away from `offset`, whose attempt was superseded there.
    pub bridged: u32,
    /// What is open at `offset`, as the orchestrator notes it: letters, digits, `_` and `~`. What was sent and never
    /// stored is known from here only.
    pub open: Arc<str>,
}

impl Bookmark {
    /// Most bytes of `open`.
    pub const MAX_OPEN: usize = 1024;

    /// The wire form.
    pub fn encode(&self, run: &RunId) -> String {
        let Offset { attempt, seq } = self.offset;
        let mut out = format!("{run}:{attempt}.{seq}");
        if self.bridged > 0 {
            out.push_str(&format!(".{}", self.bridged));
        }
        if !self.open.is_empty() {
            out.push('~');
            out.push_str(&self.open);
        }
        out
    }

    /// Reads the wire form: the run it belongs to and the place. `None`: not one of ours.
    pub fn decode(text: &str) -> Option<(RunId, Self)> {
        let (run, place) = text.rsplit_once(':')?;
        let (numbers, open) = place.split_once('~').unwrap_or((place, ""));
        if open.len() > Self::MAX_OPEN || !open.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_~".contains(&byte)) {
            return None;
        }
        let mut numbers = numbers.split('.').map(number);
        let offset = Offset { attempt: numbers.next()??, seq: numbers.next()?? };
        let bridged = numbers.next().map_or(Some(0), |bridged| bridged.and_then(|bridged| u32::try_from(bridged).ok()))?;
        if numbers.next().is_some() {
            return None;
        }
        Some((RunId::parse(run).ok()?, Self { offset, bridged, open: open.into() }))
    }
}

fn number(digits: &str) -> Option<i64> {
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

impl From<Offset> for Bookmark {
    /// With nothing open.
    fn from(offset: Offset) -> Self {
        Self { offset, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bookmark_survives_any_run_id() {
        let offset = Offset { attempt: 3, seq: 41 };
        for (bridged, open, wire) in [
            (0, "", "a:1.2:ü:3.41"),
            (2, "", "a:1.2:ü:3.41.2"),
            (0, "t1", "a:1.2:ü:3.41~t1"),
            (1, "cX~c_Y", "a:1.2:ü:3.41.1~cX~c_Y"),
        ] {
            let run = RunId::parse("a:1.2:ü").expect("valid");
            let mark = Bookmark { offset, bridged, open: open.into() };
            assert_eq!(mark.encode(&run), wire);
            assert_eq!(Bookmark::decode(wire), Some((run, mark)));
        }
    }

    #[test]
    fn what_is_not_ours_is_none() {
        let long = format!("r:1.2~{}", "x".repeat(Bookmark::MAX_OPEN + 1));
        let over = ["r:99999999999999999999.1", "r:1.2.4294967296", &long];
        for bad in ["", "r", "r:1", "r:1.", "r:.1", "r:-1.2", "r:1.+2", ":1.2", "r:1.2.", "r:1.2.3.4", "r:1.2~t-1", "r:1~t1"] {
            assert_eq!(Bookmark::decode(bad), None, "{bad}");
        }
        for bad in over {
            assert_eq!(Bookmark::decode(bad), None, "{bad}");
        }
    }
}
