//! One vocabulary of codes for problem documents and RUN_ERROR.

use std::fmt;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $status:literal;)*) => {
        /// A kebab-case code; [`Code::status`] is its HTTP status where it refuses a request.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $($(#[$doc])* $name,)* }

        impl Code {
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// HTTP status of the refusal; 200 for codes that only a stream carries.
            pub fn status(self) -> u16 {
                match self { $(Self::$name => $status,)* }
            }
        }
    };
}

codes! {
    InvalidJson = "invalid-json", 400;
    BadOffset = "bad-offset", 400;
    UnsupportedProtocolVersion = "unsupported-protocol-version", 400;
    InvalidRequest = "invalid-request", 400;
    InvalidInput = "invalid-input", 422;
    BodyTooLarge = "body-too-large", 413;
    InputTooLarge = "input-too-large", 413;
    Unauthenticated = "unauthenticated", 401;
    NotAMember = "not-a-member", 403;
    FeatureOff = "feature-off", 403;
    Forbidden = "forbidden", 403;
    NotFound = "not-found", 404;
    RunNotFound = "run-not-found", 404;
    MethodNotAllowed = "method-not-allowed", 405;
    RunIdInUse = "run-id-in-use", 409;
    ThreadBusy = "thread-busy", 409;
    StreamExpired = "stream-expired", 410;
    UnsupportedMediaType = "unsupported-media-type", 415;
    RateLimited = "rate-limited", 429;
    QuotaExceeded = "quota-exceeded", 429;
    Overloaded = "overloaded", 503;
    NoWorker = "no-worker", 503;
    ModelUnconfigured = "model-unconfigured", 503;
    Unavailable = "unavailable", 503;
    Internal = "internal", 500;
    ModelUnavailable = "model-unavailable", 200;
    ModelRefused = "model-refused", 200;
    ContextTooLong = "context-too-long", 200;
    Deadline = "deadline", 200;
    Abandoned = "abandoned", 200;
    OutcomeUnknown = "outcome-unknown", 200;
    IncompleteBatch = "incomplete-batch", 200;
    UnknownInterrupt = "unknown-interrupt", 200;
    Conflict = "conflict", 200;
    Stale = "stale", 200;
}

impl Code {
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == text)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
