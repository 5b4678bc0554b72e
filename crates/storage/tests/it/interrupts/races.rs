//! Answers that meet each other, a new message, a stop, a deletion: one of them wins, nothing is doubled or lost.

use std::sync::Arc;

use domain::{CancelReason, Code, RunStatus};
use storage::{Accepted, CancelOutcome, Refusal, RunRef};
use tokio::sync::Barrier;

use super::{Ask, interrupts, resume, row, waits};
use crate::support::{Db, Say, ada, both_engines, id};

both_engines! {
    fifty_identical_answers_make_one_run
    fifty_of_one_run_id
    parts_that_meet_make_one_continuation
    different_answers_meet
    answers_meet_a_message
    answers_meet_a_stop
    stops_meet
    answers_meet_a_deletion
    threads_of_one_person_do_not_wait_for_each_other_in_a_ring
}

const MANY: usize = 50;
const ROUNDS: usize = 8;

/// Runs them all at once.
async fn at_once<T, F>(count: usize, make: impl Fn(usize) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let barrier = Arc::new(Barrier::new(count));
    let tasks: Vec<_> = (0..count)
        .map(|number| {
            let (barrier, work) = (barrier.clone(), make(number));
            tokio::spawn(async move {
                barrier.wait().await;
                work.await
            })
        })
        .collect();
    let mut done = Vec::with_capacity(count);
    for task in tasks {
        done.push(task.await.unwrap());
    }
    done
}

fn taken(accepted: &[Accepted]) -> (Vec<&RunRef>, usize) {
    let fresh = accepted.iter().filter_map(|one| match one {
        Accepted::Fresh(run) => Some(run),
        _ => None,
    });
    let again = accepted.iter().filter(|one| matches!(one, Accepted::Settled(_) | Accepted::Joined(_))).count();
    (fresh.collect(), again)
}

async fn fifty(db: &Db, run: impl Fn(usize) -> String) {
    waits(db, "t", 1, &["c1", "c2"]).await;
    let before = db.counts().await;
    let accepted = at_once(MANY, |number| {
        let (db, run) = (db.clone(), run(number));
        async move {
            let of = |call, content| if number % 2 == 0 { row(call, content) } else { resume(call, content) };
            Ask::new(&run, [of("c1", "one"), of("c2", "two")]).send(&db).await
        }
    })
    .await;
    let (fresh, again) = taken(&accepted);
    assert_eq!((fresh.len(), again), (1, MANY - 1), "{accepted:?}");
    let of = |one: &Accepted| match one {
        Accepted::Fresh(run) | Accepted::Settled(run) | Accepted::Joined(run) => run.clone(),
        other => panic!("{other:?}"),
    };
    assert!(accepted.iter().all(|one| of(one) == *fresh[0]));
    let after = db.counts().await;
    // Threads, messages, runs, frames, rate rows.
    assert_eq!(after[..5], [before[0], before[1] + 2, before[2] + 1, before[3], before[4] + 1]);
    assert_eq!(interrupts(db).await, ["c1 answered", "c2 answered"]);
    assert_eq!(db.history(&db.claim_one().await).await[..2], ["m1", "a1"]);
}

async fn fifty_identical_answers_make_one_run(db: Db) {
    fifty(&db, |number| format!("run {number}")).await;
}

async fn fifty_of_one_run_id(db: Db) {
    fifty(&db, |_| "the run".to_owned()).await;
}

/// Every call's result comes by itself, all at once: one run goes on, with all of them.
async fn parts_that_meet_make_one_continuation(db: Db) {
    let calls: Vec<String> = (0..16).map(|number| format!("c{number:02}")).collect();
    let names: Vec<&str> = calls.iter().map(String::as_str).collect();
    waits(&db, "t", 1, &names).await;
    let accepted = at_once(calls.len(), |number| {
        let (db, call) = (db.clone(), calls[number].clone());
        async move { Ask::new(&format!("p{number}"), [row(&call, &call)]).send(&db).await }
    })
    .await;
    let (fresh, _) = taken(&accepted);
    assert_eq!(fresh.len(), calls.len(), "{accepted:?}");
    let mut queued = 0;
    for run in fresh {
        queued += usize::from(db.status(run).await == RunStatus::Queued);
    }
    assert_eq!(queued, 1);
    assert_eq!(db.history(&db.claim_one().await).await.len(), 2 + calls.len());
}

async fn different_answers_meet(db: Db) {
    waits(&db, "t", 1, &["c1"]).await;
    let accepted = at_once(16, |number| {
        let db = db.clone();
        async move { Ask::new(&format!("p{number}"), [resume("c1", &number.to_string())]).send(&db).await }
    })
    .await;
    let (fresh, again) = taken(&accepted);
    assert_eq!((fresh.len(), again), (1, 0), "{accepted:?}");
    let conflicts = accepted.iter().filter(|one| matches!(one, Accepted::Faulty(faults) if faults[0].code == Code::Conflict));
    assert_eq!(conflicts.count(), 15);
    assert_eq!(db.shown(&ada(), "t").await, ["m1", "a1", "tool_c1"]);
}

async fn answers_meet_a_message(db: Db) {
    for round in 0..ROUNDS {
        let thread = format!("t{round}");
        waits_in(&db, &thread, round).await;
        let accepted = at_once(2, |number| {
            let (db, thread) = (db.clone(), thread.clone());
            async move {
                if number == 0 {
                    Ask { thread: &thread, ..Ask::new(&format!("answer {thread}"), [row("c1", "one")]) }.send(&db).await
                } else {
                    db.accept(Say::new(&ada(), &thread, &format!("next {thread}"), "m2")).await
                }
            }
        })
        .await;
        assert!(matches!(accepted[1], Accepted::Fresh(_)), "{accepted:?}");
        match &accepted[0] {
            // The continuation comes first, in its own turn.
            Accepted::Fresh(run) => {
                let lease = db.claim_one().await;
                assert_eq!((&lease.run, db.history(&lease).await.len()), (&run.key, 3));
                db.answer(&lease, "a1b").await;
                let lease = db.claim_one().await;
                assert_eq!(db.history(&lease).await, ["m1", "a1", "tool_c1", "a1b", "m2"]);
                db.answer(&lease, "a2").await;
            }
            Accepted::Faulty(faults) => {
                assert_eq!(faults[0].code, Code::Stale);
                let lease = db.claim_one().await;
                assert_eq!(db.history(&lease).await, ["m1", "a1", "tool_c1", "m2"]);
                db.answer(&lease, "a2").await;
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Run of message m1 in `thread` waits for c1.
async fn waits_in(db: &Db, thread: &str, round: usize) -> RunRef {
    let run = db.say(&ada(), thread, &format!("first {round}"), "m1").await;
    super::wait_for(db, &db.claim_one().await, "a1", &["c1"]).await;
    run
}

async fn answers_meet_a_stop(db: Db) {
    for round in 0..ROUNDS {
        let thread = format!("t{round}");
        let run = waits_in(&db, &thread, round).await;
        let (answer, stop) = tokio::join!(
            tokio::spawn({
                let (db, thread) = (db.clone(), thread.clone());
                async move { Ask { thread: &thread, ..Ask::new(&format!("answer {round}"), [row("c1", "one")]) }.send(&db).await }
            }),
            tokio::spawn({
                let (db, run) = (db.clone(), run.id.clone());
                async move { db.store.cancel(&ada(), &run, CancelReason::Asked, "stopped").await.unwrap() }
            })
        );
        match (answer.unwrap(), stop.unwrap()) {
            (Accepted::Fresh(next), CancelOutcome::Ended(RunStatus::Interrupted)) => {
                assert_eq!(db.status(&run).await, RunStatus::Interrupted);
                let lease = db.claim_one().await;
                assert_eq!(lease.run, next.key);
                db.answer(&lease, "a1b").await;
            }
            (Accepted::Faulty(faults), CancelOutcome::Ended(RunStatus::Cancelled)) => {
                assert_eq!(faults[0].code, Code::Stale);
                assert_eq!(db.status(&run).await, RunStatus::Cancelled);
                assert!(db.claim(10).await.is_empty());
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(db.shown(&ada(), &thread).await[..3], ["m1", "a1", "tool_c1"]);
    }
}

async fn stops_meet(db: Db) {
    for round in 0..ROUNDS {
        let run = waits_in(&db, &format!("t{round}"), round).await;
        let outcomes = at_once(8, |_| {
            let (db, run) = (db.clone(), run.id.clone());
            async move { db.store.cancel(&ada(), &run, CancelReason::Asked, "stopped").await.unwrap() }
        })
        .await;
        assert!(outcomes.iter().all(|one| *one == CancelOutcome::Ended(RunStatus::Cancelled)), "{outcomes:?}");
    }
}

async fn answers_meet_a_deletion(db: Db) {
    for round in 0..ROUNDS {
        let thread = format!("t{round}");
        waits_in(&db, &thread, round).await;
        let (answer, deleted) = tokio::join!(
            tokio::spawn({
                let (db, thread) = (db.clone(), thread.clone());
                async move { Ask { thread: &thread, ..Ask::new(&format!("answer {round}"), [row("c1", "one")]) }.send(&db).await }
            }),
            tokio::spawn({
                let (db, thread) = (db.clone(), thread.clone());
                async move { db.store.delete_thread(&ada(), &id(&thread)).await.unwrap().unwrap() }
            })
        );
        let active = deleted.unwrap().active.len();
        match answer.unwrap() {
            Accepted::Fresh(_) => assert_eq!(active, 1),
            Accepted::Refused(Refusal::NothingWaits) => assert_eq!(active, 0),
            other => panic!("{other:?}"),
        }
        assert_eq!((db.count("interrupts").await, db.count("messages").await, db.count("runs").await), (0, 0, 0));
    }
}

/// One person's answers, messages and stops in many threads at once share their rate row: the order of locks holds.
async fn threads_of_one_person_do_not_wait_for_each_other_in_a_ring(db: Db) {
    const THREADS: usize = 12;
    for number in 0..THREADS {
        waits_in(&db, &format!("t{number}"), number).await;
    }
    let done = at_once(THREADS * 3, |number| {
        let (db, thread) = (db.clone(), format!("t{}", number % THREADS));
        async move {
            match number / THREADS {
                0 => drop(Ask { thread: &thread, ..Ask::new(&format!("answer {thread}"), [row("c1", "one")]) }.send(&db).await),
                1 => drop(db.fresh(Say::new(&ada(), &thread, &format!("next {thread}"), "m2")).await),
                _ => {
                    let run = format!("first {}", number % THREADS);
                    db.store.cancel(&ada(), &id(&run), CancelReason::Asked, "stopped").await.unwrap();
                }
            }
        }
    })
    .await;
    assert_eq!(done.len(), THREADS * 3);
    for number in 0..THREADS {
        let shown = db.shown(&ada(), &format!("t{number}")).await;
        assert_eq!(shown.iter().filter(|row| *row == "tool_c1").count(), 1, "{shown:?}");
    }
    assert!(!interrupts(&db).await.iter().any(|line| line.ends_with("open")));
}
