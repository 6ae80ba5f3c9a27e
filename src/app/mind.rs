//! What stands behind the agent, as the settings ask for it: what acts and thinks, where tools come from, and what is
//! done unasked.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::models::Models;
use super::{StartError, mcp};
use crate::agent::Mind;
use crate::agent::mind::Options;
use crate::agent::policy::{self, Mode, RuleSpec};
use crate::config::{ApprovalMode, Decision, Rule, Settings, trust};
use crate::domain::mcp::Spec;
use crate::domain::tool::Workshop;
use crate::proto::devtool::AgentSettings;
use crate::sandbox::process::own_binary;
use crate::telemetry::metrics::Metrics;
use crate::tool::{self, Asks, Bench, ShellLimits};

/// The directory of the operator's own slash commands, in that of the data.
const COMMANDS: &str = "commands";

/// `confined`: commands are kept inside by the kernel.
pub(super) fn mind(
    settings: &Settings,
    models: &Models,
    confined: bool,
    metrics: &Metrics,
) -> Result<Mind, StartError> {
    let bench = workshop(settings, models, confined)?;
    let servers = mcp::hub(settings, bench.launcher(), trusted(settings)?, Arc::clone(&metrics.mcp))?;
    Ok(Mind {
        brain: models.brain(),
        backend: models.backend(),
        workshop: Arc::new(bench),
        servers: Arc::new(servers),
        options: options(settings)?,
    })
}

fn options(settings: &Settings) -> Result<Options, StartError> {
    let agent = &settings.agent;
    Ok(Options {
        // The router knows which, also after the settings were read again.
        model: String::new(),
        mode: mode(agent.approval_mode),
        allow_yolo: agent.allow_yolo,
        rules: rules(&agent.rules, &settings.mcp.servers)?,
        max_answers: agent.max_answers,
        // The other half is for what one turn may add.
        compress_at: i64::from(agent.context_tokens / 2),
    })
}

fn mode(mode: ApprovalMode) -> Mode {
    match mode {
        ApprovalMode::Default => Mode::Default,
        ApprovalMode::AutoEdit => Mode::AutoEdit,
        ApprovalMode::Yolo => Mode::Yolo,
        ApprovalMode::Plan => Mode::Plan,
    }
}

fn rules(written: &[Rule], servers: &[Spec]) -> Result<Arc<[policy::Rule]>, StartError> {
    let read = |(index, rule)| {
        policy::Rule::try_from(spec(rule)).map_err(|problem| StartError::Rule { index, problem })
    };
    let bad = |problem| StartError::Rule { index: written.len(), problem };
    let trusted = mcp::rules(servers).map(|rule| rule.map_err(bad));
    written.iter().enumerate().map(read).chain(trusted).collect()
}

fn spec(rule: &Rule) -> RuleSpec {
    RuleSpec {
        tool: rule.tool.clone(),
        command: rule.command.clone(),
        path: rule.path.clone(),
        decision: match rule.decision {
            Decision::Allow => policy::Decision::Allow,
            Decision::Ask => policy::Decision::Ask,
            Decision::Deny => policy::Decision::Deny,
        },
        reason: rule.reason.clone(),
        matches: rule.matches.clone(),
        not_matches: rule.not_matches.clone(),
    }
}

fn workshop(settings: &Settings, models: &Models, confined: bool) -> Result<Bench, StartError> {
    let (agent, workspace) = (&settings.agent, &settings.workspace);
    if !workspace.starts_with(&agent.root) {
        return Err(StartError::OutsideRoot { workspace: workspace.clone(), root: agent.root.clone() });
    }
    let own_files = whereabouts(&settings.own_files);
    keep_apart(workspace, &own_files)?;
    let helper = own_binary().map_err(StartError::OwnBinary)?;
    let options = tool::Options {
        default_workspace: Some(workspace.clone()),
        sandbox: confined,
        writable: agent.writable.clone(),
        hidden: own_files
            .into_iter()
            .chain([settings.data_dir.clone()])
            .chain(settings.model.record.clone())
            .collect(),
        trusted: trusted(settings)?,
        commands: Some(settings.data_dir.join(COMMANDS)),
        asks: Some(Asks { backend: models.backend(), model: String::new() }),
        shell: ShellLimits { silence: agent.shell_silence, wall: agent.shell_wall, ..ShellLimits::default() },
        ..tool::Options::new(agent.root.clone(), helper)
    };
    let bench = Bench::new(options)?;
    // Told now, not to every client: the workspace of those that name none.
    bench.open(&AgentSettings::default()).map_err(|bad| StartError::Workspace(bad.problem))?;
    Ok(bench)
}

/// Each file where it is named and, if that is a link, where it really is.
fn whereabouts(files: &[PathBuf]) -> Vec<PathBuf> {
    let named = |file: &PathBuf| Some(file.parent()?.canonicalize().ok()?.join(file.file_name()?));
    files.iter().flat_map(|file| [named(file), file.canonicalize().ok()]).flatten().collect()
}

/// Said now, in words that name the file, because no workspace that holds one is opened later.
fn keep_apart(workspace: &Path, own_files: &[PathBuf]) -> Result<(), StartError> {
    let Some(file) = own_files.iter().find(|file| file.starts_with(workspace)) else { return Ok(()) };
    Err(StartError::Workspace(format!(
        "{} lies in {}, where the agent could read and change it, and is the server's own; move that file elsewhere, \
         or name another directory",
        file.display(),
        workspace.display()
    )))
}

fn trusted(settings: &Settings) -> Result<Vec<PathBuf>, StartError> {
    let mut trusted = trust::in_force(&settings.data_dir)?;
    trusted.extend(settings.agent.trusted.iter().cloned());
    Ok(trusted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(tool: &str, command: Option<&str>) -> Rule {
        Rule {
            tool: tool.to_owned(),
            command: command.map(str::to_owned),
            path: None,
            decision: Decision::Allow,
            reason: None,
            matches: vec![],
            not_matches: vec![],
        }
    }

    #[test]
    fn a_bad_rule_is_named_by_its_number() {
        let good = rule("run_shell_command", Some("git status"));
        assert_eq!(rules(std::slice::from_ref(&good), &[]).unwrap().len(), 1);
        let bad = Rule { not_matches: vec!["git status -s".to_owned()], ..good.clone() };
        assert_eq!(
            rules(&[good, bad], &[]).unwrap_err().to_string(),
            "rule 2 (agent.rules[1]): not_matches: the rule is about `git status -s`; mend it or take it out"
        );
    }
}
