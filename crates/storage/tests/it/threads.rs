//! Renaming and deleting threads.

use domain::{CancelReason, RunStatus};
use storage::{Accepted, CancelOutcome, LeaseError};

use crate::support::{Db, LATER, LEASE, Say, ada, assistant, both_engines, finish, frame, id, ids, person, step};

both_engines! {
    a_thread_is_renamed
    a_deleted_thread_leaves_its_ledger_only
    a_run_in_flight_is_fenced
    a_waiting_run_is_gone
    a_deleted_thread_can_begin_again
    nobody_touches_a_strangers_thread
    deletes_race_with_accepts
    deletes_race_with_everything
    a_page_holds_calls_with_their_results
}

async fn a_thread_is_renamed(db: Db) {
    let who = ada();
    db.say(&who, "t", "r", "m").await;
    let before = db.store.thread(&who, &id("t")).await.unwrap().unwrap();
    assert_eq!((before.summary.title, before.active_run), (None, Some(id("r"))));
    db.store.shift_clock(1_000);
    for title in [Some("The blue car"), None] {
        assert!(db.store.rename_thread(&who, &id("t"), title).await.unwrap());
        let after = db.store.thread(&who, &id("t")).await.unwrap().unwrap().summary;
        assert_eq!((after.title.as_deref(), after.updated_at), (title, before.summary.updated_at));
    }
    assert!(!db.store.rename_thread(&who, &id("unknown"), Some("x")).await.unwrap());
}

async fn a_deleted_thread_leaves_its_ledger_only(db: Db) {
    let who = ada();
    for thread in ["t", "other"] {
        db.say(&who, thread, &format!("r {thread}"), "m1").await;
        let lease = db.claim_one().await;
        db.store.append_frames(&lease, &frame(1, 2)).await.unwrap();
        let last = step(1, vec![assistant("a1")], frame(3, 4));
        db.store.finish(&lease, &finish(RunStatus::Completed, last)).await.unwrap();
    }
    let key = db.store.thread_key(&who, &id("t")).await.unwrap().unwrap();
    let deleted = db.store.delete_thread(&who, &id("t")).await.unwrap().unwrap();
    assert_eq!((deleted.key, deleted.active), (key, Vec::new()));
    for (table, left) in [("threads", 1), ("messages", 2), ("runs", 1), ("frames", 2), ("model_calls", 2)] {
        assert_eq!(db.count(table).await, left, "{table}");
    }
    assert_eq!(db.shown(&who, "other").await, ["m1", "a1"]);
    assert_eq!(db.store.run(&who, &id("r t")).await.unwrap(), None);
    assert_eq!(db.store.thread(&who, &id("t")).await.unwrap(), None);
    assert_eq!(db.store.delete_thread(&who, &id("t")).await.unwrap(), None);
}

async fn a_run_in_flight_is_fenced(db: Db) {
    let who = ada();
    let run = db.say(&who, "t", "r", "m").await;
    let lease = db.claim_one().await;
    db.store.append_frames(&lease, &frame(1, 2)).await.unwrap();
    assert_eq!(db.store.delete_thread(&who, &id("t")).await.unwrap().unwrap().active, std::slice::from_ref(&run.key));
    let beats = db.store.renew(std::slice::from_ref(&lease), LEASE).await.unwrap();
    assert!(!beats[0].held);
    let fenced = |result: Result<(), LeaseError>| assert!(matches!(result, Err(LeaseError::Fenced)), "{result:?}");
    fenced(db.store.append_frames(&lease, &frame(3, 4)).await);
    fenced(db.store.commit_step(&lease, &step(1, vec![assistant("a")], frame(3, 4))).await);
    fenced(db.store.commit_step(&lease, &step(1, Vec::new(), frame(3, 4))).await);
    fenced(db.store.finish(&lease, &finish(RunStatus::Completed, step(1, Vec::new(), frame(3, 4)))).await);
    fenced(db.store.hand_back(&lease).await);
    fenced(db.store.abandon(&lease, "reason", "note").await);
    fenced(db.store.history(&lease, 10, 1_000).await.map(drop));
    db.store.unattend(&run.key).await.unwrap();
    db.store.attend(&run.key, None).await.unwrap();
    assert_eq!(db.store.cancel(&who, &run.id, CancelReason::Asked, "cut off").await.unwrap(), CancelOutcome::Unknown);
    db.store.shift_clock(LATER);
    assert_eq!(db.sweep().await, storage::Swept::default());
    nothing_left(&db).await;
}

async fn a_waiting_run_is_gone(db: Db) {
    let who = ada();
    let first = db.say(&who, "t", "r1", "m1").await;
    let second = db.say(&who, "t", "r2", "m2").await;
    db.claim_one().await;
    let mut active = db.store.delete_thread(&who, &id("t")).await.unwrap().unwrap().active;
    active.sort();
    let mut expected = [first.key, second.key.clone()];
    expected.sort();
    assert_eq!(active, expected);
    assert!(db.claim(10).await.is_empty());
    assert_eq!(db.store.queue_position(&second.key).await.unwrap(), None);
    nothing_left(&db).await;
}

async fn a_deleted_thread_can_begin_again(db: Db) {
    let who = ada();
    let old = db.say(&who, "t", "r", "m").await;
    let lease = db.claim_one().await;
    db.store.rename_thread(&who, &id("t"), Some("old")).await.unwrap();
    db.store.delete_thread(&who, &id("t")).await.unwrap();
    let new = db.say(&who, "t", "r", "m").await;
    assert!(new.key != old.key && new.thread != old.thread);
    let result = db.store.commit_step(&lease, &step(1, vec![assistant("old")], frame(1, 2))).await;
    assert!(matches!(result, Err(LeaseError::Fenced)), "{result:?}");
    db.answer(&db.claim_one().await, "a").await;
    assert_eq!(db.shown(&who, "t").await, ["m", "a"]);
    assert_eq!(db.store.thread(&who, &id("t")).await.unwrap().unwrap().summary.title, None);
}

async fn nobody_touches_a_strangers_thread(db: Db) {
    let who = ada();
    db.say(&who, "t", "r", "m").await;
    for stranger in [person("acme", "bob"), person("globex", "ada")] {
        assert_eq!(db.store.thread(&stranger, &id("t")).await.unwrap(), None);
        assert!(!db.store.rename_thread(&stranger, &id("t"), Some("mine")).await.unwrap());
        assert_eq!(db.store.delete_thread(&stranger, &id("t")).await.unwrap(), None);
        assert_eq!(db.store.threads(&stranger, 10, None).await.unwrap(), Vec::new());
    }
    let summary = db.store.thread(&who, &id("t")).await.unwrap().unwrap().summary;
    assert_eq!((summary.title, summary.messages), (None, 1));
}

async fn deletes_race_with_accepts(db: Db) {
    let accepts = (0..20).map(|number| {
        let db = db.clone();
        tokio::spawn(async move {
            let who = ada();
            let (run, message) = (format!("r{number}"), format!("m{number}"));
            let accepted = db.accept(Say::new(&who, "t", &run, &message)).await;
            assert!(matches!(accepted, Accepted::Fresh(_)), "{accepted:?}");
        })
    });
    let accepts: Vec<_> = accepts.collect();
    let deletes = (0..20).map(|_| {
        let db = db.clone();
        tokio::spawn(async move { db.store.delete_thread(&ada(), &id("t")).await.unwrap() })
    });
    for delete in deletes.collect::<Vec<_>>() {
        delete.await.unwrap();
    }
    for accept in accepts {
        accept.await.unwrap();
    }
    no_orphans(&db).await;
    db.store.delete_thread(&ada(), &id("t")).await.unwrap();
    nothing_left(&db).await;
}

/// Tabs that write, workers that answer and deletes meet in one thread: the locks' order holds, nothing is left over.
async fn deletes_race_with_everything(db: Db) {
    let tabs = (0..8).map(|tab: usize| {
        let db = db.clone();
        tokio::spawn(async move {
            let who = ada();
            for turn in 0..5 {
                let (run, message) = (format!("r{tab}.{turn}"), format!("m{tab}.{turn}"));
                db.say(&who, "t", &run, &message).await;
                if tab.is_multiple_of(2) {
                    db.store.delete_thread(&who, &id("t")).await.unwrap();
                }
                for claimed in db.claim(1).await {
                    match work(&db, &claimed.lease).await {
                        Ok(()) | Err(LeaseError::Fenced) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            }
        })
    });
    for tab in tabs.collect::<Vec<_>>() {
        tab.await.unwrap();
    }
    no_orphans(&db).await;
    db.store.delete_thread(&ada(), &id("t")).await.unwrap();
    nothing_left(&db).await;
}

async fn work(db: &Db, lease: &storage::RunLease) -> Result<(), LeaseError> {
    db.store.append_frames(lease, &frame(1, 2)).await?;
    db.store.renew(std::slice::from_ref(lease), LEASE).await?;
    let rows = |name: &str| vec![assistant(&format!("{name} {}", lease.run))];
    db.store.commit_step(lease, &step(1, rows("a"), frame(3, 4))).await?;
    db.store.finish(lease, &finish(RunStatus::Completed, step(2, rows("b"), frame(5, 6)))).await
}

async fn a_page_holds_calls_with_their_results(db: Db) {
    let who = ada();
    db.say(&who, "t", "r", "m").await;
    let lease = db.claim_one().await;
    for number in 1..=2 {
        let call = domain::ToolCall { id: id(&format!("c{number}")), name: id("look"), arguments: "{}".to_owned() };
        let asked = domain::Message::Assistant {
            id: id(&format!("a{number}")),
            text: String::new(),
            reasoning: None,
            tool_calls: vec![call.clone()],
            partial: false,
        };
        let told = domain::Message::Tool { id: id(&format!("t{number}")), call: call.id, content: "1".to_owned(), error: false };
        db.store.commit_step(&lease, &step(number, vec![asked, told], frame(1, 2))).await.unwrap();
    }
    db.store.finish(&lease, &finish(RunStatus::Completed, step(3, vec![assistant("a3")], frame(3, 4)))).await.unwrap();
    let page = async |limit, before| {
        let page = db.store.hydrate(&who, &id("t"), Some(limit), before).await.unwrap();
        (ids(&page.messages).join(" "), page.truncated)
    };
    assert_eq!(page(2, None).await, ("a2 t2 a3".to_owned(), true));
    assert_eq!(page(1, Some("a2")).await, ("a1 t1".to_owned(), true));
    assert_eq!(page(1, Some("a1")).await, ("m".to_owned(), false));
    assert_eq!(page(4, None).await, ("m a1 t1 a2 t2 a3".to_owned(), false));
}

async fn nothing_left(db: &Db) {
    for table in ["threads", "messages", "runs", "frames"] {
        assert_eq!(db.count(table).await, 0, "{table}");
    }
}

/// Every row that stands belongs to a thread and a run that stand.
async fn no_orphans(db: &Db) {
    for rows in [
        "messages WHERE thread_key NOT IN (SELECT key FROM threads)",
        "runs WHERE thread_key NOT IN (SELECT key FROM threads)",
        "frames WHERE run_key NOT IN (SELECT key FROM runs)",
        "runs r WHERE NOT EXISTS (SELECT 1 FROM messages m WHERE m.thread_key = r.thread_key AND m.id = r.message_id)",
    ] {
        assert_eq!(db.count(rows).await, 0, "{rows}");
    }
}
