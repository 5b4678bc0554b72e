//! What people and models see of a thread.

use domain::RunStatus;

use crate::support::{Db, ada, assistant, both_engines, id, ids, note, step};

both_engines! {
    a_message_that_waits_comes_after_the_answer_before_it
    an_active_thread_shows_up_to_its_question
    pages_go_backwards
    a_model_sees_whole_turns_within_its_bounds
    threads_are_listed_newest_first
}

async fn a_message_that_waits_comes_after_the_answer_before_it(db: Db) {
    let who = ada();
    db.say(&who, "t", "r1", "m1").await;
    db.say(&who, "t", "r2", "m2").await;
    let lease = db.claim_one().await;
    assert_eq!(db.history(&lease).await, ["m1"]);
    db.answer(&lease, "a1").await;
    let lease = db.claim_one().await;
    assert_eq!(db.history(&lease).await, ["m1", "a1", "m2"]);
    db.answer(&lease, "a2").await;
    assert_eq!(db.shown(&who, "t").await, ["m1", "a1", "m2", "a2"]);
}

async fn an_active_thread_shows_up_to_its_question(db: Db) {
    let who = ada();
    let show = async || {
        let hydrated = db.store.hydrate(&who, &id("t"), None, None).await.unwrap();
        (ids(&hydrated.messages), hydrated.active_run.map(|run| run.to_string()))
    };
    db.say(&who, "t", "r1", "m1").await;
    db.say(&who, "t", "r2", "m2").await;
    assert_eq!(show().await, (vec!["m1".to_owned()], Some("r1".to_owned())));
    let lease = db.claim_one().await;
    db.store.commit_step(&lease, &step(1, vec![assistant("a1")], Default::default())).await.unwrap();
    assert_eq!(show().await, (vec!["m1".to_owned()], Some("r1".to_owned())));
    db.finish(&lease, RunStatus::Completed).await;
    assert_eq!(show().await, (vec!["m1".to_owned(), "a1".to_owned(), "m2".to_owned()], Some("r2".to_owned())));
    db.answer(&db.claim_one().await, "a2").await;
    assert_eq!(show().await.1, None);
    assert_eq!(show().await.0.len(), 4);
}

async fn pages_go_backwards(db: Db) {
    let who = ada();
    for number in 1..=3 {
        db.say(&who, "t", &format!("r{number}"), &format!("m{number}")).await;
        let lease = db.claim_one().await;
        let rows = vec![note(&format!("n{number}")), assistant(&format!("a{number}"))];
        db.store.commit_step(&lease, &step(1, rows, Default::default())).await.unwrap();
        db.finish(&lease, RunStatus::Completed).await;
    }
    let page = async |limit, before| {
        let page = db.store.hydrate(&who, &id("t"), Some(limit), before).await.unwrap();
        (ids(&page.messages).join(" "), page.truncated)
    };
    assert_eq!(page(2, None).await, ("m3 a3".to_owned(), true));
    assert_eq!(page(3, Some("m3")).await, ("a1 m2 a2".to_owned(), true));
    assert_eq!(page(3, Some("a1")).await, ("m1".to_owned(), false));
    assert_eq!(page(6, None).await, ("m1 a1 m2 a2 m3 a3".to_owned(), false));
    assert_eq!(page(3, Some("m1")).await, (String::new(), false));
    assert_eq!(page(3, Some("nobody's")).await, (String::new(), false));
}

async fn a_model_sees_whole_turns_within_its_bounds(db: Db) {
    let who = ada();
    for number in 1..=4 {
        db.say(&who, "t", &format!("r{number}"), &format!("m{number}")).await;
        db.answer(&db.claim_one().await, &format!("a{number}")).await;
    }
    db.say(&who, "t", "r5", "m5").await;
    db.say(&who, "t", "r6", "m6").await;
    let lease = db.claim_one().await;
    let see = async |messages, bytes| {
        let history = db.store.history(&lease, messages, bytes).await.unwrap();
        (ids(&history.messages).join(" "), history.truncated)
    };
    let row = serde_json::to_string(&assistant("a1")).unwrap().len().max(70);
    assert_eq!(see(100, 1 << 20).await, ("m1 a1 m2 a2 m3 a3 m4 a4 m5".to_owned(), false));
    assert_eq!(see(9, 1 << 20).await, ("m1 a1 m2 a2 m3 a3 m4 a4 m5".to_owned(), false));
    assert_eq!(see(8, 1 << 20).await, ("m2 a2 m3 a3 m4 a4 m5".to_owned(), true));
    assert_eq!(see(4, 1 << 20).await, ("m4 a4 m5".to_owned(), true));
    assert_eq!(see(0, 0).await, ("m5".to_owned(), true));
    assert_eq!(see(100, row * 4).await, ("m4 a4 m5".to_owned(), true));
    db.store.commit_step(&lease, &step(1, vec![assistant("a5")], Default::default())).await.unwrap();
    assert_eq!(see(0, 0).await, ("m5 a5".to_owned(), true));
}

async fn threads_are_listed_newest_first(db: Db) {
    let who = ada();
    for (number, thread) in ["t1", "t2", "t3"].into_iter().enumerate() {
        db.store.shift_clock(number as i64 * 1_000);
        db.say(&who, thread, thread, "m").await;
    }
    db.store.shift_clock(10_000);
    db.say(&who, "t1", "again", "m2").await;
    let list = async |limit, after| db.store.threads(&who, limit, after).await.unwrap();
    let names = |list: &[storage::ThreadSummary]| list.iter().map(|thread| thread.id.to_string()).collect::<Vec<_>>();
    let first = list(2, None).await;
    assert_eq!(names(&first), ["t1", "t3"]);
    assert_eq!((first[0].messages, first[0].channel.as_str()), (2, "web"));
    let rest = list(2, Some((first[1].updated_at, first[1].key.clone()))).await;
    assert_eq!(names(&rest), ["t2"]);
    let key = db.store.thread_key(&who, &id("t3")).await.unwrap();
    assert_eq!(key.as_ref(), Some(&first[1].key));
}
