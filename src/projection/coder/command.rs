//! Slash commands in the words of Gemini CLI's own server: how one is called, how they are listed, and what one came to.
//! Pure; the service calls it.

use serde_json::{Value, json};

use crate::proto::a2a::Task;
use crate::proto::devtool::{SlashCommand, SlashCommandArgument};

/// `{command: "memory show", args?: ["..."]}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Called {
    /// As the client wrote it.
    pub name: String,
    pub path: Vec<String>,
    pub args: String,
}

/// An error names the field and what is wrong with it.
pub fn read(body: &Value) -> Result<Called, (&'static str, &'static str)> {
    let Some(Value::String(name)) = body.get("command") else {
        return Err(("command", "must be a string"));
    };
    let args = match body.get("args") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(args)) => args.iter().map(Value::as_str).collect::<Option<_>>().unwrap_or_default(),
        Some(_) => return Err(("args", "must be a list of strings")),
    };
    if body.get("args").and_then(Value::as_array).is_some_and(|given| given.len() != args.len()) {
        return Err(("args", "must be a list of strings"));
    }
    let path: Vec<String> =
        name.trim().trim_start_matches('/').split_whitespace().map(str::to_owned).collect();
    match path.is_empty() {
        true => Err(("command", "must name a command")),
        false => Ok(Called { name: name.clone(), path, args: args.join(" ") }),
    }
}

pub fn list(commands: &[SlashCommand]) -> Value {
    json!({"commands": commands.iter().map(|command| listed(command, "")).collect::<Vec<_>>()})
}

/// Sub-commands have their whole name there.
fn listed(command: &SlashCommand, above: &str) -> Value {
    let name = format!("{above}{}", command.name);
    let below = format!("{name} ");
    json!({
        "name": name,
        "description": command.description,
        "arguments": command.arguments.iter().map(argument).collect::<Vec<_>>(),
        "subCommands": command.sub_commands.iter().map(|sub| listed(sub, &below)).collect::<Vec<_>>(),
    })
}

fn argument(argument: &SlashCommandArgument) -> Value {
    json!({"name": argument.name, "description": argument.description, "isRequired": argument.is_required})
}

/// What a command that has ended said.
pub fn result(name: &str, task: &Task) -> Value {
    let said = task.status.as_ref().and_then(|status| status.message.as_ref());
    json!({"name": name, "data": said.map(|message| message.text()).unwrap_or_default()})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_read_with_its_sub_command() {
        let called = read(&json!({"command": "memory add", "args": ["likes", "tea"]})).unwrap();
        assert_eq!((called.path.join("|"), called.args), ("memory|add".to_owned(), "likes tea".to_owned()));
        assert_eq!(read(&json!({"command": "/about"})).unwrap().path, ["about"]);
        for (body, field) in [
            (json!({}), "command"),
            (json!({"command": 1}), "command"),
            (json!({"command": " / "}), "command"),
            (json!({"command": "about", "args": "x"}), "args"),
            (json!({"command": "about", "args": [1]}), "args"),
        ] {
            assert_eq!(read(&body).unwrap_err().0, field, "{body}");
        }
    }

    #[test]
    fn sub_commands_are_listed_under_their_whole_name() {
        let sub = SlashCommand { name: "show".to_owned(), ..SlashCommand::default() };
        let memory =
            SlashCommand { name: "memory".to_owned(), sub_commands: vec![sub], ..SlashCommand::default() };
        let listed = list(&[memory]);
        assert_eq!(listed["commands"][0]["subCommands"][0]["name"], "memory show");
    }
}
