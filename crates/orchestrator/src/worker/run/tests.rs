use std::collections::BTreeMap;

use domain::{ChannelName, OrgId, RunId, RunInput, RunKey, ThreadId, ThreadKey, UserId};
use storage::RunRef;

use super::*;

fn record(version: i64, channel: &str) -> RunRecord {
    RunRecord {
        reference: RunRef {
            key: RunKey::parse("run").unwrap(),
            id: RunId::parse("r").unwrap(),
            thread: ThreadKey::parse("thread").unwrap(),
            thread_id: ThreadId::parse("t").unwrap(),
        },
        org: OrgId::parse("acme").unwrap(),
        user: UserId::parse("ada").unwrap(),
        channel: ChannelName::parse(channel).unwrap(),
        parent_run: None,
        version,
        input: (version <= RUN_VERSION).then(RunInput::default),
        status: RunStatus::Running,
        attempt: 1,
        failures: 0,
        turn: 1,
        message: MessageId::parse("m").unwrap(),
        steps: 0,
        decision: None,
        model: None,
        cancel: None,
        unattended_since: None,
        error: None,
        created_at: 0,
        started_at: None,
        ended_at: None,
        leg: 1,
        continues: None,
    }
}

#[test]
fn only_what_this_build_can_read_is_run() {
    let known = Channels::Only(BTreeMap::from([(ChannelName::parse("one").unwrap(), Arc::default())]));
    assert_eq!(unreadable(&record(RUN_VERSION, "one"), &known), None);
    assert_eq!(unreadable(&record(RUN_VERSION, "two"), &Channels::Any), None);
    let newer = unreadable(&record(RUN_VERSION + 1, "one"), &known).unwrap();
    assert!(newer.contains("format 2") && newer.contains("run the newer build"), "{newer}");
    let foreign = unreadable(&record(RUN_VERSION, "two"), &known).unwrap();
    assert!(foreign.contains("\"two\""), "{foreign}");
}
