//! Bounds of a turn; every one is a setting under `limits.*`.

/// Numbers are the defaults of `limits.*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Model calls of a run that may use tools; one more without writes the answer.
    pub steps: u32,
    /// Tokens a model call may write.
    pub output_tokens: u32,
    /// Seconds a run may take, counted from its claim.
    pub deadline_seconds: u64,
    pub runs_per_turn: u32,
    /// Fresh turns of one user in a minute, over all channels and processes.
    pub turns_per_minute: u32,
    /// Running runs of one organization over all processes.
    pub concurrent_runs: u32,
    /// Waiting runs in all; beyond it `overloaded`.
    pub queued_runs: u32,
    /// Bytes of one user message.
    pub input_bytes: usize,
    /// Tokens of history the model sees, estimated as UTF-8 bytes / 4.
    pub history_tokens: usize,
    pub history_messages: usize,
    /// Bytes of a request's body.
    pub body_bytes: usize,
    /// Client tools of a request.
    pub tools: usize,
    /// Bytes of all client tool schemas of a request.
    pub tool_schema_bytes: usize,
    /// Seconds a tool call may take.
    pub tool_seconds: u64,
    /// Bytes of a tool's result the model sees.
    pub tool_result_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 5,
            output_tokens: 2_048,
            deadline_seconds: 60,
            runs_per_turn: 10,
            turns_per_minute: 10,
            concurrent_runs: 64,
            queued_runs: 1_000,
            input_bytes: 32 * 1024,
            history_tokens: 24_000,
            history_messages: 200,
            body_bytes: 10 * 1024 * 1024,
            tools: 128,
            tool_schema_bytes: 64 * 1024,
            tool_seconds: 20,
            tool_result_bytes: 64 * 1024,
        }
    }
}
