//! A plain hyper proxy that translates and does nothing else, for comparison: agena's own conversions and JSON behind the hop's
//! server, client and allocator. It checks nobody, limits nothing, fits nothing to a model, remembers nothing and tells
//! nothing. Whole answers only; no stream passes.

use agena::domain::error::Error;
use agena::facade::openai::chat;
use agena::facade::{Asked, Converted, Reply, anthropic};
use agena::proto::gemini::GenerateContentResponse;
use agena::proto::vendor;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Name;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::TcpListener;

type Model = Client<HttpConnector, Full<Bytes>>;

pub async fn serve(socket: TcpListener, model: String) {
    let client: Model = Client::builder(TokioExecutor::new()).build_http();
    loop {
        let (stream, _) = socket.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        let (client, model) = (client.clone(), model.clone());
        tokio::spawn(async move {
            let translate = service_fn(move |request: http::Request<Incoming>| {
                let (client, model) = (client.clone(), model.clone());
                async move {
                    Ok::<_, hyper::Error>(match request.uri().path() {
                        "/v1/messages" => translated(request, anthropic::convert, &client, &model).await,
                        _ => translated(request, chat::convert, &client, &model).await,
                    })
                }
            });
            let server = hyper::server::conn::http1::Builder::new();
            let _ = server.serve_connection(TokioIo::new(stream), translate).await;
        });
    }
}

async fn translated<Q: DeserializeOwned, R: Reply>(
    request: http::Request<Incoming>,
    convert: fn(Q, &Asked<'_>) -> Result<Converted<R>, Error>,
    client: &Model,
    model: &str,
) -> http::Response<Full<Bytes>>
where
    R::Answer: Serialize + Name,
{
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let asked = Asked { id: "0123456789abcdef0123456789abcdef", now: 1, version: "2023-06-01" };
    let Converted { request, reply, .. } = convert(vendor::decode(&body).unwrap(), &asked).unwrap();
    let url = format!("http://{model}/v1beta/models/{}:generateContent", request.model);
    let question = http::Request::post(url).header("content-type", "application/json");
    let answer = client.request(question.body(printed(&request)).unwrap()).await.unwrap();
    let whole = answer.into_body().collect().await.unwrap().to_bytes();
    let whole: GenerateContentResponse = vendor::decode(&whole).unwrap();
    let answer = http::Response::builder().header("content-type", "application/json");
    answer.body(printed(&reply.answer(whole).unwrap())).unwrap()
}

fn printed<T: Serialize + Name>(message: &T) -> Full<Bytes> {
    let mut text = Vec::with_capacity(1024);
    vendor::encode(message, &mut text).unwrap();
    text.into()
}
