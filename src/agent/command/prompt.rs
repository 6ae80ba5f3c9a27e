//! A prompt of an MCP server as a command: its arguments come as `--name="value"` or in their order, the server fills
//! them in, and the model works on what comes back.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;

use super::{Desk, Does, Line, Slash, argument, described, with};
use crate::agent::runner::Failed;
use crate::agent::work::Done;
use crate::domain::mcp::{Crew, Prompt};
use crate::domain::tool::Arguments;
use crate::proto::devtool::SlashCommand;

/// Of a description that is shown.
const SHOWN: usize = 100;
/// Of a name, in characters.
const LONGEST: usize = 50;

pub(super) struct Prompted {
    name: String,
    prompt: Prompt,
}

/// Commands for the prompts that there are now. Who has a name already keeps it, and of several prompts with one name
/// each is called by its server.
pub(super) async fn prompts(servers: &Arc<dyn Crew>, taken: impl Fn(&str) -> bool) -> Vec<Box<dyn Slash>> {
    let prompts = servers.prompts().await;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for prompt in &prompts {
        *counts.entry(cleaned(&prompt.name)).or_default() += 1;
    }
    let named = |prompt: Prompt| {
        let bare = cleaned(&prompt.name);
        let is_free = counts.get(&bare) == Some(&1) && !taken(&bare);
        let name = if is_free { bare } else { format!("{}.{bare}", prompt.server) };
        Box::new(Prompted { name, prompt }) as Box<dyn Slash>
    };
    prompts.into_iter().filter(|prompt| !prompt.name.is_empty()).map(named).collect()
}

fn cleaned(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '_' };
    name.chars().take(LONGEST).map(plain).collect()
}

#[async_trait]
impl Slash for Prompted {
    fn about(&self) -> SlashCommand {
        let shown = |text: &str| text.chars().take(SHOWN).collect::<String>();
        let arguments = self.prompt.arguments.iter();
        let arguments = arguments.map(|one| argument(&one.name, &shown(&one.description), one.required));
        let description = match self.prompt.description.is_empty() {
            true => format!("A prompt of the MCP server {}.", self.prompt.server),
            false => shown(&self.prompt.description),
        };
        with(described(&self.name, &description), arguments.collect())
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    /// Also by its server and its own name.
    fn is_called(&self, name: &str) -> bool {
        let Prompt { server, name: own, .. } = &self.prompt;
        self.name == name
            || name.strip_prefix(server.as_str()).and_then(|rest| rest.strip_prefix([':', '.'])) == Some(own)
    }

    fn check(&self, args: &str) -> Result<(), String> {
        arguments(&self.prompt, args).map(drop).map_err(|problem| format!("/{}: {problem}", self.name))
    }

    async fn run(&self, desk: &Desk, line: &Line, _done: &[Done]) -> Result<Does, Failed> {
        let given = match arguments(&self.prompt, &line.args) {
            Ok(given) => given,
            Err(problem) => return Ok(Does::Fails(format!("/{}: {problem}", self.name))),
        };
        let Prompt { server, name, .. } = &self.prompt;
        Ok(match desk.servers.prompt(server, name, given).await {
            Ok(text) if text.is_empty() => {
                Does::Fails(format!("/{}: the server {server} has nothing to say", self.name))
            }
            Ok(text) => Does::Prompts(text),
            Err(problem) => Does::Fails(format!("/{}: the server {server}: {problem}", self.name)),
        })
    }
}

/// Words without a name fill the arguments that are left, in their order; the last of them takes all that remain.
fn arguments(prompt: &Prompt, args: &str) -> Result<Arguments, String> {
    let names =
        || prompt.arguments.iter().map(|one| format!("--{}", one.name)).collect::<Vec<_>>().join(", ");
    let (mut given, mut bare) = (Arguments::new(), Vec::new());
    for (name, word) in words(args)? {
        match name {
            None => bare.push(word),
            Some(name) if prompt.arguments.iter().any(|one| one.name == name) => {
                given.insert(name, word.into());
            }
            Some(name) => return Err(format!("there is no argument --{name}; it takes {}", names())),
        }
    }
    let open: Vec<&str> = prompt
        .arguments
        .iter()
        .map(|one| one.name.as_str())
        .filter(|name| !given.contains_key(*name))
        .collect();
    if open.is_empty() && !bare.is_empty() {
        return Err(format!("{:?} is one argument too many", bare.join(" ")));
    }
    for (index, name) in open.iter().enumerate().take(bare.len()) {
        let value = if index + 1 == open.len() { bare[index..].join(" ") } else { bare[index].clone() };
        given.insert((*name).to_owned(), value.into());
    }
    match prompt.arguments.iter().find(|one| one.required && !given.contains_key(&one.name)) {
        Some(missing) => Err(format!("the argument --{0} is missing; add --{0}=\"...\"", missing.name)),
        None => Ok(given),
    }
}

/// Words, each with the name before its `=` if it has one. In double quotes stands anything; `\` takes the next as it is.
fn words(args: &str) -> Result<Vec<(Option<String>, String)>, String> {
    let mut found = Vec::new();
    let mut rest = args.trim_start();
    while !rest.is_empty() {
        let end = rest.find(|c: char| c.is_whitespace() || c == '"' || c == '=').unwrap_or(rest.len());
        let name = rest.strip_prefix("--").filter(|_| rest[end..].starts_with('=') && end > 2);
        let name = name.map(|_| rest[2..end].to_owned());
        let value = if name.is_some() { &rest[end + 1..] } else { rest };
        let (word, behind) = word(value)?;
        found.push((name, word));
        rest = behind.trim_start();
    }
    Ok(found)
}

fn word(text: &str) -> Result<(String, &str), String> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        return Ok((text[..end].to_owned(), &text[end..]));
    };
    let (mut word, mut characters) = (String::new(), quoted.char_indices());
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Ok((word, &quoted[at + 1..])),
            '\\' => word.extend(characters.next().map(|(_, next)| next)),
            other => word.push(other),
        }
    }
    Err("a double quote is not closed".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::mcp::PromptArgument;

    #[test]
    fn arguments_come_by_name_or_in_their_order() {
        let one =
            |name: &str, required| PromptArgument { name: name.into(), description: String::new(), required };
        let prompt = Prompt {
            server: "s".into(),
            name: "p".into(),
            description: String::new(),
            arguments: vec![one("city", true), one("state", false)],
        };
        for (args, expected) in [
            ("Rome", Ok(r#"{"city":"Rome"}"#)),
            ("Rome Lazio and more", Ok(r#"{"city":"Rome","state":"Lazio and more"}"#)),
            (r#"--city="New York" NY"#, Ok(r#"{"city":"New York","state":"NY"}"#)),
            (r#"--state=NY "New \"York\"""#, Ok(r#"{"city":"New \"York\"","state":"NY"}"#)),
            ("a=b c=d", Ok(r#"{"city":"a=b","state":"c=d"}"#)),
            ("", Err("the argument --city is missing")),
            ("--state=x", Err("the argument --city is missing")),
            ("--town=x", Err("there is no argument --town; it takes --city, --state")),
            ("--city=a --state=b c", Err("\"c\" is one argument too many")),
            ("\"Rome", Err("a double quote")),
        ] {
            match (arguments(&prompt, args), expected) {
                (Ok(given), Ok(expected)) => {
                    assert_eq!(serde_json::Value::Object(given).to_string(), expected)
                }
                (Err(problem), Err(begins)) => assert!(problem.starts_with(begins), "{problem}"),
                (other, _) => panic!("{args}: {other:?}"),
            }
        }
    }
}
