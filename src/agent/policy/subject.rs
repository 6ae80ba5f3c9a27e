//! What is decided about: one call of one tool, reduced to what rules can speak of. Built by the scheduler from what
//! the tool has planned. Must not know rules, modes or options.

use serde_json::Value;

use super::place::Place;
use super::shell::{self, Parsed};
use crate::domain::tool::{Arguments, Call, Declaration, Extent, Kind, Plan};
use crate::proto::devtool::confirmation_request::Details;

/// One call of one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    pub tool: String,
    pub kind: Kind,
    /// The MCP server that the tool belongs to.
    pub server: Option<String>,
    /// What tells the server from another of its name; empty where there is none.
    pub mark: String,
    pub about: About,
    /// The answer is what the tool is for.
    pub always_asks: bool,
}

/// What a call is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    Command(Parsed),
    /// The one file that is written, with its content shown.
    Edit(Place),
    /// Files and directories that the arguments name.
    Paths(Vec<Place>),
    /// Files and directories that are looked at, with symlinks followed, and how much of each.
    Reach(Vec<(Place, Extent)>),
    /// Hosts that are asked for something, with their port where it is not the usual one. None where they cannot
    /// be told.
    Hosts(Vec<String>),
    Questions,
    Nothing,
}

/// Arguments that hold a path, or a list of them.
const PATHS: &[&str] = &["file_path", "absolute_path", "path", "dir_path", "include", "paths"];

impl Subject {
    /// `workspace` is an absolute path. What the plan shows counts more than the arguments, for it is what runs.
    pub fn new(declaration: &Declaration, call: &Call, plan: &Plan, workspace: &str) -> Self {
        let shown = match &plan.details {
            Details::McpDetails(mcp) => Some(mcp.server_name.clone()),
            _ => None,
        };
        let server = declaration.server.clone().or(shown);
        // What a server says that its own tool is about is not believed.
        let about = match &server {
            Some(_) => About::Nothing,
            None => about(declaration.kind, call, plan, workspace),
        };
        Self {
            tool: declaration.name.clone(),
            kind: declaration.kind,
            server,
            mark: String::new(),
            about,
            always_asks: plan.always_asks,
        }
    }

    /// With what tells its server from another of its name.
    #[must_use]
    pub fn marked(self, mark: String) -> Self {
        Self { mark, ..self }
    }

    /// A name of the server's as a rule keeps it: what was allowed for one command is not allowed for another.
    pub fn kept(&self, name: &str) -> String {
        match self.mark.is_empty() {
            true => name.to_owned(),
            false => format!("{name} ({})", self.mark),
        }
    }

    /// Reads, and nothing else, and is no stranger's word for it: what an MCP server says of its own tools is not
    /// believed. Nor is a kind that does not fit what the plan shows.
    pub fn is_free_to_read(&self) -> bool {
        self.only_reads() && self.server.is_none()
    }

    /// Says of itself that it changes nothing.
    pub fn only_reads(&self) -> bool {
        self.kind.is_read_only() && !matches!(self.about, About::Command(_) | About::Edit(_))
    }
}

fn about(kind: Kind, call: &Call, plan: &Plan, workspace: &str) -> About {
    match &plan.details {
        Details::ExecuteDetails(execute) => About::Command(shell::parse(&execute.command)),
        Details::FileEditDetails(diff) => About::Edit(Place::of(&diff.file_path, workspace)),
        Details::GenericDetails(generic) if !generic.questions.is_empty() => About::Questions,
        Details::GenericDetails(_) if !plan.paths.is_empty() => {
            // What a path was called counts beside what it stands for.
            let named = named(&call.arguments).map(|path| (Place::of(path, workspace), Extent::Itself));
            let found = plan.paths.iter().map(|reach| (Place::of(&reach.path, workspace), reach.extent));
            About::Reach(found.chain(named).collect())
        }
        Details::GenericDetails(_) | Details::McpDetails(_) => {
            about_arguments(kind, &call.arguments, workspace)
        }
    }
}

fn about_arguments(kind: Kind, arguments: &Arguments, workspace: &str) -> About {
    if kind == Kind::Fetch {
        return About::Hosts(hosts(arguments).unwrap_or_default());
    }
    let places: Vec<Place> = named(arguments).map(|path| Place::of(path, workspace)).collect();
    if places.is_empty() { About::Nothing } else { About::Paths(places) }
}

fn named(arguments: &Arguments) -> impl Iterator<Item = &str> {
    PATHS.iter().filter_map(|key| arguments.get(*key)).flat_map(texts)
}

fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
        value => value.as_str().into_iter().collect(),
    }
}

/// All hosts that the arguments name, or none if there is the least doubt about one.
fn hosts(arguments: &Arguments) -> Option<Vec<String>> {
    let texts: Vec<&str> =
        ["url", "urls", "prompt"].iter().filter_map(|key| arguments.get(*key)).flat_map(texts).collect();
    let words = texts.iter().flat_map(|text| text.split_whitespace());
    let mut found = words.filter(|word| word.contains(':')).map(host).collect::<Option<Vec<_>>>()?;
    found.sort();
    found.dedup();
    Some(found)
}

/// Only of a URL that every reader takes for the same: no user, no escape, no second URL inside.
fn host(url: &str) -> Option<String> {
    let (secure, rest) = [("https://", true), ("http://", false)]
        .into_iter()
        .find_map(|(scheme, secure)| url.strip_prefix(scheme).map(|rest| (secure, rest)))?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let (name, port) = authority.split_once(':').unwrap_or((authority, ""));
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    let plain = !name.is_empty() && name.chars().all(is_name) && port.chars().all(|c| c.is_ascii_digit());
    if !plain || rest.contains("://") || rest.contains('\\') || !rest.is_ascii() {
        return None;
    }
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let usual = port.is_empty() || port == if secure { "443" } else { "80" };
    Some(if usual { name } else { format!("{name}:{port}") })
}
