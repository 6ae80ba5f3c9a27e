//! The models of a server, in the hub's words. Pure.

use serde_json::Value;

use crate::proto::gemini::Model;
use crate::proto::json::BadJson;
use crate::proto::openai::{self, ModelList};
use crate::proto::vendor::decode;

pub fn models(body: &[u8]) -> Result<Vec<Model>, BadJson> {
    let list: ModelList = decode(body)?;
    Ok(list.data.into_iter().filter(|model| !model.id.is_empty()).map(model).collect())
}

fn model(model: openai::Model) -> Model {
    let limit = limit(&model).unwrap_or_default();
    Model {
        input_token_limit: i32::try_from(limit).unwrap_or(i32::MAX),
        display_name: model.id.clone(),
        name: model.id,
        ..Model::default()
    }
}

/// How much fits, if the server has a name for it: vLLM, gateways, Groq, llama.cpp.
fn limit(model: &openai::Model) -> Option<i64> {
    let meta = || {
        let meta: Value = serde_json::from_str(&model.meta).ok()?;
        meta.get("n_ctx").or_else(|| meta.get("n_ctx_train"))?.as_i64()
    };
    let said = model.max_model_len.or(model.context_length).or(model.context_window).or_else(meta);
    said.filter(|limit| *limit > 0)
}
