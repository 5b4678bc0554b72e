//! The same answer as each provider documents it, frame by frame.

use models::Api;
use serde_json::{Value, json};

pub(crate) const TEXT: &str = "时间 ⏰ 🦀";
pub(crate) const THOUGHT: &str = "hm… 猫";

/// How one wire says things. Each function gives whole frames.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Speech(pub(crate) Api);

pub(crate) const ALL: [Speech; 4] = [Speech(Api::Chat), Speech(Api::Responses), Speech(Api::Anthropic), Speech(Api::Gemini)];

/// How the model stopped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Stop {
    Said,
    Called,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    Overloaded,
    RateLimited,
    Odd,
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

/// With the type beside the data too, as Anthropic and Responses send it.
fn event(value: &Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap_or_default())
}

fn delta(delta: &Value) -> String {
    data(&json!({"id": "c", "object": "chat.completion.chunk", "model": "m-1", "choices": [{"index": 0, "delta": delta}]}))
}

fn parts(parts: &Value) -> String {
    data(&json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}], "modelVersion": "m-1"}))
}

impl Speech {
    pub(crate) fn begin(self) -> String {
        match self.0 {
            Api::Chat => delta(&json!({"role": "assistant", "content": "", "tool_calls": null})),
            Api::Responses => event(
                &json!({"type": "response.created", "response": {"id": "r", "model": "m-1", "status": "in_progress", "error": null}}),
            ),
            Api::Anthropic => event(
                &json!({"type": "message_start", "message": {"id": "m", "model": "m-1", "content": [], "usage": {"input_tokens": 7, "output_tokens": 1}}}),
            ),
            Api::Gemini => data(
                &json!({"candidates": [{"content": {"role": "model", "parts": []}, "index": 0}], "usageMetadata": {"promptTokenCount": 7}, "modelVersion": "m-1"}),
            ),
        }
    }

    pub(crate) fn thought(self, text: &str) -> String {
        match self.0 {
            Api::Chat => delta(&json!({"reasoning_content": text})),
            Api::Responses => {
                event(
                    &json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning", "id": "rs"}}),
                ) + &event(
                    &json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": text}),
                ) + &event(
                    &json!({"type": "response.output_item.done", "output_index": 0, "item": {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": text}], "encrypted_content": "ZW5j"}}),
                )
            }
            Api::Anthropic => {
                event(
                    &json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
                ) + &event(
                    &json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": text}}),
                ) + &event(
                    &json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "c2ln"}}),
                ) + &event(&json!({"type": "content_block_stop", "index": 0}))
            }
            Api::Gemini => parts(&json!([{"text": text, "thought": true}])),
        }
    }

    pub(crate) fn text(self, text: &str) -> String {
        match self.0 {
            Api::Chat => delta(&json!({"content": text})),
            Api::Responses => {
                event(&json!({"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": text}))
            }
            Api::Anthropic => {
                event(&json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": text}}))
            }
            Api::Gemini => parts(&json!([{"text": text}])),
        }
    }

    /// A call begins; its arguments follow.
    pub(crate) fn call(self, key: &Value, id: &str, name: &str) -> String {
        match self.0 {
            Api::Chat => delta(
                &json!({"tool_calls": [{"index": key, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}]}),
            ),
            Api::Responses => event(
                &json!({"type": "response.output_item.added", "output_index": key, "item": {"type": "function_call", "id": "fc", "call_id": id, "name": name, "arguments": ""}}),
            ),
            Api::Anthropic => event(
                &json!({"type": "content_block_start", "index": key, "content_block": {"type": "tool_use", "id": id, "name": name, "input": {}}}),
            ),
            Api::Gemini => String::new(),
        }
    }

    /// More of its arguments, in whatever JSON stands for a string.
    pub(crate) fn arguments(self, key: &Value, arguments: &Value) -> String {
        match self.0 {
            Api::Chat => delta(&json!({"tool_calls": [{"index": key, "function": {"arguments": arguments}}]})),
            Api::Responses => {
                event(&json!({"type": "response.function_call_arguments.delta", "output_index": key, "delta": arguments}))
            }
            Api::Anthropic => event(
                &json!({"type": "content_block_delta", "index": key, "delta": {"type": "input_json_delta", "partial_json": arguments}}),
            ),
            Api::Gemini => String::new(),
        }
    }

    /// A call as a whole: Gemini knows no other.
    pub(crate) fn called(self, key: &Value, id: &str, name: &str, arguments: &Value) -> String {
        match self.0 {
            Api::Gemini => {
                parts(&json!([{"functionCall": {"id": id, "name": name, "args": arguments}, "thoughtSignature": "c2ln"}]))
            }
            _ => self.call(key, id, name) + &self.arguments(key, arguments),
        }
    }

    /// What makes an answer one that has ended.
    pub(crate) fn stop(self, stop: Stop) -> String {
        let called = stop == Stop::Called;
        match self.0 {
            Api::Chat => data(&json!({
                "choices": [{"index": 0, "delta": {}, "finish_reason": if called { "tool_calls" } else { "stop" }}],
                "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
            })),
            Api::Responses => event(&json!({"type": "response.completed", "response": {
                "status": "completed", "model": "m-1", "error": null, "incomplete_details": null,
                "usage": {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10},
            }})),
            Api::Anthropic => event(&json!({
                "type": "message_delta",
                "delta": {"stop_reason": if called { "tool_use" } else { "end_turn" }, "stop_sequence": null},
                "usage": {"output_tokens": 3},
            })),
            Api::Gemini => data(&json!({
                "candidates": [{"finishReason": "STOP", "index": 0}],
                "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 3, "totalTokenCount": 10},
            })),
        }
    }

    /// What stands after it, if anything does.
    pub(crate) fn end(self) -> String {
        match self.0 {
            Api::Chat => "data: [DONE]\n\n".to_owned(),
            Api::Anthropic => event(&json!({"type": "message_stop"})),
            Api::Responses | Api::Gemini => String::new(),
        }
    }

    /// An event that says nothing of the model's own.
    pub(crate) fn quiet(self) -> String {
        match self.0 {
            Api::Chat => delta(&json!({"content": ""})),
            Api::Responses => event(&json!({"type": "response.in_progress", "response": {"model": "m-1"}})),
            Api::Anthropic => event(&json!({"type": "ping"})),
            Api::Gemini => parts(&json!([{"text": ""}])),
        }
    }

    pub(crate) fn error(self, fault: Fault) -> Value {
        let (kind, code, status) = match fault {
            Fault::Overloaded => ("overloaded_error", 503, "UNAVAILABLE"),
            Fault::RateLimited => ("rate_limit_exceeded", 429, "RESOURCE_EXHAUSTED"),
            Fault::Odd => ("something", 299, "SOMETHING"),
        };
        match self.0 {
            Api::Chat => json!({"error": {"message": "leak", "type": kind}}),
            Api::Responses => json!({"type": "error", "code": kind, "message": "leak", "param": null}),
            Api::Anthropic => json!({"type": "error", "error": {"type": kind, "message": "leak"}}),
            Api::Gemini => json!({"error": {"code": code, "message": "leak", "status": status}}),
        }
    }

    pub(crate) fn fault(self, fault: Fault) -> String {
        match self.0 {
            Api::Chat | Api::Gemini => data(&self.error(fault)),
            Api::Responses | Api::Anthropic => event(&self.error(fault)),
        }
    }

    pub(crate) fn hello(self) -> String {
        self.begin() + &self.text("时间 ⏰") + &self.text(" 🦀") + &self.stop(Stop::Said) + &self.end()
    }

    /// Everything that may be in one answer.
    pub(crate) fn rich(self) -> String {
        let calls = match self.0 {
            Api::Gemini => {
                self.called(&json!(2), "a", "one", &json!({"a": "猫"})) + &self.called(&json!(3), "b", "two", &json!({}))
            }
            // The second one begins before the first one is over.
            _ => {
                self.call(&json!(2), "a", "one")
                    + &self.arguments(&json!(2), &json!("{\"a\":"))
                    + &self.call(&json!(3), "b", "two")
                    + &self.arguments(&json!(2), &json!("\"猫\"}"))
                    + &self.arguments(&json!(3), &json!("{}"))
            }
        };
        let quiet = self.quiet() + ": keep-alive\n\n";
        self.begin()
            + &self.thought(THOUGHT)
            + &quiet
            + &self.text("时间 ⏰")
            + &self.text(" 🦀")
            + &calls
            + &self.stop(Stop::Called)
            + &self.end()
    }

    /// The text alone, by a server that does not stream.
    pub(crate) fn whole(self) -> Value {
        match self.0 {
            Api::Chat => json!({"choices": [{"message": {"content": TEXT}, "finish_reason": "stop"}]}),
            Api::Responses => {
                json!({"status": "completed", "output": [{"type": "message", "content": [{"type": "output_text", "text": TEXT}]}]})
            }
            Api::Anthropic => json!({"type": "message", "content": [{"type": "text", "text": TEXT}], "stop_reason": "end_turn"}),
            Api::Gemini => json!({"candidates": [{"content": {"parts": [{"text": TEXT}]}, "finishReason": "STOP"}]}),
        }
    }
}
