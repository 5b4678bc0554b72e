//! Standard output and standard error of commands.

use std::io::{self, ErrorKind, IsTerminal, Write};

use serde::Serialize;

use crate::{Failure, exit::Message};

/// Writes a line to standard output and flushes it. A reader that closed the pipe has had enough: that is no failure.
pub(crate) fn line(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// One JSON document, indented.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::failed(error.to_string()))?;
    Ok(line(&text)?)
}

/// Writes a line to standard error; nothing can be done if that fails.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Says why a command failed.
pub(crate) fn failure(name: &str, failure: &Failure) {
    match &failure.message {
        // It may quote a server or a model.
        Message::Sentence(sentence) => note(&format!("{name}: {}", plain(sentence))),
        Message::Findings(findings) => note(findings),
    }
}

/// Text of a model or person: on a terminal without what could steer it, else as it is.
pub(crate) fn shown(text: &str) -> String {
    if io::stdout().is_terminal() { plain(text) } else { text.to_owned() }
}

/// `text` without control characters other than newline and tab.
fn plain(text: &str) -> String {
    text.chars().filter(|character| !character.is_control() || matches!(character, '\n' | '\t')).collect()
}

/// Milliseconds since the epoch as RFC 3339 in UTC, whole seconds.
pub(crate) fn time(ms: i64) -> String {
    match jiff::Timestamp::from_second(ms.div_euclid(1_000)) {
        Ok(time) => time.to_string(),
        Err(_) => ms.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_steer_a_terminal() {
        assert_eq!(plain("a\x1b[2J\tb\nc\u{9b}1m"), "a[2J\tb\nc1m");
    }

    #[test]
    fn times_are_utc() {
        assert_eq!(time(1_796_066_840_634), "2026-11-30T19:27:20Z");
    }
}
