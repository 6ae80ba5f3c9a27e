//! Acting: the calls of an answer are looked at, asked for and run, until all have ended or only the user can go on.

use super::call::{Calling, Effect, Input, Step};
use super::hands::{Done, Happened};
use super::policy::answer as words;
use super::runner::{Command, Failed, Next, Runner};
use super::scheduler::Act;
use super::session::Session;
use crate::domain::failpoint;
use crate::domain::tool::{Approval, Call, Plan, ToolError};
use crate::proto::a2a::TaskState;
use crate::proto::task::Checkpoint;
use crate::proto::task::task_event::Event;

/// What wakes a task that acts.
enum Woken {
    Told(Command),
    Happened(Happened),
}

impl Runner {
    pub(super) async fn act(&mut self) -> Result<Next, Failed> {
        self.withdraw_interrupted().await?;
        loop {
            self.advance().await?;
            let session = self.session().await?;
            if session.work.batch.is_over() {
                return Ok(Next::Go);
            }
            if session.hands.is_idle() {
                return self.pause().await;
            }
            match self.woken().await? {
                Woken::Told(command) => self.obey(command).await,
                Woken::Happened(happened) => self.note(happened).await?,
            }
            if self.machine.state().is_terminal() {
                return Ok(Next::Go);
            }
        }
    }

    async fn woken(&mut self) -> Result<Woken, Failed> {
        self.session().await?;
        let Self { inbox, session: Some(session), .. } = self else { return Err(Failed::Lost) };
        Ok(tokio::select! {
            biased;
            Some(command) = inbox.recv() => Woken::Told(command),
            happened = session.hands.next() => Woken::Happened(happened),
        })
    }

    /// What another process had started has an unknown outcome, and is never started again.
    async fn withdraw_interrupted(&mut self) -> Result<(), Failed> {
        let session = self.session().await?;
        if !session.hands.is_idle() {
            return Ok(());
        }
        let events = events(session.work.batch.apply_all(&Input::Recovered));
        self.record_some(events).await
    }

    /// Looks at what can be looked at, and starts what can be started. What starts is stored as started before it does,
    /// with the files that it is about to change.
    async fn advance(&mut self) -> Result<(), Failed> {
        let session = self.session().await?;
        let mut started = Vec::new();
        let mut events = Vec::new();
        for act in session.work.batch.advance() {
            match act {
                Act::Plan(index) => session.look(index),
                Act::Start(index) => started.extend(session.start(index, &mut events)),
            }
        }
        let tools = session.tools.clone();
        for (call, approval) in &started {
            let files = tools.saves(call, approval).await;
            if !files.is_empty() {
                let tool_call_id = call.id.clone();
                events.insert(0, Event::Checkpoint(Checkpoint { tool_call_id, files }));
            }
        }
        self.record_some(events).await?;
        let session = self.session().await?;
        for (call, approval) in started {
            failpoint::reach("before-start");
            session.hands.run(session.tools.clone(), call, approval);
        }
        Ok(())
    }

    async fn note(&mut self, happened: Happened) -> Result<(), Failed> {
        let session = self.session().await?;
        let events = match happened {
            Happened::Printed(id, text) => session.apply(&id, Input::Printed(text)),
            Happened::Done(id, Done::Ran(result)) => {
                failpoint::reach("after-effect");
                session.apply(&id, Input::Done(result))
            }
            Happened::Done(id, Done::Planned(planned)) => session.looked(id, planned),
        };
        self.record_some(events).await
    }

    /// Only the user can go on: what is asked is said in words too, for clients that do not read tool calls.
    async fn pause(&mut self) -> Result<Next, Failed> {
        let session = self.session().await?;
        let mut events = session.work.batch.held_up();
        let question = session.work.batch.asking().next().and_then(question);
        events.push(self.writer().asks(&question.unwrap_or_default()));
        self.record(events).await?;
        Ok(Next::Go)
    }

    /// Stops all that runs, and returns when it is gone.
    pub(super) async fn stop_calls(&mut self) -> Result<(), Failed> {
        let Some(session) = &mut self.session else {
            // Calls that wait for an answer, and nobody at work.
            // Without their workspace there is nothing to withdraw them from, and the task ends all the same.
            if self.machine.state() == TaskState::InputRequired
                && let Ok(session) = self.session().await
            {
                let withdrawn = events(session.work.batch.apply_all(&Input::Cancel));
                self.record_some(withdrawn).await?;
            }
            return Ok(());
        };
        let steps = session.work.batch.apply_all(&Input::Cancel);
        for (id, step) in &steps {
            if step.effect == Some(Effect::Kill) {
                session.hands.stop(id);
            }
        }
        self.record_some(events(steps)).await?;
        while let Some(session) = &mut self.session
            && !session.hands.is_idle()
        {
            let happened = session.hands.next().await;
            self.note(happened).await?;
        }
        Ok(())
    }

    async fn record_some(&mut self, events: Vec<Event>) -> Result<(), Failed> {
        if !events.is_empty() {
            self.record(events).await?;
        }
        Ok(())
    }
}

impl Session {
    fn look(&mut self, index: usize) {
        if let Some(call) = self.work.batch.call(index) {
            self.hands.plan(self.tools.clone(), call.clone());
        }
    }

    /// What was found out about a call, as soon as all before it are found out about.
    fn looked(&mut self, id: String, planned: Result<Plan, ToolError>) -> Vec<Event> {
        let call = self.work.batch.get(&id).map(|calling| calling.call.clone());
        let Some(input) = call.map(|call| self.judge(&call, planned)) else { return Vec::new() };
        self.planned.insert(id, input);
        let mut events = Vec::new();
        while let Some(first) = self.work.batch.planning().map(str::to_owned)
            && let Some(input) = self.planned.remove(&first)
        {
            events.extend(self.apply(&first, input));
        }
        events
    }

    /// Nothing where the call was withdrawn meanwhile.
    fn apply(&mut self, id: &str, input: Input) -> Vec<Event> {
        self.work.batch.apply(id, input).map(|step| step.events).unwrap_or_default()
    }

    fn start(&mut self, index: usize, events: &mut Vec<Event>) -> Option<(Call, Approval)> {
        let call = self.work.batch.call(index)?.clone();
        let step = self.work.batch.apply(&call.id, Input::Start).ok()?;
        events.extend(step.events);
        match step.effect {
            Some(Effect::Run(approval)) => Some((call, approval)),
            _ => None,
        }
    }
}

fn events(steps: Vec<(String, Step)>) -> Vec<Event> {
    steps.into_iter().flat_map(|(_, step)| step.events).collect()
}

fn question(calling: &Calling) -> Option<String> {
    calling.request().map(|request| words::question(calling.description(), request))
}
