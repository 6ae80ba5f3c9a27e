//! The load: calls or streams over HTTP/1.1, in the words of one dialect.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::json;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Gemini,
    OpenAi,
    Anthropic,
}

#[derive(Debug, Clone, Copy)]
pub struct Target {
    pub address: SocketAddr,
    pub dialect: Dialect,
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    Whole,
    /// So many events, so far apart.
    Events(usize, Duration),
}

pub type Caller = Client<HttpConnector, Full<Bytes>>;

pub fn caller() -> Caller {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    Client::builder(TokioExecutor::new()).build(connector)
}

impl Target {
    fn request(self, ask: Ask) -> http::Request<Full<Bytes>> {
        let (model, stream) = match ask {
            Ask::Whole => ("gemini-3.8-flash".to_owned(), false),
            Ask::Events(count, pause) => (format!("gemini-3.8-flash-{count}x{}", pause.as_millis()), true),
        };
        let text = "Tell me something in a few words, and then some more of them.";
        let said = json!([{"role": "user", "content": text}]);
        let (path, body) = match self.dialect {
            Dialect::Gemini => {
                let verb = if stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
                let body = json!({"contents": [{"role": "user", "parts": [{"text": text}]}]});
                (format!("/v1beta/models/{model}:{verb}"), body)
            }
            Dialect::OpenAi => (
                "/v1/chat/completions".to_owned(),
                json!({"model": model, "messages": said, "stream": stream}),
            ),
            Dialect::Anthropic => (
                "/v1/messages".to_owned(),
                json!({"model": model, "max_tokens": 1024, "messages": said, "stream": stream}),
            ),
        };
        http::Request::post(format!("http://{}{path}", self.address))
            .header("content-type", "application/json")
            .header("anthropic-version", "2023-06-01")
            .body(body.to_string().into())
            .unwrap()
    }

    async fn open(self, caller: &Caller, ask: Ask) -> Incoming {
        let response = caller.request(self.request(ask)).await.unwrap();
        assert_eq!(response.status(), 200, "{:?}", self.dialect);
        response.into_body()
    }

    /// How long the first piece took, and how many events there were.
    pub async fn call(self, caller: &Caller, ask: Ask) -> (Duration, usize) {
        let started = Instant::now();
        let mut body = self.open(caller, ask).await;
        let (mut first, mut events, mut last) = (None, 0, 0_u8);
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.unwrap().into_data() else { continue };
            first.get_or_insert_with(|| started.elapsed());
            for byte in &data {
                // Some end their lines with a carriage return too.
                if *byte != b'\r' {
                    events += usize::from(*byte == b'\n' && last == b'\n');
                    last = *byte;
                }
            }
        }
        if let Ask::Events(count, _) = ask {
            assert!(events >= count, "{events} of {count} events: {:?}", self.dialect);
        }
        (first.unwrap_or_default(), events)
    }
}

/// Calls of so many workers, each so often; how long each took until its first piece.
pub async fn run(target: Target, ask: Ask, workers: usize, rounds: usize) -> Vec<Duration> {
    let caller = caller();
    let worker = |_| {
        let caller = caller.clone();
        tokio::spawn(async move {
            let mut times = Vec::with_capacity(rounds);
            for _ in 0..rounds {
                times.push(target.call(&caller, ask).await.0);
            }
            times
        })
    };
    let all = futures::future::join_all((0..workers).map(worker)).await;
    all.into_iter().flat_map(Result::unwrap).collect()
}

/// Streams that are all open at once; `half_way` is called when half of their time is over.
pub async fn crowd(target: Target, ask: Ask, streams: usize, half_way: impl FnOnce()) -> Duration {
    let Ask::Events(count, pause) = ask else { panic!("a crowd streams") };
    let caller = caller();
    let started = Instant::now();
    let stream = |at: usize| {
        let caller = caller.clone();
        tokio::spawn(async move {
            // A listener's queue is short: not all in the same moment.
            tokio::time::sleep(Duration::from_micros(200) * u32::try_from(at).unwrap()).await;
            target.call(&caller, ask).await;
        })
    };
    let all: Vec<_> = (0..streams).map(stream).collect();
    tokio::time::sleep(
        pause * u32::try_from(count).unwrap() / 2
            + Duration::from_micros(100) * u32::try_from(streams).unwrap(),
    )
    .await;
    half_way();
    futures::future::join_all(all).await.into_iter().for_each(|done| done.unwrap());
    started.elapsed()
}
