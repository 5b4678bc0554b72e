//! A real server that speaks three of the wires, where one is at hand: `FRONTDESK_TEST_LLAMA` names its address.

use std::time::Duration;

use domain::FinishReason;
use egress::{Client, Reach};
use models::{Api, Config, build};

use crate::support::ask;

const PATIENCE: Duration = Duration::from_secs(120);

#[tokio::test]
#[allow(clippy::print_stdout, reason = "says that it was skipped")]
async fn a_real_server_answers_on_every_wire_it_speaks() {
    let Ok(address) = std::env::var("FRONTDESK_TEST_LLAMA") else {
        println!("skipped: FRONTDESK_TEST_LLAMA names no server");
        return;
    };
    for api in [Api::Chat, Api::Responses, Api::Anthropic] {
        let config = Config {
            base_url: Some(format!("{}/v1", address.trim_end_matches('/'))),
            name: Some("local".to_owned()),
            api: Some(api),
            idle_timeout: PATIENCE,
            ..Config::default()
        };
        let model = build(config, Client::new(Reach::Anywhere)).unwrap().unwrap();
        let seen = ask(&*model, PATIENCE).await;
        assert!(!seen.text.is_empty(), "{api:?}: {seen:?}");
        assert!(matches!(seen.end, Ok((FinishReason::Stop | FinishReason::Length, 0))), "{api:?}: {seen:?}");
        assert!(seen.tokens.is_some_and(|tokens| tokens > 0), "{api:?}: it counted its tokens: {seen:?}");
    }
}
