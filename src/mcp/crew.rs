//! The servers for one task: puts together what they offer, finds the one that a call is for, and turns its troubles into
//! the error of that one call. The agent calls it through `domain::mcp`.

use std::sync::Arc;

use async_trait::async_trait;
use futures::future::join_all;

use super::link::Trouble;
use super::names::PREFIX;
use super::offer::cut;
use super::own::{self, CONNECT, LIST, READ};
use super::server::Server;
use super::told;
use crate::domain::mcp::{Crew, Origin, Prompt, PromptArgument, ServerStatus};
use crate::domain::tool::{Arguments, Call, Declaration, Outcome, Plan, Run, ToolError, untrusted};
use crate::proto::devtool::confirmation_request::Details;
use crate::proto::devtool::{GenericDetails, McpDetails, ToolOutput, tool_output};

/// Characters of arguments in a description.
const SHOWN: usize = 300;
const WORDS: usize = 500;

pub(super) struct Team {
    pub(super) servers: Vec<Arc<Server>>,
}

impl Team {
    fn named(&self, name: &str) -> Result<&Arc<Server>, ToolError> {
        self.servers.iter().find(|server| server.spec.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.servers.iter().map(|server| server.spec.name.as_str()).collect();
            let problem =
                format!("server: there is no MCP server {name:?}; these are there: {}", names.join(", "));
            ToolError::new("invalid_tool_params", cut(&problem, WORDS))
        })
    }

    /// Names of servers hold no `_`, so a name leads to one server only.
    fn of_tool(&self, tool: &str) -> Result<&Arc<Server>, ToolError> {
        let name = tool.strip_prefix(PREFIX).and_then(|rest| rest.split('_').next()).unwrap_or_default();
        self.named(name).map_err(|_| gone(tool))
    }

    fn waiting(&self) -> impl Iterator<Item = &Server> {
        self.servers.iter().map(|server| &**server).filter(|server| !server.is_approved())
    }

    async fn list(&self, arguments: &Arguments) -> Result<Outcome, ToolError> {
        let only = own::text(arguments, "server")?;
        let servers: Vec<&Arc<Server>> = match only {
            Some(name) => vec![self.named(name)?],
            None => self.servers.iter().filter(|server| server.is_approved()).collect(),
        };
        let mut lines = Vec::new();
        for server in servers {
            let name = &server.spec.name;
            let listed = match server.link().await {
                Ok(link) => link.resources().await,
                Err(error) => Err(error),
            };
            match listed {
                Ok(resources) => lines.extend(resources.into_iter().map(|resource| {
                    let what = resource.description.or(resource.title).unwrap_or_default();
                    cut(&format!("{name}: {} {} {what}", resource.uri, resource.name), WORDS)
                })),
                Err(error) => lines.push(format!("{name}: no resources, {error}")),
            }
        }
        Ok(said(if lines.is_empty() { "There are no resources.".to_owned() } else { lines.join("\n") }))
    }

    async fn read(&self, run: &Run) -> Result<Outcome, ToolError> {
        let (server, uri) =
            (own::needed(&run.call.arguments, "server")?, own::needed(&run.call.arguments, "uri")?);
        let server = self.named(server)?;
        let reading = async {
            let link = server.link().await?;
            link.read(uri, server.spec.call).await
        };
        tokio::select! {
            biased;
            () = run.cancel.cancelled() => Err(ToolError::Cancelled { so_far: String::new() }),
            read = reading => read.map(told::resource).map_err(|error| failed(server, &error)),
        }
    }

    async fn connect(&self, run: &Run) -> Result<Outcome, ToolError> {
        let server = self.named(own::needed(&run.call.arguments, "server")?)?;
        server.approve();
        let link = tokio::select! {
            biased;
            () = run.cancel.cancelled() => return Err(ToolError::Cancelled { so_far: String::new() }),
            link = server.link() => link.map_err(|error| failed(server, &error))?,
        };
        let offer = link.offer();
        let names: Vec<&str> = offer.tools.iter().map(|tool| tool.declaration.name.as_str()).collect();
        Ok(said(format!("Connected. Its tools: {}", names.join(", "))))
    }

    async fn call(&self, run: Run) -> Result<Outcome, ToolError> {
        let Run { call, output, cancel, .. } = run;
        let server = self.of_tool(&call.tool)?;
        let link = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(ToolError::Cancelled { so_far: String::new() }),
            link = server.link() => link.map_err(|error| failed(server, &error))?,
        };
        let offer = link.offer();
        let tool = offer.find(&call.tool).ok_or_else(|| gone(&call.tool))?;
        let arguments = tool.checked(&call.arguments)?;
        let called = link.call(&tool.raw, arguments, server.spec.call, output, &cancel).await;
        let outcome = match called {
            Ok(result) => told::outcome(result),
            Err(Trouble::Cancelled) => Err(ToolError::Cancelled { so_far: String::new() }),
            Err(Trouble::Failed(error)) => Err(failed(server, &error)),
        };
        let ended = match &outcome {
            Ok(_) => "ok",
            Err(ToolError::Cancelled { .. }) => "cancelled",
            Err(ToolError::Failed { .. }) => "error",
        };
        server.metrics().called(&server.spec.name, ended);
        outcome
    }
}

fn failed(server: &Server, error: &str) -> ToolError {
    ToolError::new("mcp_tool_error", format!("the MCP server {}: {error}", server.spec.name))
}

fn gone(tool: &str) -> ToolError {
    let tool = cut(tool, WORDS);
    ToolError::new(
        "tool_not_registered",
        format!("there is no tool \"{tool}\" (any more); use one that is declared"),
    )
}

fn said(text: String) -> Outcome {
    Outcome {
        told: untrusted(&text),
        media: Vec::new(),
        shown: ToolOutput { result: Some(tool_output::Result::Text(text)) },
    }
}

fn mcp_details(server: &Server, tool: &str) -> Details {
    Details::McpDetails(McpDetails { server_name: server.spec.name.clone(), tool_name: tool.to_owned() })
}

fn generic(description: String) -> Details {
    Details::GenericDetails(GenericDetails { description, ..GenericDetails::default() })
}

#[async_trait]
impl Crew for Team {
    fn owns(&self, tool: &str) -> bool {
        tool.starts_with(PREFIX) || [LIST, READ, CONNECT].contains(&tool)
    }

    async fn declarations(&self) -> Vec<Declaration> {
        let links = join_all(self.servers.iter().map(Server::soon)).await;
        let mut all: Vec<Declaration> = links
            .iter()
            .flatten()
            .flat_map(|link| {
                link.offer().tools.iter().map(|tool| tool.declaration.clone()).collect::<Vec<_>>()
            })
            .collect();
        if links.iter().any(Option::is_some) {
            all.extend(own::resources());
        }
        if self.waiting().next().is_some() {
            all.push(own::connect(self.waiting()));
        }
        all
    }

    async fn plan(&self, call: &Call) -> Result<Plan, ToolError> {
        let (description, details, always_asks) = match call.tool.as_str() {
            LIST => {
                let words = "List the resources of MCP servers".to_owned();
                (words.clone(), generic(words), false)
            }
            READ => {
                let server = self.named(own::needed(&call.arguments, "server")?)?;
                let uri = cut(own::needed(&call.arguments, "uri")?, SHOWN);
                (format!("Read {uri} from {}", server.spec.name), mcp_details(server, READ), false)
            }
            CONNECT => {
                let server = self.named(own::needed(&call.arguments, "server")?)?;
                if server.spec.origin != Origin::Client {
                    return Err(ToolError::new("invalid_tool_params", "server: it needs no agreement"));
                }
                let question = own::question(server);
                (question.clone(), generic(question), true)
            }
            _ => {
                let server = self.of_tool(&call.tool)?;
                let link = server.link().await.map_err(|error| failed(server, &error))?;
                let offer = link.offer();
                let tool = offer.find(&call.tool).ok_or_else(|| gone(&call.tool))?;
                let arguments = serde_json::Value::Object(tool.checked(&call.arguments)?).to_string();
                let description = format!("{}: {}", tool.declaration.title, cut(&arguments, SHOWN));
                (description, mcp_details(server, &tool.raw), false)
            }
        };
        Ok(Plan { description, details, always_asks, paths: Vec::new() })
    }

    async fn run(&self, run: Run) -> Result<Outcome, ToolError> {
        if run.cancel.is_cancelled() {
            return Err(ToolError::Cancelled { so_far: String::new() });
        }
        match run.call.tool.as_str() {
            LIST => self.list(&run.call.arguments).await,
            READ => self.read(&run).await,
            CONNECT => self.connect(&run).await,
            _ => self.call(run).await,
        }
    }

    async fn prompts(&self) -> Vec<Prompt> {
        let mut all = Vec::new();
        for server in &self.servers {
            let Some(link) = server.soon().await else { continue };
            for prompt in link.prompts().await.unwrap_or_default() {
                let arguments =
                    prompt.arguments.unwrap_or_default().into_iter().map(|argument| PromptArgument {
                        name: cut(&argument.name, WORDS),
                        description: cut(argument.description.as_deref().unwrap_or_default(), WORDS),
                        required: argument.required.unwrap_or(false),
                    });
                all.push(Prompt {
                    server: server.spec.name.clone(),
                    name: cut(&prompt.name, WORDS),
                    description: cut(prompt.description.as_deref().unwrap_or_default(), WORDS),
                    arguments: arguments.collect(),
                });
            }
        }
        all
    }

    async fn prompt(&self, server: &str, name: &str, arguments: Arguments) -> Result<String, String> {
        let server = self.named(server).map_err(|error| error.to_string())?;
        let link = server.link().await?;
        link.prompt(name, arguments, server.spec.call).await.map(told::prompt)
    }

    fn status(&self) -> Vec<ServerStatus> {
        self.servers.iter().map(|server| server.status()).collect()
    }

    fn reload(&self, server: Option<&str>) -> bool {
        let meant = |one: &&Arc<Server>| server.is_none_or(|name| one.spec.name == name);
        let meant: Vec<&Arc<Server>> = self.servers.iter().filter(meant).collect();
        meant.iter().for_each(|server| server.reload());
        server.is_none() || !meant.is_empty()
    }
}
