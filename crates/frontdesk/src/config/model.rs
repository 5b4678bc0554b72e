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
        let api = from.one_of("api", models::Api::ALL).map(|api| api.value);
        let reasoning = from.boolean("reasoning").map(|reasoning| reasoning.value);
        let fallbacks = from.list("fallbacks");
        for key in ["discover", "discover_ports", "record", "prices"] {
            from.later(key);
        }
        let idle = from.integer("idle_timeout_seconds", 1..=3_600).map(Duration::from_secs);

        let at = |place: Option<&Place>| place.cloned().unwrap_or(Place::Configuration);
        let places = Places {
            provider: at(provider.as_ref().map(|provider| &provider.at)),
            base_url: at(base_url.as_ref().map(|base_url| &base_url.at)),
            key: at(api_key.as_ref().map(|key| &key.at)),
            fallbacks: at(fallbacks.as_ref().map(|list| &list.at)),
        };
        let mut settings = models::Config {
            provider: provider.map(|provider| provider.value),
            name: name.map(|name| name.value),
            base_url: base_url.map(|base_url| base_url.value),
            api_key: api_key.map(|key| key.value),
            api,
            reasoning,
            fallbacks: Vec::new(),
            idle_timeout: idle.unwrap_or(models::DEFAULT_IDLE_TIMEOUT),
        };
        // Nothing connects here: what is wrong is said at the start, with its place, instead of at the first message.
        places.check(&settings, from);
        for written in fallbacks.map(|list| list.value).unwrap_or_default() {
            add_fallback(&mut settings, &written, &places, from);
        }
        Self { settings }
    }
}

/// Where the settings stand that something may be wrong with.
struct Places {
    provider: Place,
    base_url: Place,
    key: Place,
    fallbacks: Place,
}

impl Places {
    /// Says what is wrong with the model, if anything is; whether it can be asked.
    fn check(&self, settings: &models::Config, from: &mut Reader<'_>) -> bool {
        let Err(error) = models::build(settings.clone(), Client::new(Reach::Anywhere)) else { return true };
        let near = |name: &str| nearest(name, models::PROVIDERS.iter().map(|row| row.name)).map(str::to_owned);
        let message = error.to_string();
        match &error {
            ConfigError::MissingKey { .. } => from.problems.warn(&self.provider, "missing-key", message),
            ConfigError::UnknownProvider { name, .. } => {
                from.problems.error_near(&self.provider, "unknown-value", message, near(name));
            }
            ConfigError::MissingName { .. } => from.problems.error(&self.provider, "missing", message),
            ConfigError::BaseUrl(_) => from.problems.error(&self.base_url, "invalid-value", message),
            ConfigError::Key => from.problems.error(&self.key, "invalid-value", message),
            ConfigError::TooManyFallbacks => from.problems.error(&self.fallbacks, "out-of-range", message),
            ConfigError::Fallback { error, .. } => match error.as_ref() {
                ConfigError::MissingKey { .. } => {
                    from.problems.warn(&self.fallbacks, "missing-key", format!("{message}; it is left out"));
                }
                ConfigError::UnknownProvider { name, .. } => {
                    from.problems.error_near(&self.fallbacks, "unknown-value", message, near(name));
                }
                _ => from.problems.error(&self.fallbacks, "invalid-value", message),
            },
        }
        false
    }
}

/// Adds a model behind the others if it can be asked. One that lacks its key is left out; the rest is as it was.
fn add_fallback(settings: &mut models::Config, written: &str, places: &Places, from: &mut Reader<'_>) {
    let Some(fallback) = models::Fallback::parse(written) else {
        let message = format!("model.fallbacks must be a list of \"provider/name\", not \"{written}\"");
        return from.problems.error(&places.fallbacks, "invalid-value", message);
    };
    let api_key = usual_key(from, &fallback.provider).map(|key| key.value);
    let mut longer = settings.clone();
    longer.fallbacks.push(models::Fallback { api_key, ..fallback });
    // What is wrong with the first model was said, once.
    let first_is_sound = models::build(settings.clone(), Client::new(Reach::Anywhere)).is_ok();
    if first_is_sound && places.check(&longer, from) {
        *settings = longer;
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
