//! What stops a run, under every policy: one table (`policy.txt`), filled in by the real binary.
//!
//! The model says "one", waits, says "two", calls a tool that looks (`whoami`) and one of the client's (`flash`), says
//! "three", waits, says "four". It is stopped at the first wait. A person's second message comes where it tells
//! something: after they stopped (their client closed the socket), while the run still runs that a deadline or a call
//! will end, else after the end.

use domain::{ChannelName, OrgId, Principal, RunId, UserId};
use serde_json::{Value, json};
use storage::{Durability, Store, StoreOptions};
use testkit::{Answer, Client, Engine, Frontdesk, Item, Provider, Setup, Sse, World, input, said, wait};

const TABLE: &str = include_str!("policy.txt");

const HEAD: [&str; 9] =
    ["stopped by", "on_disconnect", "when_busy", "status", "why", "text kept", "looks after", "acts after", "second message"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// To compare with: somebody reads on, so the client is asked to run its tool, and the run ends waiting for it.
    Nothing,
    /// The client's stop button: its socket closes, and the same person goes on.
    Client,
    /// The socket closes and nobody comes back.
    Left,
    Deadline,
    Cancel,
}

impl Stop {
    const ALL: [Self; 5] = [Self::Nothing, Self::Client, Self::Left, Self::Deadline, Self::Cancel];

    fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Client => "client's stop",
            Self::Left => "nobody returns",
            Self::Deadline => "deadline",
            Self::Cancel => "cancel call",
        }
    }

    fn closes_the_socket(self) -> bool {
        matches!(self, Self::Client | Self::Left)
    }

    /// What only this way of stopping is configured with: no other's time may run out.
    fn configure(self, setup: Setup) -> Setup {
        match self {
            Self::Left => setup.with("threads.linger_seconds", "3"),
            Self::Deadline => setup.with("threads.linger_seconds", "600").with("limits.deadline_seconds", "3"),
            Self::Nothing | Self::Client | Self::Cancel => setup.with("threads.linger_seconds", "600"),
        }
    }
}

#[expect(clippy::print_stdout, reason = "the table is for people too: --nocapture shows it")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_stops_a_run_under_every_policy() {
    let mut policies = Vec::new();
    for disconnect in ["linger", "detach", "abort"] {
        for busy in ["queue", "reject", "interrupt"] {
            policies.push(Policy { disconnect, busy });
        }
    }
    let columns = futures::future::join_all(policies.iter().map(Policy::cells)).await;
    let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
    for (place, _) in Stop::ALL.iter().enumerate() {
        rows.extend(columns.iter().map(|column| column[place].clone()));
    }
    let table = table(&rows);
    println!("{table}");
    assert_eq!(table, TABLE);
}

/// As official clients do it: the next message does not wait for the closed socket to be seen.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_and_the_next_message_at_once() {
    for busy in ["queue", "reject", "interrupt"] {
        let world = World::new(Engine::Sqlite).unwrap();
        let server = world.setup.clone().with("threads.when_busy", busy).serve();
        let ada = server.client("ada");
        let cell = Cell { provider: &world.provider, ada, store: store(&world.setup).await, stop: Stop::Client };
        drop(cell.first().await);
        assert_eq!(said(&cell.second().await.stream().rest().await), "more", "{busy}");
        assert_eq!((cell.ended().await.as_str(), cell.kept().await.as_str()), ("cancelled", "one"), "{busy}");
    }
}

/// Every cell padded to its column's width.
fn table(rows: &[Vec<String>]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let line = |row: &Vec<String>| {
        let cells: Vec<_> = row.iter().enumerate().map(|(column, cell)| format!("{cell:<0$}", width(column))).collect();
        cells.join(" | ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

struct Policy {
    disconnect: &'static str,
    busy: &'static str,
}

impl Policy {
    /// A row of the table for every way of stopping, each on its own server over one store.
    async fn cells(&self) -> Vec<Vec<String>> {
        let world = World::new(Engine::Sqlite).unwrap();
        let (disconnect, busy) = (self.disconnect, self.busy);
        let setup = world.setup.clone().with("threads.on_disconnect", disconnect).with("threads.when_busy", busy);
        let mut rows = Vec::new();
        for stop in Stop::ALL {
            let server = stop.configure(setup.clone()).serve();
            let cell = Cell { provider: &world.provider, ada: server.client("ada"), store: store(&setup).await, stop };
            let found = Box::pin(cell.run(disconnect)).await;
            let mut row = vec![stop.name().to_owned(), disconnect.to_owned(), busy.to_owned()];
            row.extend(found);
            rows.push(row);
            gone(server);
        }
        rows
    }
}

/// The server's own store, to see who reads a run, which nobody is told over HTTP.
async fn store(setup: &Setup) -> Store {
    let (_, url) = setup.environment.iter().find(|(name, _)| name == "FRONTDESK__STORE__URL").unwrap();
    Store::open(StoreOptions { url: url.clone(), durability: Durability::Normal, connections: 0, application: None })
        .await
        .unwrap()
}

fn gone(mut server: Frontdesk) {
    server.process.kill();
}

struct Cell<'a> {
    provider: &'a Provider,
    ada: Client,
    store: Store,
    stop: Stop,
}

impl Cell<'_> {
    /// Status, reason, text, tools and what became of the second message.
    async fn run(&self, disconnect: &str) -> Vec<String> {
        let first = self.first().await;
        let mut second = None;
        if self.stop.closes_the_socket() {
            drop(first);
            if disconnect == "abort" {
                self.ada.status(&self.id("run"), "cancelled").await;
            } else {
                self.unattended().await;
                self.provider.open(&self.id("go"));
                self.provider.reached(&self.id("end")).await;
            }
            if self.stop == Stop::Left && disconnect == "detach" {
                self.provider.open(&self.id("end"));
            }
        } else if self.stop == Stop::Nothing {
            self.provider.open(&self.id("go"));
            first.rest().await;
        } else {
            second = Some((self.second().await, "waits for its end"));
            if self.stop == Stop::Cancel {
                assert!(matches!(self.ada.cancel(&self.id("run")).await.status, 200 | 202));
            }
            first.rest().await;
            self.provider.open(&self.id("go"));
        }
        if self.stop == Stop::Left {
            self.ended().await;
        }
        let (second, when) = match second {
            Some(second) => second,
            None => (self.second().await, "answered"),
        };
        let answered = match second {
            Answer::Other(plain) => Err({
                let (status, code) = plain.problem();
                format!("{status} {code}")
            }),
            Answer::Stream(stream) => {
                assert_eq!(said(&stream.rest().await), "more");
                Ok(when)
            }
        };
        let status = self.ended().await;
        let events = self.ada.join(&self.id("run"), "-1").await.stream().rest().await;
        let why = why(events.last().unwrap());
        let second = match answered {
            Err(code) => code,
            Ok(_) if why == "replaced" => "takes its place".to_owned(),
            Ok(when) => when.to_owned(),
        };
        vec![status, why, self.kept().await, looks(&events), acts(&events), second]
    }

    /// A name of this way of stopping.
    fn id(&self, what: &str) -> String {
        format!("{what}-{:?}", self.stop)
    }

    /// The run to be stopped, at its first wait.
    async fn first(&self) -> Sse {
        let (go, end) = (self.id("go"), self.id("end"));
        let script = format!(
            "[[say one two]][[gate {go} after 1]][[tool whoami {{}}]][[tool flash {{}}]][[then]][[say  three four]][[gate {end} after 1]]"
        );
        let mut body = input(&self.id("thread"), &self.id("run"), "m1", &script);
        body["tools"] = json!([{"name": "flash", "description": "Flashes the page.", "parameters": {"type": "object"}}]);
        let mut stream = self.ada.post(&body).await.stream();
        stream.until(|item| item.json["delta"] == "one").await;
        stream
    }

    async fn second(&self) -> Answer {
        self.ada.post(&input(&self.id("thread"), &self.id("second"), "m2", "[[say more]]")).await
    }

    /// Waits until the server has seen the socket close.
    async fn unattended(&self) {
        let channel = ChannelName::parse("web").unwrap();
        let ada = Principal::new(OrgId::parse("acme").unwrap(), UserId::parse("ada").unwrap(), channel);
        let run = RunId::parse(self.id("run")).unwrap();
        wait::until("the closed socket to be seen", async || {
            self.store.run(&ada, &run).await.unwrap().unwrap().unattended_since.map(drop)
        })
        .await;
    }

    /// Waits for the run's end and gives its status.
    async fn ended(&self) -> String {
        wait::until("the end of the run", async || {
            let status = self.ada.run(&self.id("run")).await.body["status"].as_str().unwrap().to_owned();
            (!matches!(status.as_str(), "queued" | "running")).then_some(status)
        })
        .await
    }

    /// What the person finds of the reply when they come back.
    async fn kept(&self) -> String {
        let rows = self.ada.transcript(&self.id("thread")).await;
        let reply = rows[1..].iter().map_while(|row| row.strip_prefix("assistant: "));
        reply.collect::<Vec<_>>().concat()
    }
}

/// The reason of a cancellation or the code of an error; "-": it came to its end.
fn why(terminal: &Item) -> String {
    let reason = &terminal.json["metadata"]["frontdesk"]["reason"];
    [reason, &terminal.json["code"]].into_iter().find_map(Value::as_str).unwrap_or("-").to_owned()
}

/// Whether the tool that only looks was run.
fn looks(events: &[Item]) -> String {
    let result = |item: &Item| item.kind() == "TOOL_CALL_RESULT" && item.json["content"].to_string().contains("ada");
    yes(events.iter().any(result))
}

/// Whether the client was asked to run its tool.
fn acts(events: &[Item]) -> String {
    yes(events.iter().any(|item| item.json["name"] == "tool-input-available"))
}

fn yes(it_is: bool) -> String {
    if it_is { "yes" } else { "no" }.to_owned()
}
