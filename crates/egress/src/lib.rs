//! egress
