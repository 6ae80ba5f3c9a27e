//! Ids of calls that every client can carry: short, plain, and no two alike in a conversation. What a model gives is kept
//! where it is that; where it gives none, or another, one is made. Pure.

use crate::proto::gemini::GenerateContentResponse;
use crate::proto::gemini::part::Data;

/// OpenAI's clients take no longer ones.
const LONGEST: usize = 40;

pub(super) struct Ids {
    prefix: &'static str,
    request: String,
    given: usize,
}

impl Ids {
    pub(super) fn new(prefix: &'static str, request: &str) -> Self {
        Self { prefix, request: request.to_owned(), given: 0 }
    }

    /// To every call of this chunk.
    pub(super) fn give(&mut self, chunk: &mut GenerateContentResponse) {
        let contents = chunk.candidates.iter_mut().filter_map(|candidate| candidate.content.as_mut());
        for part in contents.flat_map(|content| &mut content.parts) {
            if let Some(Data::FunctionCall(call)) = &mut part.data {
                if !is_fine(&call.id) {
                    call.id = format!("{}{}{:02}", self.prefix, self.request, self.given);
                }
                self.given += 1;
            }
        }
    }
}

fn is_fine(id: &str) -> bool {
    let plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-');
    !id.is_empty() && id.len() <= LONGEST && id.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::vendor;

    #[test]
    fn every_call_has_an_id_that_clients_can_carry() {
        let chunk = |ids: [&str; 2]| -> GenerateContentResponse {
            let [a, b] = ids;
            let text = format!(
                r#"{{"candidates":[{{"content":{{"parts":[{{"functionCall":{{"id":"{a}","name":"f"}}}},{{"text":"x"}},{{"functionCall":{{"id":"{b}","name":"f"}}}}]}}}}]}}"#
            );
            vendor::decode(text.as_bytes()).unwrap()
        };
        let found = |chunk: &GenerateContentResponse| -> Vec<String> {
            let parts = &chunk.candidates[0].content.as_ref().unwrap().parts;
            let id = |part: &crate::proto::gemini::Part| match &part.data {
                Some(Data::FunctionCall(call)) => Some(call.id.clone()),
                _ => None,
            };
            parts.iter().filter_map(id).collect()
        };
        let mut ids = Ids::new("call_", "0123456789abcdef0123456789abcdef");
        let (mut first, mut second) = (chunk(["", "own-1"]), chunk(["a.b", &"x".repeat(41)]));
        ids.give(&mut first);
        ids.give(&mut second);
        assert_eq!(found(&first), ["call_0123456789abcdef0123456789abcdef00", "own-1"]);
        assert_eq!(
            found(&second),
            ["call_0123456789abcdef0123456789abcdef02", "call_0123456789abcdef0123456789abcdef03"]
        );
    }
}
