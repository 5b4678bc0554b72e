use std::time::{Duration, Instant};

use domain::RunKey;

use super::*;
use crate::hub::Hub;

const LEASE: Duration = Duration::from_secs(15);

fn log_claimed(asked: Instant) -> (Arc<RunLog>, Arc<RunControl>) {
    let run = RunKey::parse("run").unwrap();
    let control = Arc::new(RunControl::new(asked, LEASE));
    let post = Hub::default().enter(&run);
    (RunLog::new(1, None, control.clone(), post), control)
}

fn log() -> Arc<RunLog> {
    log_claimed(Instant::now()).0
}

fn event(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

fn found(first: i64, json: &[&str], end: bool) -> Found {
    Found::Events { first, json: json.iter().map(|text| event(text)).collect(), end }
}

#[test]
fn a_reader_gets_what_follows_its_place() {
    let log = log();
    assert_eq!(log.read(0), Found::Nothing);
    for text in ["a", "b", "c"] {
        log.push(event(text), true);
    }
    assert_eq!(log.read(0), found(1, &["a", "b", "c"], false));
    assert_eq!(log.read(2), found(3, &["c"], false));
    assert_eq!(log.read(3), Found::Nothing);
    assert_eq!(log.read(99), Found::Nothing);
}

#[test]
fn the_end_is_seen_only_once_it_is_published() {
    let log = log();
    log.push(event("a"), true);
    log.push(event("end"), false);
    assert_eq!(log.pending(), FrameBatch { first: 1, last: 2, body: b"a\nend\n".to_vec() });
    assert_eq!(log.read(0), found(1, &["a"], false));
    assert_eq!(log.read(1), Found::Nothing);
    log.kept(2);
    log.publish();
    assert_eq!(log.read(0), found(1, &["a", "end"], true));
    assert_eq!(log.read(2), Found::Over);
    log.gone();
    assert_eq!(log.read(2), Found::Over, "a published log stays");
}

#[test]
fn only_what_is_stored_is_dropped_from_the_front() {
    let log = log();
    let big = Bytes::from(vec![b'x'; KEPT_BYTES]);
    log.push(big.clone(), true);
    log.push(big.clone(), true);
    log.push(event("tail"), true);
    assert!(matches!(log.read(0), Found::Events { first: 1, .. }));
    log.kept(2);
    assert_eq!(log.read(0), Found::Behind);
    assert!(matches!(log.read(1), Found::Events { first: 2, .. }));
    assert_eq!(log.pending(), FrameBatch { first: 3, last: 3, body: b"tail\n".to_vec() });
    assert_eq!(log.pending_bytes(), 4);
    assert_eq!(log.unstored(0), [(3, event("tail"))]);
}

#[test]
fn a_lost_attempt_tells_its_readers_to_look_elsewhere() {
    let log = log();
    log.push(event("a"), true);
    log.gone();
    assert_eq!(log.read(0), Found::Gone);
    assert_eq!(log.unstored(0), [(1, event("a"))]);
}

#[test]
fn nothing_is_shown_while_the_lease_may_have_run_out() {
    let Some(long_ago) = Instant::now().checked_sub(2 * LEASE) else { return };
    let (log, control) = log_claimed(long_ago);
    log.push(event("a"), true);
    assert_eq!(log.read(0), Found::Nothing);
    control.lease().renew(Instant::now(), LEASE);
    assert_eq!(log.read(0), found(1, &["a"], false));
}

#[test]
fn last_words_follow_what_was_not_stored() {
    let log = log();
    log.push(event("a"), true);
    log.kept(1);
    log.push(event("b"), true);
    assert_eq!(log.last_words(b"end"), FrameBatch { first: 2, last: 3, body: b"b\nend\n".to_vec() });
}
