//! `ask_user`: questions whose answers are what the tool is for. It always asks; what comes back is told to the model.

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::json;

use super::shape::{Job, Place, Tool, declaration, read, text};
use crate::domain::tool::{Arguments, Declaration, Kind, Outcome, Plan, ToolError};
use crate::proto::devtool::confirmation_request::Details;
use crate::proto::devtool::{Choice, GenericDetails, Question};

#[derive(Deserialize)]
struct Asked {
    questions: Vec<One>,
}

#[derive(Deserialize)]
struct One {
    question: String,
    header: String,
    #[serde(rename = "type")]
    kind: QuestionKind,
    #[serde(default)]
    options: Vec<Offered>,
    #[serde(default, rename = "multiSelect")]
    multi_select: bool,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum QuestionKind {
    Choice,
    Text,
    YesNo,
}

#[derive(Deserialize)]
struct Offered {
    label: String,
    #[serde(default)]
    description: String,
}

pub(super) struct AskUser;

#[async_trait]
impl Tool for AskUser {
    fn declaration(&self) -> Declaration {
        let option = json!({
            "type": "object",
            "properties": {"label": {"type": "string", "minLength": 1}, "description": {"type": "string"}},
            "required": ["label"],
        });
        let question = json!({
            "type": "object",
            "properties": {
                "question": {"type": "string", "minLength": 1},
                "header": {"type": "string", "description": "Two or three words for a title."},
                "type": {"type": "string", "enum": ["choice", "text", "yesno"]},
                "options": {
                    "type": "array", "items": option, "minItems": 2, "maxItems": 4,
                    "description": "For a choice.",
                },
                "multiSelect": {"type": "boolean", "description": "Several options may be chosen."},
                "placeholder": {"type": "string"},
            },
            "required": ["question", "header", "type"],
        });
        declaration(
            "ask_user",
            "Ask User",
            Kind::Communicate,
            "Asks the user one to four questions and waits for the answers. Use it when the work depends on a decision \
             that only the user can make.",
            json!({
                "type": "object",
                "properties": {"questions": {"type": "array", "items": question, "minItems": 1, "maxItems": 4}},
                "required": ["questions"],
            }),
        )
    }

    async fn plan(&self, _: &Place, arguments: &Arguments) -> Result<Plan, ToolError> {
        let asked = checked(arguments)?;
        let description =
            asked.questions.iter().map(|one| one.question.as_str()).collect::<Vec<_>>().join(" ");
        let questions = asked.questions.into_iter().map(question).collect();
        let details = GenericDetails { description: description.clone(), questions };
        Ok(Plan { description, details: Details::GenericDetails(details), always_asks: true, paths: vec![] })
    }

    async fn run(&self, _: &Place, job: Job) -> Result<Outcome, ToolError> {
        let asked = checked(&job.arguments)?;
        let answers = &job.approval.answers;
        if answers.iter().all(|answer| answer.trim().is_empty()) {
            return Ok(text("The user agreed to go on without answering.".to_owned(), "No answer"));
        }
        let told: BTreeMap<String, &String> =
            answers.iter().enumerate().map(|(at, a)| (at.to_string(), a)).collect();
        let shown: Vec<String> = asked
            .questions
            .iter()
            .zip(answers)
            .map(|(one, answer)| format!("{} → {answer}", one.header))
            .collect();
        Ok(text(json!({"answers": told}).to_string(), format!("User answered:\n{}", shown.join("\n"))))
    }
}

fn checked(arguments: &Arguments) -> Result<Asked, ToolError> {
    let asked: Asked = read(arguments)?;
    let empty =
        asked.questions.iter().position(|one| one.kind == QuestionKind::Choice && one.options.is_empty());
    match empty {
        Some(at) => {
            let message = format!("questions.{at}.options: a choice needs two to four of them");
            Err(ToolError::new("invalid_tool_params", message))
        }
        None => Ok(asked),
    }
}

fn question(one: One) -> Question {
    let choice = |label: &str| Choice { label: label.to_owned(), description: String::new() };
    let choices = match one.kind {
        QuestionKind::Text => Vec::new(),
        QuestionKind::YesNo => vec![choice("Yes"), choice("No")],
        QuestionKind::Choice => {
            one.options.into_iter().map(|o| Choice { label: o.label, description: o.description }).collect()
        }
    };
    let several = one.multi_select && one.kind == QuestionKind::Choice;
    Question { header: one.header, question: one.question, choices, several }
}
