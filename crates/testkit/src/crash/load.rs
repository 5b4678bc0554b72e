//! People: each thread has two tabs that say one thing after the other, whatever happens to the server.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::Value;
use tokio::{sync::watch, task::JoinSet};

use crate::{
    agui::{Answer, Client, Item, Sse, input},
    crash::random::Random,
    http::Request,
    script::numbered_text,
    token,
};

/// Messages of a thread before its tabs open a new one.
const THREAD: usize = 12;

/// How long a tab tries to get one answer, over all restarts.
const ANSWER: Duration = Duration::from_secs(180);

/// One thing said, and what became of it.
#[derive(Debug, Clone)]
pub struct Said {
    pub user: String,
    pub thread: String,
    /// Run and message id, and a word in the text.
    pub id: String,
    pub text: String,
    /// The last text of the answer, if it is known beforehand.
    pub answer: Option<String>,
    /// Times the whole of the answer was asked for anew.
    pub tries: usize,
    pub terminal: Option<Value>,
    pub violations: Vec<String>,
}

/// Where the server is; `None` while it is down.
pub type Place = watch::Receiver<Option<SocketAddr>>;

/// Talks until `stop` says true, then ends what was begun.
pub async fn talk(threads: usize, place: Place, stop: watch::Receiver<bool>, seed: u64) -> Vec<Said> {
    let mut tabs = JoinSet::new();
    for thread in 0..threads {
        let count = Arc::new(AtomicUsize::new(0));
        for name in ["a", "b"] {
            let random = Random::new(seed ^ (thread as u64) << 8 ^ u64::from(name == "a"));
            let tab = Tab { user: format!("person-{thread}"), name, count: Arc::clone(&count), place: place.clone(), random };
            tabs.spawn(tab.talk(stop.clone()));
        }
    }
    tabs.join_all().await.into_iter().flatten().collect()
}

struct Tab {
    user: String,
    name: &'static str,
    /// Messages of both tabs.
    count: Arc<AtomicUsize>,
    place: Place,
    random: Random,
}

impl Tab {
    async fn talk(mut self, stop: watch::Receiver<bool>) -> Vec<Said> {
        let mut all = Vec::new();
        while !*stop.borrow() {
            let count = self.count.fetch_add(1, Ordering::Relaxed);
            let mut said = self.next(count);
            match tokio::time::timeout(ANSWER, self.say(&mut said)).await {
                Ok(()) => all.push(said),
                Err(_) => {
                    said.violations.push(format!("no answer to {} within {} s", said.id, ANSWER.as_secs()));
                    all.push(said);
                    break;
                }
            }
        }
        all
    }

    fn next(&mut self, count: usize) -> Said {
        let id = format!("{}-{}-{count}", self.user, self.name);
        let (script, answer) = match self.random.below(4) {
            0 => ("[[say short]]".to_owned(), Some("short".to_owned())),
            1 => ("[[words 8 delay 4]]".to_owned(), Some(numbered_text(8))),
            2 => ("[[tool whoami {}]][[then]][[words 6 delay 4]]".to_owned(), Some(numbered_text(6))),
            _ => ("[[say look ]][[tool whoami {}]][[tool clock {}]][[then]][[tool whoami {}]]".to_owned(), None),
        };
        Said {
            user: self.user.clone(),
            thread: format!("thread-{}", count / THREAD),
            text: format!("{script} «{id}»"),
            id,
            answer,
            tries: 0,
            terminal: None,
            violations: Vec::new(),
        }
    }

    /// Says it until an end was seen.
    async fn say(&mut self, said: &mut Said) {
        let body = input(&said.thread, &said.id, &said.id, &said.text);
        let mut last: Option<String> = None;
        loop {
            let Ok(place) = self.place.wait_for(Option::is_some).await.map(|place| *place) else { return };
            let Some(address) = place else { continue };
            let client = Client::new(address).with_token(&token::token(&said.user, "acme"));
            let mut request = Request::post("/v1/agui", &body);
            // Half of the readers go on where they were, half begin again.
            let after = last.clone().filter(|_| self.random.below(2) == 0);
            if let Some(after) = &after {
                request = request.header("last-event-id", after);
            }
            said.tries += 1;
            match client.open(request).await {
                Ok(Answer::Stream(sse)) => {
                    let sse = if after.is_some() { sse.resumed() } else { *sse };
                    let (items, fault) = read(sse).await;
                    last = items.last().and_then(|item| item.id.clone()).or(last);
                    judge(said, &items, after.is_some());
                    if let Some(fault) = fault {
                        said.violations.push(format!("{}: {fault}", said.id));
                    }
                    if said.terminal.is_some() {
                        return;
                    }
                }
                Ok(Answer::Other(plain)) if plain.status >= 500 => {}
                Ok(Answer::Other(plain)) => {
                    said.violations.push(format!("{} was refused: {plain:?}", said.id));
                    return;
                }
                Err(_) => {}
            }
            // The address changes when the server comes up again; until then there is nobody to ask.
            let _ = tokio::time::timeout(Duration::from_millis(50), self.place.changed()).await;
        }
    }
}

/// All events of a response, and the rule it broke. A broken socket is no fault.
async fn read(mut sse: Sse) -> (Vec<Item>, Option<String>) {
    let mut items = Vec::new();
    loop {
        match sse.read().await {
            Ok(Some(item)) => items.push(item),
            Ok(None) => return (items, None),
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                let told = error.to_string();
                // A killed server's last write may end anywhere.
                let torn = told.starts_with("the stream ends within") || told.contains("chunk size");
                return (items, (!torn).then_some(told));
            }
            Err(_) => return (items, None),
        }
    }
}

/// What one response says against what is known.
fn judge(said: &mut Said, items: &[Item], resumed: bool) {
    let ends: Vec<_> = items.iter().filter(|item| item.is_terminal()).collect();
    if ends.len() > 1 {
        said.violations.push(format!("{}: {} ends in one response", said.id, ends.len()));
    }
    let Some(end) = ends.first() else { return };
    said.terminal = Some(end.json.clone());
    if resumed || end.kind() != "RUN_FINISHED" {
        return;
    }
    let Some(expected) = &said.answer else { return };
    let text = last_text(items);
    if text != *expected {
        said.violations.push(format!("{}: streamed {text:?} instead of {expected:?}", said.id));
    }
}

/// The text of the last message.
fn last_text(items: &[Item]) -> String {
    let start = items.iter().rfind(|item| item.kind() == "TEXT_MESSAGE_START");
    let Some(id) = start.map(|item| &item.json["messageId"]) else { return String::new() };
    let deltas = items.iter().filter(|item| item.kind() == "TEXT_MESSAGE_CONTENT" && item.json["messageId"] == *id);
    deltas.filter_map(|item| item.json["delta"].as_str()).collect()
}
