//! `agena cancel`: ends a task, and says so when its work has stopped.

use super::client::Scene;
use super::exit::{Exit, Stop};
use super::link::stop;
use super::show::paint::Ink;
use crate::proto::devtool::CancelTaskRequest;

pub fn run(scene: &mut Scene<'_>, task: &str) -> Result<Exit, Stop> {
    let mut client = scene.found.client.clone();
    let request = CancelTaskRequest { task_id: task.to_owned() };
    scene.runtime.block_on(client.cancel_task(request)).map_err(|status| stop(&status))?;
    scene.screen.say(Ink::Plain, "cancelled; its work has stopped")?;
    Ok(Exit::Done)
}
