//! A session that was recorded and is played again: the agent meets the same model, and clients see the same events.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agena::domain::model::{Backend, Chunks, ModelCause, ModelError};
use agena::domain::secret::Secret;
use agena::model::record::Recorder;
use agena::model::rehearsal::{Rehearsal, Script};
use agena::proto::gemini::{GenerateContentRequest, GenerateContentResponse};
use agena::proto::task::task_event::Event;
use agena::proto::vendor;
use futures::{StreamExt, stream};
use serde_json::json;
use tempfile::TempDir;

use crate::agent::kit::Bench;
use crate::kit::agent::{Asked, Instead};
use crate::kit::{A2aServer, soon, until};

const WAIT: Duration = Duration::from_millis(30);

type Item = Result<GenerateContentResponse, ModelError>;

/// A model that says what it was told to say, whatever it is asked, and pauses before each chunk.
struct Told(Mutex<VecDeque<Vec<Item>>>);

impl Backend for Told {
    fn stream(&self, _: GenerateContentRequest) -> Chunks {
        let answer = self.0.lock().unwrap().pop_front().expect("more was asked than there are answers");
        stream::iter(answer)
            .then(|item| async {
                tokio::time::sleep(WAIT).await;
                item
            })
            .boxed()
    }

    fn searches(&self, _: &str) -> bool {
        true
    }
}

fn chunk(json: &str) -> Item {
    Ok(vendor::decode(json.as_bytes()).unwrap_or_else(|e| panic!("{json}: {e}")))
}

fn last(text: &str) -> Item {
    chunk(&json!({
        "candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 20, "candidatesTokenCount": 4, "cachedContentTokenCount": 5,
            "thoughtsTokenCount": 3, "totalTokenCount": 27, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 20}]},
        "modelVersion": "gemini-x", "responseId": "r1"
    }).to_string())
}

/// Everything that a model may say.
fn answers() -> Vec<Vec<Item>> {
    let failed = ModelError {
        retry_after: Some(Duration::from_secs(7)),
        ..ModelError::new(ModelCause::Unavailable, "the model is overloaded")
    };
    vec![
        vec![
            chunk(
                r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"**Look** around\n\n","thought":true}]}}],"modelVersion":"gemini-x","responseId":"r0"}"#,
            ),
            chunk(
                r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"I will "}]}}],"usageMetadata":{"promptTokenCount":9,"totalTokenCount":9},"modelVersion":"gemini-x","responseId":"r0"}"#,
            ),
            chunk(
                r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"look: {text}, 'sk-proj-0123456789"}]}}],"modelVersion":"gemini-x","responseId":"r0"}"#,
            ),
            chunk(
                r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"abcdef012345' it's."}]}}],"modelVersion":"gemini-x","responseId":"r0"}"#,
            ),
            chunk(
                r#"{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"c-1","name":"list_directory","args":{"dir_path":".","ignore":["x"]}},"thoughtSignature":"c2ln"},{"functionCall":{"name":"glob","args":{"pattern": "*", "respect_git_ignore": false}}}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"totalTokenCount":11},"modelVersion":"gemini-x","responseId":"r0"}"#,
            ),
        ],
        vec![
            chunk(
                r#"{"candidates":[{"content":{"role":"model","parts":[{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}},{"text":"Seen.","newMember":{"n":1.50}}]},"groundingMetadata":{"b":1,"a":2}}],"modelVersion":"gemini-x","responseId":"r1","unknown":[1.0]}"#,
            ),
            last(""),
        ],
        // The same words again, in the same conversation.
        vec![last("A second time.")],
        vec![last("I begin"), Err(failed)],
        // And in another one, of which nothing tells it apart.
        vec![last("Another conversation.")],
        // A tool asks the model, too.
        vec![chunk(
            r#"{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"google_web_search","args":{"query":"how large is Bern"}}}]},"finishReason":"STOP"}]}"#,
        )],
        vec![chunk(
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Not very."}]},"finishReason":"STOP","groundingMetadata":{"webSearchQueries":["Bern"],"groundingChunks":[{"web":{"uri":"https://a.example","title":"A"}}]}}]}"#,
        )],
        vec![last("Bern is not very large.")],
    ]
}

/// The same things are said to a server, with these rules or with another model.
async fn session(
    rules: &str,
    instead: Option<Arc<dyn Backend>>,
    workspace: &Arc<TempDir>,
) -> (Vec<String>, Asked) {
    let asked = Asked::default();
    let heard = Arc::clone(&asked);
    let bench = Bench::at(rules, Arc::clone(workspace), |mut setup| {
        setup.agent.asked = heard;
        setup.agent.instead = instead.map(Instead);
        setup
    })
    .await;
    let talk = bench.talk();
    let mut tasks = vec![talk.ask("go on with t0ken678").await];
    let context = tasks[0].0[0]["contextId"].clone();
    for text in ["go on with t0ken678", "fail"] {
        let message = json!({"contextId": context, "parts": [{"kind": "text", "text": text}]});
        tasks.push(talk.stream(message).await);
    }
    tasks.push(talk.ask("go on with t0ken678").await);
    tasks.push(talk.ask("look it up").await);
    let states: Vec<String> = tasks.iter().map(|heard| heard.state()).collect();
    assert_eq!(states, ["completed", "completed", "failed", "completed", "completed"], "{tasks:#?}");
    let mut told = Vec::new();
    for task in &tasks {
        told.extend(journal(&bench.server, &task.task()).await);
    }
    bench.server.stop().await;
    (normalised(told, workspace.path()), asked)
}

/// What was stored, without its times. Calls that run together end in any order.
async fn journal(server: &A2aServer, task: &str) -> Vec<String> {
    let events = server.store.events(&A2aServer::tester(), task, 0, usize::MAX).await.unwrap();
    let events: Vec<Event> = events.into_iter().filter_map(|event| event.event).collect();
    let is_call = |event: &Event| matches!(event, Event::ToolCall(_) | Event::ToolAnswer(_));
    let print = |group: &[Event]| {
        let mut group: Vec<String> = group.iter().map(|event| format!("{event:?}")).collect();
        if group.first().is_some_and(|first| first.starts_with("Tool")) {
            group.sort();
        }
        group
    };
    events.chunk_by(|one, next| is_call(one) && is_call(next)).flat_map(print).collect()
}

/// Ids by the order in which they come up.
fn normalised(told: Vec<String>, workspace: &Path) -> Vec<String> {
    let mut names = HashMap::new();
    let word = |word: &str| {
        let is_id = word.len() == 36 && word.bytes().filter(|byte| *byte == b'-').count() == 4
            || word.starts_with("m~");
        if !is_id {
            return word.to_owned();
        }
        let number = names.len();
        names.entry(word.to_owned()).or_insert_with(|| format!("id{number}")).clone()
    };
    let all = told.join("\n").replace(workspace.to_str().unwrap(), "/workspace").replace("-call-", " call ");
    let mut word = word;
    let words = all.split_inclusive(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '~')));
    let text: String = words
        .map(|piece| {
            let end =
                piece.trim_end_matches(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '~'))).len();
            word(&piece[..end]) + &piece[end..]
        })
        .collect();
    text.lines().map(str::to_owned).collect()
}

fn recorder(dir: &Path, answers: Vec<Vec<Item>>) -> Arc<Recorder> {
    let told = Arc::new(Told(Mutex::new(answers.into())));
    Arc::new(Recorder::new(told, dir, &[Secret::new("t0ken678")]).unwrap())
}

fn recorded(dir: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// The one file, when it has so many rules.
async fn rules(dir: &Path, count: usize) -> String {
    let read =
        || recorded(dir).first().map(|path| std::fs::read_to_string(path).unwrap()).unwrap_or_default();
    until("the answers are written", || read().matches("\n- when:").count() >= count).await;
    assert_eq!(recorded(dir).len(), 1);
    read()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recorded_session_comes_again() {
    let (dir, workspace) = (tempfile::tempdir().unwrap(), Arc::new(tempfile::tempdir().unwrap()));
    std::fs::write(workspace.path().join("a.txt"), "a secret of a tool").unwrap();
    let place = dir.path().join("new/place");
    let (first, first_asked) = session("", Some(recorder(&place, answers())), &workspace).await;
    let script = rules(&place, 8).await;
    let workspace_path = workspace.path().to_str().unwrap();
    for lost in ["t0ken678", "sk-proj", "abcdef012345", "a.txt", workspace_path, "You are"] {
        assert!(!script.contains(lost), "{lost} in\n{script}");
    }
    assert!(script.contains("[secret]") && script.contains("{wait: "), "{script}");
    let (second, second_asked) = session(&script, None, &workspace).await;
    // What was blotted out stays so.
    let blot = |text: &str| text.replace("sk-proj-0123456789", "[secret]").replace("abcdef012345", "");
    let first: Vec<String> = first.iter().map(|line| blot(line)).collect();
    assert_eq!(second, first);
    assert!(first.len() > 30, "{first:#?}");
    assert!(first.iter().any(|line| line.contains("[1] A (https://a.example)")), "{first:#?}");
    let printed =
        |asked: &Asked| asked.lock().unwrap().iter().map(|r| blot(&format!("{r:?}"))).collect::<Vec<_>>();
    assert_eq!(printed(&second_asked), printed(&first_asked));
}

fn request(said: &str) -> GenerateContentRequest {
    let body = json!({"contents": [{"role": "user", "parts": [{"text": said}]}]}).to_string();
    vendor::decode(body.as_bytes()).unwrap()
}

#[tokio::test]
async fn an_answer_that_nobody_waits_for_is_silent_from_there_on() {
    let dir = tempfile::tempdir().unwrap();
    let model = recorder(dir.path(), vec![vec![last("a"), last("b")], vec![last("never")], vec![last("c")]]);
    let mut chunks = model.stream(request("go"));
    let first = soon(chunks.next()).await.unwrap().unwrap();
    drop(chunks);
    // Nobody has waited for anything.
    drop(model.stream(request("go")));
    let whole = soon(model.generate(&request("go"))).await.unwrap();
    // The file is written when the last one who could write to it is gone.
    drop(model);
    let script = std::fs::read_to_string(&recorded(dir.path())[0]).unwrap();
    let played = Rehearsal::new(Script::parse(&script).unwrap());
    let mut chunks = played.stream(request("go"));
    assert_eq!(soon(chunks.next()).await.unwrap().unwrap(), first);
    assert!(tokio::time::timeout(3 * WAIT, chunks.next()).await.is_err(), "{script}");
    assert_eq!(soon(played.generate(&request("go"))).await.unwrap(), whole);
    assert_eq!(script.matches("- when:").count(), 2, "{script}");
}

#[tokio::test]
async fn a_secret_that_comes_later_is_blotted_out_beside_the_old_ones() {
    let dir = tempfile::tempdir().unwrap();
    let model = recorder(dir.path(), vec![vec![last("later-key and t0ken678")]; 2]);
    for _ in 0..2 {
        soon(model.generate(&request("go"))).await.unwrap();
        // Written with what is known then.
        rules(dir.path(), 1).await;
        model.also(&[Secret::new("later-key")]);
    }
    let script = rules(dir.path(), 2).await;
    let said: Vec<&str> = script.lines().filter(|line| line.contains(" and ")).collect();
    assert!(said[0].contains("later-key and [secret]"), "{script}");
    assert!(said[1].contains("[secret] and [secret]"), "{script}");
}

#[tokio::test]
async fn a_place_that_is_gone_costs_the_recording_and_not_the_answer() {
    let dir = tempfile::tempdir().unwrap();
    let model = recorder(dir.path(), vec![vec![last("a")], vec![last("b")]]);
    std::fs::remove_dir(dir.path()).unwrap();
    for text in ["a", "b"] {
        let heard: Vec<Item> = soon(model.stream(request("go")).collect()).await;
        assert_eq!(heard, [last(text)]);
    }
    std::fs::create_dir(dir.path()).unwrap();
    let place = dir.path().join("a file");
    std::fs::write(&place, "").unwrap();
    let told = Arc::new(Told(Mutex::default()));
    assert!(
        Recorder::new(told, &place, &[]).is_err(),
        "where there can be no directory, it says so at the start"
    );
}
