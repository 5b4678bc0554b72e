use super::*;

#[tokio::test]
async fn a_slow_listener_is_told_that_something_happened() {
    let signals = InProcess::new();
    let mut listener = signals.listen();
    for _ in 0..=BACKLOG {
        signals.send(Signal::Ready);
    }
    assert_eq!(listener.next().await, Some(Signal::Any));
    assert_eq!(listener.next().await, Some(Signal::Ready));
}

#[tokio::test]
async fn every_listener_gets_every_signal() {
    let signals = InProcess::new();
    let (mut left, mut right) = (signals.listen(), signals.listen());
    signals.send(Signal::Any);
    assert_eq!((left.next().await, right.next().await), (Some(Signal::Any), Some(Signal::Any)));
}
