//! Scripts, from the file and from the prompt.

use super::*;
use crate::domain::brain::End;

const SCRIPT: &str = r#"
rules:
  - when: {text: build}
    do:
      - think: {subject: Look, description: What is there?}
      - say: ["On ", "it: {text}"]
      - calls:
          - {tool: read_file, with: {file_path: "a {text}"}}
          - {tool: glob, with: {pattern: "*", deep: [{x: "{text}"}]}}
      - say: "Heard {result}"
      - call: {tool: run_shell_command, with: {command: make}}
      - say: "Then {result}"
      - usage: {input: 5, output: 7}
  - when: {text: busy}
    do:
      - error: {status: 429, message: Slow down, after: 12s}
  - when: {text: breaks}
    do:
      - say: Well
      - wait: 2s
      - error: {status: 503}
  - when: {message_id: only-}
    do:
      - say: by id
  - when: {text: thing}
    do:
      - artifact: {name: a, text: b}
      - complete: "Made {text}"
  - do:
      - say: anything
"#;

fn scripted() -> Rehearsal {
    Rehearsal::new(Script::parse(SCRIPT).unwrap())
}

#[test]
fn a_rule_goes_on_behind_its_calls() {
    let rehearsal = scripted();
    let both =
        Content { parts: vec![response(r#"{"output":"one"}"#), response(r#"{"output":"two"}"#)], ..user("") };
    let mut said = vec![user("build it")];
    let first = shown(ask(&rehearsal, &said));
    assert_eq!(
        first,
        [
            "think **Look** What is there?",
            "say On ",
            "say it: build it",
            "call rehearsal-1 read_file {\"file_path\":\"a build it\"} cmVoZWFyc2FsLTE= & \
             call rehearsal-2 glob {\"pattern\":\"*\",\"deep\":[{\"x\":\"build it\"}]} ",
            "STOP 2+24+6",
        ]
    );
    said.extend([called("rehearsal-1"), both]);
    said[1].parts.extend(called("rehearsal-2").parts);
    let second = shown(ask(&rehearsal, &said));
    assert_eq!(
        second[..2],
        ["say Heard two", "call rehearsal-3 run_shell_command {\"command\":\"make\"} cmVoZWFyc2FsLTM="]
    );
    said.extend([called("rehearsal-3"), tools_say(r#"{"error":"exit 2"}"#)]);
    assert_eq!(shown(ask(&rehearsal, &said)), ["say Then exit 2", "STOP 5+7+0"]);
    said.extend([called("rehearsal-4"), tools_say("{}")]);
    assert!(shown(ask(&rehearsal, &said))[0].starts_with("STOP"), "nothing is left to say");
    // What is said next begins anew, and numbers go on.
    said.extend([model("done"), user("BUILD again")]);
    assert!(shown(ask(&rehearsal, &said))[3].starts_with("call rehearsal-5 "));
}

#[test]
fn the_model_fails_when_the_script_says_so() {
    let rehearsal = scripted();
    assert_eq!(shown(ask(&rehearsal, &[user("busy")])), ["error Limited Slow down Some(12s)"]);
    assert_eq!(
        shown(ask(&rehearsal, &[user("breaks")])),
        ["say Well", "error Unavailable the rehearsal fails with 503, as its script asks None"]
    );
}

#[tokio::test(start_paused = true)]
async fn waits_are_waited_for() {
    let begin = tokio::time::Instant::now();
    let mut chunks = scripted().stream(request(&[user("breaks")]));
    assert!(chunks.next().await.unwrap().is_ok());
    assert_eq!(begin.elapsed().as_secs(), 0);
    assert!(chunks.next().await.unwrap().is_err());
    assert_eq!(begin.elapsed().as_secs(), 2);
}

#[test]
fn the_last_thing_said_decides() {
    let rehearsal = scripted();
    for (contents, first) in [
        (vec![], "say anything"),
        (vec![user("busy"), model("no"), user("hello")], "say anything"),
        (vec![user("only- by id")], "say anything"),
        (vec![user("a thing")], "say Made a thing"),
    ] {
        assert_eq!(shown(ask(&rehearsal, &contents))[0], first);
    }
}

#[test]
fn the_same_request_gets_the_same_answer() {
    let rehearsal = scripted();
    for contents in
        [vec![user("build")], vec![user("busy")], vec![user("build"), called("x"), tools_say("{}")]]
    {
        assert_eq!(ask(&rehearsal, &contents), ask(&rehearsal, &contents));
    }
}

#[test]
fn results_are_told_in_words() {
    let rehearsal =
        Rehearsal::new(Script::parse("rules:\n- do: [call: {tool: f}, say: '{result}']\n").unwrap());
    for (json, told) in [
        (r#"{"output":"x"}"#, "say x"),
        (r#"{"output":{"a":1}}"#, r#"say {"a":1}"#),
        (r#"{"error":"no"}"#, "say no"),
        (r#"{"error":{"message":"no","code":3}}"#, "say no"),
        (r#"{"b":[1]}"#, r#"say {"b":[1]}"#),
        ("", "say null"),
    ] {
        assert_eq!(shown(ask(&rehearsal, &[user("a"), called("1"), tools_say(json)]))[0], told, "{json}");
    }
}

#[test]
fn a_script_in_the_prompt_wins() {
    let rehearsal = scripted();
    let lines =
        "build\n```rehearsal\n- say: \"mine: {text}\"\n- call: {tool: glob}\n- say: \"got {result}\"\n```";
    let first = shown(ask(&rehearsal, &[user(lines)]));
    assert_eq!(first[..2], ["say mine: build", "call rehearsal-1 glob {} cmVoZWFyc2FsLTE="]);
    let second =
        shown(ask(&rehearsal, &[user(lines), called("rehearsal-1"), tools_say(r#"{"output":"x"}"#)]));
    assert_eq!(second[0], "say got x");
    for (block, said) in [
        ("x\n```rehearsal\nrules:\n- when: {text: x}\n  do: [say: a]\n- do: [say: b]\n```", "say a"),
        ("y\n```rehearsal\nrules:\n- when: {text: x}\n  do: [say: a]\n- do: [say: b]\n```", "say b"),
        ("y\n```rehearsal\nrules:\n- when: {text: x}\n  do: [say: a]\n```", "say No rule of the rehearsal"),
        (
            "```rehearsal\n- sing: a\n```",
            "say The rehearsal in this message cannot be followed: line 1 column 3: unknown variant `sing`",
        ),
        (
            "```rehearsal\n- call: {tool: a}\n- ask: b\n```",
            "say The rehearsal in this message cannot be followed: rule 1: artifact",
        ),
    ] {
        let answer = shown(ask(&rehearsal, &[user(block)]));
        assert!(answer[0].starts_with(said), "{block}: {answer:?}");
    }
}

fn turn(id: &str, text: &str) -> Turn {
    let message = Message { message_id: id.into(), parts: vec![Part::text(text)], ..Message::default() };
    Turn { messages: vec![message], ..Turn::default() }
}

#[tokio::test]
async fn the_agent_is_left_what_is_the_models() {
    let rehearsal = scripted();
    for (id, text, agents) in [
        ("1", "build it", false),
        ("1", "whatever", false),
        ("1", "a thing", true),
        ("only-1", "whatever", true),
        ("1", "```rehearsal\n- complete: x\n```", true),
        ("1", "thing\n```rehearsal\n- say: x\n```", false),
        ("1", "```rehearsal\n- sing: x\n```", false),
    ] {
        assert_eq!(rehearsal.work(turn(id, text)).is_some(), agents, "{text}");
    }
    let fenced = turn("1", "me\n```rehearsal\n- complete: \"for {text}\"\n```");
    let steps: Vec<_> = rehearsal.work(fenced).unwrap().collect().await;
    assert_eq!(steps, [Step::End(End::Completed(Some("for me".into())))]);
}

#[test]
fn what_the_documentation_shows_can_be_followed() {
    let text = include_str!("../../../../docs/rehearsal.md");
    let blocks: Vec<&str> =
        text.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() > 3);
    for block in blocks {
        let block = if block.starts_with("rules:") { block } else { &format!("rules:\n- do:\n{block}") };
        Script::parse(block).unwrap_or_else(|e| panic!("{block}\n{e}"));
    }
}
