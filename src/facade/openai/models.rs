//! The list of models in OpenAI's words. How much fits has no member of the vendor's own; clients look for it under
//! several names.

use crate::proto::gemini;
use crate::proto::openai::{Model, ModelList};

pub fn list(models: Vec<gemini::Model>) -> ModelList {
    ModelList { object: "list".to_owned(), data: models.into_iter().map(model).collect() }
}

pub fn model(model: gemini::Model) -> Model {
    let known = |limit: i32| (limit > 0).then_some(i64::from(limit));
    Model {
        id: model.name,
        object: "model".to_owned(),
        owned_by: "agena".to_owned(),
        context_length: known(model.input_token_limit),
        context_window: known(model.input_token_limit),
        max_output_tokens: known(model.output_token_limit),
        ..Model::default()
    }
}
