//! Anthropic's Messages: `POST {base}/messages` with a stream asked for.

mod answer;
mod request;
mod shape;

use domain::{ChatRequest, Secret};
use egress::{EgressError, HeaderName, HeaderValue, Request, Url};

use crate::{
    endpoint::Endpoint,
    wire::{Decode, Wire, below},
};

pub(crate) struct Anthropic;

impl Wire for Anthropic {
    fn url(&self, base: &Url, _model: &str) -> Url {
        below(base, "/v1", "/messages")
    }

    fn headers(&self, request: Request, key: Option<&Secret>) -> Result<Request, EgressError> {
        let request = request.header(HeaderName::from_static("anthropic-version"), HeaderValue::from_static("2023-06-01"));
        match key {
            Some(key) => request.secret(HeaderName::from_static("x-api-key"), key),
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
