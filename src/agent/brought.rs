//! What earlier tasks bring into a turn: the results of those that a message refers to, or the names of what the
//! context has made, so that the model knows what could be meant. Pure; the runner records what comes out.

use std::fmt::Write as _;

use crate::domain::reference::{self, Reference};
use crate::proto::a2a::part::Content as Holds;
use crate::proto::a2a::{Artifact, Message, Part, Task};

/// Of one artifact, in bytes. The file itself lies in the workspace.
const SHOWN: usize = 8 * 1024;
/// Of one answer in words.
const WORDS: usize = 4 * 1024;
/// Of all together.
const MOST: usize = 64 * 1024;

const ASK: &str = "If the user's words could mean more than one of them, ask which one (ask_user) and do not guess. \
                   A changed file keeps its name.";

/// Empty where there is nothing to bring.
pub fn brought(messages: &[Message], tasks: &[Task]) -> String {
    let referred = messages.iter().any(|message| !message.reference_task_ids.is_empty());
    let words = if referred { results(tasks) } else { names(tasks) };
    words.unwrap_or_default()
}

/// What to ask where a message names an artifact that nobody knows.
pub fn unknown(messages: &[Message], tasks: &[Task]) -> Option<String> {
    let lost = |message: &&Message| {
        reference::names_one(message) && reference::resolve(message, tasks) == Reference::Nothing
    };
    messages.iter().find(lost)?;
    let known = reference::newest_by_name(tasks);
    let known: Vec<String> =
        known.iter().map(|artifact| format!("{} ({})", artifact.name, artifact.artifact_id)).collect();
    Some(match known.is_empty() {
        true => "The artifact that you refer to is not known here. What do you mean?".to_owned(),
        false => {
            format!(
                "The artifact that you refer to is not known here. Which one is meant: {}?",
                known.join(", ")
            )
        }
    })
}

fn results(tasks: &[Task]) -> Option<String> {
    let mut words = "The user refers to what these tasks came to.\n".to_owned();
    for task in tasks {
        let _ = writeln!(words, "Task {}:", task.id);
        let said = task.status.as_ref().and_then(|status| status.message.as_ref()).map(Message::text);
        if let Some(said) = said.filter(|said| !said.is_empty()) {
            let _ = writeln!(words, "It answered: {}", cut(&said, WORDS));
        }
        for artifact in &task.artifacts {
            let _ = writeln!(words, "It made {}:\n{}", artifact.name, cut(&content(artifact), SHOWN));
        }
    }
    let words = cut(&words, MOST).to_owned();
    (!tasks.is_empty()).then(|| format!("{words}\n{ASK}"))
}

/// One file needs no list: it is meant, or nothing is.
fn names(tasks: &[Task]) -> Option<String> {
    let made = reference::newest_by_name(tasks);
    let names: Vec<&str> = made.iter().map(|made| made.name.as_str()).filter(|n| !n.is_empty()).collect();
    let listed = cut(&names.join(", "), WORDS).to_owned();
    (names.len() > 1).then(|| format!("Made earlier in this conversation: {listed}. {ASK}"))
}

fn content(artifact: &Artifact) -> String {
    let text = |part: &Part| match &part.content {
        Some(Holds::Text(text)) => text.clone(),
        Some(Holds::Raw(bytes)) => match str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => format!("({} bytes of {})", bytes.len(), part.media_type),
        },
        Some(Holds::Url(url)) => url.clone(),
        Some(Holds::Data(data)) => serde_json::to_string(data).unwrap_or_default(),
        None => String::new(),
    };
    artifact.parts.iter().map(text).collect::<Vec<_>>().join("\n")
}

/// At most so many bytes, whole characters.
fn cut(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or_default()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::wkt::{Kind, Struct, Value};

    fn task(id: &str, names: &[&str]) -> Task {
        let artifact = |name: &&str| Artifact {
            artifact_id: format!("{id}-{name}"),
            name: (*name).to_owned(),
            parts: vec![Part::text("<svg/>")],
            ..Artifact::default()
        };
        Task { id: id.to_owned(), artifacts: names.iter().map(artifact).collect(), ..Task::default() }
    }

    #[test]
    fn a_reference_brings_results_and_several_names_bring_the_names() {
        let refers = Message { reference_task_ids: vec!["t".to_owned()], ..Message::default() };
        let tasks = [task("t", &["boat.svg", "house.svg"])];
        let told = brought(std::slice::from_ref(&refers), &tasks);
        assert!(told.contains("Task t:") && told.contains("It made boat.svg:\n<svg/>"), "{told}");
        assert_eq!(brought(&[refers], &[]), "");
        let told = brought(&[Message::default()], &tasks);
        assert!(told.contains("house.svg, boat.svg") && !told.contains("<svg/>"), "{told}");
        assert_eq!(brought(&[Message::default()], &[task("t", &["boat.svg"])]), "");
    }

    #[test]
    fn an_artifact_that_nobody_knows_is_asked_about() {
        let tasks = [task("t", &["boat.svg"])];
        let names = |id: &str| {
            let id = Value::from(Kind::String(id.to_owned()));
            let metadata = Some(Struct { fields: [("artifactId".to_owned(), id)].into() });
            let part = Part { metadata, ..Part::text("make it red") };
            Message { parts: vec![part], ..Message::default() }
        };
        assert_eq!(unknown(&[names("t-boat.svg")], &tasks), None);
        assert!(unknown(&[names("other")], &tasks).unwrap().contains("boat.svg (t-boat.svg)"));
        assert!(unknown(&[names("other")], &[]).is_some());
        assert_eq!(unknown(&[Message::default()], &tasks), None);
    }

    #[test]
    fn what_is_brought_is_bounded() {
        let refers = Message { reference_task_ids: vec!["t".to_owned()], ..Message::default() };
        let mut many = task("t", &["é"; 32]);
        many.artifacts.iter_mut().for_each(|a| a.parts = vec![Part::text("é".repeat(SHOWN))]);
        assert!(brought(&[refers], &[many]).len() < MOST + 1024);
    }
}
