//! Whether anybody still reads a run.

use std::time::Duration;

use domain::{CancelReason, Code, RunStatus};
use orchestrator::{From, OnDisconnect, Reader, Settings};
use storage::{RunRef, WhenBusy};

use crate::support::*;

/// Asks until the row says so: who reads is told to it by a task of its own.
async fn until_unattended(desk: &Desk, run: &RunRef, unattended: bool) {
    soon(async {
        while desk.store().run_by_key(&run.key).await.unwrap().unwrap().unattended_since.is_some() != unattended {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_unattended_once_its_last_reader_left() {
    let mut desk = Desk::new().await;
    let run = desk.submit("t", "r").await;
    let working = desk.work();
    let call = desk.call().await;
    call.say(Say::Text("half"));
    let mut one = desk.follow(&run, From::Start);
    let mut two = desk.follow(&run, From::Start);
    let mut observer = desk.read(&run, From::Start, Reader::Observer);
    for reading in [&mut one, &mut two, &mut observer] {
        reading.until(is_text).await;
    }
    drop(observer);
    drop(one);
    // One is left; the other's leaving changed nothing.
    call.say(Say::Text("more"));
    two.until(is_text).await;
    until_unattended(&desk, &run, false).await;
    drop(two);
    until_unattended(&desk, &run, true).await;
    let back = desk.follow(&run, From::Start);
    until_unattended(&desk, &run, false).await;
    call.say(Say::Done);
    assert_eq!(told(&back.rest().await), "started < half more > finished");
    assert_eq!(desk.store().run_by_key(&run.key).await.unwrap().unwrap().unattended_since, None);
    working.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_socket_aborts_where_that_is_wanted() {
    let mut desk = Desk::with(Settings { on_disconnect: OnDisconnect::Abort, ..Settings::default() }).await;
    let run = desk.submit("t", "r").await;
    let working = desk.work();
    let call = desk.call().await;
    call.say(Say::Text("half"));
    let mut reading = desk.follow(&run, From::Start);
    let observer = desk.read(&run, From::Start, Reader::Observer);
    reading.until(is_text).await;
    drop(reading);
    assert_eq!(told(&observer.rest().await), "started < half > cancelled");
    let record = desk.store().run_by_key(&run.key).await.unwrap().unwrap();
    assert_eq!((record.status, record.cancel), (RunStatus::Cancelled, Some(CancelReason::Unattended)));
    working.stop().await;
}

/// Clients stop by closing their socket: the next message may come at once. On one thread it is looked at first.
#[tokio::test]
async fn a_thread_is_not_busy_with_what_its_person_just_left() {
    let mut desk = Desk::with(Settings { when_busy: WhenBusy::Reject, ..Settings::default() }).await;
    let run = desk.submit("t", "r").await;
    let working = desk.work();
    let call = desk.call().await;
    call.say(Say::Text("half"));
    let mut reading = desk.follow(&run, From::Start);
    reading.until(is_text).await;
    let error = desk.orchestrator.submit(&ada(), submission("t", "while it is read")).await.unwrap_err();
    assert_eq!(error.code, Code::ThreadBusy);
    drop(reading);
    desk.submit("t", "next").await;
    desk.call().await.answer("whole");
    let record = desk.store().run_by_key(&run.key).await.unwrap().unwrap();
    assert_eq!((record.status, record.cancel), (RunStatus::Cancelled, Some(CancelReason::Replaced)));
    working.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_for_long_enough_ends_it() {
    let linger = OnDisconnect::Linger(Duration::from_millis(1));
    let mut desk = Desk::with(Settings { on_disconnect: linger, ..Settings::default() }).await;
    let run = desk.submit("t", "r").await;
    let working = desk.work();
    let call = desk.call().await;
    call.say(Say::Text("half"));
    let mut reading = desk.follow(&run, From::Start);
    let observer = desk.read(&run, From::Start, Reader::Observer);
    reading.until(is_text).await;
    drop(reading);
    assert_eq!(told(&observer.rest().await), "started < half > cancelled");
    working.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_goes_down_says_nothing_of_its_readers() {
    let mut desk = Desk::with(Settings { grace: Duration::ZERO, ..Settings::default() }).await;
    let run = desk.submit("t", "r").await;
    let working = desk.work();
    let call = desk.call().await;
    call.say(Say::Text("half"));
    let mut reading = desk.follow(&run, From::Start);
    reading.until(is_text).await;
    working.stop.cancel();
    drop(reading);
    working.stop().await;
    desk.orchestrator.shutdown().await;
    let record = desk.store().run_by_key(&run.key).await.unwrap().unwrap();
    assert_eq!((record.status, record.unattended_since), (RunStatus::Queued, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_detached_attends_and_leaves_no_run_behind() {
    let mut desk = Desk::with(Settings { on_disconnect: OnDisconnect::Abort, ..Settings::default() }).await;
    let run = desk.submit("t", "r").await;
    let working = desk.work();
    let call = desk.call().await;
    call.say(Say::Text("half"));
    let mut detached = desk.read(&run, From::Start, Reader::Detached);
    let mut person = desk.follow(&run, From::Start);
    for reading in [&mut detached, &mut person] {
        reading.until(is_text).await;
    }
    // Somebody still reads it.
    drop(person);
    call.say(Say::Text("more"));
    detached.until(is_text).await;
    until_unattended(&desk, &run, false).await;
    drop(detached);
    // Whatever a leaving reader starts comes before this end is stored.
    call.say(Say::Done);
    let observer = desk.read(&run, From::Start, Reader::Observer);
    assert_eq!(told(&observer.rest().await), "started < half more > finished");
    let record = desk.store().run_by_key(&run.key).await.unwrap().unwrap();
    assert_eq!((record.status, record.cancel, record.unattended_since), (RunStatus::Completed, None, None));
    working.stop().await;
}
