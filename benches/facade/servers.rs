//! The servers besides agena: the model, a hop before it, and one of bare axum.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Path;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use bytes::Bytes;
use futures::{Stream, StreamExt, stream};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;

pub fn serve(server: &[String]) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("{}", socket.local_addr().unwrap());
        match server {
            [name] if name == "model" => model(socket).await,
            [name, model] if name == "hop" => hop(socket, model.clone()).await,
            [name, model] if name == "translator" => crate::translator::serve(socket, model.clone()).await,
            _ => bare_axum(socket).await,
        }
    });
}

/// How many events a stream has, and how far apart, as its model is called: `gemini-3.8-flash-100x50`.
fn plan(model: &str) -> (usize, Duration) {
    let (count, pause) = model.rsplit('-').next().and_then(|plan| plan.split_once('x')).unwrap_or(("1", "0"));
    (count.parse().unwrap_or(1), Duration::from_millis(pause.parse().unwrap_or(0)))
}

const WORDS: &str = "a few words of an answer ";

async fn model(socket: TcpListener) {
    let router = axum::Router::new().route("/v1beta/models/{call}", post(generate));
    let listener = axum::serve::ListenerExt::tap_io(socket, |stream| stream.set_nodelay(true).unwrap());
    axum::serve(listener, router).await.unwrap();
}

async fn generate(Path(call): Path<String>, _body: Bytes) -> Response {
    let (model, verb) = call.rsplit_once(':').unwrap();
    if verb == "generateContent" {
        return ([("content-type", "application/json")], chunk(true)).into_response();
    }
    let (count, pause) = plan(model);
    let frame = |last: bool| Bytes::from(format!("data: {}\r\n\r\n", chunk(last)));
    let (middle, last) = (frame(false), frame(true));
    let frames = paced(count, pause)
        .map(move |at| Ok::<_, Infallible>(if at + 1 == count { last.clone() } else { middle.clone() }));
    ([("content-type", "text/event-stream")], Body::from_stream(frames)).into_response()
}

fn paced(count: usize, pause: Duration) -> impl Stream<Item = usize> + Send {
    stream::iter(0..count).then(move |at| async move {
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        at
    })
}

fn chunk(last: bool) -> String {
    let finish = if last { r#""finishReason":"STOP","# } else { "" };
    format!(
        r#"{{"candidates":[{{"content":{{"role":"model","parts":[{{"text":"{WORDS}"}}]}},{finish}"index":0}}],"usageMetadata":{{"promptTokenCount":12,"candidatesTokenCount":34,"totalTokenCount":46}},"modelVersion":"gemini-3.8-flash","responseId":"abc"}}"#
    )
}

/// Forwards what the model answers, byte by byte.
async fn hop(socket: TcpListener, model: String) {
    let client: Client<_, Incoming> = Client::builder(TokioExecutor::new()).build_http();
    loop {
        let (stream, _) = socket.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        let (client, model) = (client.clone(), model.clone());
        tokio::spawn(async move {
            let forward = service_fn(move |mut request: http::Request<Incoming>| {
                let path = request.uri().path_and_query().unwrap().as_str();
                *request.uri_mut() = format!("http://{model}{path}").parse().unwrap();
                client.request(request)
            });
            let server = hyper::server::conn::http1::Builder::new();
            let _ = server.serve_connection(TokioIo::new(stream), forward).await;
        });
    }
}

/// Makes OpenAI's events itself, as many as it is asked for.
async fn bare_axum(socket: TcpListener) {
    let router = axum::Router::new().route("/v1/chat/completions", post(chat));
    let listener = axum::serve::ListenerExt::tap_io(socket, |stream| stream.set_nodelay(true).unwrap());
    axum::serve(listener, router).await.unwrap();
}

async fn chat(body: axum::Json<serde_json::Value>) -> Response {
    let piece = |delta: serde_json::Value, finish: Option<&str>| {
        serde_json::json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]})
    };
    if body["stream"] != true {
        return axum::Json(piece(serde_json::json!({"content": WORDS}), Some("stop"))).into_response();
    }
    let (count, pause) = plan(body["model"].as_str().unwrap_or_default());
    let events = paced(count, pause).map(move |_| {
        let event = Event::default().json_data(piece(serde_json::json!({"content": WORDS}), None)).unwrap();
        Ok::<_, Infallible>(event)
    });
    Sse::new(events).into_response()
}
