//! Model calls: what a run cost, row by row, each saying whose it was.

use domain::{RunKey, TokenUsage};

use crate::row::count;
use crate::{ModelCall, Row, RunLease, StorageError, Tx, Value};

/// Adds calls under the run's lock, in order.
pub(super) async fn insert(tx: &mut Tx, lease: &RunLease, calls: &[ModelCall], now: i64) -> Result<(), StorageError> {
    let sql = "INSERT INTO model_calls
        (run_key, place, org_id, user_id, thread_key, thread_id, run_id, parent_run_id, attempt, step, provider, model,
         input_tokens, output_tokens, total_tokens, reasoning_tokens, cached_input_tokens,
         latency_ms, first_ms, retries, outcome, created_at)
        SELECT r.key, (SELECT COALESCE(MAX(m.place), 0) + 1 FROM model_calls m WHERE m.run_key = r.key),
            r.org_id, r.user_id, r.thread_key, r.thread_id, r.id, r.parent_run_id,
            $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15
        FROM runs r WHERE r.key = $1";
    for call in calls {
        let usage = &call.usage;
        let params = [
            lease.run.as_str().into(),
            lease.attempt.into(),
            call.step.into(),
            call.provider.as_str().into(),
            call.model.as_str().into(),
            tokens(usage.input_tokens),
            tokens(usage.output_tokens),
            tokens(usage.total_tokens),
            tokens(usage.reasoning_tokens),
            tokens(usage.cached_input_tokens),
            call.latency_ms.into(),
            call.first_ms.into(),
            call.retries.into(),
            call.outcome.as_str().into(),
            now.into(),
        ];
        tx.execute(sql, &params).await?;
    }
    Ok(())
}

/// A run's calls in order.
pub(crate) async fn ledger(tx: &mut Tx, run: &RunKey) -> Result<Vec<ModelCall>, StorageError> {
    let sql = "SELECT step, provider, model, input_tokens, output_tokens, total_tokens, reasoning_tokens,
            cached_input_tokens, latency_ms, first_ms, retries, outcome
        FROM model_calls WHERE run_key = $1 ORDER BY place";
    tx.rows(sql, &[run.as_str().into()]).await?.iter().map(read).collect()
}

fn read(row: &Row) -> Result<ModelCall, StorageError> {
    let (provider, model): (String, String) = (row.get(1)?, row.get(2)?);
    let usage = TokenUsage {
        provider: Some(provider.clone()),
        model: Some(model.clone()),
        input_tokens: counted(row, 3)?,
        output_tokens: counted(row, 4)?,
        total_tokens: counted(row, 5)?,
        reasoning_tokens: counted(row, 6)?,
        cached_input_tokens: counted(row, 7)?,
        ..TokenUsage::default()
    };
    Ok(ModelCall {
        step: small(row, 0)?,
        provider,
        model,
        usage,
        latency_ms: row.get(8)?,
        first_ms: row.get(9)?,
        retries: small(row, 10)?,
        outcome: row.get(11)?,
    })
}

fn tokens(count: Option<u64>) -> Value {
    Value::Int(count.map(|count| i64::try_from(count).unwrap_or(i64::MAX)))
}

fn counted(row: &Row, column: usize) -> Result<Option<u64>, StorageError> {
    row.get::<Option<i64>>(column)?.map(count).transpose()
}

fn small(row: &Row, column: usize) -> Result<u32, StorageError> {
    Ok(u32::try_from(count(row.get(column)?)?).unwrap_or(u32::MAX))
}
