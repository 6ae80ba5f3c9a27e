//! Pictures that requests only name, on the wire: fetched and looked at, and never from inside unless that is allowed.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use agena::domain::media::Fetch;
use agena::facade::Remote;
use agena::fetch::{Fetcher, Options};
use agena::proto::gemini::GenerateContentRequest;
use agena::proto::vendor;
use agena::sandbox::dial::Lookup;
use agena::service::facade::media::Media;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::kit::soon;
use crate::kit::upstream::{Reply, Upstream};

/// Every name is this machine.
#[derive(Debug)]
struct Here;

impl Lookup for Here {
    fn lookup(&self, _: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        std::future::ready(Ok(vec![[127, 0, 0, 1].into()])).boxed()
    }
}

fn media(allowed: &[&str]) -> Media {
    let options = Options {
        allow_hosts: allowed.iter().map(|host| (*host).to_owned()).collect(),
        total: Duration::from_millis(500),
        lookup: Arc::new(Here),
        ..Options::default()
    };
    Media::new(Some(Arc::new(Fetcher::new(options).unwrap()) as Arc<dyn Fetch>))
}

/// The parts after they were fetched, or what is said instead.
async fn fetched(media: &Media, urls: &[&str], mime_type: &str) -> Result<Value, String> {
    let parts: Vec<Value> =
        urls.iter().map(|url| json!({"fileData": {"fileUri": url, "mimeType": mime_type}})).collect();
    let nested = json!({"functionResponse": {"name": "f", "response": {}, "parts": parts.clone()}});
    let contents = json!([{"role": "user", "parts": parts}, {"role": "user", "parts": [nested]}]);
    let mut request: GenerateContentRequest =
        vendor::decode(json!({ "contents": contents }).to_string().as_bytes()).unwrap();
    let remote =
        |(at, url): (usize, &&str)| Remote { field: format!("messages[{at}].url"), url: (*url).to_owned() };
    let remote: Vec<Remote> = urls.iter().enumerate().map(remote).collect();
    soon(media.fetch(&mut request, &remote)).await.map_err(|error| error.to_string())?;
    let mut out = Vec::new();
    vendor::encode(&request, &mut out).unwrap();
    let request: Value = serde_json::from_slice(&out).unwrap();
    let parts = request["contents"][0]["parts"].clone();
    assert_eq!(request["contents"][1]["parts"][0]["functionResponse"]["parts"], parts);
    Ok(parts)
}

fn answer(content_type: &str, body: &[u8]) -> Reply {
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    Reply::default().send([head.as_bytes(), body].concat())
}

fn redirect(to: &str) -> Reply {
    Reply::text(302, "text/plain", "", &format!("location: {to}\r\n"))
}

#[tokio::test]
async fn what_a_request_names_is_put_into_it() {
    let gif = b"GIF89a....";
    let server = Upstream::start([redirect("/there"), answer("image/png", gif)]).await;
    let url = format!("{}/cat.png", server.url());
    let google = [
        "gs://bucket/a.pdf",
        "https://youtu.be/x",
        "https://generativelanguage.googleapis.com/v1beta/files/1",
    ];
    let urls = [url.as_str(), google[0], &url, google[1], google[2]];
    let parts = fetched(&media(&["127.0.0.1"]), &urls, "").await.unwrap();
    let inline = json!({"inlineData": {"mimeType": "image/gif", "data": "R0lGODlhLi4uLg=="}});
    let stays = |url: &str| json!({"fileData": {"fileUri": url}});
    assert_eq!(parts, json!([inline, stays(google[0]), inline, stays(google[1]), stays(google[2])]));
    let paths: Vec<String> = server.asked().iter().map(|asked| asked.path.clone()).collect();
    assert_eq!(paths, ["/cat.png", "/there"], "each address is asked once");
    assert!(server.asked()[0].header("user-agent").starts_with("agena/"));
}

#[tokio::test]
async fn nothing_is_fetched_from_inside() {
    let server = Upstream::start([answer("image/gif", b"GIF89a")]).await;
    let port = server.address.port();
    let inside = "leads to a private network, which nothing is fetched from; allow the host with \
                  facade.media_hosts if that is meant, or send it as a data: URL";
    for url in [
        format!("http://127.0.0.1:{port}/a"),
        format!("http://[::1]:{port}/a"),
        format!("http://localhost:{port}/a"),
        format!("http://name.example:{port}/a"),
        "http://169.254.169.254/latest".to_owned(),
        "http://10.0.0.1/".to_owned(),
    ] {
        let told = fetched(&media(&[]), &[&url], "").await.unwrap_err();
        assert_eq!(told, format!("messages[0].url: {inside}"), "{url}");
    }
    for (url, told) in [
        ("ftp://name.example/a", "is not an http or https URL"),
        ("file:///etc/passwd", "is not an http or https URL"),
        ("http://user:password@name.example/", "must not hold a user name or password"),
        ("nothing", "is not a URL"),
    ] {
        assert_eq!(fetched(&media(&[]), &[url], "").await.unwrap_err(), format!("messages[0].url: {told}"));
    }
    assert!(server.asked().is_empty());
    // Every step of a redirect is looked at.
    let outside = Upstream::start([redirect(&format!("http://localhost:{port}/a"))]).await;
    let url = format!("http://127.0.0.1:{}/", outside.address.port());
    let told = fetched(&media(&["127.0.0.1"]), &[&url], "").await.unwrap_err();
    assert_eq!((told, server.asked().len()), (format!("messages[0].url: {inside}"), 0));
}

#[tokio::test]
async fn what_cannot_be_fetched_is_said_with_its_place() {
    let huge = "HTTP/1.1 200 OK\r\ncontent-type: image/gif\r\ncontent-length: 20000001\r\n\r\nGIF89a";
    for (reply, mime_type, told) in [
        (Reply::json(404, &json!({})), "", "cannot be fetched: its server answered 404"),
        (answer("image/png", b"<html>"), "", "is said to be image/png, and its bytes are something else"),
        (answer("text/html", b"<html>"), "image/*", "should be image/*, and what lies there is text/html"),
        (
            Reply::default().send(huge),
            "",
            "is larger than what may be fetched for one request; send a smaller one",
        ),
        (redirect("/again"), "", "is the end of more than 5 redirects"),
        (Reply::silence(), "", "gave no whole answer within 0.5 s"),
        (Reply::reset(), "", "broke the connection off"),
    ] {
        let server = Upstream::start([reply]).await;
        let heard = fetched(&media(&["127.0.0.1"]), &[&server.url()], mime_type).await;
        assert_eq!(heard.unwrap_err(), format!("messages[0].url: {told}"));
    }
    let many: Vec<String> = (0..17).map(|at| format!("http://127.0.0.1:1/{at}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let told = fetched(&media(&[]), &many, "").await.unwrap_err();
    assert_eq!(
        told,
        "messages[16].url: is one more than the 16 that are fetched for a request; send data: URLs"
    );
    let told = fetched(&Media::default(), &["http://name.example/"], "").await.unwrap_err();
    assert_eq!(told, "messages[0].url: lies elsewhere, and nothing is fetched here; send a data: URL");
}
