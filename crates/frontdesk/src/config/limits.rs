//! `[limits]`: the bounds of a turn, as [`domain::Limits`].

use domain::Limits;

use super::reader::Reader;

pub(super) fn read(from: &mut Reader<'_>) -> Limits {
    let default = Limits::default();
    Limits {
        steps: from.integer("steps", 1..=100).unwrap_or(default.steps),
        output_tokens: from.integer("output_tokens", 1..=1_000_000).unwrap_or(default.output_tokens),
        deadline_seconds: from.integer("deadline_seconds", 1..=86_400).unwrap_or(default.deadline_seconds),
        runs_per_turn: from.integer("runs_per_turn", 1..=1_000).unwrap_or(default.runs_per_turn),
        turns_per_minute: from.integer("turns_per_minute", 1..=1_000_000).unwrap_or(default.turns_per_minute),
        concurrent_runs: from.integer("concurrent_runs", 1..=1_000_000).unwrap_or(default.concurrent_runs),
        queued_runs: from.integer("queued_runs", 1..=10_000_000).unwrap_or(default.queued_runs),
        input_bytes: from.integer("input_bytes", 1..=67_108_864).unwrap_or(default.input_bytes),
        history_tokens: from.integer("history_tokens", 1..=100_000_000).unwrap_or(default.history_tokens),
        history_messages: from.integer("history_messages", 1..=1_000_000).unwrap_or(default.history_messages),
        body_bytes: from.integer("body_bytes", 1_024..=1_073_741_824).unwrap_or(default.body_bytes),
        tools: from.integer("tools", 0..=10_000).unwrap_or(default.tools),
        tool_schema_bytes: from.integer("tool_schema_bytes", 0..=67_108_864).unwrap_or(default.tool_schema_bytes),
        tool_seconds: from.integer("tool_seconds", 1..=86_400).unwrap_or(default.tool_seconds),
        tool_result_bytes: from.integer("tool_result_bytes", 256..=67_108_864).unwrap_or(default.tool_result_bytes),
    }
}
