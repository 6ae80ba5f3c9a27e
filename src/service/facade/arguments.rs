//! Arguments of calls on their way to the client: held to what it declared. A call is never left out; who is strict is refused
//! an answer whose calls do not fit.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::domain::error::{Cause, Error};
use crate::facade::arguments::{Checked, Declared};
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{FunctionCall, GenerateContentRequest, GenerateContentResponse};

/// Calls that did not fit, since the start.
static MISMATCHES: AtomicU64 = AtomicU64::new(0);

#[derive(Debug)]
pub(super) struct Arguments {
    declared: Declared,
    strict: bool,
}

impl Arguments {
    /// Of the client's own request.
    pub(super) fn new(request: &GenerateContentRequest, strict: bool) -> Self {
        Self { declared: Declared::of(request), strict }
    }

    pub(super) fn check(&self, chunk: &mut GenerateContentResponse) -> Result<(), Error> {
        let contents = chunk.candidates.iter_mut().filter_map(|candidate| candidate.content.as_mut());
        for part in contents.flat_map(|content| &mut content.parts) {
            if let Some(Data::FunctionCall(call)) = &mut part.data {
                self.call(call)?;
            }
        }
        Ok(())
    }

    fn call(&self, call: &mut FunctionCall) -> Result<(), Error> {
        match self.declared.check(&call.name, &call.args) {
            Checked::Fine => Ok(()),
            Checked::Mended(args) => {
                call.args = args;
                Ok(())
            }
            Checked::Wrong(problem) => {
                let count = MISMATCHES.fetch_add(1, Ordering::Relaxed) + 1;
                tracing::warn!(function = call.name, problem, count, "a call does not fit its schema");
                let message =
                    format!("the model called {} with arguments that do not fit: {problem}", call.name);
                if self.strict { Err(Error::new(Cause::ModelBroken, message)) } else { Ok(()) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::vendor;

    #[test]
    fn a_call_that_does_not_fit_is_told_and_only_the_strict_are_refused() {
        let request = r#"{"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object","properties":{"x":{"type":"integer"}}}}]}]}"#;
        let request: GenerateContentRequest = vendor::decode(request.as_bytes()).unwrap();
        for (args, strict, expected) in [
            (r#"{ "x": 1 }"#, true, Some(r#"{ "x": 1 }"#)),
            (r#"{"x":"1"}"#, true, Some(r#"{"x":1}"#)),
            (r#"{"x":"a"}"#, false, Some(r#"{"x":"a"}"#)),
            (r#"{"x":"a"}"#, true, None),
        ] {
            let chunk = format!(
                r#"{{"candidates":[{{"content":{{"parts":[{{"functionCall":{{"name":"f","args":{args}}}}}]}}}}]}}"#
            );
            let mut chunk: GenerateContentResponse = vendor::decode(chunk.as_bytes()).unwrap();
            let checked = Arguments::new(&request, strict).check(&mut chunk);
            assert_eq!(checked.is_ok(), expected.is_some(), "{args}");
            let Some(Data::FunctionCall(call)) = &chunk.candidates[0].content.as_ref().unwrap().parts[0].data
            else {
                panic!("the call is gone")
            };
            assert_eq!(call.args, expected.unwrap_or(args));
        }
    }
}
