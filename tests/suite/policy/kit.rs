//! Calls to decide about, and rules, in few words.

use agena::agent::policy::{About, Decision, Mode, Place, Policy, Rule, RuleSpec, Subject, shell};
use agena::domain::tool::Kind;

pub const WORKSPACE: &str = "/home/me/project";
pub const SHELL: &str = "run_shell_command";

pub fn subject(tool: &str, kind: Kind, about: About) -> Subject {
    Subject { tool: tool.to_owned(), kind, server: None, mark: String::new(), about, always_asks: false }
}

pub fn command(text: &str) -> Subject {
    subject(SHELL, Kind::Execute, About::Command(shell::parse(text)))
}

pub fn edit(path: &str) -> Subject {
    subject("write_file", Kind::Edit, About::Edit(Place::of(path, WORKSPACE)))
}

pub fn read(path: &str) -> Subject {
    subject("read_file", Kind::Read, About::Paths(vec![Place::of(path, WORKSPACE)]))
}

pub fn fetch(hosts: &[&str]) -> Subject {
    subject("web_fetch", Kind::Fetch, About::Hosts(hosts.iter().map(|h| (*h).to_owned()).collect()))
}

pub fn mcp(server: &str, tool: &str, kind: Kind) -> Subject {
    let named = subject(&format!("mcp_{server}_{tool}"), kind, About::Nothing);
    Subject { server: Some(server.to_owned()), ..named }
}

pub fn ask_user() -> Subject {
    Subject { always_asks: true, ..subject("ask_user", Kind::Communicate, About::Questions) }
}

pub fn spec(tool: &str, decision: Decision) -> RuleSpec {
    RuleSpec {
        tool: tool.to_owned(),
        command: None,
        path: None,
        decision,
        reason: None,
        matches: vec![],
        not_matches: vec![],
    }
}

pub fn on_command(words: &str, decision: Decision) -> RuleSpec {
    RuleSpec { command: Some(words.to_owned()), ..spec(SHELL, decision) }
}

pub fn on_path(tool: &str, glob: &str, decision: Decision) -> RuleSpec {
    RuleSpec { path: Some(glob.to_owned()), ..spec(tool, decision) }
}

pub fn policy(mode: Mode, rules: impl IntoIterator<Item = RuleSpec>) -> Policy {
    let rules: Vec<Rule> = rules.into_iter().map(|spec| Rule::try_from(spec).unwrap()).collect();
    Policy { mode, rules: rules.into(), ..Policy::default() }
}
