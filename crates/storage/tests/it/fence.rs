//! Once another attempt holds the run, nothing of the old one is written.

use domain::{Bundle, Decision, Effort, RunStatus};
use storage::{LeaseError, RunLease, StepCommit};

use crate::support::{Db, LATER, LEASE, ada, assistant, both_engines, finish, frame, id, step};

both_engines! {
    an_old_attempt_is_fenced
    an_ended_run_is_fenced
    a_lease_can_be_renewed
}

fn decision() -> Decision {
    Decision {
        role: id("assistant"),
        tier: Effort::Low,
        in_scope: true,
        bundle: Bundle::App,
        degraded: false,
        facts: Default::default(),
        tools: vec![id("whoami")],
        roster_version: "1".to_owned(),
    }
}

async fn everything_is_fenced(db: &Db, old: &RunLease) {
    let counts = async || (db.count("messages").await, db.count("frames").await, db.count("model_calls").await);
    let before = (counts().await, db.store.run_by_key(&old.run).await.unwrap());
    let store = &db.store;
    let step = step(1, vec![assistant("late")], frame(1, 2));
    let refused = [
        store.append_frames(old, &frame(1, 2)).await,
        store.decide_run(old, &decision()).await,
        store.commit_step(old, &step).await,
        store.finish(old, &finish(RunStatus::Completed, step)).await,
        store.hand_back(old).await,
        store.abandon(old, "late", "lost").await,
        store.history(old, 10, 1_000).await.map(drop),
    ];
    for result in refused {
        assert!(matches!(result, Err(LeaseError::Fenced)), "{result:?}");
    }
    let beats = store.renew(std::slice::from_ref(old), LEASE).await.unwrap();
    assert_eq!((beats.len(), beats[0].held), (1, false));
    assert_eq!((counts().await, store.run_by_key(&old.run).await.unwrap()), before);
}

async fn an_old_attempt_is_fenced(db: Db) {
    let who = ada();
    db.say(&who, "t", "r", "m").await;
    let old = db.claim_one().await;
    db.store.shift_clock(LATER);
    // Its lease ran out, but until somebody noticed it is the run's only attempt.
    db.store.append_frames(&old, &frame(1, 1)).await.unwrap();
    db.sweep().await;
    everything_is_fenced(&db, &old).await;
    let new = db.claim_one().await;
    assert_eq!(new.attempt, old.attempt + 1);
    everything_is_fenced(&db, &old).await;
    db.store.decide_run(&new, &decision()).await.unwrap();
    db.answer(&new, "a").await;
    assert_eq!(db.store.run(&who, &id("r")).await.unwrap().unwrap().decision, Some(decision()));
}

async fn an_ended_run_is_fenced(db: Db) {
    let who = ada();
    db.say(&who, "t", "r", "m").await;
    let lease = db.claim_one().await;
    db.store.finish(&lease, &finish(RunStatus::Completed, StepCommit::default())).await.unwrap();
    everything_is_fenced(&db, &lease).await;
    db.say(&who, "t", "r2", "m2").await;
    let lease = db.claim_one().await;
    db.store.abandon(&lease, "written by a newer build", "lost").await.unwrap();
    everything_is_fenced(&db, &lease).await;
}

async fn a_lease_can_be_renewed(db: Db) {
    let who = ada();
    let mut leases = Vec::new();
    for thread in ["c", "a", "b"] {
        db.say(&who, thread, thread, thread).await;
        leases.push(db.claim_one().await);
    }
    db.store.shift_clock(LATER - 5_000);
    let lost = RunLease { attempt: 9, ..leases[1].clone() };
    let asked = [leases[0].clone(), lost.clone(), leases[2].clone()];
    let beats = db.store.renew(&asked, LEASE).await.unwrap();
    assert_eq!(beats.iter().map(|beat| beat.held).collect::<Vec<_>>(), [true, false, true]);
    assert!(beats.iter().zip(&asked).all(|(beat, lease)| beat.lease == *lease));
    db.store.shift_clock(5_000);
    let swept = db.sweep().await;
    assert_eq!(swept.requeued, [lost.run]);
}
