//! Who may do what, and what the server keeps for itself.

use std::time::Duration;

use domain::WorkerId;

use crate::support::{Db, MINUTE, both_engines, id, person};

both_engines! {
    a_membership_is_one_users_right_in_one_organization
    a_claimed_membership_ends_with_its_token
    removing_an_organization_removes_its_memberships
    the_first_value_of_a_setting_wins
    a_worker_lives_as_long_as_its_lease
}

async fn a_membership_is_one_users_right_in_one_organization(db: Db) {
    let store = &db.store;
    assert!(store.membership(&person("globex", "bob")).await.unwrap().is_none());
    assert!(store.add_user(&id("globex"), &id("bob"), Some("clerk")).await.unwrap());
    assert!(!store.add_user(&id("globex"), &id("bob"), Some("clerk")).await.unwrap());
    let membership = store.membership(&person("globex", "bob")).await.unwrap().unwrap();
    assert_eq!((membership.role.as_deref(), membership.expires_at), (Some("clerk"), None));
    let names: Vec<String> = store.users(&id("globex")).await.unwrap().iter().map(|user| user.id.to_string()).collect();
    assert_eq!(names, ["ada", "bob"]);
    assert!(store.remove_user(&id("globex"), &id("bob")).await.unwrap());
    assert!(!store.remove_user(&id("globex"), &id("bob")).await.unwrap());
    assert!(store.membership(&person("globex", "bob")).await.unwrap().is_none());
    assert!(store.membership(&person("acme", "bob")).await.unwrap().is_some());
}

async fn a_claimed_membership_ends_with_its_token(db: Db) {
    let (store, who) = (&db.store, person("initech", "eve"));
    let now = store.read().await.unwrap().now().await.unwrap();
    store.claim_membership(&who, Some("clerk"), now + MINUTE).await.unwrap();
    store.claim_membership(&who, Some("clerk"), now + MINUTE).await.unwrap();
    assert_eq!(store.membership(&who).await.unwrap().unwrap().role.as_deref(), Some("clerk"));
    store.shift_clock(2 * MINUTE);
    assert!(store.membership(&who).await.unwrap().is_none());
    store.claim_membership(&who, None, now + 5 * MINUTE).await.unwrap();
    let membership = store.membership(&who).await.unwrap().unwrap();
    assert_eq!((membership.role, membership.expires_at), (None, Some(now + 5 * MINUTE)));
}

async fn removing_an_organization_removes_its_memberships(db: Db) {
    let store = &db.store;
    assert!(!store.add_organization(&id("acme")).await.unwrap());
    assert!(store.add_organization(&id("initech")).await.unwrap());
    assert!(store.remove_organization(&id("acme")).await.unwrap());
    assert!(!store.remove_organization(&id("acme")).await.unwrap());
    assert!(store.membership(&person("acme", "ada")).await.unwrap().is_none());
    let names: Vec<String> = store.organizations().await.unwrap().iter().map(|org| org.id.to_string()).collect();
    assert_eq!(names, ["globex", "initech"]);
}

async fn the_first_value_of_a_setting_wins(db: Db) {
    let askers = (0..16).map(|number| {
        let store = db.store.clone();
        tokio::spawn(async move { store.setting_or_insert("demo.key", &format!("value {number}")).await.unwrap() })
    });
    let mut values = Vec::new();
    for asker in askers.collect::<Vec<_>>() {
        values.push(asker.await.unwrap());
    }
    values.dedup();
    assert_eq!(values.len(), 1);
}

async fn a_worker_lives_as_long_as_its_lease(db: Db) {
    let (store, one, two): (_, WorkerId, WorkerId) = (&db.store, id("one"), id("two"));
    store.worker_beat(&one, 64, Duration::from_secs(15)).await.unwrap();
    store.worker_beat(&two, 8, Duration::from_secs(60)).await.unwrap();
    store.worker_beat(&one, 32, Duration::from_secs(15)).await.unwrap();
    let mut live = store.live_workers().await.unwrap();
    live.sort_by_key(|worker| worker.capacity);
    assert_eq!(live.iter().map(|worker| (worker.id.clone(), worker.capacity)).collect::<Vec<_>>(), [(two.clone(), 8), (one, 32)]);
    store.shift_clock(20_000);
    assert_eq!(store.live_workers().await.unwrap().len(), 1);
    store.worker_gone(&two).await.unwrap();
    assert!(store.live_workers().await.unwrap().is_empty());
    store.shift_clock(4_000_000);
    db.sweep().await;
    assert_eq!(db.count("workers").await, 0);
}
