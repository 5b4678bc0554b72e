//! Categories, commands and role files, broken in every way, and the messages they get.

use catalog::{Catalog, Surface, Untagged, Verdict};
use domain::{Bundle, Category, Contract, Effect, Effort, ToolName};
use orchestrator::Roster;

use super::super::*;
use super::Case;

const CATEGORIES: &str = "[categories]\nnavigation.data = \"app\"\ninvoice.data = \"own\"\n[categories.account]\ndata = \"own\"\n[categories.time]\ndata = \"app\"\n";
const GO: &str = "name = \"go\"\ncategory = \"navigation\"\neffect = \"gesture\"\n";
const ROLE: &str = "---\nscope:\n  effects: [read]\n---\nYou help.\n";

fn case(files: &[(&str, &str)]) -> Case {
    let case = Case::empty();
    for (name, text) in files {
        let path = case.path(name);
        std::fs::create_dir_all(path.parent().expect("below the folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    case
}

/// The built-in tools and a write.
fn catalog() -> Catalog {
    struct Delete(Contract);
    #[async_trait::async_trait]
    impl catalog::Write for Delete {
        fn contract(&self) -> &Contract {
            &self.0
        }
        async fn apply(&self, _: &mut storage::Tx, _: &catalog::ApprovedCall) -> Result<catalog::Output, catalog::ToolError> {
            Err(catalog::ToolError::new("never"))
        }
    }
    let contract = Contract {
        name: ToolName::parse("invoice_delete").expect("a name"),
        title: "Delete an invoice".to_owned(),
        description: String::new(),
        input: serde_json::json!({"type": "object"}),
        output: serde_json::json!({}),
        category: Category::parse("invoice").expect("a category"),
        effect: Effect::Irreversible,
    };
    catalog::tools::builtin().write(Delete(contract)).build().expect("a catalog")
}

impl Case {
    #[track_caller]
    fn fits(&self) -> Roster {
        self.ok().fit(&catalog(), Roster::builtin()).unwrap_or_else(|invalid| panic!("{invalid}"))
    }

    #[track_caller]
    fn unfit(&self, expected: &[&str]) {
        let invalid = self.ok().fit(&catalog(), Roster::builtin()).expect_err("it does not fit");
        assert_eq!(invalid.to_string().lines().collect::<Vec<_>>(), expected);
    }
}

fn command(config: &Config, name: &str) -> catalog::Command {
    let manifest = config.commands.manifest(config.channels.web.untagged());
    manifest.get(&ToolName::parse(name).expect("a name")).expect("declared").clone()
}

#[test]
fn categories_say_whose_data_they_are_about() {
    let config = case(&[("frontdesk.toml", CATEGORIES)]).ok();
    assert_eq!(config.categories.data[&Category::parse("invoice").expect("a category")], Bundle::OwnData);
    case(&[(
        "frontdesk.toml",
        "[categories.a]\n[categories.b]\ndata = \"mine\"\n[categories.c]\ndate = \"own\"\n[categories]\nd = 3\n",
    )])
    .errors(&[
        "frontdesk.toml:1:13: missing-key: categories.a.data says whose data the category is about: \"own\" or \"app\"",
        "frontdesk.toml:3:8: unknown-value: categories.NAME.data must be one of own, app, not \"mine\"",
        "frontdesk.toml:4:13: missing-key: categories.c.data says whose data the category is about: \"own\" or \"app\"",
        "frontdesk.toml:5:1: unknown-key: there is no setting categories.NAME.date; did you mean \"data\"?",
        "frontdesk.toml:7:5: wrong-type: categories.d must be a table with data = \"own\" or \"app\", not an integer",
    ]);
}

#[test]
fn commands_are_found_beside_the_file_or_where_it_says() {
    let full = "name = \"open\"\ncategory = \"navigation\"\neffect = \"reversible\"\nsurface = \"invoices\"\n[narration]\ncalling = \"a.b\"\ndone = \"a.c\"\n";
    let files = [("frontdesk.toml", ""), ("commands/go.toml", GO), ("commands/open.toml", full), ("commands/notes.md", "no")];
    let config = case(&files).ok();
    assert_eq!(command(&config, "go").surface, Surface::Global);
    let open = command(&config, "open");
    assert_eq!((open.effect, open.surface), (Effect::Reversible, Surface::Screen("invoices".to_owned())));
    let narration = open.narration.expect("it has one");
    assert_eq!((narration.calling.as_str(), narration.done.as_deref()), ("a.b", Some("a.c")));
    let config = case(&[("frontdesk.toml", "commands.path = \"ours\""), ("ours/go.toml", GO)]).ok();
    assert_eq!(command(&config, "go").effect, Effect::Gesture);
    let config = case(&[("ours/go.toml", GO)]).with("FRONTDESK__COMMANDS__PATH", "ours").ok();
    assert_eq!(command(&config, "go").effect, Effect::Gesture);
    // A folder that nobody named counts only beside a file, and only if there is a command in it.
    for files in [&[("commands/go.toml", "broken")][..], &[("frontdesk.toml", ""), ("commands/notes.md", "")]] {
        assert_eq!(case(files).ok().commands.manifest(Untagged::Run), catalog::Commands::none(Untagged::Run));
    }
    // One that was named is a manifest, if an empty one.
    let named = case(&[("frontdesk.toml", "commands.path = \"ours\""), ("ours/readme", "")]).ok();
    assert_eq!(named.commands.manifest(Untagged::Run), catalog::Commands::of([]));
    case(&[("frontdesk.toml", "commands.path = \"gone\"")])
        .errors(&["frontdesk.toml:1:17: unreadable: cannot read the folder gone: No such file or directory (os error 2)"]);
}

#[test]
fn a_broken_command_is_said_with_its_place() {
    case(&[
        ("frontdesk.toml", CATEGORIES),
        ("commands/a.toml", "nam = \"go\"\ncategory = \"navigation\"\neffect = \"gestur\"\n"),
        ("commands/b.toml", "name = \"go\"\ncategory = \"navigatoin\"\neffect = \"gesture\"\n"),
        ("commands/c.toml", "name = \"go\"\ncategory = \"invoice\"\neffect = \"gesture\"\n[narration]\ndone = \"x\"\n"),
        ("commands/d.toml", "name = \"x\"\ncategory = "),
        ("commands/e.toml", "name = \"y\"\ncategory = \"invoice\"\nsurface = 3"),
    ])
    .errors(&[
        "commands/a.toml:1:1: missing-key: command.name is missing",
        "commands/a.toml:1:1: unknown-key: there is no setting command.nam; did you mean \"name\"?",
        "commands/a.toml:3:10: unknown-value: command.effect must be one of read, reversible, irreversible, gesture, human_only, not \"gestur\"; did you mean \"gesture\"?",
        "commands/b.toml:2:12: unknown-category: the command \"go\" is of category \"navigatoin\", which categories.* does not declare; did you mean \"navigation\"?",
        "commands/c.toml:1:8: duplicate-name: the command \"go\" is declared at commands/b.toml:1:8 too",
        "commands/c.toml:4:2: missing-key: command.narration.calling is missing",
        "commands/d.toml:2:12: syntax: string values must be quoted, expected literal string",
        "commands/e.toml:1:1: missing-key: command.effect says what a call does: read, reversible, irreversible, gesture or human_only",
        "commands/e.toml:3:11: wrong-type: command.surface must be a string, not an integer",
    ]);
}

#[test]
fn untagged_counts_only_without_a_manifest() {
    let human = "[channels.web]\nuntagged = \"requires_human\"\n";
    let config = case(&[("frontdesk.toml", human)]).ok();
    assert_eq!(config.channels.web.untagged(), Untagged::RequiresHuman);
    assert_eq!(Case::empty().ok().channels.web.untagged(), Untagged::Run);
    let config = case(&[("frontdesk.toml", human), ("commands/go.toml", GO)]).ok();
    let warnings: Vec<_> = config.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "frontdesk.toml:2:12: no-effect: channels.web.untagged has no effect where commands are declared: an undeclared tool is a person's to run"
        ]
    );
    case(&[("frontdesk.toml", "channels.web.untagged = \"ask\"")])
        .errors(&["frontdesk.toml:1:25: unknown-value: channels.web.untagged must be one of run, requires_human, not \"ask\""]);
}

#[test]
fn a_role_is_a_file() {
    let text = "---\ntitle: Bookkeeper\nscope:\n  categories: [invoice, account]\n  effects: [read, reversible]\n  include:\n    - go\n  exclude: [clock]\nalways: [whoami]\npolicy:\n  invoice_delete: ask   # with a person\ntier: high\n---\n\nYou keep books.\n\n---\n\nAlways.\n";
    let files = [
        ("frontdesk.toml", "roles.path = \"roles\""),
        ("commands/go.toml", GO),
        ("roles/bookkeeper/ROLE.md", text),
        ("roles/README.md", "not a role"),
    ];
    let roster = case(&files).fits();
    let role = roster.default_role();
    assert_eq!((role.name.as_str(), role.title.as_str(), role.tier), ("bookkeeper", "Bookkeeper", Effort::High));
    assert_eq!(role.instructions, "You keep books.\n\n---\n\nAlways.");
    let name = |text: &str| ToolName::parse(text).expect("a name");
    assert_eq!(role.scope.effects, [Effect::Read, Effect::Reversible].into());
    assert_eq!(role.scope.categories.as_ref().map(std::collections::BTreeSet::len), Some(2));
    assert_eq!((&role.scope.include, &role.scope.exclude), (&[name("go")].into(), &[name("clock")].into()));
    assert_eq!(role.always, [name("whoami")]);
    assert_eq!(role.policy, [(name("invoice_delete"), Verdict::Ask)].into());
    assert!(roster.version().starts_with("files-"), "{}", roster.version());
    // Another text is another roster.
    let mut changed = files;
    let longer = format!("{text}More.");
    changed[2].1 = &longer;
    assert_ne!(case(&changed).fits().version(), roster.version());
}

#[test]
fn one_of_several_roles_is_named() {
    let two = [("roles/sales/ROLE.md", ROLE), ("roles/support/ROLE.md", ROLE)];
    let with = |config: &'static str| case(&[&[("frontdesk.toml", config)][..], &two].concat());
    let roster = with("roles.path = \"roles\"\nroster.default = \"support\"").fits();
    assert_eq!(roster.default_role().name.as_str(), "support");
    assert_eq!(roster.roles().count(), 2);
    with("roles.path = \"roles\"").errors(&[
        "frontdesk.toml:1:14: missing-key: there are several roles (sales, support); roster.default says which one answers",
    ]);
    with("roles.path = \"roles\"\nroster.default = \"suport\"")
        .errors(&["frontdesk.toml:2:18: unknown-role: there is no role \"suport\"; did you mean \"support\"?"]);
    case(&[("frontdesk.toml", "roles.path = \".\"")])
        .errors(&["frontdesk.toml:1:14: not-found: there is no role in .; a role is a folder of its name with a file ROLE.md"]);
    // Of the program's own.
    case(&[("frontdesk.toml", "roster.default = \"asistant\"")])
        .unfit(&["frontdesk.toml:1:18: unknown-role: there is no role \"asistant\"; did you mean \"assistant\"?"]);
}

#[track_caller]
fn role(text: &str, expected: &[&str]) {
    case(&[("frontdesk.toml", CATEGORIES), ("roles/r/ROLE.md", text)]).with("FRONTDESK__ROLES__PATH", "roles").errors(expected);
}

#[test]
fn a_broken_role_is_said_with_its_place() {
    role("You help.", &["roles/r/ROLE.md:1:1: syntax: a role begins with its settings, between two lines ---"]);
    role(
        "---\ntitle: R\n---\n",
        &[
            "roles/r/ROLE.md:1:1: missing-key: role.scope says which tools the role may be offered; it needs effects",
            "roles/r/ROLE.md:1:1: out-of-range: the text below the settings is the role's instructions: 1 to 65536 characters",
        ],
    );
    role(
        "---\nscope:\n  categories: [invoce]\n  efects: [read]\ntier: hard\npolicy:\n  go: maybe\n---\nText",
        &[
            "roles/r/ROLE.md:2:1: missing-key: role.scope.effects says what calls may do, such as [read]; [] admits only what include names",
            "roles/r/ROLE.md:3:16: unknown-category: the scope of role \"r\" is of category \"invoce\", which categories.* does not declare; did you mean \"invoice\"?",
            "roles/r/ROLE.md:4:3: unknown-key: there is no setting role.scope.efects; did you mean \"effects\"?",
            "roles/r/ROLE.md:5:7: unknown-value: role.tier must be one of minimal, low, medium, high, not \"hard\"",
            "roles/r/ROLE.md:7:7: unknown-value: role.policy.go must be one of run, ask, requires_human, deny",
        ],
    );
    role("---\nscope: {effects: [read, writ]}\nscope: 3\n---\nText", &["roles/r/ROLE.md:3:1: syntax: scope is set twice"]);
    role(
        "---\nscope: {effects: [read, rad]}\nalways: *x\n---\nText",
        &["roles/r/ROLE.md:3:9: syntax: while parsing node, found unknown anchor"],
    );
    role(
        "---\nscope: {effects: [read, rad]}\nalways: [a, b, c, d, e, f, g, h, i]\n---\nText",
        &[
            "roles/r/ROLE.md:2:25: unknown-value: an effect is one of read, reversible, irreversible, gesture, human_only, not \"rad\"; did you mean \"read\"?",
            "roles/r/ROLE.md:3:34: out-of-range: role.always holds at most 8 tools",
        ],
    );
}

#[test]
fn names_that_nothing_has_do_not_start() {
    let text = "---\nscope:\n  effects: [read]\n  include: [whoamy, go]\n  exclude: [nothing_like_it]\nalways: [invoice_delete]\npolicy:\n  invoice_delete: run\n  clock: deny\n  goo: ask\n---\nText";
    case(&[("frontdesk.toml", "roles.path = \"roles\""), ("commands/go.toml", GO), ("roles/r/ROLE.md", text)]).unfit(&[
        "roles/r/ROLE.md:4:13: unknown-tool: there is no tool or command \"whoamy\"; did you mean \"whoami\"?",
        "roles/r/ROLE.md:5:13: unknown-tool: there is no tool or command \"nothing_like_it\"",
        "roles/r/ROLE.md:6:10: not-admitted: the scope does not admit \"invoice_delete\": its effect is not among the scope's; include it, or offer it not always",
        "roles/r/ROLE.md:8:3: unsafe-policy: \"invoice_delete\" is irreversible: it never runs unasked; use ask, requires_human or deny",
        "roles/r/ROLE.md:10:3: unknown-tool: there is no tool or command \"goo\"; did you mean \"go\"?",
    ]);
    case(&[("frontdesk.toml", ""), ("commands/x.toml", "name = \"clock\"\ncategory = \"a\"\neffect = \"read\"\n")]).unfit(&[
        "commands/x.toml:1:8: duplicate-name: \"clock\" is the name of a tool of the server's; a command needs another",
    ]);
    case(&[("frontdesk.toml", "[categories]\naccounts.data = \"own\"\ninvoice.data = \"own\"\n")]).unfit(&[
        "frontdesk.toml:1:2: unknown-category: the tool \"clock\" is of category \"time\", which categories.* does not declare",
        "frontdesk.toml:1:2: unknown-category: the tool \"whoami\" is of category \"account\", which categories.* does not declare; did you mean \"accounts\"?",
    ]);
}
