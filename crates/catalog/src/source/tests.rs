#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicUsize, Ordering};

use domain::{ChannelName, OrgId, RunId, ThreadId, UserId};
use serde_json::json;
use storage::{Durability, Store, StoreOptions};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{CallBounds, Catalog, Tools};

struct Fixed;

impl domain::Clock for Fixed {
    fn now_ms(&self) -> i64 {
        0
    }
}

/// What a source does with the calls it gets.
#[derive(Clone, Copy, PartialEq)]
enum Mood {
    Answers,
    HangsOnce,
    NeverLists,
    PanicsListing,
}

/// Says which source and tool was called, by the source's own name for it.
struct Elsewhere {
    name: &'static str,
    tools: Arc<[SourceTool]>,
    mood: Mood,
    calls: AtomicUsize,
}

fn tool(name: &str) -> SourceTool {
    SourceTool {
        name: name.to_owned(),
        title: name.to_owned(),
        description: "from elsewhere".to_owned(),
        input: json!({"type": "object"}),
        output: None,
        category: Category::parse("elsewhere").unwrap(),
        effect: Effect::Read,
    }
}

fn source(name: &'static str, mood: Mood, tools: &[&str]) -> Elsewhere {
    Elsewhere { name, tools: tools.iter().map(|name| tool(name)).collect(), mood, calls: AtomicUsize::new(0) }
}

#[async_trait]
impl ToolSource for Elsewhere {
    fn name(&self) -> &str {
        self.name
    }

    async fn tools(&self, _principal: &Principal) -> Arc<[SourceTool]> {
        match self.mood {
            Mood::NeverLists => std::future::pending().await,
            Mood::PanicsListing => panic!("as asked"),
            Mood::Answers | Mood::HangsOnce => self.tools.clone(),
        }
    }

    async fn call(&self, _ctx: &CallContext, tool: &str, _args: Args) -> Result<Output, ToolError> {
        if self.calls.fetch_add(1, Ordering::SeqCst) == 0 && self.mood == Mood::HangsOnce {
            std::future::pending::<()>().await;
        }
        Ok(Output(json!({ "source": self.name, "tool": tool })))
    }
}

struct Bench {
    ctx: CallContext,
    _dir: tempfile::TempDir,
}

impl Bench {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", dir.path().join("t.db").display());
        let options = StoreOptions { url, durability: Durability::Normal, connections: 0, application: None };
        let store = Store::open(options).await.unwrap();
        let (org, user) = (OrgId::parse("acme").unwrap(), UserId::parse("ada").unwrap());
        store.add_organization(&org).await.unwrap();
        store.add_user(&org, &user, None).await.unwrap();
        let ctx = CallContext {
            principal: Principal::new(org, user, ChannelName::parse("web").unwrap()),
            store: store.into(),
            clock: Arc::new(Fixed),
            thread: ThreadId::parse("t").unwrap(),
            run: RunId::parse("r").unwrap(),
            cancel: CancellationToken::new(),
        };
        Self { ctx, _dir: dir }
    }

    async fn mount(&self, catalog: &Catalog) -> Tools {
        catalog.mount(&self.ctx.principal).await
    }

    async fn call(&self, tools: &Tools, name: &str) -> (String, bool) {
        let entry = tools.get(&ToolName::parse(name).unwrap()).unwrap_or_else(|| panic!("no {name} in {tools:?}"));
        let bounds = CallBounds { timeout: Duration::from_millis(50), result_bytes: 500 };
        let result = entry.call(&self.ctx, "{}", bounds).await;
        (result.content, result.error)
    }
}

#[tokio::test]
async fn the_same_long_and_dotted_names_of_two_sources_work() {
    let bench = Bench::new().await;
    let long = "l".repeat(120);
    let names = ["search", "search.all", "search/all", "été", &long];
    let catalog = Catalog::builder()
        .source(source("one", Mood::Answers, &names))
        .source(source("two", Mood::Answers, &names))
        .build()
        .unwrap();
    let tools = bench.mount(&catalog).await;
    assert_eq!(tools.len(), 2 * names.len());
    for source in ["one", "two"] {
        for name in names {
            let (content, error) = bench.call(&tools, &format!("{source}__{name}")).await;
            let content: Value = serde_json::from_str(&content).unwrap();
            assert_eq!((content, error), (json!({"source": source, "tool": name}), false));
        }
    }
    let for_model: std::collections::BTreeSet<String> =
        tools.iter().map(|entry| entry.contract.name.for_model().into_owned()).collect();
    assert_eq!(for_model.len(), tools.len(), "{for_model:?}");
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    assert!(for_model.iter().all(|name| (1..=64).contains(&name.len()) && name.chars().all(fits)), "{for_model:?}");
}

#[tokio::test]
async fn a_call_that_hangs_costs_one_error_and_not_its_source() {
    let bench = Bench::new().await;
    let catalog = Catalog::builder().source(source("slow", Mood::HangsOnce, &["a", "b"])).build().unwrap();
    let tools = bench.mount(&catalog).await;
    let (content, error) = bench.call(&tools, "slow__a").await;
    assert!(error && content.contains("did not answer"), "{content}");
    for name in ["slow__a", "slow__b"] {
        assert!(!bench.call(&bench.mount(&catalog).await, name).await.1, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_source_that_does_not_say_what_it_has_holds_up_nobody() {
    // Time stands still: the store, which needs it, is not asked.
    let principal =
        Principal::new(OrgId::parse("acme").unwrap(), UserId::parse("ada").unwrap(), ChannelName::parse("web").unwrap());
    let catalog = Catalog::builder()
        .source(source("never", Mood::NeverLists, &["a"]))
        .source(source("panics", Mood::PanicsListing, &["a"]))
        .source(source("well", Mood::Answers, &["a"]))
        .build()
        .unwrap();
    let names: Vec<_> = catalog.mount(&principal).await.iter().map(|entry| entry.contract.name.to_string()).collect();
    assert_eq!(names, ["well__a"]);
}

#[tokio::test]
async fn what_cannot_be_used_is_left_out_and_of_two_of_a_name_the_first_stays() {
    let bench = Bench::new().await;
    let mut elsewhere = source("s", Mood::Answers, &["good", "bad\nname", "no_object", "remote", "good"]);
    let tools = Arc::get_mut(&mut elsewhere.tools).unwrap();
    tools[2].input = json!({"type": "string"});
    tools[3].input = json!({"type": "object", "$ref": "https://example.com/x"});
    tools[4].effect = Effect::Irreversible;
    let catalog = Catalog::builder().source(elsewhere).build().unwrap();
    let seen: Vec<_> =
        bench.mount(&catalog).await.iter().map(|entry| (entry.contract.name.to_string(), entry.contract.effect)).collect();
    assert_eq!(seen, [("s__good".to_owned(), Effect::Read)]);
    assert!(catalog.may_be_a_sources(&ToolName::parse("s__anything").unwrap()));
    for name in ["s__", "s", "t__x", "s_x"] {
        assert!(!catalog.may_be_a_sources(&ToolName::parse(name).unwrap()), "{name}");
    }
}
