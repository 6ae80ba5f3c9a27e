//! Clients that do not know the extension: text, and questions that they answer in words.

use serde_json::json;

use super::kit::{Bench, script, shell};

#[tokio::test(flavor = "multi_thread")]
async fn words_are_an_answer_only_if_they_are_exactly_one() {
    for (words, runs) in [
        ("yes", true),
        ("proceed_once", true),
        ("1", true),
        ("no", false),
        ("cancel", false),
        ("yes, but somewhere else", false),
        ("proceed", false),
    ] {
        let bench = Bench::start(&script(&[shell("touch ran")])).await;
        let talk = bench.plain_talk();
        let asked = talk.ask("go").await;
        assert!(asked.text().contains("touch ran") && asked.text().contains("1. "), "{}", asked.text());
        assert!(asked.0.iter().all(|event| event.get("metadata").is_none()), "{:?}", asked.0);
        let heard = talk.say(&asked.task(), words).await;
        assert_eq!(heard.state(), "completed", "{words}");
        assert_eq!(bench.path("ran").exists(), runs, "{words}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_answer_is_the_reason_of_a_rejection() {
    let bench = Bench::start(&script(&[shell("touch ran")])).await;
    let asked = bench.plain_talk().ask("go").await;
    let heard = bench.plain_talk().say(&asked.task(), "rather use make").await;
    assert!(heard.text().contains("rather use make"), "{}", heard.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_agent_can_ask_the_user_something() {
    let question = json!({"questions": [{"question": "Which colour?", "header": "Colour", "type": "text"}]});
    let bench = Bench::start(&script(&[("ask_user", question)])).await;
    let asked = bench.plain_talk().ask("go").await;
    assert_eq!(asked.state(), "input-required");
    assert!(asked.text().contains("Which colour?"), "{}", asked.text());
    let heard = bench.plain_talk().say(&asked.task(), "blue").await;
    assert!(heard.text().contains("blue"), "{}", heard.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_script_it_understands_plain_requests() {
    let bench = Bench::start("").await;
    std::fs::write(bench.path("README.md"), "# The title\n").unwrap();
    let talk = bench.plain_talk();
    let read = talk.ask("what is in README.md?").await;
    assert!(read.state() == "completed" && read.text().contains("The title"), "{}", read.text());
    let made = talk.ask("create hello.py that prints hi").await;
    let made = talk.say(&made.task(), "yes").await;
    assert_eq!((made.state().as_str(), bench.read("hello.py").as_str()), ("completed", "print(\"hi\")\n"));
    let ran = talk.ask("run ls -la").await;
    let ran = talk.say(&ran.task(), "yes").await;
    assert!(ran.text().contains("hello.py"), "{}", ran.text());
}
