//! Taking messages in: once, by the right person, within the limits, or not at all.

use std::time::Duration;

use domain::{Limits, RunStatus, WorkerId};
use storage::{Accepted, Refusal, WhenBusy};

use crate::support::{Db, MINUTE, Say, ada, both_engines, id, person};

both_engines! {
    the_same_run_is_joined
    a_run_id_belongs_to_one_thread_and_message
    fifty_identical_accepts_are_one_run
    fifty_threads_fight_for_one_run_id
    equal_ids_of_ten_users_are_strangers
    a_stranger_is_refused
    a_full_queue_is_overloaded
    without_a_worker_nothing_is_taken
    turns_are_counted_per_person
    turns_at_once_are_all_counted
    a_busy_thread_may_reject
    an_assistant_row_is_nobodys_message
    only_a_user_row_can_be_replaced
    the_queue_keeps_what_was_said
}

async fn the_same_run_is_joined(db: Db) {
    let who = ada();
    let tight =
        Say { limits: Limits { turns_per_minute: 1, queued_runs: 1, ..Limits::default() }, ..Say::new(&who, "t", "r", "m") };
    let fresh = db.fresh(tight.clone()).await;
    let before = db.counts().await;
    assert_eq!(db.accept(tight.clone()).await, Accepted::Joined(fresh.clone()));
    assert_eq!(
        db.accept(Say { when_busy: WhenBusy::Reject, need_worker: true, ..tight.clone() }).await,
        Accepted::Joined(fresh.clone())
    );
    let lease = db.claim_one().await;
    db.finish(&lease, RunStatus::Completed).await;
    assert_eq!(db.accept(tight).await, Accepted::Joined(fresh.clone()));
    assert_eq!(db.counts().await, before);
    let record = db.store.run(&who, &fresh.id).await.unwrap().unwrap();
    assert_eq!((record.reference, record.status, record.turn), (fresh, RunStatus::Completed, 1));
    assert_eq!(record.input.unwrap().grounding, ["the person looks at cars"]);
}

async fn a_run_id_belongs_to_one_thread_and_message(db: Db) {
    let who = ada();
    db.say(&who, "t", "r", "m").await;
    let before = db.counts().await;
    assert_eq!(db.refusal(Say::new(&who, "t", "r", "other")).await, Refusal::RunIdInUse);
    assert_eq!(db.refusal(Say::new(&who, "other", "r", "m")).await, Refusal::RunIdInUse);
    assert_eq!(db.counts().await, before);
}

async fn fifty_identical_accepts_are_one_run(db: Db) {
    let accepts = (0..50).map(|_| {
        let db = db.clone();
        tokio::spawn(async move {
            let who = ada();
            let limits = Limits { turns_per_minute: 1, queued_runs: 1, ..Limits::default() };
            db.accept(Say { limits, when_busy: WhenBusy::Reject, ..Say::new(&who, "t", "r", "m") }).await
        })
    });
    let (mut fresh, mut joined) = (Vec::new(), Vec::new());
    for accept in accepts.collect::<Vec<_>>() {
        match accept.await.unwrap() {
            Accepted::Fresh(run) => fresh.push(run),
            Accepted::Joined(run) => joined.push(run),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((fresh.len(), joined.len()), (1, 49));
    assert!(joined.iter().all(|run| *run == fresh[0]));
    assert_eq!((db.count("threads").await, db.count("messages").await, db.count("runs").await), (1, 1, 1));
}

async fn fifty_threads_fight_for_one_run_id(db: Db) {
    let accepts = (0..50).map(|number| {
        let db = db.clone();
        tokio::spawn(async move {
            let who = ada();
            db.accept(Say::new(&who, &format!("t{number}"), "r", "m")).await
        })
    });
    let mut fresh = 0;
    for accept in accepts.collect::<Vec<_>>() {
        match accept.await.unwrap() {
            Accepted::Fresh(_) => fresh += 1,
            other => assert_eq!(other, Accepted::Refused(Refusal::RunIdInUse)),
        }
    }
    assert_eq!((fresh, db.count("threads").await, db.count("messages").await), (1, 1, 1));
}

async fn equal_ids_of_ten_users_are_strangers(db: Db) {
    let people: Vec<_> =
        (0..10).map(|number| person(if number % 2 == 0 { "acme" } else { "globex" }, &format!("user {}", number / 2))).collect();
    for who in &people {
        db.store.add_user(&who.org, &who.user, None).await.unwrap();
        db.say(who, "t", "r", "m").await;
    }
    for claimed in db.claim(10).await {
        db.answer(&claimed.lease, &format!("answer to {} of {}", claimed.record.user, claimed.record.org)).await;
    }
    for who in &people {
        assert_eq!(db.shown(who, "t").await, ["m".to_owned(), format!("answer to {} of {}", who.user, who.org)]);
        assert_eq!(db.store.threads(who, 10, None).await.unwrap().len(), 1);
        assert_eq!(db.store.run(who, &id("r")).await.unwrap().unwrap().user, who.user);
    }
    let stranger = person("acme", "nobody");
    assert!(db.shown(&stranger, "t").await.is_empty());
    assert!(db.store.thread_view(&stranger, &id("t")).await.unwrap().is_none());
    assert!(db.store.thread_key(&stranger, &id("t")).await.unwrap().is_none());
    assert!(db.store.run(&stranger, &id("r")).await.unwrap().is_none());
}

async fn a_stranger_is_refused(db: Db) {
    let (stranger, guest) = (person("globex", "bob"), person("acme", "guest"));
    assert_eq!(db.refusal(Say::new(&stranger, "t", "r", "m")).await, Refusal::NotAMember);
    let now = db.store.read().await.unwrap().now().await.unwrap();
    db.store.claim_membership(&guest, None, now + MINUTE).await.unwrap();
    db.say(&guest, "t", "r", "m").await;
    let before = db.counts().await;
    db.store.shift_clock(2 * MINUTE);
    assert_eq!(db.refusal(Say::new(&guest, "t", "r2", "m2")).await, Refusal::NotAMember);
    assert_eq!(db.counts().await, before);
}

async fn a_full_queue_is_overloaded(db: Db) {
    let who = ada();
    let limits = Limits { queued_runs: 2, ..Limits::default() };
    let say = |run, message| Say { limits: limits.clone(), ..Say::new(&who, "t", run, message) };
    db.fresh(say("r1", "m1")).await;
    db.fresh(say("r2", "m2")).await;
    let before = db.counts().await;
    let full = Refusal::Overloaded { retry_after: Duration::from_secs(5) };
    assert_eq!(db.refusal(say("r3", "m3")).await, full);
    assert_eq!(db.counts().await, before);
    db.claim_one().await;
    db.fresh(say("r3", "m3")).await;
}

async fn without_a_worker_nothing_is_taken(db: Db) {
    let who = ada();
    let say = Say { need_worker: true, ..Say::new(&who, "t", "r", "m") };
    assert_eq!(db.refusal(say.clone()).await, Refusal::NoWorker);
    let worker: WorkerId = id("worker");
    db.store.worker_beat(&worker, 64, Duration::from_secs(15)).await.unwrap();
    db.store.shift_clock(16_000);
    assert_eq!(db.refusal(say.clone()).await, Refusal::NoWorker);
    assert_eq!(db.counts().await, [0; 6]);
    db.store.worker_beat(&worker, 64, Duration::from_secs(15)).await.unwrap();
    db.fresh(say).await;
}

async fn turns_are_counted_per_person(db: Db) {
    let (who, bob) = (ada(), person("acme", "bob"));
    for turn in 0..10 {
        let (thread, run, message) = (format!("t{}", turn % 3), format!("r{turn}"), format!("m{turn}"));
        db.fresh(Say { limits: Limits::default(), ..Say::new(&who, &thread, &run, &message) }).await;
    }
    let before = db.counts().await;
    let more = Say { limits: Limits::default(), ..Say::new(&who, "new", "more", "more") };
    match db.refusal(more.clone()).await {
        Refusal::RateLimited { retry_after } => assert!(retry_after > Duration::ZERO && retry_after <= Duration::from_secs(6)),
        other => panic!("{other:?}"),
    }
    assert_eq!(db.counts().await, before);
    db.fresh(Say { who: &bob, ..more.clone() }).await;
    db.fresh(Say { who: &person("globex", "ada"), ..more.clone() }).await;
    db.store.shift_clock(6_000);
    db.fresh(more.clone()).await;
    assert!(matches!(db.refusal(Say { run: "again", message: "again", ..more.clone() }).await, Refusal::RateLimited { .. }));
    // Ten more once a minute has passed.
    db.store.shift_clock(6_000 + MINUTE);
    for turn in 0..10 {
        let (run, message) = (format!("later {turn}"), format!("later {turn}"));
        db.fresh(Say { run: &run, message: &message, ..more.clone() }).await;
    }
    assert!(matches!(db.refusal(Say { run: "again", message: "again", ..more }).await, Refusal::RateLimited { .. }));
}

async fn turns_at_once_are_all_counted(db: Db) {
    let accepts = (0..20).map(|number| {
        let db = db.clone();
        tokio::spawn(async move {
            let (who, name) = (ada(), format!("{number}"));
            let limits = Limits { turns_per_minute: 5, ..Limits::default() };
            matches!(db.accept(Say { limits, ..Say::new(&who, &name, &name, &name) }).await, Accepted::Fresh(_))
        })
    });
    let mut fresh = 0;
    for accept in accepts.collect::<Vec<_>>() {
        fresh += i64::from(accept.await.unwrap());
    }
    assert_eq!((fresh, db.count("runs").await, db.count("threads").await), (5, 5, 5));
}

async fn a_busy_thread_may_reject(db: Db) {
    let who = ada();
    let reject = |run, message| Say { when_busy: WhenBusy::Reject, ..Say::new(&who, "t", run, message) };
    let first = db.fresh(reject("r1", "m1")).await;
    let before = db.counts().await;
    assert_eq!(db.refusal(reject("r2", "m2")).await, Refusal::ThreadBusy);
    let lease = db.claim_one().await;
    assert_eq!(db.refusal(reject("r2", "m2")).await, Refusal::ThreadBusy);
    assert_eq!(db.counts().await, before);
    // Nobody reads it any more: it gives way.
    db.store.unattend(&first.key).await.unwrap();
    let second = db.fresh(reject("r2", "m2")).await;
    db.finish(&lease, RunStatus::Cancelled).await;
    assert_eq!(db.claim_one().await.run, second.key);
}

async fn an_assistant_row_is_nobodys_message(db: Db) {
    let who = ada();
    db.say(&who, "t", "r1", "m1").await;
    db.answer(&db.claim_one().await, "a1").await;
    let before = db.counts().await;
    assert_eq!(db.refusal(Say::new(&who, "t", "r2", "a1")).await, Refusal::UnknownMessage);
    assert_eq!(db.counts().await, before);
}

async fn only_a_user_row_can_be_replaced(db: Db) {
    let who = ada();
    let replaces = |message| Say { replaces: Some(message), ..Say::new(&who, "t", "r2", "m2") };
    assert_eq!(db.refusal(replaces("m1")).await, Refusal::UnknownMessage);
    assert_eq!(db.counts().await, [0; 6]);
    db.say(&who, "t", "r1", "m1").await;
    db.answer(&db.claim_one().await, "a1").await;
    let before = db.counts().await;
    for unknown in ["a1", "m9"] {
        assert_eq!(db.refusal(replaces(unknown)).await, Refusal::UnknownMessage);
    }
    assert_eq!(db.counts().await, before);
}

async fn the_queue_keeps_what_was_said(db: Db) {
    let who = ada();
    let run = db.say(&who, "t", "r", "m").await;
    // The stored row counts, whatever a second message with its id says.
    let stored = db.store.hydrate(&who, &id("t"), None, None).await.unwrap();
    assert_eq!(stored.active_run, Some(run.id.clone()));
    let claimed = db.claim(1).await.remove(0);
    assert_eq!((claimed.record.reference, claimed.record.attempt, claimed.record.channel), (run, 1, id("web")));
    assert_eq!((claimed.record.message, claimed.record.steps, claimed.record.failures), (id("m"), 0, 0));
    assert!(claimed.record.started_at.is_some() && claimed.record.ended_at.is_none());
}
