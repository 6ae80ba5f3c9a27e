//! `agena chat -p`: one prompt, its answer on standard output, and an exit code that says how it went.

use std::io::{self, Read};

use super::client::{Scene, answers};
use super::exit::{Exit, Stop};
use super::link::follow::Follower;
use super::show::story::Reader;
use super::talk::screen::Streams;
use super::talk::turn::{Answers, Part, Progress, Teller, Turn};
use super::work;
use crate::config::client::{Approve, Ask, Chat, Prompt};
use crate::proto::devtool::StartTaskRequest;

/// More than any model reads.
const MOST: u64 = 4 << 20;

/// What is said at once; none to talk. Without a terminal to type at, standard input is the prompt.
pub fn prompt(ask: &Ask, streams: Streams) -> Result<Option<String>, Stop> {
    let Ask::Chat(chat) = ask else { return Ok(None) };
    let text = match &chat.prompt {
        Some(Prompt::Text(text)) => text.clone(),
        Some(Prompt::Stdin) => stdin()?,
        None if !streams.input => stdin()?,
        None if chat.json => return Err(usage("--json is for one prompt; say it with -p")),
        None if !streams.output => {
            return Err(usage("standard output is no terminal; say what to do with -p"));
        }
        None => return Ok(None),
    };
    match text.trim() {
        "" => Err(usage("the prompt is empty")),
        text => Ok(Some(text.to_owned())),
    }
}

fn usage(problem: &str) -> Stop {
    Stop::new(Exit::Usage, problem)
}

fn stdin() -> Result<String, Stop> {
    let mut bytes = Vec::new();
    let failed = |error: io::Error| Stop::new(Exit::Failed, format!("cannot read standard input: {error}"));
    io::stdin().take(MOST + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MOST {
        return Err(usage("the prompt on standard input is longer than 4 MiB"));
    }
    String::from_utf8(bytes).map_err(|_| usage("the prompt on standard input is not UTF-8"))
}

pub fn run(scene: &mut Scene<'_>, chat: &Chat, prompt: String) -> Result<Exit, Stop> {
    let mut client = scene.found.client.clone();
    let context_id = scene.runtime.block_on(work::context(&mut client, &chat.work.context))?;
    let request = StartTaskRequest {
        prompt,
        context_id,
        settings: work::settings(&chat.work),
        message_id: uuid::Uuid::now_v7().to_string(),
        reference_task_ids: Vec::new(),
    };
    let follower = Follower::start(client, request);
    to_the_end(scene, follower, chat.approve, chat.json)
}

/// Follows what was begun until it ends or nobody can answer it.
pub fn to_the_end(
    scene: &mut Scene<'_>,
    follower: Follower,
    approve: Approve,
    json: bool,
) -> Result<Exit, Stop> {
    let reader = Reader { paint: scene.screen.paint, bystander: false };
    let turn = Turn {
        client: scene.found.client.clone(),
        follower,
        answers: answers(approve, scene.streams, json, Answers::Nobody),
        screen: &mut scene.screen,
        interrupts: &mut scene.interrupts,
        teller: Teller::new(json, reader),
        part: Part::Owner,
        progress: Progress::default(),
    };
    let outcome = scene.runtime.block_on(turn.run())?;
    Ok(outcome.ended.exit())
}
