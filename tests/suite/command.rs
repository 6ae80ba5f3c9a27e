//! The `agena` command as a process: what it prints, how it fails, how it stops.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::kit::process::{Running, agena, output};
use crate::kit::{http, soon};

#[tokio::test(flavor = "multi_thread")]
async fn the_log_has_a_line_per_request_and_no_key_in_any() {
    let mut server = Running::start(&["--set", "log.filter=trace"]);
    let token = output(agena(server.home()).arg("token"));
    let token = String::from_utf8(token.stdout).unwrap().trim().to_owned();
    let get = |path: &str| http().get(format!("{}{path}", server.url));
    let right = get(&format!("/extendedAgentCard?key={token}")).header("x-request-id", "find-me");
    assert_eq!(right.header("x-api-key", &token).send().await.unwrap().status(), 200);
    assert_eq!(
        get("/tasks?key=wrong-in-query").bearer_auth("wrong-in-header").send().await.unwrap().status(),
        401
    );
    server.signal("TERM");
    assert_eq!(server.ended(), Some(0));

    let (log, mut out) = (server.log(), String::new());
    server.child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    for key in [token.as_str(), "wrong-in-query", "wrong-in-header"] {
        assert!(!log.contains(key) && !out.contains(key), "{key} is in the output");
    }
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let access: Vec<Value> = lines.filter(|line| line["target"] == "agena::access").collect();
    assert_eq!(access.len(), 2, "{log}");
    let (line, span) = (&access[0], &access[0]["span"]);
    assert_eq!((line["status"].as_u64(), line["end"].as_str()), (Some(200), Some("whole")));
    assert_eq!((span["id"].as_str(), span["principal"].as_str()), (Some("find-me"), Some("local")));
    assert_eq!(
        (span["path"].as_str(), span["protocol"].as_str()),
        (Some("/extendedAgentCard"), Some("http"))
    );
    assert_eq!((access[1]["status"].as_u64(), access[1]["span"].get("principal")), (Some(401), None));
}

#[test]
fn the_banner_has_the_token_and_every_address() {
    let home = tempfile::tempdir().unwrap();
    let mut command = agena(home.path());
    let mut child = command
        .args(["--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let banner: Vec<String> = lines.by_ref().take(11).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    let token = std::fs::read_to_string(home.path().join(".local/share/agena/token")).unwrap();
    assert!(banner[0].starts_with("agena ") && banner[0].ends_with("is ready"), "{banner:?}");
    let workspace = home.path().canonicalize().unwrap();
    for (line, (name, value)) in banner[2..].iter().zip([
        ("console", "http://127.0.0.1:"),
        ("gRPC", "127.0.0.1:"),
        ("HTTP+JSON", "http://127.0.0.1:"),
        ("agent card", "http://127.0.0.1:"),
        ("workspace", workspace.to_str().unwrap()),
        ("model", "rehearsal"),
        ("approvals", "default   (asks before it changes anything)"),
        ("sandbox", "o"),
        ("token", token.as_str()),
    ]) {
        let value = format!("  {name:<12}{value}");
        assert!(line.starts_with(&value), "{banner:?} has no {value:?}");
    }
    let sandbox = banner[9].trim_start().strip_prefix("sandbox").unwrap().trim();
    assert!(
        sandbox.starts_with("on (Landlock ABI ") || sandbox.starts_with("off: this kernel "),
        "{sandbox}"
    );
}

#[test]
fn what_cannot_start_says_why_in_one_line() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    std::fs::write(&file, "not a certificate").unwrap();
    let file = file.to_str().unwrap();
    for (options, code, part) in [
        (vec!["--listen", &address], 1, "the port is in use; choose another with --listen"),
        (vec!["--listen", "nowhere"], 2, "--listen"),
        (vec!["--data-dir", file], 1, "choose another --data-dir"),
        (vec!["--workspace", "/no/such/directory"], 2, "/no/such/directory"),
        (vec!["--config", "/no/such/file.toml"], 2, "/no/such/file.toml"),
        (vec!["--set", "server.lisen=1"], 2, "lisen"),
        (vec!["--auth", "none", "--listen", "0.0.0.0:0"], 2, "only for loopback"),
        (vec!["--tls-cert", file, "--tls-key", file], 1, "certificate"),
        (vec!["--set", "log.filter=a=b=c"], 2, "log filter"),
        (vec!["--set", "model.name=gpt"], 1, "there is no model `gpt`, only `rehearsal`; set GEMINI_API_KEY"),
        (vec!["--set", "agent.root=/usr"], 1, "does not lie under agent.root, /usr; name one that does"),
        (
            vec!["--set", "agent.rules=[{tool='*', decision='ask'}, {tool='a b', decision='ask'}]"],
            1,
            "rule 2 (agent.rules[1]): tool: `a b` is neither",
        ),
    ] {
        let output = output(agena(home.path()).args(&options));
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{options:?}: {text}");
        assert!(
            text.starts_with("error: ") && text.contains(part) && text.lines().count() == 1,
            "{options:?}: {text}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_ends_it_at_once() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut server = Running::start(&["--auth", "none", "--set", "server.drain_seconds=600"]);
    // A request whose body never comes holds the first stop up. That it is asked for shows that it is under way.
    let address = server.url.strip_prefix("http://").unwrap().to_owned();
    let mut held = tokio::net::TcpStream::connect(&address).await.unwrap();
    let head = "POST /message:send HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
        Content-Length: 9\r\nExpect: 100-continue\r\n\r\n";
    held.write_all(head.as_bytes()).await.unwrap();
    let mut asked = [0; 21];
    soon(held.read_exact(&mut asked)).await.unwrap();
    assert_eq!(&asked, b"HTTP/1.1 100 Continue");
    server.signal("TERM");
    soon(async {
        while tokio::net::TcpStream::connect(&address).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    assert!(server.child.try_wait().unwrap().is_none(), "the open request holds it");
    server.signal("TERM");
    assert_eq!(server.ended(), Some(130));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_watches_the_health_is_told_of_a_stop_and_does_not_hold_it_up() {
    use tonic_health::pb::health_check_response::ServingStatus;
    use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};
    let mut server = Running::start(&["--set", "server.drain_seconds=600"]);
    let channel =
        tonic::transport::Channel::from_shared(server.url.clone()).unwrap().connect().await.unwrap();
    let request = HealthCheckRequest { service: String::new() };
    let mut watched = HealthClient::new(channel).watch(request).await.unwrap().into_inner();
    let status = |said: Option<tonic_health::pb::HealthCheckResponse>| said.map(|said| said.status());
    assert_eq!(status(soon(watched.message()).await.unwrap()), Some(ServingStatus::Serving));
    server.signal("TERM");
    assert_eq!(status(soon(watched.message()).await.unwrap()), Some(ServingStatus::NotServing));
    assert!(soon(watched.message()).await.unwrap().is_none());
    assert_eq!(server.ended(), Some(0));
}
