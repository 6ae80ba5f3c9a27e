//! Answers as they come.

use crate::domain::error::Error;
use crate::facade::Reply;
use crate::proto::gemini::GenerateContentResponse;

#[derive(Debug)]
pub struct Answer;

impl Reply for Answer {
    type Event = GenerateContentResponse;
    type Answer = GenerateContentResponse;

    const CALL: &'static str = "call_";

    fn push(&mut self, chunk: GenerateContentResponse, out: &mut Vec<Self::Event>) -> Result<(), Error> {
        out.push(chunk);
        Ok(())
    }

    fn finish(&mut self, _out: &mut Vec<Self::Event>) -> Result<(), Error> {
        Ok(())
    }

    fn answer(self, whole: GenerateContentResponse) -> Result<GenerateContentResponse, Error> {
        Ok(whole)
    }
}
