use domain::{Code, Limits};
use orchestrator::Settings;

use crate::support::*;

#[tokio::test(flavor = "multi_thread")]
async fn without_a_model_nothing_is_stored() {
    let desk = Desk::set(Settings::default(), With::NoModel).await;
    let error = desk.orchestrator.submit(&ada(), submission("t", "r")).await.unwrap_err();
    assert_eq!(error.code, Code::ModelUnconfigured);
    assert!(error.detail.contains("AI_PROVIDER") && error.detail.contains("model.base_url"), "{}", error.detail);
    assert_eq!(desk.store().run(&ada(), &"r".parse().unwrap()).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_run_joins_and_another_message_under_its_id_is_refused() {
    let desk = Desk::new().await;
    let first = desk.orchestrator.submit(&ada(), submission("t", "r")).await.unwrap();
    let again = desk.orchestrator.submit(&ada(), submission("t", "r")).await.unwrap();
    assert!(!first.joined && again.joined);
    assert_eq!(first.run, again.run);
    let elsewhere = desk.orchestrator.submit(&ada(), submission("another", "r")).await.unwrap_err();
    assert_eq!(elsewhere.code, Code::RunIdInUse);
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_say_when_to_ask_again() {
    let limits = Limits { turns_per_minute: 1, ..Limits::default() };
    let desk = Desk::with(Settings { limits, ..Settings::default() }).await;
    desk.submit("t", "r1").await;
    let error = desk.orchestrator.submit(&ada(), submission("t", "r2")).await.unwrap_err();
    assert_eq!(error.code, Code::RateLimited);
    assert!(error.retry_after.is_some_and(|wait| !wait.is_zero()));

    let mut lonely = submission("t", "r3");
    lonely.need_worker = true;
    let desk = Desk::new().await;
    let error = desk.orchestrator.submit(&ada(), lonely).await.unwrap_err();
    assert_eq!((error.code, error.retry_after.is_some()), (Code::NoWorker, true));
}
