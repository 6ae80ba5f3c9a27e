//! The servers that the files of a workspace name: `.agena/mcp.json` and `.gemini/settings.json`, both with `mcpServers`.
//! Only asked for a workspace that the operator trusts. What cannot be read is told and left out; `trust` is not taken
//! from there, because the agent itself may write to these files.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::domain::mcp::{Origin, Spec, Way};
use crate::domain::secret::Secret;
use crate::sandbox::Root;

/// Directory and name; what stands in the first counts where both name a server.
const FILES: [(&str, &str); 2] = [(".agena", "mcp.json"), (".gemini", "settings.json")];
const LIMIT: u64 = 256 * 1024;
const SERVERS: usize = 32;
const SECONDS: std::ops::RangeInclusive<u64> = 1..=3600;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Written {
    command: Option<String>,
    args: Vec<String>,
    env: std::collections::BTreeMap<String, String>,
    cwd: Option<String>,
    url: Option<String>,
    http_url: Option<String>,
    headers: std::collections::BTreeMap<String, String>,
    /// In milliseconds.
    timeout: Option<u64>,
    include_tools: Vec<String>,
    exclude_tools: Vec<String>,
}

/// What the files say, as it is compared to see whether they changed.
pub(super) fn texts(root: &Root, workspace: &Path) -> Vec<String> {
    let Ok(below) = workspace.strip_prefix(root.path()) else { return Vec::new() };
    FILES
        .iter()
        .map(|(directory, name)| root.text(&below.join(directory), name, LIMIT).unwrap_or_default())
        .collect()
}

/// The servers that they name, and what is wrong with others.
pub(super) fn servers(texts: &[String], workspace: &Path, hosts: &[String]) -> (Vec<Spec>, Vec<String>) {
    let (mut specs, mut problems) = (Vec::<Spec>::new(), Vec::new());
    for (text, (directory, file)) in texts.iter().zip(FILES).filter(|(text, _)| !text.trim().is_empty()) {
        let named = match serde_json::from_str::<Value>(text) {
            Ok(mut value) => value.get_mut("mcpServers").map(Value::take).unwrap_or_default(),
            Err(error) => {
                problems.push(format!("{directory}/{file}: {error}"));
                continue;
            }
        };
        for (name, written) in named.as_object().into_iter().flatten() {
            let read = Written::deserialize(written)
                .map_err(|error| error.to_string())
                .and_then(|written| spec(name, written, workspace, hosts));
            match read {
                Ok(spec) if specs.len() < SERVERS && specs.iter().all(|known| known.name != spec.name) => {
                    specs.push(spec)
                }
                Ok(_) => {}
                Err(problem) => problems.push(format!("{directory}/{file}: mcpServers.{name}: {problem}")),
            }
        }
    }
    (specs, problems)
}

fn spec(name: &str, written: Written, workspace: &Path, hosts: &[String]) -> Result<Spec, String> {
    // Names there know no rule.
    let fits = |c: char| c.is_ascii_alphanumeric();
    let name: String = name.chars().map(|c| if fits(c) { c } else { '-' }).collect();
    let secret = |(name, value): (String, String)| (name, Secret::new(value));
    let way = match (written.command, written.http_url.or(written.url)) {
        (Some(program), None) => Way::Command {
            program,
            arguments: written.args,
            environment: written.env.into_iter().map(secret).collect(),
            directory: written.cwd.map(|cwd| inside(workspace, &cwd)).transpose()?,
        },
        (None, Some(url)) => {
            Way::Http { url, headers: written.headers.into_iter().map(secret).collect(), bearer: None }
        }
        _ => return Err("name a command or a url, and not both".to_owned()),
    };
    let mut spec = Spec::foreign(name, Origin::Workspace, way, hosts)?;
    if let Some(milliseconds) = written.timeout {
        spec.call = Duration::from_secs((milliseconds / 1000).clamp(*SECONDS.start(), *SECONDS.end()));
    }
    (spec.include, spec.exclude) = (written.include_tools, written.exclude_tools);
    Ok(spec)
}

/// By its words; where links lead is seen when it is started.
fn inside(workspace: &Path, cwd: &str) -> Result<PathBuf, String> {
    let path = workspace.join(cwd);
    let up = path.components().any(|part| part == Component::ParentDir);
    match !up && path.starts_with(workspace) {
        true => Ok(path),
        false => Err(format!("cwd: {cwd:?} lies outside of the workspace; name a directory in it")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_name_servers_and_never_trust() {
        let first = r#"{"mcpServers": {"a_b": {"command": "x", "trust": true, "timeout": 5000}}}"#;
        let second = r#"{"theme": 1, "mcpServers": {"a-b": {"command": "y"}, "web": {"httpUrl": "https://example.com/mcp", "includeTools": ["t"]},
            "in": {"url": "http://127.0.0.1:1"}, "odd": {}, "worse": 5, "up": {"command": "x", "cwd": "a/../.."},
            "away": {"command": "x", "cwd": "/etc"}, "load": {"command": "x", "env": {"LD_PRELOAD": "/x.so"}}}}"#;
        let texts = [first.to_owned(), second.to_owned()];
        let (specs, problems) = servers(&texts, Path::new("/w"), &[]);
        let names: Vec<(&str, String)> = specs.iter().map(|s| (s.name.as_str(), s.way.words())).collect();
        assert_eq!(names, [("a-b", "x".to_owned()), ("web", "https://example.com/mcp".to_owned())]);
        assert!(specs.iter().all(|spec| !spec.trusted && spec.confined && spec.origin == Origin::Workspace));
        assert_eq!((specs[0].call.as_secs(), specs[1].include.as_slice()), (5, &["t".to_owned()][..]));
        assert_eq!(problems.len(), 6, "{problems:?}");
        assert!(problems.iter().all(|problem| problem.starts_with(".gemini/settings.json: mcpServers.")));
        let (none, broken) = servers(&["{".to_owned(), String::new()], Path::new("/w"), &[]);
        assert!(none.is_empty() && broken.len() == 1);
    }
}
