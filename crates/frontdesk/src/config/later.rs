//! Sections whose feature is not there yet: known, so that a file for a newer build is not called misspelt, but
//! refused, so that nobody believes a setting holds that does not. Each moves to a file of its own when it arrives.

use super::{Sections, reader::Reader};

pub(super) fn read(sections: &mut Sections<'_>) {
    sections.read("features", |from| {
        for key in ["assistant", "genui"] {
            from.idle(key);
            from.boolean(key);
        }
    });
    sections.read("judge", |from| {
        // `none` is what happens anyway.
        match from.one_of("provider", &[("none", false), ("systemone", true), ("openai-decisions", true), ("chat", true)]) {
            Some(word) if word.value => {
                let message = "there is no judge in this version; judge.provider can only be \"none\"";
                from.problems.error(&word.at, "not-available", message);
            }
            _ => {}
        }
        later(from, &["base_url", "model", "api_key"]);
    });
    sections.read("session", |from| later(from, &["url"]));
    sections.read("bus", |from| later(from, &["url"]));
    sections.read("approvals", |from| later(from, &["expiry_seconds"]));
    sections.read("http", |from| later(from, &["tools"]));
    sections.read("mcp", |from| later(from, &["servers"]));
}

fn later(from: &mut Reader<'_>, keys: &[&'static str]) {
    for key in keys {
        from.later(key);
    }
}
