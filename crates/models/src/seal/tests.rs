use domain::{ToolCallId, ToolName};

use super::*;

fn model(name: &str) -> ModelRef {
    ModelRef { provider: "p".into(), name: name.into() }
}

fn call(id: &str) -> ToolCall {
    ToolCall { id: ToolCallId::parse(id).unwrap(), name: ToolName::parse("clock").unwrap(), arguments: "{}".into() }
}

fn sealed() -> Reasoning {
    let mut layout = Layout::default();
    layout.thinking(2);
    layout.sign_thinking("s1", "r1");
    layout.set_apart();
    layout.thinking("猫".len());
    layout.sign_thinking("s", "");
    layout.sign_thinking("2", "");
    layout.opaque("dark");
    layout.text(1);
    layout.text(1);
    layout.call();
    layout.sign_call("s3");
    layout.sign_call("s4");
    layout.text(2);
    layout.sign_text(1, "s5");
    layout.sign_text(0, "s6");
    Reasoning { text: "hm猫".into(), signature: layout.sealed(&model("m")) }
}

#[test]
fn the_order_and_the_signatures_come_back() {
    let (reasoning, calls) = (sealed(), [call("call_1")]);
    let (m, text) = (model("m"), "abcd");
    let stored = Stored::new(&m, text, Some(&reasoning), &calls);
    assert!(stored.is_sealed());
    assert_eq!(
        stored.pieces(),
        [
            Piece::Thinking { text: "hm", signature: "s1", id: "r1" },
            Piece::Thinking { text: "猫", signature: "s2", id: "" },
            Piece::Opaque { data: "dark" },
            Piece::Text { text: "ab", signature: "" },
            Piece::Call { call: &calls[0], signature: "s3" },
            Piece::Text { text: "c", signature: "" },
            Piece::Text { text: "d", signature: "s5" },
            Piece::Text { text: "", signature: "s6" },
        ]
    );
}

#[test]
fn what_it_was_not_made_for_it_does_not_fit() {
    let (reasoning, calls) = (sealed(), [call("call_1"), call("call_2")]);
    let plain = |name: &str, text: &str, reasoning: &Reasoning, calls: &[ToolCall]| {
        let m = model(name);
        let stored = Stored::new(&m, text, Some(reasoning), calls);
        assert!(!stored.is_sealed());
        assert!(
            stored
                .pieces()
                .iter()
                .all(|piece| matches!(piece, Piece::Text { signature: "", .. } | Piece::Call { signature: "", .. }))
        );
    };
    plain("another", "abcd", &reasoning, &calls[..1]);
    plain("m", "abcde", &reasoning, &calls[..1]);
    plain("m", "猫", &reasoning, &calls[..1]);
    plain("m", "abcd", &reasoning, &calls);
    plain("m", "abcd", &reasoning, &[]);
    plain("m", "abcd", &Reasoning { text: "h".into(), ..reasoning.clone() }, &calls[..1]);
    plain("m", "abcd", &Reasoning { signature: Some("c2lnbmVk".into()), ..reasoning }, &calls[..1]);
}

#[test]
fn without_a_signature_there_is_no_seal() {
    let mut layout = Layout::default();
    layout.thinking(1);
    layout.text(1);
    layout.call();
    assert_eq!(layout.sealed(&model("m")), None);
    let mut layout = Layout::default();
    for _ in 0..=MAX_PIECES {
        layout.opaque("x");
    }
    assert_eq!(layout.sealed(&model("m")), None);
}
