//! A run changes hands while it is read.

use domain::{Message, MessageId, Offset, RunStatus};
use orchestrator::From;
use storage::{Finish, StepCommit};

use crate::support::*;

fn row(id: &str) -> Message {
    Message::Assistant {
        id: MessageId::parse(id).unwrap(),
        text: "whole".into(),
        reasoning: None,
        tool_calls: Vec::new(),
        partial: false,
    }
}

/// Another process commits a step, begins the next one and dies; a third one answers.
#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_stand_is_taken_back() {
    let desk = Desk::new().await;
    let run = desk.submit("t", "r").await;
    let mut reading = desk.follow(&run, From::Start);

    let first = desk.claim_elsewhere().await.lease;
    let frames = batch(1, &[text_start("kept"), text("kept", "one"), text_end("kept")]);
    let step = StepCommit { step: 1, messages: vec![row("kept")], calls: Vec::new(), frames };
    desk.store().commit_step(&first, &step).await.unwrap();
    desk.store().append_frames(&first, &batch(4, &[text_start("lost"), text("lost", "half")])).await.unwrap();
    let mut sent = reading.until(|event| *event == text("lost", "half")).await;

    desk.lose_elsewhere().await;
    let second = desk.claim_elsewhere().await.lease;
    desk.store().append_frames(&second, &batch(1, &[text_start("new"), text("new", "again")])).await.unwrap();
    sent.extend(reading.until(|event| *event == text("new", "again")).await);
    let frames = batch(3, &[text_end("new"), finished(&run)]);
    let step = StepCommit { step: 2, messages: vec![row("new")], calls: Vec::new(), frames };
    let finish = Finish { status: RunStatus::Completed, error: None, model: None, step, interrupts: Vec::new() };
    desk.store().finish(&second, &finish).await.unwrap();
    sent.extend(reading.rest().await);

    sent.retain(|sent| !told(std::slice::from_ref(sent)).starts_with("queued"));
    assert_whole(&sent);
    assert_eq!(told(&sent), "started < one > < half > superseded [\"lost\"] < again > finished");
    let bridge: Vec<Offset> = sent.iter().map(|sent| sent.offset).filter(|offset| offset.seq == 0).collect();
    assert_eq!(bridge, [Offset::START, Offset { attempt: 2, seq: 0 }, Offset { attempt: 2, seq: 0 }]);

    // Who comes later sees only what stands; who resumes within what does not is led over.
    let later = desk.follow(&run, From::Start).rest().await;
    assert_eq!(told(&later), "started < one > < again > finished");
    let resumed = desk.follow(&run, From::After(Offset { attempt: 1, seq: 5 })).rest().await;
    assert_eq!(told(&resumed), "> superseded [\"lost\"] < again > finished");
    let resumed = desk.follow(&run, From::After(Offset { attempt: 1, seq: 1 })).rest().await;
    assert_eq!(told(&resumed), "one > < again > finished");
    let resumed = desk.follow(&run, From::After(Offset { attempt: 2, seq: 0 })).rest().await;
    assert_eq!(told(&resumed), "< again > finished");
}

/// The first worker is told by the database that it lost the run: nothing of it is kept, its readers are led over.
#[tokio::test(flavor = "multi_thread")]
async fn a_fenced_worker_ends_nothing_and_its_readers_go_on_elsewhere() {
    let mut desk = Desk::new().await;
    let run = desk.submit("t", "r").await;
    let mut reading = desk.follow(&run, From::Start);
    let working = desk.work();
    let call = desk.call().await;
    call.say(Say::Text("half"));
    let mut sent = reading.until(is_text).await;

    let another = desk.another().await;
    another.store().shift_clock(16_000);
    another.lose_lease_of_others().await;
    // Whichever of the two takes it now: there is one more attempt, and one stream.
    call.answer("never kept");
    let other = another.claim_or_none().await;
    match other {
        Some(claimed) => {
            let frames = batch(1, &[text_start("new"), text("new", "again"), text_end("new"), finished(&run)]);
            let step = StepCommit { step: 1, messages: vec![row("new")], calls: Vec::new(), frames };
            let finish = Finish { status: RunStatus::Completed, error: None, model: None, step, interrupts: Vec::new() };
            another.store().finish(&claimed.lease, &finish).await.unwrap();
        }
        None => desk.call().await.answer("again"),
    }
    sent.extend(reading.rest().await);
    assert_whole(&sent);
    assert!(told(&sent).starts_with("started < half"), "{}", told(&sent));
    assert!(told(&sent).ends_with("] < again > finished"), "{}", told(&sent));
    working.stop().await;
}
