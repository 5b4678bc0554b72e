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

/// The sentences that fit, the last one cut at a sentence's end; `None` if nothing was reported.
pub(crate) fn ground(sentences: &[String]) -> Option<Grounding> {
    let mut facts = String::new();
    let mut used = 0;
    let mut cut = false;
    for sentence in sentences.iter().map(|sentence| sentence.trim()).filter(|sentence| !sentence.is_empty()) {
        let newline = usize::from(used > 0);
        let left = MAX_CHARS.saturating_sub(used + newline);
        let fits = sentence.chars().count() <= left;
        let part = if fits { sentence } else { whole_sentences(sentence, left, used == 0) };
        if !part.is_empty() {
            if newline > 0 {
                facts.push('\n');
            }
            facts.push_str(part);
            used += newline + part.chars().count();
        }
        if !fits {
            cut = true;
            break;
        }
    }
    (cut || !facts.is_empty()).then_some(Grounding { facts, cut })
}

/// The longest start of `text` within `chars` that ends a sentence; if there is none, nothing, or a plain cut for
/// what would otherwise say nothing at all.
fn whole_sentences(text: &str, chars: usize, or_anything: bool) -> &str {
    let end = text.char_indices().nth(chars).map_or(text.len(), |(end, _)| end);
    let window = &text[..end];
    let ends_here = |at: usize, mark: char| {
        let after = &text[at + mark.len_utf8()..];
        matches!(mark, '\n' | '。' | '！' | '？') || (matches!(mark, '.' | '!' | '?') && after.starts_with(char::is_whitespace))
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
