//! From settings to a model.

use std::{sync::Arc, time::Duration};

use domain::{ChatModel, ModelRef, Secret};
use egress::{Client, Url};

use crate::{
    Api, PROVIDERS, Provider,
    endpoint::{Endpoint, Model},
    failover::Failover,
    provider,
    provider::Dialect,
    thinking::Thinking,
};

/// What `model.idle_timeout_seconds` is unless it is set.
pub const DEFAULT_IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// Most models that may stand behind the first.
pub const MAX_FALLBACKS: usize = 8;

/// The name of an endpoint given by its address alone.
const COMPATIBLE: &str = "openai-compatible";

/// The section `model` of the settings, `AI_PROVIDER`, `AI_MODEL` and the key variables already read into it.
#[derive(Debug, Clone)]
pub struct Config {
    /// A name of [`PROVIDERS`], or any other together with `base_url`.
    pub provider: Option<String>,
    /// The model's name; absent: the provider's default, or `default` at a `base_url` (servers of one model take any).
    pub name: Option<String>,
    /// Where the path of the API is appended, with or without a final `/`.
    pub base_url: Option<String>,
    pub api_key: Option<Secret>,
    /// What is spoken there; absent: what the provider speaks, chat completions at an address of one's own.
    pub api: Option<Api>,
    /// Whether the model is told how hard to think; absent: if its name is that of one known to take it.
    pub reasoning: Option<bool>,
    /// The models asked if the first one cannot answer, in this order; at most [`MAX_FALLBACKS`].
    pub fallbacks: Vec<Fallback>,
    pub idle_timeout: Duration,
}

/// One of `model.fallbacks`, written `provider/name`. One of the first model's own provider has its address, key and
/// API; any other has its own usual ones.
#[derive(Debug, Clone)]
pub struct Fallback {
    pub provider: String,
    pub name: String,
    /// From the provider's usual variable.
    pub api_key: Option<Secret>,
}

impl Fallback {
    /// Reads `provider/name`; the name may hold more of `/`.
    pub fn parse(text: &str) -> Option<Self> {
        let (provider, name) = text.trim().split_once('/')?;
        let (provider, name) = (provider.trim().to_owned(), name.trim().to_owned());
        (!provider.is_empty() && !name.is_empty()).then_some(Self { provider, name, api_key: None })
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            provider: None,
            name: None,
            base_url: None,
            api_key: None,
            api: None,
            reasoning: None,
            fallbacks: Vec::new(),
            idle_timeout: DEFAULT_IDLE_TIMEOUT,
        }
    }
}

/// Why the settings name no model that can be asked. The texts are for the operator and hold no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error(
        "model.provider \"{name}\" is not known: set model.base_url to its OpenAI-compatible address, or name one of {known}"
    )]
    UnknownProvider { name: String, known: String },
    /// Not fatal: the server starts, and a POST is refused with `model-unconfigured`.
    #[error("model.provider \"{provider}\" needs a key: set {variable} or model.api_key")]
    MissingKey { provider: String, variable: &'static str },
    #[error("model.provider \"{provider}\" has no default model: set model.name or AI_MODEL")]
    MissingName { provider: String },
    #[error("model.base_url is not a usable address: {0}")]
    BaseUrl(&'static str),
    #[error("model.api_key holds characters that no header may hold")]
    Key,
    #[error("model.fallbacks names more than {MAX_FALLBACKS} models")]
    TooManyFallbacks,
    #[error("model.fallbacks, \"{fallback}\": {error}")]
    Fallback { fallback: String, error: Box<ConfigError> },
}

/// The model the settings name, its fallbacks behind it; `Ok(None)` if they name neither provider nor address.
/// Connects to nothing.
pub fn build(config: Config, client: Client) -> Result<Option<Arc<dyn ChatModel>>, ConfigError> {
    let Some(first) = endpoint(config.clone())? else { return Ok(None) };
    if config.fallbacks.len() > MAX_FALLBACKS {
        return Err(ConfigError::TooManyFallbacks);
    }
    let mut endpoints = vec![first];
    for fallback in &config.fallbacks {
        let of = |error| ConfigError::Fallback {
            fallback: format!("{}/{}", fallback.provider, fallback.name),
            error: Box::new(error),
        };
        endpoints.extend(endpoint(behind(&config, &endpoints[0], fallback)).map_err(of)?);
    }
    let models = endpoints.into_iter().map(|endpoint| Model::new(endpoint, client.clone())).collect();
    Ok(Some(Arc::new(Failover::new(models))))
}

/// The settings of a fallback.
fn behind(config: &Config, first: &Endpoint, fallback: &Fallback) -> Config {
    let same = provider(&fallback.provider).map_or(fallback.provider.as_str(), |row| row.name) == first.model.provider;
    let own = Config {
        provider: Some(fallback.provider.clone()),
        name: Some(fallback.name.clone()),
        api_key: fallback.api_key.clone(),
        idle_timeout: config.idle_timeout,
        ..Config::default()
    };
    if !same {
        return own;
    }
    Config { base_url: config.base_url.clone(), api_key: config.api_key.clone(), api: config.api, ..own }
}

fn endpoint(config: Config) -> Result<Option<Endpoint>, ConfigError> {
    let set = |value: Option<String>| value.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let (named, base_url) = (set(config.provider), set(config.base_url));
    let Some(label) = named.clone().or_else(|| base_url.as_ref().map(|_| COMPATIBLE.to_owned())) else { return Ok(None) };
    let known = named.as_deref().and_then(provider);
    let api = config.api.or(known.map(|row| row.api)).unwrap_or(Api::Chat);
    let key = config.api_key.filter(|key| !key.is_blank());
    let base = match (&base_url, known) {
        (Some(own), _) => parse(own)?,
        (None, Some(row)) => {
            if let (None, Some(variable)) = (&key, row.key_variables.first().copied()) {
                return Err(ConfigError::MissingKey { provider: row.name.to_owned(), variable });
            }
            parse(row.base_url)?
        }
        (None, None) => return Err(ConfigError::UnknownProvider { name: label, known: names() }),
    };
    if key.as_ref().is_some_and(|key| !key.expose().trim().bytes().all(|byte| (0x21..0x7f).contains(&byte))) {
        return Err(ConfigError::Key);
    }
    let name = match set(config.name).or_else(|| known.and_then(|row| row.default_model).map(str::to_owned)) {
        Some(name) => name,
        None if base_url.is_some() => "default".to_owned(),
        None => return Err(ConfigError::MissingName { provider: label }),
    };
    let dialect = known.map_or(Dialect::COMPATIBLE, |row| row.dialect);
    let thinking = Thinking::of(api, dialect.effort, &name, config.reasoning);
    let url = api.wire().url(&base, &name);
    Ok(Some(Endpoint {
        model: ModelRef { provider: known.map_or(label, |row| row.name.to_owned()), name },
        api,
        url,
        key,
        thinking,
        idle_timeout: config.idle_timeout,
        dialect,
    }))
}

/// A base address.
fn parse(base: &str) -> Result<Url, ConfigError> {
    let url = Url::parse(base).map_err(|_| ConfigError::BaseUrl("write http://HOST/PATH or https://HOST/PATH"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(ConfigError::BaseUrl("write http://HOST/PATH or https://HOST/PATH"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ConfigError::BaseUrl("it holds a user name or password; use model.api_key"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(ConfigError::BaseUrl("it holds a query or fragment; the path is all that is used"));
    }
    Ok(url)
}

fn names() -> String {
    PROVIDERS.iter().map(|row: &Provider| row.name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
