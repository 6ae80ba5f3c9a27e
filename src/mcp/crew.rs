//! The servers for one task: puts together what they offer, finds the one that a call is for, and turns its troubles into
//! the error of that one call. The agent calls it through `domain::mcp`.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;

use super::link::Trouble;
use super::names::PREFIX;
use super::offer::cut;
use super::own;
use super::server::Server;
use super::told;
use crate::domain::mcp::{CONNECT, Crew, LIST, Origin, Prompt, READ, ServerStatus};
use crate::domain::tool::{Arguments, Call, Declaration, Outcome, Plan, Run, ToolError, untrusted};
use crate::proto::devtool::confirmation_request::Details;
use crate::proto::devtool::{GenericDetails, McpDetails, ToolOutput, tool_output};

/// Characters of an address in a description.
const SHOWN: usize = 300;
const WORDS: usize = 500;
/// For the resources of a server to be listed.
const LISTED: Duration = Duration::from_secs(10);
/// For a prompt to be filled in.
const FILLED: Duration = Duration::from_secs(30);

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

    /// All at once, and who does not answer soon is told of.
    async fn list(&self, run: &Run) -> Result<Outcome, ToolError> {
        let only = own::text(&run.call.arguments, "server")?;
        let servers: Vec<&Arc<Server>> = match only {
            Some(name) => vec![self.named(name)?],
            None => self.servers.iter().filter(|server| server.is_approved()).collect(),
        };
        let lines = tokio::select! {
            biased;
            () = run.cancel.cancelled() => return Err(ToolError::Cancelled { so_far: String::new() }),
            lines = join_all(servers.into_iter().map(|server| resources(server))) => lines.concat(),
        };
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

/// A line for each resource of a server, or one that says why there is none.
async fn resources(server: &Server) -> Vec<String> {
    let name = &server.spec.name;
    let listing = async { server.link().await?.resources().await };
    let listed = tokio::time::timeout(LISTED, listing).await;
    let listed = listed.unwrap_or_else(|_| Err(format!("it did not answer within {} s", LISTED.as_secs())));
    let line = |resource: rmcp::model::Resource| {
        let what = resource.description.or(resource.title).unwrap_or_default();
        cut(&format!("{name}: {} {} {what}", resource.uri, resource.name), WORDS)
    };
    match listed {
        Ok(resources) => resources.into_iter().map(line).collect(),
        Err(error) => vec![format!("{name}: no resources, {error}")],
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
                // Whole: who agrees to a call agrees to all of it.
                let arguments = serde_json::Value::Object(tool.checked(&call.arguments)?);
                let description = format!("{}\n{arguments:#}", tool.declaration.title);
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
            LIST => self.list(&run).await,
            READ => self.read(&run).await,
            CONNECT => self.connect(&run).await,
            _ => self.call(run).await,
        }
    }

    async fn prompts(&self) -> Vec<Prompt> {
        let of = async |server: &Arc<Server>| {
            let listed = match server.soon().await {
                Some(link) => link.prompts().await,
                None => Vec::new(),
            };
            let offered = |prompt| told::offered(&server.spec.name, prompt);
            listed.into_iter().map(offered).collect::<Vec<_>>()
        };
        join_all(self.servers.iter().map(of)).await.into_iter().flatten().collect()
    }

    async fn prompt(&self, server: &str, name: &str, arguments: Arguments) -> Result<String, String> {
        let server = self.named(server).map_err(|error| error.to_string())?;
        let link = server.link().await?;
        link.prompt(name, arguments, server.spec.call.min(FILLED)).await.map(told::prompt)
    }

    fn status(&self) -> Vec<ServerStatus> {
        self.servers.iter().map(|server| server.status()).collect()
    }

    fn mark(&self, server: &str) -> String {
        self.named(server).map(|server| server.spec.way.mark()).unwrap_or_default()
    }

    fn reload(&self, server: Option<&str>) -> bool {
        let meant = |one: &&Arc<Server>| server.is_none_or(|name| one.spec.name == name);
        let meant: Vec<&Arc<Server>> = self.servers.iter().filter(meant).collect();
        meant.iter().for_each(|server| server.reload());
        server.is_none() || !meant.is_empty()
    }
}
