//! Plain requests, without a script.

use super::*;

fn first(text: &str) -> Vec<String> {
    shown(ask(&Rehearsal::built_in().unwrap(), &[user(text)]))
}

/// A request, and the call that it comes to.
const CALLS: &[(&str, &str)] = &[
    ("create hello.py that prints hi", r#"write_file {"content":"print(\"hi\")\n","file_path":"hello.py"}"#),
    (
        "Please create a small Python script called `src/hello.py` that prints \"hi there\"",
        r#"write_file {"content":"print(\"hi there\")\n","file_path":"src/hello.py"}"#,
    ),
    (
        "make a new file notes.txt with milk and eggs",
        r#"write_file {"content":"milk and eggs\n","file_path":"notes.txt"}"#,
    ),
    ("create an empty file a.txt", r#"write_file {"content":"","file_path":"a.txt"}"#),
    ("write say hello to me to a.txt", r#"write_file {"content":"say hello to me\n","file_path":"a.txt"}"#),
    ("run ls -la", r#"run_shell_command {"command":"ls -la","description":"Runs ls -la"}"#),
    (
        "Execute the command `echo  hi`",
        r#"run_shell_command {"command":"echo  hi","description":"Runs echo  hi"}"#,
    ),
    ("what is in README.md?", r#"read_file {"file_path":"README.md"}"#),
    ("What's in the Makefile?", r#"read_file {"file_path":"Makefile"}"#),
    ("could you show me the contents of src/lib.rs.", r#"read_file {"file_path":"src/lib.rs"}"#),
    ("read a.txt", r#"read_file {"file_path":"a.txt"}"#),
    ("list files", r#"list_directory {"dir_path":"."}"#),
    ("list all the files in this directory", r#"list_directory {"dir_path":"."}"#),
    ("show me the files in src/", r#"list_directory {"dir_path":"src/"}"#),
    ("find *.rs", r#"glob {"pattern":"**/*.rs"}"#),
    ("find all files matching src/*.rs", r#"glob {"pattern":"src/*.rs"}"#),
    ("search for fn main() in src/", r#"grep_search {"dir_path":"src/","pattern":"fn main\\(\\)"}"#),
    ("search for TODO", r#"grep_search {"pattern":"TODO"}"#),
    (
        "replace a b with c in d in notes.txt",
        r#"replace {"file_path":"notes.txt","instruction":"Replace a b with c in d","new_string":"c in d","old_string":"a b"}"#,
    ),
    ("remember that I like tea", r#"save_memory {"fact":"I like tea"}"#),
    (
        "fetch https://example.com/a.html",
        r#"web_fetch {"prompt":"Fetch https://example.com/a.html and say what is there."}"#,
    ),
    (
        "ask me which colour I like",
        r#"ask_user {"questions":[{"header":"Question","question":"Which colour I like?","type":"text"}]}"#,
    ),
    (
        "ask me whether to go on",
        r#"ask_user {"questions":[{"header":"Question","question":"To go on?","type":"yesno"}]}"#,
    ),
    (
        "ask me to choose between tea and coffee",
        r#"ask_user {"questions":[{"header":"Question","options":[{"description":"Choose tea","label":"tea"},{"description":"Choose coffee","label":"coffee"}],"question":"Which one do you choose?","type":"choice"}]}"#,
    ),
    (
        "plan: read, write, test",
        r#"write_todos {"todos":[{"description":"read","status":"in_progress"},{"description":"write","status":"pending"},{"description":"test","status":"pending"}]}"#,
    ),
];

#[test]
fn plain_requests_become_a_thought_and_a_call() {
    for (text, call) in CALLS {
        let answer = first(text);
        assert!(answer[0].starts_with("think **"), "{text}: {answer:?}");
        assert_eq!(answer[1], format!("call rehearsal-1 {call} cmVoZWFyc2FsLTE="), "{text}");
        assert!(answer[2].starts_with("STOP ") && answer.len() == 3, "{text}: {answer:?}");
    }
}

#[test]
fn anything_else_is_heard() {
    let long = "run ".repeat(500);
    for text in [
        "hello",
        "",
        "what is love?",
        "create world peace",
        "read carefully",
        "run",
        "find me a friend",
        &long,
    ] {
        let answer = first(text);
        let said =
            format!("say This is the rehearsal: no model is configured. You said: {text}\n\nIt understands");
        assert!(answer[0].starts_with(&said), "{text}: {answer:?}");
        assert_eq!(answer.len(), 2);
    }
}

#[test]
fn what_came_of_it_is_reported() {
    for (text, json, said) in [
        ("create hello.py that prints hi", r#"{"output":"ok"}"#, "hello.py is written. It prints: hi"),
        (
            "create hello.py that prints hi",
            r#"{"error":"the user said no"}"#,
            "I could not write hello.py: the user said no",
        ),
        ("run ls", r#"{"output":"a\nb\n"}"#, "I ran `ls`:\n\na\nb"),
        ("run ls", r#"{"output":""}"#, "I ran `ls`:\n\n(nothing)"),
        (
            "what is in a.txt?",
            r#"{"output":"1\n2\n3\n4\n5\n6\n7\n8\n9"}"#,
            "a.txt begins like this:\n\n1\n2\n3\n4\n5\n6\n7\n8\n\n(and one more line)",
        ),
        ("ask me what", r#"{"output":"{\"answers\":{\"0\":\"blue\"}}"}"#, "You answered: blue"),
        ("ask me what", r#"{"output":"blue"}"#, "You answered: blue"),
        ("remember that {result}", r#"{"output":"x"}"#, "I will remember: {result}"),
    ] {
        let contents = [user(text), called("rehearsal-1"), tools_say(json)];
        let answer = shown(ask(&Rehearsal::built_in().unwrap(), &contents));
        assert_eq!(answer[0], format!("say {said}"), "{text} {json}");
        assert!(answer[1].starts_with("STOP "));
    }
}

#[test]
fn a_tool_that_is_not_offered_is_not_called() {
    let mut request = request(&[user("run ls")]);
    request.tools.clear();
    let chunks: Vec<_> =
        futures::executor::block_on(Rehearsal::built_in().unwrap().stream(request).collect());
    assert_eq!(
        shown(chunks)[0],
        "say I would run `ls`, but the tool for it, run_shell_command, is not offered to me."
    );
}

#[test]
fn a_script_without_a_rule_for_anything_leaves_plain_requests_alone() {
    let script = |text: &str| Rehearsal::new(Script::parse(text).unwrap());
    let open = script("rules:\n- when: {text: boat}\n  do: [say: a]\n");
    assert!(shown(ask(&open, &[user("run ls")]))[1].starts_with("call "));
    assert_eq!(shown(ask(&open, &[user("run the boat")]))[0], "say a");
    for contents in [vec![user("hello")], vec![user("hello"), called("x"), tools_say("{}")], vec![]] {
        let answer = shown(ask(&open, &contents));
        assert_eq!(answer[0], "say No rule of the rehearsal's script is for what was said.");
    }
    let closed = script("rules:\n- do: [say: a]\n");
    assert_eq!(shown(ask(&closed, &[user("run ls")]))[0], "say a");
}

proptest::proptest! {
    #[test]
    fn no_request_is_too_strange(text in "(please )?(create|run|read|replace|search|plan|ask me|```rehearsal\n)?[ a-zé.*?\"'`{}\\n-]{0,40}( in| to| with)?.{0,20}") {
        let answer = first(&text);
        proptest::prop_assert!(answer.last().unwrap().starts_with("STOP "));
        proptest::prop_assert_eq!(answer, first(&text));
    }
}
