//! `garage_cars`.

use serde_json::json;

use crate::support::{Garage, Place, each};

on_both_engines! {
    a_car_is_shown_with_its_figures_readable
    pages_go_to_the_end_and_hold_the_organization_s_cars_only
}

async fn a_car_is_shown_with_its_figures_readable(place: Place) {
    let garage = Garage::new(&place).await;
    assert_eq!(garage.ok("ada@acme", "garage_cars", "{}").await, json!({"cars": []}));
    garage.car("acme", "car-1").await;
    let expected = json!({"cars": [{
        "id": "car-1", "make": "Volvo", "model": "V60", "year": 2019, "plate": "B 1",
        "odometer": {"km": 84_310, "text": "84,310 km"}, "fuel": "diesel", "boughtOn": "2022-05-01",
        "price": {"minor": 2_149_000, "currency": "EUR", "text": "EUR 21,490.00"}, "screen": "/cars/car-1",
    }]});
    assert_eq!(garage.ok("ada@acme", "garage_cars", "{}").await, expected);
    assert_eq!(garage.ok("bob@acme", "garage_cars", "{}").await, expected);
    assert_eq!(garage.ok("ada@globex", "garage_cars", "{}").await, json!({"cars": []}));
    let words = garage.refused("ada@acme", "garage_cars", r#"{"organization":"globex"}"#).await;
    assert!(words.contains("organization"), "{words}");
    let words = garage.refused("ada@acme", "garage_cars", r#"{"cursor":""}"#).await;
    assert!(words.contains("nextCursor"), "{words}");
}

async fn pages_go_to_the_end_and_hold_the_organization_s_cars_only(place: Place) {
    let garage = Garage::new(&place).await;
    for number in 0..23 {
        garage.car("acme", &format!("c{number:02}")).await;
        garage.car("globex", &format!("c{number:02}x")).await;
    }
    let mut found = Vec::new();
    let mut arguments = json!({});
    for _ in 0..3 {
        let page = garage.ok("ada@acme", "garage_cars", &arguments.to_string()).await;
        found.extend(each(&page["cars"], "id").into_iter().map(str::to_owned));
        let Some(cursor) = page.get("nextCursor") else { break };
        arguments["cursor"] = cursor.clone();
    }
    assert_eq!(found, (0..23).map(|number| format!("c{number:02}")).collect::<Vec<_>>());
}
