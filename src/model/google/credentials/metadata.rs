//! The metadata server of a machine in Google's cloud, which has a token for the machine's account. It is asked directly,
//! past every proxy, and not for long: elsewhere there is none.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use http::{HeaderName, HeaderValue, StatusCode};

use super::grant::LONGEST;
use super::{Token, denied, token};
use crate::domain::model::{ModelCause, ModelError};
use crate::model::http::{Answer, Call, ClientError, Deadlines, Http, Proxy};

const HOST: &str = "metadata.google.internal";
const PATH: &str = "/computeMetadata/v1/instance/service-accounts/default/token";
const FLAVOR: HeaderName = HeaderName::from_static("metadata-flavor");
const GOOGLE: HeaderValue = HeaderValue::from_static("Google");

pub(super) struct Metadata {
    http: Http,
    host: String,
    /// It is there, so what it does not answer now it will answer later.
    seen: AtomicBool,
}

impl Metadata {
    pub(super) fn new(host: Option<String>) -> Result<Self, ClientError> {
        let seconds = Duration::from_secs;
        let deadlines =
            Deadlines { connect: seconds(2), first_byte: seconds(5), idle: seconds(5), total: seconds(10) };
        // Who names it knows that it is there.
        let seen = AtomicBool::new(host.is_some());
        let http = Http::new(deadlines, &Proxy::None)?;
        Ok(Self { http, host: host.unwrap_or_else(|| HOST.to_owned()), seen })
    }

    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// None if there is no such server.
    pub(super) async fn fetch(&self, now: SystemTime) -> Result<Option<Token>, ModelError> {
        let call = Call::get(format!("http://{}{PATH}", self.host)).header(FLAVOR, GOOGLE);
        let answer = match self.http.send(call).await {
            Ok(answer) if answer.headers.get(FLAVOR) == Some(&GOOGLE) => answer,
            Err(error) if self.seen.load(Ordering::Relaxed) => return Err(error),
            // Some networks answer for every name.
            _ => return Ok(None),
        };
        self.seen.store(true, Ordering::Relaxed);
        self.read(answer, now).await.map(Some)
    }

    async fn read(&self, answer: Answer, now: SystemTime) -> Result<Token, ModelError> {
        let status = answer.status;
        let body = answer.whole(LONGEST).await?;
        if status.is_success() {
            return token::granted(&body, now).map_err(|problem| {
                ModelError::new(ModelCause::Broken, format!("{} answered {problem}", self.host))
            });
        }
        Err(match status {
            StatusCode::NOT_FOUND => denied(format!(
                "this machine has no service account, says {}: attach one, or name a file of credentials",
                self.host
            )),
            status => ModelError::new(
                ModelCause::Unavailable,
                format!("{} gives no token now: status {}", self.host, status.as_u16()),
            ),
        })
    }
}
