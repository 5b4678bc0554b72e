use domain::{MessageId, Part, Source};
use serde_json::json;

use super::*;

fn user(parts: Vec<Part>) -> Message {
    Message::User { id: MessageId::parse("m").unwrap(), parts }
}

#[test]
fn a_part_that_older_clients_refuse_does_not_cost_them_the_transcript() {
    let text = Part::Text { text: "look".to_owned() };
    let url = Part::Image { source: Source::Url { value: "https://example.com/p.png".to_owned(), mime: None } };
    let file = Part::Document { source: Source::File { value: "file-1".to_owned(), mime: None } };
    let row = user(vec![text, url, file]);
    let text = json!({"type": "text", "text": "look"});
    let url = json!({"type": "image", "source": {"type": "url", "value": "https://example.com/p.png"}});
    let file = json!({"type": "document", "source": {"type": "file", "value": "file-1"}});
    let content = |dialect| message(&row, dialect).unwrap()["content"].clone();
    assert_eq!(content(Dialect::of(Some("1.0"))), json!([text, url, file]));
    assert_eq!(content(Dialect::of(None)), json!([text, url]));
}
