//! The files that a task has written, as artifacts: told once, when a turn ends, under the path and with what they held
//! then. Pure: folded from the journal, so that what was told is not told again.

use std::collections::BTreeMap;

use crate::proto::a2a::part::Content;
use crate::proto::a2a::{Artifact, Part};
use crate::proto::devtool::tool_call::Result as CallResult;
use crate::proto::devtool::tool_output::Result as Output;
use crate::proto::devtool::{FileDiff, ToolCall, ToolCallStatus};
use crate::proto::task::ArtifactDelta;
use crate::proto::task::task_event::Event;

/// Larger files are named, and not shown.
const LARGEST: usize = 1024 * 1024;
/// Of one turn.
const MOST: usize = 64;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Made {
    /// Written and not told yet, by path.
    files: BTreeMap<String, String>,
    /// Told before: the id of each name.
    told: BTreeMap<String, String>,
}

impl Made {
    pub fn fold(&mut self, event: &Event) {
        match event {
            Event::ToolCall(call) => {
                if let Some(file) = written(call) {
                    self.files.insert(file.file_path.clone(), file.new_content.clone());
                }
            }
            Event::Artifact(delta) if delta.of_file => {
                self.files.clear();
                if let Some(artifact) = &delta.artifact {
                    self.told.insert(artifact.name.clone(), artifact.artifact_id.clone());
                }
            }
            _ => {}
        }
    }

    /// What is to be told now. A file that this task told of before keeps its id there; in another task it gets another.
    pub fn artifacts(&self, workspace: &str, mut new_id: impl FnMut() -> String) -> Vec<Event> {
        let inside = self.files.iter().filter_map(|(path, content)| {
            let name = path.strip_prefix(workspace)?.strip_prefix('/')?;
            Some((name, content))
        });
        let tell = |(name, content): (&str, &String)| {
            let artifact = Artifact {
                artifact_id: self.told.get(name).cloned().unwrap_or_else(&mut new_id),
                name: name.to_owned(),
                parts: vec![part(name, content)],
                ..Artifact::default()
            };
            let artifact = Some(artifact);
            Event::Artifact(Box::new(ArtifactDelta {
                artifact,
                append: false,
                last_chunk: true,
                of_file: true,
            }))
        };
        inside.take(MOST).map(tell).collect()
    }
}

fn written(call: &ToolCall) -> Option<&FileDiff> {
    match &call.result {
        Some(CallResult::Output(output)) if call.status() == ToolCallStatus::Succeeded => {
            match &output.result {
                Some(Output::Diff(file)) => Some(file),
                _ => None,
            }
        }
        _ => None,
    }
}

fn part(name: &str, content: &str) -> Part {
    if content.len() > LARGEST {
        let size = content.len();
        return Part::text(format!("{name} has {size} bytes, too many to show; it lies in the workspace"));
    }
    Part {
        content: Some(Content::Raw(content.as_bytes().to_vec().into())),
        filename: name.to_owned(),
        media_type: media_type(name).to_owned(),
        ..Part::default()
    }
}

/// By its ending; what is not listed is text, since only text is written.
fn media_type(name: &str) -> &'static str {
    const TYPES: [(&str, &str); 9] = [
        ("svg", "image/svg+xml"),
        ("html", "text/html"),
        ("css", "text/css"),
        ("csv", "text/csv"),
        ("md", "text/markdown"),
        ("js", "text/javascript"),
        ("json", "application/json"),
        ("xml", "application/xml"),
        ("yaml", "application/yaml"),
    ];
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    TYPES.into_iter().find(|(known, _)| *known == ending).map_or("text/plain", |(_, media)| media)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::devtool::ToolOutput;

    fn wrote(path: &str, content: &str, status: ToolCallStatus) -> Event {
        let file =
            FileDiff { file_path: path.to_owned(), new_content: content.to_owned(), ..FileDiff::default() };
        let output = ToolOutput { result: Some(Output::Diff(file)) };
        Event::ToolCall(Box::new(ToolCall {
            status: status.into(),
            result: Some(CallResult::Output(output)),
            ..ToolCall::default()
        }))
    }

    fn names(made: &Made, id: &str) -> Vec<(String, String)> {
        let told = made.artifacts("/w", || id.to_owned());
        let name = |event: &Event| match event {
            Event::Artifact(delta) => delta.artifact.clone().map(|a| (a.name, a.artifact_id)),
            _ => None,
        };
        told.iter().filter_map(name).collect()
    }

    #[test]
    fn what_was_written_is_told_once_and_keeps_its_id_in_the_task() {
        let mut made = Made::default();
        made.fold(&wrote("/w/a/b.py", "1", ToolCallStatus::Succeeded));
        made.fold(&wrote("/w/a/b.py", "2", ToolCallStatus::Succeeded));
        made.fold(&wrote("/elsewhere/x", "1", ToolCallStatus::Succeeded));
        made.fold(&wrote("/wide/x", "1", ToolCallStatus::Succeeded));
        made.fold(&wrote("/w/no", "1", ToolCallStatus::Failed));
        assert_eq!(names(&made, "one"), [("a/b.py".to_owned(), "one".to_owned())]);
        made.artifacts("/w", || "one".to_owned()).iter().for_each(|event| made.fold(event));
        assert!(names(&made, "two").is_empty());
        made.fold(&wrote("/w/a/b.py", "3", ToolCallStatus::Succeeded));
        made.fold(&wrote("/w/c", &"x".repeat(LARGEST + 1), ToolCallStatus::Succeeded));
        let expected = [("a/b.py", "one"), ("c", "two")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(names(&made, "two"), expected);
        let large = made.artifacts("/w", String::new).pop();
        assert!(matches!(large, Some(Event::Artifact(delta))
            if matches!(delta.artifact.as_ref().unwrap().parts[0].content, Some(Content::Text(_)))));
    }
}
