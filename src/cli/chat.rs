//! `agena chat`: prompts and answers at a terminal, in one conversation until it is left.

use super::client::{Scene, answers};
use super::commands::{all, begin, unknown};
use super::exit::{Exit, Stop};
use super::link::cut::{is_cut, patiently};
use super::link::follow::Follower;
use super::link::stop;
use super::show::paint::Ink;
use super::show::safe::safe_line;
use super::show::story::Reader;
use super::talk::input::{Input, Typed};
use super::talk::slash::{self, Line, OWN};
use super::talk::turn::{Answers, Ended, Part, Progress, Teller, Turn};
use super::work;
use crate::config::client::Chat;
use crate::proto::devtool::{AgentSettings, ContinueTaskRequest, StartTaskRequest};

/// Where the conversation stands.
struct Talk<'a> {
    chat: &'a Chat,
    context_id: String,
    /// What is to hold from the next message on; none if it was said.
    settings: Option<AgentSettings>,
    /// A task that has asked something in words.
    asking: Option<String>,
}

pub fn run(scene: &mut Scene<'_>, chat: &Chat) -> Result<Exit, Stop> {
    let mut client = scene.found.client.clone();
    let context_id = scene.runtime.block_on(work::context(&mut client, &chat.work.context))?;
    let asking = scene.runtime.block_on(work::asking(&mut client, &context_id))?;
    let (asking, question) = asking.unzip();
    let mut talk = Talk { chat, context_id, settings: work::settings(&chat.work), asking };
    let mut input = Input::new(&scene.settings.data_dir, scene.screen.paint)?;
    let known = all(&mut client, &talk.context_id, talk.settings.clone());
    input.learn(scene.runtime.block_on(known)?);
    greet(scene)?;
    if let Some(question) = question {
        let line = format!("the agent waits for an answer: {}", safe_line(&question));
        scene.screen.say(Ink::Yellow, &line)?;
    }
    let mut pressed = false;
    loop {
        match input.read()? {
            Typed::End => return Ok(Exit::Done),
            Typed::Interrupt if pressed => return Ok(Exit::Done),
            Typed::Interrupt => {
                pressed = true;
                scene.screen.say(Ink::Dim, "Ctrl-C again leaves, as do Ctrl-D and /quit")?;
            }
            Typed::Line(line) => {
                pressed = false;
                match talk.line(scene, &mut input, &line) {
                    Ok(true) => {}
                    Ok(false) => return Ok(Exit::Done),
                    // What went wrong is told, and the chat goes on.
                    Err(Stop { problem, .. }) => scene.screen.say(Ink::Red, &format!("error: {problem}"))?,
                }
            }
        }
    }
}

fn greet(scene: &mut Scene<'_>) -> Result<(), Stop> {
    let how = if scene.found.started { "a server of its own" } else { "the server at" };
    let line = format!("agena {}, {how} {}", env!("CARGO_PKG_VERSION"), scene.found.url);
    scene.screen.say(Ink::Bold, &line)?;
    Ok(scene.screen.say(Ink::Dim, "/help lists the commands, Ctrl-C cancels, Ctrl-D leaves")?)
}

impl Talk<'_> {
    /// Does what a line says; false to leave.
    fn line(&mut self, scene: &mut Scene<'_>, input: &mut Input, line: &str) -> Result<bool, Stop> {
        match slash::read(line, input.commands()) {
            Line::Empty => {}
            Line::Quit => return Ok(false),
            Line::New => {
                self.context_id.clear();
                self.asking = None;
                self.settings = work::settings(&self.chat.work);
                scene.screen.say(Ink::Dim, "a new conversation")?;
            }
            Line::Unknown { name, near } => {
                let line = format!(
                    "{}; to say it to the agent, put a space before it",
                    unknown(&name, near.as_deref())
                );
                scene.screen.say(Ink::Red, &line)?;
            }
            Line::Text(text) => return self.say(scene, text),
            Line::Command { path, args } => {
                let help = path.first().is_some_and(|name| name == "help");
                let goes_on = self.command(scene, path, args)?;
                if help {
                    own_help(scene)?;
                }
                return Ok(goes_on);
            }
        }
        Ok(true)
    }

    fn command(&mut self, scene: &mut Scene<'_>, path: Vec<String>, args: String) -> Result<bool, Stop> {
        self.place();
        let mut client = scene.found.client.clone();
        let begun = begin(&mut client, path, args, self.context_id.clone(), self.settings.clone());
        let begun = scene.runtime.block_on(begun)?;
        self.settings = None;
        // A question of the conversation is still open behind a command.
        let asked = self.asking.take().filter(|_| self.context_id == begun.context_id);
        self.context_id = begun.context_id;
        let turned = self.turn(scene, Follower::follow(client, begun.task_id, 0));
        self.asking = self.asking.take().or(asked);
        turned
    }

    /// A new conversation has its id from here: whatever becomes of the answer, what is said next belongs to it.
    fn place(&mut self) {
        if self.context_id.is_empty() {
            self.context_id = uuid::Uuid::now_v7().to_string();
        }
    }

    /// A new task of the conversation, or the answer that the last one waits for.
    fn say(&mut self, scene: &mut Scene<'_>, prompt: String) -> Result<bool, Stop> {
        self.place();
        let client = scene.found.client.clone();
        let message_id = uuid::Uuid::now_v7().to_string();
        let follower = match self.asking.clone() {
            Some(task_id) => {
                let request = ContinueTaskRequest { task_id, prompt, message_id };
                let sent = patiently(|| {
                    let (mut client, request) = (client.clone(), request.clone());
                    async move { client.continue_task(request).await }
                });
                let sent = scene.runtime.block_on(sent).map_err(|status| {
                    // Whoever is not reached still waits for the answer.
                    self.asking.take_if(|_| !is_cut(&status));
                    stop(&status)
                })?;
                let sent = sent.into_inner();
                Follower::follow(client, sent.task_id, sent.sequence)
            }
            None => Follower::start(
                client,
                StartTaskRequest {
                    prompt,
                    context_id: self.context_id.clone(),
                    settings: self.settings.clone(),
                    message_id,
                    reference_task_ids: Vec::new(),
                },
            ),
        };
        self.turn(scene, follower)
    }

    fn turn(&mut self, scene: &mut Scene<'_>, follower: Follower) -> Result<bool, Stop> {
        scene.interrupts.forget();
        let turn = Turn {
            client: scene.found.client.clone(),
            follower,
            answers: answers(self.chat.approve, scene.streams, false, Answers::Nobody),
            teller: Teller::new(false, Reader { paint: scene.screen.paint, bystander: false }),
            screen: &mut scene.screen,
            interrupts: &mut scene.interrupts,
            part: Part::Owner,
            progress: Progress::default(),
        };
        self.asking = None;
        let outcome = scene.runtime.block_on(turn.run())?;
        self.settings = None;
        if !outcome.context_id.is_empty() {
            self.context_id = outcome.context_id;
        }
        self.asking = (outcome.ended == Ended::Waits).then_some(outcome.task_id);
        Ok(outcome.ended != Ended::Left)
    }
}

fn own_help(scene: &mut Scene<'_>) -> Result<(), Stop> {
    for (name, words) in OWN {
        scene.screen.say(Ink::Plain, &format!("/{name}: {words}"))?;
    }
    Ok(())
}
