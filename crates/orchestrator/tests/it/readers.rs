use domain::{CancelReason, Code, Event, Offset, RunKey, RunStatus};
use futures::StreamExt;
use orchestrator::{From, Reader, Settings};
use storage::{CancelOutcome, SweepPolicy};

use crate::support::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_told_from_its_start_to_its_end() {
    let mut desk = Desk::new().await;
    let run = desk.submit("t", "r").await;
    let reading = desk.follow(&run, From::Start);
    let working = desk.work();
    let call = desk.call().await;
    call.say(Say::Text("Hel"));
    call.answer("lo");
    let sent = reading.rest().await;
    assert_whole(&sent);
    assert_eq!(told(&sent), "started < Hel lo > finished");
    assert_eq!(sent[0].mark(), Offset::START.into());
    assert!(sent[1..].iter().zip(1..).all(|(sent, seq)| sent.mark().offset == Offset { attempt: 1, seq }));

    // Again, from the store: the same events at the same places, from any place strictly after it.
    assert_eq!(desk.follow(&run, From::Start).rest().await, sent);
    for (index, known) in sent.iter().enumerate() {
        assert_eq!(desk.follow(&run, From::After(known.mark())).rest().await, sent[index + 1..]);
    }
    working.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_of_a_live_run_get_every_delta() {
    let mut desk = Desk::new().await;
    let run = desk.submit("t", "r").await;
    let mut first = desk.follow(&run, From::Start);
    let working = desk.work();
    let call = desk.call().await;
    call.say(Say::Text("one"));
    let seen = first.until(is_text).await;
    let mut late = desk.follow(&run, From::Start);
    assert_eq!(told(&late.until(is_text).await), told(&seen));
    let mut resumed = desk.follow(&run, From::After(seen.last().unwrap().mark()));
    call.say(Say::Text("two"));
    for reading in [&mut first, &mut late, &mut resumed] {
        assert_eq!(told(&reading.until(is_text).await), "two");
    }
    call.say(Say::Done);
    for reading in [first, late, resumed] {
        assert_eq!(told(&reading.rest().await), "> finished");
    }
    working.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_is_told_its_place() {
    let mut desk = Desk::new().await;
    desk.model_answers_by_itself();
    let first = desk.submit("t", "r1").await;
    let second = desk.submit("t", "r2").await;
    let mut reading = desk.follow(&second, From::Start);
    let sent = reading.until(|event| matches!(event, Event::Custom { .. })).await;
    assert_eq!(told(&sent), "started queued 2");
    assert_eq!(sent[1].mark(), Offset { attempt: 0, seq: 1 }.into());
    let resumed = desk.follow(&second, From::After(sent[1].mark()));
    let last = Offset { attempt: 0, seq: i64::MAX };
    let made_up = desk.follow(&second, From::After(last.into())).until(|event| matches!(event, Event::Custom { .. })).await;
    assert_eq!(made_up[0].mark().offset, last);
    let working = desk.work();
    assert_eq!(told(&desk.follow(&first, From::Start).rest().await), "started < by itself > finished");
    for reading in [reading, resumed] {
        let rest = reading.rest().await;
        assert_whole(&rest);
        assert!(told(&rest).ends_with("< by itself > finished"), "{rest:?}");
    }
    assert!(desk.call().await.request.messages.len() < desk.call().await.request.messages.len());
    working.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_run_that_is_cancelled_ends_for_its_readers() {
    let desk = Desk::new().await;
    let run = desk.submit("t", "r").await;
    let mut reading = desk.follow(&run, From::Start);
    reading.until(|event| matches!(event, Event::RunStarted { .. })).await;
    let outcome = desk.orchestrator.cancel(&ada(), &run.id).await.unwrap();
    assert_eq!(outcome, CancelOutcome::Ended(RunStatus::Cancelled));
    let rest = reading.rest().await;
    assert_whole(&rest);
    assert!(told(&rest).ends_with("cancelled"));
    assert_eq!(desk.orchestrator.cancel(&ada(), &"unknown".parse().unwrap()).await.unwrap(), CancelOutcome::Unknown);
}

#[tokio::test(flavor = "multi_thread")]
async fn cancel_acts_at_once_on_a_run_of_this_process() {
    let mut desk = Desk::new().await;
    let run = desk.submit("t", "r").await;
    let mut reading = desk.follow(&run, From::Start);
    let working = desk.work();
    let call = desk.call().await;
    call.say(Say::Text("half"));
    reading.until(is_text).await;
    assert_eq!(desk.orchestrator.cancel(&ada(), &run.id).await.unwrap(), CancelOutcome::Requested);
    assert_eq!(told(&reading.rest().await), "> cancelled");
    let record = desk.store().run_by_key(&run.key).await.unwrap().unwrap();
    assert_eq!((record.status, record.cancel), (RunStatus::Cancelled, Some(CancelReason::Asked)));
    working.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_no_longer_kept_says_so_first() {
    let mut desk = Desk::new().await;
    let run = desk.submit("t", "r").await;
    let working = desk.work();
    desk.call().await.answer("gone soon");
    desk.follow(&run, From::Start).rest().await;
    working.stop().await;
    desk.store().shift_clock(601_000);
    let Settings { retention, .. } = Settings::default();
    let policy = SweepPolicy { linger: None, failures: 3, retention, lost_note: "lost".into() };
    assert_eq!(desk.store().sweep(&policy).await.unwrap().expired, 1);
    for from in [From::Start, From::After(Offset { attempt: 1, seq: 2 }.into())] {
        let mut reading = desk.follow(&run, from);
        assert!(matches!(soon(reading.0.next()).await, Some(Err(orchestrator::FollowError::Expired))));
        assert!(soon(reading.0.next()).await.is_none());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_not_there_ends_with_an_error() {
    let desk = Desk::new().await;
    let mut run = desk.submit("t", "r").await;
    run.key = RunKey::parse("01ARZ3NDEKTSV4RRFFQ69G5FAV").unwrap();
    let sent = desk.read(&run, From::Start, Reader::Observer).rest().await;
    assert_eq!(told(&sent), Code::RunNotFound.as_str());
    assert_eq!(sent[0].mark, None, "a place that was seen would be dropped as a double");
    assert_whole(&sent);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_far_behind_reads_from_the_store() {
    let mut desk = Desk::new().await;
    let run = desk.submit("t", "r").await;
    let mut reading = desk.follow(&run, From::Start);
    let working = desk.work();
    let call = desk.call().await;
    let long: &'static str = Box::leak("x".repeat(40_000).into_boxed_str());
    call.say(Say::Text("begin"));
    reading.until(is_text).await;
    for _ in 0..20 {
        call.say(Say::Text(long));
    }
    call.say(Say::Done);
    // Another reader sees the end, so that everything was stored and published.
    let whole = desk.follow(&run, From::Start).rest().await;
    let rest = reading.rest().await;
    assert_whole(&rest);
    assert_eq!(rest[..], whole[whole.len() - rest.len()..]);
    assert_eq!(rest.iter().filter(|sent| is_text(&sent.event)).count(), 20);
    working.stop().await;
}
