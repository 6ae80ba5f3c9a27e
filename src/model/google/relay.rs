//! Bytes that pass through to a server that speaks this dialect itself: the body as it came, the answer as it comes. Only what
//! refuses is read, so that no key stands in it.

use bytes::Bytes;
use futures::{StreamExt, stream};
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName};

use super::{ERROR, Inner, Site};
use crate::domain::model::{ModelError, Relay, Relayed};
use crate::model::http::{Answer, Call};

/// What a client may see of the other side's headers.
const SHOWN: [HeaderName; 3] = [CONTENT_TYPE, RETRY_AFTER, HeaderName::from_static("retry-after-ms")];

impl<S: Site> Inner<S> {
    pub(super) async fn relay(&self, relay: &Relay) -> Option<Result<Relayed, ModelError>> {
        match self.site.relay(relay).await? {
            Ok(call) => Some(self.relayed(call, relay).await),
            Err(error) => Some(Err(error)),
        }
    }

    async fn relayed(&self, call: Call, relay: &Relay) -> Result<Relayed, ModelError> {
        let credentials = call.headers.get(AUTHORIZATION).cloned();
        let answer = self.http.send(call).await?;
        if answer.status.as_u16() == 401 && self.site.renew(credentials.as_ref()).await {
            let again = self.site.relay(relay).await;
            if let Some(call) = again.and_then(Result::ok) {
                // Apart, since it is rare.
                return self.passed(Box::pin(self.http.send(call)).await?).await;
            }
        }
        self.passed(answer).await
    }

    async fn passed(&self, answer: Answer) -> Result<Relayed, ModelError> {
        let (status, headers) = (answer.status, shown(&answer.headers));
        let (length, body) = match status.is_success() {
            true => (answer.length(), answer.pieces().boxed()),
            false => {
                let body = self.blotted(answer.whole(ERROR).await.unwrap_or_default());
                (Some(body.len() as u64), stream::iter([Ok(body)]).boxed())
            }
        };
        Ok(Relayed { status: status.as_u16(), headers, length, body })
    }

    fn blotted(&self, body: Bytes) -> Bytes {
        match std::str::from_utf8(&body) {
            Ok(text) => self.site.blot(text).into(),
            Err(_) => body,
        }
    }
}

fn shown(headers: &HeaderMap) -> HeaderMap {
    let one = |name: &HeaderName| Some((name.clone(), headers.get(name)?.clone()));
    SHOWN.iter().filter_map(one).collect()
}
