//! `agena watch`: a task from its beginning to its end, or every task that appears or changes.

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
        let mut watching = Watching { client: scene.found.client.clone(), since: None, json };
        tokio::select! {
            stopped = watching.run(&mut scene.screen) => stopped,
            () = scene.interrupts.next() => Ok(Exit::Interrupted),
        }
    })
}

struct Watching {
    client: Client,
    /// When the last change that was told happened.
    since: Option<Timestamp>,
    json: bool,
}

impl Watching {
    async fn run(&mut self, screen: &mut super::talk::screen::Screen) -> Result<Exit, Stop> {
        let mut tries = Tries::default();
        loop {
            let status = match self.stream(screen, &mut tries).await? {
                None => return Ok(Exit::Done),
                Some(status) => status,
            };
            match tries.failed().filter(|_| is_cut(&status)) {
                None => return Err(stop(&status)),
                Some(delay) => {
                    let why = safe_line(status.message());
                    screen.say(Ink::Yellow, &format!("the connection is lost ({why}); trying again"))?;
                    tokio::time::sleep(delay).await;
                }
            }
        }
    }

    /// Tells what comes; what it ended with, if not by itself.
    async fn stream(
        &mut self,
        screen: &mut super::talk::screen::Screen,
        tries: &mut Tries,
    ) -> Result<Option<tonic::Status>, Stop> {
        let request = WatchTasksRequest { since: self.since, ..WatchTasksRequest::default() };
        let mut changes = match self.client.watch_tasks(request).await {
            Ok(changes) => changes.into_inner(),
            Err(status) => return Ok(Some(status)),
        };
        loop {
            match changes.message().await {
                Ok(None) => return Ok(None),
                Err(status) => return Ok(Some(status)),
                Ok(Some(told)) => {
                    tries.worked();
                    if let Some(task) = told.task {
                        self.tell(screen, &task)?;
                    }
                }
            }
        }
    }

    fn tell(&mut self, screen: &mut super::talk::screen::Screen, task: &TaskSummary) -> Result<(), Stop> {
        self.since = task.update_time.or(self.since);
        let text = match self.json {
            true => json::line(task).map_err(|error| Stop::new(Exit::Failed, error.to_string()))?,
            false => list::task(screen.paint, task),
        };
        Ok(screen.print(&text)?)
    }
}
