//! What a strict provider refuses of a chat request: `None` if it is well formed.

use std::collections::HashSet;

use serde_json::Value;

/// Why the request would be answered 400.
pub fn complaint(body: &Value) -> Option<String> {
    let Some(messages) = body["messages"].as_array().filter(|list| !list.is_empty()) else {
        return Some("messages must be a non-empty array".to_owned());
    };
    if body["model"].as_str().is_none_or(str::is_empty) {
        return Some("model is missing".to_owned());
    }
    let tools = body["tools"].as_array().map_or(0, Vec::len);
    if body.get("tools").is_some() && tools == 0 {
        return Some("tools must not be empty".to_owned());
    }
    if body.get("tool_choice").is_some() && tools == 0 {
        return Some("tool_choice without tools".to_owned());
    }
    for tool in body["tools"].as_array().into_iter().flatten() {
        let name = tool["function"]["name"].as_str().unwrap_or_default();
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || name.len() > 64 || !name.chars().all(plain) || tool["type"] != "function" {
            return Some(format!("tool {name:?} is no function with a valid name"));
        }
    }
    history(messages, tools > 0)
}

fn history(messages: &[Value], tools: bool) -> Option<String> {
    let mut seen = HashSet::new();
    let mut waiting: Vec<&str> = Vec::new();
    let mut before = "";
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role != "tool" && !waiting.is_empty() {
            return Some(format!("messages[{at}]: tool calls without results: {waiting:?}"));
        }
        match role {
            "system" | "developer" if matches!(before, "" | "system" | "developer") => {}
            "system" | "developer" => return Some(format!("messages[{at}]: system after the conversation began")),
            "user" if before == "user" => return Some(format!("messages[{at}]: two user messages in a row")),
            "user" if empty(&message["content"]) => return Some(format!("messages[{at}]: empty user content")),
            "user" => {}
            "assistant" if !matches!(before, "user" | "tool") => {
                return Some(format!("messages[{at}]: assistant after {before:?}"));
            }
            "assistant" => {
                let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
                if message.get("tool_calls").is_some() && calls.is_empty() {
                    return Some(format!("messages[{at}]: tool_calls must not be empty"));
                }
                if calls.is_empty() && empty(&message["content"]) {
                    return Some(format!("messages[{at}]: empty assistant message"));
                }
                if !calls.is_empty() && !tools {
                    return Some(format!("messages[{at}]: tool calls in the history and no tools in the request"));
                }
                for call in calls {
                    let id = call["id"].as_str().unwrap_or_default();
                    if id.is_empty() || !seen.insert(id) {
                        return Some(format!("messages[{at}]: empty or repeated tool call id {id:?}"));
                    }
                    let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
                    if !serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object()) {
                        return Some(format!("messages[{at}]: arguments of {id:?} are no JSON object"));
                    }
                    waiting.push(id);
                }
            }
            "tool" => {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                match waiting.iter().position(|open| *open == id) {
                    Some(place) => drop(waiting.remove(place)),
                    None => return Some(format!("messages[{at}]: result for {id:?}, which was not called or is answered")),
                }
                if !message["content"].is_string() && !message["content"].is_array() {
                    return Some(format!("messages[{at}]: tool result without content"));
                }
            }
            _ => return Some(format!("messages[{at}]: unknown role {role:?}")),
        }
        before = role;
    }
    if !waiting.is_empty() {
        return Some(format!("tool calls without results: {waiting:?}"));
    }
    (!matches!(before, "user" | "tool")).then(|| format!("the last message is of role {before:?}"))
}

fn empty(content: &Value) -> bool {
    match content {
        Value::String(text) => text.is_empty(),
        Value::Array(parts) => parts.is_empty(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(messages: Value, expected: Option<&str>) {
        let tool = json!({"type": "function", "function": {"name": "whoami"}});
        let got = complaint(&json!({"model": "m", "messages": messages, "tools": [tool]}));
        match (&got, expected) {
            (None, None) => {}
            (Some(got), Some(expected)) if got.contains(expected) => {}
            _ => panic!("{got:?} instead of {expected:?}"),
        }
    }

    fn call(id: &str, arguments: &str) -> Value {
        let function = json!({"name": "whoami", "arguments": arguments});
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": function}]})
    }

    fn result(id: &str) -> Value {
        json!({"role": "tool", "tool_call_id": id, "content": "ok"})
    }

    #[test]
    fn only_whole_histories_pass() {
        let user = json!({"role": "user", "content": "hi"});
        let said = json!({"role": "assistant", "content": "x"});
        check(json!([{"role": "system", "content": "s"}, user]), None);
        check(json!([user, call("a", "{}"), result("a"), said, user]), None);
        check(json!([user, call("a", "{}")]), Some("without results"));
        check(json!([user, call("a", "{}"), user]), Some("without results"));
        check(json!([user, result("a")]), Some("not called"));
        check(json!([user, call("a", "{}"), result("a"), result("a")]), Some("not called"));
        check(json!([user, call("a", "{}"), result("a"), call("a", "{}"), result("a")]), Some("repeated"));
        check(json!([user, call("a", "{"), result("a")]), Some("no JSON object"));
        check(json!([user, {"role": "assistant", "content": ""}, user]), Some("empty assistant"));
        check(json!([user, said, said, user]), Some("assistant after"));
        check(json!([user, user]), Some("two user messages"));
        check(json!([user, said]), Some("last message"));
        check(json!([user, {"role": "system", "content": "s"}, user]), Some("system after"));
    }
}
