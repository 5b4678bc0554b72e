//! Reading JSON leniently: one unexpected `null` must not cost a turn.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::{Value, value::RawValue};

/// A call's arguments, which are a string as a rule, a piece of JSON text; some send the JSON itself. Of a string what
/// it says, of `null` nothing, of anything else its JSON text as it came.
pub(crate) fn json_text(json: &RawValue) -> Cow<'_, str> {
    match json.get() {
        "null" => Cow::Borrowed(""),
        text if text.starts_with('"') => serde_json::from_str::<String>(text).map_or(Cow::Borrowed(""), Cow::Owned),
        json => Cow::Borrowed(json),
    }
}

/// `null` as the default.
pub(crate) fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// A count of tokens; what is none is not worth an error.
pub(crate) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Value::deserialize(deserializer).map(|value| value.as_u64())
}
