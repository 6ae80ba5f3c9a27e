//! Each fault of a model's server at each moment: how often it is asked, how soon there is a verdict, and that nothing is
//! ever told twice.

use std::time::{Duration, Instant};

use agena::domain::model::{Backend, ModelCause};
use agena::model::patient::{Patient, Policy};
use serde_json::{Value, json};

use super::{api, heard, request, shared, words};
use crate::kit::agent::Instead;
use crate::kit::upstream::{Reply, Step, Upstream, chunk, says};

fn quick() -> Policy {
    let millis = Duration::from_millis;
    Policy { patience: millis(1000), first: millis(20), longest: millis(40), broken: 2, tells: false }
}

fn patient(url: &str) -> Patient {
    Patient::new(shared(api(url)), quick())
}

fn refusal(code: u16, details: &Value) -> Reply {
    Reply::json(code, &json!({"error": {"code": code, "message": "No.", "details": details}}))
}

fn begun() -> Reply {
    Reply::stream(&[chunk(json!([{"text": "half "}]), "")])
}

fn thought(finish: &str) -> Reply {
    Reply::stream(&[chunk(json!([{"text": "hm", "thought": true}]), finish)])
}

/// What is done, and how: the words that were told, how often it asked, and why it failed.
type Case = (&'static str, Vec<Reply>, &'static str, usize, Option<ModelCause>);

fn passing() -> Vec<Case> {
    let fine = || says("fine");
    let retry = json!([{"retryDelay": "0.1s"}]);
    vec![
        ("nothing", vec![fine()], "fine", 1, None),
        ("429 with a delay", vec![refusal(429, &retry), fine()], "fine", 2, None),
        ("500 twice", vec![refusal(500, &json!([])), refusal(500, &json!([])), fine()], "fine", 3, None),
        ("503", vec![refusal(503, &json!([])), fine()], "fine", 2, None),
        ("reset before the first byte", vec![Reply::reset(), fine()], "fine", 2, None),
        ("silence before the first byte", vec![Reply::silence(), fine()], "fine", 2, None),
        ("silence behind the head", vec![Reply::open().then(Step::Silence), fine()], "fine", 2, None),
        ("garbage", vec![Reply::text(200, "text/html", "<p>", ""), fine()], "fine", 2, None),
        (
            "an error as the first event",
            vec![Reply::stream(&[json!({"error": {"code": 503, "message": "No."}})]), fine()],
            "fine",
            2,
            None,
        ),
        ("an empty answer", vec![says(""), fine()], "fine", 2, None),
        (
            "a malformed call",
            vec![Reply::stream(&[chunk(json!([]), "MALFORMED_FUNCTION_CALL")]), fine()],
            "fine",
            2,
            None,
        ),
        ("nothing but thoughts", vec![thought("STOP"), fine()], "fine", 2, None),
        ("reset behind the end", vec![fine().then(Step::Reset)], "fine", 1, None),
        ("silence behind the end", vec![fine().then(Step::Silence)], "fine", 1, None),
        ("a word behind the end", vec![fine().send("data: [DONE]\n\n")], "fine", 1, None),
    ]
}

fn lasting() -> Vec<Case> {
    use ModelCause::*;
    vec![
        ("400", vec![refusal(400, &json!([]))], "", 1, Some(Invalid)),
        ("403", vec![refusal(403, &json!([]))], "", 1, Some(Forbidden)),
        ("404", vec![refusal(404, &json!([]))], "", 1, Some(NotFound)),
        ("429 for long", vec![refusal(429, &json!([{"retryDelay": "9s"}]))], "", 1, Some(Limited)),
        (
            "429 for today",
            vec![refusal(429, &json!([{"violations": [{"quotaId": "PerDay"}]}]))],
            "",
            1,
            Some(Exhausted),
        ),
        ("empty again and again", vec![says("")], "", 3, Some(Broken)),
        ("garbage again and again", vec![Reply::text(200, "text/html", "<p>", "")], "", 3, Some(Broken)),
        (
            "reset behind the first byte",
            vec![begun().then(Step::Reset), says("fine")],
            "half ",
            1,
            Some(Unavailable),
        ),
        (
            "silence behind the first byte",
            vec![begun().then(Step::Silence), says("fine")],
            "half ",
            1,
            Some(Unavailable),
        ),
        ("cut off", vec![begun(), says("fine")], "half ", 1, Some(Broken)),
        (
            "garbage behind the first byte",
            vec![begun().send("data: {{{\n\n"), says("fine")],
            "half ",
            1,
            Some(Broken),
        ),
        (
            "an error behind the first byte",
            vec![begun().event(&json!({"error": {"code": 503, "message": "No."}})), says("fine")],
            "half ",
            1,
            Some(Unavailable),
        ),
    ]
}

#[tokio::test]
async fn each_fault_at_each_moment() {
    for (fault, replies, told, attempts, cause) in passing().into_iter().chain(lasting()) {
        let upstream = Upstream::start(replies).await;
        let began = Instant::now();
        let (chunks, error) = heard(&patient(&upstream.url()), request("hi")).await;
        assert_eq!(words(&chunks), told, "{fault}");
        assert_eq!(error.map(|error| error.cause), cause, "{fault}");
        assert_eq!(upstream.asked().len(), attempts, "{fault}");
        assert!(began.elapsed() < Duration::from_secs(2), "{fault}: {:?}", began.elapsed());
    }
}

#[tokio::test]
async fn a_server_that_stays_down_is_given_up_when_patience_ends() {
    let upstream = Upstream::start([refusal(503, &json!([]))]).await;
    let began = Instant::now();
    let (chunks, error) = heard(&patient(&upstream.url()), request("hi")).await;
    assert_eq!((chunks.len(), error.unwrap().cause), (0, ModelCause::Unavailable));
    let took = began.elapsed();
    assert!((Duration::from_millis(900)..Duration::from_millis(1500)).contains(&took), "{took:?}");
    assert!(upstream.asked().len() > 20, "{}", upstream.asked().len());
}

#[tokio::test]
async fn whole_answers_are_waited_for_too() {
    let fine = Reply::json(200, &chunk(json!([{"text": "fine"}]), "STOP"));
    let empty = Reply::json(200, &chunk(json!([]), "STOP"));
    let upstream = Upstream::start([refusal(503, &json!([])), empty, fine]).await;
    let answer = patient(&upstream.url()).generate(&request("hi")).await.unwrap();
    assert_eq!((words(&[super::printed(&answer)]).as_str(), upstream.asked().len()), ("fine", 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_answer_fails_its_task_and_not_the_conversation() {
    let upstream = Upstream::start([begun().then(Step::Reset), says("and here is the rest")]).await;
    let bench = crate::agent::kit::Bench::with("", |mut setup| {
        setup.agent.instead = Some(Instead(shared(patient(&upstream.url()))));
        setup
    })
    .await;
    let failed = bench.talk().ask("tell me").await;
    assert_eq!((failed.state().as_str(), failed.text().starts_with("half ")), ("failed", true));
    let context = failed.0[0]["contextId"].clone();
    let next = json!({"contextId": context, "parts": [{"kind": "text", "text": "go on"}]});
    let heard = bench.talk().stream(next).await;
    assert_eq!((heard.state().as_str(), heard.text().as_str()), ("completed", "and here is the rest"));
    // What was said before is still there for the model; an answer that was cut off is not.
    let said = upstream.asked()[1].json()["contents"].clone();
    assert_eq!(said, json!([{"role": "user", "parts": [{"text": "tell me"}, {"text": "go on"}]}]));
}
