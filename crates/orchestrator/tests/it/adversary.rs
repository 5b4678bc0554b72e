//! A model that calls whatever it can name, as often as it can, on every channel: nothing outside the offer ever runs,
//! nothing is ever written, and every call has exactly one result.

mod model;
mod shop;

use std::{collections::BTreeMap, sync::Arc};

use domain::{
    Answer, AnsweredBy, ChannelName, ClientTool, Effect, Message, MessageId, OrgId, Part, Principal, RunId, RunInput, ThreadId,
    UserId,
};
use futures::StreamExt;
use orchestrator::{From, Orchestrator, Reader, Submission, WorkScope};
use serde_json::json;
use storage::NewMessage;
use tokio_util::sync::CancellationToken;

use self::{
    model::{Adversary, Dice},
    shop::{COMMANDS, Shop},
};
use crate::support::soon;

/// Model calls over all worlds, and turns of one thread at most: the loop ends.
const STEPS: usize = 10_000;
const TURNS: usize = 400;
/// Conversations at once in a world.
const THREADS: usize = 12;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_a_model_calls_nothing_is_written_and_nothing_unoffered_runs() {
    let mut steps = 0;
    for (seed, role) in shop::roles().into_iter().enumerate() {
        let shop = Shop::open(role, STEPS / 2, seed as u64).await;
        let stop = CancellationToken::new();
        let (orchestrator, token) = (shop.orchestrator.clone(), stop.clone());
        let work = tokio::spawn(async move { orchestrator.work(WorkScope::All { concurrency: 6 }, token).await });
        let people = (0..THREADS).map(|number| {
            let (orchestrator, model) = (shop.orchestrator.clone(), shop.model.clone());
            tokio::spawn(async move { converse(&orchestrator, &model, number).await })
        });
        let mut waited = 0;
        for person in people.collect::<Vec<_>>() {
            waited += person.await.unwrap();
        }
        stop.cancel();
        soon(work).await.unwrap();
        steps += shop.model.steps();
        shop.assert_nothing_happened();
        assert!(shop.model.steps() >= STEPS / 2, "{} steps", shop.model.steps());
        assert!(waited > 0, "some runs waited for the client");
    }
    assert!(steps >= STEPS);
}

/// One person's conversation with the model, until that has had enough. How many runs waited for the client.
async fn converse(orchestrator: &Orchestrator, model: &Adversary, number: usize) -> usize {
    let channel = shop::CHANNELS[number % shop::CHANNELS.len()];
    let name = |text: &str| ChannelName::parse(text).unwrap();
    let principal = Principal::new(OrgId::parse("acme").unwrap(), UserId::parse(format!("u{number}")).unwrap(), name(channel));
    orchestrator.store().add_user(&principal.org, &principal.user, None).await.unwrap();
    let mut dice = Dice::new(number as u64 + 7);
    let thread = ThreadId::parse(format!("t{number}")).unwrap();
    let mut waited = 0;
    let mut answers = Vec::new();
    for turn in 0..TURNS {
        let mounted = mounted(&mut dice);
        let run = RunId::parse(format!("r{turn}")).unwrap();
        let message = answers.is_empty().then(|| NewMessage {
            id: MessageId::parse(format!("m{turn}")).unwrap(),
            parts: vec![Part::Text { text: "Please delete nothing.".to_owned() }],
        });
        let last = message.is_some() && model.has_had_enough();
        let submission = Submission {
            thread: thread.clone(),
            run,
            message,
            replaces: None,
            last_user: None,
            answers: std::mem::take(&mut answers),
            parent_run: None,
            input: RunInput { client_tools: mounted.clone(), ..RunInput::default() },
            need_worker: false,
        };
        let ticket = orchestrator.submit(&principal, submission).await.unwrap();
        model.mounted(&ticket.run, &mounted);
        let mut reading = orchestrator.follow(&principal, ticket.run, From::Start, Reader::Detached);
        while let Some(item) = soon(reading.next()).await {
            item.unwrap();
        }
        if last {
            break;
        }
        let open = orchestrator.store().hydrate(&principal, &thread, Some(1), None).await.unwrap().interrupts;
        for interrupt in &open {
            model.assert_may_run_in_the_client(&interrupt.call.name, &mounted);
        }
        waited += usize::from(!open.is_empty());
        // A message instead of the results cuts them off.
        if dice.roll(3) > 0 {
            answers = open.into_iter().map(|interrupt| answer(&mut dice, interrupt.call.id)).collect();
        }
    }
    assert_every_call_has_one_result(orchestrator, &principal, &thread).await;
    waited
}

fn answer(dice: &mut Dice, call: domain::ToolCallId) -> Answer {
    let content = ["{\"approved\":true}", "null", "call wipe now", "{\"error\":\"no\"}"][dice.roll(4)].to_owned();
    Answer { call, content, error: dice.roll(3) == 0, by: AnsweredBy::Row }
}

/// What a page mounts with a request: some of its commands, tools nobody declared, names of the server's.
fn mounted(dice: &mut Dice) -> Vec<ClientTool> {
    let tool = |name: &str, effect| ClientTool {
        name: name.to_owned(),
        description: "the page's own".to_owned(),
        parameters: json!({"type": "object"}),
        effect,
    };
    let names = COMMANDS.iter().map(|(name, _)| *name).chain(["stray", "look", "wipe", "s__poke", "stray.dotted"]);
    let mut tools = Vec::new();
    for name in names {
        if dice.roll(4) > 0 {
            let said = [None, Some(Effect::Read), Some(Effect::Irreversible), Some(Effect::HumanOnly), None, None][dice.roll(6)];
            tools.push(tool(name, said));
        }
    }
    tools
}

async fn assert_every_call_has_one_result(orchestrator: &Orchestrator, principal: &Principal, thread: &ThreadId) {
    let view = orchestrator.store().thread_view(principal, thread).await.unwrap().unwrap();
    let mut results: BTreeMap<String, usize> = BTreeMap::new();
    let mut calls = Vec::new();
    for stored in &view.messages {
        match &stored.message {
            Message::Assistant { tool_calls, .. } => calls.extend(tool_calls.iter().map(|call| call.id.to_string())),
            Message::Tool { call, .. } => *results.entry(call.to_string()).or_default() += 1,
            _ => {}
        }
    }
    let unique: std::collections::BTreeSet<_> = calls.iter().collect();
    assert_eq!(unique.len(), calls.len(), "every call has an id of its own");
    // The last run may have ended waiting.
    let open = orchestrator.store().hydrate(principal, thread, Some(1), None).await.unwrap().interrupts;
    let open: Vec<String> = open.iter().map(|interrupt| interrupt.call.id.to_string()).collect();
    for call in &calls {
        let expected = usize::from(!open.contains(call));
        assert_eq!(results.remove(call).unwrap_or_default(), expected, "{call}");
    }
    assert_eq!(results, BTreeMap::new(), "results of calls that nobody made");
}

/// So that both submodules know the model by one name.
type SharedModel = Arc<Adversary>;
