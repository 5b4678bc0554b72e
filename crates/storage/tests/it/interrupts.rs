//! Answers to what runs ended waiting for.

use domain::{
    Answer, AnsweredBy, ClientToolStyle, InterruptKind, Limits, Message, MessageId, Part, RunId, RunInput, RunStatus, ThreadId,
    ToolCall, ToolCallId,
};
use storage::{Accept, Accepted, Finish, NewInterrupt, NewMessage, StepCommit, WhenBusy};

use crate::support::{Db, ada, assistant, both_engines, finish, id, key};

both_engines! {
    who_answers_an_interrupt_asks_for_nothing_anew
}

fn call() -> ToolCall {
    ToolCall { id: id("call_1"), name: id("get_location"), arguments: "{}".to_owned() }
}

/// Run r1 of message m1 ends waiting for a client's tool.
async fn waits(db: &Db) {
    db.say(&ada(), "t", "r1", "m1").await;
    let lease = db.claim_one().await;
    let Message::Assistant { id, text, .. } = assistant("a1") else { unreachable!("that is what it makes") };
    let row = Message::Assistant { id, text, reasoning: None, tool_calls: vec![call()], partial: false };
    let step = StepCommit { messages: vec![row], ..StepCommit::default() };
    let interrupt = NewInterrupt { kind: InterruptKind::ClientTool, style: ClientToolStyle::Interrupt, call: call() };
    let end = Finish { interrupts: vec![interrupt], ..finish(RunStatus::Interrupted, step) };
    db.store.finish(&lease, &end).await.unwrap();
}

/// A request whose last row is `message`, with a result.
async fn accept(db: &Db, run: &str, message: &str, by: AnsweredBy) -> Accepted {
    let (who, thread, run): (_, ThreadId, RunId) = (ada(), id("t"), id(run));
    let message = NewMessage { id: id::<MessageId>(message), parts: vec![Part::Text { text: "text".to_owned() }] };
    let answer = Answer { call: id::<ToolCallId>("call_1"), content: "{\"lat\":1}".to_owned(), error: false, by };
    let accept = Accept {
        principal: &who,
        thread: &thread,
        run: &run,
        thread_key: key(),
        run_key: key(),
        message: Some(&message),
        replaces: None,
        last_user: None,
        answers: &[answer],
        cut_off: "cut off",
        parent_run: None,
        input: &RunInput::default(),
        limits: &Limits::default(),
        when_busy: WhenBusy::Queue,
        need_worker: false,
    };
    db.store.accept(accept).await.unwrap()
}

async fn who_answers_an_interrupt_asks_for_nothing_anew(db: Db) {
    waits(&db).await;
    let resume = || AnsweredBy::Resume("client_tool_call_1".to_owned());
    assert!(matches!(accept(&db, "r2", "m1", resume()).await, Accepted::Fresh(_)));
    let lease = db.claim_one().await;
    assert_eq!(db.history(&lease).await, ["m1", "a1", "tool_call_1"]);
    db.answer(&lease, "a2").await;
    // Said again it is the same run's, whatever id it comes under; only a row alone asks for a new answer.
    assert!(matches!(accept(&db, "r3", "m1", resume()).await, Accepted::Settled(run) if run.id.as_str() == "r2"));
    assert_eq!(db.shown(&ada(), "t").await, ["m1", "a1", "tool_call_1", "a2"]);
    assert!(matches!(accept(&db, "r4", "m1", AnsweredBy::Row).await, Accepted::Fresh(_)));
    let lease = db.claim_one().await;
    assert_eq!(db.history(&lease).await, ["m1"]);
}
