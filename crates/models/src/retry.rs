//! When to ask again.

use std::{
    hash::{BuildHasher, RandomState},
    time::{Duration, SystemTime},
};

use egress::HeaderMap;
use jiff::{Timestamp, fmt::rfc2822::DateTimeParser};

/// Waits longer than any deadline are all the same.
const MOST: Duration = Duration::from_secs(24 * 60 * 60);

/// How long the provider asks to wait: `retry-after-ms`, else `retry-after` in seconds or as an HTTP date.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(milliseconds) = text("retry-after-ms").and_then(number) {
        return Some(seconds(milliseconds / 1_000.0));
    }
    let value = text("retry-after")?;
    if let Some(wait) = seconds_of(value) {
        return Some(wait);
    }
    let at = DateTimeParser::new().parse_timestamp(value).ok()?;
    let now = Timestamp::try_from(now).ok()?;
    Some(Duration::try_from(at.duration_since(now)).unwrap_or(Duration::ZERO).min(MOST))
}

/// A number of seconds, written out.
pub(crate) fn seconds_of(text: &str) -> Option<Duration> {
    number(text).map(seconds)
}

fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0)
}

fn seconds(number: f64) -> Duration {
    Duration::try_from_secs_f64(number).unwrap_or(MOST).min(MOST)
}

/// The wait if the provider names none: 500 ms and up to half as much again, so that many waiting do not come at once.
pub(crate) fn backoff() -> Duration {
    Duration::from_millis(500 + RandomState::new().hash_one(()) % 250)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_is_read_in_every_form() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let read = |name: &'static str, value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, egress::HeaderValue::from_static(value));
            retry_after(&headers, now)
        };
        assert_eq!(read("retry-after", "2"), Some(Duration::from_secs(2)));
        assert_eq!(read("retry-after", "0.5"), Some(Duration::from_millis(500)));
        assert_eq!(read("retry-after-ms", "250"), Some(Duration::from_millis(250)));
        assert_eq!(read("retry-after", "Sun, 06 Nov 1994 08:49:40 GMT"), Some(Duration::from_secs(3)));
        assert_eq!(read("retry-after", "Sun, 06 Nov 1994 08:49:30 GMT"), Some(Duration::ZERO));
        assert_eq!(read("retry-after", "1e300"), Some(MOST));
        for bad in ["", "soon", "-1", "NaN", "inf"] {
            assert_eq!(read("retry-after", bad), None, "{bad}");
        }
    }
}
