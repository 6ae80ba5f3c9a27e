//! Which artifact a message means when it asks for a change. Pure; whoever refines an artifact asks here, and asks
//! the user when the answer is not certain.

use crate::proto::a2a::{Artifact, Message, Part, Task};
use crate::proto::wkt::Kind;

/// What a message refers to.
#[derive(Debug, Clone, PartialEq)]
pub enum Reference<'a> {
    One(&'a Artifact),
    /// Any of these, by name.
    Several(Vec<&'a str>),
    Nothing,
}

/// Looks at what the message says, from the most to the least explicit: an artifact id in the metadata of a part, a
/// name in its text, and else whatever the tasks have. Of artifacts with one name only the newest counts.
pub fn resolve<'a>(message: &Message, tasks: &'a [Task]) -> Reference<'a> {
    let all = newest_by_name(tasks);
    let ids: Vec<&str> = message.parts.iter().filter_map(artifact_id).collect();
    let by_id: Vec<&Artifact> =
        tasks.iter().flat_map(|t| &t.artifacts).filter(|a| ids.contains(&a.artifact_id.as_str())).collect();
    if !ids.is_empty() {
        return choose(by_id);
    }
    let text = message.text();
    let named: Vec<&Artifact> =
        all.iter().copied().filter(|a| !a.name.is_empty() && text.contains(a.name.as_str())).collect();
    choose(if named.is_empty() { all } else { named })
}

/// Whether a message says by id which artifact it means.
pub fn names_one(message: &Message) -> bool {
    message.parts.iter().any(|part| artifact_id(part).is_some())
}

/// The tasks that a message refers to, as a whole or beside an artifact.
pub fn task_ids(message: &Message) -> impl Iterator<Item = &str> {
    let beside = message.parts.iter().filter(|part| artifact_id(part).is_some());
    let beside = beside.filter_map(|part| member(part, "taskId"));
    message.reference_task_ids.iter().map(String::as_str).chain(beside)
}

fn choose(candidates: Vec<&Artifact>) -> Reference<'_> {
    match candidates.as_slice() {
        [] => Reference::Nothing,
        [one] => Reference::One(one),
        several => Reference::Several(several.iter().map(|artifact| artifact.name.as_str()).collect()),
    }
}

/// Tasks come newest first, and within a task the last artifact is the newest.
pub fn newest_by_name(tasks: &[Task]) -> Vec<&Artifact> {
    let mut found: Vec<&Artifact> = Vec::new();
    for artifact in tasks.iter().flat_map(|task| task.artifacts.iter().rev()) {
        if artifact.name.is_empty() || !found.iter().any(|other| other.name == artifact.name) {
            found.push(artifact);
        }
    }
    found
}

fn artifact_id(part: &Part) -> Option<&str> {
    member(part, "artifactId")
}

fn member<'a>(part: &'a Part, name: &str) -> Option<&'a str> {
    match part.metadata.as_ref()?.fields.get(name)?.kind.as_ref()? {
        Kind::String(text) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::wkt::{Struct, Value};

    fn artifact(id: &str, name: &str) -> Artifact {
        Artifact { artifact_id: id.to_owned(), name: name.to_owned(), ..Artifact::default() }
    }

    fn tasks() -> Vec<Task> {
        let newer = Task { artifacts: vec![artifact("3", "boat.png")], ..Task::default() };
        let older = Task {
            artifacts: vec![artifact("1", "boat.png"), artifact("2", "house.png")],
            ..Task::default()
        };
        vec![newer, older]
    }

    fn message(text: &str) -> Message {
        Message { parts: vec![Part::text(text)], ..Message::default() }
    }

    #[test]
    fn the_newest_of_a_name_is_meant() {
        let tasks = tasks();
        assert_eq!(resolve(&message("make boat.png red"), &tasks), Reference::One(&tasks[0].artifacts[0]));
        assert_eq!(resolve(&message("make it red"), &tasks[..1]), Reference::One(&tasks[0].artifacts[0]));
    }

    #[test]
    fn what_could_be_several_is_not_guessed() {
        let tasks = tasks();
        assert_eq!(
            resolve(&message("make it red"), &tasks),
            Reference::Several(vec!["boat.png", "house.png"])
        );
        assert_eq!(resolve(&message("make it red"), &[]), Reference::Nothing);
    }

    #[test]
    fn an_id_is_as_good_as_its_word() {
        let tasks = tasks();
        for (id, expected) in [("1", Reference::One(&tasks[1].artifacts[0])), ("9", Reference::Nothing)] {
            let id = Value::from(Kind::String(id.to_owned()));
            let metadata = Some(Struct { fields: [("artifactId".to_owned(), id)].into() });
            let part = Part { metadata, ..Part::text("make house.png red") };
            assert_eq!(resolve(&Message { parts: vec![part], ..Message::default() }, &tasks), expected);
        }
    }
}
