//! Streams: items leave as they are made, a client that goes away ends its handler, deadlines hold.

use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::StreamExt;
use tonic::{Code, Status};

use crate::kit::{Client, TOKEN, http, server, soon, until, with_token};
use crate::probe::pb::{ChatRequest, CountRequest, WaitRequest};

fn stepwise(to: i32) -> CountRequest {
    CountRequest { to, stepwise: true, then_fail: 0 }
}

#[tokio::test(flavor = "multi_thread")]
async fn sse_events_arrive_one_by_one_as_they_are_made() {
    let server = server().await;
    let response =
        http().get(server.url("/probe/count/3?stepwise=true")).bearer_auth(TOKEN).send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(response.headers()["cache-control"], "no-cache");
    let mut chunks = response.bytes_stream();
    for number in 1..=3 {
        // Nothing but the permit of the step before lets this event out, so it cannot have been held back.
        let chunk = soon(chunks.next()).await.unwrap().unwrap();
        assert_eq!(chunk, format!("data: {{\"number\":{number},\"note\":{number}}}\n\n"));
        server.probe.steps.add_permits(1);
    }
    assert!(soon(chunks.next()).await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn grpc_and_grpc_web_items_arrive_one_by_one_too() {
    let server = server().await;
    let client = Client::new(&server).await;
    let grpc = client.grpc().count(with_token(stepwise(3))).await.unwrap().into_inner();
    step_through(&server, grpc).await;
    let web = client.web().count(with_token(stepwise(3))).await.unwrap().into_inner();
    step_through(&server, web).await;
    let web = client.web_over_http2().count(with_token(stepwise(3))).await.unwrap().into_inner();
    step_through(&server, web).await;
}

async fn step_through(
    server: &crate::kit::TestServer,
    mut items: tonic::Streaming<crate::probe::pb::CountResponse>,
) {
    for number in 1..=3 {
        assert_eq!(soon(items.next()).await.unwrap().unwrap().number, number);
        if number < 3 {
            server.probe.steps.add_permits(1);
        }
    }
    assert!(soon(items.next()).await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_away_ends_the_stream_behind_it() {
    let server = server().await;
    let alive = || server.probe.alive.load(Ordering::SeqCst);
    let sse = http().get(server.url("/probe/count/3?stepwise=true")).bearer_auth(TOKEN).send().await.unwrap();
    let client = Client::new(&server).await;
    let grpc = client.grpc().count(with_token(stepwise(3))).await.unwrap();
    until("both are running", || alive() == 2).await;
    drop(sse);
    until("the event stream has ended", || alive() == 1).await;
    drop(grpc);
    until("the gRPC stream has ended", || alive() == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn both_directions_at_once() {
    let server = server().await;
    let client = Client::new(&server).await;
    let (say, said) = tokio::sync::mpsc::channel(1);
    let stream = tokio_stream::wrappers::ReceiverStream::new(said);
    let mut heard = client.grpc().chat(with_token(stream)).await.unwrap().into_inner();
    for word in ["one", "two"] {
        say.send(ChatRequest { said: word.to_owned() }).await.unwrap();
        assert_eq!(soon(heard.next()).await.unwrap().unwrap().heard, word);
    }
    // Required fields hold inside of a stream too.
    say.send(ChatRequest::default()).await.unwrap();
    let refused = soon(heard.next()).await.unwrap().unwrap_err();
    assert_eq!((refused.code(), refused.message()), (Code::InvalidArgument, "said: is required"));
}

#[tokio::test(flavor = "multi_thread")]
async fn grpc_timeout_ends_calls_and_streams_on_the_server() {
    let server = server().await;
    let client = Client::new(&server).await;
    let alive = || server.probe.alive.load(Ordering::SeqCst);

    // Over gRPC-Web: a tonic channel would stop by itself at the header, and the server is what is tested.
    let mut call = with_token(WaitRequest { millis: 60_000 });
    call.metadata_mut().insert("grpc-timeout", "100m".parse().unwrap());
    let refused: Status = soon(client.web().wait(call)).await.unwrap_err();
    assert_eq!(refused.code(), Code::DeadlineExceeded);
    until("the handler has ended", || alive() == 0).await;

    let mut call = with_token(stepwise(3));
    call.metadata_mut().insert("grpc-timeout", "300m".parse().unwrap());
    let mut items = soon(client.web().count(call)).await.unwrap().into_inner();
    assert_eq!(soon(items.next()).await.unwrap().unwrap().number, 1);
    let refused = soon(items.next()).await.unwrap().unwrap_err();
    assert_eq!(refused.code(), Code::DeadlineExceeded);
    until("the stream has ended", || alive() == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_never_waits_ends_at_its_deadline_too() {
    let server = server().await;
    let client = Client::new(&server).await;
    let mut call = with_token(CountRequest { to: i32::MAX, ..CountRequest::default() });
    call.metadata_mut().insert("grpc-timeout", "200m".parse().unwrap());
    let mut items = soon(client.web().count(call)).await.unwrap().into_inner();
    let refused = soon(async {
        loop {
            if let Err(status) = items.next().await.unwrap() {
                break status;
            }
        }
    });
    assert_eq!(refused.await.code(), Code::DeadlineExceeded);
    until("the stream has ended", || server.probe.alive.load(Ordering::SeqCst) == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_streams_share_one_connection() {
    let server = server().await;
    let client = Client::new(&server).await;
    let mut open = Vec::new();
    for _ in 0..300 {
        open.push(soon(client.grpc().count(with_token(stepwise(2)))).await.unwrap().into_inner());
    }
    assert_eq!(server.probe.alive.load(Ordering::SeqCst), 300);
    server.probe.steps.add_permits(300);
    for mut items in open {
        let numbers: Vec<i32> = soon(tokio::time::timeout(
            Duration::from_secs(5),
            items.by_ref().map(|i| i.unwrap().number).collect(),
        ))
        .await
        .unwrap();
        assert_eq!(numbers, [1, 2]);
    }
}
