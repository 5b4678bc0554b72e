//! The product with crash points (`FRONTDESK_CRASH_AT`, `FRONTDESK_SHIFT_MS`) and, only with `AI_TEST_PROVIDER=true`, a
//! scripted model in the process. Never released.

use std::{process::ExitCode, sync::Arc};

use testkit::model::ScriptedModel;

fn main() -> ExitCode {
    let builder = frontdesk::App::builder().name("frontdesk-test");
    let scripted = std::env::var("AI_TEST_PROVIDER").is_ok_and(|value| value.trim().eq_ignore_ascii_case("true"));
    frontdesk::main(if scripted { builder.model(Arc::new(ScriptedModel)) } else { builder })
}
