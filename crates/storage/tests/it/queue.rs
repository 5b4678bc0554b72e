//! Claims: in order, one a thread, so many an organization.

use std::collections::HashSet;

use domain::{RunStatus, WorkerId};
use storage::Claim;

use crate::support::{Db, LEASE, ada, both_engines, id, person};

both_engines! {
    a_thread_runs_one_at_a_time_in_order
    each_run_is_claimed_once
    an_organization_runs_so_many
    a_full_organization_holds_nobody_up
    a_claim_may_want_one_thread
    a_waiting_run_knows_its_place
    a_run_of_a_newer_build_is_claimed_without_its_input
    an_organization_that_went_leaves_no_run_behind
}

async fn a_thread_runs_one_at_a_time_in_order(db: Db) {
    let (who, mut said) = (ada(), Vec::new());
    for number in 0..4 {
        said.push(db.say(&who, "t", &format!("r{number}"), &format!("m{number}")).await.key);
    }
    let other = db.say(&who, "other", "r", "m").await;
    let first = db.claim(10).await;
    assert_eq!(first.iter().map(|claimed| claimed.lease.run.clone()).collect::<Vec<_>>(), [said[0].clone(), other.key]);
    assert!(db.claim(10).await.is_empty());
    let mut lease = first[0].lease.clone();
    for key in &said[1..] {
        // Back to the queue and out again: still before the ones behind it.
        db.store.hand_back(&lease).await.unwrap();
        let again = db.claim_one().await;
        assert_eq!((&again.run, again.attempt), (&lease.run, lease.attempt + 1));
        db.finish(&again, RunStatus::Completed).await;
        lease = db.claim_one().await;
        assert_eq!(lease.run, *key);
    }
}

async fn each_run_is_claimed_once(db: Db) {
    let who = ada();
    for number in 0..60 {
        db.say(&who, &format!("t{}", number % 40), &format!("r{number}"), &format!("m{number}")).await;
    }
    let claimers = (0..16).map(|_| {
        let db = db.clone();
        tokio::spawn(async move {
            let mut runs = Vec::new();
            loop {
                let claimed = db.claim(3).await;
                if claimed.is_empty() {
                    return runs;
                }
                for one in claimed {
                    db.finish(&one.lease, RunStatus::Completed).await;
                    runs.push(one.lease.run);
                }
            }
        })
    });
    let mut runs = Vec::new();
    for claimer in claimers.collect::<Vec<_>>() {
        runs.extend(claimer.await.unwrap());
    }
    for one in db.claim(100).await {
        runs.push(one.lease.run);
    }
    assert_eq!((runs.len(), runs.iter().collect::<HashSet<_>>().len()), (60, 60));
}

async fn an_organization_runs_so_many(db: Db) {
    let who = ada();
    for number in 0..40 {
        db.say(&who, &format!("t{number}"), &format!("r{number}"), "m").await;
    }
    let claimers = (0..16).map(|_| {
        let db = db.clone();
        tokio::spawn(async move { db.claim_within(4, 7).await })
    });
    let mut claimed = Vec::new();
    for claimer in claimers.collect::<Vec<_>>() {
        claimed.extend(claimer.await.unwrap());
    }
    assert_eq!(claimed.len(), 7);
    assert!(db.claim_within(10, 7).await.is_empty());
    db.finish(&claimed[0].lease, RunStatus::Completed).await;
    assert_eq!(db.claim_within(10, 7).await.len(), 1);
}

async fn a_full_organization_holds_nobody_up(db: Db) {
    let (who, other) = (ada(), person("globex", "ada"));
    for number in 0..20 {
        db.say(&who, &format!("t{number}"), &format!("r{number}"), "m").await;
    }
    let last = db.say(&other, "t", "r", "m").await;
    let claimed = db.claim_within(4, 2).await;
    assert_eq!(claimed.len(), 3);
    assert_eq!(claimed[2].lease.run, last.key);
}

async fn a_claim_may_want_one_thread(db: Db) {
    let who = ada();
    db.say(&who, "other", "r1", "m").await;
    let wanted = db.say(&who, "t", "r2", "m1").await;
    db.say(&who, "t", "r3", "m2").await;
    let worker: WorkerId = id("cli");
    let claim = Claim { worker: &worker, max: 5, thread: Some(&wanted.thread), org_runs: 64, lease: LEASE, decide: None };
    let claimed = db.store.claim(claim).await.unwrap();
    assert_eq!(claimed.iter().map(|one| one.lease.run.clone()).collect::<Vec<_>>(), [wanted.key]);
    assert!(db.store.claim(claim).await.unwrap().is_empty());
}

async fn a_waiting_run_knows_its_place(db: Db) {
    let who = ada();
    let mut runs = Vec::new();
    for number in 0..4 {
        runs.push(db.say(&who, "t", &format!("r{number}"), &format!("m{number}")).await);
    }
    for (ahead, run) in runs.iter().enumerate() {
        assert_eq!(db.store.queue_position(&run.key).await.unwrap(), Some(ahead as u64));
    }
    db.claim_one().await;
    assert_eq!(db.store.queue_position(&runs[0].key).await.unwrap(), None);
    assert_eq!(db.store.queue_position(&runs[3].key).await.unwrap(), Some(2));
}

async fn a_run_of_a_newer_build_is_claimed_without_its_input(db: Db) {
    let who = ada();
    db.say(&who, "t", "r", "m").await;
    let mut tx = db.store.begin().await.unwrap();
    tx.execute("UPDATE runs SET version = 99, input = 'new words', decision = 'more of them'", &[]).await.unwrap();
    tx.commit().await.unwrap();
    let record = db.claim(1).await.remove(0).record;
    assert_eq!((record.version, record.input, record.decision), (99, None, None));
}

async fn an_organization_that_went_leaves_no_run_behind(db: Db) {
    let who = ada();
    let run = db.say(&who, "t", "r", "m").await;
    db.store.remove_organization(&who.org).await.unwrap();
    assert_eq!(db.claim_one().await.run, run.key);
}
