//! Broken configurations and the exact messages they get; and who wins.

mod tools;

use std::{collections::BTreeMap, path::Path};

use ::server::{AuthMode, KeySource};

use super::*;

struct Case {
    folder: tempfile::TempDir,
    environment: Environment,
    flags: Flags,
}

impl Case {
    /// A working directory with this `frontdesk.toml`.
    fn file(text: &str) -> Self {
        let case = Self::empty();
        case.write("frontdesk.toml", text);
        case
    }

    fn empty() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let directory = folder.path().to_owned();
        let environment = Environment { variables: BTreeMap::new(), home: None, directory };
        Self { folder, environment, flags: Flags::default() }
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).expect("written");
    }

    fn with(mut self, variable: &str, value: &str) -> Self {
        self.environment.variables.insert(variable.to_owned(), value.to_owned());
        self
    }

    fn flag(mut self, flag: &'static str, path: [&'static str; 2], value: &str) -> Self {
        self.flags.settings.push((flag, path, value.to_owned()));
        self
    }

    #[track_caller]
    fn ok(&self) -> Config {
        Config::load(&self.environment, &self.flags).unwrap_or_else(|invalid| panic!("{invalid}"))
    }

    #[track_caller]
    fn errors(&self, expected: &[&str]) {
        match Config::load(&self.environment, &self.flags) {
            Ok(_) => panic!("accepted"),
            Err(invalid) => assert_eq!(invalid.to_string().lines().collect::<Vec<_>>(), expected),
        }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }
}

#[track_caller]
fn check(file: &str, expected: &[&str]) {
    Case::file(file).errors(expected);
}

#[test]
fn nothing_said_gives_the_defaults() {
    let case = Case::empty();
    let config = case.ok();
    assert_eq!(config.server.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(config.store.url, format!("sqlite:{}", case.path("frontdesk.db").display()));
    assert_eq!(config.store.durability, storage::Durability::Full);
    assert_eq!((config.worker.concurrency, config.worker.grace.as_secs()), (64, 25));
    assert_eq!(config.limits, domain::Limits::default());
    assert!(config.auth.is_demo());
    assert_eq!(config.auth.settings.audience, "frontdesk");
    assert_eq!(config.streams.retention.as_secs(), 600);
    assert_eq!(config.warnings, []);
}

#[test]
fn an_unknown_name_is_said_with_the_nearest() {
    check(
        "[server]\nlistne = \"127.0.0.1:0\"\n",
        &["frontdesk.toml:2:1: unknown-key: there is no setting server.listne; did you mean \"listen\"?"],
    );
    check(
        "[servr]\nlisten = \"127.0.0.1:0\"\n",
        &["frontdesk.toml:1:2: unknown-key: there is no section servr; did you mean \"server\"?"],
    );
    check("[store]\nzzz = 1\n", &["frontdesk.toml:2:1: unknown-key: there is no setting store.zzz"]);
    check(
        "worker.concurency = 3",
        &["frontdesk.toml:1:8: unknown-key: there is no setting worker.concurency; did you mean \"concurrency\"?"],
    );
}

#[test]
fn a_wrong_type_or_number_is_said_with_its_place() {
    check(
        "[worker]\n  concurrency = \"many\"\n",
        &["frontdesk.toml:2:17: wrong-type: worker.concurrency must be an integer, not a string"],
    );
    check("[limits]\nsteps = 0", &["frontdesk.toml:2:9: out-of-range: limits.steps must be 1 to 100, not 0"]);
    check("[limits]\nsteps = 1.5", &["frontdesk.toml:2:9: wrong-type: limits.steps must be an integer, not a float"]);
    check("server = 3", &["frontdesk.toml:1:10: wrong-type: server must be a table of settings, not an integer"]);
    check(
        "[store]\ndurability = \"ful\"",
        &[
            "frontdesk.toml:2:14: unknown-value: store.durability must be one of full, normal, not \"ful\"; did you mean \"full\"?",
        ],
    );
    check(
        "[server]\nlisten = \"example.org\"",
        &[
            "frontdesk.toml:2:10: invalid-value: server.listen must be ADDRESS:PORT, such as 127.0.0.1:8080 or [::1]:0, not \"example.org\"",
        ],
    );
    check(
        "[store]\nurl = \"sqlit:a.db\"",
        &[
            "frontdesk.toml:2:7: invalid-value: store.url must be sqlite:PATH or postgres://USER@HOST/DATABASE; did you mean \"sqlite:\"?",
        ],
    );
    check(
        "[auth]\naudience = \"\"",
        &["frontdesk.toml:2:12: out-of-range: auth.audience may not be empty; leave it out instead"],
    );
}

#[test]
fn all_errors_are_said_in_their_order() {
    check(
        "[worker]\nconcurrency = -1\n[unknown]\n[threads]\nwhen_busy = 'que'\nwhen_busy = 'queue'\n",
        &[
            "frontdesk.toml:2:15: out-of-range: worker.concurrency must be 0 to 100000, not -1",
            "frontdesk.toml:3:2: unknown-key: there is no section unknown",
            "frontdesk.toml:5:13: unknown-value: threads.when_busy must be one of queue, reject, interrupt, not \"que\"; did you mean \"queue\"?",
            "frontdesk.toml:6:1: duplicate-key: when_busy is set twice",
        ],
    );
}

#[test]
fn the_web_is_a_channel_with_settings_of_its_own() {
    use domain::ClientToolStyle::{Interrupt, Universal};
    assert_eq!(Case::empty().ok().channels.web.client_tools, Universal);
    assert_eq!(Case::file("[channels.web]\nclient_tools = \"interrupt\"").ok().channels.web.client_tools, Interrupt);
    let variable = Case::empty().with("FRONTDESK__CHANNELS__WEB__CLIENT_TOOLS", "interrupt");
    assert_eq!(variable.ok().channels.web.client_tools, Interrupt);
    check(
        "channels.web.client_tools = \"interupt\"",
        &[
            "frontdesk.toml:1:29: unknown-value: channels.web.client_tools must be one of universal, interrupt, not \"interupt\"; did you mean \"interrupt\"?",
        ],
    );
    check(
        "[channels.web]\nclient_tool = \"interrupt\"",
        &["frontdesk.toml:2:1: unknown-key: there is no setting channels.web.client_tool; did you mean \"client_tools\"?"],
    );
    check("channels = 3", &["frontdesk.toml:1:12: wrong-type: channels must be a table of settings, not an integer"]);
    check("[channels]\nweb = 3", &["frontdesk.toml:2:7: wrong-type: channels.web must be a table of settings, not an integer"]);
    let variable = Case::empty().with("FRONTDESK__CHANNELS__WEB__CLIENT_TOOL", "x");
    variable.errors(&[
        "FRONTDESK__CHANNELS__WEB__CLIENT_TOOL: unknown-key: there is no setting channels.web.client_tool; did you mean \"FRONTDESK__CHANNELS__WEB__CLIENT_TOOLS\"?",
    ]);
}

#[test]
fn a_feature_that_is_not_there_refuses_to_start() {
    check(
        "[bus]\nurl = \"nats://x\"",
        &["frontdesk.toml:2:1: not-available: bus.url is not available in this version; remove it"],
    );
    check(
        "[channels.slack]\ntoken = \"x\"",
        &["frontdesk.toml:1:11: not-available: channels.slack.* is not available in this version; remove it"],
    );
    check(
        "[[mcp.servers]]\nname = \"x\"",
        &["frontdesk.toml:1:7: not-available: mcp.servers is not available in this version; remove it"],
    );
    check(
        "[judge]\nprovider = \"chat\"",
        &["frontdesk.toml:2:12: not-available: there is no judge in this version; judge.provider can only be \"none\""],
    );
    Case::file("[judge]\nprovider = \"none\"").ok();
    Case::empty()
        .with("FRONTDESK__SESSION__URL", "redis://x")
        .errors(&["FRONTDESK__SESSION__URL: not-available: session.url is not available in this version; remove it"]);
}

#[test]
fn features_only_warn() {
    let warnings = |text: &str| Case::file(text).ok().warnings.iter().map(Problem::to_string).collect::<Vec<_>>();
    assert_eq!(
        warnings("[features]\nassistant = true\ngenui = true\n[limits]\nruns_per_turn = 3\n"),
        [
            "frontdesk.toml:2:1: not-available: features.assistant has no effect in this version",
            "frontdesk.toml:3:1: not-available: features.genui has no effect in this version",
        ]
    );
    check(
        "[features]\nasistant = true",
        &["frontdesk.toml:2:1: unknown-key: there is no setting features.asistant; did you mean \"assistant\"?"],
    );
}

#[test]
fn later_layers_win() {
    let case = Case::file(
        "[model]\nprovider = \"mistral\"\n[worker]\nconcurrency = 1\ngrace_seconds = 2\n[server]\nlisten = \"127.0.0.1:1\"\n",
    )
    .with("AI_PROVIDER", "openai")
    .with("AI_MODEL", "small")
    .with("OPENAI_API_KEY", "sk-openai")
    .with("MISTRAL_API_KEY", "sk-mistral")
    .with("FRONTDESK__WORKER__CONCURRENCY", "3")
    .with("FRONTDESK__SERVER__LISTEN", "127.0.0.1:2")
    .flag("--listen", ["server", "listen"], "[::1]:0");
    let config = case.ok();
    let model = &config.model.settings;
    assert_eq!((model.provider.as_deref(), model.name.as_deref()), (Some("mistral"), Some("small")));
    assert_eq!(model.api_key, Some(Secret::new("sk-mistral")));
    assert_eq!((config.worker.concurrency, config.worker.grace.as_secs()), (3, 2));
    assert_eq!(config.server.listen.to_string(), "[::1]:0");

    let config = case.with("FRONTDESK__MODEL__API_KEY", "sk-mine").ok();
    assert_eq!(config.model.settings.api_key, Some(Secret::new("sk-mine")));
}

#[test]
fn the_file_is_found_in_its_four_places() {
    let case = Case::empty();
    std::fs::create_dir_all(case.path("home/.frontdesk")).expect("made");
    std::fs::create_dir_all(case.path("work")).expect("made");
    let mut case = case;
    let at = |case: &Case| case.ok().worker.concurrency;
    case.environment.home = Some(case.path("home"));
    case.environment.directory = case.path("work");
    assert_eq!(at(&case), 64);
    case.write("home/.frontdesk/config.toml", "worker.concurrency = 4");
    assert_eq!(at(&case), 4);
    case.write("work/frontdesk.toml", "worker.concurrency = 3");
    assert_eq!(at(&case), 3);
    case.write("named.toml", "worker.concurrency = 2");
    let mut case = case.with("FRONTDESK_CONFIG", "../named.toml");
    assert_eq!(at(&case), 2);
    case.write("home/flag.toml", "worker.concurrency = 1\nstore.url = \"sqlite:data/x.db\"");
    case.flags.config = Some("~/flag.toml".into());
    assert_eq!(at(&case), 1);
    assert_eq!(case.ok().store.url, format!("sqlite:{}", case.path("home/data/x.db").display()));
    case.flags.config = Some("gone.toml".into());
    case.errors(&["--config: not-found: there is no file gone.toml"]);
}

#[test]
fn a_file_that_cannot_be_read_is_never_passed_over() {
    let case = Case::empty();
    std::os::unix::fs::symlink("gone.toml", case.path("frontdesk.toml")).expect("linked");
    case.errors(&["frontdesk.toml:1:1: unreadable: cannot read the file: No such file or directory (os error 2)"]);
    let case = Case::empty();
    std::fs::create_dir(case.path("frontdesk.toml")).expect("made");
    case.errors(&["frontdesk.toml:1:1: unreadable: cannot read the file: Is a directory (os error 21)"]);
}

#[test]
fn a_named_file_may_be_a_device_but_nothing_endless() {
    let mut case = Case::empty();
    case.flags.config = Some("/dev/null".into());
    assert_eq!(case.ok().worker.concurrency, 64);
    case.flags.config = Some("/dev/zero".into());
    case.errors(&["/dev/zero:1:1: unreadable: cannot read the file: it has more than 1048576 bytes"]);
    Case::empty()
        .with("FRONTDESK__MODEL__API_KEY_FILE", "/dev/zero")
        .errors(&["FRONTDESK__MODEL__API_KEY_FILE: unreadable: cannot read the file it names: it has more than 1048576 bytes"]);
}

#[test]
fn a_variable_has_the_type_of_its_key() {
    let one = |variable: &str, value: &str| Case::empty().with(variable, value);
    one("FRONTDESK__WORKER__CONCURRENCY", "many")
        .errors(&["FRONTDESK__WORKER__CONCURRENCY: wrong-type: worker.concurrency must be an integer"]);
    assert_eq!(one("FRONTDESK__LIMITS__BODY_BYTES", "0x10_000").ok().limits.body_bytes, 65_536);
    one("FRONTDESK__SERVER__LISTN", "127.0.0.1:0").errors(&[
        "FRONTDESK__SERVER__LISTN: unknown-key: there is no setting server.listn; did you mean \"FRONTDESK__SERVER__LISTEN\"?",
    ]);
    one("FRONTDESK__SERVR__LISTEN", "127.0.0.1:0").errors(&[
        "FRONTDESK__SERVR__LISTEN: unknown-key: there is no section servr; did you mean \"FRONTDESK__SERVER__LISTEN\"?",
    ]);
    one("FRONTDESK__WORKER", "3").errors(&["FRONTDESK__WORKER: wrong-type: worker must be a table of settings, not text"]);
    assert_eq!(one("AI_PROVIDER", "").ok().model.settings.provider, None);
    assert_eq!(one("FRONTDESK__SERVER__ALLOWED_HOSTS", "a, b").ok().server.allowed_hosts, ["a", "b"]);
    // Not of ours, and not settings.
    one("FRONTDESK_TOKEN", "x").ok();
}

#[test]
fn a_variable_may_name_a_file() {
    let case = Case::empty().with("FRONTDESK__AUTH__JWT_SECRET_FILE", "key");
    case.errors(&[
        "FRONTDESK__AUTH__JWT_SECRET_FILE: unreadable: cannot read the file it names: No such file or directory (os error 2)",
    ]);
    case.write("key", "0123456789abcdef0123456789abcdef\n");
    let config = case.ok();
    assert!(
        matches!(&config.auth.settings.mode, ::server::AuthMode::Secret(key) if key.expose() == "0123456789abcdef0123456789abcdef")
    );
    assert!(!format!("{config:?}").contains("0123"));
    case.with("FRONTDESK__AUTH__JWT_SECRET", "fedcba9876543210fedcba9876543210")
        .errors(&["FRONTDESK__AUTH__JWT_SECRET_FILE: duplicate-key: auth.jwt_secret is set twice"]);
}

#[test]
fn a_list_is_toml_or_separated_by_commas() {
    let environment = Environment::default();
    let read = |value: Value| {
        let mut problems = Problems::default();
        let mut table = Table::default();
        table.insert(&["list"], &Place::Variable("V".to_owned()), value);
        let list = Reader::new("x", table, &environment, &mut problems).list("list").map(|list| list.value);
        (list, problems.errors.iter().map(Problem::to_string).collect::<Vec<_>>())
    };
    let texts = |items: &[&str]| (Some(items.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>()), Vec::new());
    assert_eq!(read(Value::Raw("a, b".to_owned())), texts(&["a", "b"]));
    assert_eq!(read(Value::Raw("['a, b', \"c\"]".to_owned())), texts(&["a, b", "c"]));
    assert_eq!(read(Value::Raw(String::new())), texts(&[]));
    assert_eq!(
        read(Value::Raw("[1]".to_owned())),
        (None, vec!["V: wrong-type: x.list must be a list of strings, not a list".to_owned()])
    );
}

#[test]
fn auth_needs_exactly_one_key_unless_demo() {
    check(
        "[auth]\nmode = \"jwt\"",
        &["frontdesk.toml:2:8: missing: auth.mode is jwt but there is no key; set auth.jwt_secret or auth.jwks"],
    );
    check(
        "[auth]\njwt_secret = \"short\"",
        &["frontdesk.toml:2:14: out-of-range: auth.jwt_secret must have at least 32 bytes, this one has 5"],
    );
    check(
        "[auth]\njwt_secret = \"0123456789abcdef0123456789abcdef\"\njwks = \"keys.json\"",
        &["frontdesk.toml:2:14: conflict: auth.jwt_secret and auth.jwks cannot both be set; keep one"],
    );
    let config = Case::file("[server]\nlisten = \"0.0.0.0:80\"").ok();
    assert_eq!(
        config.check_listening().expect_err("exposed").to_string(),
        "frontdesk.toml:2:10: demo-exposed: auth.mode is demo, in which everybody may get a token, and 0.0.0.0:80 is not a \
         loopback address; set auth.jwt_secret or auth.jwks, or listen on 127.0.0.1"
    );
    let config = Case::file("server.listen = \"0.0.0.0:80\"\nauth.jwt_secret = \"0123456789abcdef0123456789abcdef\"").ok();
    assert!(config.check_listening().is_ok());
}

#[test]
fn a_key_set_is_a_path_or_a_url_nobody_can_change() {
    let case = Case::file("auth.jwks = \"keys/set.json\"");
    let mode = |case: &Case| case.ok().auth.settings.mode;
    assert!(matches!(mode(&case), AuthMode::Jwks(KeySource::File(path)) if path == case.path("keys/set.json")));
    assert!(!case.ok().auth.is_demo() && !case.ok().auth.can_sign());
    for url in ["https://issuer.example/keys", "http://127.0.0.1:9/keys", "http://[::1]/keys", "http://localhost:9/keys"] {
        let case = Case::file("auth.mode = \"jwt\"").with("FRONTDESK__AUTH__JWKS", url);
        assert!(matches!(mode(&case), AuthMode::Jwks(KeySource::Url(parsed)) if parsed.as_str() == url), "{url}");
    }
    for url in ["http://issuer.example/keys", "ftp://issuer.example/keys", "https://", "http://127.0.0.1.example.com/"] {
        Case::empty().with("FRONTDESK__AUTH__JWKS", url).errors(&[
            "FRONTDESK__AUTH__JWKS: invalid-value: auth.jwks must be a path or an https URL (http only for a loopback address)",
        ]);
    }
    check(
        "[auth]\njwks = \"https://ann:s3cret@issuer.example/keys\"",
        &["frontdesk.toml:2:8: invalid-value: auth.jwks must not hold a user name or password; a key set is public"],
    );
}

#[test]
fn allowed_origins_are_written_as_browsers_send_them() {
    let case = Case::file("[server]\nallowed_origins = [\"https://app.example.com\", \"http://localhost:5173\", \"*\"]");
    assert_eq!(case.ok().server.allowed_origins, ["https://app.example.com", "http://localhost:5173", "*"]);
    assert!(Case::empty().ok().server.allowed_origins.is_empty());
    for (origin, near) in [
        ("https://app.example.com/", Some("https://app.example.com")),
        ("https://App.example.com", Some("https://app.example.com")),
        ("https://app.example.com:443", Some("https://app.example.com")),
        ("https://app.example.com/path", Some("https://app.example.com")),
        ("app.example.com", None),
        ("https://*.example.com", None),
        ("null", None),
        ("ftp://app.example.com", None),
    ] {
        let near = near.map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
        let expected = format!(
            "FRONTDESK__SERVER__ALLOWED_ORIGINS: invalid-value: server.allowed_origins must hold origins such as \
             https://app.example.com, without a path, or \"*\"; not \"{origin}\"{near}"
        );
        Case::empty().with("FRONTDESK__SERVER__ALLOWED_ORIGINS", origin).errors(&[&expected]);
    }
}

#[test]
fn a_database_password_is_never_shown() {
    let config = Case::file("[store]\nurl = \"postgres://ann:s3cret@db.local/desk\"").ok();
    assert_eq!(config.store.url, "postgres://ann:s3cret@db.local/desk");
    assert_eq!(config.store.shown(), "postgres://db.local/desk");
    assert!(!format!("{config:?}").contains("s3cret"));
    let config = Case::file("[store]\nurl = \"postgres://ann:s3cret@db.local:5433/desk?password=s3cret\"").ok();
    assert_eq!(config.store.shown(), "postgres://db.local:5433/desk");
    check(
        "[store]\nurl = \"sqlite://desk.db?mode=rwc\"",
        &["frontdesk.toml:2:7: invalid-value: store.url takes no options after \"?\" with sqlite; name only the file"],
    );
    check(
        "[store]\nurl = \"mysql://ann:s3cret@db\"",
        &["frontdesk.toml:2:7: invalid-value: store.url must be sqlite:PATH or postgres://USER@HOST/DATABASE"],
    );
}

#[test]
fn a_syntax_error_has_its_place() {
    let text = "[server]\nlisten = \n";
    let case = Case::file(text);
    let invalid = Config::load(&case.environment, &case.flags).expect_err("broken").to_string();
    assert!(invalid.starts_with("frontdesk.toml:2:10: syntax: "), "{invalid}");
    assert!(Path::new("frontdesk.toml").is_relative());
}

#[test]
fn a_model_that_cannot_be_asked_is_said_at_the_start() {
    let invalid = |case: Case| Config::load(&case.environment, &case.flags).expect_err("refused").to_string();
    let said = invalid(Case::empty().with("AI_PROVIDER", "opnai"));
    assert!(said.starts_with("AI_PROVIDER: unknown-value: ") && said.ends_with("; did you mean \"openai\"?"), "{said}");
    let said = invalid(Case::file("[model]\nbase_url = \"localhost\""));
    assert!(said.starts_with("frontdesk.toml:2:12: invalid-value: model.base_url "), "{said}");
    let said = invalid(Case::file("[model]\nprovider = \"openai\"\napi = \"messages\""));
    assert!(said.starts_with("frontdesk.toml:3:7: unknown-value: model.api "), "{said}");

    let config = Case::empty().with("AI_PROVIDER", "openai").ok();
    let warnings: Vec<String> = config.warnings.iter().map(Problem::to_string).collect();
    assert_eq!(
        warnings,
        ["AI_PROVIDER: missing-key: model.provider \"openai\" needs a key: set OPENAI_API_KEY or model.api_key"]
    );
    let config = Case::empty().with("FRONTDESK__MODEL__BASE_URL", "http://127.0.0.1:1/v1").with("OPENAI_API_KEY", "sk-x").ok();
    assert_eq!(config.model.settings.api_key, None);
}

#[test]
fn every_provider_named_without_its_key_is_said_to_be() {
    for (provider, variable) in [("anthropic", "ANTHROPIC_API_KEY"), ("google", "GEMINI_API_KEY"), ("mistral", "MISTRAL_API_KEY")]
    {
        let config = Case::empty().with("AI_PROVIDER", provider).ok();
        let warnings: Vec<String> = config.warnings.iter().map(Problem::to_string).collect();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].starts_with("AI_PROVIDER: missing-key: ") && warnings[0].contains(variable), "{warnings:?}");
    }
    let config = Case::empty().with("AI_PROVIDER", "gemini").with("GOOGLE_API_KEY", "sk-g").ok();
    assert_eq!(config.model.settings.api_key, Some(Secret::new("sk-g")));
    assert!(config.warnings.is_empty());
}

#[test]
fn models_behind_the_first_have_their_own_keys() {
    let first = |fallbacks: &str| {
        Case::empty()
            .with("AI_PROVIDER", "openai")
            .with("OPENAI_API_KEY", "sk-o")
            .with("ANTHROPIC_API_KEY", "sk-a")
            .with("FRONTDESK__MODEL__FALLBACKS", fallbacks)
    };
    let config = first("openai/gpt-4.1-nano, anthropic/claude-haiku-4-5,ollama/llama3.2").ok();
    let behind = &config.model.settings.fallbacks;
    let named: Vec<String> = behind.iter().map(|model| format!("{}/{}", model.provider, model.name)).collect();
    assert_eq!(named, ["openai/gpt-4.1-nano", "anthropic/claude-haiku-4-5", "ollama/llama3.2"]);
    assert_eq!(behind[1].api_key, Some(Secret::new("sk-a")));

    let config = first("mistral/small,ollama/llama3.2").ok();
    let warnings: Vec<String> = config.warnings.iter().map(Problem::to_string).collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].starts_with("FRONTDESK__MODEL__FALLBACKS: missing-key: ") && warnings[0].ends_with("; it is left out"));
    assert_eq!(config.model.settings.fallbacks.len(), 1);

    let invalid = |case: Case| Config::load(&case.environment, &case.flags).expect_err("refused").to_string();
    assert!(invalid(first("gpt-4.1")).contains("invalid-value: model.fallbacks must be a list of \"provider/name\""));
    let said = invalid(first("anthropci/claude"));
    assert!(said.contains("unknown-value: ") && said.ends_with("; did you mean \"anthropic\"?"), "{said}");
    let many = ["ollama/x"; models::MAX_FALLBACKS + 1].join(",");
    assert!(invalid(first(&many)).contains("out-of-range: model.fallbacks"));
}
