//! What comes back, read within bounds.

use bytes::{Bytes, BytesMut};
use futures::{StreamExt, stream::BoxStream};
use http::{HeaderMap, StatusCode, header};
use tokio::time::{Instant, timeout_at};

use crate::EgressError;

/// The body as it comes. Each chunk is at most what one read of the connection gave, decoded; dropping the stream in
/// mid-body closes the connection.
pub type Chunks = BoxStream<'static, Result<Bytes, EgressError>>;

/// Status and headers have come; the body is still on its way.
pub struct Response {
    pub(crate) inner: reqwest::Response,
    pub(crate) host: String,
    pub(crate) deadline: Instant,
}

impl Response {
    pub fn status(&self) -> StatusCode {
        self.inner.status()
    }

    pub fn headers(&self) -> &HeaderMap {
        self.inner.headers()
    }

    /// The media type, lower case, without parameters; `None` if absent or unreadable.
    pub fn content_type(&self) -> Option<String> {
        let value = self.headers().get(header::CONTENT_TYPE)?.to_str().ok()?;
        Some(value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
    }

    /// The whole body, decoded, if it has at most `max` bytes and comes within the request's timeout.
    pub async fn bytes(self, max: usize) -> Result<Bytes, EgressError> {
        let (deadline, host) = (self.deadline, self.host.clone());
        let mut chunks = self.chunks();
        let read = async {
            let mut body = BytesMut::new();
            while let Some(chunk) = chunks.next().await {
                let chunk = chunk?;
                if chunk.len() > max - body.len() {
                    return Err(EgressError::TooLarge { max });
                }
                body.extend_from_slice(&chunk);
            }
            Ok(body.freeze())
        };
        timeout_at(deadline, read).await.unwrap_or(Err(EgressError::Timeout { host }))
    }

    /// The body as it comes, without a timer and without a bound: its reader brings both.
    pub fn chunks(self) -> Chunks {
        let host = self.host;
        self.inner.bytes_stream().map(move |chunk| chunk.map_err(|error| EgressError::from_reqwest(&host, &error))).boxed()
    }
}

impl std::fmt::Debug for Response {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Response({} from {})", self.status(), self.host)
    }
}
