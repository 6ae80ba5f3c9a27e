//! `web_fetch` against a server of the test: what becomes text, what is attached, and which addresses are not dialled.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agena::sandbox::dial::Lookup;
use axum::Router;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::routing::get;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::json;

use super::{Bed, shown};

/// Every name leads to this machine.
#[derive(Debug)]
struct Home;

impl Lookup for Home {
    fn lookup(&self, _: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        async { Ok(vec![IpAddr::from([127, 0, 0, 1])]) }.boxed()
    }
}

async fn site() -> (SocketAddr, Arc<AtomicUsize>) {
    let hits = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&hits);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let moved = |to: String| move || async move { (StatusCode::FOUND, [(LOCATION, to)]) };
    let typed =
        |kind: &'static str, body: &'static [u8]| move || async move { ([(CONTENT_TYPE, kind)], body) };
    let app = Router::new()
        .route("/page", get(typed("text/html; charset=utf-8", b"<h1>Hi</h1><script>x</script><p>there</p>")))
        .route("/latin", get(typed("text/plain; charset=iso-8859-1", b"caf\xe9")))
        .route("/json", get(typed("application/json", b"{\"a\": 1}")))
        .route("/dot.png", get(typed("image/png", b"\x89PNG")))
        .route("/zip", get(typed("application/zip", b"PK")))
        .route("/moved", get(moved("/page".to_owned())))
        .route("/inside", get(moved("http://localhost:1/".to_owned())))
        .route("/named", get(moved(format!("http://inside.example:{}/page", address.port()))))
        .route("/loop", get(moved("/loop".to_owned())))
        .route("/file", get(moved("file:///etc/passwd".to_owned())))
        .route("/big", get(|| async { "x".repeat(11 * 1024 * 1024) }))
        .route("/long", get(|| async { "y".repeat(300_000) }))
        .route("/slow", get(std::future::pending::<&'static str>))
        .layer(axum::middleware::from_fn(move |request, next: axum::middleware::Next| {
            counted.fetch_add(1, Ordering::Relaxed);
            next.run(request)
        }));
    tokio::spawn(async move { axum::serve(listener, app).await });
    (address, hits)
}

/// With the address of the site allowed, and no other.
fn bed() -> Bed {
    Bed::with(|options| {
        options.web.allow_hosts = vec!["127.0.0.1".to_owned()];
        options.web.lookup = Arc::new(Home);
        options.web.total = Duration::from_secs(2);
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_become_text() {
    let (site, _) = site().await;
    let bed = bed();
    let wrapped = |path: &str, text: &str| {
        format!("Content of http://{site}{path}:\n<untrusted_context>\n{text}\n</untrusted_context>")
    };
    for (path, text) in
        [("/page", "Hi\n\nthere"), ("/latin", "café"), ("/json", "{\"a\": 1}"), ("/moved", "Hi\n\nthere")]
    {
        let told = bed.told("web_fetch", json!({"url": format!("http://{site}{path}")})).await;
        assert_eq!(told, wrapped(path, text));
    }
    let prompt =
        format!("Compare http://{site}/json with http://{site}/zip, and look at (http://{site}/dot.png).");
    let outcome = bed.run("web_fetch", json!({"prompt": prompt})).await.unwrap();
    assert!(outcome.told.starts_with(&wrapped("/json", "{\"a\": 1}")), "{}", outcome.told);
    assert!(
        outcome.told.contains("Not fetched: ") && outcome.told.contains("application/zip"),
        "{}",
        outcome.told
    );
    assert_eq!((outcome.media.len(), shown(&outcome)), (1, "Fetched 2 of 3 page(s)"));
    let long = bed.told("web_fetch", json!({"url": format!("http://{site}/long")})).await;
    assert!(long.ends_with("[cut: the answer is full]") && long.len() < 251_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_leads_inside_or_nowhere_is_not_fetched() {
    let (site, hits) = site().await;
    let closed = Bed::with(|options| options.web.lookup = Arc::new(Home));
    for url in [
        format!("http://{site}/page"),
        "http://localhost:1/".into(),
        format!("http://inside.example:{}/page", site.port()),
    ] {
        let (_, message) = closed.refused("web_fetch", json!({"url": url})).await;
        assert!(message.contains("private network"), "{message}");
    }
    assert_eq!(hits.load(Ordering::Relaxed), 0);
    let bed = bed();
    for (path, word) in [
        ("/inside", "private network"),
        ("/named", "private network"),
        ("/file", "is not an http or https URL"),
        ("/loop", "more than 5 redirects"),
        ("/missing", "answered 404"),
        ("/zip", "cannot be read as text"),
        ("/big", "is larger than"),
        ("/slow", "gave no whole answer within 2 s"),
    ] {
        let (_, message) = bed.refused("web_fetch", json!({"url": format!("http://{site}{path}")})).await;
        assert!(message.contains(word), "{path}: {message}");
    }
    let (kind, _) = bed.refused("web_fetch", json!({"prompt": "nothing"})).await;
    assert_eq!(kind, "web_fetch_no_url_in_prompt");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_names_the_urls_and_fetches_nothing() {
    let (site, hits) = site().await;
    let plan = bed().plan("web_fetch", json!({"prompt": format!("see http://{site}/page.")})).await.unwrap();
    assert_eq!(plan.description, format!("Fetch http://{site}/page"));
    assert_eq!(hits.load(Ordering::Relaxed), 0);
}
