//! Request bodies, bounded in size and time.

use std::time::Duration;

use axum::{
    body::Body,
    http::{HeaderMap, header},
};
use bytes::{Bytes, BytesMut};
use domain::Code;
use http_body_util::BodyExt;

use crate::problem::ApiError;

/// The whole body must arrive within this.
const PATIENCE: Duration = Duration::from_secs(60);
/// Of a body that is too large so much more is thrown away, for so long, before the answer: a client that is still
/// writing when the socket closes never sees why.
const DRAIN: usize = 64 * 1024 * 1024;
const DRAIN_PATIENCE: Duration = Duration::from_secs(5);

/// Refuses what does not call itself JSON.
pub(crate) fn require_json(headers: &HeaderMap) -> Result<(), ApiError> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(ApiError::new(Code::UnsupportedMediaType, "send the body as content-type: application/json"))
}

/// The body, at most `limit` bytes of it; never more is held.
pub(crate) async fn read(headers: &HeaderMap, mut body: Body, limit: usize) -> Result<Bytes, ApiError> {
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    let fits = announced.is_none_or(|bytes| usize::try_from(bytes).is_ok_and(|bytes| bytes <= limit));
    if fits {
        let reading = collect(&mut body, limit);
        match tokio::time::timeout(PATIENCE, reading).await {
            Ok(Ok(Some(bytes))) => return Ok(bytes),
            Ok(Ok(None)) => {}
            Ok(Err(())) => return Err(ApiError::new(Code::InvalidRequest, "the body ended early; send it again")),
            Err(_) => return Err(ApiError::new(Code::InvalidRequest, "the body did not arrive within 60 s; send it again")),
        }
    }
    // A client that asked first has not begun to send.
    if !headers.contains_key(header::EXPECT) {
        let _ = tokio::time::timeout(DRAIN_PATIENCE, discard(&mut body, DRAIN)).await;
    }
    let detail =
        format!("the body has more than {limit} bytes (limits.body_bytes); send fewer old messages, the server has them");
    Err(ApiError::new(Code::BodyTooLarge, detail))
}

/// Reads a body nobody looks at, so that the connection stays in order.
pub(crate) async fn ignore(mut body: Body, limit: usize) {
    let _ = tokio::time::timeout(DRAIN_PATIENCE, discard(&mut body, limit)).await;
}

/// `None`: it is longer than `limit`.
async fn collect(body: &mut Body, limit: usize) -> Result<Option<Bytes>, ()> {
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame.map_err(drop)?.into_data() {
            if whole.len() + data.len() > limit {
                return Ok(None);
            }
            whole.extend_from_slice(&data);
        }
    }
    Ok(Some(whole.freeze()))
}

async fn discard(body: &mut Body, limit: usize) {
    let mut seen = 0;
    while let Some(Ok(frame)) = body.frame().await {
        seen += frame.data_ref().map_or(0, Bytes::len);
        if seen > limit {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::stream;

    use super::*;

    fn chunks(count: usize) -> Body {
        Body::from_stream(stream::iter((0..count).map(|_| Ok::<_, std::io::Error>(Bytes::from_static(b"0123456789")))))
    }

    #[tokio::test]
    async fn a_body_is_read_up_to_the_limit() {
        let headers = HeaderMap::new();
        assert_eq!(read(&headers, chunks(10), 100).await.unwrap().len(), 100);
        assert_eq!(read(&headers, chunks(11), 100).await.unwrap_err().code, Code::BodyTooLarge);
    }

    #[tokio::test]
    async fn an_announced_length_is_believed() {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_LENGTH, "101".parse().unwrap());
        assert_eq!(read(&headers, chunks(1), 100).await.unwrap_err().code, Code::BodyTooLarge);
    }
}
