//! The APIs of other vendors, each as what it does to a request and to an answer: pure functions between its types and the
//! hub's. A facade never meets the agent: the caller's own tools go out as calls, and nothing is carried out here. Each
//! has a `request.rs` (to the hub), a `stream.rs` (from it) and an `error.rs`. Services drive them over a model.

pub mod anthropic;
pub mod arguments;
pub mod gemini;
pub mod ledger;
mod media;
pub mod openai;
mod report;
mod vendor;
mod waiting;

use crate::domain::error::Error;
use crate::proto::gemini::{GenerateContentRequest, GenerateContentResponse};

pub use report::{Names, Report};
pub use vendor::Vendor;

/// With room for what is put in next. The first one is most often the only one, and what there is one of for each candidate of an
/// answer is large and stays as long as that: by itself a list would begin with room for four.
fn one_more<T>(list: &mut Vec<T>) -> &mut Vec<T> {
    if list.is_empty() {
        list.reserve_exact(1);
    }
    list
}

/// What a conversion may know besides the request. Facades read no clock and draw no lots.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// No other request has it; ids of the answer are made of it. Letters and digits.
    pub id: &'a str,
    /// In seconds.
    pub now: i64,
    /// The version of the API that the client names, or nothing.
    pub version: &'a str,
}

/// A request in the words of the hub, and what turns the answer back.
#[derive(Debug)]
pub struct Converted<R> {
    pub request: GenerateContentRequest,
    pub report: Report,
    /// What lies elsewhere and is to be fetched: `fileData` of the request with such an address becomes `inlineData`.
    pub remote: Vec<Remote>,
    pub reply: R,
}

/// Something that the request only names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// Where in the client's request, for the words of a refusal.
    pub field: String,
    /// As it stands in `fileData.fileUri`.
    pub url: String,
}

/// An answer on its way back: a machine that takes the hub's chunks and gives the dialect's events. Calls in the chunks have
/// ids already, which are short and plain.
pub trait Reply: Send + 'static {
    type Event: Send + 'static;
    type Answer: Send + 'static;

    /// What ids of calls begin with that were made here.
    const CALL: &'static str;

    /// What the hub's fields are called in this API, for telling what a model made of them.
    const NAMES: Names = &[];

    fn push(&mut self, chunk: GenerateContentResponse, out: &mut Vec<Self::Event>) -> Result<(), Error>;

    /// The model has said everything. An answer that broke off is an error.
    fn finish(&mut self, out: &mut Vec<Self::Event>) -> Result<(), Error>;

    /// The answer failed behind its first event. True if the dialect says so in events of its own, which were added;
    /// else the error goes on as one.
    fn fail(&mut self, _error: &Error, _out: &mut Vec<Self::Event>) -> bool {
        false
    }

    /// The whole answer at once. It says what the events would have said.
    fn answer(self, whole: GenerateContentResponse) -> Result<Self::Answer, Error>;
}
