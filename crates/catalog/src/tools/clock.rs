//! `clock`: the date and time where the person is.

use async_trait::async_trait;
use domain::{Category, Contract, Effect, ToolName};
use jiff::{Timestamp, tz::TimeZone};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Args, CallContext, Output, Read, ToolError, schema_of};

#[derive(Debug, Deserialize, JsonSchema)]
struct Place {
    /// IANA time zone such as Europe/Berlin; the user's own if absent.
    #[serde(default)]
    zone: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Now {
    /// RFC 3339 with the zone's offset.
    now: String,
    /// Year, month and day.
    date: String,
    weekday: String,
    /// The IANA time zone of `now`.
    zone: String,
}

/// The current date and time in a zone.
pub struct Clock(Contract);

impl Default for Clock {
    fn default() -> Self {
        Self(Contract {
            name: ToolName::parse("clock").expect("a valid literal"),
            title: "Date and time".to_owned(),
            description: "Tells the current date, weekday and time, in the user's time zone or in another one.".to_owned(),
            input: schema_of::<Place>(),
            output: schema_of::<Now>(),
            category: Category::parse("time").expect("a valid literal"),
            effect: Effect::Read,
        })
    }
}

#[async_trait]
impl Read for Clock {
    fn contract(&self) -> &Contract {
        &self.0
    }

    async fn call(&self, ctx: &CallContext, args: Args) -> Result<Output, ToolError> {
        let place: Place = args.parse()?;
        let zone = match &place.zone {
            Some(name) => TimeZone::get(name).map_err(|_| {
                ToolError::new(format!("there is no time zone \"{name}\"; use an IANA name such as Europe/Berlin"))
            })?,
            // What a token claims may be no zone at all; the answer says which one was taken.
            None => ctx.principal.zone.as_deref().and_then(|name| TimeZone::get(name).ok()).unwrap_or(TimeZone::UTC),
        };
        let name = zone.iana_name().unwrap_or("UTC").to_owned();
        let now = Timestamp::from_millisecond(ctx.clock.now_ms())
            .map_err(|_| ToolError::new("the clock is out of range"))?
            .to_zoned(zone);
        Output::of(&Now {
            now: now.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
            date: now.date().to_string(),
            weekday: now.strftime("%A").to_string(),
            zone: name,
        })
    }
}
