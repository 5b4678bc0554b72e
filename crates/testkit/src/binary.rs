//! Where the binaries of the workspace are: beside the one that runs.

use std::path::PathBuf;

/// # Panics
/// If it is not built, saying how to build it.
pub fn binary(name: &str) -> PathBuf {
    let mut folder = std::env::current_exe().expect("a running program knows its file");
    folder.pop();
    if folder.ends_with("deps") {
        folder.pop();
    }
    let file = folder.join(name);
    assert!(file.exists(), "{} is missing: {}", file.display(), how(name));
    file
}

fn how(name: &str) -> String {
    match name {
        "frontdesk" => "cargo build -p frontdesk".to_owned(),
        "frontdesk-test" => "cargo build -p testkit --features ai-test,crash-points --bin frontdesk-test".to_owned(),
        _ => format!("cargo build -p testkit --bin {name}"),
    }
}
