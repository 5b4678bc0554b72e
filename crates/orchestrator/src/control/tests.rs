use super::*;

fn control() -> RunControl {
    RunControl::new(Instant::now(), Duration::from_secs(15))
}

#[test]
fn the_first_reason_stays() {
    let control = control();
    assert_eq!(control.stop(), None);
    control.stop_for(Stop::Cancel(CancelReason::Replaced));
    control.stop_for(Stop::Shutdown);
    assert_eq!(control.stop(), Some(Stop::Cancel(CancelReason::Replaced)));
    assert!(control.cancel().is_cancelled());
}

#[test]
fn a_fence_overrides_every_reason() {
    let control = control();
    control.stop_for(Stop::Shutdown);
    control.stop_for(Stop::Fenced);
    control.stop_for(Stop::Cancel(CancelReason::Asked));
    assert_eq!(control.stop(), Some(Stop::Fenced));
}

#[test]
fn a_lease_is_good_only_until_it_ran_out_and_again_once_renewed() {
    let long_ago = Instant::now().checked_sub(Duration::from_secs(60)).unwrap_or_else(Instant::now);
    let clock = LeaseClock::new(long_ago, Duration::from_secs(15));
    if long_ago.elapsed() > Duration::from_secs(15) {
        assert!(!clock.is_good());
    }
    clock.renew(Instant::now(), Duration::from_secs(15));
    assert!(clock.is_good());
    clock.renew(long_ago, Duration::from_secs(15));
    assert!(clock.is_good(), "an answer that comes late takes nothing back");
}
