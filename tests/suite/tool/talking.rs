//! The tools that talk, and what is said of calls that cannot be made.

use agena::domain::tool::{Approval, Kind, Toolbox};
use agena::proto::devtool::confirmation_request::Details;
use agena::proto::devtool::{Choice, Question, tool_output};
use serde_json::json;

use super::{Bed, problem, shown, start};

#[tokio::test(flavor = "multi_thread")]
async fn ask_user_asks_and_tells_the_answers() {
    let bed = Bed::new();
    let arguments = json!({"questions": [
        {"question": "Which one?", "header": "One", "type": "choice", "multiSelect": true,
         "options": [{"label": "a", "description": "first"}, {"label": "b"}]},
        {"question": "Sure?", "header": "Two", "type": "yesno"},
        {"question": "Why?", "header": "Three", "type": "text"},
    ]});
    let plan = bed.plan("ask_user", arguments.clone()).await.unwrap();
    assert!(plan.always_asks);
    let Details::GenericDetails(details) = plan.details else { panic!("{:?}", plan.details) };
    let choice =
        |label: &str, description: &str| Choice { label: label.into(), description: description.into() };
    let question = |header: &str, question: &str, choices, several| Question {
        header: header.into(),
        question: question.into(),
        choices,
        several,
    };
    assert_eq!(
        details.questions,
        [
            question("One", "Which one?", vec![choice("a", "first"), choice("b", "")], true),
            question("Two", "Sure?", vec![choice("Yes", ""), choice("No", "")], false),
            question("Three", "Why?", vec![], false),
        ]
    );
    let answers = ["a", "Yes", "because"].map(str::to_owned).to_vec();
    let outcome = bed
        .run_with("ask_user", arguments.clone(), Approval { answers, ..Approval::default() })
        .await
        .unwrap();
    assert_eq!(outcome.told, r#"{"answers":{"0":"a","1":"Yes","2":"because"}}"#);
    assert_eq!(shown(&outcome), "User answered:\nOne → a\nTwo → Yes\nThree → because");
    assert!(bed.told("ask_user", arguments).await.contains("without answering"));
    for questions in [
        json!([]),
        json!([{"question": "q", "header": "h", "type": "choice"}]),
        json!([{"question": "q", "header": "h", "type": "choice", "options": [{"label": "one"}]}]),
        json!([{"question": "q", "header": "h", "type": "essay"}]),
    ] {
        let (kind, message) =
            problem(bed.plan("ask_user", json!({"questions": questions})).await.unwrap_err());
        assert_eq!(kind, "invalid_tool_params", "{message}");
        assert!(message.contains("questions"), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn write_todos_replaces_the_list() {
    let bed = Bed::new();
    let todo = |description: &str, status: &str| json!({"description": description, "status": status});
    let arguments =
        json!({"todos": [todo("look", "completed"), todo("leap", "in_progress"), todo("rest", "blocked")]});
    let outcome = bed.run("write_todos", arguments).await.unwrap();
    assert_eq!(
        outcome.told,
        "The list is now:\n1. [completed] look\n2. [in_progress] leap\n3. [blocked] rest"
    );
    assert!(matches!(outcome.shown.result, Some(tool_output::Result::StructuredData(_))));
    assert_eq!(bed.told("write_todos", json!({"todos": []})).await, "The list is empty now.");
    for (todos, word) in [
        (json!([todo("a", "in_progress"), todo("b", "in_progress")]), "in_progress"),
        (json!([todo("a", "later")]), "todos.0.status"),
        (json!([{"description": "a"}]), "todos.0"),
        (json!("a"), "todos"),
    ] {
        let (kind, message) = bed.refused("write_todos", json!({"todos": todos})).await;
        assert_eq!(kind, "invalid_tool_params");
        assert!(message.contains(word), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_tool_is_told_with_those_that_may_be_meant() {
    let bed = Bed::new();
    for (name, word) in [
        ("read_fil", "\"read_file\""),
        ("ReadFile", "\"read_file\""),
        ("teleport", "use one of the tools that were declared"),
        ("run_shell", "\"run_shell_command\""),
        ("grep", "\"grep_search\""),
        ("", "use one of"),
    ] {
        let (kind, message) = bed.refused(name, json!({})).await;
        assert_eq!(kind, "tool_not_registered");
        assert!(message.contains(word), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_may_ask_for_some_tools_only() {
    use agena::proto::devtool::AgentSettings;
    use agena::tool::{Bench, Options};

    let bed = Bed::new();
    let root = bed.path("").parent().unwrap().to_owned();
    let bench = Bench::new(Options::new(root, "/nowhere".into())).unwrap();
    let open = |tools: &[&str]| {
        let allowed_tools = tools.iter().map(|name| (*name).to_owned()).collect();
        let workspace_path = bed.tools.workspace().to_owned();
        bench.tools(&AgentSettings { workspace_path, allowed_tools, ..Default::default() })
    };
    let some = open(&["glob", "read_file", "mcp_files_read"]).unwrap();
    let names: Vec<&str> = some.declarations().iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["read_file", "glob"]);
    let (run, _output) = start("write_file", json!({"file_path": "a", "content": ""}), Approval::default());
    assert_eq!(problem(some.run(run).await.unwrap_err()).0, "tool_not_registered");
    let error = open(&["glob", "fly"]).map(drop).unwrap_err();
    assert_eq!(error.field, "allowed_tools");
    assert!(error.problem.contains("\"fly\"") && error.problem.contains("read_file"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_cancelled_before_it_runs_does_not_run() {
    let bed = Bed::new();
    for (tool, arguments) in [
        ("write_file", json!({"file_path": "a", "content": ""})),
        ("run_shell_command", json!({"command": "touch a"})),
        ("glob", json!({"pattern": "*"})),
    ] {
        let (run, _output) = start(tool, arguments, Approval::default());
        run.cancel.cancel();
        assert_eq!(problem(bed.tools.run(run).await.unwrap_err()).0, "cancelled");
    }
    assert!(!bed.path("a").exists());
}

#[test]
fn only_tools_that_change_nothing_are_said_to() {
    let bed = Bed::new();
    let free: Vec<&str> = bed
        .tools
        .declarations()
        .iter()
        .filter(|one| one.kind.is_read_only())
        .map(|one| one.name.as_str())
        .collect();
    let expected = [
        "list_directory",
        "read_file",
        "read_many_files",
        "glob",
        "grep_search",
        "list_background_processes",
        "read_background_output",
        "write_todos",
    ];
    assert_eq!(free, expected);
    let kind = |name: &str| bed.tools.declarations().iter().find(|one| one.name == name).unwrap().kind;
    assert_eq!(kind("save_memory"), Kind::Edit);
    assert_eq!(kind("web_fetch"), Kind::Fetch);
    assert_eq!(kind("ask_user"), Kind::Communicate);
}
