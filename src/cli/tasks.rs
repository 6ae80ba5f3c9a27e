//! `agena tasks`: what is under way, or all that there was.

use super::client::Scene;
use super::exit::{Exit, Stop};
use super::link::stop;
use super::show::paint::Ink;
use super::show::{json, list};
use crate::proto::devtool::ListTasksRequest;

const PAGE: i32 = 100;

pub fn run(scene: &mut Scene<'_>, context: Option<&str>, all: bool, json: bool) -> Result<Exit, Stop> {
    let mut client = scene.found.client.clone();
    let mut request = ListTasksRequest {
        context_id: context.unwrap_or_default().to_owned(),
        page_size: PAGE,
        open: !all,
        ..ListTasksRequest::default()
    };
    let mut shown = 0;
    loop {
        let listed = scene.runtime.block_on(client.list_tasks(request.clone()));
        let page = listed.map_err(|status| stop(&status))?.into_inner();
        for task in &page.tasks {
            let text = match json {
                true => json::line(task).map_err(|error| Stop::new(Exit::Failed, error.to_string()))?,
                false => list::task(scene.screen.paint, task),
            };
            scene.screen.print(&text)?;
        }
        shown += page.tasks.len();
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    if shown == 0 && !json {
        let words =
            if all { "there are no tasks" } else { "nothing is under way; --all lists what has ended" };
        scene.screen.say(Ink::Dim, words)?;
    }
    Ok(Exit::Done)
}
