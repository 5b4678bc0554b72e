//! OpenAI-compatible chat completions: `POST {base}/chat/completions` with a stream asked for.

mod answer;
mod request;
mod shape;

use domain::{ChatRequest, Secret};
use egress::{EgressError, Request, Url};

use crate::{
    endpoint::Endpoint,
    wire::{Decode, Wire, below},
};

pub(crate) struct Chat;

impl Wire for Chat {
    fn url(&self, base: &Url, _model: &str) -> Url {
        below(base, "", "/chat/completions")
    }

    fn headers(&self, request: Request, key: Option<&Secret>) -> Result<Request, EgressError> {
        match key {
            Some(key) => request.bearer(key),
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
