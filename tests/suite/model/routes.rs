//! From a name to who answers for it, on the wire: fallbacks, arms, and tables that are exchanged.

use std::sync::Arc;

use agena::domain::model::{Backend, ModelCause};
use agena::model::rehearsal::{Rehearsal, Script};
use agena::model::router::table::{Arm, Family, Known, Names, Route, Target};
use agena::model::router::{Router, Table};
use agena::proto::gemini::{CountTokensRequest, GenerateContentRequest};
use agena::telemetry::metrics::Metrics;
use serde_json::json;

use super::{api, heard, request, shared, words};
use crate::kit::upstream::{Reply, Upstream, says};

fn down() -> Reply {
    Reply::json(503, &json!({"error": {"code": 503, "message": "Down."}}))
}

fn known(name: &str) -> Known {
    Known { name: name.to_owned(), family: Family::Google }
}

fn target(backend: &str, model: &str) -> Target {
    Target { backend: Some(backend.to_owned()), model: Some(model.to_owned()) }
}

fn table(first: &Upstream, second: &Upstream, routes: Vec<Route>) -> Table {
    Table {
        names: Names {
            backends: vec![known("first"), known("second")],
            routes,
            model: "gemini-a".to_owned(),
            fallback: vec!["gemini-b".to_owned()],
        },
        backends: vec![shared(api(&first.url())), shared(api(&second.url()))],
    }
}

fn named(model: &str) -> GenerateContentRequest {
    GenerateContentRequest { model: model.to_owned(), ..request("hi") }
}

fn asked_for(upstream: &Upstream) -> Vec<String> {
    let name = |path: &str| path.split(['/', ':']).nth(3).unwrap().to_owned();
    upstream.asked().iter().map(|asked| name(&asked.path)).collect()
}

#[tokio::test]
async fn another_model_answers_when_one_cannot_and_the_first_gets_its_rest() {
    let (first, second) =
        (Upstream::start([down(), says("from b")]).await, Upstream::start([says("no")]).await);
    let metrics = Metrics::default();
    let router = Router::new(table(&first, &second, vec![]), Arc::clone(&metrics.models));
    for _ in 0..2 {
        let (chunks, error) = heard(&router, named("")).await;
        assert_eq!((words(&chunks).as_str(), error), ("from b", None));
    }
    // The second time nobody bothers the one that is down.
    assert_eq!(asked_for(&first), ["gemini-a", "gemini-b", "gemini-b"]);
    let text = metrics.print();
    for line in [
        r#"agena_model_requests_total{backend="first",model="gemini-a",route="",arm="",outcome="unavailable"} 1"#,
        r#"agena_model_requests_total{backend="first",model="gemini-b",route="",arm="",outcome="answered"} 2"#,
    ] {
        assert!(text.contains(line), "{text}");
    }
}

#[tokio::test]
async fn what_is_wrong_with_the_key_is_not_passed_on() {
    let refused = Reply::json(403, &json!({"error": {"code": 403, "message": "No."}}));
    let (first, second) = (Upstream::start([refused]).await, Upstream::start([says("no")]).await);
    let router = Router::new(table(&first, &second, vec![]), Arc::clone(&Metrics::default().models));
    let (chunks, error) = heard(&router, named("")).await;
    assert_eq!((chunks.len(), error.unwrap().cause), (0, ModelCause::Forbidden));
    assert_eq!(first.asked().len(), 1);
    let whole = router.generate(&named("")).await.unwrap_err();
    assert_eq!((whole.cause, first.asked().len()), (ModelCause::Forbidden, 2));
}

#[tokio::test]
async fn arms_are_kept_apart_in_what_is_counted() {
    let arm = |name: &str, backend: &str| Arm {
        name: name.to_owned(),
        weight: 1,
        target: target(backend, "gemini-x"),
    };
    let route = Route {
        model: "gpt-*".to_owned(),
        arms: vec![arm("a", "first"), arm("b", "second")],
        fallback: vec![],
    };
    let (first, second) = (Upstream::start([says("a")]).await, Upstream::start([says("b")]).await);
    let metrics = Metrics::default();
    let router = Router::new(table(&first, &second, vec![route]), Arc::clone(&metrics.models));
    for number in 0..40 {
        let request = GenerateContentRequest { model: "gpt-5".to_owned(), ..request(&number.to_string()) };
        let (once, _) = heard(&router, request.clone()).await;
        let (twice, _) = heard(&router, request).await;
        assert_eq!(words(&once), words(&twice), "a conversation keeps its arm");
    }
    let (a, b) = (first.asked().len(), second.asked().len());
    assert!(a + b == 80 && a >= 20 && b >= 20, "{a} {b}");
    let line = format!(
        r#"agena_model_requests_total{{backend="first",model="gemini-x",route="gpt-*",arm="a",outcome="answered"}} {a}"#
    );
    assert!(metrics.print().contains(&line), "{}", metrics.print());
}

#[tokio::test]
async fn a_new_table_serves_from_the_next_request_on() {
    let (first, second) = (Upstream::start([says("old")]).await, Upstream::start([says("new")]).await);
    let router = Router::new(table(&first, &second, vec![]), Arc::clone(&Metrics::default().models));
    assert_eq!(words(&heard(&router, named("")).await.0), "old");
    router.replace(table(&second, &first, vec![]));
    assert_eq!(words(&heard(&router, named("")).await.0), "new");
    // Who was down in the old table is not left alone in the new one.
    let away = Upstream::start([down(), says("b"), says("a")]).await;
    router.replace(table(&away, &first, vec![]));
    assert_eq!(words(&heard(&router, named("")).await.0), "b");
    router.replace(table(&away, &first, vec![]));
    assert_eq!(words(&heard(&router, named("")).await.0), "a");
    assert_eq!(asked_for(&away), ["gemini-a", "gemini-b", "gemini-a"]);
}

#[tokio::test]
async fn other_questions_go_the_same_way() {
    let count = Reply::json(200, &json!({"totalTokens": 3}));
    let (first, second) = (Upstream::start([count]).await, Upstream::start([says("no")]).await);
    let router = Router::new(table(&first, &second, vec![]), Arc::clone(&Metrics::default().models));
    let request = CountTokensRequest { model: "claude-x".to_owned(), ..CountTokensRequest::default() };
    assert_eq!(router.count_tokens(request).await.unwrap().total_tokens, 3);
    assert_eq!(asked_for(&first), ["gemini-a"]);
    assert!(router.searches(""));
}

#[tokio::test]
async fn a_fallback_that_is_not_there_hides_no_model_that_comes_back() {
    let missing = Reply::json(404, &json!({"error": {"code": 404, "message": "No such model."}}));
    let (first, second) = (Upstream::start([down(), missing]).await, Upstream::start([says("no")]).await);
    let router = Router::new(table(&first, &second, vec![]), Arc::clone(&Metrics::default().models));
    let (chunks, error) = heard(&router, named("")).await;
    assert_eq!((chunks.len(), error.unwrap().cause), (0, ModelCause::Unavailable));
    assert_eq!(asked_for(&first), ["gemini-a", "gemini-b"]);
}

#[tokio::test]
async fn a_question_to_the_web_goes_to_nobody_who_cannot_look() {
    let (google, other) =
        (Upstream::start([says("from the web")]).await, Upstream::start([says("no")]).await);
    let mut table = table(&google, &other, vec![]);
    let script = Script::parse("rules: [{do: [say: from memory]}]").unwrap();
    table.backends.insert(0, shared(Rehearsal::new(script)));
    table.names.backends.insert(0, Known { name: "script".to_owned(), family: Family::Rehearsal });
    table.names.routes = vec![Route {
        model: "x".to_owned(),
        arms: vec![Arm { name: "a".to_owned(), weight: 1, target: target("script", "rehearsal") }],
        fallback: vec![target("first", "gemini-a")],
    }];
    let router = Router::new(table, Arc::clone(&Metrics::default().models));
    assert_eq!(words(&heard(&router, named("x")).await.0), "from memory");
    let tool =
        agena::proto::gemini::Tool { extra: r#"{"googleSearch":{}}"#.to_owned(), ..Default::default() };
    let look = GenerateContentRequest { tools: vec![tool], ..named("x") };
    assert!(router.searches("x"));
    assert_eq!(words(&heard(&router, look.clone()).await.0), "from the web");
    let nobody = heard(&router, GenerateContentRequest { model: "rehearsal".to_owned(), ..look }).await.1;
    assert_eq!(nobody, None, "the fallback of the settings looks it up");
}

#[tokio::test]
async fn whoever_cannot_be_reached_is_asked_once_on_a_way_to_the_web_too() {
    let (first, second) = (Upstream::start([down()]).await, Upstream::start([says("no")]).await);
    let router = Router::new(table(&first, &second, vec![]), Arc::clone(&Metrics::default().models));
    let tool =
        agena::proto::gemini::Tool { extra: r#"{"googleSearch":{}}"#.to_owned(), ..Default::default() };
    let look = GenerateContentRequest { tools: vec![tool], ..named("") };
    assert_eq!(heard(&router, look).await.1.unwrap().cause, ModelCause::Unavailable);
    assert_eq!(asked_for(&first), ["gemini-a", "gemini-b"]);
}

#[tokio::test]
async fn aliases_are_listed_with_the_bounds_of_what_they_lead_to() {
    let list = |models: serde_json::Value| Reply::json(200, &json!({ "models": models }));
    let first = Upstream::start([list(
        json!([{"name": "models/gemini-a", "inputTokenLimit": 7, "outputTokenLimit": 3}]),
    )]);
    let second = Upstream::start([list(json!([{"name": "models/gemini-b", "inputTokenLimit": 9}]))]);
    let (first, second) = (first.await, second.await);
    let route = |model: &str, to: Target| Route {
        model: model.to_owned(),
        arms: vec![Arm { name: String::new(), weight: 1, target: to }],
        fallback: Vec::new(),
    };
    let routes = vec![
        route("gpt-*", target("first", "gemini-a")),
        route("quick", target("first", "gemini-a")),
        // Stands for another one under a name that there is.
        route("gemini-a", target("second", "gemini-b")),
        route("own", target("second", "not-listed")),
    ];
    let router = Router::new(table(&first, &second, routes), Arc::clone(&Metrics::default().models));
    let models = router.models().await.unwrap();
    let told: Vec<_> =
        models.iter().map(|m| (m.name.as_str(), m.base_model_id.as_str(), m.input_token_limit)).collect();
    assert_eq!(
        told,
        [
            ("gemini-b", "", 9),
            ("quick", "gemini-a", 7),
            ("gemini-a", "gemini-b", 9),
            ("own", "not-listed", 0)
        ]
    );
    for (name, leads) in
        [("gpt-4o", true), ("quick", true), ("", true), ("gemini-a", true), ("gemini-b", false)]
    {
        assert_eq!(router.routes(name), leads, "{name}");
    }
}

#[tokio::test]
async fn a_model_that_two_backends_have_is_listed_once() {
    let list = |names: &[&str]| {
        let models: Vec<_> = names.iter().map(|name| json!({"name": format!("models/{name}")})).collect();
        Reply::json(200, &json!({"models": models}))
    };
    let (first, second) =
        (Upstream::start([list(&["a", "b"])]).await, Upstream::start([list(&["b", "c"])]).await);
    let router = Router::new(table(&first, &second, vec![]), Arc::clone(&Metrics::default().models));
    let names: Vec<String> = router.models().await.unwrap().into_iter().map(|model| model.name).collect();
    assert_eq!(names, ["a", "b", "c"]);
}
