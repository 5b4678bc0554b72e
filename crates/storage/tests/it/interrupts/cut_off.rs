//! What waits when the conversation goes on without it: a newer message, a stop, an answer written anew.

use domain::{CancelReason, Code, RunStatus};
use storage::{Accepted, CancelOutcome, Refusal, WhenBusy};

use super::{Ask, interrupts, result_of, resume, row, stored, wait_for, waits};
use crate::support::{Db, Say, ada, both_engines, id};

both_engines! {
    a_newer_message_cuts_off
    answers_and_a_message_in_one
    answering_again_supersedes_what_waits
    an_edit_supersedes_what_waits_from_its_turn_on
    a_superseded_run_that_ends_waiting_waits_for_nothing
    a_waiting_run_is_stopped
    a_stop_of_a_part_stops_what_it_waits_for
    a_continuation_is_stopped_or_replaced
    a_stop_leaves_other_runs_waiting
    a_run_told_to_stop_while_it_ends_waits_for_nothing
    a_deleted_thread_waits_for_nothing
}

fn stale(call: &str) -> Vec<(String, Code)> {
    vec![(format!("client_tool_{call}"), Code::Stale)]
}

async fn a_newer_message_cuts_off(db: Db) {
    waits(&db, "t", 1, &["c1", "c2"]).await;
    Ask::new("r1b", [row("c1", "one")]).fresh(&db).await;
    db.say(&ada(), "t", "r2", "m2").await;
    assert_eq!(interrupts(&db).await, ["c1 answered", "c2 cut_off"]);
    assert_eq!(result_of(&db, "t", "c1").await, Some(("one".to_owned(), false)));
    assert_eq!(result_of(&db, "t", "c2").await, Some(("cut off".to_owned(), true)));
    let before = stored(&db).await;
    assert_eq!(Ask::new("late", [row("c2", "two")]).faults(&db).await, stale("c2"));
    assert_eq!(Ask::new("late", [resume("c2", "two")]).faults(&db).await, stale("c2"));
    // Rows come again with every request: what one of them was for tells which run it is.
    assert!(matches!(Ask::new("late", [row("c1", "one"), row("c2", "two")]).send(&db).await, Accepted::Settled(_)));
    assert_eq!(stored(&db).await, before);
    let lease = db.claim_one().await;
    assert_eq!(db.history(&lease).await, ["m1", "a1", "tool_c1", "tool_c2", "m2"]);
    db.answer(&lease, "a2").await;
    assert_eq!(db.shown(&ada(), "t").await, ["m1", "a1", "tool_c1", "tool_c2", "m2", "a2"]);
}

async fn answers_and_a_message_in_one(db: Db) {
    waits(&db, "t", 1, &["c1", "c2"]).await;
    let ask = Ask { message: Some("m2"), ..Ask::new("r2", [row("c2", "two")]) };
    let run = ask.fresh(&db).await;
    assert_eq!(interrupts(&db).await, ["c1 cut_off", "c2 answered"]);
    let record = db.store.run_by_key(&run.key).await.unwrap().unwrap();
    assert_eq!((record.leg, record.continues, record.message.as_str()), (1, None, "m2"));
    let lease = db.claim_one().await;
    assert_eq!(db.history(&lease).await, ["m1", "a1", "tool_c1", "tool_c2", "m2"]);
    assert_eq!(result_of(&db, "t", "c2").await, Some(("two".to_owned(), false)));
    // The same request, and its answers alone.
    assert_eq!(ask.send(&db).await, Accepted::Joined(run.clone()));
    assert_eq!(Ask::new("r3", [resume("c2", "two")]).settled(&db).await, run);

    // Answers to interrupts are whole or refused, also beside a message.
    let other = db.say(&ada(), "other", "r8", "m8").await;
    wait_for(&db, &db.claim_one().await, "a8", &["d1", "d2"]).await;
    let before = stored(&db).await;
    let part = Ask { thread: "other", message: Some("m9"), ..Ask::new("r9", [resume("d1", "one")]) };
    assert_eq!(part.faults(&db).await, [("client_tool_d2".to_owned(), Code::IncompleteBatch)]);
    assert_eq!(stored(&db).await, before);
    let whole = Ask { answers: vec![resume("d1", "one"), row("d2", "two")], ..part };
    assert_ne!(whole.fresh(&db).await.key, other.key);
    assert_eq!(db.shown(&ada(), "other").await, ["m8", "a8", "tool_d1", "tool_d2", "m9"]);
}

async fn answering_again_supersedes_what_waits(db: Db) {
    waits(&db, "t", 1, &["c1"]).await;
    // A client that sends its rows with everything cannot settle what it asks to be written anew.
    let again = Ask { message: Some("m1"), ..Ask::new("again", [row("c1", "one")]) };
    again.fresh(&db).await;
    assert_eq!(interrupts(&db).await, ["c1 superseded"]);
    assert_eq!(Ask::new("late", [row("c1", "one")]).faults(&db).await, stale("c1"));
    let lease = db.claim_one().await;
    assert_eq!(db.history(&lease).await, ["m1"]);
    wait_for(&db, &lease, "b1", &["c2"]).await;
    Ask::new("r3", [row("c2", "two")]).fresh(&db).await;
    assert_eq!(db.history(&db.claim_one().await).await, ["m1", "b1", "tool_c2"]);
}

async fn an_edit_supersedes_what_waits_from_its_turn_on(db: Db) {
    // Three turns, each of whose runs ends waiting while the next message is there already.
    for number in 1..=3 {
        db.say(&ada(), "t", &format!("r{number}"), &format!("m{number}")).await;
    }
    for number in 1..=3 {
        wait_for(&db, &db.claim_one().await, &format!("a{number}"), &[&format!("c{number}")]).await;
    }
    let edit = Ask { message: Some("m2 edited"), replaces: Some("m2"), ..Ask::new("edit", [row("c3", "three")]) };
    edit.fresh(&db).await;
    assert_eq!(interrupts(&db).await, ["c1 cut_off", "c2 superseded", "c3 superseded"]);
    let lease = db.claim_one().await;
    assert_eq!(db.history(&lease).await, ["m1", "a1", "tool_c1", "m2 edited"]);
    assert_eq!(db.shown(&ada(), "t").await, ["m1", "a1", "tool_c1", "m2 edited"]);

    // An earlier turn's answer comes with the edit of a later one.
    for number in 5..=6 {
        db.say(&ada(), "other", &format!("r{number}"), &format!("m{number}")).await;
    }
    for number in 5..=6 {
        let lease = db.claim(10).await.pop().unwrap().lease;
        wait_for(&db, &lease, &format!("a{number}"), &[&format!("c{number}")]).await;
    }
    let answers = [row("c5", "five"), row("c6", "six")];
    let edit = Ask { thread: "other", message: Some("m6 edited"), replaces: Some("m6"), ..Ask::new("edit 6", answers) };
    edit.fresh(&db).await;
    assert_eq!(interrupts(&db).await[3..], ["c5 answered", "c6 superseded"]);
    assert_eq!(db.shown(&ada(), "other").await, ["m5", "a5", "tool_c5", "m6 edited"]);
}

async fn a_superseded_run_that_ends_waiting_waits_for_nothing(db: Db) {
    let old = db.say(&ada(), "t", "r1", "m1").await;
    let lease = db.claim_one().await;
    let new = db.fresh(Say { replaces: Some("m1"), ..Say::new(&ada(), "t", "edit", "m1 edited") }).await;
    wait_for(&db, &lease, "a1", &["c1"]).await;
    assert_eq!(interrupts(&db).await, ["c1 superseded"]);
    assert_eq!(db.store.hydrate(&ada(), &id("t"), None, None).await.unwrap().interrupts, []);
    let before = stored(&db).await;
    assert_eq!(Ask::new("late", [row("c1", "one")]).faults(&db).await, stale("c1"));
    assert_eq!(stored(&db).await, before);
    let outcome = db.store.cancel(&ada(), &old.id, CancelReason::Asked, "cut off").await.unwrap();
    assert!(matches!(outcome, CancelOutcome::Ended(_)), "{outcome:?}");
    let lease = db.claim_one().await;
    assert_eq!((&lease.run, db.history(&lease).await), (&new.key, vec!["m1 edited".to_owned()]));
}

async fn a_waiting_run_is_stopped(db: Db) {
    let run = waits(&db, "t", 1, &["c1", "c2"]).await;
    let who = ada();
    let stop = || db.store.cancel(&who, &run.id, CancelReason::Asked, "stopped");
    for _ in 0..2 {
        assert_eq!(stop().await.unwrap(), CancelOutcome::Ended(RunStatus::Cancelled));
    }
    assert_eq!(db.status(&run).await, RunStatus::Cancelled);
    assert_eq!(interrupts(&db).await, ["c1 cut_off", "c2 cut_off"]);
    assert_eq!(result_of(&db, "t", "c2").await, Some(("stopped".to_owned(), true)));
    assert_eq!(Ask::new("late", [row("c1", "one"), row("c2", "two")]).faults(&db).await.len(), 2);
    db.say(&ada(), "t", "r2", "m2").await;
    assert_eq!(db.history(&db.claim_one().await).await, ["m1", "a1", "tool_c1", "tool_c2", "m2"]);

    // One whose answers were taken is not stopped by its old name.
    let run = waits(&db, "other", 5, &["c5"]).await;
    Ask { thread: "other", ..Ask::new("r6", [row("c5", "five")]) }.fresh(&db).await;
    let outcome = db.store.cancel(&ada(), &run.id, CancelReason::Asked, "stopped").await.unwrap();
    assert_eq!(outcome, CancelOutcome::Ended(RunStatus::Interrupted));
    assert_eq!(result_of(&db, "other", "c5").await, Some(("five".to_owned(), false)));
}

/// A client knows its newest run only.
async fn a_stop_of_a_part_stops_what_it_waits_for(db: Db) {
    let run = waits(&db, "t", 1, &["c1", "c2"]).await;
    let part = Ask::new("r2", [row("c1", "one")]).fresh(&db).await;
    for _ in 0..2 {
        let outcome = db.store.cancel(&ada(), &part.id, CancelReason::Asked, "stopped").await.unwrap();
        assert_eq!(outcome, CancelOutcome::Ended(RunStatus::Cancelled));
    }
    assert_eq!(interrupts(&db).await, ["c1 answered", "c2 cut_off"]);
    assert_eq!((db.status(&run).await, db.status(&part).await), (RunStatus::Cancelled, RunStatus::Cancelled));
    assert_eq!(Ask::new("late", [row("c2", "two")]).faults(&db).await, stale("c2"));
}

async fn a_continuation_is_stopped_or_replaced(db: Db) {
    waits(&db, "t", 1, &["c1"]).await;
    let queued = Ask::new("r2", [row("c1", "one")]).fresh(&db).await;
    let outcome = db.store.cancel(&ada(), &queued.id, CancelReason::Asked, "stopped").await.unwrap();
    assert_eq!(outcome, CancelOutcome::Ended(RunStatus::Cancelled));
    assert_eq!(Ask::new("r3", [row("c1", "one")]).settled(&db).await, queued);
    assert!(db.claim(10).await.is_empty());

    // A message waits for a continuation, whose sender may have left, unless it is to interrupt.
    waits(&db, "t", 4, &["c4"]).await;
    let running = Ask::new("r5", [row("c4", "four")]).fresh(&db).await;
    let lease = db.claim_one().await;
    db.say(&ada(), "t", "r6", "m6").await;
    assert_eq!(db.store.run_by_key(&running.key).await.unwrap().unwrap().cancel, None);
    let who = ada();
    let reject = Say { when_busy: WhenBusy::Reject, ..Say::new(&who, "t", "r7", "m7") };
    assert_eq!(db.refusal(reject).await, Refusal::ThreadBusy);
    db.fresh(Say { when_busy: WhenBusy::Interrupt, ..Say::new(&ada(), "t", "r8", "m8") }).await;
    assert_eq!(db.store.run_by_key(&running.key).await.unwrap().unwrap().cancel, Some(CancelReason::Replaced));
    db.answer(&lease, "a4b").await;
    assert_eq!(db.history(&db.claim_one().await).await[3..], ["m4", "a4", "tool_c4", "a4b", "m6", "m8"]);

    // Regenerated while it goes on: what it writes is nobody's.
    waits(&db, "other", 9, &["c9"]).await;
    let running = Ask { thread: "other", ..Ask::new("r10", [row("c9", "nine")]) }.fresh(&db).await;
    let lease = db.claim_one().await;
    Ask { thread: "other", message: Some("m9"), ..Ask::new("again", []) }.fresh(&db).await;
    assert_eq!(db.store.run_by_key(&running.key).await.unwrap().unwrap().cancel, Some(CancelReason::Replaced));
    wait_for(&db, &lease, "late", &["late call"]).await;
    assert_eq!(db.shown(&ada(), "other").await, ["m9"]);
    assert_eq!(db.history(&db.claim_one().await).await, ["m9"]);
    assert!(interrupts(&db).await.contains(&"late call superseded".to_owned()));
}

async fn a_stop_leaves_other_runs_waiting(db: Db) {
    let first = db.say(&ada(), "t", "r1", "m1").await;
    let lease = db.claim_one().await;
    db.say(&ada(), "t", "r2", "m2").await;
    wait_for(&db, &lease, "a1", &["c1"]).await;
    wait_for(&db, &db.claim_one().await, "a2", &["c2"]).await;
    let outcome = db.store.cancel(&ada(), &first.id, CancelReason::Asked, "stopped").await.unwrap();
    assert_eq!(outcome, CancelOutcome::Ended(RunStatus::Cancelled));
    assert_eq!(interrupts(&db).await, ["c1 cut_off", "c2 open"]);
    Ask::new("r3", [row("c1", "one"), row("c2", "two")]).fresh(&db).await;
    assert_eq!(db.history(&db.claim_one().await).await, ["m1", "a1", "tool_c1", "m2", "a2", "tool_c2"]);
}

/// Its worker had not heard yet.
async fn a_run_told_to_stop_while_it_ends_waits_for_nothing(db: Db) {
    let run = db.say(&ada(), "t", "r1", "m1").await;
    let lease = db.claim_one().await;
    let outcome = db.store.cancel(&ada(), &run.id, CancelReason::Asked, "stopped").await.unwrap();
    assert_eq!(outcome, CancelOutcome::Requested);
    wait_for(&db, &lease, "a1", &["c1", "c2"]).await;
    assert_eq!(db.status(&run).await, RunStatus::Cancelled);
    assert_eq!(interrupts(&db).await, ["c1 cut_off", "c2 cut_off"]);
    assert_eq!(result_of(&db, "t", "c2").await, Some(("told to stop".to_owned(), true)));
    let answers = [row("c1", "one"), row("c2", "two")];
    assert_eq!(Ask::new("late", answers).faults(&db).await.len(), 2);
    // One that a newer message interrupts, too: its person went on.
    db.say(&ada(), "other", "r5", "m5").await;
    let lease = db.claim_one().await;
    let who = ada();
    db.fresh(Say { when_busy: WhenBusy::Interrupt, ..Say::new(&who, "other", "r6", "m6") }).await;
    wait_for(&db, &lease, "a5", &["c5"]).await;
    assert_eq!(db.history(&db.claim_one().await).await, ["m5", "a5", "tool_c5", "m6"]);
}

async fn a_deleted_thread_waits_for_nothing(db: Db) {
    waits(&db, "t", 1, &["c1"]).await;
    waits(&db, "other", 2, &["c1"]).await;
    assert!(db.store.delete_thread(&ada(), &id("t")).await.unwrap().unwrap().active.is_empty());
    assert_eq!(interrupts(&db).await, ["c1 open"]);
    assert_eq!(Ask::new("late", [row("c1", "one")]).refusal(&db).await, Refusal::NothingWaits);
    // It begins again, and waits for a call of the same name.
    waits(&db, "t", 1, &["c1"]).await;
    Ask::new("r3", [row("c1", "one")]).fresh(&db).await;
    assert_eq!(db.shown(&ada(), "t").await, ["m1", "a1", "tool_c1"]);
    assert_eq!(db.shown(&ada(), "other").await, ["m2", "a2"]);
}
