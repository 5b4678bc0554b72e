//! What does not start, and the exit code it says so with.

use crate::desk::Desk;

#[test]
fn usage_and_help() {
    let desk = Desk::new();
    for (arguments, code) in [
        (&["--help"][..], 0),
        (&["--version"], 0),
        (&["run", "--help"], 0),
        (&[], 2),
        (&["srve"], 2),
        (&["serve", "--nope"], 2),
        (&["token", "--sub", "a"], 2),
        (&["org", "add", ""], 2),
        (&["run", "  "], 2),
        (&["run", "hi", "--server", "ftp://x"], 2),
        (&["run", "hi", "--server", "http://x", "--user", "ada"], 2),
        (&["bus", "dead", "--limit", "0"], 2),
    ] {
        let ran = desk.run(arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?} {ran:?}");
        assert_eq!(ran.out.is_empty(), code != 0, "{arguments:?} {ran:?}");
    }
    assert!(!desk.path("frontdesk.db").exists());
}

#[test]
fn a_broken_configuration_lists_all_its_faults() {
    let desk = Desk::new()
        .write("frontdesk.toml", "[server]\nlistne = \"127.0.0.1:0\"\n[bus]\nurl = \"nats://x\"\n")
        .with("FRONTDESK__WORKER__CONCURENCY", "3");
    for arguments in [&["serve"][..], &["migrate"], &["run", "hi"]] {
        let ran = desk.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
        assert_eq!(
            ran.err,
            "frontdesk.toml:2:1: unknown-key: there is no setting server.listne; did you mean \"listen\"?\n\
             frontdesk.toml:4:1: not-available: bus.url is not available in this version; remove it\n\
             FRONTDESK__WORKER__CONCURENCY: unknown-key: there is no setting worker.concurency; did you mean \
             \"FRONTDESK__WORKER__CONCURRENCY\"?\n"
        );
    }
}

#[test]
fn demo_mode_listens_on_loopback_only() {
    let ran = Desk::new().run(&["serve", "--listen", "0.0.0.0:0"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.starts_with("--listen: demo-exposed: auth.mode is demo"), "{ran:?}");
}

#[test]
fn the_product_holds_no_test_model() {
    let desk = Desk::new().with("AI_TEST_PROVIDER", "true");
    for arguments in [&["serve", "--listen", "127.0.0.1:0"][..], &["worker"], &["run", "hi"]] {
        let ran = desk.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
        assert!(ran.err.starts_with("frontdesk: AI_TEST_PROVIDER=true asks for the scripted test model"), "{ran:?}");
    }
}

#[test]
fn a_store_that_cannot_be_opened_is_said() {
    let desk = Desk::new().with("FRONTDESK__STORE__URL", "sqlite:no/such/folder/desk.db");
    let ran = desk.run(&["migrate"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran:?}");
    assert!(ran.err.starts_with("frontdesk: failed to open the database"), "{ran:?}");

    let desk = Desk::new().with("FRONTDESK__STORE__URL", "postgres://ann:s3cret@127.0.0.1:1/desk");
    let ran = desk.run(&["migrate"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran:?}");
    assert!(ran.err.starts_with("frontdesk: ") && !ran.err.contains("s3cret"), "{ran:?}");
}

#[test]
fn run_without_a_model_is_refused() {
    let ran = Desk::new().run(&["run", "hello"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{ran:?}");
    assert!(ran.err.starts_with("frontdesk: model-unconfigured: "), "{ran:?}");
    let ran = Desk::new().with("AI_PROVIDER", "openai").run(&["run", "hello"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.err.starts_with("AI_PROVIDER: missing-key: "), "{ran:?}");
    assert!(ran.err.contains("\nfrontdesk: model-unconfigured: "), "{ran:?}");
}

#[test]
fn a_prompt_from_standard_input_is_bounded() {
    let desk = Desk::new().with("FRONTDESK__LIMITS__INPUT_BYTES", "10");
    let ran = desk.run_with_input(&["run", "-"], &[b'a'; 100_000]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{ran:?}");
    assert_eq!(ran.err, "frontdesk: input-too-large: standard input has more than 10 bytes; shorten it\n");
    assert_eq!(desk.run_with_input(&["run", "-"], b"\xff").code, Some(2));
    assert_eq!(desk.run_with_input(&["run", "-"], b" \n").code, Some(2));
}

#[test]
fn a_server_that_is_not_there_is_said() {
    let ran = Desk::new().run(&["run", "hi", "--server", "http://127.0.0.1:1"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran:?}");
    assert_eq!(ran.err, "frontdesk: cannot ask the server: 127.0.0.1:1 refused the connection\n");
}
