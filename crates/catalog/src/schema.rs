//! JSON Schemas: derived, compiled once, and their complaints in words.

use jsonschema::Validator;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

/// At most so many complaints of one check are told.
const MAX_COMPLAINTS: usize = 5;
/// Characters of one complaint.
const MAX_COMPLAINT_CHARS: usize = 300;

/// The JSON Schema (2020-12) of a tool's `Args` or `Output`, self-contained, as a model may see it.
pub fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(object) = schema.as_object_mut() {
        // The type's name says nothing to a model, and some providers insist on `properties`.
        object.remove("title");
        if object.get("type").is_some_and(|kind| kind == "object") {
            object.entry("properties").or_insert_with(|| Value::Object(Map::new()));
        }
    }
    schema
}

/// Compiles `schema`; nothing is fetched, so a remote `$ref` is an error.
pub(crate) fn compile(schema: &Value) -> Result<Validator, String> {
    jsonschema::draft202012::new(schema).map_err(|error| clip(&error.to_string()))
}

/// What is wrong with `value`, with the place of each fault; `None` if it fits.
pub(crate) fn complaints(validator: &Validator, value: &Value) -> Option<String> {
    let mut words = Vec::new();
    for error in validator.iter_errors(value) {
        if words.len() == MAX_COMPLAINTS {
            words.push("and more".to_owned());
            break;
        }
        let place = error.instance_path().to_string();
        let place = if place.is_empty() { "/".to_owned() } else { place };
        words.push(format!("at {place}: {}", clip(&error.to_string())));
    }
    (!words.is_empty()).then(|| words.join("; "))
}

fn clip(text: &str) -> String {
    match text.char_indices().nth(MAX_COMPLAINT_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
