//! `serve` from its first line to its end.

use crate::desk::Desk;

#[test]
fn serve_prints_one_line_and_stops_when_told() {
    for (listen, signal) in [("127.0.0.1:0", "TERM"), ("[::1]:0", "INT")] {
        let desk = Desk::new();
        let serving = desk.serve(listen);
        assert!(serving.line.ends_with('\n'));
        assert_eq!(serving.address().ip().to_string(), listen.trim_end_matches(":0").trim_matches(['[', ']']));
        let (status, body) = serving.request("GET", "/healthz");
        assert_eq!((status.as_str(), body.trim()), ("HTTP/1.1 200 OK", "ok"));
        let ran = serving.stop(signal);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{ran:?}");
        assert!(ran.err.contains("no model is configured"), "{ran:?}");
        assert!(ran.err.contains("frontdesk token --sub local --org local"), "{ran:?}");
    }
}

#[test]
fn known_settings_without_effect_warn() {
    let desk = Desk::new().write("frontdesk.toml", "features.assistant = true\n");
    let serving = desk.serve("127.0.0.1:0");
    let ran = serving.stop("TERM");
    assert_eq!(ran.code, Some(0));
    assert!(
        ran.err.starts_with("frontdesk.toml:1:10: not-available: features.assistant has no effect in this version\n"),
        "{ran:?}"
    );
}

#[test]
fn a_server_refuses_run_with_its_own_words() {
    let desk = Desk::new();
    let serving = desk.serve("127.0.0.1:0");
    let url = format!("http://{}", serving.address());
    let ran = desk.run(&["run", "hi", "--server", &url]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{ran:?}");
    assert!(ran.err.starts_with("frontdesk: unauthenticated: ") && ran.err.contains("set FRONTDESK_TOKEN"), "{ran:?}");

    let token = desk.run(&["token", "--sub", "local", "--org", "local"]).out;
    let desk = desk.with("FRONTDESK_TOKEN", token.trim());
    let ran = desk.run(&["run", "hi", "--server", &url]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{ran:?}");
    assert!(ran.err.starts_with("frontdesk: model-unconfigured: "), "{ran:?}");
}

#[test]
fn a_port_in_use_is_said() {
    let desk = Desk::new();
    let serving = desk.serve("127.0.0.1:0");
    let address = serving.address().to_string();
    let ran = desk.run(&["serve", "--listen", &address]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran:?}");
    assert!(ran.err.contains(&format!("cannot listen on {address}: ")), "{ran:?}");
}
