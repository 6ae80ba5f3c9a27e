//! The MCP servers of the operator, and what of them is refused.

use std::path::PathBuf;

use super::super::Command;
use super::{FILE, Fake, refusal, run, settings};
use crate::domain::mcp::Way;

#[test]
fn servers_are_read_with_their_defaults() {
    let none = settings(&[], &[], "").mcp;
    assert!(none.servers.is_empty() && !none.from_clients && none.from_workspaces);
    let file = "[mcp]\nfrom_clients = true\nallow_hosts = ['127.0.0.1']\n\
        [mcp.servers.files]\ncommand = 'npx'\nargs = ['-y']\nenv = { A = 's3cret' }\ncwd = 'here'\n\
        [mcp.servers.web]\nurl = 'http://127.0.0.1:7/mcp'\nheaders = { x = 's3cret' }\nbearer_token = 's3cret'\n\
        timeout_seconds = 5\nconnect_seconds = 2\ntrust = true\ninclude_tools = ['a']\nexclude_tools = ['b']\nconfined = false\n";
    let mcp = settings(&[], &[], file).mcp;
    assert!(mcp.from_clients && !format!("{mcp:?}").contains("s3cret"));
    let (files, web) = (&mcp.servers[0], &mcp.servers[1]);
    assert_eq!(
        (files.call.as_secs(), files.connect.as_secs(), files.trusted, files.confined),
        (600, 30, false, true)
    );
    let Way::Command { directory, environment, .. } = &files.way else { panic!("{files:?}") };
    assert_eq!(*directory, Some(PathBuf::from("/home/u/.config/agena/here")), "relative to the file");
    assert_eq!(environment[0].1.expose(), "s3cret");
    assert_eq!((web.call.as_secs(), web.connect.as_secs(), web.trusted, web.confined), (5, 2, true, false));
    assert!(matches!(&web.way, Way::Http { bearer: Some(token), .. } if token.expose() == "s3cret"));
}

#[test]
fn a_token_can_lie_in_a_file_which_is_then_the_servers_own() {
    let disk = Fake::with(&[
        (FILE, "[mcp.servers.web]\nurl = 'https://a.example'\nbearer_token_file = 'token'\n"),
        ("/home/u/.config/agena/token", "s3cret\n"),
    ]);
    let Ok(Command::Serve(settings)) = run(&[], &[], &disk) else { panic!("refused") };
    assert!(
        matches!(&settings.mcp.servers[0].way, Way::Http { bearer: Some(t), .. } if t.expose() == "s3cret")
    );
    assert!(settings.own_files.contains(&PathBuf::from("/home/u/.config/agena/token")));
}

#[test]
fn a_changed_secret_is_seen_though_it_is_not_shown() {
    let with = |token: &str| {
        settings(&[], &[], &format!("[mcp.servers.web]\nurl = 'https://a.example'\nbearer_token = '{token}'"))
    };
    assert!(with("a").needs_restart(&with("a")).is_empty());
    assert_eq!(with("a").needs_restart(&with("b")), ["mcp"]);
    assert_eq!(settings(&[], &[], "").needs_restart(&with("b")), ["mcp"]);
}

#[test]
fn what_is_wrong_is_named() {
    for (file, expected) in [
        ("[mcp.servers.a]", "mcp.servers.a: it has neither command nor url; add one of them"),
        (
            "[mcp.servers.a]\ncommand = 'x'\nurl = 'https://b.example'",
            "mcp.servers.a: it has both command and url; keep one of them",
        ),
        (
            "[mcp.servers.a]\ncommand = 'x'\nbearer_token = 't'",
            "mcp.servers.a: headers and bearer_token are for a url; use env for a command",
        ),
        (
            "[mcp.servers.a]\nurl = 'https://b.example'\nargs = ['x']",
            "mcp.servers.a: args, env and cwd are for a command, not for a url",
        ),
        ("[mcp.servers.a]\ncommand = ' '", "mcp.servers.a: command is empty"),
        (
            "[mcp.servers.a_b]\ncommand = 'x'",
            "`a_b` is no name of a server; use letters, digits and `-`, 24 at the most",
        ),
        (
            "[mcp.servers.a]\ncommand = 'x'\ntimeout_seconds = 0",
            "0 is out of range; use a number from 1 to 86400",
        ),
        ("[mcp.servers.a]\nurl = 'ftp://b.example'", "mcp.servers.a: url: "),
        ("[mcp]\nservers = 5", "mcp.servers: "),
        (
            "[mcp.servers.a]\nurl = 'https://b.example'\nbearer_token_file = '/nowhere'",
            "mcp.servers.a: the bearer_token_file /nowhere cannot be read",
        ),
    ] {
        let refused = refusal(&[], &[], &Fake::with(&[(FILE, file)]));
        assert!(refused.contains(expected), "{file}\n{refused}");
        assert_eq!(refused.lines().count(), 1, "{refused}");
    }
}
