//! `auth.jwks` from outside: an issuer on loopback, tokens that openssl signed.

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::JoinHandle,
};

use crate::desk::{Desk, Serving};

const JWKS: &str = include_str!("../../../server/tests/keys/jwks.json");
const TOKENS: [&str; 3] = [
    include_str!("../../../server/tests/keys/rs256.jwt"),
    include_str!("../../../server/tests/keys/es256.jwt"),
    include_str!("../../../server/tests/keys/eddsa.jwt"),
];
/// `{"alg":"RS256","kid":"other"}`
const OTHER: &str = "eyJhbGciOiJSUzI1NiIsImtpZCI6Im90aGVyIn0";

/// Answers each connection with what it is told to, and counts.
struct Issuer {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    /// Status line and further header lines, and the body.
    answer: Mutex<(String, String)>,
    asked: AtomicUsize,
    is_over: AtomicBool,
}

impl Issuer {
    fn new(head: &str, body: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let answer = Mutex::new((head.to_owned(), body.to_owned()));
        let shared = Arc::new(Shared { answer, asked: AtomicUsize::new(0), is_over: AtomicBool::new(false) });
        let thread = std::thread::spawn({
            let shared = shared.clone();
            move || {
                for stream in listener.incoming() {
                    if shared.is_over.load(Ordering::SeqCst) {
                        return;
                    }
                    // A client that went away is no fault of the test's issuer.
                    let _ = shared.answer(stream.unwrap());
                }
            }
        });
        Self { address, shared, thread: Some(thread) }
    }

    fn answers(&self, head: &str, body: &str) {
        *self.shared.answer.lock().unwrap() = (head.to_owned(), body.to_owned());
    }

    fn asked(&self) -> usize {
        self.shared.asked.load(Ordering::SeqCst)
    }

    fn desk(&self) -> Desk {
        Desk::new()
            .with("FRONTDESK__AUTH__JWKS", &format!("http://{}/keys", self.address))
            .with("FRONTDESK__AUTH__MEMBERSHIPS", "claims")
    }
}

impl Shared {
    fn answer(&self, stream: TcpStream) -> std::io::Result<()> {
        let mut lines = BufReader::new(&stream).lines();
        let first = lines.next().transpose()?.unwrap_or_default();
        while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
        assert_eq!(first, "GET /keys HTTP/1.1");
        self.asked.fetch_add(1, Ordering::SeqCst);
        let (head, body) = self.answer.lock().unwrap().clone();
        let length = body.len();
        write!(&stream, "HTTP/1.1 {head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
    }
}

impl Drop for Issuer {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The status that a request with this token gets; 404 is what a member is told of a run that is not there.
fn status(serving: &Serving, token: &str) -> String {
    let headers = format!("Authorization: Bearer {}\r\n", token.trim());
    serving.request_with("GET", "/v1/runs/r1", &headers).0.split(' ').nth(1).unwrap().to_owned()
}

fn unknown() -> String {
    format!("{OTHER}.{}", TOKENS[0].split_once('.').unwrap().1)
}

#[test]
fn an_issuer_is_asked_once_and_once_more_for_an_unknown_key() {
    let issuer = Issuer::new("200 OK", JWKS);
    let desk = issuer.desk();
    let serving = desk.serve("127.0.0.1:0");
    assert_eq!(issuer.asked(), 1);
    for token in TOKENS {
        assert_eq!(status(&serving, token), "404");
    }
    assert_eq!(issuer.asked(), 1);
    for _ in 0..5 {
        assert_eq!(status(&serving, &unknown()), "401");
    }
    assert_eq!(issuer.asked(), 2);
    assert_eq!(status(&serving, TOKENS[0]), "404");
    let ran = serving.stop("TERM");
    assert!(ran.err.contains("FRONTDESK_TOKEN=TOKEN "), "{ran:?}");
}

#[test]
fn a_new_key_is_found() {
    let issuer = Issuer::new("200 OK", "{\"keys\": []}");
    let desk = issuer.desk();
    let serving = desk.serve("127.0.0.1:0");
    issuer.answers("200 OK", JWKS);
    assert_eq!(status(&serving, TOKENS[0]), "404");
    assert_eq!(issuer.asked(), 2);
    assert_eq!(status(&serving, &unknown()), "401");
    assert_eq!(issuer.asked(), 2);
}

#[test]
fn an_issuer_that_is_not_there_at_the_start_is_asked_again() {
    for (head, body, said) in [
        ("500 Oops", JWKS.to_owned(), "it answered 500, not 200"),
        // Followed, it would be asked again.
        ("302 Found\r\nlocation: /keys", JWKS.to_owned(), "it answered 302, not 200"),
        ("200 OK", "<html>".to_owned(), "it is not a JSON Web Key Set"),
        ("200 OK", " ".repeat(1024 * 1024 + 1), "the response is larger than 1048576 bytes"),
    ] {
        let issuer = Issuer::new(head, &body);
        let desk = issuer.desk();
        let serving = desk.serve("127.0.0.1:0");
        assert_eq!(issuer.asked(), 1, "{head}");
        issuer.answers("200 OK", JWKS);
        assert_eq!(status(&serving, TOKENS[1]), "404", "{head}");
        assert_eq!(issuer.asked(), 2, "{head}");
        let ran = serving.stop("TERM");
        assert!(ran.err.contains("cannot read the keys of auth.jwks") && ran.err.contains(said), "{ran:?}");
    }
}

#[test]
fn without_keys_a_token_is_not_called_wrong() {
    let issuer = Issuer::new("500 Oops", "");
    let desk = issuer.desk();
    let serving = desk.serve("127.0.0.1:0");
    for _ in 0..2 {
        let headers = format!("Authorization: Bearer {}\r\n", TOKENS[0].trim());
        let (status, body) = serving.request_with("GET", "/v1/runs/r1", &headers);
        assert!(status.contains("503") && body.contains("the keys to check tokens with cannot be read"), "{status} {body}");
    }
    assert_eq!(issuer.asked(), 2);
}

#[test]
fn a_file_of_keys_is_read_at_the_start_or_nothing_starts() {
    let desk = Desk::new().write("frontdesk.toml", "[auth]\njwks = \"keys.json\"\nmemberships = \"claims\"\n");
    for text in [None, Some("<html>"), Some("{\"keys\": []}")] {
        if let Some(text) = text {
            std::fs::write(desk.path("keys.json"), text).unwrap();
        }
        let ran = desk.run(&["serve", "--listen", "127.0.0.1:0"]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
        assert!(ran.err.contains("frontdesk: cannot read the keys of auth.jwks, ") && ran.err.contains("keys.json: "), "{ran:?}");
    }
    let desk = desk.write("keys.json", JWKS);
    let serving = desk.serve("127.0.0.1:0");
    for token in TOKENS {
        assert_eq!(status(&serving, token), "404");
    }
    assert_eq!(status(&serving, &unknown()), "401");
}

#[test]
fn only_the_issuer_signs() {
    let desk = Desk::new().write("frontdesk.toml", "auth.jwks = \"keys.json\"\n");
    let ran = desk.run(&["token", "--sub", "ada", "--org", "acme"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert_eq!(ran.err, "frontdesk: with auth.jwks only the issuer of those keys makes tokens; ask it for one\n");
    assert!(!desk.path("frontdesk.db").exists());
}
