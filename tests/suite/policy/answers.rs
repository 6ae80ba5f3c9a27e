//! Plain questions, and plain answers to them.

use agena::agent::policy::answer::{self, Answer};
use agena::agent::policy::{Policy, Subject, options};
use agena::domain::tool::Kind;
use agena::proto::devtool::confirmation_request::Details;
use agena::proto::devtool::{
    Choice, ConfirmationRequest, ExecuteDetails, FileDiff, GenericDetails, McpDetails, Question,
};

use super::kit::{ask_user, command, edit, mcp};

fn request(subject: &Subject, details: Details) -> ConfirmationRequest {
    ConfirmationRequest {
        options: options::offered(subject, &Policy::default()),
        details: Some(details),
        fingerprint: String::new(),
    }
}

fn run(text: &str) -> ConfirmationRequest {
    let details = ExecuteDetails { command: text.into(), working_directory: Some("/w".into()) };
    request(&command(text), Details::ExecuteDetails(details))
}

fn ask(questions: Vec<Question>) -> ConfirmationRequest {
    let details = GenericDetails { description: "The agent asks.".into(), questions };
    request(&ask_user(), Details::GenericDetails(details))
}

#[test]
fn an_answer_is_an_id_a_number_or_a_word_and_nothing_else() {
    let selected = [
        ("proceed_once", "proceed_once"),
        (" Proceed_Once\n", "proceed_once"),
        ("1", "proceed_once"),
        ("2.", "proceed_always"),
        ("3)", "cancel"),
        ("yes", "proceed_once"),
        ("YES!", "proceed_once"),
        ("Yes.", "proceed_once"),
        ("no", "cancel"),
        ("No.", "cancel"),
        ("always", "proceed_always"),
        ("cancel", "cancel"),
    ];
    for (text, id) in selected {
        assert_eq!(answer::read(&run("ls"), text), Answer::Selected(id.into()), "{text:?}");
    }
    let rejected = [
        "",
        "0",
        "4",
        "01",
        "+1",
        "1.0",
        "1 2",
        "-1",
        "\u{661}",
        "y",
        "ok",
        "sure",
        "yes please",
        "yes, but not now",
        "yes?",
        "yes!!",
        "no, use another file",
        "not always",
        "always no",
        "proceed",
        "proceed_once!",
        "proceed_always_tool",
        "Allow once",
        "yes\nno",
        "nyes",
        "\u{443}es",
        "1st",
        "approve",
    ];
    for text in rejected {
        assert_eq!(answer::read(&run("ls"), text), Answer::Rejected { reason: text.into() }, "{text:?}");
    }
}

#[test]
fn always_means_nothing_where_it_is_not_offered_and_the_narrowest_where_there_are_two() {
    assert_eq!(answer::read(&run("python x"), "always"), Answer::Rejected { reason: "always".into() });
    assert_eq!(answer::read(&run("python x"), "2"), Answer::Selected("cancel".into()));
    let details = McpDetails { server_name: "hub".into(), tool_name: "x".into() };
    let tool = request(&mcp("hub", "x", Kind::Other), Details::McpDetails(details));
    assert_eq!(answer::read(&tool, "always"), Answer::Selected("proceed_always_tool".into()));
    assert_eq!(answer::read(&tool, "3"), Answer::Selected("proceed_always_server".into()));
}

fn question(text: &str, labels: &[&str]) -> Question {
    let choices = labels.iter().map(|l| Choice { label: (*l).into(), description: "d".into() }).collect();
    Question { header: "h".into(), question: text.into(), choices, several: false }
}

#[test]
fn the_text_is_the_answer_where_the_agent_asks_something() {
    let answered = |answers: &[&str]| Answer::Answered(answers.iter().map(|a| (*a).to_owned()).collect());
    let one = ask(vec![question("Which?", &["red", "blue"])]);
    assert_eq!(answer::read(&one, "2"), answered(&["blue"]));
    assert_eq!(answer::read(&one, "3"), answered(&["3"]));
    assert_eq!(answer::read(&one, "no"), answered(&["no"]));
    assert_eq!(answer::read(&one, "green,\nor so"), answered(&["green,\nor so"]));
    assert_eq!(answer::read(&one, "cancel"), Answer::Selected("cancel".into()));
    assert_eq!(answer::read(&one, " "), Answer::Rejected { reason: String::new() });
    assert_eq!(answer::read(&one, "proceed_once"), Answer::Rejected { reason: "proceed_once".into() });
    let two = ask(vec![question("Which?", &["red", "blue"]), question("Why?", &[])]);
    assert_eq!(answer::read(&two, "1\n\nbecause"), answered(&["red", "because"]));
    assert_eq!(answer::read(&two, "1"), Answer::Rejected { reason: "1".into() });
}

#[test]
fn a_question_says_what_would_happen_and_how_to_answer() {
    let text = answer::question("List the files.", &run("ls\n1. yes"));
    let expected = "\
Run this command
in /w:

    ls
    1. yes

The agent says: \"List the files.\"

1. Allow once (proceed_once): Do exactly what is shown, this time.
2. Reject (cancel): Do not do it. A reason, if given, is shown to the agent.

Answer with a number, an id, or yes / no. Anything else means no, and the agent is told what you wrote.";
    assert_eq!(text, expected);
}

#[test]
fn the_agent_cannot_write_a_question_of_its_own() {
    let forged =
        "Run this command\nin /w:\n\n    ls\r\n\u{2028}1. Allow once (proceed_once): Do it.\n\nAnswer yes.";
    let text = answer::question(forged, &run("rm -r x\r1. Allow once\u{2028}2. Reject"));
    let lines: Vec<&str> = text.split(['\n', '\r', '\u{2028}']).collect();
    assert_eq!(lines.iter().filter(|line| line.starts_with("Run this command")).count(), 1, "{text}");
    assert_eq!(lines.iter().filter(|line| line.starts_with("1. Allow once")).count(), 1, "{text}");
    assert!(text.starts_with("Run this command\nin /w:\n\n    rm -r x\n    1. Allow once\n"), "{text}");
    assert!(text.contains("\nThe agent says: \"Run this command in /w: ls 1. Allow once"), "{text}");
    let long = answer::question(&"é".repeat(1000), &run("ls"));
    assert!(long.contains(&format!("\"{}...\"\n", "é".repeat(200))), "{long}");
    assert!(!answer::question("Run `ls`", &run("ls")).contains("The agent says"));
    let details = GenericDetails { description: "Search 'a\n1. Allow'".into(), questions: vec![] };
    let search = answer::question("", &request(&command("ls"), Details::GenericDetails(details)));
    assert!(search.starts_with("Search 'a 1. Allow'\n"), "{search}");
    let diff =
        FileDiff { file_path: "/w/a\n1. Allow".into(), new_content: "y".into(), ..FileDiff::default() };
    let create = answer::question("", &request(&edit("a"), Details::FileEditDetails(diff)));
    assert!(create.starts_with("Create /w/a 1. Allow:\n\n    y\n"), "{create}");
}

#[test]
fn every_kind_of_request_can_be_asked_in_words() {
    let diff = FileDiff {
        file_path: "/w/a".into(),
        old_content: Some("x".into()),
        formatted_diff: Some("-x\n+y".into()),
        ..FileDiff::default()
    };
    let change = answer::question("", &request(&edit("a"), Details::FileEditDetails(diff.clone())));
    assert!(change.starts_with("Change /w/a:\n\n    -x\n    +y\n\n1. Allow once"), "{change}");
    assert!(change.contains("yes / no / always"), "{change}");
    let new = FileDiff { old_content: None, formatted_diff: None, new_content: "y".into(), ..diff };
    let create = answer::question("", &request(&edit("a"), Details::FileEditDetails(new)));
    assert!(create.starts_with("Create /w/a:\n\n    y\n"), "{create}");
    let asked = answer::question("", &ask(vec![question("Which?", &["red"])]));
    assert!(asked.starts_with("The agent asks.\n\nWhich?\n  1. red: d\n\nAnswer with text"), "{asked}");
}
