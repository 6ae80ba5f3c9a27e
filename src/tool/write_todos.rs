//! `write_todos`: the agent's list of things to do, for the user to see.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::shape::{Job, Place, Tool, declaration, plain_plan, read, structured};
use crate::domain::tool::{Arguments, Declaration, Kind, Outcome, Plan, ToolError};

const STATES: &[&str] = &["pending", "in_progress", "completed", "cancelled", "blocked"];

#[derive(Deserialize)]
struct List {
    todos: Vec<Todo>,
}

#[derive(Deserialize, Serialize)]
struct Todo {
    description: String,
    status: String,
}

pub(super) struct WriteTodos;

#[async_trait]
impl Tool for WriteTodos {
    fn declaration(&self) -> Declaration {
        declaration(
            "write_todos",
            "WriteTodos",
            Kind::Think,
            "Keeps the list of steps of a longer piece of work. Each call replaces the whole list. At most one step is \
             in_progress.",
            json!({
                "type": "object",
                "properties": {
                    "todos": {
                        "type": "array",
                        "description": "The whole list, in its order.",
                        "items": {
                            "type": "object",
                            "properties": {
                                "description": {"type": "string", "minLength": 1},
                                "status": {"type": "string", "enum": STATES},
                            },
                            "required": ["description", "status"],
                        },
                    },
                },
                "required": ["todos"],
            }),
        )
    }

    async fn plan(&self, _: &Place, arguments: &Arguments) -> Result<Plan, ToolError> {
        let list = checked(arguments)?;
        Ok(plain_plan(format!("Keep a list of {} thing(s) to do", list.todos.len())))
    }

    async fn run(&self, _: &Place, job: Job) -> Result<Outcome, ToolError> {
        let list = checked(&job.arguments)?;
        let lines: Vec<String> = list
            .todos
            .iter()
            .enumerate()
            .map(|(at, todo)| format!("{}. [{}] {}", at + 1, todo.status, todo.description))
            .collect();
        let told = match lines.is_empty() {
            true => "The list is empty now.".to_owned(),
            false => format!("The list is now:\n{}", lines.join("\n")),
        };
        Ok(structured(told, json!({"todos": list.todos})))
    }
}

fn checked(arguments: &Arguments) -> Result<List, ToolError> {
    let list: List = read(arguments)?;
    if list.todos.iter().filter(|todo| todo.status == "in_progress").count() > 1 {
        return Err(ToolError::new("invalid_tool_params", "todos: only one of them can be in_progress"));
    }
    Ok(list)
}
