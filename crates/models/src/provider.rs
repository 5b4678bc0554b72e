//! The providers known by name.

use crate::{anthropic::Anthropic, chat::Chat, gemini::Gemini, responses::Responses, wire::Wire};

/// What a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// OpenAI-compatible chat completions.
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Anthropic,
    /// Gemini's `generateContent`, streamed.
    Gemini,
}

impl Api {
    /// By the names settings use.
    pub const ALL: &[(&str, Self)] =
        &[("chat", Self::Chat), ("responses", Self::Responses), ("anthropic", Self::Anthropic), ("gemini", Self::Gemini)];

    pub(crate) fn wire(self) -> &'static dyn Wire {
        match self {
            Self::Chat => &Chat,
            Self::Responses => &Responses,
            Self::Anthropic => &Anthropic,
            Self::Gemini => &Gemini,
        }
    }
}

/// What a provider's name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Provider {
    pub name: &'static str,
    /// Where the path of the API is appended, without a final `/`.
    pub base_url: &'static str,
    /// Environment variables that usually hold the key, the usual one first; empty: it needs none.
    pub key_variables: &'static [&'static str],
    /// The model asked if none is named.
    pub default_model: Option<&'static str>,
    /// What it speaks unless `model.api` says otherwise.
    pub api: Api,
    pub(crate) dialect: Dialect,
}

/// Where OpenAI-compatible endpoints differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// The name of the bound on the answer.
    pub(crate) max_tokens: &'static str,
    /// Send `stream_options`; those who refuse unknown fields report usage anyway.
    pub(crate) stream_options: bool,
    /// Send a `prompt_cache_key` that stands for the thread.
    pub(crate) cache_key: bool,
    /// Send `reasoning_effort` to models known to take it.
    pub(crate) effort: bool,
    /// Tool call ids must be exactly nine letters and digits.
    pub(crate) short_ids: bool,
    /// Takes `file` parts.
    pub(crate) files: bool,
}

impl Dialect {
    pub(crate) const COMPATIBLE: Self =
        Self { max_tokens: "max_tokens", stream_options: true, cache_key: false, effort: false, short_ids: false, files: false };
    const OPENAI: Self =
        Self { max_tokens: "max_completion_tokens", cache_key: true, effort: true, files: true, ..Self::COMPATIBLE };
    const MISTRAL: Self = Self { stream_options: false, short_ids: true, ..Self::COMPATIBLE };
    const OPENROUTER: Self = Self { files: true, ..Self::COMPATIBLE };
}

const fn chat(name: &'static str, base_url: &'static str, key_variables: &'static [&'static str]) -> Provider {
    Provider { name, base_url, key_variables, default_model: None, api: Api::Chat, dialect: Dialect::COMPATIBLE }
}

/// Every provider known by name, in the order help shows them.
pub const PROVIDERS: &[Provider] = &[
    Provider {
        default_model: Some("gpt-4.1-mini"),
        dialect: Dialect::OPENAI,
        ..chat("openai", "https://api.openai.com/v1", &["OPENAI_API_KEY"])
    },
    Provider {
        default_model: Some("mistral-medium-latest"),
        dialect: Dialect::MISTRAL,
        ..chat("mistral", "https://api.mistral.ai/v1", &["MISTRAL_API_KEY"])
    },
    Provider { default_model: Some("llama3.2"), ..chat("ollama", "http://127.0.0.1:11434/v1", &[]) },
    Provider {
        default_model: Some("openrouter/auto"),
        dialect: Dialect::OPENROUTER,
        ..chat("openrouter", "https://openrouter.ai/api/v1", &["OPENROUTER_API_KEY"])
    },
    Provider {
        default_model: Some("llama-3.3-70b-versatile"),
        ..chat("groq", "https://api.groq.com/openai/v1", &["GROQ_API_KEY"])
    },
    Provider { default_model: Some("deepseek-chat"), ..chat("deepseek", "https://api.deepseek.com/v1", &["DEEPSEEK_API_KEY"]) },
    Provider { default_model: Some("grok-4"), ..chat("xai", "https://api.x.ai/v1", &["XAI_API_KEY"]) },
    chat("together", "https://api.together.xyz/v1", &["TOGETHER_API_KEY"]),
    chat("fireworks", "https://api.fireworks.ai/inference/v1", &["FIREWORKS_API_KEY"]),
    chat("cerebras", "https://api.cerebras.ai/v1", &["CEREBRAS_API_KEY"]),
    chat("lmstudio", "http://127.0.0.1:1234/v1", &[]),
    chat("llamacpp", "http://127.0.0.1:8080/v1", &[]),
    Provider {
        default_model: Some("claude-sonnet-4-5"),
        api: Api::Anthropic,
        ..chat("anthropic", "https://api.anthropic.com/v1", &["ANTHROPIC_API_KEY"])
    },
    Provider {
        default_model: Some("gemini-2.5-flash"),
        api: Api::Gemini,
        ..chat("gemini", "https://generativelanguage.googleapis.com/v1beta", &["GEMINI_API_KEY", "GOOGLE_API_KEY"])
    },
    Provider {
        default_model: Some("gpt-4.1-mini"),
        api: Api::Responses,
        dialect: Dialect::OPENAI,
        ..chat("openai-responses", "https://api.openai.com/v1", &["OPENAI_API_KEY"])
    },
];

/// The provider of that name, in any case. Gemini is also known by its maker's name.
pub fn provider(name: &str) -> Option<&'static Provider> {
    let name = if name.eq_ignore_ascii_case("google") { "gemini" } else { name };
    PROVIDERS.iter().find(|known| known.name.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_used() {
        for row in PROVIDERS {
            assert_eq!(provider(&row.name.to_uppercase()), Some(row));
            assert!(url::Url::parse(row.base_url).is_ok() && !row.base_url.ends_with('/'), "{}", row.name);
        }
        assert_eq!(provider("Google").map(|row| row.api), Some(Api::Gemini));
        assert_eq!(provider("nobody"), None);
    }
}
