//! Step 1, on every run: what the screen or the channel reports. Untrusted; it changes no scope, policy or role.

/// Characters over all sources.
const MAX_CHARS: usize = 4_000;

/// What is shown to the model, one sentence a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grounding {
    pub(crate) facts: String,
    /// Something was left out at the end.
    pub(crate) cut: bool,
}

/// The sentences that fit, the last one cut at a sentence's end; `None` if nothing was reported. Intake stores no more
/// than fits, so a report that is exactly full counts as one that went on.
pub(crate) fn ground(sentences: &[String]) -> Option<Grounding> {
    let mut facts = String::new();
    let mut left = MAX_CHARS;
    let mut cut = false;
    for sentence in sentences {
        let chars = sentence.chars().count();
        cut = chars >= left;
        let part = if cut { whole_sentences(sentence, left, facts.is_empty()) } else { sentence.trim() };
        if !part.is_empty() {
            if !facts.is_empty() {
                facts.push('\n');
            }
            facts.push_str(part);
        }
        if cut {
            break;
        }
        left -= chars;
    }
    (cut || !facts.is_empty()).then_some(Grounding { facts, cut })
}

/// The longest start of `text` within `chars` that ends a sentence; if there is none, nothing, or a plain cut for
/// what would otherwise say nothing at all.
fn whole_sentences(text: &str, chars: usize, or_anything: bool) -> &str {
    let text = text.trim();
    let end = text.char_indices().nth(chars).map_or(text.len(), |(end, _)| end);
    let window = &text[..end];
    let ends_here = |at: usize, mark: char| {
        let after = &text[at + mark.len_utf8()..];
        matches!(mark, '\n' | '。' | '！' | '？')
            || (matches!(mark, '.' | '!' | '?') && (after.is_empty() || after.starts_with(char::is_whitespace)))
    };
    let stop = window.char_indices().rev().find(|(at, mark)| ends_here(*at, *mark));
    match stop {
        Some((at, mark)) => window[..at + mark.len_utf8()].trim_end(),
        None if or_anything => window,
        None => "",
    }
}

#[cfg(test)]
mod tests;
