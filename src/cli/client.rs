//! The terminal client: finds a server and does there what was asked for, one file per command. Speaks the typed service
//! over gRPC, like any other client; `main` calls it, and starts a server where one is wanted.

use tokio::runtime::Runtime;

use super::exit::{Exit, Stop};
use super::link::{Found, Starter, find};
use super::show::paint::Ink;
use super::talk::interrupts::Interrupts;
use super::talk::screen::{Asides, Screen, Streams};
use super::talk::turn::Answers;
use super::{cancel, chat, commands, once, rules, tasks, watch};
use crate::config::Settings;
use crate::config::client::{Approve, Ask, Client};

/// What every command has.
pub struct Scene<'a> {
    pub runtime: &'a Runtime,
    pub settings: &'a Settings,
    pub found: Found,
    pub streams: Streams,
    pub screen: Screen,
    pub interrupts: Interrupts,
}

/// Runs a command to its end. The exit code says how it went; what went wrong is told on standard error.
pub fn run(runtime: &Runtime, settings: &Settings, client: &Client, ask: &Ask, start: Starter<'_>) -> Exit {
    match attempt(runtime, settings, client, ask, start) {
        Ok(exit) => exit,
        Err(Stop { exit, problem }) => {
            if !problem.is_empty() {
                // Nothing is left to do about an output that cannot be written.
                let _ = std::io::Write::write_all(
                    &mut std::io::stderr(),
                    format!("error: {problem}\n").as_bytes(),
                );
            }
            exit
        }
    }
}

fn attempt(
    runtime: &Runtime,
    settings: &Settings,
    client: &Client,
    ask: &Ask,
    start: Starter<'_>,
) -> Result<Exit, Stop> {
    let streams = Streams::look();
    let paint = streams.paint(client.color);
    let asides = match ask {
        Ask::Chat(chat) if chat.prompt.is_none() && streams.output => Asides::Beside,
        Ask::Watch { json: false, .. } => Asides::Beside,
        _ => Asides::Error,
    };
    let mut screen = Screen::new(streams, paint, asides);
    let prompt = once::prompt(ask, streams)?;
    let _runs = runtime.enter();
    let interrupts = Interrupts::new()?;
    let found = runtime.block_on(find(settings, client, start))?;
    if let Some(warning) = &found.warning {
        screen.say(Ink::Yellow, &format!("warning: {warning}"))?;
    }
    let mut scene = Scene { runtime, settings, found, streams, screen, interrupts };
    match ask {
        Ask::Chat(chat) => match prompt {
            Some(prompt) => once::run(&mut scene, chat, prompt),
            None => chat::run(&mut scene, chat),
        },
        Ask::Tasks { context, all, json } => tasks::run(&mut scene, context.as_deref(), *all, *json),
        Ask::Watch { task: Some(task), approve, json } => watch::one(&mut scene, task, *approve, *json),
        Ask::Watch { task: None, json, .. } => watch::all(&mut scene, *json),
        Ask::Cancel { task } => cancel::run(&mut scene, task),
        Ask::Rules { context, json } => rules::list(&mut scene, context.as_deref(), *json),
        Ask::Revoke { rule, context } => rules::revoke(&mut scene, rule, context.as_deref()),
        Ask::Commands { work, json } => commands::list(&mut scene, work, *json),
        Ask::Run { line, work, approve, json } => commands::run(&mut scene, line, work, *approve, *json),
    }
}

/// Who answers, given what was asked for and whether somebody is there. `nobody` is who does otherwise.
pub fn answers(approve: Approve, streams: Streams, json: bool, nobody: Answers) -> Answers {
    match approve {
        Approve::Once => Answers::Once,
        Approve::Never => Answers::Never,
        Approve::Ask if streams.can_ask() && !json => Answers::User,
        Approve::Ask => nobody,
    }
}
