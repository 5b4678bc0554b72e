//! The model: it calls what it is offered, what it is not, and what there is not.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use domain::{
    ChatEvent, ChatModel, ChatRequest, ChatStream, ClientTool, Effect, FinishReason, ModelError, ModelRef, RunId, TokenUsage,
    ToolChoice, ToolName, UserId,
};
use futures::StreamExt;
use storage::RunRef;
use tokio_util::sync::CancellationToken;

use super::shop::{COMMANDS, NAMES};

/// xorshift64*: the same in every run of the test.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// 0 up to `sides`.
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(high).unwrap_or_default() % sides
    }
}

/// A run as tools see it: whose, and under which id.
pub type Run = (UserId, RunId);

pub struct Adversary {
    dice: Mutex<Dice>,
    steps: AtomicUsize,
    most: usize,
    /// The names that each run was offered.
    offered: Mutex<BTreeMap<Run, BTreeSet<String>>>,
    known: Mutex<BTreeSet<String>>,
}

/// Names nobody has, or that only look like somebody's.
const FORGED: [&str; 14] = [
    "",
    " ",
    "wipe ",
    "WIPE",
    "wipe\n",
    "wipe?approved=true",
    "wipe,look",
    "s__poke\u{200b}",
    "s.poke",
    "../wipe",
    "approval_call_00000000000000000000000001",
    "client_tool_call_00000000000000000000000001",
    "frontdesk.approve",
    "{\"name\":\"wipe\"}",
];

const ARGUMENTS: [&str; 12] = [
    "{}",
    "",
    "null",
    "{\"approved\":true,\"role\":\"admin\",\"effect\":\"read\"}",
    "{",
    "[1]",
    "{\"n\":1e400}",
    "{\"n\":9007199254740993}",
    "\"{}\"",
    "{\"a\":\"\\u0000\"}",
    "{\"callId\":\"call_00000000000000000000000001\",\"organization\":\"other\"}",
    "{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}",
];

impl Adversary {
    pub fn new(most: usize, seed: u64) -> Self {
        Self {
            dice: Mutex::new(Dice::new(seed + 1)),
            steps: AtomicUsize::new(0),
            most,
            offered: Mutex::default(),
            known: Mutex::default(),
        }
    }

    pub fn steps(&self) -> usize {
        self.steps.load(Ordering::SeqCst)
    }

    pub fn has_had_enough(&self) -> bool {
        self.steps() >= self.most
    }

    /// Also calls what pages mount.
    pub fn mounted(&self, _run: &RunRef, tools: &[ClientTool]) {
        self.known.lock().unwrap().extend(tools.iter().map(|tool| tool.name.clone()));
    }

    pub fn was_offered(&self, run: &Run, name: &ToolName) -> bool {
        self.offered.lock().unwrap().get(run).is_some_and(|names| names.contains(&*name.for_model()))
    }

    /// Only a mounted command that does no lasting harm is handed to a page.
    pub fn assert_may_run_in_the_client(&self, name: &ToolName, mounted: &[ClientTool]) {
        let tool = mounted.iter().find(|tool| tool.name == name.as_str()).unwrap_or_else(|| panic!("{name} is not mounted"));
        let declared = COMMANDS.iter().find(|(command, _)| *command == name.as_str());
        let (_, effect) = declared.unwrap_or_else(|| panic!("{name} is not declared"));
        assert!(matches!(effect, Effect::Gesture | Effect::Reversible), "{name}");
        assert!(!matches!(tool.effect, Some(Effect::Irreversible | Effect::HumanOnly)), "{name} said to be more");
    }

    fn answer(&self, request: &ChatRequest) -> Vec<ChatEvent> {
        self.steps.fetch_add(1, Ordering::SeqCst);
        let names: BTreeSet<String> = request.tools.iter().map(|tool| tool.name.to_string()).collect();
        assert_eq!(names.len(), request.tools.len(), "names are unique: {names:?}");
        assert!(names.len() <= 20, "{names:?}");
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        assert!(names.iter().all(|name| (1..=64).contains(&name.len()) && name.chars().all(fits)), "{names:?}");
        assert!(request.tools.is_sorted_by(|a, b| a.name.as_str() < b.name.as_str()), "{names:?}");
        let run = (request.identity.user.clone(), request.identity.run.clone());
        self.offered.lock().unwrap().entry(run).or_insert_with(|| names.clone()).retain(|name| names.contains(name));

        let mut dice = self.dice.lock().unwrap();
        let end = |finish| ChatEvent::Done { finish, usage: TokenUsage::default(), retries: 0 };
        if request.tool_choice == ToolChoice::None || dice.roll(40) == 0 || self.has_had_enough() {
            return vec![ChatEvent::Text("Enough.".to_owned()), end(FinishReason::Stop)];
        }
        let known: Vec<String> = self.known.lock().unwrap().iter().cloned().collect();
        let mut events = Vec::new();
        for index in 0..=dice.roll(4) {
            let name = match dice.roll(12) {
                0..=2 => FORGED[dice.roll(FORGED.len())].to_owned(),
                3..=4 if !names.is_empty() => names.iter().nth(dice.roll(names.len())).cloned().unwrap_or_default(),
                // What a page runs ends the run: seldom.
                5 if dice.roll(4) == 0 && !known.is_empty() => known[dice.roll(known.len())].clone(),
                6 => "w".repeat(dice.roll(300)),
                _ => NAMES[dice.roll(NAMES.len())].to_owned(),
            };
            events.push(ChatEvent::ToolCall { index, name });
            let text = ARGUMENTS[dice.roll(ARGUMENTS.len())];
            events.push(ChatEvent::ToolArguments { index, delta: text.to_owned() });
        }
        events.push(end(FinishReason::ToolCalls));
        events
    }
}

#[async_trait]
impl ChatModel for Adversary {
    fn model(&self) -> ModelRef {
        ModelRef { provider: "test".to_owned(), name: "adversary".to_owned() }
    }

    async fn stream(&self, _cancel: CancellationToken, request: ChatRequest) -> Result<ChatStream, ModelError> {
        let events = self.answer(&request);
        Ok(futures::stream::iter(events.into_iter().map(Ok)).boxed())
    }
}
