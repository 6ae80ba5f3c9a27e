//! From a client's request to one that can be asked: converted, allowed, complete, and its changes told.

use std::time::SystemTime;

use http::HeaderName;
use tonic::Request;
use tonic::metadata::{MetadataMap, MetadataValue};

use super::Drive;
use super::arguments::Arguments;
use super::guard::Spending;
use super::ledger::Notes;
use crate::domain::change::Change;
use crate::domain::error::Error;
use crate::domain::model::Prepared;
use crate::domain::principal::Principal;
use crate::facade::{Asked, Converted, Reply, Report};
use crate::proto::gemini::GenerateContentRequest;
use crate::proto::rpc::bad_request::FieldViolation;
use crate::service::who;

/// Tells what a conversion changed.
pub const CONVERSION: &str = "x-agena-conversion";
/// Who was asked, as `backend/model`.
const UPSTREAM: &str = "x-agena-upstream";
/// `true` refuses every change that matters.
const STRICT: HeaderName = HeaderName::from_static("x-agena-strict");
/// Anthropic's.
const VERSION: HeaderName = HeaderName::from_static("anthropic-version");
/// Headers have an end; what does not fit is counted.
const LONGEST: usize = 2048;

/// A request in the hub's words, before anybody is asked. In a box, since it goes through several hands.
pub(super) struct Open<R> {
    who: Principal,
    strict: bool,
    anthropic: bool,
    id: String,
    converted: Converted<R>,
}

/// All that an answer needs.
pub(super) struct Ready<R> {
    pub(super) who: Principal,
    pub(super) request: GenerateContentRequest,
    pub(super) reply: R,
    pub(super) metadata: MetadataMap,
    pub(super) notes: Notes,
    pub(super) spending: Spending,
    pub(super) id: String,
    pub(super) arguments: Arguments,
}

impl Drive {
    /// Not a part of the future that waits for the model: that one would have room for what the client sent all the time.
    pub(super) fn open<Q, R: Reply>(
        &self,
        request: Request<Q>,
        convert: impl FnOnce(Q, &Asked<'_>) -> Result<Converted<R>, Error>,
    ) -> Result<Box<Open<R>>, Error> {
        let (who, strict) = (who(request.extensions())?, self.is_strict(request.metadata()));
        let anthropic = request.metadata().as_ref().contains_key(VERSION);
        let (id, converted) = converted(request, convert)?;
        Ok(Box::new(Open { who, strict, anthropic, id, converted }))
    }

    pub(super) async fn ready<R: Reply>(&self, mut open: Box<Open<R>>) -> Result<Ready<R>, Error> {
        let Converted { request, report, remote, .. } = &mut open.converted;
        self.guard.check(&*self.backend, &open.who, &request.model).await?;
        let spending = self.guard.admit(&open.who, request)?;
        let arguments = Arguments::new(request, open.strict);
        let Prepared { upstream, changes, .. } = self.backend.prepare(request.clone());
        report.told(changes, R::NAMES);
        if open.strict {
            refuse_changes(report)?;
        }
        self.media.fetch(request, remote).await?;
        self.ledger.restore(&open.who, &upstream, request).await;
        let mut metadata = metadata(report, &upstream);
        spending.tell(open.anthropic, &mut metadata);
        log(report, &upstream);
        let notes = Notes::new(upstream, request);
        let Open { who, id, converted: Converted { request, reply, .. }, .. } = *open;
        Ok(Ready { who, request, reply, metadata, notes, spending, id, arguments })
    }

    /// The same without its effects.
    pub(super) async fn previewed<Q, R: Reply>(
        &self,
        request: Request<Q>,
        convert: impl FnOnce(Q, &Asked<'_>) -> Result<Converted<R>, Error>,
    ) -> Result<(GenerateContentRequest, Report, String), Error> {
        let (who, strict) = (who(request.extensions())?, self.is_strict(request.metadata()));
        let (_, Converted { request, mut report, .. }) = converted(request, convert)?;
        self.guard.check(&*self.backend, &who, &request.model).await?;
        let Prepared { request, changes, upstream } = self.backend.prepare(request);
        report.told(changes, R::NAMES);
        if strict {
            refuse_changes(&report)?;
        }
        Ok((request, report, upstream))
    }

    fn is_strict(&self, metadata: &MetadataMap) -> bool {
        let asked = metadata.as_ref().get(STRICT).and_then(|value| value.to_str().ok());
        self.strict || asked.is_some_and(|value| value.eq_ignore_ascii_case("true") || value == "1")
    }
}

fn converted<Q, R>(
    request: Request<Q>,
    convert: impl FnOnce(Q, &Asked<'_>) -> Result<Converted<R>, Error>,
) -> Result<(String, Converted<R>), Error> {
    let (metadata, _, message) = request.into_parts();
    let id = uuid::Uuid::now_v7().simple().to_string();
    let version = metadata.as_ref().get(VERSION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let asked = Asked { id: &id, now: i64::try_from(now).unwrap_or_default(), version };
    let converted = convert(message, &asked)?;
    Ok((id, converted))
}

fn refuse_changes(report: &Report) -> Result<(), Error> {
    let violation = |change: &Change| FieldViolation {
        field: change.field.clone(),
        description: format!("would be {}: {}", change.how.as_str(), change.why),
        reason: "NOT_AS_ASKED".to_owned(),
        localized_message: None,
    };
    let matter: Vec<_> = report.changes().iter().filter(|c| c.how.matters()).map(violation).collect();
    if matter.is_empty() { Ok(()) } else { Err(Error::invalid(matter)) }
}

pub(super) fn metadata(report: &Report, upstream: &str) -> MetadataMap {
    let mut metadata = MetadataMap::new();
    let mut say = |name: &'static str, value: &str| {
        if let Some(value) = (!value.is_empty()).then(|| MetadataValue::try_from(value).ok()).flatten() {
            metadata.insert(name, value);
        }
    };
    say(CONVERSION, &line(report.changes()));
    say(UPSTREAM, upstream);
    metadata
}

/// `dropped;field="logit_bias";why="...", ignored;field="user"`: a list as structured headers have it.
fn line(changes: &[Change]) -> String {
    let mut line = String::new();
    for (at, Change { field, how, why }) in changes.iter().enumerate() {
        let before = line.len();
        line += if before == 0 { "" } else { ", " };
        line += how.as_str();
        line += ";field=\"";
        line.extend(plain(field));
        line += "\";why=\"";
        line.extend(plain(why));
        line += "\"";
        if line.len() > LONGEST {
            line.truncate(before);
            return line + &format!(", more;count={}", changes.len() - at);
        }
    }
    line
}

/// What a header can hold between quotes.
fn plain(text: &str) -> impl Iterator<Item = char> {
    text.chars().map(|c| match c {
        '\\' => '/',
        '"' => '\'',
        c if c.is_ascii_graphic() || c == ' ' => c,
        _ => '?',
    })
}

fn log(report: &Report, upstream: &str) {
    if !report.changes().is_empty() {
        tracing::info!(upstream, conversion = line(report.changes()), "a request was changed on its way");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_fit_into_a_header() {
        let mut report = Report::default();
        report.dropped("messages[0].\"x\"", "no\nplace ä");
        report.ignored("user", "only logged");
        let told = line(report.changes());
        assert_eq!(
            told,
            "dropped;field=\"messages[0].'x'\";why=\"no?place ?\", ignored;field=\"user\";why=\"only logged\""
        );
        (0..200).for_each(|at| report.altered(format!("tools[{at}]"), "for the test"));
        let told = line(report.changes());
        assert!(told.len() < LONGEST + 40 && told.contains(", more;count="), "{told}");
    }

    #[test]
    fn strict_callers_are_refused_what_matters() {
        let mut report = Report::default();
        report.ignored("user", "only logged");
        assert!(refuse_changes(&report).is_ok());
        report.dropped("logit_bias", "the model has none");
        let error = refuse_changes(&report).unwrap_err();
        assert_eq!(error.to_string(), "logit_bias: would be dropped: the model has none");
    }
}
