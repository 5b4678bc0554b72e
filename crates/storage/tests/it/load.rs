//! Many writers and a long reader: no turn fails.

use domain::RunStatus;
use storage::WhenBusy;

use crate::support::{Db, Say, assistant, both_engines, finish, frame, id, person, step};

both_engines! {
    sixty_four_writers_and_a_long_reader
    many_tabs_of_one_thread
}

const WRITERS: usize = 64;
const TURNS: usize = 5;

async fn sixty_four_writers_and_a_long_reader(db: Db) {
    // Holds its snapshot from before the first turn until after the last.
    let mut reader = db.store.read().await.unwrap();
    let count = "SELECT COUNT(*) FROM runs";
    assert_eq!(reader.row(count, &[]).await.unwrap().unwrap().get::<i64>(0).unwrap(), 0);
    let writers = (0..WRITERS).map(|writer| {
        let db = db.clone();
        tokio::spawn(async move {
            let who = person(if writer % 2 == 0 { "acme" } else { "globex" }, &format!("writer {writer}"));
            db.store.add_user(&who.org, &who.user, None).await.unwrap();
            for turn in 0..TURNS {
                let (run, message) = (format!("r{turn}"), format!("m{turn}"));
                db.say(&who, "t", &run, &message).await;
                work(&db).await;
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    // Who claimed somebody else's run left its own to them.
    while work(&db).await {}
    assert_eq!(reader.row(count, &[]).await.unwrap().unwrap().get::<i64>(0).unwrap(), 0);
    drop(reader);
    let total = (WRITERS * TURNS) as i64;
    let mut tx = db.store.read().await.unwrap();
    let done = "SELECT COUNT(*) FROM runs WHERE status = 'completed' AND attempt = 1 AND failures = 0";
    assert_eq!(tx.row(done, &[]).await.unwrap().unwrap().get::<i64>(0).unwrap(), total);
    drop(tx);
    assert_eq!((db.count("messages").await, db.count("frames").await), (3 * total, 3 * total));
    let who = person("acme", "writer 0");
    let shown = db.shown(&who, "t").await;
    let questions: Vec<&String> = shown.iter().filter(|id| id.starts_with('m')).collect();
    assert_eq!(
        (shown.len(), questions),
        (3 * TURNS, (0..TURNS).map(|turn| format!("m{turn}")).collect::<Vec<_>>().iter().collect())
    );
}

/// Claims a run and answers it in two steps; false if there is none.
async fn work(db: &Db) -> bool {
    let Some(claimed) = db.claim(1).await.pop() else { return false };
    let (lease, key) = (&claimed.lease, &claimed.lease.run);
    let history = db.store.history(lease, 200, 1 << 20).await.unwrap();
    assert_eq!(history.messages.last().unwrap().message.id(), &claimed.record.message);
    db.store.append_frames(lease, &frame(1, 20)).await.unwrap();
    let first = step(1, vec![assistant(&format!("a {key}"))], frame(21, 25));
    db.store.commit_step(lease, &first).await.unwrap();
    db.store.renew(std::slice::from_ref(lease), crate::support::LEASE).await.unwrap();
    let last = step(2, vec![assistant(&format!("b {key}"))], frame(26, 30));
    db.store.finish(lease, &finish(RunStatus::Completed, last)).await.unwrap();
    true
}

/// Accepts that interrupt, stop and edit meet workers in the same thread: the locks' order holds, nothing is lost.
async fn many_tabs_of_one_thread(db: Db) {
    let tabs = (0..16).map(|tab: usize| {
        let db = db.clone();
        tokio::spawn(async move {
            let who = person("acme", "ada");
            for turn in 0..4 {
                let (run, message) = (format!("r{tab}.{turn}"), format!("m{tab}.{turn}"));
                let when_busy = if tab.is_multiple_of(3) { WhenBusy::Interrupt } else { WhenBusy::Queue };
                db.fresh(Say { when_busy, ..Say::new(&who, "t", &run, &message) }).await;
                if tab.is_multiple_of(4) {
                    db.store.cancel(&who, &id(&run), domain::CancelReason::Asked, "cut off").await.unwrap();
                }
                work(&db).await;
            }
        })
    });
    for tab in tabs.collect::<Vec<_>>() {
        tab.await.unwrap();
    }
    while work(&db).await {}
    let mut tx = db.store.read().await.unwrap();
    let open = "SELECT COUNT(*) FROM runs WHERE ended_at IS NULL";
    assert_eq!(tx.row(open, &[]).await.unwrap().unwrap().get::<i64>(0).unwrap(), 0);
    drop(tx);
    let shown = db.shown(&person("acme", "ada"), "t").await;
    assert_eq!(shown.iter().filter(|id| id.starts_with('m')).count(), 64);
    assert_eq!(db.count("runs").await, 64);
}
