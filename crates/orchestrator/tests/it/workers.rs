use std::{collections::BTreeMap, sync::Arc, time::Duration};

use domain::{ChannelName, RunStatus};
use orchestrator::{Channels, From, Settings, WorkScope};

use crate::support::*;

#[tokio::test(flavor = "multi_thread")]
async fn more_runs_than_workers_are_all_answered() {
    let limits = domain::Limits { turns_per_minute: 1_000, ..domain::Limits::default() };
    let desk = Desk::with(Settings { limits, ..Settings::default() }).await;
    desk.model_answers_by_itself();
    let working = desk.work();
    let mut readings = Vec::new();
    for number in 0..40 {
        let run = desk.submit(&format!("t{}", number % 20), &format!("r{number}")).await;
        readings.push(desk.follow(&run, From::Start));
    }
    for reading in readings {
        let sent = reading.rest().await;
        assert_whole(&sent);
        assert!(told(&sent).ends_with("< by itself > finished"), "{}", told(&sent));
    }
    working.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_panics_is_a_failed_run() {
    let mut desk = Desk::new().await;
    let run = desk.submit("t", "r").await;
    let reading = desk.follow(&run, From::Start);
    let working = desk.work();
    let call = desk.call().await;
    call.say(Say::Text("half"));
    call.say(Say::Panic);
    let sent = reading.rest().await;
    assert_whole(&sent);
    assert_eq!(told(&sent), "started < half internal");
    assert_eq!(desk.status(&run).await, RunStatus::Failed);

    let next = desk.submit("t", "r2").await;
    desk.call().await.answer("fine");
    assert_eq!(told(&desk.follow(&next, From::Start).rest().await), "started < fine > finished");
    working.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_channel_nobody_knows_is_a_dead_letter() {
    let channels = Channels::Only(BTreeMap::from([(ChannelName::parse("cli").unwrap(), Arc::default())]));
    let desk = Desk::with(Settings { channels, ..Settings::default() }).await;
    let run = desk.submit("t", "r").await;
    let reading = desk.follow(&run, From::Start);
    let working = desk.work();
    let sent = reading.rest().await;
    assert_whole(&sent);
    assert_eq!(told(&sent), "started abandoned");
    let record = desk.store().run_by_key(&run.key).await.unwrap().unwrap();
    assert_eq!(record.status, RunStatus::Abandoned);
    assert!(record.error.is_some_and(|(_, message)| message.contains("\"web\"")));
    working.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_handed_back_goes_on_for_the_same_reader() {
    let mut desk = Desk::with(Settings { grace: Duration::ZERO, ..Settings::default() }).await;
    let run = desk.submit("t", "r").await;
    let mut reading = desk.follow(&run, From::Start);
    let working = desk.work();
    let call = desk.call().await;
    call.say(Say::Text("half"));
    let mut sent = reading.until(is_text).await;
    working.stop().await;
    let record = desk.store().run_by_key(&run.key).await.unwrap().unwrap();
    assert_eq!((record.status, record.failures), (RunStatus::Queued, 0));
    assert_eq!(desk.store().live_workers().await.unwrap(), []);

    let working = desk.work();
    desk.call().await.answer("whole");
    sent.extend(reading.rest().await);
    assert_whole(&sent);
    let told = told(&sent);
    assert!(told.starts_with("started < half > superseded [\"msg_"), "{told}");
    assert!(told.ends_with("] < whole > finished"), "{told}");
    working.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_in_flight_may_finish_within_the_grace() {
    let mut desk = Desk::new().await;
    let run = desk.submit("t", "r").await;
    let working = desk.work();
    let call = desk.call().await;
    working.stop.cancel();
    let waits = desk.submit("t2", "r2").await;
    call.answer("still");
    assert_eq!(told(&desk.follow(&run, From::Start).rest().await), "started < still > finished");
    working.stop().await;
    assert_eq!(desk.status(&waits).await, RunStatus::Queued);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_of_one_thread_takes_no_other() {
    let desk = Desk::new().await;
    desk.model_answers_by_itself();
    let other = desk.submit("other", "r1").await;
    let mine = desk.submit("mine", "r2").await;
    let working = desk.work_on(WorkScope::Thread(mine.thread.clone()));
    assert_eq!(told(&desk.follow(&mine, From::Start).rest().await), "started < by itself > finished");
    assert_eq!(desk.store().live_workers().await.unwrap(), []);
    working.stop().await;
    assert_eq!(desk.status(&other).await, RunStatus::Queued);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_share_one_database() {
    let mut desk = Desk::new().await;
    let another = desk.another().await;
    let working = desk.work();
    let run = another.submit("t", "r").await;
    let mut reading = another.follow(&run, From::Start);
    let call = desk.call().await;
    call.say(Say::Text("here"));
    reading.until(is_text).await;
    call.answer("there");
    let rest = reading.rest().await;
    assert_whole(&rest);
    assert_eq!(told(&rest), "there > finished");

    let run = another.submit("t", "r2").await;
    let mut reading = another.follow(&run, From::Start);
    let call = desk.call().await;
    call.say(Say::Text("half"));
    reading.until(is_text).await;
    another.orchestrator.cancel(&ada(), &run.id).await.unwrap();
    assert_eq!(told(&reading.rest().await), "> cancelled");
    working.stop().await;
}
