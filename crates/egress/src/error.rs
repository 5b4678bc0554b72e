//! What can go wrong on the way, by what a caller can do about it.

use std::{error::Error, io};

use crate::resolve::{Blocked, Unresolved};

/// A request failed. The texts name a host and a port at most, never a path, a query, a user name, a header or a body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EgressError {
    /// Nobody listens there: nothing was sent, so sending again is safe.
    #[error("{host} refused the connection")]
    Refused { host: String },
    #[error("{host} did not answer in time")]
    Timeout { host: String },
    #[error("the address of {host} cannot be found")]
    Dns { host: String },
    /// The address is private, loopback or otherwise not on the public internet.
    #[error("{host} is not a public address")]
    Blocked { host: String },
    #[error("no secure connection to {host}: {reason}")]
    Tls { host: String, reason: &'static str },
    #[error("the response is larger than {max} bytes")]
    TooLarge { max: usize },
    #[error("the connection to {host} failed: {reason}")]
    Transport { host: String, reason: &'static str },
    /// The request itself cannot be sent: scheme, header or URL.
    #[error("the request cannot be sent: {0}")]
    Request(&'static str),
}

impl EgressError {
    /// Reads the cause out of reqwest's chain; the chain itself is dropped, it may hold the URL.
    pub(crate) fn from_reqwest(host: &str, error: &reqwest::Error) -> Self {
        let host = host.to_owned();
        if error.is_builder() {
            return Self::Request("it is not a valid HTTP request");
        }
        let mut reason = "it ended early";
        let mut source: Option<&(dyn Error + 'static)> = Some(error);
        while let Some(cause) = source {
            if cause.is::<Blocked>() {
                return Self::Blocked { host };
            }
            if cause.is::<Unresolved>() {
                return Self::Dns { host };
            }
            if let Some(tls) = cause.downcast_ref::<rustls::Error>() {
                return Self::Tls { host, reason: tls_reason(tls) };
            }
            let mut io = cause.downcast_ref::<io::Error>();
            while let Some(error) = io {
                match error.kind() {
                    io::ErrorKind::ConnectionRefused => return Self::Refused { host },
                    io::ErrorKind::TimedOut => return Self::Timeout { host },
                    kind => reason = io_reason(kind).unwrap_or(reason),
                }
                // `source` of an I/O error leaves out the error it wraps.
                let inner = error.get_ref();
                if let Some(tls) = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
                    return Self::Tls { host, reason: tls_reason(tls) };
                }
                io = inner.and_then(|inner| inner.downcast_ref());
            }
            source = cause.source();
        }
        if error.is_timeout() {
            return Self::Timeout { host };
        }
        if error.is_decode() && reason == "it ended early" {
            reason = "the body cannot be decoded";
        }
        Self::Transport { host, reason }
    }
}

fn tls_reason(error: &rustls::Error) -> &'static str {
    match error {
        rustls::Error::InvalidCertificate(rustls::CertificateError::Expired) => "its certificate has expired",
        rustls::Error::InvalidCertificate(
            rustls::CertificateError::NotValidForName | rustls::CertificateError::NotValidForNameContext { .. },
        ) => "its certificate is for another name",
        rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer) => "its certificate's issuer is unknown here",
        rustls::Error::InvalidCertificate(_) => "its certificate is not valid",
        rustls::Error::InvalidMessage(_) => "it does not speak TLS",
        _ => "the handshake failed",
    }
}

fn io_reason(kind: io::ErrorKind) -> Option<&'static str> {
    match kind {
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => Some("it was reset"),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => Some("the network is unreachable"),
        io::ErrorKind::AddrNotAvailable => Some("no local address is free"),
        io::ErrorKind::PermissionDenied => Some("the system does not allow it"),
        _ => None,
    }
}
