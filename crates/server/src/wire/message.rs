//! A user's message as AG-UI writes it, into our parts.

use domain::{MessageId, Part, Source};
use serde::Deserialize;
use serde_json::value::RawValue;
use storage::NewMessage;

use super::{read, read_object, rows::Placed};
use crate::problem::{ApiError, excerpt};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WirePart<'a> {
    r#type: Option<String>,
    text: Option<String>,
    #[serde(borrow)]
    source: Option<&'a RawValue>,
    /// `binary` only, from here on (AG-UI before 1.0).
    mime_type: Option<String>,
    data: Option<String>,
    url: Option<String>,
    id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireSource {
    r#type: Option<String>,
    value: Option<String>,
    mime_type: Option<String>,
}

/// A row of role user.
pub(super) fn of_row(placed: &Placed<'_>) -> Result<NewMessage, ApiError> {
    let id = id(placed)?;
    let path = format!("messages[{}].content", placed.index);
    let content = placed.row.content.ok_or_else(|| ApiError::input(&path, "is missing"))?;
    let parts = content_parts(&path, content)?;
    Ok(NewMessage { id, parts })
}

/// A row's id.
pub(super) fn id(placed: &Placed<'_>) -> Result<MessageId, ApiError> {
    let path = format!("messages[{}].id", placed.index);
    let id = placed.row.id.ok_or_else(|| ApiError::input(&path, "is missing; every message has an id of its own"))?;
    MessageId::parse(read::<String>(&path, id)?).map_err(|error| ApiError::input(&path, error))
}

fn content_parts(path: &str, content: &RawValue) -> Result<Vec<Part>, ApiError> {
    if content.get().starts_with('"') {
        return Ok(vec![Part::Text { text: read(path, content)? }]);
    }
    if !content.get().starts_with('[') {
        return Err(ApiError::input(path, "is neither a text nor a list of parts"));
    }
    let rows: Vec<&RawValue> = read(path, content)?;
    rows.into_iter().enumerate().map(|(index, row)| part(&format!("{path}[{index}]"), row)).collect()
}

fn part(path: &str, raw: &RawValue) -> Result<Part, ApiError> {
    let part: WirePart<'_> = read_object(path, raw)?;
    let kind = part.r#type.as_deref().unwrap_or_default();
    match kind {
        "text" => match part.text {
            Some(text) => Ok(Part::Text { text }),
            None => Err(ApiError::input(&format!("{path}.text"), "is missing")),
        },
        "image" | "audio" | "video" | "document" => {
            let path = format!("{path}.source");
            let source = part.source.ok_or_else(|| ApiError::input(&path, "is missing"))?;
            let source = read_object(&path, source)?;
            Ok(of_kind(kind, self::source(&path, source)?))
        }
        "binary" => {
            let mime = part.mime_type.filter(|mime| !mime.is_empty());
            let kind = kind_of(mime.as_deref().unwrap_or_default());
            let source = match (part.data, part.url, part.id) {
                (Some(value), _, _) => match mime {
                    Some(mime) => Source::Data { value, mime },
                    None => return Err(ApiError::input(&format!("{path}.mimeType"), "is missing")),
                },
                (None, Some(value), _) => Source::Url { value, mime },
                (None, None, Some(value)) => Source::File { value, mime },
                (None, None, None) => return Err(ApiError::input(path, "has none of data, url and id")),
            };
            Ok(of_kind(kind, source))
        }
        other => {
            let other = excerpt(other, 40);
            Err(ApiError::input(&format!("{path}.type"), format!("is \"{other}\", not text, image, audio, video or document")))
        }
    }
}

fn source(path: &str, source: WireSource) -> Result<Source, ApiError> {
    let value = source.value.filter(|value| !value.is_empty());
    let value = value.ok_or_else(|| ApiError::input(&format!("{path}.value"), "is missing"))?;
    let mime = source.mime_type;
    match source.r#type.as_deref() {
        Some("data") => match mime {
            Some(mime) => Ok(Source::Data { value, mime }),
            None => Err(ApiError::input(&format!("{path}.mimeType"), "is missing")),
        },
        Some("url") => Ok(Source::Url { value, mime }),
        Some("file") => Ok(Source::File { value, mime }),
        _ => Err(ApiError::input(&format!("{path}.type"), "is not data, url or file")),
    }
}

fn kind_of(mime: &str) -> &'static str {
    match mime.split('/').next() {
        Some("image") => "image",
        Some("audio") => "audio",
        Some("video") => "video",
        _ => "document",
    }
}

fn of_kind(kind: &str, source: Source) -> Part {
    match kind {
        "image" => Part::Image { source },
        "audio" => Part::Audio { source },
        "video" => Part::Video { source },
        _ => Part::Document { source },
    }
}
