//! Step 7, on every run: what is kept about it. It comes after the reply was sent and can break nothing of it.

use domain::{Code, RunStatus, TokenUsage};
use storage::RunRecord;
use tokio::time::Duration;

/// How a run ended.
pub(super) struct Ended<'a> {
    pub(super) record: &'a RunRecord,
    pub(super) status: RunStatus,
    pub(super) code: Option<Code>,
    /// Model calls of this attempt.
    pub(super) calls: usize,
    pub(super) usage: &'a [TokenUsage],
    pub(super) took: Duration,
}

/// One line, without a word of what was said.
pub(super) fn record(ended: &Ended<'_>) {
    let sum = |count: fn(&TokenUsage) -> Option<u64>| ended.usage.iter().filter_map(count).sum::<u64>();
    tracing::info!(
        run = %ended.record.reference.key,
        thread = %ended.record.reference.thread,
        channel = %ended.record.channel,
        attempt = ended.record.attempt,
        status = %ended.status,
        code = ended.code.map(Code::as_str),
        calls = ended.calls,
        input_tokens = sum(|usage| usage.input_tokens),
        output_tokens = sum(|usage| usage.output_tokens),
        ms = u64::try_from(ended.took.as_millis()).unwrap_or(u64::MAX),
        "turn ended"
    );
}
