//! Asking, and what came of it.

use std::{sync::Arc, time::Duration};

use domain::{
    ChatEvent, ChatMessage, ChatModel, ChatRequest, Effort, FinishReason, ModelError, OrgId, Part, RunId, RunIdentity, RunKey,
    Secret, ThreadId, ToolChoice, UserId,
};
use egress::{Client, Reach};
use futures::StreamExt;
use models::{Api, Config, build};
use tokio_util::sync::CancellationToken;

pub(crate) const KEY: &str = "sk-very-secret-42";
pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) fn config(base: &str, api: Api) -> Config {
    Config {
        base_url: Some(base.to_owned()),
        name: Some("m".to_owned()),
        api_key: Some(Secret::new(KEY)),
        api: Some(api),
        idle_timeout: LONG,
        ..Config::default()
    }
}

pub(crate) fn model(config: Config) -> Arc<dyn ChatModel> {
    build(config, Client::new(Reach::Anywhere)).unwrap().unwrap()
}

pub(crate) fn request(timeout: Duration) -> ChatRequest {
    ChatRequest {
        identity: RunIdentity {
            org: OrgId::parse("acme").unwrap(),
            user: UserId::parse("ada").unwrap(),
            thread: ThreadId::parse("t").unwrap(),
            run: RunId::parse("r").unwrap(),
            key: RunKey::parse("k").unwrap(),
            attempt: 1,
            step: 1,
            parent_run: None,
            resume: Vec::new(),
            state: None,
        },
        system: "Be kind.".into(),
        messages: vec![ChatMessage::User { parts: vec![Part::Text { text: "hi".into() }] }],
        tools: Vec::new(),
        tool_choice: ToolChoice::Auto,
        max_output_tokens: 64,
        effort: Effort::Medium,
        timeout,
    }
}

/// What an answer came to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    pub(crate) text: String,
    pub(crate) reasoning: String,
    pub(crate) calls: Vec<(String, String)>,
    pub(crate) sealed: bool,
    /// Tokens of the answer, if they were counted.
    pub(crate) tokens: Option<u64>,
    /// Who said it last that it answers.
    pub(crate) model: Option<String>,
    /// What was tried before, by model.
    pub(crate) failed: Vec<(String, ModelError)>,
    pub(crate) end: Result<(FinishReason, u32), ModelError>,
}

/// Asks and listens to the one end. Whatever goes wrong, neither key nor body is in the words about it.
pub(crate) async fn ask(model: &dyn ChatModel, timeout: Duration) -> Seen {
    ask_this(model, request(timeout)).await
}

pub(crate) async fn ask_this(model: &dyn ChatModel, request: ChatRequest) -> Seen {
    let mut seen = Seen {
        text: String::new(),
        reasoning: String::new(),
        calls: Vec::new(),
        sealed: false,
        tokens: None,
        model: None,
        failed: Vec::new(),
        end: Err(ModelError::Cut),
    };
    let mut ended = false;
    match model.stream(CancellationToken::new(), request).await {
        Err(error) => seen.end = Err(error),
        Ok(mut events) => {
            while let Some(event) = events.next().await {
                assert!(!ended, "{event:?} after the end");
                match event {
                    Ok(ChatEvent::Text(text)) => seen.text.push_str(&text),
                    Ok(ChatEvent::Reasoning(text)) => seen.reasoning.push_str(&text),
                    Ok(ChatEvent::ReasoningSignature(_)) => seen.sealed = true,
                    Ok(ChatEvent::Model(model)) => seen.model = Some(model.name),
                    Ok(ChatEvent::Failed { model, error, .. }) => seen.failed.push((model.name, error)),
                    Ok(ChatEvent::ToolCall { index, name }) => {
                        assert_eq!(index, seen.calls.len(), "our indexes have no gaps");
                        seen.calls.push((name, String::new()));
                    }
                    Ok(ChatEvent::ToolArguments { index, delta }) => seen.calls[index].1.push_str(&delta),
                    Ok(ChatEvent::Done { finish, usage, retries }) => {
                        seen.tokens = usage.output_tokens;
                        (seen.end, ended) = (Ok((finish, retries)), true);
                    }
                    Err(error) => (seen.end, ended) = (Err(error), true),
                }
            }
            assert!(ended, "a stream without an end");
        }
    }
    let words = format!("{:?} {:?}", seen.failed, seen.end);
    assert!(!words.contains(KEY) && !words.contains("leak"), "{words}");
    seen
}
