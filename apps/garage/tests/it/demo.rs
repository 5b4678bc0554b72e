//! What a first visitor finds.

use serde_json::json;

use crate::support::{Garage, Place, each};

on_both_engines! {
    one_organization_is_full_and_one_is_empty
    filling_at_once_fills_once
    what_somebody_has_is_left_alone
}

async fn one_organization_is_full_and_one_is_empty(place: Place) {
    let garage = Garage::full(&place).await;
    let info = garage.ok("local@local", "organization_info", "{}").await;
    assert_eq!(info["profile"]["currency"], json!("EUR"));
    let cars = garage.ok("local@local", "garage_cars", "{}").await;
    assert_eq!(each(&cars["cars"], "id"), ["car-1", "car-2", "car-3"]);
    let todos = garage.ok("local@local", "todo_list", "{}").await;
    let open = ["todo-1", "todo-2", "todo-3", "todo-4", "todo-5", "todo-6"];
    assert_eq!(each(&todos["todos"], "id"), open);
    for id in open.iter().chain(&["todo-7", "todo-8"]) {
        garage.ok("local@local", "todo_detail", &json!({ "id": id }).to_string()).await;
    }
    assert_eq!(garage.ok("local@empty", "todo_list", r#"{"status":"all"}"#).await, json!({"todos": []}));
    assert_eq!(garage.ok("local@empty", "garage_cars", "{}").await, json!({"cars": []}));
    assert_eq!(garage.ok("local@empty", "organization_info", "{}").await, json!({"organization": "empty"}));
}

async fn filling_at_once_fills_once(place: Place) {
    let garage = Garage::new(&place).await;
    let filling: Vec<_> = (0..4).map(|_| tokio::spawn(garage::demo::fill(garage.store.clone()))).collect();
    for fill in filling {
        fill.await.unwrap().unwrap();
    }
    let mut tx = garage.store.read().await.unwrap();
    for (table, rows) in [("garage_organizations", 1), ("garage_cars", 3), ("garage_todos", 8)] {
        let row = tx.row(&format!("SELECT COUNT(*) FROM {table}"), &[]).await.unwrap().unwrap();
        assert_eq!(row.get::<i64>(0).unwrap(), rows, "{table}");
    }
}

async fn what_somebody_has_is_left_alone(place: Place) {
    let garage = Garage::new(&place).await;
    garage.car("local", "mine").await;
    garage::demo::fill(garage.store.clone()).await.unwrap();
    let mut tx = garage.store.read().await.unwrap();
    let row = tx.row("SELECT COUNT(*) FROM garage_todos", &[]).await.unwrap().unwrap();
    assert_eq!(row.get::<i64>(0).unwrap(), 0);
}
