//! `/approval-mode`: how much is done without asking, within what the operator allows.

use async_trait::async_trait;

use super::{Desk, Does, Line, Slash, argument, described, over, with};
use crate::agent::runner::Failed;
use crate::agent::work::Done;
use crate::proto::devtool::{AgentSettings, ApprovalMode as Mode, SlashCommand};

pub(super) struct ApprovalMode;

const MODES: [(&str, Mode); 4] =
    [("default", Mode::Default), ("auto_edit", Mode::AutoEdit), ("yolo", Mode::Yolo), ("plan", Mode::Plan)];

#[async_trait]
impl Slash for ApprovalMode {
    fn about(&self) -> SlashCommand {
        let mode = argument("mode", "default, auto_edit, yolo or plan", true);
        over(
            described("approval-mode", "Shows or sets how much is done without asking."),
            vec![
                described("show", "Says how much is done without asking."),
                with(described("set", "Asks for less or for more from now on."), vec![mode]),
            ],
        )
    }

    fn sets(&self, line: &Line, held: &AgentSettings) -> Result<Option<AgentSettings>, String> {
        if line.sub != "set" {
            return Ok(None);
        }
        let wanted = line.args.to_ascii_lowercase().replace('-', "_");
        let found = MODES.iter().find(|(name, _)| *name == wanted);
        let (_, mode) = found.ok_or_else(|| {
            format!("there is no mode {:?}; default, auto_edit, yolo and plan are", line.args)
        })?;
        Ok(Some(AgentSettings { approval_mode: (*mode).into(), ..held.clone() }))
    }

    async fn run(&self, desk: &Desk, _line: &Line, _done: &[Done]) -> Result<Does, Failed> {
        Ok(Does::Says(format!("The approval mode of this context is {}.", desk.mode())))
    }
}
