//! What a reader gets, from where it left off.

use domain::{Offset, RunStatus};
use storage::Frame;

use crate::support::{Db, LATER, ada, assistant, both_engines, frame, step};

both_engines! {
    a_reader_goes_on_after_its_offset
    of_a_superseded_attempt_its_steps_stand
}

fn places(frames: &[Frame]) -> Vec<(i64, i64, i64)> {
    frames.iter().map(|frame| (frame.attempt, frame.first, frame.last)).collect()
}

async fn a_reader_goes_on_after_its_offset(db: Db) {
    let who = ada();
    let run = db.say(&who, "t", "r", "m").await;
    let lease = db.claim_one().await;
    for (first, last) in [(1, 4), (5, 8), (9, 9)] {
        db.store.append_frames(&lease, &frame(first, last)).await.unwrap();
    }
    let read =
        async |attempt, seq, bytes| places(&db.store.frames(&run.key, Offset { attempt, seq }, true, bytes).await.unwrap());
    assert_eq!(read(0, 0, 1 << 20).await, [(1, 1, 4), (1, 5, 8), (1, 9, 9)]);
    assert_eq!(read(1, 4, 1 << 20).await, [(1, 5, 8), (1, 9, 9)]);
    assert_eq!(read(1, 5, 1 << 20).await, [(1, 5, 8), (1, 9, 9)]);
    assert_eq!(read(1, 8, 1 << 20).await, [(1, 9, 9)]);
    assert_eq!(read(1, 9, 1 << 20).await, []);
    assert_eq!(read(2, 0, 1 << 20).await, []);
    // At least one, however little is wanted.
    assert_eq!(read(0, 0, 1).await, [(1, 1, 4)]);
    assert_eq!(read(0, 0, 2 * frame(1, 4).body.len()).await, [(1, 1, 4), (1, 5, 8)]);
}

async fn of_a_superseded_attempt_its_steps_stand(db: Db) {
    let who = ada();
    let run = db.say(&who, "t", "r", "m").await;
    let old = db.claim_one().await;
    db.store.append_frames(&old, &frame(1, 2)).await.unwrap();
    db.store.commit_step(&old, &step(1, vec![assistant("a")], frame(3, 4))).await.unwrap();
    db.store.append_frames(&old, &frame(5, 6)).await.unwrap();
    assert_eq!(places(&db.standing(&run).await), [(1, 1, 2), (1, 3, 4), (1, 5, 6)]);
    db.store.shift_clock(LATER);
    db.sweep().await;
    let new = db.claim_one().await;
    assert_eq!(places(&db.standing(&run).await), [(1, 1, 2), (1, 3, 4)]);
    db.store.append_frames(&new, &frame(1, 1)).await.unwrap();
    assert_eq!(places(&db.standing(&run).await), [(1, 1, 2), (1, 3, 4), (2, 1, 1)]);
    let all = db.store.frames(&run.key, Offset { attempt: 1, seq: 4 }, false, 1 << 20).await.unwrap();
    assert_eq!(places(&all), [(1, 5, 6), (2, 1, 1)]);
    db.finish(&new, RunStatus::Completed).await;
    assert!(db.standing(&run).await.iter().all(|frame| frame.committed));
}
