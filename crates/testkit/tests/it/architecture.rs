//! The rules of the house, held: who may import whom, who owns what, what the product never reaches.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// Allowed edges between our crates (normal dependencies). `frontdesk` and `testkit` may import anything.
const EDGES: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("storage", &["domain"]),
    ("catalog", &["domain", "storage"]),
    ("orchestrator", &["domain", "storage", "catalog"]),
    ("egress", &["domain"]),
    ("models", &["domain", "egress"]),
    ("server", &["domain", "storage", "catalog", "orchestrator"]),
    ("garage", &["frontdesk", "catalog", "storage", "domain"]),
];

/// Heavy dependencies and the only crates that may name them (normal dependencies).
const OWNERS: &[(&str, &[&str])] = &[
    ("rusqlite", &["storage"]),
    ("sqlx", &["storage"]),
    ("reqwest", &["egress"]),
    ("rustls", &["egress"]),
    ("axum", &["server"]),
    ("hyper", &["server", "testkit"]),
    ("jsonschema", &["catalog"]),
    ("clap", &["frontdesk"]),
    ("toml", &["frontdesk"]),
    ("granit-parser", &["frontdesk"]),
    ("tracing-subscriber", &["frontdesk"]),
];

const BANNED: &[&str] = &["aws-lc-sys", "aws-lc-rs", "openssl-sys", "native-tls", "serde_yaml"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace exists")
}

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root()).output().expect("cargo runs");
    assert!(output.status.success(), "cargo {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Our crates: name → names of normal dependencies.
fn crates() -> BTreeMap<String, BTreeSet<String>> {
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--format-version=1", "--no-deps", "--offline"])).expect("metadata is JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let text = |value: &Value| value.as_str().expect("a string").to_owned();
    packages
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"].as_array().expect("dependencies");
            let normal = dependencies.iter().filter(|d| d["kind"].is_null()).map(|d| text(&d["name"])).collect();
            (text(&package["name"]), normal)
        })
        .collect()
}

/// Sources of a crate without its tests, as (path below the workspace, text without test modules).
fn sources(below: &str) -> Vec<(String, String)> {
    fn walk(folder: &Path, out: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            let tests = path.file_stem().is_some_and(|name| name == "tests");
            if tests {
                continue;
            }
            if path.is_dir() {
                walk(&path, out);
            } else if path.extension().is_some_and(|e| e == "rs") {
                out.push(path);
            }
        }
    }
    let mut paths = Vec::new();
    walk(&root().join(below), &mut paths);
    assert!(!paths.is_empty(), "{below} has sources");
    paths.sort();
    let text = |path: &PathBuf| {
        let whole = std::fs::read_to_string(path).expect("a source");
        whole.split("#[cfg(test)]").next().unwrap_or_default().to_owned()
    };
    let name = |path: &PathBuf| path.strip_prefix(root()).expect("below the root").display().to_string();
    paths.iter().map(|path| (name(path), text(path))).collect()
}

/// `path:line: text` of the code lines (no comments) that hold one of `needles`.
fn lines_with(sources: &[(String, String)], needles: &[&str]) -> Vec<String> {
    let mut out = Vec::new();
    for (path, text) in sources {
        for (index, line) in text.lines().enumerate() {
            let code = line.trim_start();
            if !code.starts_with("//") && needles.iter().any(|needle| code.contains(needle)) {
                out.push(format!("{path}:{}: {code}", index + 1));
            }
        }
    }
    out
}

#[test]
fn edges_between_our_crates_are_the_allowed_ones() {
    let crates = crates();
    let ours: BTreeSet<&str> = crates.keys().map(String::as_str).collect();
    let mut wrong = Vec::new();
    for (name, dependencies) in &crates {
        if ["frontdesk", "testkit", "bench"].contains(&name.as_str()) {
            continue;
        }
        let Some((_, allowed)) = EDGES.iter().find(|(from, _)| from == name) else {
            wrong.push(format!("{name} is not in the table of edges"));
            continue;
        };
        for to in dependencies.iter().filter(|to| ours.contains(to.as_str())) {
            if !allowed.contains(&to.as_str()) {
                wrong.push(format!("{name} imports {to}"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_heavy_dependency_has_its_owner() {
    let mut wrong = Vec::new();
    for (name, dependencies) in crates() {
        for (heavy, owners) in OWNERS {
            let excused = ["testkit", "bench"].contains(&name.as_str());
            if dependencies.contains(*heavy) && !owners.contains(&name.as_str()) && !excused {
                wrong.push(format!("{name} imports {heavy}, which belongs to {owners:?}"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_product_reaches_no_test_code_and_no_banned_crate() {
    for package in ["frontdesk", "garage"] {
        let of_package = ["tree", "--offline", "--package", package, "--edges", "normal,build"];
        let tree = cargo(&[&of_package[..], &["--prefix", "none", "--format", "{p} [{f}]"]].concat());
        assert!(tree.contains("storage v"), "the tree lists our crates: {tree}");
        for line in tree.lines() {
            let name = line.split(' ').next().unwrap_or_default();
            assert_ne!(name, "testkit", "{package} reaches testkit");
            assert!(!BANNED.contains(&name), "{package} reaches {line}");
            let features = line.rsplit_once('[').map_or("", |(_, features)| features.trim_end_matches(']'));
            for feature in features.split(',') {
                assert!(!["ai-test", "crash-points", "shift-clock", "arbitrary_precision"].contains(&feature), "{line}");
            }
        }
    }
}

/// T1: only the orchestrator's steps ask a chat model; only `models` speaks to a provider; only `egress` builds a client.
#[test]
fn only_the_steps_ask_a_model() {
    let mut all = Vec::new();
    for name in ["catalog", "egress", "server", "storage", "frontdesk"] {
        all.extend(sources(&format!("crates/{name}/src")));
    }
    assert_eq!(lines_with(&all, &["ChatRequest", "ChatStream"]), Vec::<String>::new());
    let flow: Vec<_> = sources("crates/orchestrator/src").into_iter().filter(|(path, _)| !path.contains("/turn")).collect();
    assert_eq!(lines_with(&flow, &["ChatRequest", "ChatStream"]), Vec::<String>::new());
}

/// T1: only intake and the orchestrator's steps write messages and runs.
#[test]
fn only_the_orchestrator_writes_messages() {
    let mut all = Vec::new();
    for name in ["catalog", "models", "server", "frontdesk"] {
        all.extend(sources(&format!("crates/{name}/src")));
    }
    let writes = [".accept(Accept", "Accept {", ".commit_step(", ".decide_run(", ".append_frames(", "Finish {", ".hand_back("];
    assert_eq!(lines_with(&all, &writes), Vec::<String>::new());
}

/// T1: what a model reads is written in prompts/*.md, roles and memory files.
#[test]
fn no_prompt_text_in_the_sources() {
    let mut long = Vec::new();
    for (path, text) in sources("crates/orchestrator/src").into_iter().chain(sources("crates/models/src")) {
        for (index, line) in text.lines().enumerate() {
            let code = line.trim_start();
            let excused = code.starts_with("//") || code.starts_with("#[") || code.contains("tracing::");
            let literal = code.split('"').skip(1).step_by(2).any(|text| text.split(' ').count() > 24);
            if !excused && (literal || code.contains("\"You are")) {
                long.push(format!("{path}:{}: {code}", index + 1));
            }
        }
    }
    assert_eq!(long, Vec::<String>::new());
}

/// T2: the orchestrator names no role and no channel.
#[test]
fn the_orchestrator_branches_on_no_role_and_no_channel() {
    let sources = sources("crates/orchestrator/src");
    let channels =
        ["\"web\"", "\"cli\"", "\"slack\"", "\"mattermost\"", "\"whatsapp\"", "\"signal\"", "\"scheduler\"", "\"mcp\""];
    assert_eq!(lines_with(&sources, &channels), Vec::<String>::new());
    let steps: Vec<_> = sources.into_iter().filter(|(path, _)| !path.ends_with("/roster.rs")).collect();
    assert_eq!(lines_with(&steps, &["RoleName::parse", ".role.as_str() ==", ".channel.as_str() =="]), Vec::<String>::new());
}

#[test]
fn no_source_is_a_mod_rs_and_none_is_a_warehouse() {
    let folders = crates().into_keys().flat_map(|name| [format!("crates/{name}/src"), format!("apps/{name}/src")]);
    for folder in folders.filter(|folder| root().join(folder).exists()) {
        for (path, text) in sources(&folder) {
            assert!(!path.ends_with("/mod.rs"), "{path}: name the file after its module");
            assert!(text.lines().count() <= 600, "{path} has {} lines: where is the second room?", text.lines().count());
        }
    }
}
