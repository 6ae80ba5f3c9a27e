//! `/restore`: files as they were before a tool call changed them. Checkpoints are events of the journal, stored before the
//! call starts; only files that stand in one are ever touched.

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::{Desk, Does, Line, Slash, argument, described, over, with};
use crate::agent::runner::Failed;
use crate::agent::work::Done;
use crate::domain::tool::{RESTORE, fingerprint};
use crate::proto::devtool::tool_call::Result as CallResult;
use crate::proto::devtool::{SlashCommand, ToolCall, ToolCallStatus};
use crate::proto::task::task_event::Event;
use crate::proto::task::{SavedFile, TaskEvent};

pub(super) struct Restore;

/// Checkpoints that are listed, at the most: the newest.
const LISTED: usize = 50;
/// What one restore brings back at the most, in bytes: all of it is shown.
const LARGEST: usize = 2 * 1024 * 1024;

/// Files before a call, and the call as it was shown last.
struct Point {
    at: (i64, i32),
    files: Vec<SavedFile>,
    call: ToolCall,
}

impl Point {
    fn id(&self) -> &str {
        &self.call.tool_call_id
    }

    /// A call that certainly changed nothing has nothing to bring back.
    fn counts(&self) -> bool {
        let interrupted =
            |error: &crate::proto::devtool::ErrorDetails| error.r#type.as_deref() == Some("interrupted");
        match (self.call.status(), &self.call.result) {
            (ToolCallStatus::Failed, Some(CallResult::Error(error))) => {
                interrupted(error) || self.call.tool_name == RESTORE
            }
            (ToolCallStatus::Cancelled, _) => false,
            _ => true,
        }
    }
}

#[async_trait]
impl Slash for Restore {
    fn about(&self) -> SlashCommand {
        let id = argument("id", "of the checkpoint, as /restore list shows it", true);
        over(
            described("restore", "Brings files back as they were before a tool call."),
            vec![
                described("list", "Lists the checkpoints of this context, newest first."),
                with(
                    described("apply", "Shows what would change, and does it when it is allowed."),
                    vec![id],
                ),
            ],
        )
    }

    async fn run(&self, desk: &Desk, line: &Line, done: &[Done]) -> Result<Does, Failed> {
        if let Some(done) = done.first() {
            return Ok(restored(done));
        }
        let points = points(&desk.journals().await?);
        match line.sub.as_str() {
            "apply" => apply(desk, &points, &line.args).await,
            _ => Ok(Does::Says(list(&points))),
        }
    }
}

fn restored(done: &Done) -> Does {
    match done.ending("") {
        Does::Says(said) => {
            let told =
                format!("The user has brought files back as they were before; read them again:\n{said}");
            Does::Tells { said, told }
        }
        other => other,
    }
}

/// Of all tasks of the context, oldest first.
fn points(journals: &[Vec<TaskEvent>]) -> Vec<Point> {
    let mut points: Vec<Point> = journals.iter().flat_map(|events| of_task(events)).collect();
    points.retain(Point::counts);
    points.sort_by_key(|point| point.at);
    points
}

fn of_task(events: &[TaskEvent]) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for event in events {
        match &event.event {
            Some(Event::Checkpoint(saved)) => {
                let time = event.time.unwrap_or_default();
                let call = ToolCall { tool_call_id: saved.tool_call_id.clone(), ..ToolCall::default() };
                points.push(Point { at: (time.seconds, time.nanos), files: saved.files.clone(), call });
            }
            Some(Event::ToolCall(call)) => {
                if let Some(point) = points.iter_mut().find(|point| point.id() == call.tool_call_id) {
                    point.call = ToolCall::clone(call);
                }
            }
            _ => {}
        }
    }
    points
}

fn list(points: &[Point]) -> String {
    let shown = |point: &Point| {
        let paths: Vec<&str> = point.files.iter().map(|file| file.path.as_str()).collect();
        format!("{} - before {} of {}", point.id(), point.call.tool_name, paths.join(", "))
    };
    let lines: Vec<String> = points.iter().rev().take(LISTED).map(shown).collect();
    if lines.is_empty() { "There are no checkpoints in this context.".to_owned() } else { lines.join("\n") }
}

async fn apply(desk: &Desk, points: &[Point], id: &str) -> Result<Does, Failed> {
    let Some(from) = points.iter().position(|point| point.id() == id) else {
        let problem =
            format!("there is no checkpoint {id:?} in this context; /restore list shows those there are");
        return Ok(Does::Fails(problem));
    };
    // What a file was first, from the checkpoint on, is what it was at the checkpoint.
    let mut wanted: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for file in points.iter().skip(from).flat_map(|point| &point.files) {
        wanted.entry(&file.path).or_insert(file.content.as_deref());
    }
    let mut files: Vec<Value> = Vec::new();
    for (path, content) in wanted {
        let now = match desk.tools.content(path).await {
            Ok(now) => now,
            Err(error) => return Ok(Does::Fails(format!("nothing was restored: {error}"))),
        };
        if now.as_deref() != content {
            files.push(json!({"path": path, "content": content, "now": now.as_deref().map(fingerprint)}));
        }
    }
    let size: usize = files.iter().filter_map(|file| file["content"].as_str()).map(str::len).sum();
    Ok(match files.len() {
        0 => Does::Says(
            "The files are as they were at this checkpoint; there is nothing to restore.".to_owned(),
        ),
        _ if size > LARGEST => Does::Fails(format!(
            "these files have {size} bytes, and {LARGEST} are the most; restore a later checkpoint first"
        )),
        _ => Does::Calls(vec![(RESTORE, json!({"files": files}))]),
    })
}
