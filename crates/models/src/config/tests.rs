use super::*;

fn config(provider: &str, base_url: &str, key: &str) -> Config {
    let set = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Config { provider: set(provider), base_url: set(base_url), api_key: set(key).map(Secret::from), ..Config::default() }
}

#[test]
fn an_address_takes_any_form_of_its_end() {
    for base in ["http://h:1/v1", "http://h:1/v1/", "http://h:1/v1//", "http://h:1/v1/chat/completions", " http://h:1/v1 "] {
        let endpoint = endpoint(config("", base, "")).unwrap().unwrap();
        assert_eq!(endpoint.url.as_str(), "http://h:1/v1/chat/completions", "{base}");
        assert_eq!(endpoint.model, ModelRef { provider: "openai-compatible".into(), name: "default".into() });
    }
    assert_eq!(endpoint(config("", "http://h", "")).unwrap().unwrap().url.as_str(), "http://h/chat/completions");
    for bad in ["h:1/v1", "ftp://h/v1", "file:///v1", "http://u:p@h/v1", "http://h/v1?key=1", "nonsense"] {
        assert!(matches!(endpoint(config("", bad, "")), Err(ConfigError::BaseUrl(_))), "{bad}");
    }
}

#[test]
fn no_name_is_no_model_and_a_wrong_one_says_what_to_do() {
    assert!(endpoint(Config::default()).unwrap().is_none());
    assert!(endpoint(config("", "", "sk-1")).unwrap().is_none());
    let variable = "MISTRAL_API_KEY";
    assert_eq!(
        endpoint(config("mistral", "", " ")).err(),
        Some(ConfigError::MissingKey { provider: "mistral".into(), variable })
    );
    assert!(endpoint(config("OpenAI", "", "sk-1\n")).unwrap().unwrap().model.provider == "openai");
    assert_eq!(endpoint(config("openai", "", "sk\n1")).err(), Some(ConfigError::Key));
    assert!(endpoint(config("ollama", "", "")).is_ok());
    assert!(endpoint(config("openai", "http://127.0.0.1:1", "")).is_ok());
    assert!(matches!(endpoint(config("together", "", "k")).err(), Some(ConfigError::MissingName { .. })));
    let unknown = endpoint(config("nobody", "", "k")).err().unwrap().to_string();
    assert!(unknown.contains("nobody") && unknown.contains("model.base_url") && unknown.contains("openai, mistral"), "{unknown}");
}

#[test]
fn a_provider_is_asked_in_its_own_way() {
    let asked = |provider: &str, base: &str, api: Option<Api>| {
        let endpoint = endpoint(Config { api, ..config(provider, base, "k") }).unwrap().unwrap();
        (endpoint.model.provider.clone(), endpoint.api, endpoint.url.to_string())
    };
    let check = |provider: &str, base: &str, api: Option<Api>, expected: (&str, Api, &str)| {
        let (name, api, url) = asked(provider, base, api);
        assert_eq!((name.as_str(), api, url.as_str()), expected);
    };
    check("openai", "", None, ("openai", Api::Chat, "https://api.openai.com/v1/chat/completions"));
    check("openai", "", Some(Api::Responses), ("openai", Api::Responses, "https://api.openai.com/v1/responses"));
    check("anthropic", "", None, ("anthropic", Api::Anthropic, "https://api.anthropic.com/v1/messages"));
    check("anthropic", "http://h", None, ("anthropic", Api::Anthropic, "http://h/v1/messages"));
    check("anthropic", "http://h/v1/messages/", None, ("anthropic", Api::Anthropic, "http://h/v1/messages"));
    check("", "http://h/v1", Some(Api::Anthropic), ("openai-compatible", Api::Anthropic, "http://h/v1/messages"));
    check("", "http://h/v1", None, ("openai-compatible", Api::Chat, "http://h/v1/chat/completions"));
    let gemini = "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse";
    check("Google", "", None, ("gemini", Api::Gemini, gemini));
    check(
        "gemini",
        "http://h",
        None,
        ("gemini", Api::Gemini, &gemini.replace("https://generativelanguage.googleapis.com", "http://h")),
    );
}

#[test]
fn models_stand_behind_the_first() {
    let behind = |fallbacks: &[&str]| {
        let fallbacks = fallbacks.iter().map(|text| Fallback::parse(text).unwrap()).collect();
        build(Config { fallbacks, ..config("local", "http://h/v1", "k") }, Client::new(egress::Reach::Anywhere))
    };
    assert!(behind(&["local/big", "ollama/llama3.2", "local/a/b"]).is_ok());
    let missing = behind(&["anthropic/claude-haiku-4-5"]).err().unwrap().to_string();
    assert!(missing.contains("\"anthropic/claude-haiku-4-5\"") && missing.contains("ANTHROPIC_API_KEY"), "{missing}");
    assert_eq!(behind(&["ollama/x"; MAX_FALLBACKS + 1]).err(), Some(ConfigError::TooManyFallbacks));
    for bad in ["", "name", "/name", "provider/", " / "] {
        assert!(Fallback::parse(bad).is_none(), "{bad}");
    }
    let config = Config { api: Some(Api::Anthropic), ..config("local", "http://h/v1", "k") };
    let first = endpoint(config.clone()).unwrap().unwrap();
    let of = |text: &str| endpoint(behind_of(&config, &first, text)).unwrap().unwrap();
    let same = of("local/big");
    assert_eq!((same.url.as_str(), same.key.is_some(), same.model.name.as_str()), ("http://h/v1/messages", true, "big"));
    let other = of("ollama/llama3.2");
    assert_eq!((other.url.as_str(), other.key), ("http://127.0.0.1:11434/v1/chat/completions", None));
}

fn behind_of(config: &Config, first: &Endpoint, text: &str) -> Config {
    behind(config, first, &Fallback::parse(text).unwrap())
}

#[test]
fn an_effort_goes_only_where_it_is_taken() {
    let effort = |provider: &str, name: &str, reasoning| {
        let config = Config { name: Some(name.into()), reasoning, ..config(provider, "http://h", "k") };
        endpoint(config).unwrap().unwrap().thinking != Thinking::Unsaid
    };
    assert!(effort("openai", "gpt-5-mini", None));
    assert!(effort("openai", "o4-mini", None));
    assert!(!effort("openai", "gpt-4.1", None));
    assert!(!effort("openai", "gpt-5-chat-latest", None));
    assert!(!effort("openai", "o5", Some(false)));
    assert!(!effort("openrouter", "o4-mini", None));
    assert!(effort("local", "qwen3", Some(true)));
}
