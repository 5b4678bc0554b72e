//! Answering again, editing, interrupting: rows are superseded, never deleted.

use domain::{CancelReason, RunStatus};
use storage::WhenBusy;

use crate::support::{Db, LEASE, Say, ada, assistant, both_engines, finish, frame, step};

both_engines! {
    a_known_message_is_answered_again
    answering_an_older_message_drops_what_came_after
    an_edit_takes_the_place_of_a_message
    an_edit_of_a_running_turn_stops_it
    a_waiting_run_of_a_replaced_turn_ends
    a_new_message_may_interrupt
    a_run_nobody_reads_gives_way_to_the_next_message
    a_next_message_that_was_quicker_than_the_closed_socket
    a_waiting_run_nobody_reads_gives_way_too
    an_edited_message_can_come_back
}

async fn turn(db: &Db, number: usize) {
    let who = ada();
    db.say(&who, "t", &format!("r{number}"), &format!("m{number}")).await;
    db.answer(&db.claim_one().await, &format!("a{number}")).await;
}

async fn a_known_message_is_answered_again(db: Db) {
    let who = ada();
    turn(&db, 1).await;
    db.say(&who, "t", "again", "m1").await;
    assert_eq!(db.count("messages").await, 2);
    let lease = db.claim_one().await;
    assert_eq!(db.history(&lease).await, ["m1"]);
    db.answer(&lease, "b1").await;
    assert_eq!(db.shown(&who, "t").await, ["m1", "b1"]);
    assert_eq!(db.count("messages").await, 3);
}

async fn answering_an_older_message_drops_what_came_after(db: Db) {
    let who = ada();
    for number in 1..=3 {
        turn(&db, number).await;
    }
    db.say(&who, "t", "again", "m2").await;
    let lease = db.claim_one().await;
    assert_eq!(db.history(&lease).await, ["m1", "a1", "m2"]);
    assert_eq!(db.shown(&who, "t").await, ["m1", "a1", "m2"]);
    db.answer(&lease, "b2").await;
    assert_eq!(db.shown(&who, "t").await, ["m1", "a1", "m2", "b2"]);
    turn(&db, 4).await;
    assert_eq!(db.shown(&who, "t").await, ["m1", "a1", "m2", "b2", "m4", "a4"]);
    assert_eq!(db.count("messages").await, 9);
}

async fn an_edit_takes_the_place_of_a_message(db: Db) {
    let who = ada();
    for number in 1..=3 {
        turn(&db, number).await;
    }
    db.fresh(Say { replaces: Some("m2"), ..Say::new(&who, "t", "edit", "m2 edited") }).await;
    let lease = db.claim_one().await;
    assert_eq!(db.history(&lease).await, ["m1", "a1", "m2 edited"]);
    db.answer(&lease, "b2").await;
    assert_eq!(db.shown(&who, "t").await, ["m1", "a1", "m2 edited", "b2"]);
    assert_eq!(db.count("messages").await, 8);
}

async fn an_edit_of_a_running_turn_stops_it(db: Db) {
    let who = ada();
    turn(&db, 1).await;
    let old = db.say(&who, "t", "r2", "m2").await;
    let lease = db.claim_one().await;
    db.store.commit_step(&lease, &step(1, vec![assistant("a2")], frame(1, 1))).await.unwrap();
    let new = db.fresh(Say { replaces: Some("m2"), ..Say::new(&who, "t", "edit", "m2 edited") }).await;
    assert_eq!(db.store.run_by_key(&old.key).await.unwrap().unwrap().cancel, Some(CancelReason::Replaced));
    // It still sees its own turn, and nobody sees what it writes.
    assert_eq!(db.history(&lease).await, ["m1", "a1", "m2", "a2"]);
    assert_eq!(db.store.hydrate(&who, &new.thread_id, None, None).await.unwrap().active_run, Some(new.id.clone()));
    assert!(db.claim(10).await.is_empty());
    let last = step(2, vec![assistant("late")], frame(2, 2));
    db.store.finish(&lease, &finish(RunStatus::Cancelled, last)).await.unwrap();
    let lease = db.claim_one().await;
    assert_eq!(lease.run, new.key);
    assert_eq!(db.history(&lease).await, ["m1", "a1", "m2 edited"]);
    db.answer(&lease, "b2").await;
    assert_eq!(db.shown(&who, "t").await, ["m1", "a1", "m2 edited", "b2"]);
}

async fn a_waiting_run_of_a_replaced_turn_ends(db: Db) {
    let who = ada();
    let first = db.say(&who, "t", "r1", "m1").await;
    let second = db.say(&who, "t", "r2", "m2").await;
    let again = db.say(&who, "t", "again", "m1").await;
    assert_eq!((db.status(&first).await, db.status(&second).await), (RunStatus::Cancelled, RunStatus::Cancelled));
    assert_eq!(db.standing(&second).await.len(), 1);
    assert_eq!(db.claim_one().await.run, again.key);
    assert_eq!(db.shown(&who, "t").await, ["m1"]);
}

async fn a_new_message_may_interrupt(db: Db) {
    let who = ada();
    let running = db.say(&who, "t", "r1", "m1").await;
    let lease = db.claim_one().await;
    let waiting = db.say(&who, "t", "r2", "m2").await;
    let new = db.fresh(Say { when_busy: WhenBusy::Interrupt, ..Say::new(&who, "t", "r3", "m3") }).await;
    assert_eq!(db.status(&waiting).await, RunStatus::Cancelled);
    let beat = db.store.renew(std::slice::from_ref(&lease), LEASE).await.unwrap().remove(0);
    assert_eq!(beat.cancel, Some(CancelReason::Replaced));
    // What was cut stays, unlike what was edited.
    let partial = step(1, vec![assistant("partial")], frame(1, 1));
    db.store.finish(&lease, &finish(RunStatus::Cancelled, partial)).await.unwrap();
    assert_eq!(db.status(&running).await, RunStatus::Cancelled);
    let lease = db.claim_one().await;
    assert_eq!(lease.run, new.key);
    assert_eq!(db.history(&lease).await, ["m1", "partial", "m2", "m3"]);
}

async fn a_run_nobody_reads_gives_way_to_the_next_message(db: Db) {
    let who = ada();
    let left = db.say(&who, "t", "r1", "m1").await;
    let lease = db.claim_one().await;
    db.store.unattend(&left.key).await.unwrap();
    assert_eq!(db.store.run_by_key(&left.key).await.unwrap().unwrap().cancel, None);
    db.say(&who, "t", "r2", "m2").await;
    assert_eq!(db.store.run_by_key(&left.key).await.unwrap().unwrap().cancel, Some(CancelReason::Replaced));
    db.answer(&lease, "a1").await;
    assert_eq!(db.history(&db.claim_one().await).await, ["m1", "a1", "m2"]);
}

/// The next message may be stored before the closed socket is noticed.
async fn a_next_message_that_was_quicker_than_the_closed_socket(db: Db) {
    let who = ada();
    let left = db.say(&who, "t", "r1", "m1").await;
    db.claim_one().await;
    db.say(&who, "t", "r2", "m2").await;
    assert_eq!(db.store.run_by_key(&left.key).await.unwrap().unwrap().cancel, None);
    db.store.unattend(&left.key).await.unwrap();
    assert_eq!(db.store.run_by_key(&left.key).await.unwrap().unwrap().cancel, Some(CancelReason::Replaced));
}

/// Also one that has not begun: whoever sent it stopped it, and its words are read with the next message.
async fn a_waiting_run_nobody_reads_gives_way_too(db: Db) {
    let who = ada();
    db.say(&who, "t", "r1", "m1").await;
    let lease = db.claim_one().await;
    let left = db.say(&who, "t", "r2", "m2").await;
    db.store.unattend(&left.key).await.unwrap();
    assert_eq!(db.status(&left).await, RunStatus::Queued);
    let quick = db.say(&who, "t", "r3", "m3").await;
    assert_eq!(db.status(&left).await, RunStatus::Cancelled);
    db.say(&who, "t", "r4", "m4").await;
    db.store.unattend(&quick.key).await.unwrap();
    assert_eq!(db.status(&quick).await, RunStatus::Cancelled);
    db.answer(&lease, "a1").await;
    assert_eq!(db.history(&db.claim_one().await).await, ["m1", "a1", "m2", "m3", "m4"]);
}

async fn an_edited_message_can_come_back(db: Db) {
    let who = ada();
    turn(&db, 1).await;
    db.fresh(Say { replaces: Some("m1"), ..Say::new(&who, "t", "edit", "m1 edited") }).await;
    db.answer(&db.claim_one().await, "b1").await;
    assert_eq!(db.shown(&who, "t").await, ["m1 edited", "b1"]);
    db.say(&who, "t", "back", "m1").await;
    let lease = db.claim_one().await;
    assert_eq!(db.history(&lease).await, ["m1"]);
    db.answer(&lease, "c1").await;
    assert_eq!(db.shown(&who, "t").await, ["m1", "c1"]);
    // The same edit once more, under another run id.
    db.fresh(Say { replaces: Some("m1"), ..Say::new(&who, "t", "edit again", "m1 edited") }).await;
    assert_eq!(db.history(&db.claim_one().await).await, ["m1 edited"]);
}
