use serde_json::Value;

use super::*;

fn run(id: &str) -> RunId {
    RunId::parse(id).unwrap()
}

fn fault(interrupt: &str, code: Code, of: Option<&str>) -> InterruptFault {
    InterruptFault { interrupt: interrupt.to_owned(), code, run: of.map(run) }
}

fn sent(faults: Vec<InterruptFault>) -> Value {
    let asked = Asked {
        thread: ThreadId::parse("t").unwrap(),
        run: run("r2"),
        parent_run: Some(run("r1")),
        interrupts: vec!["client_tool_a".to_owned()],
    };
    let error = SubmitError { code: Code::Conflict, detail: "reload".to_owned(), retry_after: None, faults };
    json!(events(&asked, &error))
}

#[test]
fn items_and_batches_as_tanstack_reads_them() {
    let faults = vec![
        fault("client_tool_a", Code::Conflict, Some("r0")),
        fault("approval_x", Code::UnknownInterrupt, None),
        fault("client_tool_b", Code::IncompleteBatch, Some("r0")),
        fault("client_tool_c", Code::IncompleteBatch, Some("r0")),
    ];
    let common = |code: &str, message: &str| json!({"threadId": "t", "generation": 0, "code": code, "message": message, "source": "server", "retryable": false});
    let with = |mut error: Value, scope: &str, of: &str, key: &str, ids: Value| {
        error["scope"] = json!(scope);
        error["interruptedRunId"] = json!(of);
        error[key] = ids;
        error
    };
    assert_eq!(
        sent(faults),
        json!([
            {"type": "RUN_STARTED", "threadId": "t", "runId": "r2"},
            {"type": "RUN_ERROR", "message": "reload", "code": "conflict", "metadata": {"tanstack": {
                "runId": "r2", "threadId": "t", "interruptErrors": [
                    with(common("conflict", "client_tool_a was answered before, and differently"), "item", "r0", "interruptId", json!("client_tool_a")),
                    with(common("unknown-interrupt", "nothing in this conversation waits for approval_x"), "item", "r1", "interruptId", json!("approval_x")),
                    with(common("incomplete-batch", "the run waits for client_tool_b too; send all answers together"), "batch", "r0", "interruptIds", json!(["client_tool_a"])),
                ]}}},
        ])
    );
}
