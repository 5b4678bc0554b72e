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
    for name in ["anthropic", "gemini", "openai-responses"] {
        let refused = endpoint(config(name, "", "k")).err().unwrap();
        assert_eq!(refused, ConfigError::Unspoken { provider: name.into() });
        assert!(endpoint(config(name, "http://h/v1", "k")).is_ok());
    }
}

#[test]
fn an_effort_goes_only_where_it_is_taken() {
    let effort = |provider: &str, name: &str, reasoning| {
        let config = Config { name: Some(name.into()), reasoning, ..config(provider, "http://h", "k") };
        endpoint(config).unwrap().unwrap().effort
    };
    assert!(effort("openai", "gpt-5-mini", None));
    assert!(effort("openai", "o4-mini", None));
    assert!(!effort("openai", "gpt-4.1", None));
    assert!(!effort("openai", "gpt-5-chat-latest", None));
    assert!(!effort("openai", "o5", Some(false)));
    assert!(!effort("openrouter", "o4-mini", None));
    assert!(effort("local", "qwen3", Some(true)));
}
