//! `token`: a token this server accepts, alone on its line.

use std::time::Duration;

use domain::{Clock, OrgId, UserId};
use server::Signer;

use super::{org_id, user_id};
use crate::{Exit, Failure, out, program::Program, system::SystemClock};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The person
    #[arg(long, value_name = "S", value_parser = user_id)]
    sub: UserId,
    /// The organization the person acts in
    #[arg(long, value_name = "O", value_parser = org_id)]
    org: OrgId,
    /// How long it is valid, such as 90s, 15m, 1h or 7d
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = duration)]
    ttl: Duration,
}

pub(crate) async fn run(program: Program, arguments: Arguments) -> Result<Exit, Failure> {
    if !program.config.auth.can_sign() {
        return Err(Failure::usage(server::AuthError::CannotSign.to_string()));
    }
    let store = program.store().await?;
    let signer = Signer::open(&store, &program.config.auth.settings).await.map_err(|error| Failure::failed(error.to_string()))?;
    let token = signer.token(&arguments.sub, &arguments.org, arguments.ttl, SystemClock.now_ms());
    store.close().await;
    out::line(&token.text)?;
    Ok(Exit::Done)
}

/// A whole number of seconds, minutes, hours or days: one second to ten years.
fn duration(text: &str) -> Result<Duration, String> {
    let (digits, unit) = text.split_at(text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len()));
    let seconds = match unit {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return Err("write a number and s, m, h or d, such as 1h".to_owned()),
    };
    let total = digits.parse::<u64>().ok().and_then(|count| count.checked_mul(seconds));
    match total {
        Some(total @ 1..=315_360_000) => Ok(Duration::from_secs(total)),
        _ => Err("a token is valid for one second to ten years".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_a_number_and_a_unit() {
        for (text, seconds) in [("90s", 90), ("90", 90), ("15m", 900), ("1h", 3_600), ("7d", 604_800)] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "h", "0s", "1w", "-1h", "1.5h", "99999999999999999999h", "4000d"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
