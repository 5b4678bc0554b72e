//! `todo_list` and `todo_detail`.

use serde_json::json;

use crate::support::{Garage, Place, each};

on_both_engines! {
    todos_are_filtered
    pages_go_to_the_end_and_hold_each_todo_once
    nobody_else_s_todos_are_seen
    a_todo_is_shown_whole
    bad_arguments_are_told
}

async fn todos_are_filtered(place: Place) {
    let garage = Garage::new(&place).await;
    garage.todo("ada@acme", "c", "Öl wechseln", "").await;
    garage.todo("ada@acme", "b", "100 % sauber_machen", "2026-12-24").await;
    garage.todo("ada@acme", "a", "Wash the car", "2026-11-02").await;
    garage.execute("UPDATE garage_todos SET status = 'done' WHERE id = 'a'", &[]).await;
    let check = async |arguments: &str, expected: &[&str]| {
        let found = garage.ok("ada@acme", "todo_list", arguments).await;
        assert_eq!(each(&found["todos"], "id"), expected, "{arguments}");
        assert_eq!(found.get("nextCursor"), None, "{arguments}");
    };
    check("{}", &["b", "c"]).await;
    check(r#"{"status":"done"}"#, &["a"]).await;
    check(r#"{"status":"all"}"#, &["a", "b", "c"]).await;
    check(r#"{"status":"all","dueBefore":"2026-12-24"}"#, &["a"]).await;
    check(r#"{"status":"all","dueBefore":"2026-12-25","limit":2}"#, &["a", "b"]).await;
    check(r#"{"text":"öL W"}"#, &["c"]).await;
    // What LIKE means by these is not what the person means.
    check(r#"{"text":"0 % s"}"#, &["b"]).await;
    check(r#"{"text":"R_M"}"#, &["b"]).await;
    check(r#"{"text":"%w"}"#, &[]).await;
    check(r#"{"text":"\\"}"#, &[]).await;
    check(r#"{"text":"' OR 1=1 --"}"#, &[]).await;
    check(r#"{"status":"all","dueBefore":null,"text":null,"cursor":null}"#, &["a", "b", "c"]).await;
}

async fn pages_go_to_the_end_and_hold_each_todo_once(place: Place) {
    let garage = Garage::new(&place).await;
    let mut expected = Vec::new();
    // Many of one day, some of none: the order within them is the ids'.
    for (day, count) in [("2026-12-01", 4), ("2026-12-02", 5), ("", 4)] {
        for number in 0..count {
            let id = format!("{}{number}/x", if day.is_empty() { "Z" } else { "a" }) + day;
            garage.todo("ada@acme", &id, "Something", day).await;
            expected.push(id);
        }
    }
    for limit in [1, 4, 12, 13, 50] {
        let mut found = Vec::new();
        let mut arguments = json!({"limit": limit});
        for _ in 0..=expected.len() {
            let page = garage.ok("ada@acme", "todo_list", &arguments.to_string()).await;
            let ids = each(&page["todos"], "id");
            assert!(ids.len() <= limit && !ids.is_empty());
            found.extend(ids.into_iter().map(str::to_owned));
            let Some(cursor) = page.get("nextCursor") else { break };
            arguments["cursor"] = cursor.clone();
        }
        assert_eq!(found, expected, "{limit} a page");
    }
    let page = garage.ok("ada@acme", "todo_list", "{}").await;
    assert_eq!(page["todos"].as_array().unwrap().len(), 13);
}

async fn nobody_else_s_todos_are_seen(place: Place) {
    let garage = Garage::new(&place).await;
    for who in ["ada@acme", "bob@acme", "ada@globex"] {
        garage.todo(who, "same", &format!("Of {who}"), "2026-12-01").await;
        garage.todo(who, &format!("only-{who}"), &format!("Of {who}"), "2026-12-02").await;
    }
    for who in ["ada@acme", "bob@acme", "ada@globex"] {
        let own = format!("Of {who}");
        for arguments in [r#"{"status":"all"}"#, r#"{"text":"of"}"#, r#"{"cursor":"0000-01-01/a"}"#] {
            let found = garage.ok(who, "todo_list", arguments).await;
            assert_eq!(each(&found["todos"], "title"), [&own, &own], "{who} {arguments}");
        }
        assert_eq!(garage.ok(who, "todo_detail", r#"{"id":"same"}"#).await["title"], json!(own));
    }
    for other in ["only-bob@acme", "only-ada@globex"] {
        let words = garage.refused("ada@acme", "todo_detail", &json!({ "id": other }).to_string()).await;
        assert!(words.contains("todo_list"), "{words}");
    }
    // Whoever is no member sees nothing at all.
    garage.todo("bob@globex", "x", "Left behind", "").await;
    let words = garage.refused("bob@globex", "todo_list", "{}").await;
    assert!(words.contains("no longer a member"), "{words}");
}

async fn a_todo_is_shown_whole(place: Place) {
    let garage = Garage::new(&place).await;
    garage.todo("ada@acme", "a", "Wash the car", "2026-11-02").await;
    let sql = "UPDATE garage_todos SET notes = 'With wax', car_id = 'car-1', status = 'done',
        created_at = 1796066840634, completed_at = 1796066900000";
    garage.execute(sql, &[]).await;
    // The same id in another organization is another car.
    garage.car("globex", "car-1").await;
    let mut expected = json!({
        "id": "a", "title": "Wash the car", "notes": "With wax", "status": "done", "due": "2026-11-02",
        "createdAt": "2026-11-30T19:27:20Z", "completedAt": "2026-11-30T19:28:20Z", "screen": "/todos/a",
    });
    assert_eq!(garage.ok("ada@acme", "todo_detail", r#"{"id":"a"}"#).await, expected);
    garage.car("acme", "car-1").await;
    expected["car"] = json!({"id": "car-1", "name": "Volvo V60, B 1"});
    assert_eq!(garage.ok("ada@acme", "todo_detail", r#"{"id":"a"}"#).await, expected);
}

async fn bad_arguments_are_told(place: Place) {
    let garage = Garage::new(&place).await;
    let check = async |tool: &str, arguments: &str, part: &str| {
        let words = garage.refused("ada@acme", tool, arguments).await;
        assert!(words.contains(part), "{arguments}: {words}");
    };
    check("todo_list", r#"{"status":"late"}"#, "/status").await;
    check("todo_list", r#"{"due_before":"2026-12-01"}"#, "due_before").await;
    check("todo_list", r#"{"dueBefore":"tomorrow"}"#, "YYYY-MM-DD").await;
    check("todo_list", r#"{"dueBefore":"2026-02-30"}"#, "YYYY-MM-DD").await;
    check("todo_list", r#"{"limit":0}"#, "/limit").await;
    check("todo_list", r#"{"limit":51}"#, "/limit").await;
    check("todo_list", r#"{"cursor":"next"}"#, "nextCursor").await;
    check("todo_list", r#"{"text":""}"#, "/text").await;
    check("todo_list", r#"{"text":"a\u0000b"}"#, "/text").await;
    check("todo_detail", "{}", "id").await;
    check("todo_detail", r#"{"id":7}"#, "/id").await;
    check("todo_detail", r#"{"id":"\u0000"}"#, "/id").await;
    check("todo_detail", r#"{"id":"unknown"}"#, "todo_list").await;
}
