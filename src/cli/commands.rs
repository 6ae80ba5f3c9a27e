//! `agena commands`: the slash commands of a server, and running one.

use super::client::Scene;
use super::exit::{Exit, Stop};
use super::link::follow::Follower;
use super::link::{Client, stop};
use super::once::to_the_end;
use super::show::safe::safe_line;
use super::show::{json, list as lines};
use super::talk::slash::{self, Line};
use super::work;
use crate::config::client::{Approve, Work};
use crate::proto::devtool::{
    AgentSettings, CommandExecutionStatus, ExecuteSlashCommandRequest, GetAllSlashCommandsRequest,
    SlashCommand,
};

pub fn list(scene: &mut Scene<'_>, work: &Work, json: bool) -> Result<Exit, Stop> {
    let mut client = scene.found.client.clone();
    let commands = scene.runtime.block_on(async {
        let context_id = work::context(&mut client, &work.context).await?;
        all(&mut client, &context_id, work::settings(work)).await
    })?;
    for command in &commands {
        let text = match json {
            true => json::line(command).map_err(|error| Stop::new(Exit::Failed, error.to_string()))?,
            false => lines::command(scene.screen.paint, command),
        };
        scene.screen.print(&text)?;
    }
    Ok(Exit::Done)
}

pub fn run(
    scene: &mut Scene<'_>,
    line: &str,
    work: &Work,
    approve: Approve,
    json: bool,
) -> Result<Exit, Stop> {
    let mut client = scene.found.client.clone();
    let line = if line.starts_with('/') { line.to_owned() } else { format!("/{line}") };
    let task = scene.runtime.block_on(async {
        let context_id = work::context(&mut client, &work.context).await?;
        let settings = work::settings(work);
        let known = all(&mut client, &context_id, settings.clone()).await?;
        match slash::read(&line, &known) {
            Line::Command { path, args } => begin(&mut client, path, args, context_id, settings).await,
            Line::Unknown { name, near } => Err(Stop::new(Exit::Usage, unknown(&name, near.as_deref()))),
            _ => Err(Stop::new(
                Exit::Usage,
                format!("`{line}` is a command of the chat; the server has none of it"),
            )),
        }
    })?;
    to_the_end(scene, Follower::follow(client, task.task_id, 0), approve, json)
}

/// What to say of a command that there is not.
pub fn unknown(name: &str, near: Option<&str>) -> String {
    let name = safe_line(name);
    match near {
        Some(near) => format!("there is no command /{name}; is /{} meant?", safe_line(near)),
        None => format!("there is no command /{name}; /help lists them"),
    }
}

pub async fn all(
    client: &mut Client,
    context_id: &str,
    settings: Option<AgentSettings>,
) -> Result<Vec<SlashCommand>, Stop> {
    let request =
        GetAllSlashCommandsRequest { context_id: context_id.to_owned(), settings, tenant: String::new() };
    let answer = client.get_all_slash_commands(request).await.map_err(|status| stop(&status))?;
    Ok(answer.into_inner().commands)
}

/// A command that has begun.
pub struct Begun {
    pub task_id: String,
    pub context_id: String,
}

/// Sent once: whoever sends a command twice means it twice.
pub async fn begin(
    client: &mut Client,
    command_path: Vec<String>,
    args: String,
    context_id: String,
    settings: Option<AgentSettings>,
) -> Result<Begun, Stop> {
    let request =
        ExecuteSlashCommandRequest { command_path, args, context_id, settings, tenant: String::new() };
    let answer = client.execute_slash_command(request).await.map_err(|status| stop(&status))?.into_inner();
    match answer.status() {
        CommandExecutionStatus::FailedToStart => Err(Stop::new(Exit::Usage, safe_line(&answer.message))),
        _ => Ok(Begun { task_id: answer.execution_id, context_id: answer.context_id }),
    }
}
