//! `[model]`: which chat model answers.

use std::time::Duration;

use egress::{Client, Reach};
use models::ConfigError;

use super::{
    Place, Secret,
    problem::nearest,
    reader::{Placed, Reader},
};

#[derive(Debug, Clone)]
pub struct Model {
    /// What `models` builds the model from; neither provider nor address: no model is configured.
    pub settings: models::Config,
}

impl Model {
    pub(super) fn read(from: &mut Reader<'_>) -> Self {
        let provider = from.text("provider");
        let name = from.text("name");
        let base_url = from.text("base_url");
        let api_key = from.secret("api_key").or_else(|| provider.as_ref().and_then(|provider| usual_key(from, &provider.value)));
        from.one_of("api", &[("chat", ())]);
        let reasoning = from.boolean("reasoning").map(|reasoning| reasoning.value);
        for key in ["fallbacks", "discover", "discover_ports", "record", "prices"] {
            from.later(key);
        }
        let idle = from.integer("idle_timeout_seconds", 1..=3_600).map(Duration::from_secs);

        let at = |place: Option<&Place>| place.cloned().unwrap_or(Place::Configuration);
        let provider_at = at(provider.as_ref().map(|provider| &provider.at));
        let base_url_at = at(base_url.as_ref().map(|base_url| &base_url.at));
        let key_at = at(api_key.as_ref().map(|key| &key.at));
        let settings = models::Config {
            provider: provider.map(|provider| provider.value),
            name: name.map(|name| name.value),
            base_url: base_url.map(|base_url| base_url.value),
            api_key: api_key.map(|key| key.value),
            reasoning,
            idle_timeout: idle.unwrap_or(models::DEFAULT_IDLE_TIMEOUT),
        };
        // Nothing connects here: what is wrong is said at the start, with its place, instead of at the first message.
        match models::build(settings.clone(), Client::new(Reach::Anywhere)) {
            Ok(_) => {}
            Err(error @ ConfigError::MissingKey { .. }) => from.problems.warn(&provider_at, "missing-key", error.to_string()),
            Err(error @ ConfigError::UnknownProvider { .. }) => {
                let near =
                    settings.provider.as_deref().and_then(|name| nearest(name, models::PROVIDERS.iter().map(|row| row.name)));
                from.problems.error_near(&provider_at, "unknown-value", error.to_string(), near.map(str::to_owned));
            }
            Err(error @ ConfigError::Unspoken { .. }) => from.problems.error(&provider_at, "not-available", error.to_string()),
            Err(error @ ConfigError::MissingName { .. }) => from.problems.error(&provider_at, "missing", error.to_string()),
            Err(error @ ConfigError::BaseUrl(_)) => from.problems.error(&base_url_at, "invalid-value", error.to_string()),
            Err(error @ ConfigError::Key) => from.problems.error(&key_at, "invalid-value", error.to_string()),
        }
        Self { settings }
    }
}

/// The key in the variable that the provider's own tools use. Without a named provider there is none: a key goes to
/// nobody it was not meant for.
fn usual_key(from: &Reader<'_>, provider: &str) -> Option<Placed<Secret>> {
    let variables = models::provider(provider)?.key_variables;
    variables.iter().find_map(|variable| {
        let key = from.environment.get(variable).map(str::trim).filter(|key| !key.is_empty())?;
        Some(Placed { value: Secret::new(key), at: Place::Variable((*variable).to_owned()) })
    })
}
