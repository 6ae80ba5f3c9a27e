//! The tools that ask a model, with a model of the test: what it is asked, what becomes of its answer, and what happens
//! when there is none.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agena::domain::model::{Backend, Chunks, ModelCause, ModelError};
use agena::domain::tool::{Approval, Kind, Toolbox};
use agena::proto::devtool::AgentSettings;
use agena::proto::gemini::{GenerateContentRequest, GenerateContentResponse};
use agena::tool::{Asks, Bench, Options};
use futures::StreamExt;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::{Bed, problem, shown, start};
use crate::kit::DEADLINE;

/// What the model of the test does when it is asked.
enum Does {
    Says(Value),
    Fails(ModelCause),
    /// Never answers, and tells when nobody waits any longer.
    Hangs(Mutex<Option<oneshot::Sender<()>>>),
}

struct Oracle {
    does: Does,
    asked: Mutex<Vec<GenerateContentRequest>>,
}

impl Oracle {
    fn new(does: Does) -> Arc<Self> {
        Arc::new(Self { does, asked: Mutex::default() })
    }

    fn says(candidate: Value) -> Arc<Self> {
        Self::new(Does::Says(json!({"candidates": [candidate]})))
    }

    /// Each request as it goes out; on REST the model stands in the path.
    fn asked(&self) -> Vec<Value> {
        let asked = self.asked.lock().unwrap();
        asked.iter().map(|request| serde_json::to_value(request).unwrap()).collect()
    }
}

impl Backend for Oracle {
    fn stream(&self, request: GenerateContentRequest) -> Chunks {
        self.asked.lock().unwrap().push(request);
        match &self.does {
            Does::Says(answer) => {
                let answer: GenerateContentResponse = serde_json::from_value(answer.clone()).unwrap();
                futures::stream::iter([Ok(answer)]).boxed()
            }
            Does::Fails(cause) => {
                futures::stream::iter([Err(ModelError::new(*cause, "it is not well"))]).boxed()
            }
            Does::Hangs(left) => {
                let left = left.lock().unwrap().take();
                futures::stream::once(async move {
                    let _held = left;
                    std::future::pending().await
                })
                .boxed()
            }
        }
    }

    fn searches(&self, model: &str) -> bool {
        model.starts_with("seer")
    }
}

fn asks(oracle: &Arc<Oracle>, model: &str) -> Option<Asks> {
    Some(Asks { backend: Arc::clone(oracle) as Arc<dyn Backend>, model: model.to_owned() })
}

fn bed(oracle: &Arc<Oracle>) -> Bed {
    Bed::with(|options| options.asks = asks(oracle, "seer"))
}

fn wrapped(text: &str) -> String {
    format!("<untrusted_context>\n{text}\n</untrusted_context>")
}

#[test]
fn the_search_is_there_only_where_a_model_searches() {
    let oracle = Oracle::new(Does::Fails(ModelCause::Invalid));
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    // The usual model, the client's, and the one that is asked.
    for (usual, of_client, there) in [
        (None, "", false),
        (None, "seer-2", false),
        (Some("blind"), "", false),
        (Some("seer"), "", true),
        (Some("seer"), "blind", true),
        (Some("blind"), "seer-2", true),
    ] {
        let mut options = Options::new(root.clone(), env!("CARGO_BIN_EXE_agena").into());
        options.asks = usual.and_then(|usual| asks(&oracle, usual));
        let workspace_path = root.to_str().unwrap().to_owned();
        let settings = AgentSettings { workspace_path, model: of_client.to_owned(), ..Default::default() };
        let tools = Bench::new(options).unwrap().tools(&settings).unwrap();
        let search = tools.declarations().iter().find(|one| one.name == "google_web_search");
        assert_eq!(search.map(|one| one.kind), there.then_some(Kind::Search), "{usual:?} {of_client}");
    }
}

#[tokio::test]
async fn a_search_is_one_question_and_its_answer_has_sources() {
    let oracle = Oracle::says(json!({
        "content": {"role": "model", "parts": [
            {"text": "thinking", "thought": true},
            {"text": "Zürich ist groß. Bern nicht."},
        ]},
        "groundingMetadata": {
            "groundingChunks": [
                {"web": {"uri": "https://a.example", "title": "A"}},
                {"web": {"uri": "https://b.example", "title": "B"}},
            ],
            "groundingSupports": [
                {"segment": {"partIndex": 1, "startIndex": 0, "endIndex": 18}, "groundingChunkIndices": [0, 1]},
                {"segment": {"partIndex": 1, "startIndex": 19, "endIndex": 1000}, "groundingChunkIndices": [1, 7]},
            ],
        },
    }));
    let bed = bed(&oracle);
    let arguments = json!({"query": " how large is Zürich "});
    let plan = bed.plan("google_web_search", arguments.clone()).await.unwrap();
    assert_eq!(
        (plan.description.as_str(), plan.always_asks),
        ("Search the web for \"how large is Zürich\"", false)
    );
    assert!(oracle.asked().is_empty());
    let outcome = bed.run("google_web_search", arguments).await.unwrap();
    let cited = "Zürich ist groß.[1][2] Bern nicht.[2]\n\nSources:\n[1] A (https://a.example)\n[2] B (https://b.example)";
    let told = format!("What the web says about \"how large is Zürich\":\n{}", wrapped(cited));
    assert_eq!(outcome.told, told);
    assert_eq!(shown(&outcome), "Found 2 source(s) for \"how large is Zürich\"");
    let question = json!({
        "contents": [{"role": "user", "parts": [{"text": "how large is Zürich"}]}],
        "tools": [{"googleSearch": {}}],
    });
    assert_eq!(oracle.asked(), [question]);
    assert_eq!(oracle.asked.lock().unwrap()[0].model, "seer");
}

#[tokio::test]
async fn a_search_that_finds_nothing_says_so_and_one_that_fails_says_why() {
    let said = |text: &str, grounding: Value| {
        Oracle::says(json!({"content": {"parts": [{"text": text}]}, "groundingMetadata": grounding}))
    };
    let failed = |message: &str| Err(("web_search_failed", message.to_owned()));
    let memory = || failed("the model did not search the web: its answer has no source");
    let (left, _gone) = oneshot::channel();
    let unsourced = format!("Said after a search, without a source, about \"q\":\n{}", wrapped("Yes."));
    for (oracle, expected) in [
        (said(" ", json!({"webSearchQueries": ["q"]})), Ok("Nothing was found on the web for \"q\".")),
        (said("Yes.", json!({"webSearchQueries": ["q"]})), Ok(unsourced.as_str())),
        (said("Yes.", json!({})), memory()),
        (said("Yes.", json!({"webSearchQueries": [], "groundingChunks": []})), memory()),
        (Oracle::says(json!({"content": {"parts": [{"text": "Yes."}]}})), memory()),
        (Oracle::new(Does::Says(json!({}))), memory()),
        (Oracle::new(Does::Fails(ModelCause::Exhausted)), failed("the search failed: it is not well")),
        (
            Oracle::new(Does::Hangs(Mutex::new(Some(left)))),
            failed("the search failed: no answer within 100ms"),
        ),
    ] {
        let bed = Bed::with(|options| {
            options.asks = asks(&oracle, "seer");
            options.web.asked = Duration::from_millis(100);
        });
        let got = timeout(DEADLINE, bed.run("google_web_search", json!({"query": "q"}))).await.unwrap();
        assert_eq!(
            got.as_ref().map(|outcome| outcome.told.as_str()).map_err(|e| problem(e.clone())),
            expected
        );
    }
    let oracle = Oracle::new(Does::Says(json!({})));
    let (kind, _) = bed(&oracle).refused("google_web_search", json!({"query": "  "})).await;
    assert_eq!((kind, oracle.asked().len()), ("invalid_tool_params", 0));
}

#[tokio::test]
async fn what_is_cancelled_is_no_longer_asked() {
    for (tool, arguments) in
        [("google_web_search", json!({"query": "q"})), ("web_fetch", json!({"prompt": "https://a.example"}))]
    {
        let (left, gone) = oneshot::channel();
        let oracle = Oracle::new(Does::Hangs(Mutex::new(Some(left))));
        let bed = bed(&oracle);
        let (run, _output) = start(tool, arguments, Approval::default());
        let cancel = run.cancel.clone();
        let stop = async {
            super::until("the question", DEADLINE, || !oracle.asked().is_empty()).await;
            cancel.cancel();
        };
        let (ended, ()) = timeout(DEADLINE, async { tokio::join!(bed.tools.run(run), stop) }).await.unwrap();
        assert_eq!(problem(ended.unwrap_err()).0, "cancelled", "{tool}");
        assert!(timeout(DEADLINE, gone).await.unwrap().is_err(), "{tool}: the call is dropped");
    }
}

fn pages(status: &str) -> Value {
    json!({"urlMetadata": [{"retrievedUrl": "https://a.example/x", "urlRetrievalStatus": status}]})
}

#[tokio::test]
async fn a_prompt_is_answered_by_a_model_that_reads_the_pages() {
    let oracle = Oracle::says(json!({
        "content": {"role": "model", "parts": [{"text": "It says hello."}]},
        "urlContextMetadata": pages("URL_RETRIEVAL_STATUS_SUCCESS"),
    }));
    let bed = bed(&oracle);
    let outcome = bed.run("web_fetch", json!({"prompt": "What says https://a.example/x ?"})).await.unwrap();
    assert_eq!(outcome.told, wrapped("It says hello.\n\nSources:\n[1] https://a.example/x"));
    assert_eq!(shown(&outcome), "seer answered from 1 source(s) for 1 page(s)");
    bed.run("web_fetch", json!({"prompt": "What says it?", "url": "https://a.example/x"})).await.unwrap();
    for (asked, text) in
        oracle.asked().iter().zip(["What says https://a.example/x ?", "What says it?\nhttps://a.example/x"])
    {
        assert_eq!(asked["tools"], json!([{"urlContext": {}}]));
        assert_eq!(asked["contents"], json!([{"role": "user", "parts": [{"text": text}]}]));
    }
    assert_eq!(oracle.asked().len(), 2);
}

/// The page is not there, so that what is told is the answer of the client here.
const HERE: &str = "cannot be reached";

#[tokio::test]
async fn what_the_model_did_not_read_is_fetched_here() {
    let said = |metadata: Value| {
        let mut candidate = json!({"content": {"role": "model", "parts": [{"text": "I think so."}]}});
        candidate["urlContextMetadata"] = metadata;
        Oracle::says(candidate)
    };
    let (left, _gone) = oneshot::channel();
    for (what, oracle) in [
        ("not read", said(pages("URL_RETRIEVAL_STATUS_ERROR"))),
        ("unsafe", said(pages("URL_RETRIEVAL_STATUS_UNSAFE"))),
        ("from memory", said(json!({}))),
        ("nothing said", Oracle::new(Does::Says(json!({})))),
        ("an error", Oracle::new(Does::Fails(ModelCause::Unavailable))),
        ("no answer in time", Oracle::new(Does::Hangs(Mutex::new(Some(left))))),
    ] {
        let bed = Bed::with(|options| {
            options.asks = asks(&oracle, "seer");
            options.web.asked = Duration::from_millis(100);
            options.web.lookup = Arc::new(Nowhere);
        });
        let (_, message) = bed.refused("web_fetch", json!({"prompt": "see https://a.example/x"})).await;
        assert!(message.contains(HERE), "{what}: {message}");
        assert_eq!(oracle.asked().len(), 1, "{what}");
    }
}

/// No name leads anywhere.
#[derive(Debug)]
struct Nowhere;

impl agena::sandbox::dial::Lookup for Nowhere {
    fn lookup(
        &self,
        _: String,
    ) -> futures::future::BoxFuture<'static, std::io::Result<Vec<std::net::IpAddr>>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}

#[tokio::test]
async fn no_model_is_told_of_what_only_this_machine_reaches() {
    let oracle = Oracle::says(json!({"content": {"parts": [{"text": "hm"}]}}));
    let bed = Bed::with(|options| {
        options.asks = asks(&oracle, "seer");
        options.web.allow_hosts = vec!["docs.example".to_owned()];
        options.web.lookup = Arc::new(Nowhere);
    });
    for (arguments, word) in [
        (json!({"prompt": "see http://127.0.0.1/x"}), "private network"),
        (json!({"prompt": "see https://a.example and http://[::1]/"}), "private network"),
        (json!({"prompt": "see https://a.example and https://docs.example/x"}), HERE),
        (json!({"url": "https://a.example"}), HERE),
    ] {
        let (_, message) = bed.refused("web_fetch", arguments.clone()).await;
        assert!(message.contains(word), "{arguments}: {message}");
    }
    assert!(oracle.asked().is_empty());
}
