//! Answers that are not taken store nothing.

use domain::{Code, Limits, RunStatus};
use storage::{Accepted, Refusal};

use super::{Ask, interrupts, resume, row, stored, wait_for, waits};
use crate::support::{Db, ada, both_engines, id, person};

both_engines! {
    what_was_never_waited_for
    a_refusal_stores_nothing
    a_batch_is_whole_or_nothing
    continuations_are_counted
    a_strangers_thread_of_the_same_id
}

async fn what_was_never_waited_for(db: Db) {
    let refused = Refusal::NothingWaits;
    assert_eq!(Ask::new("r", [row("c1", "one")]).refusal(&db).await, refused);
    assert_eq!(Ask::new("r", [resume("c1", "one")]).refusal(&db).await, refused);
    waits(&db, "t", 1, &["c1"]).await;
    let before = stored(&db).await;
    for answers in [vec![], vec![row("cx", "one")], vec![row("cx", "one"), row("cy", "one")]] {
        assert_eq!(Ask::new("r", answers).refusal(&db).await, refused);
    }
    let unknown = [("client_tool_cx".to_owned(), Code::UnknownInterrupt)];
    assert_eq!(Ask::new("r", [resume("cx", "one")]).faults(&db).await, unknown);
    // One that is unknown spoils the batch; a row of it does not.
    assert_eq!(Ask::new("r", [resume("c1", "one"), resume("cx", "one")]).faults(&db).await, unknown);
    assert_eq!(stored(&db).await, before);
    Ask::new("r", [row("cx", "one"), row("c1", "one")]).fresh(&db).await;
    assert_eq!(db.shown(&ada(), "t").await, ["m1", "a1", "tool_c1"]);
}

async fn a_refusal_stores_nothing(db: Db) {
    waits(&db, "t", 1, &["c1", "c2"]).await;
    db.say(&ada(), "elsewhere", "queued", "m").await;
    let before = stored(&db).await;
    let ask = Ask::new("r2", [row("c1", "one"), row("c2", "two")]);
    let full = Ask { limits: Limits { queued_runs: 1, ..ask.limits.clone() }, ..ask.clone() };
    assert!(matches!(full.refusal(&db).await, Refusal::Overloaded { .. }));
    let worker = Ask { need_worker: true, ..ask.clone() };
    assert_eq!(worker.refusal(&db).await, Refusal::NoWorker);
    let taken = Ask { run: "r1", last_user: Some("m2"), ..ask.clone() };
    assert_eq!(taken.refusal(&db).await, Refusal::RunIdInUse);
    let edit = Ask { message: Some("m2"), replaces: Some("a1"), ..ask.clone() };
    assert_eq!(edit.refusal(&db).await, Refusal::UnknownMessage);
    // An answer's row is nobody's message.
    let message = Ask { message: Some("a1"), ..ask.clone() };
    assert_eq!(message.refusal(&db).await, Refusal::UnknownMessage);
    assert_eq!(stored(&db).await, before);
    // Nothing was consumed: the same answers are taken.
    ask.fresh(&db).await;

    db.store.remove_user(&id("acme"), &id("ada")).await.unwrap();
    assert_eq!(Ask::new("r3", [row("c1", "one")]).refusal(&db).await, Refusal::NotAMember);
}

async fn a_batch_is_whole_or_nothing(db: Db) {
    waits(&db, "t", 1, &["c1", "c2", "c3"]).await;
    let before = stored(&db).await;
    let missing =
        |calls: &[&str]| -> Vec<_> { calls.iter().map(|call| (format!("client_tool_{call}"), Code::IncompleteBatch)).collect() };
    assert_eq!(Ask::new("r", [resume("c2", "two")]).faults(&db).await, missing(&["c1", "c3"]));
    assert_eq!(Ask::new("r", [resume("c2", "two"), row("c3", "three")]).faults(&db).await, missing(&["c1"]));
    assert_eq!(stored(&db).await, before);
    // What rows settled before is no part of what is missing.
    Ask::new("r2", [row("c1", "one")]).fresh(&db).await;
    Ask::new("r3", [resume("c2", "two"), resume("c3", "three")]).fresh(&db).await;
    assert_eq!(interrupts(&db).await, ["c1 answered", "c2 answered", "c3 answered"]);
}

async fn continuations_are_counted(db: Db) {
    const CALLS: usize = 130;
    let calls: Vec<String> = (0..CALLS).map(|number| format!("c{number:03}")).collect();
    let names: Vec<&str> = calls.iter().map(String::as_str).collect();
    waits(&db, "t", 1, &names).await;
    let turns = Ask::new("unused", []).limits;
    let mut taken = 0;
    let refused = loop {
        assert!(taken < CALLS - 1, "no limit");
        let before = stored(&db).await;
        match Ask::new(&format!("p{taken}"), [row(&calls[taken], "here")]).send(&db).await {
            Accepted::Fresh(_) => taken += 1,
            Accepted::Refused(Refusal::RateLimited { retry_after }) => {
                assert_eq!(stored(&db).await, before);
                break retry_after;
            }
            other => panic!("{other:?}"),
        }
    };
    assert!(taken >= 60, "{taken}");
    assert!(refused.as_millis() <= 1_000, "{refused:?}");
    // What was taken before, and messages, count against nothing of it; a minute later there is room again.
    assert!(matches!(Ask::new("again", [row(&calls[0], "here")]).send(&db).await, Accepted::Settled(_)));
    db.store.shift_clock(61_000);
    let rest: Vec<_> = calls.iter().map(|call| row(call, "here")).collect();
    let whole = Ask { limits: Limits { turns_per_minute: 1, ..turns }, ..Ask::new("whole", rest) };
    assert_eq!(db.status(&whole.fresh(&db).await).await, RunStatus::Queued);
    // One place in the thread each, in the order they came.
    assert_eq!(db.shown(&ada(), "t").await.len(), 2 + CALLS);
}

async fn a_strangers_thread_of_the_same_id(db: Db) {
    waits(&db, "t", 1, &["c1"]).await;
    for stranger in [person("acme", "bob"), person("globex", "ada")] {
        db.say(&stranger, "t", "r1", "m1").await;
        wait_for(&db, &db.claim_one().await, "a1", &["c1"]).await;
    }
    let strangers = Ask { who: person("acme", "bob"), ..Ask::new("r2", [row("c1", "bob's")]) };
    let run = strangers.fresh(&db).await;
    assert_eq!(interrupts(&db).await.iter().filter(|line| *line == "c1 answered").count(), 1);
    assert_eq!(db.shown(&ada(), "t").await, ["m1", "a1"]);
    assert_eq!(db.shown(&person("globex", "ada"), "t").await, ["m1", "a1"]);
    assert_eq!(db.shown(&person("acme", "bob"), "t").await, ["m1", "a1", "tool_c1"]);
    assert_eq!(db.claim_one().await.run, run.key);
    // A thread they have not is one where nothing waits.
    let nobodys = Ask { who: person("acme", "bob"), thread: "ada's", ..Ask::new("r3", [row("c1", "bob's")]) };
    waits(&db, "ada's", 3, &["c3"]).await;
    assert_eq!(nobodys.refusal(&db).await, Refusal::NothingWaits);
    let outcome = db.store.cancel(&person("acme", "bob"), &id("r3"), domain::CancelReason::Asked, "x").await.unwrap();
    assert_eq!(outcome, storage::CancelOutcome::Unknown);
    assert_eq!(interrupts(&db).await.last().unwrap(), "c3 open");
}
