//! Amounts: minor units of a currency, and how a person reads them.

use schemars::JsonSchema;
use serde::Serialize;

/// Currencies whose minor unit is not a hundredth (ISO 4217).
const DIGITS: [(&str, u32); 7] = [("CLP", 0), ("ISK", 0), ("JPY", 0), ("KRW", 0), ("BHD", 3), ("KWD", 3), ("TND", 3)];

/// An amount of money.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Money {
    /// In minor units of the currency, such as cents.
    pub(crate) minor: i64,
    /// ISO 4217.
    pub(crate) currency: String,
    /// The same, to show.
    pub(crate) text: String,
}

impl Money {
    pub(crate) fn new(minor: i64, currency: String) -> Self {
        let text = text(minor, &currency);
        Self { minor, currency, text }
    }
}

/// `EUR 12,345.60`
fn text(minor: i64, currency: &str) -> String {
    let digits = DIGITS.iter().find(|(code, _)| *code == currency).map_or(2, |(_, digits)| *digits);
    let unit = 10_u64.pow(digits);
    let (whole, part) = (minor.unsigned_abs() / unit, minor.unsigned_abs() % unit);
    let sign = if minor < 0 { "-" } else { "" };
    match digits {
        0 => format!("{currency} {sign}{}", grouped(whole)),
        digits => format!("{currency} {sign}{}.{part:0width$}", grouped(whole), width = digits as usize),
    }
}

/// With a comma before every three digits.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests;
