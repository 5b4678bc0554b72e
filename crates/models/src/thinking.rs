//! How hard to think, in each provider's words.

use domain::Effort;

use crate::provider::Api;

/// How a model is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thinking {
    /// It is not: the model does not reason, or takes no word about it.
    Unsaid,
    /// OpenAI's effort. `summary`: a summary of the reasoning is asked for too, which not every account may.
    Effort { summary: bool },
    /// A number of tokens, apart from those of the answer.
    Budget,
    /// Anthropic's newer models: they decide by themselves, led by an effort.
    Adaptive,
    /// Gemini 3 and later: a level.
    Level,
}

impl Thinking {
    /// What the model of that name takes. `asked`: the operator's word (`model.reasoning`), which wins where there are
    /// two ways.
    pub(crate) fn of(api: Api, effort_is_known: bool, model: &str, asked: Option<bool>) -> Self {
        if asked == Some(false) {
            return Self::Unsaid;
        }
        let given = asked == Some(true);
        match api {
            Api::Chat if given || (effort_is_known && openai_reasons(model)) => Self::Effort { summary: false },
            Api::Responses if given || openai_reasons(model) => Self::Effort { summary: given },
            Api::Anthropic => match version(model, "claude") {
                Some(version) if version >= (4, 6) => Self::Adaptive,
                Some(version) if version >= (3, 7) => Self::Budget,
                _ if given => Self::Budget,
                _ => Self::Unsaid,
            },
            Api::Gemini => match version(model, "gemini") {
                Some(version) if version >= (3, 0) => Self::Level,
                Some(version) if version >= (2, 5) => Self::Budget,
                _ if given => Self::Budget,
                _ => Self::Unsaid,
            },
            Api::Chat | Api::Responses => Self::Unsaid,
        }
    }

    /// Tokens to allow on top of those of the answer, where a provider counts both in one: else a long thought would
    /// leave no room for words.
    pub(crate) fn room(self, effort: Effort) -> u32 {
        match self {
            Self::Unsaid => 0,
            _ => budget(effort),
        }
    }
}

/// Tokens for thinking.
pub(crate) fn budget(effort: Effort) -> u32 {
    match effort {
        Effort::Minimal => 1_024,
        Effort::Low => 2_048,
        Effort::Medium => 8_192,
        Effort::High => 16_384,
    }
}

/// OpenAI's models that take an effort: o1, o3, o4-mini …, gpt-5 …, but not the chat tunings of them.
fn openai_reasons(model: &str) -> bool {
    let numbered_o = model.strip_prefix('o').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    (numbered_o || model.starts_with("gpt-5")) && !model.contains("chat")
}

/// OpenAI's word. `minimal` exists for the first gpt-5 models only.
pub(crate) fn openai_effort(model: &str, effort: Effort) -> &'static str {
    match effort {
        Effort::Minimal if model.starts_with("gpt-5") && !model.starts_with("gpt-5.") => "minimal",
        effort => word(effort),
    }
}

/// The words that all who take words know.
pub(crate) fn word(effort: Effort) -> &'static str {
    match effort {
        Effort::Minimal | Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
    }
}

/// Major and minor number in a model's name, wherever they stand after its family's name: `claude-3-7-sonnet-20250219`,
/// `claude-opus-4-6`, `gemini-2.5-flash`. Numbers of more than two digits are dates.
pub(crate) fn version(model: &str, family: &str) -> Option<(u32, u32)> {
    let after = &model[model.find(family)? + family.len()..];
    let mut numbers = after
        .split(['-', '.', '@', ':', '/', '_'])
        .map(|word| word.parse::<u32>().ok().filter(|_| word.len() <= 2))
        .skip_while(Option::is_none);
    Some((numbers.next()??, numbers.next().flatten().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_its_version() {
        for (model, family, expected) in [
            ("claude-3-5-haiku-20241022", "claude", Some((3, 5))),
            ("claude-3-7-sonnet-latest", "claude", Some((3, 7))),
            ("claude-sonnet-4-20250514", "claude", Some((4, 0))),
            ("claude-opus-4-1-20250805", "claude", Some((4, 1))),
            ("anthropic/claude-opus-4.6", "claude", Some((4, 6))),
            ("claude-sonnet-5", "claude", Some((5, 0))),
            ("claude-instant", "claude", None),
            ("gemini-2.5-flash-lite", "gemini", Some((2, 5))),
            ("gemini-3-pro-preview", "gemini", Some((3, 0))),
            ("gemini-3.1-flash", "gemini", Some((3, 1))),
            ("gemini-flash-latest", "gemini", None),
            ("mistral", "claude", None),
        ] {
            assert_eq!(version(model, family), expected, "{model}");
        }
    }

    #[test]
    fn a_model_is_told_what_it_takes() {
        let of = |api, model, asked| Thinking::of(api, true, model, asked);
        assert_eq!(of(Api::Chat, "gpt-5-mini", None), Thinking::Effort { summary: false });
        assert_eq!(of(Api::Chat, "gpt-4.1", None), Thinking::Unsaid);
        assert_eq!(Thinking::of(Api::Chat, false, "gpt-5", None), Thinking::Unsaid);
        assert_eq!(of(Api::Responses, "o4-mini", None), Thinking::Effort { summary: false });
        assert_eq!(of(Api::Responses, "o4-mini", Some(true)), Thinking::Effort { summary: true });
        assert_eq!(of(Api::Responses, "gpt-4.1", None), Thinking::Unsaid);
        assert_eq!(of(Api::Anthropic, "claude-3-5-haiku-latest", None), Thinking::Unsaid);
        assert_eq!(of(Api::Anthropic, "claude-sonnet-4-5", None), Thinking::Budget);
        assert_eq!(of(Api::Anthropic, "claude-opus-4-7", None), Thinking::Adaptive);
        assert_eq!(of(Api::Anthropic, "local", Some(true)), Thinking::Budget);
        assert_eq!(of(Api::Gemini, "gemini-2.0-flash", None), Thinking::Unsaid);
        assert_eq!(of(Api::Gemini, "gemini-2.5-pro", None), Thinking::Budget);
        assert_eq!(of(Api::Gemini, "gemini-3-pro-preview", None), Thinking::Level);
        for api in [Api::Chat, Api::Responses, Api::Anthropic, Api::Gemini] {
            assert_eq!(of(api, "claude-opus-5 gemini-3 gpt-5", Some(false)), Thinking::Unsaid);
        }
    }
}
