//! Stopping, in every state.

use std::time::Duration;

use domain::{CancelReason, Event, Outcome, RunStatus};
use storage::CancelOutcome;

use crate::support::{Db, LEASE, ada, both_engines, events, person};

both_engines! {
    a_waiting_run_ends_at_once
    a_running_run_is_told
    an_ended_run_stays_ended
    nobody_cancels_a_strangers_run
    readers_come_and_go
    a_closed_socket_and_the_next_message_at_once
}

async fn a_waiting_run_ends_at_once(db: Db) {
    let who = ada();
    let run = db.say(&who, "t", "r", "m").await;
    let cancelled = CancelOutcome::Ended(RunStatus::Cancelled);
    assert_eq!(db.store.cancel(&who, &run.id, CancelReason::Asked, "cut off").await.unwrap(), cancelled);
    assert_eq!(db.store.cancel(&who, &run.id, CancelReason::Asked, "cut off").await.unwrap(), cancelled);
    assert!(db.claim(10).await.is_empty());
    let frames = db.standing(&run).await;
    assert_eq!(frames.iter().map(|frame| (frame.attempt, frame.first, frame.last)).collect::<Vec<_>>(), [(1, 1, 1)]);
    let end = Event::RunFinished {
        thread_id: run.thread_id.clone(),
        run_id: run.id.clone(),
        outcome: Some(Outcome::Cancelled),
        usage: Vec::new(),
        metadata: Some(CancelReason::Asked.metadata()),
    };
    assert_eq!(events(&frames[0]), [end]);
    assert!(frames[0].body.ends_with(b"\n"));
    assert_eq!(db.shown(&who, "t").await, ["m"]);
}

async fn a_running_run_is_told(db: Db) {
    let who = ada();
    let run = db.say(&who, "t", "r", "m").await;
    let lease = db.claim_one().await;
    assert_eq!(db.store.cancel(&who, &run.id, CancelReason::Asked, "cut off").await.unwrap(), CancelOutcome::Requested);
    assert_eq!(db.store.cancel(&who, &run.id, CancelReason::Replaced, "cut off").await.unwrap(), CancelOutcome::Requested);
    let beat = db.store.renew(std::slice::from_ref(&lease), LEASE).await.unwrap().remove(0);
    assert_eq!((beat.held, beat.cancel), (true, Some(CancelReason::Asked)));
    db.finish(&lease, RunStatus::Cancelled).await;
    assert_eq!(db.status(&run).await, RunStatus::Cancelled);
}

async fn an_ended_run_stays_ended(db: Db) {
    let who = ada();
    let run = db.say(&who, "t", "r", "m").await;
    db.answer(&db.claim_one().await, "a").await;
    let outcome = db.store.cancel(&who, &run.id, CancelReason::Asked, "cut off").await.unwrap();
    assert_eq!(outcome, CancelOutcome::Ended(RunStatus::Completed));
    db.store.unattend(&run.key).await.unwrap();
    assert_eq!(db.store.run_by_key(&run.key).await.unwrap().unwrap().unattended_since, None);
}

async fn nobody_cancels_a_strangers_run(db: Db) {
    let who = ada();
    let run = db.say(&who, "t", "r", "m").await;
    for stranger in [person("acme", "bob"), person("globex", "ada")] {
        let outcome = db.store.cancel(&stranger, &run.id, CancelReason::Asked, "cut off").await.unwrap();
        assert_eq!(outcome, CancelOutcome::Unknown);
    }
    assert_eq!(db.status(&run).await, RunStatus::Queued);
}

async fn readers_come_and_go(db: Db) {
    let who = ada();
    let run = db.say(&who, "t", "r", "m").await;
    let lease = db.claim_one().await;
    let look = async || {
        let beat = db.store.renew(std::slice::from_ref(&lease), LEASE).await.unwrap().remove(0);
        (beat.unattended, beat.remote_reader)
    };
    assert_eq!(look().await, (false, false));
    db.store.unattend(&run.key).await.unwrap();
    assert_eq!(look().await, (true, false));
    db.store.attend(&run.key, Some(Duration::from_secs(10))).await.unwrap();
    assert_eq!(look().await, (false, true));
    db.store.attend(&run.key, None).await.unwrap();
    assert_eq!(look().await, (false, true));
    db.store.shift_clock(11_000);
    assert_eq!(look().await, (false, false));
}

/// Whichever of the two is first, the run that was left gives way.
async fn a_closed_socket_and_the_next_message_at_once(db: Db) {
    let who = ada();
    for round in 0..20 {
        let (thread, left, next) = (format!("t{round}"), format!("left{round}"), format!("next{round}"));
        let run = db.say(&who, &thread, &left, "m1").await;
        db.claim(10).await;
        let leaving = tokio::spawn({
            let (store, key) = (db.store.clone(), run.key.clone());
            async move { store.unattend(&key).await.unwrap() }
        });
        let message = format!("m2{round}");
        db.say(&who, &thread, &next, &message).await;
        leaving.await.unwrap();
        let record = db.store.run_by_key(&run.key).await.unwrap().unwrap();
        assert_eq!(record.cancel, Some(CancelReason::Replaced), "{round}");
    }
}
