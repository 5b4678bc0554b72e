//! Gemini: `POST {base}/models/{model}:streamGenerateContent?alt=sse`.

mod answer;
mod request;
mod shape;

use domain::{ChatRequest, Secret};
use egress::{EgressError, HeaderName, Request, Url};

use crate::{
    endpoint::Endpoint,
    wire::{Decode, Wire, below},
};

pub(crate) struct Gemini;

impl Wire for Gemini {
    fn url(&self, base: &Url, model: &str) -> Url {
        let model = model.strip_prefix("models/").unwrap_or(model);
        let mut url = below(base, "/v1beta", &format!("/models/{model}:streamGenerateContent"));
        url.set_query(Some("alt=sse"));
        url
    }

    fn headers(&self, request: Request, key: Option<&Secret>) -> Result<Request, EgressError> {
        match key {
            Some(key) => request.secret(HeaderName::from_static("x-goog-api-key"), key),
            None => Ok(request),
        }
    }

    fn body(&self, endpoint: &Endpoint, request: &ChatRequest) -> Vec<u8> {
        request::body(endpoint, request)
    }

    fn decoder(&self) -> Box<dyn Decode> {
        Box::<answer::Decoder>::default()
    }
}
