//! What clients, provider and database know, compared.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use crate::{
    agui::{Answer, Client},
    crash::{Report, load::Said},
    provider::Asked,
    scripted::End,
};

/// Compares everything once the server is quiet.
pub async fn check(client: impl Fn(&str) -> Client, said: &[Said], asked: &[Asked], report: &mut Report) {
    report.turns += said.len();
    report.requests += asked.len();
    report.violations.extend(said.iter().flat_map(|said| said.violations.clone()));
    requests(said, asked, &mut report.violations);
    let mut threads: BTreeMap<(&str, &str), Vec<&Said>> = BTreeMap::new();
    for said in said {
        threads.entry((&said.user, &said.thread)).or_default().push(said);
    }
    for ((user, thread), said) in threads {
        transcript(&client(user), thread, &said, asked, report).await;
    }
}

/// The word in a message that names it.
fn name(text: &str) -> Option<&str> {
    Some(text.rsplit_once("«")?.1.split_once('»')?.0)
}

/// No committed step is asked again; nothing is asked at the same time or refused by a strict provider.
fn requests(said: &[Said], asked: &[Asked], violations: &mut Vec<String>) {
    let known: HashMap<&str, &Said> = said.iter().map(|said| (said.id.as_str(), said)).collect();
    let mut steps: HashMap<&str, (&Asked, Vec<Vec<String>>)> = HashMap::new();
    for asked in asked {
        if matches!(asked.end, Some((End::Strict, _))) {
            violations.push(format!("request {} was not one a provider takes", asked.n));
        }
        let user = asked.user();
        let Some(said) = name(&user).and_then(|name| known.get(name)) else {
            violations.push(format!("request {} answers nothing that was said: {user}", asked.n));
            continue;
        };
        let now = asked.rounds();
        if let Some((earlier, then)) = steps.get(said.id.as_str()) {
            if now.len() < then.len() || now[..then.len()] != then[..] {
                violations.push(format!("{}: request {} asks a committed step again ({now:?} after {then:?})", said.id, asked.n));
            }
            if earlier.end.is_none_or(|(_, end)| end > asked.at + 1_000) {
                violations.push(format!("{}: requests {} and {} at once", said.id, earlier.n, asked.n));
            }
        }
        steps.insert(&said.id, (asked, now));
    }
}

/// A thread's rows and runs against what its tabs said.
async fn transcript(client: &Client, thread: &str, said: &[&Said], asked: &[Asked], report: &mut Report) {
    let hydrated = client.hydrate(thread).await;
    let mut violated = |what: String| report.violations.push(format!("{thread} of {}: {what}", said[0].user));
    if !hydrated["activeRun"].is_null() {
        violated(format!("a run is still active: {}", hydrated["activeRun"]));
    }
    let rows = hydrated["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let order: Vec<&str> = rows.iter().filter(|row| row["role"] == "user").filter_map(|row| row["id"].as_str()).collect();
    let mut abandoned = 0;
    for said in said {
        let stored = order.iter().filter(|id| **id == said.id).count();
        if stored != 1 {
            violated(format!("{} is stored {stored} times", said.id));
        }
        let run = client.run(&said.id).await.body;
        let ended = said.terminal.as_ref().map(|end| end["type"].as_str().unwrap_or_default()).unwrap_or("no end");
        match (run["status"].as_str().unwrap_or_default(), ended) {
            ("completed", "RUN_FINISHED") => {}
            ("abandoned", "RUN_ERROR") => abandoned += 1,
            (status, end) => violated(format!("{} is {status} and its reader saw {end}: {run}", said.id)),
        }
        if let Some(answer) = said.answer.as_ref().filter(|_| run["status"] == "completed") {
            let texts = answers(rows, &said.id);
            if texts.last() != Some(answer) || texts.iter().filter(|text| *text == answer).count() != 1 {
                violated(format!("{} is answered {texts:?} instead of {answer:?}", said.id));
            }
        }
        if let Some(why) = replayed(client, said).await {
            violated(why);
        }
    }
    if order.len() != said.len() {
        violated(format!("{} messages were said and {} are stored", said.len(), order.len()));
    }
    in_order(&order, said, asked, &mut violated);
    report.abandoned += abandoned;
}

/// The provider was asked about the thread's messages in their order.
fn in_order(order: &[&str], said: &[&Said], asked: &[Asked], violated: &mut impl FnMut(String)) {
    let mut before = 0;
    for asked in asked {
        let user = asked.user();
        let Some(name) = name(&user).filter(|name| said.iter().any(|said| said.id == *name)) else { continue };
        let Some(place) = order.iter().position(|id| *id == name) else { continue };
        if place < before {
            violated(format!("{name} was asked after {}, which comes later", order[before]));
        }
        before = before.max(place);
    }
}

/// Texts of the assistant rows that answer a message.
fn answers(rows: &[Value], id: &str) -> Vec<String> {
    let from = rows.iter().position(|row| row["id"] == *id).map_or(rows.len(), |at| at + 1);
    let turn = rows[from..].iter().take_while(|row| row["role"] != "user").filter(|row| row["role"] == "assistant");
    let text = |row: &Value| -> String {
        let parts = row["parts"].as_array().into_iter().flatten().filter(|part| part["type"] == "text");
        parts.filter_map(|part| part["content"].as_str()).collect()
    };
    turn.map(text).filter(|text| !text.is_empty()).collect()
}

/// A run read again from the start: one end, the one its reader saw.
async fn replayed(client: &Client, said: &Said) -> Option<String> {
    let mut stream = match client.join(&said.id, "-1").await {
        Answer::Stream(stream) => stream,
        Answer::Other(plain) => return Some(format!("{} cannot be read again: {plain:?}", said.id)),
    };
    let mut ends = Vec::new();
    loop {
        match stream.read().await {
            Ok(Some(item)) if item.is_terminal() => ends.push(item.json),
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(error) => return Some(format!("{} read again: {error}", said.id)),
        }
    }
    let seen: Vec<_> = said.terminal.clone().into_iter().collect();
    (ends != seen).then(|| format!("{} read again ends in {ends:?}, its reader saw {seen:?}", said.id))
}

#[cfg(test)]
#[path = "check/tests.rs"]
mod tests;
