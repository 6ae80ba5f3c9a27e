//! The Gemini API: what is sent, and what is made of whatever comes back.

use std::time::Duration;

use agena::domain::model::{Backend, ModelCause};
use agena::domain::secret::Secret;
use agena::model::http::{ClientError, Deadlines, Http, Proxy};
use agena::proto::gemini::{BatchEmbedContentsRequest, CountTokensRequest};
use agena::proto::vendor;
use futures::StreamExt;
use serde_json::{Value, json};

use super::{KEY, api, deadlines, heard, printed, request};
use crate::kit::soon;
use crate::kit::upstream::{Reply, Step, Upstream, chunk, says};

/// Thousands of pieces that are all there at once: each is fetched, though nothing from outside says that there is more.
#[tokio::test]
async fn an_answer_in_pieces_of_a_byte_comes_whole() {
    let answer = chunk(json!([{"text": "in pieces ".repeat(2000)}]), "STOP");
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    let pieces = answer.to_string().into_bytes().into_iter();
    let body = pieces.flat_map(|byte| [b"1\r\n".as_slice(), &[byte], b"\r\n"].concat());
    let reply = Reply(vec![Step::Send(head.bytes().chain(body).chain(*b"0\r\n\r\n").collect())]);
    let upstream = Upstream::start([reply.clone(), reply]).await;
    let api = api(&upstream.url());
    for _ in 0..2 {
        assert_eq!(printed(&soon(api.generate(&request("hi"))).await.unwrap()), answer);
    }
    assert_eq!(upstream.connections(), 1, "the second goes on the line of the first");
}

#[tokio::test]
async fn an_answer_streams_as_it_comes() {
    let (one, two) = (chunk(json!([{"text": "a"}]), ""), chunk(json!([{"text": "b"}]), "STOP"));
    let reply = Reply::stream(std::slice::from_ref(&one)).then(Step::Hold).event(&two);
    let upstream = Upstream::start([reply]).await;
    let mut chunks = api(&upstream.url()).stream(request("hi"));
    assert_eq!(printed(&soon(chunks.next()).await.unwrap().unwrap()), one);
    upstream.release();
    assert_eq!(printed(&soon(chunks.next()).await.unwrap().unwrap()), two);
    assert!(soon(chunks.next()).await.is_none());
    let asked = upstream.asked();
    let first = asked.first().unwrap();
    assert_eq!(
        (first.method.as_str(), first.path.as_str(), first.header("x-goog-api-key")),
        ("POST", "/v1beta/models/gemini-3-pro-preview:streamGenerateContent?alt=sse", KEY)
    );
    assert_eq!(first.header("content-type"), "application/json");
    assert_eq!(first.json(), json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}));
}

#[tokio::test]
async fn leaving_an_answer_ends_it_on_the_other_side() {
    let reply = Reply::stream(&[chunk(json!([{"text": "a"}]), "")]).then(Step::Silence);
    let upstream = Upstream::start([reply]).await;
    let mut chunks = api(&upstream.url()).stream(request("hi"));
    assert!(soon(chunks.next()).await.unwrap().is_ok());
    drop(chunks);
    upstream.was_left(1).await;
}

#[tokio::test]
async fn whole_answers_counts_embeddings_and_names() {
    let upstream = Upstream::start([
        Reply::json(200, &chunk(json!([{"text": "whole"}]), "STOP")),
        Reply::json(200, &json!({"totalTokens": 7, "promptTokensDetails": []})),
        Reply::json(200, &json!({"embeddings": [{"values": [0.5, -1.0]}, {"values": []}]})),
        Reply::json(
            200,
            &json!({"models": [{"name": "models/a", "inputTokenLimit": 5}], "nextPageToken": "p/2"}),
        ),
        Reply::json(200, &json!({"models": [{"name": "models/b"}]})),
    ])
    .await;
    let api = api(&upstream.url());
    let whole = soon(api.generate(&request("hi"))).await.unwrap();
    assert_eq!(printed(&whole), chunk(json!([{"text": "whole"}]), "STOP"));
    let count = CountTokensRequest {
        model: "m".to_owned(),
        generate_content_request: Some(request("hi")),
        ..CountTokensRequest::default()
    };
    assert_eq!(soon(api.count_tokens(count)).await.unwrap().total_tokens, 7);
    let embed = json!({"model": "e", "requests": [{"content": {"parts": [{"text": "x"}]}}, {"content": {"parts": [{"text": "y"}]}}]});
    let embed: BatchEmbedContentsRequest = vendor::decode(embed.to_string().as_bytes()).unwrap();
    let vectors = soon(api.embed(embed)).await.unwrap().embeddings;
    assert_eq!(vectors.iter().map(|one| one.values.clone()).collect::<Vec<_>>(), [vec![0.5, -1.0], vec![]]);
    let names: Vec<String> = soon(api.models()).await.unwrap().into_iter().map(|model| model.name).collect();
    assert_eq!(names, ["a", "b"]);
    let asked = upstream.asked();
    let paths: Vec<&str> = asked.iter().map(|asked| asked.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "/v1beta/models/gemini-3-pro-preview:generateContent",
            "/v1beta/models/m:countTokens",
            "/v1beta/models/e:batchEmbedContents",
            "/v1beta/models?pageSize=1000&pageToken=",
            "/v1beta/models?pageSize=1000&pageToken=p%2F2",
        ]
    );
    assert_eq!(
        asked[1].json()["generateContentRequest"],
        json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}], "model": "models/m"})
    );
    assert_eq!(
        asked[2].json()["requests"][1],
        json!({"model": "models/e", "content": {"parts": [{"text": "y"}]}})
    );
    assert!(asked.iter().all(|asked| asked.header("x-goog-api-key") == KEY));
    assert_eq!(upstream.connections(), 1, "one connection serves them all");
}

#[tokio::test]
async fn streams_that_tell_their_end_share_a_connection() {
    let event = format!("data: {}\r\n\r\n", chunk(json!([{"text": "a"}]), "STOP"));
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let body = format!("{:x}\r\n{event}\r\n0\r\n\r\n", event.len());
    let upstream = Upstream::start([Reply::default().send(head).send(body)]).await;
    let api = api(&upstream.url());
    for _ in 0..3 {
        let (told, failed) = heard(&api, request("hi")).await;
        assert_eq!((told.len(), failed), (1, None));
    }
    assert_eq!(upstream.connections(), 1);
}

#[tokio::test]
async fn a_stream_is_the_same_wherever_it_is_cut() {
    let one = r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"ä€😀"}]}}]}"#;
    let two = r#"{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":{"n":12345678901234567890123}},"thoughtSignature":"c2ln"}]},"finishReason":"STOP"}]}"#;
    let good =
        format!(": hello\r\ndata: {one}\r\n\r\nevent: x\ndata: {}\ndata: {}\n\n", &two[..15], &two[15..]);
    let error = "{\n  \"error\": {\n    \"code\": 503,\n    \"message\": \"Overloaded.\",\n    \"status\": \"UNAVAILABLE\"\n  }\n}\n";
    let bad = format!("data: {one}\n\n[{error}]");
    for (body, chunks, problem) in [
        (good.as_str(), 2, None),
        (bad.as_str(), 1, Some((ModelCause::Unavailable, "the Gemini API is not available: Overloaded."))),
        (error, 0, Some((ModelCause::Unavailable, "the Gemini API is not available: Overloaded."))),
    ] {
        let cuts: Vec<usize> = (0..body.len()).collect();
        let upstream = Upstream::start(cuts.iter().map(|cut| {
            let (head, tail) = body.as_bytes().split_at(*cut);
            Reply::open().send(head).send(tail)
        }))
        .await;
        let api = api(&upstream.url());
        let mut first = None;
        for cut in cuts {
            let (told, failed) = heard(&api, request("hi")).await;
            assert_eq!(told.len(), chunks, "cut at {cut}");
            let failed = failed.map(|error| (error.cause, error.message));
            assert_eq!(failed, problem.map(|(cause, words)| (cause, words.to_owned())), "cut at {cut}");
            assert_eq!(*first.get_or_insert(told.clone()), told, "cut at {cut}");
        }
    }
}

#[tokio::test]
async fn each_fault_has_one_verdict() {
    let begun = || Reply::stream(&[chunk(json!([{"text": "a"}]), "")]);
    let denied = json!({"error": {"code": 400, "message": format!("API key not valid: {KEY}."), "details": [{"reason": "API_KEY_INVALID"}]}});
    let limited =
        json!([{"error": {"code": 429, "message": "Slow down.", "details": [{"retryDelay": "2s"}]}}]);
    for (reply, chunks, cause, words) in [
        (
            Reply::json(400, &denied),
            0,
            ModelCause::Denied,
            "refused the key from GEMINI_API_KEY: API key not valid: [redacted].",
        ),
        (Reply::json(429, &limited), 0, ModelCause::Limited, "too many requests: Slow down."),
        (Reply::text(500, "text/html", "<h1>no</h1>", ""), 0, ModelCause::Failed, "status 500"),
        (
            Reply::text(302, "text/html", "", "location: http://127.0.0.1:1/\r\n"),
            0,
            ModelCause::Unavailable,
            "status 302",
        ),
        (Reply::reset(), 0, ModelCause::Unavailable, "broke the connection off"),
        (Reply::silence(), 0, ModelCause::Unavailable, "said nothing for 0.3 s"),
        (Reply::open().then(Step::Silence), 0, ModelCause::Unavailable, "said nothing for 0.3 s"),
        (begun().then(Step::Reset), 1, ModelCause::Unavailable, "broke the connection off"),
        (begun().then(Step::Silence), 1, ModelCause::Unavailable, "said nothing for 0.3 s"),
        (begun(), 1, ModelCause::Broken, "was cut off"),
        (begun().send("data: {\"candidates\": nonsense\n\n"), 1, ModelCause::Broken, "cannot be read"),
        (Reply::text(200, "text/html", "<p>welcome</p>", ""), 0, ModelCause::Broken, "cannot be read"),
        (Reply::text(200, "text/event-stream", "", ""), 0, ModelCause::Broken, "was cut off"),
        (
            Reply(vec![Step::Send(b"SSH-2.0-nonsense\r\n".to_vec())]),
            0,
            ModelCause::Unavailable,
            "broke the connection off",
        ),
    ] {
        let upstream = Upstream::start([reply.clone()]).await;
        let (told, error) = heard(&api(&upstream.url()), request("hi")).await;
        let error = error.unwrap_or_else(|| panic!("{reply:?}"));
        assert_eq!((told.len(), error.cause), (chunks, cause), "{reply:?}: {error}");
        assert!(error.message.contains(words) && !error.message.contains(KEY), "{error}");
        assert_eq!(upstream.asked().len(), 1, "one attempt");
    }
    let (_, nobody) = heard(&api("http://127.0.0.1:1"), request("hi")).await;
    let nobody = nobody.unwrap();
    assert_eq!(nobody.cause, ModelCause::Unavailable);
    assert!(nobody.message.starts_with("127.0.0.1:1 cannot be reached (Connection refused"), "{nobody}");
}

#[tokio::test]
async fn refused_signatures_are_left_out_once() {
    let refused = json!({"error": {"code": 400, "message": "Corrupted thought signature."}});
    let upstream = Upstream::start([Reply::json(400, &refused), says("fine")]).await;
    let contents = json!([
        {"role": "user", "parts": [{"text": "a"}]},
        {"role": "model", "parts": [{"functionCall": {"id": "1", "name": "f", "args": {}}, "thoughtSignature": "foreign"}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "1", "name": "f", "response": {}}}]},
    ]);
    let request = json!({"model": "gemini-3-pro-preview", "contents": contents});
    let request = vendor::decode(request.to_string().as_bytes()).unwrap();
    let (told, error) = heard(&api(&upstream.url()), request).await;
    assert_eq!((told.len(), error), (1, None));
    let sent: Vec<Value> = upstream
        .asked()
        .iter()
        .map(|asked| asked.json()["contents"][1]["parts"][0]["thoughtSignature"].clone())
        .collect();
    assert_eq!(sent, ["foreign", "skip_thought_signature_validator"]);
}

#[tokio::test]
async fn an_answer_that_drips_for_ever_ends_at_its_deadline() {
    let drop = chunk(json!([{"text": "a"}]), "");
    let reply = (0..100).fold(Reply::open(), |reply, _| reply.event(&drop).then(Step::Hold));
    let upstream = Upstream::start([reply]).await;
    // Silence has a limit that a busy machine does not reach, so that only the whole can take too long.
    let (total, long) = (Duration::from_millis(700), Duration::from_secs(5));
    let short = Deadlines { total, idle: long, first_byte: long, ..deadlines() };
    let api = super::api_with(&upstream.url(), Http::new(short, &Proxy::None).unwrap());
    let dripping = upstream.clone();
    let drips = tokio::spawn(async move {
        let mut often = tokio::time::interval(Duration::from_millis(50));
        loop {
            often.tick().await;
            dripping.release();
        }
    });
    let (told, error) = heard(&api, request("hi")).await;
    drips.abort();
    let error = error.unwrap();
    assert!(told.len() > 3 && error.message.ends_with("took longer than 0.7 s"), "{} {error}", told.len());
    upstream.was_left(1).await;
}

#[tokio::test]
async fn a_proxy_that_is_set_is_used() {
    let proxy = Upstream::start([says("through the proxy")]).await;
    let http = Http::new(deadlines(), &Proxy::Url(Secret::new(proxy.url()))).unwrap();
    let (told, error) = heard(&super::api_with("http://models.example", http), request("hi")).await;
    assert_eq!((super::words(&told).as_str(), error), ("through the proxy", None));
    let path = &proxy.asked()[0].path;
    assert!(path.starts_with("http://models.example/v1beta/models/"), "{path}");
    assert!(matches!(Http::new(deadlines(), &Proxy::Url(Secret::new("no url"))), Err(ClientError::Proxy)));
}

#[tokio::test]
async fn a_server_that_knows_no_events_is_read_all_the_same() {
    let one = serde_json::to_string_pretty(&chunk(json!([{"text": "a"}]), "")).unwrap();
    let last = serde_json::to_string_pretty(&chunk(json!([{"text": "b"}]), "STOP")).unwrap();
    let body = format!("[{}{last}\n]", format!("{one}\n,\r\n").repeat(3000));
    let upstream = Upstream::start([Reply::text(200, "application/json", &body, "")]).await;
    let (told, error) = heard(&api(&upstream.url()), request("hi")).await;
    assert_eq!((told.len(), error), (3001, None));
}

/// Every reason that there is, on the wire: the chunk passes as it came.
#[tokio::test]
async fn every_reason_to_end_comes_through() {
    let reasons = "STOP MAX_TOKENS SAFETY RECITATION LANGUAGE OTHER BLOCKLIST PROHIBITED_CONTENT SPII \
        MALFORMED_FUNCTION_CALL IMAGE_SAFETY UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS IMAGE_PROHIBITED_CONTENT NO_IMAGE \
        IMAGE_RECITATION IMAGE_OTHER MALFORMED_RESPONSE SOMETHING_NEW";
    for reason in reasons.split_whitespace() {
        let end = chunk(json!([{"text": "a"}]), reason);
        let upstream = Upstream::start([Reply::stream(std::slice::from_ref(&end))]).await;
        assert_eq!(heard(&api(&upstream.url()), request("hi")).await, (vec![end], None), "{reason}");
    }
    let blocked =
        json!({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 3}});
    let upstream = Upstream::start([Reply::stream(std::slice::from_ref(&blocked))]).await;
    assert_eq!(heard(&api(&upstream.url()), request("hi")).await, (vec![blocked], None));
}
