//! A folder with a store, and the binary run in it with nothing else in its environment.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

pub(crate) struct Desk {
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), variables: Vec::new() }
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn write(self, name: &str, text: &str) -> Self {
        std::fs::write(self.path(name), text).unwrap();
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_frontdesk"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .env("HOME", self.folder.path())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        finish(self.start(arguments))
    }

    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).spawn().unwrap()
    }

    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        // The program may have had enough before the end.
        let _ = child.stdin.take().unwrap().write_all(input);
        finish(child)
    }

    /// Starts a server on a port of the system's choice and reads its first line.
    pub(crate) fn serve(&self, listen: &str) -> Serving {
        let mut child = self.command(&["serve", "--listen", listen]).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        Serving { child: Some(child), out, line }
    }
}

pub(crate) fn finish(child: Child) -> Ran {
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

pub(crate) struct Serving {
    child: Option<Child>,
    out: BufReader<std::process::ChildStdout>,
    pub(crate) line: String,
}

impl Serving {
    pub(crate) fn address(&self) -> SocketAddr {
        self.line.trim_end().strip_prefix("frontdesk listening on http://").unwrap().parse().unwrap()
    }

    /// Status line and body of a request without a body.
    pub(crate) fn request(&self, method: &str, path: &str) -> (String, String) {
        self.request_with(method, path, "")
    }

    /// The same with more header lines, each ended by CRLF.
    pub(crate) fn request_with(&self, method: &str, path: &str, headers: &str) -> (String, String) {
        let address = self.address();
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let end = "Content-Length: 0\r\nConnection: close\r\n\r\n";
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: {address}\r\n{headers}{end}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.lines().next().unwrap().to_owned(), body.to_owned())
    }

    /// Sends a signal by its name and waits for the end; the rest of standard output comes with it.
    pub(crate) fn stop(mut self, signal: &str) -> Ran {
        let child = self.child.take().unwrap();
        let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        let ran = finish(child);
        Ran { out: rest, ..ran }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
