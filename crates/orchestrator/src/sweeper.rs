//! Finding what nobody was told of.
