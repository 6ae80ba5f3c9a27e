//! `agena watch`: a task from its beginning to its end, or every task that appears or changes.

use std::collections::HashMap;

use super::client::{Scene, answers};
use super::exit::{Exit, Stop};
use super::link::cut::{Tries, is_cut};
use super::link::follow::Follower;
use super::link::{Client, stop};
use super::show::paint::Ink;
use super::show::safe::safe_line;
use super::show::story::Reader;
use super::show::{json, list};
use super::talk::turn::{Answers, Part, Progress, Teller, Turn};
use crate::config::client::Approve;
use crate::proto::devtool::{TaskSummary, WatchTasksRequest};
use crate::proto::wkt::Timestamp;

pub fn one(scene: &mut Scene<'_>, task: &str, approve: Approve, json: bool) -> Result<Exit, Stop> {
    let client = scene.found.client.clone();
    let reader = Reader { paint: scene.screen.paint, bystander: true };
    let turn = Turn {
        follower: Follower::follow(client.clone(), task.to_owned(), 0),
        client,
        answers: answers(approve, scene.streams, json, Answers::Others),
        screen: &mut scene.screen,
        interrupts: &mut scene.interrupts,
        teller: Teller::new(json, reader),
        part: Part::Bystander,
        progress: Progress::default(),
    };
    Ok(scene.runtime.block_on(turn.run())?.ended.exit())
}

/// Until Ctrl-C.
pub fn all(scene: &mut Scene<'_>, json: bool) -> Result<Exit, Stop> {
    let runtime = scene.runtime;
    runtime.block_on(async {
        let mut watching = Watching {
            client: scene.found.client.clone(),
            since: None,
            told: HashMap::new(),
            json,
            lost: false,
        };
        tokio::select! {
            stopped = watching.run(&mut scene.screen) => stopped,
            () = scene.interrupts.next() => Ok(Exit::Interrupted),
        }
    })
}

struct Watching {
    client: Client,
    /// By the server's clock: what changed before is told.
    since: Option<Timestamp>,
    /// Of each task, up to where it was told.
    told: HashMap<String, u64>,
    json: bool,
    /// The connection is, and the user knows it.
    lost: bool,
}

impl Watching {
    async fn run(&mut self, screen: &mut super::talk::screen::Screen) -> Result<Exit, Stop> {
        let mut tries = Tries::default();
        loop {
            let status = self.stream(screen, &mut tries).await?;
            match tries.failed().filter(|_| is_cut(&status)) {
                None => return Err(stop(&status)),
                Some(delay) => {
                    if !std::mem::replace(&mut self.lost, true) {
                        let why = safe_line(status.message());
                        screen.say(Ink::Yellow, &format!("the connection is lost ({why}); trying again"))?;
                    }
                    tokio::time::sleep(delay).await;
                }
            }
        }
    }

    /// Tells what comes, and what it ended with.
    async fn stream(
        &mut self,
        screen: &mut super::talk::screen::Screen,
        tries: &mut Tries,
    ) -> Result<tonic::Status, Stop> {
        let request = WatchTasksRequest { since: self.since, ..WatchTasksRequest::default() };
        let mut changes = match self.client.watch_tasks(request).await {
            Ok(changes) => changes.into_inner(),
            Err(status) => return Ok(status),
        };
        tries.opened();
        loop {
            match changes.message().await {
                // It has no end of its own: the server is being stopped.
                Ok(None) => return Ok(tonic::Status::unavailable("the server is going away")),
                Err(status) => return Ok(status),
                Ok(Some(told)) => {
                    tries.worked();
                    self.until(told.as_of);
                    if std::mem::take(&mut self.lost) {
                        screen.say(Ink::Dim, "connected again")?;
                    }
                    if let Some(task) = told.task {
                        self.tell(screen, &task)?;
                    }
                }
            }
        }
    }

    fn until(&mut self, time: Option<Timestamp>) {
        let at = |time: Option<Timestamp>| time.map(|time| (time.seconds, time.nanos));
        if at(time) > at(self.since) {
            self.since = time;
        }
    }

    fn tell(&mut self, screen: &mut super::talk::screen::Screen, task: &TaskSummary) -> Result<(), Stop> {
        // Not of the list that it began with: that has only a part of what there was, and the newest comes first.
        if self.since.is_some() {
            self.until(task.update_time);
        }
        // Behind a cut, what is open is told again, changed or not.
        if self.told.insert(task.task_id.clone(), task.sequence) == Some(task.sequence) {
            return Ok(());
        }
        let text = match self.json {
            true => json::line(task).map_err(|error| Stop::new(Exit::Failed, error.to_string()))?,
            false => list::task(screen.paint, task),
        };
        Ok(screen.print(&text)?)
    }
}
