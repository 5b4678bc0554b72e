//! OpenAI's Responses: `POST {base}/responses` with a stream asked for. Nothing is stored there: what a reasoning model
//! needs of its earlier thoughts goes along, encrypted.

mod answer;
mod request;
mod shape;

use domain::{ChatRequest, Secret};
use egress::{EgressError, Request, Url};

use crate::{
    endpoint::Endpoint,
    wire::{Decode, Wire, below},
};

pub(crate) struct Responses;

impl Wire for Responses {
    fn url(&self, base: &Url, _model: &str) -> Url {
        below(base, "", "/responses")
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
