//! Draining: what is open ends well within the limit, what is new is turned away.

use std::time::Duration;

use agena::transport::Drained;
use futures::StreamExt;
use tokio::net::TcpStream;

use crate::kit::{Client, Setup, TOKEN, http, server, soon, until, with_token};
use crate::probe::pb::CountRequest;

#[tokio::test(flavor = "multi_thread")]
async fn open_streams_finish_and_new_connections_are_refused() {
    let mut server = server().await;
    let client = Client::new(&server).await;
    let request = CountRequest { to: 3, stepwise: true, then_fail: 0 };
    let mut grpc = client.grpc().count(with_token(request)).await.unwrap().into_inner();
    let sse = http().get(server.url("/probe/count/3?stepwise=true")).bearer_auth(TOKEN).send().await.unwrap();
    let mut sse = sse.bytes_stream();
    assert_eq!(soon(grpc.next()).await.unwrap().unwrap().number, 1);
    assert!(soon(sse.next()).await.unwrap().is_ok());

    server.stop();
    let address = server.address;
    soon(async {
        while TcpStream::connect(address).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;

    server.probe.steps.add_permits(4);
    let numbers: Vec<i32> = soon(grpc.map(|item| item.unwrap().number).collect()).await;
    assert_eq!(numbers, [2, 3]);
    let events: Vec<u8> = soon(sse.map(|chunk| chunk.unwrap().to_vec()).concat()).await;
    assert_eq!(String::from_utf8(events).unwrap().matches("data: ").count(), 2);
    assert_eq!(server.stopped().await, Drained::Whole);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_does_not_end_is_cut_at_the_limit() {
    let mut server = Setup { drain: Duration::from_millis(200), ..Setup::default() }.start().await;
    let sse = http().get(server.url("/probe/count/3?stepwise=true")).bearer_auth(TOKEN).send().await.unwrap();
    server.stop();
    let probe = std::sync::Arc::clone(&server.probe);
    assert_eq!(server.stopped().await, Drained::Cut);
    drop(sse);
    until("the stream has ended", || probe.alive.load(std::sync::atomic::Ordering::SeqCst) == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_connections_do_not_hold_up_a_stop() {
    let mut server = server().await;
    let client = http();
    let response = client.get(server.url("/probe/wait/0")).bearer_auth(TOKEN).send().await.unwrap();
    response.bytes().await.unwrap();
    server.stop();
    assert_eq!(soon(server.stopped()).await, Drained::Whole);
}
