//! `crash`: CRASH_KILLS kills (30), half of them on each engine, while sixteen people with two tabs each talk; then a
//! stopped worker that loses its runs. Prints a table; exit 1 if anything was lost, doubled or out of order.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use testkit::{
    Engine, World,
    crash::{self, Report},
};

const THREADS: usize = 16;

#[tokio::main]
async fn main() -> std::process::ExitCode {
    let number = |name: &str, otherwise: u64| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(otherwise);
    let kills = u32::try_from(number("CRASH_KILLS", 30)).unwrap_or(u32::MAX);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seed = number("CRASH_SEED", since.as_secs());
    eprintln!("{kills} kills, {THREADS} threads with two tabs, CRASH_SEED={seed}");
    let mut failed = 0;
    let mut passed = 0;
    for engine in [Engine::Sqlite, Engine::Postgres] {
        // A world each: the second part counts the provider's requests.
        let Some(world) = World::new(engine) else { continue };
        let begun = Instant::now();
        let killed = crash::kill::run(&world, kills.div_ceil(2), THREADS, seed).await;
        print(engine, &killed, begun);
        let Some(world) = World::new(engine) else { continue };
        let begun = Instant::now();
        let paused = crash::pause::run(&world).await;
        print(engine, &paused, begun);
        for report in [killed, paused] {
            if report.violations.is_empty() { passed += 1 } else { failed += 1 }
        }
    }
    eprintln!("crash: {passed} passed, {failed} failed");
    std::process::ExitCode::from(u8::from(failed > 0))
}

fn print(engine: Engine, report: &Report, begun: Instant) {
    let engine = match engine {
        Engine::Sqlite => "SQLite",
        Engine::Postgres => "PostgreSQL",
    };
    for (what, count) in &report.kills {
        eprintln!("{engine:<10} {what:<30} {count:>4}");
    }
    eprintln!(
        "{engine:<10} {} turns, {} model requests, {} dead letters, {} violations, {} s",
        report.turns,
        report.requests,
        report.abandoned,
        report.violations.len(),
        begun.elapsed().as_secs()
    );
    for violation in report.violations.iter().take(20) {
        eprintln!("  {violation}");
    }
}
