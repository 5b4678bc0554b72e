//! A worker that is stopped, loses its runs to another, and goes on: it must neither write nor stream.

use std::time::Duration;

use crate::{
    agui::{Client, Item, Sse, input, said},
    crash::Report,
    script::numbered_text,
    token, wait,
    world::World,
};

/// Runs that are open while a worker is stopped.
const RUNS: usize = 8;

/// Stops one of two workers in mid-stream until its leases have run out, then lets it go on.
pub async fn run(world: &World) -> Report {
    let mut report = Report { kills: vec![("SIGSTOP, lease lost, SIGCONT".to_owned(), 1)], ..Report::default() };
    let setup = super::kill::setup(world);
    let server = setup.clone().with("worker.concurrency", "0").serve();
    let client = |n: usize| Client::new(server.address).with_token(&token::token(&format!("person-{n}"), "acme"));
    let first = setup.worker();
    let ready = async || (client(0).get("/readyz").await.status == 200).then_some(());
    wait::until("a worker", ready).await;
    let script = "[[words 6]][[gate go after 3]]";
    let mut streams = Vec::new();
    for n in 0..RUNS {
        let mut stream = client(n).post(&input("t", "r", "m", &format!("{script} «{n}»"))).await.stream();
        let items = stream.until(|item| item.json["delta"] == " w3").await;
        streams.push((n, stream, items));
    }
    let _second = setup.worker();
    first.pause();
    // The gate stays closed until the other worker has asked again for every run: then each stands at it twice.
    let both = async || (world.provider.records().len() >= 2 * RUNS).then_some(());
    wait::until("the other worker to take over", both).await;
    first.resume();
    world.provider.open("go");
    for (n, stream, items) in streams {
        if let Err(why) = one(&client(n), stream, items).await {
            report.violations.push(format!("person-{n}: {why}"));
        }
    }
    // The first worker's requests end too, once it has seen that it lost its runs.
    let ended = async || world.provider.records().iter().all(|asked| asked.end.is_some()).then_some(());
    wait::until("all requests to end", ended).await;
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    for n in 0..RUNS {
        let transcript = client(n).transcript("t").await;
        let expected = [format!("user: {script} «{n}»"), format!("assistant: {}", numbered_text(6))];
        if transcript != expected {
            report.violations.push(format!("person-{n} has {transcript:?}"));
        }
        let again = client(n).join("r", "-1").await.stream().rest().await;
        if said(&again) != numbered_text(6) {
            report.violations.push(format!("person-{n} read again: {:?}", said(&again)));
        }
    }
    report.turns = RUNS;
    report.requests = world.provider.records().len();
    report
}

/// A reader through the take-over: what it saw is taken back, then one whole answer and one end.
async fn one(client: &Client, stream: Sse, mut items: Vec<Item>) -> Result<(), String> {
    items.extend(stream.rest().await);
    let taken = items.iter().position(|item| item.json["name"] == "frontdesk.superseded");
    let Some(taken) = taken else { return Err(format!("nothing was taken back: {items:?}")) };
    if said(&items[taken..]) != numbered_text(6) {
        return Err(format!("streamed {:?} after the take-over", said(&items[taken..])));
    }
    if items.iter().filter(|item| item.is_terminal()).count() != 1 {
        return Err("more than one end".to_owned());
    }
    let run = client.run("r").await.body;
    if (&run["status"], &run["attempt"]) != (&"completed".into(), &2.into()) {
        return Err(format!("the run is {run}"));
    }
    Ok(())
}
