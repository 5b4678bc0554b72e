//! `tools`: what there is to call, what a role may be offered of it, and what a call does.

mod names;

use catalog::NotAdmitted;
use domain::{ChannelName, IdError, OrgId, Principal, RoleName, UserId};
use orchestrator::{Listed, ToolList};

use super::org_id;
use crate::{Exit, Failure, app, out, program::Program};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// As this role meets them [default: the one that answers]
    #[arg(long, value_name = "ROLE", value_parser = role_name)]
    role: Option<RoleName>,
    /// On this channel
    #[arg(long, value_name = "CHANNEL", default_value = "web", value_parser = channel_name)]
    channel: ChannelName,
    /// For a person of this organization
    #[arg(long, value_name = "ORG", default_value = server::LOCAL, value_parser = org_id)]
    org: OrgId,
    /// One JSON document
    #[arg(long)]
    json: bool,
    /// The names as constants of a Rust source, for `names.rs`
    #[arg(long, conflicts_with = "json")]
    rust: bool,
}

pub(crate) async fn run(program: Program, arguments: Arguments) -> Result<Exit, Failure> {
    let Program { name, config, builder, .. } = program;
    let parts = builder.parts(&config)?;
    let settings = app::turns(&config);
    if arguments.rust {
        let tools = parts.catalog.own().iter().map(|entry| &entry.contract.name);
        out::line(&names::source(name, tools.chain(settings.commands.iter().map(|command| &command.name))))?;
        return Ok(Exit::Done);
    }
    let role = match &arguments.role {
        Some(wanted) => parts.roster.get(wanted).ok_or_else(|| {
            let there: Vec<_> = parts.roster.roles().map(|role| role.name.as_str()).collect();
            Failure::usage(format!("there is no role {wanted}; the roles are: {}", there.join(", ")))
        })?,
        None => parts.roster.default_role(),
    };
    let channel = settings.channels.get(&arguments.channel).ok_or_else(|| {
        Failure::usage(format!("there is no channel {}; the channels are: {}", arguments.channel, app::CHANNELS.join(", ")))
    })?;
    let user = UserId::parse(server::LOCAL).map_err(|error| Failure::failed(error.to_string()))?;
    let principal = Principal::new(arguments.org, user, arguments.channel);
    let tools = parts.catalog.mount(&principal).await;
    let list = ToolList::of(&tools, channel, &settings, role, &principal);
    if arguments.json {
        out::json(&list.json())?;
    } else {
        out::line(&out::shown(&page(&list)))?;
    }
    Ok(Exit::Done)
}

fn role_name(text: &str) -> Result<RoleName, IdError> {
    RoleName::parse(text)
}

fn channel_name(text: &str) -> Result<ChannelName, IdError> {
    ChannelName::parse(text)
}

const HEAD: [&str; 7] = ["NAME", "ORIGIN", "CATEGORY", "EFFECT", "ADMITTED", "A CALL", "TITLE"];

/// A table for people.
fn page(list: &ToolList) -> String {
    let admitted = list.tools.iter().filter(|tool| tool.admitted.is_ok()).count();
    let head = format!("Role {} on channel {}: {admitted} of {} tools admitted.", list.role, list.channel, list.tools.len());
    let rows: Vec<[String; 7]> = [HEAD.map(str::to_owned)].into_iter().chain(list.tools.iter().map(row)).collect();
    let mut widths = [0; 7];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let line = |row: &[String; 7]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    [head, String::new()].into_iter().chain(rows.iter().map(line)).collect::<Vec<_>>().join("\n")
}

fn row(tool: &Listed) -> [String; 7] {
    let admitted = match tool.admitted {
        Ok(()) => "yes".to_owned(),
        Err(NotAdmitted::Excluded) => "no, excluded".to_owned(),
        Err(NotAdmitted::Category) => "no, by category".to_owned(),
        Err(NotAdmitted::Effect) => "no, by effect".to_owned(),
    };
    let verdict = tool.verdict.as_str().to_owned();
    [
        tool.name.to_string(),
        tool.origin.as_str().to_owned(),
        tool.category.to_string(),
        tool.effect.to_string(),
        admitted,
        verdict,
        tool.title.clone().unwrap_or_default(),
    ]
}
