//! The client that calls webhooks: no redirects, no proxy, no cookies, no retries of its own, HTTP/1.1, and only
//! addresses that webhooks may have. Knows nothing of what it sends; the courier calls it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use reqwest::{Response, Url};

use super::{Failure, Options};
use crate::domain::webhook::{self, BadWebhook};
use crate::sandbox::dial::{self, Guard, leads_inside};

/// An answer that was read to its end leaves a connection that can be used again; a larger one is not worth it.
const ANSWER: usize = 64 * 1024;
const ANSWER_TIME: Duration = Duration::from_secs(1);
/// Long enough for the next event of a task at work.
const IDLE: Duration = Duration::from_secs(30);

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("cannot set up TLS for webhooks: {0}")]
    Tls(#[from] rustls::Error),
    #[error("cannot set up the client for webhooks: {0}")]
    Client(#[from] reqwest::Error),
}

#[derive(Debug, Clone)]
pub(super) struct Client {
    http: reqwest::Client,
    allowed: Vec<String>,
}

impl Client {
    pub(super) fn new(options: &Options) -> Result<Self, ClientError> {
        let allowed = options.allow_hosts.clone();
        let guard = Guard { lookup: Arc::clone(&options.lookup), allowed: allowed.clone() };
        let http = dial::client(guard, options.connect)?
            .http1_only()
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(options.parallel)
            .timeout(options.total)
            .build()?;
        Ok(Self { http, allowed })
    }

    /// Whatever is not a 2xx is a failure.
    pub(super) async fn post(&self, url: &str, headers: HeaderMap, body: Bytes) -> Result<(), Failure> {
        let request = self.http.post(self.target(url)?).headers(headers).body(body);
        let response = request.send().await.map_err(|error| failure(&error))?;
        let status = response.status();
        let _ = tokio::time::timeout(ANSWER_TIME, read(response)).await;
        if status.is_success() { Ok(()) } else { Err(Failure::Status(status.as_u16())) }
    }

    /// Checked again in the form in which it is dialled: an address in a URL meets no resolver, and the settings may
    /// have changed since the webhook was made.
    fn target(&self, url: &str) -> Result<Url, Failure> {
        let url = Url::parse(url).map_err(|_| Failure::Url(BadWebhook::NotHttp))?;
        match webhook::check(url.as_str(), &self.allowed) {
            Ok(()) => Ok(url),
            Err(BadWebhook::Inward) => Err(Failure::Inward),
            Err(bad) => Err(Failure::Url(bad)),
        }
    }
}

async fn read(mut response: Response) {
    let mut length = 0;
    while length < ANSWER
        && let Ok(Some(chunk)) = response.chunk().await
    {
        length += chunk.len();
    }
}

/// The error itself names the URL, which may hold secrets.
fn failure(error: &reqwest::Error) -> Failure {
    if leads_inside(error) {
        Failure::Inward
    } else if error.is_timeout() {
        Failure::Timeout
    } else if error.is_connect() {
        Failure::Connect
    } else {
        Failure::Lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_seen_however_it_is_written() {
        let options = Options { allow_hosts: vec!["127.0.0.2".to_owned()], ..Options::default() };
        let client = Client::new(&options).unwrap();
        let inward = [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.1/",
            "http://127%2e1/",
            "http://①27.0.0.1/",
            "http://127。0。0。1/",
            "http:\\\\127.0.0.1\\",
            "http://[::ffff:7f00:1]/",
            "http:127.0.0.1",
            "http://local\thost/",
        ];
        for url in inward {
            assert_eq!(client.target(url), Err(Failure::Inward), "{url}");
        }
        assert!(
            client.target("http://127.0.0.2:9/x").is_ok() && client.target("https://example.com").is_ok()
        );
        assert_eq!(client.target("http://a:b@example.com/"), Err(Failure::Url(BadWebhook::Credentials)));
    }
}
