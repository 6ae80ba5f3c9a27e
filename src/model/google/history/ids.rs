//! Answers find their calls: one that came without the id of its call takes it over, since some clients echo the id of a call
//! and leave it out of the answer. Pure.

use std::collections::{HashMap, HashSet, VecDeque};

use super::MODEL;
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Content, FunctionCall, Part};

/// By name and order, among the calls of the turn before that no answer names.
pub(super) fn pair(contents: &mut [Content]) {
    for at in 1..contents.len() {
        let (before, behind) = contents.split_at_mut(at);
        let (Some(calls), Some(answers)) = (before.last(), behind.first_mut()) else { continue };
        if calls.role == MODEL {
            give(calls, answers);
        }
    }
}

fn give(calls: &Content, answers: &mut Content) {
    let named: HashSet<String> =
        answers.parts.iter_mut().filter_map(answer).map(|(id, _)| id.clone()).collect();
    let mut free: HashMap<&str, VecDeque<&String>> = HashMap::new();
    for call in calls.parts.iter().filter_map(call) {
        if !call.id.is_empty() && !named.contains(&call.id) {
            free.entry(&call.name).or_default().push_back(&call.id);
        }
    }
    for (id, name) in answers.parts.iter_mut().filter_map(answer).filter(|(id, _)| id.is_empty()) {
        if let Some(of_call) = free.get_mut(name.as_str()).and_then(VecDeque::pop_front) {
            id.clone_from(of_call);
        }
    }
}

fn call(part: &Part) -> Option<&FunctionCall> {
    if let Some(Data::FunctionCall(call)) = &part.data { Some(call) } else { None }
}

fn answer(part: &mut Part) -> Option<(&mut String, &String)> {
    match &mut part.data {
        Some(Data::FunctionResponse(answer)) => Some((&mut answer.id, &answer.name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::gemini::GenerateContentRequest;
    use crate::proto::vendor;

    #[test]
    fn an_answer_without_an_id_takes_that_of_its_call() {
        let call = |id: &str, name: &str| format!(r#"{{"functionCall":{{"id":"{id}","name":"{name}"}}}}"#);
        let told =
            |id: &str, name: &str| format!(r#"{{"functionResponse":{{"id":"{id}","name":"{name}"}}}}"#);
        let (f, g) = ("f", "g");
        for (calls, answers, expected) in [
            (vec![call("1", f)], vec![told("", f)], vec!["1"]),
            (vec![call("1", f), call("2", f)], vec![told("", f), told("", f)], vec!["1", "2"]),
            (vec![call("1", f), call("2", f)], vec![told("2", f), told("", f)], vec!["2", "1"]),
            (vec![call("1", f), call("2", g)], vec![told("", g), told("", f)], vec!["2", "1"]),
            (vec![call("1", f)], vec![told("", g)], vec![""]),
            (vec![call("", f)], vec![told("", f)], vec![""]),
        ] {
            let text = format!(
                r#"{{"contents":[{{"role":"model","parts":[{}]}},{{"role":"user","parts":[{}]}}]}}"#,
                calls.join(","),
                answers.join(",")
            );
            let mut request: GenerateContentRequest = vendor::decode(text.as_bytes()).unwrap();
            pair(&mut request.contents);
            let ids = request.contents[1].parts.iter_mut().filter_map(answer).map(|(id, _)| id.clone());
            assert_eq!(ids.collect::<Vec<_>>(), expected, "{text}");
        }
    }
}
