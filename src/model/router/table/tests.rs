use super::*;
use crate::proto::gemini::{Content, Part};

fn known(name: &str, family: Family) -> Known {
    Known { name: name.to_owned(), family }
}

fn target(backend: &str, model: &str) -> Target {
    let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    Target { backend: text(backend), model: text(model) }
}

fn arm(name: &str, weight: u32, backend: &str, model: &str) -> Arm {
    Arm { name: name.to_owned(), weight, target: target(backend, model) }
}

fn names() -> Names {
    Names {
        backends: vec![
            known("gemini", Family::Google),
            known("local", Family::Any),
            known("rehearsal", Family::Rehearsal),
        ],
        routes: vec![
            Route { model: "gpt-4*".to_owned(), arms: vec![arm("", 1, "local", "qwen3")], fallback: vec![] },
            Route {
                model: "fast".to_owned(),
                arms: vec![arm("", 1, "", "gemini-2.5-flash")],
                fallback: vec![target("local", "")],
            },
        ],
        model: "gemini-2.5-pro".to_owned(),
        fallback: vec!["gemini-2.5-flash".to_owned()],
    }
}

fn stops(names: &Names, model: &str) -> String {
    let way = names.way(model, None);
    let stops: Vec<String> = way
        .stops
        .iter()
        .map(|stop| format!("{}/{}", names.backends[stop.backend].name, stop.model))
        .collect();
    format!("{}|{}", way.route, stops.join(" "))
}

#[test]
fn each_name_finds_its_way() {
    let names = names();
    for (model, expected) in [
        ("", "|gemini/gemini-2.5-pro gemini/gemini-2.5-flash"),
        ("gemini-3-pro-preview", "|gemini/gemini-3-pro-preview gemini/gemini-2.5-flash"),
        ("gemini-2.5-flash", "|gemini/gemini-2.5-flash"),
        ("gpt-4o", "gpt-4*|local/qwen3"),
        ("gpt-5", "|gemini/gemini-2.5-pro gemini/gemini-2.5-flash"),
        ("claude-sonnet-5", "|gemini/gemini-2.5-pro gemini/gemini-2.5-flash"),
        ("llama3:8b", "|local/llama3:8b gemini/gemini-2.5-flash"),
        ("rehearsal", "|rehearsal/rehearsal gemini/gemini-2.5-flash"),
        ("fast", "fast|gemini/gemini-2.5-flash local/fast"),
    ] {
        assert_eq!(stops(&names, model), expected, "{model}");
    }
}

#[test]
fn a_default_model_that_nobody_claims_goes_to_the_first() {
    let names = Names {
        backends: vec![known("tuned", Family::Google)],
        model: "my-model".to_owned(),
        ..Names::default()
    };
    assert_eq!(stops(&names, "gpt-5"), "|tuned/my-model");
    assert_eq!(stops(&names, "my-model"), "|tuned/my-model");
}

#[test]
fn arms_share_as_their_weights_say_and_a_conversation_keeps_its_arm() {
    let arms = vec![arm("a", 90, "", ""), arm("b", 10, "", ""), arm("never", 0, "", "")];
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    for number in 0..2000 {
        let first =
            Content { role: "user".to_owned(), parts: vec![Part::text(format!("question {number}"))] };
        let mut request =
            GenerateContentRequest { contents: vec![first], ..GenerateContentRequest::default() };
        let chosen = choose(&arms, Some(&request)).unwrap().name.clone();
        request.contents.push(Content { role: "model".to_owned(), parts: vec![Part::text("an answer")] });
        assert_eq!(choose(&arms, Some(&request)).unwrap().name, chosen);
        *counts.entry(chosen).or_default() += 1;
    }
    assert!((1700..1900).contains(&counts["a"]) && !counts.contains_key("never"), "{counts:?}");
}
