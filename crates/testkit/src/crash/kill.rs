//! The kill loop: a named point or a moment at random, then a start on the same store.

use std::time::Duration;

use tokio::sync::watch;

use crate::{
    agui::Client,
    binary::binary,
    crash::{Report, check, load, random::Random},
    process::{Frontdesk, Process, Setup},
    token,
    world::World,
};

/// Named points, in the order of a message's way.
pub const POINTS: [&str; 9] = [
    "accept.before_commit",
    "accept.after_commit",
    "claim",
    "model.first_token",
    "tool.before",
    "tool.after",
    "step.commit",
    "finish.before_commit",
    "finish.after_commit",
];

/// Longest wait for a named point to be reached; then the process is killed wherever it is.
const REACH: Duration = Duration::from_secs(15);

/// Milliseconds each restart moves the database's time on: more than a lease, so that a killed process's runs are free.
const SHIFT: u64 = 16_000;

/// The settings a crash test needs beside the world's.
pub fn setup(world: &World) -> Setup {
    let setup = Setup { binary: binary("frontdesk-test"), ..world.setup.clone() };
    setup
        .with("limits.turns_per_minute", "1000000")
        .with("streams.retention_seconds", "86400")
        .with("threads.on_disconnect", "detach")
}

/// Kills `kills` times while `threads` people with two tabs each talk, then checks.
pub async fn run(world: &World, kills: u32, threads: usize, seed: u64) -> Report {
    let mut report = Report::default();
    let mut random = Random::new(seed);
    let (place, places) = watch::channel(None);
    let (stop, stopped) = watch::channel(false);
    let talking = tokio::spawn(load::talk(threads, places, stopped, seed));
    let setup = setup(world);
    for kill in 0..kills {
        let shift = u64::from(kill) * SHIFT;
        // Two of three at a named point, in turn.
        let point = (kill % 3 != 2).then(|| POINTS[(kill / 3 * 2 + kill % 3) as usize % POINTS.len()]);
        let mut setup = setup.clone().variable("FRONTDESK_SHIFT_MS", &shift.to_string());
        if let Some(point) = point {
            setup = setup.variable("FRONTDESK_CRASH_AT", &format!("{point}:{}", pass(&mut random)));
        }
        let mut server = match start(&setup).await {
            Ok(server) => server,
            Err(why) => {
                report.violations.push(format!("kill {kill}: {why}"));
                break;
            }
        };
        let _ = place.send(Some(server.address));
        let limit = if point.is_some() { REACH } else { Duration::from_millis(50 + random.below(2_500)) };
        let died = died(&mut server.process, limit).await;
        let what = match (point, died) {
            (Some(point), true) => point,
            (Some(_), false) => "named point not reached",
            (None, false) => "random SIGKILL",
            (None, true) => "died by itself",
        };
        if what == "died by itself" || complains(&server.process) {
            report.violations.push(format!("kill {kill} ({what}): {}", server.process.stderr()));
        }
        server.process.kill();
        let _ = place.send(None);
        count(&mut report, what);
    }
    finish(
        world,
        &setup.variable("FRONTDESK_SHIFT_MS", &(u64::from(kills) * SHIFT).to_string()),
        &mut report,
        || {
            let _ = stop.send(true);
        },
        &place,
        talking,
    )
    .await;
    report
}

/// The last start: what was begun ends, then everything is compared.
async fn finish(
    world: &World,
    setup: &Setup,
    report: &mut Report,
    stop: impl FnOnce(),
    place: &watch::Sender<Option<std::net::SocketAddr>>,
    talking: tokio::task::JoinHandle<Vec<load::Said>>,
) {
    stop();
    let server = match start(setup).await {
        Ok(server) => server,
        Err(why) => {
            report.violations.push(why);
            talking.abort();
            return;
        }
    };
    let _ = place.send(Some(server.address));
    let Ok(said) = talking.await else {
        report.violations.push("the tabs failed".to_owned());
        return;
    };
    let client = |user: &str| Client::new(server.address).with_token(&token::token(user, "acme"));
    check::check(client, &said, &world.provider.records(), report).await;
}

/// Which pass of the point kills: half soon after the start, while everything is claimed again, half later, so that
/// runs come to their end between the kills.
fn pass(random: &mut Random) -> u64 {
    if random.below(2) == 0 { 1 + random.below(10) } else { 20 + random.below(120) }
}

/// Starts off the async threads: it waits for the first line.
async fn start(setup: &Setup) -> Result<Frontdesk, String> {
    let setup = setup.clone();
    match tokio::task::spawn_blocking(move || setup.start()).await {
        Ok(started) => started,
        Err(error) => Err(error.to_string()),
    }
}

/// Whether the process ended by itself within `limit`.
async fn died(process: &mut Process, limit: Duration) -> bool {
    let until = tokio::time::Instant::now() + limit;
    while tokio::time::Instant::now() < until {
        if process.try_wait().is_some() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    false
}

fn complains(process: &Process) -> bool {
    process.stderr().contains("panicked at")
}

fn count(report: &mut Report, what: &str) {
    match report.kills.iter_mut().find(|(known, _)| known == what) {
        Some((_, count)) => *count += 1,
        None => report.kills.push((what.to_owned(), 1)),
    }
}
