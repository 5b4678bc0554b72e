#![allow(clippy::unwrap_used)]

use super::*;

const EFFECTS: [Effect; 5] = [Effect::Read, Effect::Reversible, Effect::Irreversible, Effect::Gesture, Effect::HumanOnly];
const ORIGINS: [Origin; 4] = [Origin::Catalog, Origin::Mcp, Origin::Client, Origin::Channel];

struct Names {
    tool: ToolName,
    org: OrgId,
    role: RoleName,
}

fn names() -> Names {
    Names { tool: ToolName::parse("t").unwrap(), org: OrgId::parse("o").unwrap(), role: RoleName::parse("r").unwrap() }
}

fn question(names: &Names, effect: Effect, origin: Origin) -> Question<'_> {
    Question { tool: &names.tool, effect, origin, org: &names.org, role: &names.role, tainted: false, can_ask: true }
}

#[test]
fn the_defaults_are_a_table() {
    let names = names();
    let mut table = String::new();
    for effect in EFFECTS {
        let verdicts = ORIGINS.map(|origin| Policy::default().decide(&question(&names, effect, origin)).as_str());
        table += &format!("{effect}: {}\n", verdicts.join(" "));
    }
    // catalog, mcp, client, channel
    let expected = "read: run run run run\n\
        reversible: ask ask run run\n\
        irreversible: requires_human requires_human requires_human run\n\
        gesture: run run run run\n\
        human_only: requires_human requires_human requires_human requires_human\n";
    assert_eq!(table, expected);
}

/// Every effect, origin, rule, taint and channel.
fn all(check: impl Fn(Question<'_>, Option<Verdict>, Verdict)) {
    let names = names();
    for effect in EFFECTS {
        for origin in ORIGINS {
            for rule in Verdict::ALL.into_iter().map(Some).chain([None]) {
                let policy = rule.map_or_else(Policy::default, |verdict| Policy::default().rule(Whom::default(), verdict));
                for (tainted, can_ask) in [(false, false), (false, true), (true, false), (true, true)] {
                    let call = Question { tainted, can_ask, ..question(&names, effect, origin) };
                    check(call, rule, policy.decide(&call));
                }
            }
        }
    }
}

#[test]
fn whatever_is_configured_no_guarded_write_runs_unasked() {
    all(|call, rule, verdict| {
        let writes = !matches!(call.effect, Effect::Read | Effect::Gesture);
        if writes && call.origin.is_guarded() {
            assert_ne!(verdict, Verdict::Run, "{call:?} {rule:?}");
        }
        if call.effect == Effect::HumanOnly {
            assert!(verdict >= Verdict::RequiresHuman, "{call:?} {rule:?}");
        }
        if !call.can_ask {
            assert_ne!(verdict, Verdict::Ask, "{call:?} {rule:?}");
        }
    });
}

#[test]
fn taint_only_makes_stricter_and_leaves_looking_alone() {
    all(|call, rule, verdict| {
        let policy = rule.map_or_else(Policy::default, |verdict| Policy::default().rule(Whom::default(), verdict));
        let clean = policy.decide(&Question { tainted: false, ..call });
        assert!(verdict >= clean, "{call:?} {rule:?}");
        if matches!(call.effect, Effect::Read | Effect::Gesture) {
            assert_eq!(verdict, clean, "{call:?} {rule:?}");
        } else if call.tainted {
            assert_ne!(verdict, Verdict::Run, "{call:?} {rule:?}");
        }
    });
}

#[test]
fn the_rule_that_names_more_counts() {
    let names = names();
    let call = question(&names, Effect::Irreversible, Origin::Catalog);
    let (tool, org, role) = (Some(names.tool.clone()), Some(names.org.clone()), Some(names.role.clone()));
    let mut policy = Policy::default().rule(Whom { role: role.clone(), ..Whom::default() }, Verdict::Deny);
    let mut check = |whom: Whom, verdict: Verdict| {
        policy = policy.clone().rule(whom, verdict);
        assert_eq!(policy.decide(&call), verdict);
    };
    check(Whom { org: org.clone(), ..Whom::default() }, Verdict::Ask);
    check(Whom::tool(names.tool.clone()), Verdict::Deny);
    check(Whom { org: org.clone(), role: role.clone(), tool: None }, Verdict::Ask);
    check(Whom { tool: tool.clone(), role: role.clone(), org: None }, Verdict::Deny);
    check(Whom { tool: tool.clone(), org: org.clone(), role: None }, Verdict::Ask);
    check(Whom { tool, org, role }, Verdict::RequiresHuman);
    let other = RoleName::parse("other").unwrap();
    assert_eq!(policy.decide(&Question { role: &other, ..call }), Verdict::Ask);
}
