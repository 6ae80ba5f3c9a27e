//! Commanding: a slash command is carried out, step by step, in a task like any other. What it calls goes the way of every
//! call; what it prompts goes to the model.

use std::sync::Arc;

use super::command::{self, Desk, Does};
use super::compress;
use super::conversation::{MODEL, USER, text};
use super::runner::{Failed, Next, Runner};
use super::script::Writer;
use crate::domain::brain::{End, Step};
use crate::proto::a2a::TaskState;
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Content, FunctionCall, Part};
use crate::proto::task::task_event::Event;
use crate::proto::task::{Commanded, Summarized, TurnStarted};

impl Runner {
    /// What was typed is the command's, and nobody else works on it.
    pub(super) async fn begin_command(&mut self) -> Result<Next, Failed> {
        self.session().await?;
        let message_ids = std::mem::take(&mut self.said).into_iter().map(|said| said.message_id).collect();
        let command = Some(Commanded::default());
        let turn = TurnStarted { message_ids, scripted: true, command, ..TurnStarted::default() };
        self.record(vec![Event::Turn(turn), Writer::state(TaskState::Working)]).await?;
        Ok(Next::Go)
    }

    /// One step of it: it is asked again when its calls have ended.
    pub(super) async fn command(&mut self) -> Result<Next, Failed> {
        let line = self.command.clone().ok_or(Failed::Lost)?;
        let desk = self.desk().await?;
        let done = self.session().await?.work.done();
        let found = command::meant(&desk.tools, &desk.servers, &line.path, &line.args).await;
        let does = match found.ok_or(Failed::Lost)? {
            Ok((command, line)) => command.run(&desk, &line, &done).await?,
            Err(problem) => Does::Fails(problem),
        };
        self.carry_out(does).await?;
        Ok(Next::Go)
    }

    async fn desk(&mut self) -> Result<Desk, Failed> {
        let (shared, owner) = (Arc::clone(&self.shared), self.owner.clone());
        let session = self.session().await?;
        Ok(Desk {
            shared,
            owner,
            settings: session.settings.clone(),
            tools: Arc::clone(&session.tools),
            servers: Arc::clone(&session.servers),
            declarations: session.declarations.clone(),
            policy_mode: session.policy.mode,
        })
    }

    async fn carry_out(&mut self, does: Does) -> Result<(), Failed> {
        match does {
            Does::Says(said) => self.conclude_command(Vec::new(), said).await,
            Does::Tells { said, told } => {
                self.conclude_command(vec![Event::Told(text(USER, told))], said).await
            }
            Does::Forgets(said) => {
                let nothing = Event::Summary(Summarized { contents: Vec::new() });
                self.conclude_command(vec![nothing], said).await
            }
            Does::Fails(problem) => {
                let failed = self.writer().failed(&problem, "command_failed");
                self.record(vec![failed]).await.map(drop)
            }
            Does::Calls(calls) => self.record(vec![Event::Answer(called(calls))]).await.map(drop),
            Does::Prompts(prompt) => {
                let prompt = text(USER, prompt).parts;
                let command = Some(Commanded { prompt });
                let turn = TurnStarted { command, ..TurnStarted::default() };
                self.record(vec![Event::Turn(turn)]).await.map(drop)
            }
            Does::Compresses => self.compress().await,
        }
    }

    async fn compress(&mut self) -> Result<(), Failed> {
        let tokens = |runner: &Self| {
            let session = runner.session.as_ref();
            session.map_or(0, |session| compress::tokens(&session.work.conversation.contents()))
        };
        let before = tokens(self);
        let shorter = self.shorten(true).await?;
        if self.machine.state().is_terminal() {
            return Ok(());
        }
        let said = match shorter {
            true => format!("The conversation had about {before} tokens and has about {} now.", tokens(self)),
            false => {
                "The conversation is too short to be made shorter, or the model gave no summary.".to_owned()
            }
        };
        self.conclude_command(Vec::new(), said).await
    }

    async fn conclude_command(&mut self, mut events: Vec<Event>, said: String) -> Result<(), Failed> {
        let steps = vec![Step::Text(said), Step::End(End::Completed(None))];
        let more_is_said = !self.said.is_empty();
        let mut writer = self.writer();
        writer.events(steps, self.machine.state(), more_is_said, &mut events);
        self.record(events).await.map(drop)
    }
}

/// As a model would have asked for them.
fn called(calls: Vec<(&'static str, serde_json::Value)>) -> Content {
    let part = |(name, args): (&str, serde_json::Value)| {
        let call = FunctionCall { name: name.to_owned(), args: args.to_string(), ..FunctionCall::default() };
        Part { data: Some(Data::FunctionCall(call)), ..Part::default() }
    };
    Content { role: MODEL.to_owned(), parts: calls.into_iter().map(part).collect() }
}
