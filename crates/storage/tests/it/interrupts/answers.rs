//! Whole sets, parts, and the same again.

use domain::{Bundle, Decision, Effort, RunStatus};
use storage::LeaseError;

use super::{Ask, calling, end_waiting, interrupts, pending, result_of, resume, row, stored, wait_for, waits};
use crate::support::{Db, LATER, ada, both_engines, finish, id, step};

both_engines! {
    a_whole_set_queues_a_run_of_the_same_turn
    a_part_is_kept_and_the_rest_goes_on
    the_same_answers_again_are_the_run_that_took_them
    the_same_run_again_is_joined
    another_answer_conflicts_or_is_dropped
    who_answers_an_interrupt_asks_for_nothing_anew
    legs_follow_each_other
    two_runs_of_a_thread_wait_at_once
    a_run_that_lost_its_lease_waits_for_nothing
    a_finish_that_is_sent_again_waits_once
    a_continuation_survives_its_worker
    a_tool_that_threw_is_an_error
}

fn decision() -> Decision {
    Decision {
        role: id("assistant"),
        tier: Effort::High,
        in_scope: true,
        bundle: Bundle::OwnData,
        degraded: true,
        facts: serde_json::Map::new(),
        tools: vec![id("get_location")],
        roster_version: "7".to_owned(),
    }
}

async fn a_whole_set_queues_a_run_of_the_same_turn(db: Db) {
    let first = db.say(&ada(), "t", "r1", "m1").await;
    let lease = db.claim_one().await;
    db.store.decide_run(&lease, &decision()).await.unwrap();
    wait_for(&db, &lease, "a1", &["c1", "c2"]).await;
    let waiting = db.store.run_by_key(&first.key).await.unwrap().unwrap();
    assert_eq!((waiting.status, waiting.leg, waiting.continues), (RunStatus::Interrupted, 1, None));
    assert!(waiting.ended_at.is_some());
    assert!(db.claim(10).await.is_empty());

    let next = Ask::new("r2", [row("c2", "two"), row("c1", "one")]).fresh(&db).await;
    let record = db.store.run_by_key(&next.key).await.unwrap().unwrap();
    assert_eq!((record.status, record.turn, record.leg), (RunStatus::Queued, waiting.turn, 2));
    assert_eq!((record.message.as_str(), record.parent_run), ("m1", Some(first.id)));
    assert_eq!((record.continues, record.decision), (Some(first.key), Some(decision())));
    // What it goes on from is ours to say, not the client's.
    assert_eq!(record.input.unwrap().resume, ["client_tool_c1", "client_tool_c2"]);
    assert_eq!(interrupts(&db).await, ["c1 answered", "c2 answered"]);
    let lease = db.claim_one().await;
    assert_eq!((&lease.run, &lease.thread), (&next.key, &next.thread));
    assert_eq!(db.history(&lease).await, ["m1", "a1", "tool_c1", "tool_c2"]);
    assert_eq!(result_of(&db, "t", "c2").await, Some(("two".to_owned(), false)));
}

async fn a_part_is_kept_and_the_rest_goes_on(db: Db) {
    let first = waits(&db, "t", 1, &["c1", "c2", "c3"]).await;
    let part = Ask::new("r2", [row("c2", "two")]).fresh(&db).await;
    let record = db.store.run_by_key(&part.key).await.unwrap().unwrap();
    assert_eq!((record.status, record.leg, record.parent_run), (RunStatus::Interrupted, 1, Some(first.id.clone())));
    assert!(record.ended_at.is_some());
    assert_eq!(pending(&db, &part).await, ["c1", "c3"]);
    assert!(db.claim(10).await.is_empty());
    assert_eq!(db.shown(&ada(), "t").await, ["m1", "a1", "tool_c2"]);

    // Clients send what they have: all of it, once more.
    let rest = Ask::new("r3", [row("c2", "two"), row("c3", "three"), row("c1", "one")]).fresh(&db).await;
    let record = db.store.run_by_key(&rest.key).await.unwrap().unwrap();
    assert_eq!((record.status, record.leg, record.parent_run), (RunStatus::Queued, 2, Some(first.id)));
    assert_eq!((record.continues, record.input.unwrap().resume.len()), (Some(first.key), 2));
    let lease = db.claim_one().await;
    assert_eq!(db.history(&lease).await, ["m1", "a1", "tool_c2", "tool_c1", "tool_c3"]);
}

async fn the_same_answers_again_are_the_run_that_took_them(db: Db) {
    waits(&db, "t", 1, &["c1", "c2", "c3"]).await;
    let part = Ask::new("r2", [row("c1", "one")]).fresh(&db).await;
    assert_eq!(Ask::new("r2b", [row("c1", "one")]).settled(&db).await, part);
    let whole = Ask::new("r3", [row("c1", "one"), row("c2", "two"), row("c3", "three")]).fresh(&db).await;
    let before = stored(&db).await;
    let orders = [["c1", "c2", "c3"], ["c3", "c2", "c1"], ["c2", "c3", "c1"]];
    for (number, order) in orders.into_iter().enumerate() {
        let said = |name: &&str| match *name {
            "c1" => "one",
            "c2" => "two",
            _ => "three",
        };
        let rows: Vec<_> = order.iter().map(|name| row(name, said(name))).collect();
        assert_eq!(Ask::new(&format!("again {number}"), rows).settled(&db).await, whole);
        let resumes: Vec<_> = order.iter().map(|name| resume(name, said(name))).collect();
        assert_eq!(Ask::new(&format!("again {number}"), resumes).settled(&db).await, whole);
    }
    // Also once it has ended, and after a newer message.
    db.answer(&db.claim_one().await, "a2").await;
    assert_eq!(Ask::new("late", [resume("c3", "three")]).settled(&db).await, whole);
    assert_eq!(stored(&db).await.0[2..4], before.0[2..4]);
    db.say(&ada(), "t", "r9", "m9").await;
    assert_eq!(Ask::new("later", [row("c3", "three"), row("c2", "two")]).settled(&db).await, whole);
}

async fn the_same_run_again_is_joined(db: Db) {
    use storage::{Accepted, Refusal};
    waits(&db, "t", 1, &["c1", "c2"]).await;
    let part = Ask { last_user: Some("m1"), ..Ask::new("r2", [row("c1", "one")]) };
    let taken = part.fresh(&db).await;
    assert_eq!(part.send(&db).await, Accepted::Joined(taken.clone()));
    let whole = Ask { last_user: Some("m1"), ..Ask::new("r3", [row("c1", "one"), row("c2", "two")]) };
    let run = whole.fresh(&db).await;
    let before = stored(&db).await;
    assert_eq!(whole.send(&db).await, Accepted::Joined(run.clone()));
    // Whatever else is in it: only the thread and the last user row are compared.
    let other = Ask { answers: vec![resume("c1", "other")], ..whole.clone() };
    assert_eq!(other.send(&db).await, Accepted::Joined(run));
    assert_eq!(part.send(&db).await, Accepted::Joined(taken));
    for other in [Ask { last_user: Some("m2"), ..whole.clone() }, Ask { thread: "other", ..whole }] {
        assert_eq!(other.refusal(&db).await, Refusal::RunIdInUse);
    }
    assert_eq!(stored(&db).await, before);
}

async fn another_answer_conflicts_or_is_dropped(db: Db) {
    use domain::Code;
    waits(&db, "t", 1, &["c1"]).await;
    let run = Ask::new("r2", [row("c1", "one")]).fresh(&db).await;
    let before = stored(&db).await;
    let conflict = vec![("client_tool_c1".to_owned(), Code::Conflict)];
    assert_eq!(Ask::new("x1", [resume("c1", "other")]).faults(&db).await, conflict);
    let threw = domain::Answer { error: true, ..resume("c1", "one") };
    assert_eq!(Ask::new("x2", [threw.clone()]).faults(&db).await, conflict);
    // A new message with it is refused as a whole.
    assert_eq!(Ask { message: Some("m2"), ..Ask::new("x3", [threw]) }.faults(&db).await, conflict);
    assert_eq!(Ask::new("x4", [row("c1", "other")]).settled(&db).await, run);
    assert_eq!(stored(&db).await, before);
    // Beside a message it is no matter.
    Ask { message: Some("m2"), ..Ask::new("r3", [row("c1", "other")]) }.fresh(&db).await;
    assert_eq!(result_of(&db, "t", "c1").await, Some(("one".to_owned(), false)));
}

async fn who_answers_an_interrupt_asks_for_nothing_anew(db: Db) {
    waits(&db, "t", 1, &["c1"]).await;
    let with_row = |run, answer| Ask { message: Some("m1"), ..Ask::new(run, [answer]) };
    let run = with_row("r2", resume("c1", "one")).fresh(&db).await;
    let lease = db.claim_one().await;
    assert_eq!(db.history(&lease).await, ["m1", "a1", "tool_c1"]);
    db.answer(&lease, "a2").await;
    // Said again it is the same run's, whatever id it comes under; only a row alone asks for a new answer.
    assert_eq!(with_row("r3", resume("c1", "one")).settled(&db).await, run);
    assert_eq!(db.shown(&ada(), "t").await, ["m1", "a1", "tool_c1", "a2"]);
    with_row("r4", row("c1", "one")).fresh(&db).await;
    assert_eq!(db.history(&db.claim_one().await).await, ["m1"]);
}

async fn legs_follow_each_other(db: Db) {
    waits(&db, "t", 1, &["c1"]).await;
    for leg in 2_u32..=4 {
        let (answered, next, row_id) = (format!("c{}", leg - 1), format!("c{leg}"), format!("a{leg}"));
        let run = Ask::new(&format!("r{leg}"), [row(&answered, "here")]).fresh(&db).await;
        let record = db.store.run_by_key(&run.key).await.unwrap().unwrap();
        let parent = format!("r{}", leg - 1);
        assert_eq!((record.leg, record.parent_run.unwrap().to_string(), record.message.as_str()), (leg, parent, "m1"));
        wait_for(&db, &db.claim_one().await, &row_id, &[&next]).await;
    }
    assert_eq!(db.shown(&ada(), "t").await, ["m1", "a1", "tool_c1", "a2", "tool_c2", "a3", "tool_c3", "a4"]);
    // All the results a client has, from the first on.
    let all: Vec<_> = (1..=4).map(|number| row(&format!("c{number}"), "here")).collect();
    let last = Ask::new("r5", all.clone()).fresh(&db).await;
    assert_eq!(db.store.run_by_key(&last.key).await.unwrap().unwrap().leg, 5);
    assert_eq!(Ask::new("again", all).settled(&db).await, last);
}

/// A second message came before the first one's run ended waiting; then its own run waits too.
async fn two_runs_of_a_thread_wait_at_once(db: Db) {
    let first = db.say(&ada(), "t", "r1", "m1").await;
    let lease = db.claim_one().await;
    let second = db.say(&ada(), "t", "r2", "m2").await;
    wait_for(&db, &lease, "a1", &["c1"]).await;
    let lease = db.claim_one().await;
    assert_eq!(db.history(&lease).await, ["m1", "a1", "m2"]);
    wait_for(&db, &lease, "a2", &["c2"]).await;
    assert_eq!(interrupts(&db).await, ["c1 open", "c2 open"]);

    // Of both the newest goes on; the other's is not lost, it waits until it is sent again.
    let both = [row("c1", "one"), row("c2", "two")];
    let newest = Ask::new("r3", both.clone()).fresh(&db).await;
    let record = db.store.run_by_key(&newest.key).await.unwrap().unwrap();
    assert_eq!((record.continues, record.message.as_str()), (Some(second.key), "m2"));
    assert_eq!(interrupts(&db).await, ["c1 open", "c2 answered"]);
    let older = Ask::new("r4", both.clone()).fresh(&db).await;
    let record = db.store.run_by_key(&older.key).await.unwrap().unwrap();
    assert_eq!((record.continues, record.message.as_str()), (Some(first.key), "m1"));

    // One after the other, each in its own turn.
    let lease = db.claim_one().await;
    assert_eq!((&lease.run, db.history(&lease).await), (&newest.key, id_list(["m1", "a1", "tool_c1", "m2", "a2", "tool_c2"])));
    db.answer(&lease, "b2").await;
    let lease = db.claim_one().await;
    assert_eq!((&lease.run, db.history(&lease).await), (&older.key, id_list(["m1", "a1", "tool_c1"])));
    db.answer(&lease, "b1").await;
    assert_eq!(db.shown(&ada(), "t").await, ["m1", "a1", "tool_c1", "b1", "m2", "a2", "tool_c2", "b2"]);
}

fn id_list<const N: usize>(ids: [&str; N]) -> Vec<String> {
    ids.map(str::to_owned).to_vec()
}

async fn a_run_that_lost_its_lease_waits_for_nothing(db: Db) {
    db.say(&ada(), "t", "r1", "m1").await;
    let lost = db.claim_one().await;
    db.store.shift_clock(LATER);
    db.sweep().await;
    let end = end_waiting(calling("late", &["c1"]), &["c1"]);
    let before = stored(&db).await;
    assert!(matches!(db.store.finish(&lost, &end).await, Err(LeaseError::Fenced)));
    let lease = db.claim_one().await;
    assert!(matches!(db.store.finish(&lost, &end).await, Err(LeaseError::Fenced)));
    assert_eq!(stored(&db).await, before);
    // The next attempt makes calls of its own.
    wait_for(&db, &lease, "a1", &["c2"]).await;
    assert_eq!(interrupts(&db).await, ["c2 open"]);
    assert_eq!(db.shown(&ada(), "t").await, ["m1", "a1"]);
}

async fn a_finish_that_is_sent_again_waits_once(db: Db) {
    db.say(&ada(), "t", "r1", "m1").await;
    let lease = db.claim_one().await;
    let end = end_waiting(calling("a1", &["c1"]), &["c1"]);
    db.store.finish(&lease, &end).await.unwrap();
    assert!(matches!(db.store.finish(&lease, &end).await, Err(LeaseError::Fenced)));
    Ask::new("r2", [row("c1", "one")]).fresh(&db).await;
    assert!(matches!(db.store.finish(&lease, &end).await, Err(LeaseError::Fenced)));
    assert_eq!(interrupts(&db).await, ["c1 answered"]);
    assert_eq!(db.shown(&ada(), "t").await, ["m1", "a1", "tool_c1"]);
}

/// Its worker dies after a committed step; whoever claims it next sees the results and the step.
async fn a_continuation_survives_its_worker(db: Db) {
    waits(&db, "t", 1, &["c1"]).await;
    let run = Ask::new("r2", [row("c1", "one")]).fresh(&db).await;
    let lease = db.claim_one().await;
    // Whoever sent the answers may leave: nobody's run it is not.
    assert!(!db.store.unattend(&run.key).await.unwrap());
    assert_eq!(db.store.run_by_key(&run.key).await.unwrap().unwrap().unattended_since, None);
    let read = step(1, vec![calling("b1", &["own"])], crate::support::frame(1, 1));
    db.store.commit_step(&lease, &read).await.unwrap();
    db.store.shift_clock(LATER);
    assert_eq!(db.sweep().await.requeued, std::slice::from_ref(&run.key));
    assert!(!db.store.unattend(&run.key).await.unwrap());
    assert_eq!(Ask::new("r3", [row("c1", "one")]).settled(&db).await, run);
    let mut claimed = db.claim(10).await;
    let again = claimed.pop().unwrap();
    assert_eq!((again.record.leg, again.record.steps, again.record.attempt), (2, 1, 2));
    assert_eq!(db.history(&again.lease).await, ["m1", "a1", "tool_c1", "b1"]);
    // Its next step ends waiting.
    let mut end = end_waiting(calling("b2", &["c2"]), &["c2"]);
    end.step.step = 2;
    assert!(matches!(db.store.finish(&lease, &end).await, Err(LeaseError::Fenced)));
    db.store.finish(&again.lease, &end).await.unwrap();
    let next = Ask::new("r4", [row("c1", "one"), row("c2", "two")]).fresh(&db).await;
    let record = db.store.run_by_key(&next.key).await.unwrap().unwrap();
    assert_eq!((record.leg, record.continues, record.steps), (3, Some(run.key), 0));
}

async fn a_tool_that_threw_is_an_error(db: Db) {
    waits(&db, "t", 1, &["c1", "c2"]).await;
    let threw = domain::Answer { error: true, ..resume("c2", "{\"error\":\"no\"}") };
    // A resume entry says more than the row that came with it.
    let run = Ask::new("r2", [row("c2", "other"), resume("c1", "one"), threw]).fresh(&db).await;
    assert_eq!(result_of(&db, "t", "c2").await, Some(("{\"error\":\"no\"}".to_owned(), true)));
    db.store.finish(&db.claim_one().await, &finish(RunStatus::Failed, storage::StepCommit::default())).await.unwrap();
    // A continuation that failed took its answers; they are not taken twice.
    assert_eq!(Ask::new("r3", [resume("c1", "one")]).settled(&db).await, run);
}
