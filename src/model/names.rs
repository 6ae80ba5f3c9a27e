//! Names of functions that a server refuses, under others that it takes, and back. One request has one table, and the same
//! name always becomes the same one, so that a conversation stays what it was. Pure; backends call it.

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt, TryStreamExt};
use sha2::{Digest, Sha256};

use crate::domain::change::{Change, How};
use crate::domain::model::Chunks;
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Content, GenerateContentRequest, GenerateContentResponse};

const LONGEST: usize = 64;
/// Digits that tell two names apart which would become the same.
const DIGITS: usize = 6;

/// What a server takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Begins with a letter or `_`; then also digits, `.`, `:` and `-`.
    Gemini,
    /// Letters, digits, `_` and `-`.
    OpenAi,
}

impl Rule {
    fn takes(self, name: &str) -> bool {
        let begins = name.chars().next().is_some_and(|first| self.is_first(first));
        begins && name.len() <= LONGEST && name.chars().all(|c| self.is_any(c))
    }

    fn is_first(self, c: char) -> bool {
        match self {
            Self::Gemini => c.is_ascii_alphabetic() || c == '_',
            Self::OpenAi => self.is_any(c),
        }
    }

    fn is_any(self, c: char) -> bool {
        let plain = c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        plain || self == Self::Gemini && matches!(c, '.' | ':')
    }

    /// What can be kept of the name, and digits of all of it.
    fn other(self, name: &str, salt: u32) -> String {
        let safe = |c: char| if self.is_any(c) { c } else { '_' };
        let begins = name.chars().next().is_some_and(|first| self.is_first(first));
        let mut kept: String = if begins { String::new() } else { "_".to_owned() };
        kept.extend(name.chars().map(safe));
        kept.truncate(LONGEST - DIGITS - 1);
        let hash = Sha256::new().chain_update(name).chain_update(salt.to_le_bytes()).finalize();
        let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{kept}_{}", digits.get(..DIGITS).unwrap_or_default())
    }
}

/// What became of names, by what they became.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names(BTreeMap<String, String>);

impl Names {
    /// Renames what the server would refuse, wherever it stands.
    pub fn fit(request: &mut GenerateContentRequest, rule: Rule, changes: &mut Vec<Change>) -> Self {
        let mut used = BTreeSet::new();
        every(request, &mut |name| {
            used.insert(name.clone());
        });
        let (fine, bad): (BTreeSet<_>, BTreeSet<_>) = used.into_iter().partition(|name| rule.takes(name));
        let mut names = Self::default();
        let mut others = BTreeMap::new();
        for name in bad.into_iter().filter(|name| !name.is_empty()) {
            let mut choices = (0..).map(|salt| rule.other(&name, salt));
            let is_free = |other: &String| !fine.contains(other) && !names.0.contains_key(other);
            let Some(other) = choices.find(is_free) else { continue };
            changes.push(Change {
                field: format!("tools[{name}].name"),
                how: How::Ignored,
                why: format!("asked for as {other}, and told back as it was"),
            });
            others.insert(name.clone(), other.clone());
            names.0.insert(other, name);
        }
        if !others.is_empty() {
            every(request, &mut |name| {
                if let Some(other) = others.get(name) {
                    name.clone_from(other);
                }
            });
        }
        names
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// An answer in whose chunks they are what they were.
    pub fn over(self, chunks: Chunks) -> Chunks {
        if self.is_empty() {
            return chunks;
        }
        let restored = move |mut chunk: GenerateContentResponse| {
            self.restore(&mut chunk);
            chunk
        };
        chunks.map_ok(restored).boxed()
    }

    /// As the caller knows them.
    pub fn restore(&self, answer: &mut GenerateContentResponse) {
        if self.0.is_empty() {
            return;
        }
        let contents = answer.candidates.iter_mut().filter_map(|candidate| candidate.content.as_mut());
        contents.for_each(|content| {
            of_content(content, &mut |name| {
                if let Some(own) = self.0.get(name) {
                    name.clone_from(own);
                }
            });
        });
    }
}

fn every(request: &mut GenerateContentRequest, each: &mut impl FnMut(&mut String)) {
    let functions = request.tools.iter_mut().flat_map(|tool| &mut tool.function_declarations);
    functions.for_each(|function| each(&mut function.name));
    let config = request.tool_config.as_mut().and_then(|config| config.function_calling_config.as_mut());
    config.into_iter().flat_map(|config| &mut config.allowed_function_names).for_each(&mut *each);
    request.contents.iter_mut().for_each(|content| of_content(content, each));
}

fn of_content(content: &mut Content, each: &mut impl FnMut(&mut String)) {
    for part in &mut content.parts {
        match &mut part.data {
            Some(Data::FunctionCall(call)) => each(&mut call.name),
            Some(Data::FunctionResponse(response)) => each(&mut response.name),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::vendor;

    fn request(name: &str) -> GenerateContentRequest {
        let name = serde_json::Value::from(name);
        let text = format!(
            r#"{{"contents":[{{"role":"model","parts":[{{"functionCall":{{"name":{name},"args":{{}}}}}}]}},{{"role":"user","parts":[{{"functionResponse":{{"name":{name},"response":{{}}}}}}]}}],"tools":[{{"functionDeclarations":[{{"name":{name}}},{{"name":"fine"}}]}}],"toolConfig":{{"functionCallingConfig":{{"mode":"ANY","allowedFunctionNames":[{name}]}}}}}}"#
        );
        vendor::decode(text.as_bytes()).unwrap()
    }

    fn printed(request: &GenerateContentRequest) -> String {
        let mut out = Vec::new();
        vendor::encode(request, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// Bug 30.
    #[test]
    fn illegal_names_are_others_on_the_way_and_their_own_again_behind_it() {
        let long = "x".repeat(65);
        for (rule, name, begins) in [
            (Rule::Gemini, "get weather", "get_weather_"),
            (Rule::Gemini, "$ref", "__ref_"),
            (Rule::Gemini, "1st", "_1st_"),
            (Rule::Gemini, "größe", "gr__e_"),
            (Rule::Gemini, &long, &long[..57]),
            (Rule::OpenAi, "a.b:c", "a_b_c_"),
            (Rule::OpenAi, &long, &long[..57]),
        ] {
            let mut fitted = request(name);
            let mut changes = Vec::new();
            let names = Names::fit(&mut fitted, rule, &mut changes);
            let other = fitted.tools[0].function_declarations[0].name.clone();
            assert!(other.starts_with(begins) && other.len() <= LONGEST && rule.takes(&other), "{other}");
            assert_eq!(printed(&fitted), printed(&request(&other)), "everywhere");
            assert_eq!((changes.len(), changes[0].how.matters()), (1, false));
            let answer = format!(
                r#"{{"candidates":[{{"content":{{"parts":[{{"functionCall":{{"name":"{other}","args":{{}}}}}},{{"functionCall":{{"name":"fine","args":{{}}}}}}]}}}}]}}"#
            );
            let mut answer: GenerateContentResponse = vendor::decode(answer.as_bytes()).unwrap();
            names.restore(&mut answer);
            let Some(Data::FunctionCall(call)) =
                &answer.candidates[0].content.as_ref().unwrap().parts[0].data
            else {
                panic!("no call")
            };
            assert_eq!(call.name, name);
            assert!(Names::fit(&mut fitted, rule, &mut Vec::new()).is_empty(), "what is fine stays");
        }
    }

    #[test]
    fn names_that_are_fine_are_left_alone() {
        for (rule, name) in [
            (Rule::Gemini, "_a.b:c-D9"),
            (Rule::OpenAi, "9_a-B"),
            (Rule::Gemini, "x234567890123456789012345678901234567890123456789012345678901234"),
        ] {
            let mut fitted = request(name);
            assert!(Names::fit(&mut fitted, rule, &mut Vec::new()).is_empty());
            assert_eq!(fitted, request(name));
        }
    }

    #[test]
    fn no_two_names_become_one() {
        let taken = Rule::Gemini.other("a b", 0);
        let mut fitted = request("a b");
        fitted.tools.extend(request("a$b").tools);
        fitted.tools.extend(request(&taken).tools);
        let names = Names::fit(&mut fitted, Rule::Gemini, &mut Vec::new());
        let all: BTreeSet<String> =
            fitted.tools.iter().map(|tool| tool.function_declarations[0].name.clone()).collect();
        assert_eq!((all.len(), names.0.len(), all.contains(&taken)), (3, 2, true));
    }
}
