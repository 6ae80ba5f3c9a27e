//! Models on the wire: the real clients against a server that answers as it is told.

mod binary;
mod code_assist;
mod continuation;
mod credentials;
mod faults_of_scripts;
mod fit;
mod gemini;
mod life;
mod openai;
mod outage;
mod patience;
mod record;
mod relay;
mod routes;
mod vertex;

use std::sync::Arc;
use std::time::Duration;

use agena::domain::model::{Backend, ModelError};
use agena::domain::secret::Secret;
use agena::model::google::{Api, Google};
use agena::model::http::{Deadlines, Http, Proxy};
use agena::proto::gemini::{GenerateContentRequest, GenerateContentResponse};
use agena::proto::vendor;
use futures::StreamExt;
use serde_json::{Value, json};

use crate::kit::soon;

const KEY: &str = "the-key-of-the-model";

/// What a second is to a server is a tenth of it to these.
fn deadlines() -> Deadlines {
    let short = Duration::from_millis(300);
    Deadlines { connect: short, first_byte: short, idle: short, total: Duration::from_secs(5) }
}

fn api(url: &str) -> Google<Api> {
    api_with(url, Http::new(deadlines(), &Proxy::None).unwrap())
}

fn api_with(url: &str, http: Http) -> Google<Api> {
    let site = Api {
        base_url: url.to_owned(),
        version: "v1beta".to_owned(),
        key: Some(Secret::new(KEY)),
        bearer: false,
        origin: "the key from GEMINI_API_KEY".to_owned(),
    };
    Google::new(site, http)
}

fn request(text: &str) -> GenerateContentRequest {
    let request =
        json!({"model": "gemini-3-pro-preview", "contents": [{"role": "user", "parts": [{"text": text}]}]});
    vendor::decode(request.to_string().as_bytes()).unwrap()
}

fn printed(chunk: &GenerateContentResponse) -> Value {
    let mut out = Vec::new();
    vendor::encode(chunk, &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

/// All chunks, and the error that ended them.
async fn heard(backend: &dyn Backend, request: GenerateContentRequest) -> (Vec<Value>, Option<ModelError>) {
    let mut chunks = backend.stream(request);
    let (mut told, mut error) = (Vec::new(), None);
    while let Some(chunk) = soon(chunks.next()).await {
        match chunk {
            Ok(chunk) => told.push(printed(&chunk)),
            Err(failed) => error = error.or(Some(failed)),
        }
    }
    (told, error)
}

/// The words of all chunks, without thoughts.
fn words(chunks: &[Value]) -> String {
    let parts = chunks
        .iter()
        .flat_map(|chunk| chunk["candidates"][0]["content"]["parts"].as_array().cloned().unwrap_or_default());
    parts
        .filter(|part| part["thought"] != true)
        .filter_map(|part| part["text"].as_str().map(str::to_owned))
        .collect()
}

fn shared(backend: impl Backend) -> Arc<dyn Backend> {
    Arc::new(backend)
}
