//! What the sweeper finds, and what it leaves alone.

use std::time::Duration;

use domain::{CancelReason, Code, Event, Offset, Outcome, RunStatus};
use storage::{SweepPolicy, Swept};

use crate::support::{Db, LATER, LEASE, MINUTE, ada, assistant, both_engines, events, frame, id, policy, step};

both_engines! {
    a_quiet_house_is_left_alone
    the_third_failure_is_the_dead_letter
    a_hand_back_is_no_failure
    an_unreadable_run_is_a_dead_letter
    a_cancelled_run_whose_worker_stopped_is_cancelled
    a_run_nobody_reads_is_cancelled
    frames_go_after_their_time
    many_sweepers_settle_a_run_once
}

async fn a_quiet_house_is_left_alone(db: Db) {
    let who = ada();
    db.say(&who, "t", "r", "m").await;
    assert_eq!(db.sweep().await, Swept::default());
    let lease = db.claim_one().await;
    db.store.shift_clock(10_000);
    assert_eq!(db.sweep().await, Swept::default());
    db.store.renew(&[lease], LEASE).await.unwrap();
    db.store.shift_clock(10_000);
    assert_eq!(db.sweep().await, Swept::default());
}

async fn the_third_failure_is_the_dead_letter(db: Db) {
    let who = ada();
    let run = db.say(&who, "t", "r", "m").await;
    let behind = db.say(&who, "t", "r2", "m2").await;
    for failure in 1..=3 {
        let lease = db.claim_one().await;
        assert_eq!((&lease.run, lease.attempt), (&run.key, failure));
        db.store.append_frames(&lease, &frame(1, 2)).await.unwrap();
        db.store.shift_clock(LATER);
        let swept = db.sweep().await;
        let runs = [run.key.clone()];
        if failure < 3 {
            assert_eq!(swept, Swept { requeued: runs.to_vec(), ..Swept::default() });
        } else {
            assert_eq!(swept, Swept { abandoned: runs.to_vec(), ..Swept::default() });
        }
        assert_eq!(db.sweep().await, Swept::default());
    }
    let record = db.store.run(&who, &run.id).await.unwrap().unwrap();
    assert_eq!((record.status, record.failures, record.attempt), (RunStatus::Abandoned, 3, 4));
    let (code, reason) = record.error.clone().unwrap();
    assert_eq!(code, "abandoned");
    let frames = db.standing(&run).await;
    assert_eq!(frames.iter().map(|frame| (frame.attempt, frame.first, frame.committed)).collect::<Vec<_>>(), [(4, 1, true)]);
    assert_eq!(events(&frames[0]), [Event::error(Code::Abandoned, reason)]);
    assert_eq!(db.store.dead_runs(10).await.unwrap(), [record]);
    // The next turn runs, and its model knows of the lost one; people do not see the note.
    let next = db.claim_one().await;
    assert_eq!(next.run, behind.key);
    assert_eq!(db.history(&next).await, ["m".to_owned(), format!("note_{}", run.key), "m2".to_owned()]);
    assert_eq!(db.shown(&who, "t").await, ["m", "m2"]);
}

async fn a_hand_back_is_no_failure(db: Db) {
    let who = ada();
    db.say(&who, "t", "r", "m").await;
    for attempt in 1..=5 {
        let claimed = db.claim(1).await.remove(0);
        assert_eq!((claimed.record.attempt, claimed.record.failures), (attempt, 0));
        db.store.hand_back(&claimed.lease).await.unwrap();
        assert_eq!(db.sweep().await, Swept::default());
    }
}

async fn an_unreadable_run_is_a_dead_letter(db: Db) {
    let who = ada();
    let run = db.say(&who, "t", "r", "m").await;
    let lease = db.claim_one().await;
    db.store.abandon(&lease, "it was written by a newer build", "lost").await.unwrap();
    let dead = db.store.dead_runs(10).await.unwrap();
    assert_eq!(dead[0].error, Some(("abandoned".to_owned(), "it was written by a newer build".to_owned())));
    assert_eq!((dead[0].failures, dead[0].attempt), (0, 2));
    assert_eq!(events(&db.standing(&run).await[0]), [Event::error(Code::Abandoned, "it was written by a newer build")]);
}

async fn a_cancelled_run_whose_worker_stopped_is_cancelled(db: Db) {
    let who = ada();
    let run = db.say(&who, "t", "r", "m").await;
    let lease = db.claim_one().await;
    db.store.commit_step(&lease, &step(1, vec![assistant("a")], frame(1, 2))).await.unwrap();
    db.store.cancel(&who, &run.id, CancelReason::Asked, "cut off").await.unwrap();
    db.store.shift_clock(LATER);
    let swept = db.sweep().await;
    assert_eq!(swept, Swept { cancelled: vec![run.key.clone()], ..Swept::default() });
    let record = db.store.run_by_key(&run.key).await.unwrap().unwrap();
    assert_eq!((record.status, record.cancel), (RunStatus::Cancelled, Some(CancelReason::Asked)));
    let frames = db.standing(&run).await;
    assert_eq!(frames.len(), 2);
    assert!(matches!(&events(&frames[1])[..], [Event::RunFinished { outcome: Some(Outcome::Cancelled), .. }]));
    assert_eq!(db.shown(&who, "t").await, ["m", "a"]);
}

async fn a_run_nobody_reads_is_cancelled(db: Db) {
    let who = ada();
    let running = db.say(&who, "t1", "r1", "m").await;
    let lease = db.claim_one().await;
    let waiting = db.say(&who, "t2", "r2", "m").await;
    let read = db.say(&who, "t3", "r3", "m").await;
    for run in [&running, &waiting, &read] {
        db.store.unattend(&run.key).await.unwrap();
    }
    db.store.attend(&read.key, None).await.unwrap();
    assert_eq!(db.sweep().await, Swept::default());
    db.store.shift_clock(31_000);
    db.store.renew(std::slice::from_ref(&lease), Duration::from_secs(60)).await.unwrap();
    let detach = SweepPolicy { linger: None, ..policy() };
    assert_eq!(db.store.sweep(&detach).await.unwrap(), Swept::default());
    let swept = db.sweep().await;
    assert_eq!(swept.cancelled.len(), 2);
    assert_eq!(db.status(&waiting).await, RunStatus::Cancelled);
    assert_eq!(db.status(&running).await, RunStatus::Running);
    assert_eq!(db.status(&read).await, RunStatus::Queued);
    let beat = db.store.renew(&[lease], LEASE).await.unwrap().remove(0);
    assert_eq!((beat.held, beat.cancel, beat.unattended), (true, Some(CancelReason::Unattended), true));
    assert_eq!(db.sweep().await, Swept::default());
}

async fn frames_go_after_their_time(db: Db) {
    let who = ada();
    let run = db.say(&who, "t", "r", "m").await;
    let lease = db.claim_one().await;
    db.store.commit_step(&lease, &step(1, vec![assistant("a")], frame(1, 2))).await.unwrap();
    db.store.shift_clock(11 * MINUTE);
    db.store.renew(std::slice::from_ref(&lease), LEASE).await.unwrap();
    assert_eq!(db.sweep().await, Swept::default());
    db.finish(&lease, RunStatus::Completed).await;
    db.store.shift_clock(9 * MINUTE);
    assert_eq!(db.sweep().await, Swept::default());
    db.store.shift_clock(2 * MINUTE);
    assert_eq!(db.sweep().await, Swept { expired: 1, ..Swept::default() });
    assert_eq!(db.sweep().await, Swept::default());
    assert!(db.store.frames(&run.key, Offset::START, false, 1_000).await.unwrap().is_empty());
    assert_eq!(db.shown(&who, "t").await, ["m", "a"]);
}

async fn many_sweepers_settle_a_run_once(db: Db) {
    let who = ada();
    for number in 0..20 {
        db.say(&who, &format!("t{number}"), &format!("r{number}"), "m").await;
    }
    assert_eq!(db.claim(20).await.len(), 20);
    db.store.shift_clock(LATER);
    let sweepers = (0..8).map(|_| {
        let db = db.clone();
        tokio::spawn(async move { db.sweep().await.requeued })
    });
    let mut requeued = Vec::new();
    for sweeper in sweepers.collect::<Vec<_>>() {
        requeued.extend(sweeper.await.unwrap());
    }
    assert_eq!(requeued.len(), 20);
    let claimed = db.claim(20).await;
    assert!(claimed.iter().all(|one| one.record.failures == 1 && one.record.attempt == 2));
    assert_eq!(claimed[0].record.message, id("m"));
}
