//! What reopening a thread shows while something waits and while it goes on.

use domain::ClientToolStyle;
use storage::Hydrated;

use super::{Ask, calling, end_waiting, row, wait_for, waits};
use crate::support::{Db, ada, both_engines, frame, id, ids, step};

both_engines! {
    what_waits_is_listed_oldest_first
    earlier_legs_are_shown_while_one_goes_on
    pages_at_every_boundary
}

async fn page(db: &Db, limit: Option<u32>, before: Option<&str>) -> Hydrated {
    db.store.hydrate(&ada(), &id("t"), limit, before).await.unwrap()
}

async fn what_waits_is_listed_oldest_first(db: Db) {
    db.say(&ada(), "t", "r1", "m1").await;
    let lease = db.claim_one().await;
    db.say(&ada(), "t", "r2", "m2").await;
    wait_for(&db, &lease, "a1", &["c1", "c2"]).await;
    let mut end = end_waiting(calling("a2", &["b1"]), &["b1"]);
    end.interrupts[0].style = ClientToolStyle::Universal;
    db.store.finish(&db.claim_one().await, &end).await.unwrap();
    let shown = page(&db, None, None).await;
    let open: Vec<_> = shown.interrupts.iter().map(|open| (open.run.as_str(), open.call.id.as_str(), open.style)).collect();
    let (interrupt, universal) = (ClientToolStyle::Interrupt, ClientToolStyle::Universal);
    assert_eq!(open, [("r1", "c1", interrupt), ("r1", "c2", interrupt), ("r2", "b1", universal)]);
    assert_eq!((shown.interrupts[0].call.name.as_str(), shown.interrupts[0].call.arguments.as_str()), ("get_location", "{}"));
    assert_eq!((ids(&shown.messages), shown.active_run), (vec!["m1".into(), "a1".into(), "m2".into(), "a2".into()], None));
    // Of a part only the rest waits.
    Ask::new("r3", [row("c1", "one")]).fresh(&db).await;
    let shown = page(&db, Some(1), Some("m2")).await;
    let open: Vec<_> = shown.interrupts.iter().map(|open| open.call.id.as_str()).collect();
    assert_eq!((open, ids(&shown.messages)), (vec!["c2", "b1"], vec!["a1".into(), "tool_c1".into()]));
}

async fn earlier_legs_are_shown_while_one_goes_on(db: Db) {
    waits(&db, "t", 1, &["c1"]).await;
    let run = Ask::new("r2", [row("c1", "one")]).fresh(&db).await;
    let so_far = ["m1", "a1", "tool_c1"];
    assert_eq!(
        (ids(&page(&db, None, None).await.messages), page(&db, None, None).await.active_run),
        (so_far.map(str::to_owned).to_vec(), Some(run.id.clone()))
    );
    let lease = db.claim_one().await;
    // Its own rows come with its stream, committed or not; a message that waits behind it is not shown yet.
    db.store.commit_step(&lease, &step(1, vec![calling("b1", &["own"])], frame(1, 1))).await.unwrap();
    db.say(&ada(), "t", "r3", "m3").await;
    assert_eq!(ids(&page(&db, None, None).await.messages), so_far);
    let mut end = end_waiting(calling("b2", &["c2"]), &["c2"]);
    end.step.step = 2;
    db.store.finish(&lease, &end).await.unwrap();
    // The message behind it is the active run now.
    let shown = page(&db, None, None).await;
    assert_eq!(
        (ids(&shown.messages), shown.active_run),
        (["m1", "a1", "tool_c1", "b1", "b2", "m3"].map(str::to_owned).to_vec(), Some(id("r3")))
    );
    db.answer(&db.claim_one().await, "a3").await;
    let last = Ask::new("r4", [row("c2", "two")]).fresh(&db).await;
    let shown = page(&db, None, None).await;
    assert_eq!(
        (ids(&shown.messages), shown.active_run),
        (["m1", "a1", "tool_c1", "b1", "b2", "tool_c2"].map(str::to_owned).to_vec(), Some(last.id))
    );
    db.answer(&db.claim_one().await, "b3").await;
    assert_eq!(db.shown(&ada(), "t").await, ["m1", "a1", "tool_c1", "b1", "b2", "tool_c2", "b3", "m3", "a3"]);
}

/// Pages from the end, whatever their size, are the whole; no page begins with a result.
async fn pages_at_every_boundary(db: Db) {
    db.say(&ada(), "t", "r0", "m0").await;
    db.answer(&db.claim_one().await, "a0").await;
    waits(&db, "t", 1, &["c1", "c2"]).await;
    Ask::new("part", [row("c2", "two")]).fresh(&db).await;
    check_pages(&db, &["m0", "a0", "m1", "a1", "tool_c2"]).await;
    Ask::new("r2", [row("c1", "one")]).fresh(&db).await;
    let so_far = ["m0", "a0", "m1", "a1", "tool_c2", "tool_c1"];
    check_pages(&db, &so_far).await;
    let lease = db.claim_one().await;
    db.store.commit_step(&lease, &step(1, vec![calling("b1", &["own"])], frame(1, 1))).await.unwrap();
    check_pages(&db, &so_far).await;
    let mut end = end_waiting(calling("b2", &["c3"]), &["c3"]);
    end.step.step = 2;
    db.store.finish(&lease, &end).await.unwrap();
    check_pages(&db, &["m0", "a0", "m1", "a1", "tool_c2", "tool_c1", "b1", "b2"]).await;
    db.say(&ada(), "t", "r9", "m9").await;
    check_pages(&db, &["m0", "a0", "m1", "a1", "tool_c2", "tool_c1", "b1", "b2", "tool_c3", "m9"]).await;
}

async fn check_pages(db: &Db, whole: &[&str]) {
    assert_eq!(db.shown(&ada(), "t").await, whole);
    for limit in 1..=u32::try_from(whole.len()).unwrap() + 1 {
        let mut pages: Vec<Vec<String>> = Vec::new();
        let mut before: Option<String> = None;
        loop {
            assert!(pages.len() <= whole.len(), "limit {limit}: {pages:?}");
            let page = page(db, Some(limit), before.as_deref()).await;
            let rows = ids(&page.messages);
            assert!(!rows[0].starts_with("tool_"), "limit {limit}: {rows:?}");
            assert!(rows.iter().filter(|row| !row.starts_with("tool_")).count() <= limit as usize, "limit {limit}: {rows:?}");
            before = Some(rows[0].clone());
            pages.push(rows);
            if !page.truncated {
                break;
            }
        }
        pages.reverse();
        assert_eq!(pages.concat(), whole, "limit {limit}");
    }
}
