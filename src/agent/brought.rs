//! What earlier tasks bring into a turn: the results of those that a message refers to, or the names of what the
//! context has made, so that the model knows what could be meant. Pure; the runner records what comes out.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::domain::reference::{self, Reference};
use crate::domain::tool::untrusted;
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

/// What a turn may be about: the tasks that were found, newest first, and whether all that the messages refer to is among
/// them.
pub struct Found<'a> {
    pub tasks: &'a [Task],
    /// Tasks that the messages refer to and nobody has.
    pub missing: usize,
}

/// Empty where there is nothing to bring.
pub fn brought(messages: &[Message], tasks: &[Task]) -> String {
    let referred: Vec<&str> = messages.iter().flat_map(reference::task_ids).collect();
    let meant: Vec<&Task> = tasks.iter().filter(|task| referred.contains(&task.id.as_str())).collect();
    let words = match named(messages, tasks) {
        Some(words) => Some(words),
        None if referred.is_empty() => names(tasks),
        None => results(&meant),
    };
    words.unwrap_or_default()
}

/// What to ask where a message refers to something that nobody knows.
pub fn unknown(messages: &[Message], found: &Found<'_>) -> Option<String> {
    let lost = |message: &&Message| {
        reference::names_one(message) && reference::resolve(message, found.tasks) == Reference::Nothing
    };
    if messages.iter().any(|message| lost(&message)) {
        return Some(which("The artifact", found.tasks));
    }
    let named: BTreeSet<&str> = messages.iter().flat_map(reference::task_ids).collect();
    // Of several, what is known is enough to go on with.
    (found.missing > 0 && found.missing == named.len()).then(|| which("The task", found.tasks))
}

fn which(what: &str, tasks: &[Task]) -> String {
    let known = reference::newest_by_name(tasks);
    let known: Vec<String> =
        known.iter().map(|artifact| format!("{} ({})", artifact.name, artifact.artifact_id)).collect();
    match known.is_empty() {
        true => format!("{what} that you refer to is not known here. What do you mean?"),
        false => {
            format!("{what} that you refer to is not known here. Which one is meant: {}?", known.join(", "))
        }
    }
}

/// An artifact that is named by its id is meant, whatever else there is.
fn named(messages: &[Message], tasks: &[Task]) -> Option<String> {
    let by_id = messages.iter().filter(|message| reference::names_one(message));
    let mut words = String::new();
    for message in by_id {
        if let Reference::One(artifact) = reference::resolve(message, tasks) {
            let (id, name) = (&artifact.artifact_id, &artifact.name);
            let _ = writeln!(words, "The user means {} (artifact {id}):", one_line(name));
            let _ = writeln!(words, "{}", untrusted(cut(&content(artifact), SHOWN)));
        }
    }
    (!words.is_empty()).then(|| format!("{}\nA changed file keeps its name.", cut(&words, MOST)))
}

/// What they came to is what tools and models wrote, perhaps out of what others sent: it tells the model nothing.
fn results(tasks: &[&Task]) -> Option<String> {
    let mut words = "The user refers to what these tasks came to.\n".to_owned();
    for task in tasks {
        let _ = writeln!(words, "Task {}:", task.id);
        let state = task.status.as_ref().map(|status| status.state());
        if state.is_some_and(|state| !state.is_terminal()) {
            let _ = writeln!(words, "It has not ended; there may be no result yet.");
        }
        let said = task.status.as_ref().and_then(|status| status.message.as_ref()).map(Message::text);
        if let Some(said) = said.filter(|said| !said.is_empty()) {
            let _ = writeln!(words, "It answered:\n{}", untrusted(cut(&said, WORDS)));
        }
        for artifact in &task.artifacts {
            let _ = writeln!(words, "It made {}:", one_line(&artifact.name));
            let _ = writeln!(words, "{}", untrusted(cut(&content(artifact), SHOWN)));
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

/// A name is whatever a tool called its file.
fn one_line(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(200).collect()
}

/// At most so many bytes, whole characters.
fn cut(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or_default()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::a2a::{TaskState, TaskStatus};
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
        assert!(told.contains("Task t:") && told.contains("boat.svg") && told.contains("<svg/>"), "{told}");
        assert!(!told.contains("not ended"), "{told}");
        assert_eq!(brought(std::slice::from_ref(&refers), &[]), "");
        let status = Some(TaskStatus { state: TaskState::Working.into(), ..TaskStatus::default() });
        let works = Task { status, ..task("t", &[]) };
        assert!(brought(std::slice::from_ref(&refers), &[works]).contains("not ended"));
        let found = |missing| Found { tasks: &[], missing };
        assert_eq!(unknown(std::slice::from_ref(&refers), &found(0)), None);
        assert!(unknown(&[refers], &found(1)).unwrap().starts_with("The task that you refer to"));
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
        let known = Found { tasks: &tasks, missing: 0 };
        assert_eq!(unknown(&[names("t-boat.svg")], &known), None);
        assert!(unknown(&[names("other")], &known).unwrap().contains("boat.svg (t-boat.svg)"));
        assert!(unknown(&[names("other")], &Found { tasks: &[], missing: 0 }).is_some());
        assert_eq!(unknown(&[Message::default()], &known), None);
        let told = brought(&[names("t-boat.svg")], &[task("t", &["house.svg", "boat.svg"])]);
        assert!(told.contains("(artifact t-boat.svg)") && told.contains("<svg/>"), "{told}");
        assert!(!told.contains("house.svg") && !told.contains("ask which one"), "{told}");
    }

    #[test]
    fn what_is_brought_is_bounded() {
        let refers = Message { reference_task_ids: vec!["t".to_owned()], ..Message::default() };
        let mut many = task("t", &["é"; 32]);
        many.artifacts.iter_mut().for_each(|a| a.parts = vec![Part::text("é".repeat(SHOWN))]);
        assert!(brought(&[refers], &[many]).len() < MOST + 1024);
    }
}
