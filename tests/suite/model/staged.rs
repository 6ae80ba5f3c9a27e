//! One server as the faulty model of another: what a script stages is seen on the wire of Gemini's API.

use std::time::Duration;

use agena::domain::model::{Backend, ModelCause};
use agena::model::http::{Deadlines, Http, Proxy};

use super::{api_with, heard, request, words};
use crate::kit::process::Running;
use crate::kit::soon;

const SCRIPT: &str = "rules:
- when: {said: fine}
  do: [say: all is well]
- when: {said: limited}
  do: [error: {status: 429, after: 7s}]
- when: {said: overloaded}
  do: [error: {status: 529}]
- when: {said: denied}
  do: [error: {status: 403}]
- when: {said: reset}
  do: [reset]
- when: {said: garbage}
  do: [garbage]
- when: {said: late}
  do: [say: a, error: {status: 503}]
";

#[tokio::test(flavor = "multi_thread")]
async fn a_server_can_be_the_faulty_model_of_another() {
    let home = tempfile::tempdir().unwrap();
    let script = home.path().join("script.yaml");
    std::fs::write(&script, SCRIPT).unwrap();
    let script = script.display().to_string();
    let server = Running::start_with(home, &["--auth", "none", "--rehearsal", &script], &[]);
    // It waits a little before it gives up on a model that is down.
    let seconds = Duration::from_secs;
    let deadlines =
        Deadlines { connect: seconds(5), first_byte: seconds(8), idle: seconds(8), total: seconds(9) };
    let api = api_with(&server.url, Http::new(deadlines, &Proxy::None).unwrap());
    let (told, error) = heard(&api, request("fine")).await;
    assert_eq!((words(&told).as_str(), error), ("all is well", None));
    for (said, cause) in [
        ("limited", ModelCause::Limited),
        ("overloaded", ModelCause::Unavailable),
        ("denied", ModelCause::Forbidden),
        ("reset", ModelCause::Unavailable),
        ("garbage", ModelCause::Broken),
        ("late", ModelCause::Unavailable),
    ] {
        let (told, error) = heard(&api, request(said)).await;
        let error = error.unwrap_or_else(|| panic!("{said}: {told:?}"));
        assert_eq!(
            (words(&told).as_str(), error.cause),
            (if said == "late" { "a" } else { "" }, cause),
            "{said}: {error}"
        );
        if said == "limited" {
            assert_eq!(error.retry_after, Some(seconds(7)));
        }
        if said != "late" {
            let whole = soon(api.generate(&request(said))).await.unwrap_err();
            assert_eq!(whole.cause, cause, "{said}, whole: {whole}");
        }
    }
}
