//! What a call came to, in a form that is the same for every binding.

use agena::domain::error::{code_name, details};
use agena::proto::json;
use agena::proto::schema::Schema;
use serde_json::{Value, json};
use tonic::Status;

/// The answers of a call in order, and how it ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub answers: Vec<Value>,
    pub error: Option<Value>,
}

impl Outcome {
    pub fn answer(value: Value) -> Self {
        Self { answers: vec![value], error: None }
    }

    pub fn of_message<T: Schema>(message: &T) -> Self {
        Self::answer(printed(message))
    }

    pub fn of_status(status: &Status) -> Self {
        let details = details(status).map(|d| d.details).unwrap_or_default();
        let details: Vec<Value> = details.iter().map(|any| serde_json::to_value(any).unwrap()).collect();
        Self::failed(code_name(status.code()), status.message(), details)
    }

    /// From the `error` object of an HTTP answer or event.
    pub fn of_error(body: &Value) -> Self {
        let error = &body["error"];
        let details = error["details"].as_array().cloned().unwrap_or_default();
        Self::failed(error["status"].as_str().unwrap(), error["message"].as_str().unwrap(), details)
    }

    fn failed(status: &str, message: &str, details: Vec<Value>) -> Self {
        let error = json!({"status": status, "message": message, "details": details});
        Self { answers: Vec::new(), error: Some(error) }
    }
}

pub fn printed<T: Schema>(message: &T) -> Value {
    let mut out = Vec::new();
    json::encode(message, &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}
