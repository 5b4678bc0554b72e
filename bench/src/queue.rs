//! The floor alone: how many runs a second are accepted, and claimed and ended.

use std::time::{Duration, Instant};

use domain::{
    ChannelName, Event, Limits, MessageId, OrgId, Part, Principal, RunId, RunInput, RunKey, RunStatus, ThreadId, ThreadKey,
    UserId, WorkerId,
};
use storage::{
    Accept, Accepted, Claim, Claimed, Durability, Finish, FrameBatch, NewMessage, StepCommit, Store, StoreOptions, WhenBusy,
};

use crate::{Figure, figure};

/// Rounds of [`ROUND`] runs: first all are published, then all are claimed and ended, so that neither waits for the
/// other and the queue stays as long as `limits.queued_runs` lets it be.
const ROUNDS: usize = 20;
const ROUND: usize = 1_000;
/// Writers at once, as in a busy server.
const WRITERS: usize = 64;
/// Processes that claim, each as many as one claim takes at most half of an organization's runs.
const CLAIMERS: usize = 4;
const CLAIM: u32 = 16;

/// How the runs of one claim end. The two are different figures: only what ends side by side can share a commit.
#[derive(Clone, Copy)]
enum Ends {
    OneByOne,
    /// Each in a task of its own, as in a worker.
    SideBySide,
}

pub(crate) async fn claim_and_ack() -> Vec<Figure> {
    let mut figures = Vec::new();
    for (durability, name, targets) in
        [(Durability::Normal, "NORMAL", ["-", ">= 10,000"]), (Durability::Full, "FULL", [">= 3,000", "-"])]
    {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("queue.db").display());
        let store = Store::open(StoreOptions { url, durability, connections: 0, application: None }).await.unwrap();
        let org = OrgId::parse("bench").unwrap();
        let principal = Principal::new(org.clone(), UserId::parse("ada").unwrap(), ChannelName::parse("web").unwrap());
        store.add_user(&org, &principal.user, None).await.unwrap();

        let (mut publishing, mut one_by_one, mut side_by_side) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
        for round in 0..ROUNDS {
            let start = Instant::now();
            lanes(WRITERS, |lane| publish(store.clone(), principal.clone(), round, lane)).await;
            publishing += start.elapsed();
            // Taking turns, so that both have the same machine and the same database.
            let (ends, acknowledging) =
                if round % 2 == 0 { (Ends::OneByOne, &mut one_by_one) } else { (Ends::SideBySide, &mut side_by_side) };
            let start = Instant::now();
            lanes(CLAIMERS, |lane| acknowledge(store.clone(), lane, ends)).await;
            *acknowledging += start.elapsed();
        }
        let rate = |runs: usize, time: Duration| format!("{:.0}", runs as f64 / time.as_secs_f64());
        let (all, half) = (ROUNDS * ROUND, ROUNDS / 2 * ROUND);
        figures.push(figure(format!("queue {name}: publishes a second"), rate(all, publishing), targets[0]));
        let claimed = format!("queue {name}: claim + ack a second");
        figures.push(figure(format!("{claimed}, one by one"), rate(half, one_by_one), targets[1]));
        figures.push(figure(format!("{claimed}, side by side"), rate(half, side_by_side), targets[1]));
    }
    figures
}

async fn lanes<F: Future<Output = ()> + Send + 'static>(count: usize, lane: impl Fn(usize) -> F) {
    let tasks: Vec<_> = (0..count).map(|index| tokio::spawn(lane(index))).collect();
    for task in tasks {
        task.await.unwrap();
    }
}

async fn publish(store: Store, principal: Principal, round: usize, lane: usize) {
    let limits = Limits { turns_per_minute: u32::MAX, ..Limits::default() };
    for index in (lane..ROUND).step_by(WRITERS).map(|index| round * ROUND + index) {
        let message =
            NewMessage { id: MessageId::parse(format!("m{index}")).unwrap(), parts: vec![Part::Text { text: "hello".into() }] };
        let accepted = store
            .accept(Accept {
                principal: &principal,
                thread: &ThreadId::parse(format!("t{index}")).unwrap(),
                run: &RunId::parse(format!("r{index}")).unwrap(),
                thread_key: ThreadKey::parse(ulid::Ulid::new().to_string()).unwrap(),
                run_key: RunKey::parse(ulid::Ulid::new().to_string()).unwrap(),
                message: Some(&message),
                replaces: None,
                last_user: None,
                answers: &[],
                cut_off: "",
                parent_run: None,
                input: &RunInput::default(),
                limits: &limits,
                when_busy: WhenBusy::Queue,
                need_worker: false,
            })
            .await
            .unwrap();
        assert!(matches!(accepted, Accepted::Fresh(_)), "{accepted:?}");
    }
}

async fn acknowledge(store: Store, lane: usize, ends: Ends) {
    let worker = WorkerId::parse(format!("bench-{lane}")).unwrap();
    loop {
        let claim = Claim {
            worker: &worker,
            max: CLAIM,
            thread: None,
            org_runs: Limits::default().concurrent_runs,
            lease: Duration::from_secs(15),
            decide: None,
        };
        let claimed = store.claim(claim).await.unwrap();
        if claimed.is_empty() {
            return;
        }
        match ends {
            Ends::OneByOne => {
                for run in claimed {
                    end(store.clone(), run).await;
                }
            }
            Ends::SideBySide => {
                let runs: Vec<_> = claimed.into_iter().map(|run| tokio::spawn(end(store.clone(), run))).collect();
                for run in runs {
                    run.await.unwrap();
                }
            }
        }
    }
}

async fn end(store: Store, run: Claimed) {
    let reference = &run.record.reference;
    let event = Event::RunFinished {
        thread_id: reference.thread_id.clone(),
        run_id: reference.id.clone(),
        outcome: None,
        usage: Vec::new(),
        metadata: None,
    };
    let mut body = serde_json::to_vec(&event).unwrap();
    body.push(b'\n');
    let step = StepCommit { step: 1, frames: FrameBatch { first: 1, last: 1, body }, ..StepCommit::default() };
    let finish = Finish { status: RunStatus::Completed, error: None, model: None, step, interrupts: Vec::new() };
    store.finish(&run.lease, &finish).await.unwrap();
}
