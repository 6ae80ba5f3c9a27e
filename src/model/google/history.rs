//! A conversation that Google's servers accept: begins and ends with the user, has no empty turn, no thought that is told
//! again, and a signature on every call that must have one. Pure.

mod ids;

use super::Abilities;
use super::fit::Changes;
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Content, Part};

/// Stands, as documented, for a signature that is not to be had. Sent as it is.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";
const USER: &str = "user";
const MODEL: &str = "model";

pub(super) fn mended(contents: Vec<Content>, abilities: &Abilities, changes: &mut Changes) -> Vec<Content> {
    let mut mended: Vec<Content> = contents
        .into_iter()
        .map(|content| Content {
            parts: content.parts.into_iter().filter(says_something).collect(),
            ..content
        })
        .filter(|content| !content.parts.is_empty())
        .collect();
    if mended.first().is_none_or(|first| first.role == MODEL) {
        changes.guessed("contents", "a conversation begins with the user");
        mended.insert(0, said("Continue."));
    }
    if mended.last().is_some_and(|last| last.role == MODEL) {
        changes.guessed("contents", "a conversation ends with the user");
        mended.push(said("Please continue."));
    }
    match abilities.call_ids {
        true => ids::pair(&mut mended),
        false => {
            forget_ids(&mut mended);
        }
    }
    if abilities.signatures {
        this_turn(&mut mended).iter_mut().for_each(sign);
    }
    mended
}

/// False if there was none.
pub(super) fn forget_ids(contents: &mut [Content]) -> bool {
    let mut found = false;
    for part in contents.iter_mut().flat_map(|content| &mut content.parts) {
        found |= forget_id(part);
    }
    found
}

/// Signatures of somebody else are replaced. False if there was none.
pub(super) fn forget_signatures(request: &mut crate::proto::gemini::GenerateContentRequest) -> bool {
    let parts = request.contents.iter_mut().flat_map(|content| &mut content.parts);
    let mut found = false;
    for part in parts.filter(|part| !part.thought_signature.is_empty()) {
        found |= part.thought_signature != NO_SIGNATURE;
        part.thought_signature = if is_call(part) { NO_SIGNATURE.to_owned() } else { String::new() };
    }
    if found {
        request.contents.iter_mut().for_each(|content| content.parts.retain(says_something));
        request.contents.retain(|content| !content.parts.is_empty());
    }
    found
}

fn said(text: &str) -> Content {
    Content { role: USER.to_owned(), parts: vec![Part::text(text)] }
}

/// A thought is not told again, unless it carries a signature.
pub(super) fn says_something(part: &Part) -> bool {
    if !part.thought_signature.is_empty() || !part.extra.is_empty() {
        return true;
    }
    match &part.data {
        None => false,
        Some(Data::Text(text)) => !text.is_empty() && !part.thought,
        Some(_) => true,
    }
}

fn forget_id(part: &mut Part) -> bool {
    let id = match &mut part.data {
        Some(Data::FunctionCall(call)) => &mut call.id,
        Some(Data::FunctionResponse(response)) => &mut response.id,
        _ => return false,
    };
    !std::mem::take(id).is_empty()
}

/// All that came since the user last said something.
fn this_turn(contents: &mut [Content]) -> &mut [Content] {
    let is_answer = |part: &Part| matches!(part.data, Some(Data::FunctionResponse(_)));
    let said = contents.iter().rposition(|c| c.role != MODEL && !c.parts.iter().any(is_answer));
    &mut contents[said.map_or(0, |at| at + 1)..]
}

/// Of calls that were made together, only the first is signed.
fn sign(content: &mut Content) {
    let first = content.parts.iter_mut().find(|part| is_call(part));
    if let Some(call) = first.filter(|call| content.role == MODEL && call.thought_signature.is_empty()) {
        call.thought_signature = NO_SIGNATURE.to_owned();
    }
}

fn is_call(part: &Part) -> bool {
    matches!(part.data, Some(Data::FunctionCall(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::gemini::GenerateContentRequest;
    use crate::proto::vendor;

    fn read(contents: &str) -> GenerateContentRequest {
        vendor::decode(format!(r#"{{"contents":[{contents}]}}"#).as_bytes()).unwrap()
    }

    fn print(contents: Vec<Content>) -> String {
        let request = GenerateContentRequest { contents, ..GenerateContentRequest::default() };
        let mut out = Vec::new();
        vendor::encode(&request, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        text.strip_prefix(r#"{"contents":["#).and_then(|rest| rest.strip_suffix("]}")).unwrap().to_owned()
    }

    const ASK: &str = r#"{"role":"user","parts":[{"text":"a"}]}"#;
    const CALL: &str = r#"{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{}}},{"functionCall":{"id":"2","name":"f","args":{}}}]}"#;
    const TOLD: &str = r#"{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}},{"functionResponse":{"id":"2","name":"f","response":{}}}]}"#;

    #[test]
    fn a_conversation_is_mended_where_it_would_be_refused() {
        let signed = CALL.replacen(
            r#""args":{}}}"#,
            r#""args":{}},"thoughtSignature":"skip_thought_signature_validator"}"#,
            1,
        );
        let plain = |text: &str| text.replace(r#""id":"1","#, "").replace(r#""id":"2","#, "");
        let own = CALL.replacen(r#""args":{}}}"#, r#""args":{}},"thoughtSignature":"own"}"#, 1);
        let thought = r#"{"role":"model","parts":[{"text":"t","thought":true},{"text":""},{"text":"b"}]}"#;
        let b = r#"{"role":"model","parts":[{"text":"b"}]}"#;
        let (go, on) = (print(vec![said("Continue.")]), print(vec![said("Please continue.")]));
        for (model, given, expected) in [
            ("gemini-3-pro", ASK.to_owned(), ASK.to_owned()),
            ("gemini-3-pro", String::new(), go.clone()),
            ("gemini-3-pro", format!("{ASK},{CALL},{TOLD}"), format!("{ASK},{signed},{TOLD}")),
            ("gemini-3-pro", format!("{ASK},{own},{TOLD}"), format!("{ASK},{own},{TOLD}")),
            // An earlier turn is not looked at.
            (
                "gemini-3-pro",
                format!("{ASK},{CALL},{TOLD},{b},{ASK}"),
                format!("{ASK},{CALL},{TOLD},{b},{ASK}"),
            ),
            ("gemini-2.5-pro", format!("{ASK},{CALL},{TOLD}"), plain(&format!("{ASK},{CALL},{TOLD}"))),
            ("gemini-3-pro", format!("{ASK},{thought},{ASK}"), format!("{ASK},{b},{ASK}")),
            ("gemini-3-pro", format!("{b},{ASK}"), format!("{go},{b},{ASK}")),
            ("gemini-3-pro", format!("{ASK},{b}"), format!("{ASK},{b},{on}")),
        ] {
            assert_eq!(
                print(mended(read(&given).contents, &Abilities::of(model), &mut Changes::default())),
                expected,
                "{given}"
            );
        }
    }

    #[test]
    fn refused_signatures_are_replaced_once() {
        let text = r#"{"role":"model","parts":[{"text":"b","thoughtSignature":"x"},{"text":"","thoughtSignature":"y"},{"functionCall":{"name":"f","args":{}},"thoughtSignature":"z"}]}"#;
        let mut request = read(text);
        assert!(forget_signatures(&mut request));
        assert_eq!(
            print(request.contents.clone()),
            r#"{"role":"model","parts":[{"text":"b"},{"functionCall":{"name":"f","args":{}},"thoughtSignature":"skip_thought_signature_validator"}]}"#
        );
        assert!(!forget_signatures(&mut request));
    }
}
