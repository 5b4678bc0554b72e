//! `organization_info`.

use serde_json::json;

use crate::support::{Garage, Place};

on_both_engines! {
    an_organization_is_told_of_itself
}

async fn an_organization_is_told_of_itself(place: Place) {
    let garage = Garage::new(&place).await;
    let sql = "INSERT INTO garage_organizations (org_id, name, country, currency) VALUES ('acme', 'Acme', 'AT', 'EUR')";
    garage.execute(sql, &[]).await;
    let profile = json!({"name": "Acme", "country": "AT", "currency": "EUR"});
    let expected = json!({"organization": "acme", "profile": profile});
    assert_eq!(garage.ok("ada@acme", "organization_info", "").await, expected);
    assert_eq!(garage.ok("ada@globex", "organization_info", "{}").await, json!({"organization": "globex"}));
    let words = garage.refused("ada@globex", "organization_info", r#"{"organization":"acme"}"#).await;
    assert!(words.contains("organization"), "{words}");
}
