//! A run changes hands while it is read.

use domain::{Bookmark, Event, Message, MessageId, Offset, RunStatus, ToolCallId};
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
    let bridge: Vec<Bookmark> = sent.iter().map(Sent::mark).filter(|mark| mark.bridged > 0).collect();
    let mark = |bridged| Bookmark { offset: Offset { attempt: 1, seq: 5 }, bridged, ..Bookmark::default() };
    assert_eq!(bridge, [mark(1), mark(2)]);

    // Who comes later sees only what stands; who resumes within what does not is led over.
    let later = desk.follow(&run, From::Start).rest().await;
    assert_eq!(told(&later), "started < one > < again > finished");
    let resumed = desk.follow(&run, From::After(Offset { attempt: 1, seq: 5 }.into())).rest().await;
    assert_eq!(told(&resumed), "> superseded [\"lost\"] < again > finished");
    let resumed = desk.follow(&run, From::After(Offset { attempt: 1, seq: 1 }.into())).rest().await;
    assert_eq!(told(&resumed), "one > < again > finished");
    let resumed = desk.follow(&run, From::After(Offset { attempt: 2, seq: 0 }.into())).rest().await;
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

fn call_start(id: &str, message: &str) -> Event {
    Event::ToolCallStart {
        tool_call_id: ToolCallId::parse(id).unwrap(),
        tool_call_name: "clock".into(),
        parent_message_id: Some(MessageId::parse(message).unwrap()),
    }
}

/// A reader whose socket is cut after any event, in the bridge too, comes back to another process and misses nothing;
/// even if the run changes hands again meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn a_reader_comes_back_to_any_place_of_a_bridge() {
    let desk = Desk::new().await;
    let run = desk.submit("t", "r").await;
    let mut reading = desk.follow(&run, From::Start);
    let first = desk.claim_elsewhere().await.lease;
    let opened = [text_start("a"), text("a", "one"), text_end("a"), call_start("call_1", "a"), call_start("call_2", "a")];
    desk.store().append_frames(&first, &batch(1, &opened)).await.unwrap();
    let mut sent = reading.until(|event| *event == opened[4]).await;
    desk.lose_elsewhere().await;
    let second = desk.claim_elsewhere().await.lease;
    sent.extend(reading.until(|event| matches!(event, Event::Custom { name, .. } if name == "frontdesk.superseded")).await);
    let bridge = sent.len() - 3..sent.len();
    assert!(sent[bridge.clone()].iter().all(|sent| sent.mark().offset == Offset { attempt: 1, seq: 5 }), "{sent:?}");

    // What was told of the second attempt does not stand either.
    desk.store().append_frames(&second, &batch(1, &[text_start("b")])).await.unwrap();
    sent.extend(reading.until(|event| *event == text_start("b")).await);
    desk.lose_elsewhere().await;
    let third = desk.claim_elsewhere().await.lease;
    let frames = batch(1, &[text_start("c"), text("c", "again"), text_end("c"), finished(&run)]);
    let step = StepCommit { step: 1, messages: vec![row("c")], calls: Vec::new(), frames };
    let finish = Finish { status: RunStatus::Completed, error: None, model: None, step, interrupts: Vec::new() };
    desk.store().finish(&third, &finish).await.unwrap();
    sent.extend(reading.rest().await);
    sent.retain(|sent| !told(std::slice::from_ref(sent)).starts_with("queued"));
    assert_whole(&sent);
    assert_eq!(told(&sent), "started < one > superseded [\"a\"] < > superseded [\"b\"] < again > finished");

    let another = desk.another().await;
    for cut in 1..sent.len() {
        let rest = another.follow(&run, From::After(sent[cut - 1].mark())).rest().await;
        if (bridge.start..=bridge.end).contains(&cut) {
            // Of the second attempt, which it was sent nothing of, nothing has to be taken back.
            let expected: Vec<_> = sent[cut..bridge.end].iter().chain(&sent[bridge.end + 3..]).collect();
            assert_eq!(rest.iter().collect::<Vec<_>>(), expected, "after {:?}", sent[cut - 1]);
        }
        let joined: Vec<_> = sent[..cut].iter().chain(&rest).cloned().collect();
        assert_whole(&joined);
        assert!(told(&joined).ends_with("< again > finished"), "{}", told(&joined));
    }
}

/// The process dies with all it showed; what its reader has open is known from the reader alone.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_never_stored_is_ended_for_a_reader_that_comes_back() {
    let mut desk = Desk::new().await;
    let run = desk.submit("t", "r").await;
    let mut reading = desk.follow(&run, From::Start);
    let working = desk.work();
    let call = desk.call().await;
    call.say(Say::Text("half"));
    let mut sent = reading.until(is_text).await;
    assert!(desk.store().frames(&run.key, Offset::START, false, 1 << 20).await.unwrap().is_empty(), "stored within a second");
    let another = desk.another().await;
    another.store().shift_clock(16_000);
    another.lose_lease_of_others().await;
    let second = another.claim_elsewhere().await.lease;
    let frames = batch(1, &[text_start("new"), text("new", "again"), text_end("new"), finished(&run)]);
    let step = StepCommit { step: 1, messages: vec![row("new")], calls: Vec::new(), frames };
    let finish = Finish { status: RunStatus::Completed, error: None, model: None, step, interrupts: Vec::new() };
    another.store().finish(&second, &finish).await.unwrap();

    for cut in 1..=sent.len() {
        let rest = another.follow(&run, From::After(sent[cut - 1].mark())).rest().await;
        let joined: Vec<_> = sent[..cut].iter().chain(&rest).cloned().collect();
        assert_whole(&joined);
        assert!(told(&rest).ends_with("< again > finished"), "{}", told(&rest));
    }
    sent.extend(another.follow(&run, From::After(sent.last().unwrap().mark())).rest().await);
    assert_whole(&sent);
    let id = format!("msg_{}_1_1", run.key);
    assert_eq!(told(&sent), format!("started < half > superseded [\"{id}\"] < again > finished"));
    drop(reading);
    working.stop().await;
}
