//! From settings to a model.

use std::{sync::Arc, time::Duration};

use domain::{ChatModel, ModelRef, Secret};
use egress::{Client, Url};

use crate::{
    PROVIDERS, Provider, Wire,
    chat::{Chat, Endpoint},
    provider,
    provider::Dialect,
};

/// What `model.idle_timeout_seconds` is unless it is set.
pub const DEFAULT_IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// The name of an endpoint given by its address alone.
const COMPATIBLE: &str = "openai-compatible";

/// The section `model` of the settings, `AI_PROVIDER`, `AI_MODEL` and the key variables already read into it.
#[derive(Debug, Clone)]
pub struct Config {
    /// A name of [`PROVIDERS`], or any other together with `base_url`.
    pub provider: Option<String>,
    /// The model's name; absent: the provider's default, or `default` at a `base_url` (servers of one model take any).
    pub name: Option<String>,
    /// Where `/chat/completions` is appended, with or without a final `/`.
    pub base_url: Option<String>,
    pub api_key: Option<Secret>,
    /// Whether the endpoint takes `reasoning_effort`; absent: only OpenAI's reasoning models do.
    pub reasoning: Option<bool>,
    pub idle_timeout: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self { provider: None, name: None, base_url: None, api_key: None, reasoning: None, idle_timeout: DEFAULT_IDLE_TIMEOUT }
    }
}

/// Why the settings name no model that can be asked. The texts are for the operator and hold no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error(
        "model.provider \"{name}\" is not known: set model.base_url to its OpenAI-compatible address, or name one of {known}"
    )]
    UnknownProvider { name: String, known: String },
    #[error(
        "model.provider \"{provider}\" cannot be used yet: this version speaks only OpenAI-compatible chat; set model.base_url to an OpenAI-compatible address of it, or name another provider"
    )]
    Unspoken { provider: String },
    /// Not fatal: the server starts, and a POST is refused with `model-unconfigured`.
    #[error("model.provider \"{provider}\" needs a key: set {variable} or model.api_key")]
    MissingKey { provider: String, variable: &'static str },
    #[error("model.provider \"{provider}\" has no default model: set model.name or AI_MODEL")]
    MissingName { provider: String },
    #[error("model.base_url is not a usable address: {0}")]
    BaseUrl(&'static str),
    #[error("model.api_key holds characters that no header may hold")]
    Key,
}

/// The model the settings name; `Ok(None)` if they name neither provider nor address. Connects to nothing.
pub fn build(config: Config, client: Client) -> Result<Option<Arc<dyn ChatModel>>, ConfigError> {
    Ok(endpoint(config)?.map(|endpoint| Arc::new(Chat::new(endpoint, client)) as Arc<dyn ChatModel>))
}

fn endpoint(config: Config) -> Result<Option<Endpoint>, ConfigError> {
    let set = |value: Option<String>| value.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let (named, base_url) = (set(config.provider), set(config.base_url));
    let Some(label) = named.clone().or_else(|| base_url.as_ref().map(|_| COMPATIBLE.to_owned())) else { return Ok(None) };
    let known = named.as_deref().and_then(provider);
    // An address of one's own makes any provider OpenAI-compatible, also those whose own wire is not spoken.
    let spoken = known.filter(|known| known.wire == Wire::Chat);
    let key = config.api_key.filter(|key| !key.is_blank());
    let base = match (&base_url, spoken) {
        (Some(own), _) => parse(own)?,
        (None, Some(row)) => {
            if let (None, Some(variable)) = (&key, row.key_variables.first().copied()) {
                return Err(ConfigError::MissingKey { provider: row.name.to_owned(), variable });
            }
            parse(row.base_url)?
        }
        (None, None) if known.is_some() => return Err(ConfigError::Unspoken { provider: label }),
        (None, None) => return Err(ConfigError::UnknownProvider { name: label, known: names() }),
    };
    if key.as_ref().is_some_and(|key| !key.expose().trim().bytes().all(|byte| (0x21..0x7f).contains(&byte))) {
        return Err(ConfigError::Key);
    }
    let name = match set(config.name).or_else(|| spoken.and_then(|row| row.default_model).map(str::to_owned)) {
        Some(name) => name,
        None if base_url.is_some() => "default".to_owned(),
        None => return Err(ConfigError::MissingName { provider: label }),
    };
    let dialect = spoken.map_or(Dialect::COMPATIBLE, |row| row.dialect);
    let effort = config.reasoning.unwrap_or_else(|| dialect.effort && reasons(&name));
    Ok(Some(Endpoint {
        model: ModelRef { provider: known.map_or(label, |row| row.name.to_owned()), name },
        url: base,
        key,
        effort,
        idle_timeout: config.idle_timeout,
        dialect,
    }))
}

/// The address of the completions. The provider's own URL may end with it already, copied from somebody's example.
fn parse(base: &str) -> Result<Url, ConfigError> {
    let mut url = Url::parse(base).map_err(|_| ConfigError::BaseUrl("write http://HOST/PATH or https://HOST/PATH"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(ConfigError::BaseUrl("write http://HOST/PATH or https://HOST/PATH"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ConfigError::BaseUrl("it holds a user name or password; use model.api_key"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(ConfigError::BaseUrl("it holds a query or fragment; the path is all that is used"));
    }
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix("/chat/completions").unwrap_or(path);
    let path = format!("{path}/chat/completions");
    url.set_path(&path);
    Ok(url)
}

/// OpenAI's models that take an effort: o1, o3, o4-mini …, gpt-5 …, but not the chat tunings of them.
fn reasons(model: &str) -> bool {
    let numbered_o = model.strip_prefix('o').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    (numbered_o || model.starts_with("gpt-5")) && !model.contains("chat")
}

fn names() -> String {
    let spoken = |row: &&Provider| row.wire == Wire::Chat;
    PROVIDERS.iter().filter(spoken).map(|row| row.name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
