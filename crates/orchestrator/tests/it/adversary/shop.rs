//! What there is to call: reads, writes, another's tools, a channel's own, commands. Everything counts its calls.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use catalog::{
    ApprovedCall, Args, CallContext, Catalog, Command, Commands, Output, Read, Scope, SourceTool, Surface, ToolError, ToolSource,
    Tools, Verdict, Write,
};
use domain::{Category, ChannelName, Clock, Contract, Effect, Effort, Ids, Limits, Principal, RoleName, ToolName};
use orchestrator::{Asks, ChannelDefinition, Channels, InProcess, Orchestrator, Parts, RoleDefinition, Roster, Settings};
use serde_json::{Value, json};
use storage::{Durability, Store, StoreOptions, Tx};

use super::{SharedModel, model::Adversary, model::Run};

/// One that asks people in a page, one in a terminal, one that cannot ask and has a tool of its own.
pub const CHANNELS: [&str; 3] = ["web", "cli", "quiet"];

/// All that has a name here.
pub const NAMES: [&str; 14] = [
    "look", "peer", "secret", "wipe", "burn", "swear", "s__peek", "s__poke", "s__nuke", "s__a.b/c", "s__a_b_c", "handoff", "go",
    "erase",
];

/// The manifest.
pub const COMMANDS: [(&str, Effect); 4] =
    [("go", Effect::Gesture), ("flip", Effect::Reversible), ("erase", Effect::Irreversible), ("sign", Effect::HumanOnly)];

/// Who ran what.
#[derive(Default)]
pub struct Ledger {
    ran: Mutex<Vec<(Run, ToolName)>>,
    written: AtomicUsize,
}

impl Ledger {
    fn ran(&self, ctx: &CallContext, name: &ToolName) {
        self.ran.lock().unwrap().push(((ctx.principal.user.clone(), ctx.run.clone()), name.clone()));
    }
}

fn name(text: &str) -> ToolName {
    ToolName::parse(text).unwrap()
}

fn category(text: &str) -> Category {
    Category::parse(text).unwrap()
}

fn contract(text: &str, of: &str, effect: Effect) -> Contract {
    Contract {
        name: name(text),
        title: text.to_owned(),
        description: format!("does {text}"),
        input: json!({"type": "object"}),
        output: json!({}),
        category: category(of),
        effect,
    }
}

struct Looks(Contract, Arc<Ledger>);

#[async_trait]
impl Read for Looks {
    fn contract(&self) -> &Contract {
        &self.0
    }

    async fn call(&self, ctx: &CallContext, _args: Args) -> Result<Output, ToolError> {
        self.1.ran(ctx, &self.0.name);
        Ok(Output(json!("seen")))
    }
}

struct Writes(Contract, Arc<Ledger>);

#[async_trait]
impl Write for Writes {
    fn contract(&self) -> &Contract {
        &self.0
    }

    async fn apply(&self, _tx: &mut Tx, _call: &ApprovedCall) -> Result<Output, ToolError> {
        self.1.written.fetch_add(1, Ordering::SeqCst);
        Ok(Output(json!("written")))
    }
}

struct Elsewhere(Arc<[SourceTool]>, Arc<Ledger>);

#[async_trait]
impl ToolSource for Elsewhere {
    fn name(&self) -> &str {
        "s"
    }

    async fn tools(&self, _principal: &Principal) -> Arc<[SourceTool]> {
        self.0.clone()
    }

    async fn call(&self, ctx: &CallContext, tool: &str, _args: Args) -> Result<Output, ToolError> {
        self.1.ran(ctx, &name(&format!("s__{tool}")));
        let effect = self.0.iter().find(|known| known.name == tool).map(|known| known.effect);
        if effect != Some(Effect::Read) {
            self.1.written.fetch_add(1, Ordering::SeqCst);
        }
        Ok(Output(Value::Null))
    }
}

fn elsewhere(ledger: &Arc<Ledger>) -> Elsewhere {
    let tools = [
        ("peek", Effect::Read),
        ("poke", Effect::Reversible),
        ("nuke", Effect::Irreversible),
        ("a.b/c", Effect::Read),
        ("a_b_c", Effect::HumanOnly),
    ];
    let tool = |(text, effect): (&str, Effect)| SourceTool {
        name: text.to_owned(),
        title: text.to_owned(),
        description: String::new(),
        input: json!({"type": "object"}),
        output: None,
        category: category("elsewhere"),
        effect,
    };
    Elsewhere(tools.into_iter().map(tool).collect(), ledger.clone())
}

/// One that is offered everything and would let it run if rules could, one that may look a little.
pub fn roles() -> [RoleDefinition; 2] {
    let role = |text: &str, scope, policy| RoleDefinition {
        name: RoleName::parse(text).unwrap(),
        title: text.to_owned(),
        instructions: "Help.".to_owned(),
        scope,
        always: Vec::new(),
        policy,
        tier: Effort::Low,
    };
    let all = Scope { effects: Effect::ALL.into(), ..Scope::default() };
    let run = ["wipe", "burn", "swear", "s__poke", "s__nuke", "s__a_b_c", "sign"].map(|text| (name(text), Verdict::Run));
    let few = Scope {
        categories: Some(BTreeSet::from([category("garden"), category("elsewhere"), category("page")])),
        effects: BTreeSet::from([Effect::Read, Effect::Gesture]),
        include: BTreeSet::from([name("erase"), name("wipe")]),
        exclude: BTreeSet::from([name("s__peek")]),
    };
    [role("wide", all, run.into()), role("narrow", few, BTreeMap::new())]
}

pub struct Shop {
    pub orchestrator: Orchestrator,
    pub model: SharedModel,
    ledger: Arc<Ledger>,
    role: RoleDefinition,
    _folder: tempfile::TempDir,
}

impl Shop {
    pub async fn open(role: RoleDefinition, steps: usize, seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("t.db").display());
        let options = StoreOptions { url, durability: Durability::Normal, connections: 0, application: None };
        let store = Store::open(options).await.unwrap();
        let (ledger, model) = (Arc::new(Ledger::default()), Arc::new(Adversary::new(steps, seed)));
        let looks = |text: &str, of: &str| Looks(contract(text, of, Effect::Read), ledger.clone());
        let writes = |text: &str, effect| Writes(contract(text, "garden", effect), ledger.clone());
        let catalog = Catalog::builder()
            .read(looks("look", "garden"))
            .read(looks("peer", "garden"))
            .read(looks("secret", "vault"))
            .write(writes("wipe", Effect::Reversible))
            .write(writes("burn", Effect::Irreversible))
            .write(writes("swear", Effect::HumanOnly))
            .source(elsewhere(&ledger))
            .build()
            .unwrap();
        let handoff: Arc<dyn Read> = Arc::new(Looks(contract("handoff", "garden", Effect::Irreversible), ledger.clone()));
        let quiet = ChannelDefinition {
            asks: Asks::Nobody,
            tools: Tools::of_channel(vec![handoff]).unwrap(),
            ..ChannelDefinition::default()
        };
        let channels = [ChannelDefinition::default(), ChannelDefinition::default(), quiet];
        let channels =
            CHANNELS.iter().zip(channels).map(|(text, channel)| (ChannelName::parse(text).unwrap(), Arc::new(channel)));
        let command = |(text, effect): (&str, Effect)| Command {
            name: name(text),
            category: category("page"),
            effect,
            surface: Surface::Global,
            narration: None,
        };
        let settings = Settings {
            limits: Limits {
                steps: 20,
                deadline_seconds: 600,
                turns_per_minute: 1_000_000,
                runs_per_turn: 1_000,
                // What is sent grows no further; what is stored does.
                history_messages: 30,
                ..Limits::default()
            },
            channels: Channels::Only(channels.collect()),
            commands: Commands::of(COMMANDS.map(command)),
            ..Settings::default()
        };
        let orchestrator = Orchestrator::new(Parts {
            store,
            model: Some(model.clone()),
            catalog: Arc::new(catalog),
            roster: Arc::new(Roster::new(role.clone(), Vec::new(), "test")),
            signals: Arc::new(InProcess::new()),
            ids: Arc::new(Ulids),
            clock: Arc::new(Noon),
            settings,
        });
        Self { orchestrator, model, ledger, role, _folder: folder }
    }

    /// Nothing was written; what ran was offered in that run, and does no harm.
    pub fn assert_nothing_happened(&self) {
        assert_eq!(self.ledger.written.load(Ordering::SeqCst), 0, "writes");
        let ran = self.ledger.ran.lock().unwrap();
        let names: BTreeSet<&str> = ran.iter().map(|(_, name)| name.as_str()).collect();
        for (run, name) in ran.iter() {
            assert!(self.model.was_offered(run, name), "{name} ran in {run:?} and was not offered there");
        }
        // Something did run: the test looks at what it says it looks at.
        let expected = match self.role.name.as_str() {
            "wide" => BTreeSet::from(["look", "peer", "secret", "s__peek", "s__a.b/c", "handoff"]),
            _ => BTreeSet::from(["look", "peer", "s__a.b/c"]),
        };
        assert_eq!(names, expected);
    }
}

struct Ulids;

impl Ids for Ulids {
    fn ulid(&self) -> String {
        ulid::Ulid::new().to_string()
    }
}

struct Noon;

impl Clock for Noon {
    fn now_ms(&self) -> i64 {
        1_796_040_000_000
    }
}
