//! Steps are checkpoints: all of one is stored, or nothing.

use domain::{Code, RunStatus};
use storage::{Finish, LeaseError, StepCommit};

use crate::support::{Db, LATER, ada, assistant, both_engines, call, finish, frame, id, note, step};

both_engines! {
    a_step_is_stored_whole
    a_step_that_fails_leaves_nothing
    a_finish_that_fails_leaves_the_run_running
    a_step_counts_once
    a_reclaimed_run_goes_on_after_its_last_step
    an_error_is_the_runs_end
}

async fn a_step_is_stored_whole(db: Db) {
    let who = ada();
    let run = db.say(&who, "t", "r", "m").await;
    let lease = db.claim_one().await;
    db.store.append_frames(&lease, &frame(1, 3)).await.unwrap();
    db.store.append_frames(&lease, &frame(4, 4)).await.unwrap();
    db.store.commit_step(&lease, &step(1, vec![assistant("a1"), assistant("a2")], frame(5, 6))).await.unwrap();
    db.store.append_frames(&lease, &frame(7, 7)).await.unwrap();
    let last = StepCommit { calls: vec![call(2), call(2)], ..step(2, vec![assistant("a3"), note("n")], frame(8, 8)) };
    let end = Finish { model: Some("openai/small".to_owned()), ..finish(RunStatus::Completed, last) };
    db.store.finish(&lease, &end).await.unwrap();
    let frames = db.standing(&run).await;
    assert_eq!(
        frames.iter().map(|frame| (frame.first, frame.last)).collect::<Vec<_>>(),
        [(1, 3), (4, 4), (5, 6), (7, 7), (8, 8)]
    );
    assert!(frames.iter().all(|frame| frame.committed && frame.attempt == 1));
    assert_eq!(frames[2].body, frame(5, 6).body);
    assert_eq!(db.store.model_calls(&run.key).await.unwrap(), [call(1), call(2), call(2)]);
    assert_eq!(db.shown(&who, "t").await, ["m", "a1", "a2", "a3"]);
    let view = db.store.thread_view(&who, &id("t")).await.unwrap().unwrap();
    assert_eq!((view.messages.len(), view.summary.messages, view.runs.len()), (5, 4, 1));
    assert_eq!(view.messages.iter().map(|row| (row.seq, row.turn)).collect::<Vec<_>>(), [(1, 1), (2, 1), (3, 1), (4, 1), (5, 1)]);
    assert_eq!(view.runs[0].calls.len(), 3);
    let record = &view.runs[0].run;
    assert_eq!((record.status, record.steps, record.model.as_deref()), (RunStatus::Completed, 2, Some("openai/small")));
    assert!(record.ended_at.is_some() && record.error.is_none());
}

async fn a_step_that_fails_leaves_nothing(db: Db) {
    let who = ada();
    let run = db.say(&who, "t", "r", "m").await;
    let lease = db.claim_one().await;
    db.store.append_frames(&lease, &frame(1, 1)).await.unwrap();
    // The second row's id is taken, in the same thread.
    let failed = db.store.commit_step(&lease, &step(1, vec![assistant("a"), assistant("m")], frame(2, 2))).await;
    assert!(matches!(failed, Err(LeaseError::Storage(_))), "{failed:?}");
    assert_eq!(db.store.run_by_key(&run.key).await.unwrap().unwrap().steps, 0);
    assert_eq!((db.count("messages").await, db.count("model_calls").await, db.count("frames").await), (1, 0, 1));
    assert!(!db.standing(&run).await[0].committed);
    db.store.commit_step(&lease, &step(1, vec![assistant("a")], frame(2, 2))).await.unwrap();
    assert_eq!(db.history(&lease).await, ["m", "a"]);
}

async fn a_finish_that_fails_leaves_the_run_running(db: Db) {
    let who = ada();
    let run = db.say(&who, "t", "r", "m").await;
    let lease = db.claim_one().await;
    let failed = db.store.finish(&lease, &finish(RunStatus::Completed, step(1, vec![assistant("m")], frame(1, 1)))).await;
    assert!(matches!(failed, Err(LeaseError::Storage(_))), "{failed:?}");
    assert_eq!(db.status(&run).await, RunStatus::Running);
    assert_eq!((db.count("messages").await, db.count("frames").await), (1, 0));
    db.answer(&lease, "a").await;
}

async fn a_step_counts_once(db: Db) {
    let who = ada();
    let run = db.say(&who, "t", "r", "m").await;
    let lease = db.claim_one().await;
    let first = step(1, vec![assistant("a")], frame(1, 2));
    db.store.commit_step(&lease, &first).await.unwrap();
    db.store.commit_step(&lease, &first).await.unwrap();
    assert_eq!((db.count("messages").await, db.count("model_calls").await, db.count("frames").await), (2, 1, 1));
    // Frames that come again, with more behind them, take the place of the first.
    db.store.append_frames(&lease, &frame(3, 3)).await.unwrap();
    db.store.append_frames(&lease, &frame(3, 5)).await.unwrap();
    let frames = db.standing(&run).await;
    assert_eq!(frames.iter().map(|frame| (frame.first, frame.last)).collect::<Vec<_>>(), [(1, 2), (3, 5)]);
    db.store.commit_step(&lease, &step(2, vec![assistant("b")], frame(6, 6))).await.unwrap();
    assert_eq!(db.history(&lease).await, ["m", "a", "b"]);
}

async fn a_reclaimed_run_goes_on_after_its_last_step(db: Db) {
    let who = ada();
    db.say(&who, "t", "r", "m").await;
    let old = db.claim_one().await;
    db.store.commit_step(&old, &step(1, vec![assistant("a")], frame(1, 2))).await.unwrap();
    db.store.shift_clock(LATER);
    db.sweep().await;
    let new = db.claim(1).await.remove(0);
    assert_eq!((new.record.steps, new.record.failures, new.record.attempt), (1, 1, 2));
    assert_eq!(db.history(&new.lease).await, ["m", "a"]);
    db.store.commit_step(&new.lease, &step(2, vec![assistant("b")], frame(1, 2))).await.unwrap();
    db.finish(&new.lease, RunStatus::Completed).await;
    assert_eq!(db.shown(&who, "t").await, ["m", "a", "b"]);
}

async fn an_error_is_the_runs_end(db: Db) {
    let who = ada();
    let run = db.say(&who, "t", "r", "m").await;
    let lease = db.claim_one().await;
    let error = Some((Code::ModelUnavailable, "the model cannot be reached".to_owned()));
    let end = Finish { error, ..finish(RunStatus::Failed, step(1, vec![note("n")], frame(1, 1))) };
    db.store.finish(&lease, &end).await.unwrap();
    let record = db.store.run(&who, &run.id).await.unwrap().unwrap();
    assert_eq!(record.error, Some(("model-unavailable".to_owned(), "the model cannot be reached".to_owned())));
    assert_eq!((record.status, record.failures), (RunStatus::Failed, 0));
    assert_eq!(db.shown(&who, "t").await, ["m"]);
}
