//! The scripted provider as a process of its own.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::{
    binary::binary,
    script::Script,
    scripted::{End, last_words, spoken, text},
    wait,
};

/// A running `scripted-provider`; killed when dropped.
pub struct Provider {
    pub port: u16,
    child: Child,
    folder: TempDir,
}

/// One request the provider got.
#[derive(Debug, Clone)]
pub struct Asked {
    /// From 1, in the order of arrival.
    pub n: u64,
    /// Milliseconds since the epoch.
    pub at: u64,
    pub body: Value,
    pub authorized: bool,
    /// How and when it ended; `None`: it is still being answered.
    pub end: Option<(End, u64)>,
}

impl Asked {
    /// What the person said last.
    pub fn user(&self) -> String {
        last_words(self.messages()).map(|(_, words)| words).unwrap_or_default()
    }

    /// Rounds of tool results after it: the ids of the calls of each.
    pub fn rounds(&self) -> Vec<Vec<String>> {
        let last = last_words(self.messages()).map_or(0, |(at, _)| at);
        let calls = self.messages()[last..].iter().filter_map(|message| message["tool_calls"].as_array());
        let id = |call: &Value| call["id"].as_str().unwrap_or_default().to_owned();
        calls.map(|calls| calls.iter().map(id).collect()).collect()
    }

    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// The conversation as `role: text` lines, without system messages, notes and context; calls as `name(arguments)`.
    pub fn transcript(&self) -> Vec<String> {
        let mut out = Vec::new();
        for message in self.messages() {
            let role = message["role"].as_str().unwrap_or_default();
            if matches!(role, "system" | "developer") {
                continue;
            }
            let said = spoken(&text(&message["content"]));
            if !said.is_empty() {
                out.push(format!("{role}: {said}"));
            }
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                let function = &call["function"];
                let name = function["name"].as_str().unwrap_or_default();
                out.push(format!("{role}: {name}({})", function["arguments"].as_str().unwrap_or_default()));
            }
        }
        out
    }

    /// The script this request follows.
    pub fn script(&self) -> Option<Script> {
        Script::parse(&self.user())
    }
}

impl Provider {
    /// # Panics
    /// If the binary is missing or does not come up.
    pub fn start() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut child = Command::new(binary("scripted-provider"))
            .arg("--owned")
            .arg("--record")
            .arg(folder.path().join("record.jsonl"))
            .arg("--control")
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("scripted-provider starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("piped above");
        BufReader::new(stdout).read_line(&mut line).expect("scripted-provider prints its port");
        let port = line.trim().parse().expect("scripted-provider prints its port");
        Self { port, child, folder }
    }

    /// `model.base_url` for it.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// The file every request is recorded in.
    pub fn record(&self) -> PathBuf {
        self.folder.path().join("record.jsonl")
    }

    pub fn records(&self) -> Vec<Asked> {
        read(&self.record())
    }

    /// Requests whose last user message holds `text`.
    pub fn asked(&self, text: &str) -> Vec<Asked> {
        self.records().into_iter().filter(|asked| asked.user().contains(text)).collect()
    }

    /// Lets everything waiting at the gate go on.
    pub fn open(&self, gate: &str) {
        fs::write(self.folder.path().join(gate), "").expect("the control folder is writable");
    }

    /// Waits until an answer has come to the gate.
    pub async fn reached(&self, gate: &str) {
        let file = self.folder.path().join(format!("{gate}.reached"));
        wait::until(&format!("the gate {gate}"), async || file.exists().then_some(())).await;
    }

    /// Forgets that the gate was reached and closes it again.
    pub fn close(&self, gate: &str) {
        for name in [gate.to_owned(), format!("{gate}.reached")] {
            let _ = fs::remove_file(self.folder.path().join(name));
        }
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads a record file; a line being written is left out.
pub fn read(file: &Path) -> Vec<Asked> {
    let mut out: Vec<Asked> = Vec::new();
    let text = fs::read_to_string(file).unwrap_or_default();
    for line in text.lines() {
        let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
        let n = line["n"].as_u64().unwrap_or(0);
        let at = line["at"].as_u64().unwrap_or(0);
        if line.get("body").is_some() {
            let authorized = line["authorized"] == true;
            out.push(Asked { n, at, body: line["body"].clone(), authorized, end: None });
        } else if let Ok(end) = serde_json::from_value(line["end"].clone())
            && let Some(asked) = out.iter_mut().rfind(|asked| asked.n == n)
        {
            asked.end = Some((end, at));
        }
    }
    out
}
