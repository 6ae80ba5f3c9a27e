//! OpenAI's Responses API in front of a Gemini on the wire: what a client sees, and what reached the model.

use agena::proto::openai::responses_service_client::ResponsesServiceClient;
use agena::proto::openai::{CreateResponseRequest, ResponseInput, response_input};
use futures::StreamExt;
use serde_json::{Value, json};

use crate::kit::process::Running;
use crate::kit::upstream::{Reply, Step, Upstream, chunk, says};
use crate::kit::{http, soon};

const KEY: &str = "the-key-of-the-model";
const MODEL: &str = "gemini-3-pro-preview";

fn before(upstream: &Upstream, directory: tempfile::TempDir) -> Running {
    let url = upstream.url();
    let environment = [("GEMINI_API_KEY", KEY), ("GOOGLE_GEMINI_BASE_URL", url.as_str())];
    Running::start_with(directory, &["--auth", "none"], &environment)
}

/// An answer as a whole, of a model that is not asked for a stream.
fn whole(text: &str) -> Reply {
    Reply::json(200, &chunk(json!([{"text": text}]), "STOP"))
}

async fn serving(script: Vec<Reply>) -> (Upstream, Running) {
    let upstream = Upstream::start(script).await;
    let server = before(&upstream, tempfile::tempdir().unwrap());
    (upstream, server)
}

async fn call(server: &Running, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let method = method.parse().unwrap();
    let mut request = http().request(method, format!("{}{path}", server.url));
    if !body.is_null() {
        request = request.header("content-type", "application/json").body(body.to_string());
    }
    let answer = soon(request.send()).await.unwrap();
    (answer.status().as_u16(), soon(answer.json()).await.unwrap())
}

async fn create(server: &Running, body: Value) -> Value {
    let (status, answer) = call(server, "POST", "/v1/responses", &body).await;
    assert_eq!(status, 200, "{answer}");
    answer
}

/// The events of a stream, each with its name.
async fn events(server: &Running, mut body: Value) -> Vec<Value> {
    body["stream"] = true.into();
    let request =
        http().post(format!("{}/v1/responses", server.url)).header("content-type", "application/json");
    let answer = soon(request.body(body.to_string()).send()).await.unwrap();
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let text = soon(answer.text()).await.unwrap();
    let frames = text.split_terminator("\n\n").filter(|frame| !frame.starts_with(':'));
    let events: Vec<Value> = frames
        .map(|frame| {
            let (name, data) = frame.split_once('\n').unwrap();
            let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
            assert_eq!(name, format!("event: {}", data["type"].as_str().unwrap()));
            data
        })
        .collect();
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], number, "{event}");
    }
    events
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

fn text(response: &Value) -> String {
    let items = response["output"].as_array().unwrap().iter().filter(|item| item["type"] == "message");
    items.filter_map(|item| item["content"][0]["text"].as_str()).collect()
}

fn thinking_call() -> Reply {
    let thought = chunk(json!([{"text": "**Look**", "thought": true}]), "");
    let calls = chunk(
        json!([
            {"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}, "thoughtSignature": "c2ln"},
            {"functionCall": {"id": "c2", "name": "f", "args": {}}},
        ]),
        "",
    );
    Reply::stream(&[thought, calls, chunk(json!([{"text": ""}]), "STOP")])
}

fn function() -> Value {
    json!({"type": "function", "name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}, "strict": false})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_tells_every_item_and_its_end_holds_them_all() {
    let (upstream, server) = serving(vec![thinking_call()]).await;
    let body = json!({"model": MODEL, "input": "hi", "tools": [function()], "reasoning": {"effort": "low", "summary": "auto"},
        "include": ["reasoning.encrypted_content"], "store": false});
    let told = events(&server, body).await;
    assert_eq!(
        kinds(&told),
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.reasoning_summary_part.added",
            "response.reasoning_summary_text.delta",
            "response.reasoning_summary_text.done",
            "response.reasoning_summary_part.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    let last = &told.last().unwrap()["response"];
    let done: Vec<&Value> =
        told.iter().filter(|e| e["type"] == "response.output_item.done").map(|e| &e["item"]).collect();
    assert_eq!(json!(done), last["output"]);
    assert_eq!((&last["output"][1]["call_id"], &last["output"][2]["call_id"]), (&json!("c1"), &json!("c2")));
    let asked = upstream.was_asked(1).await[0].json();
    assert_eq!(asked["generationConfig"]["thinkingConfig"]["includeThoughts"], true);
    // Not stored, so neither found nor gone on from.
    let id = last["id"].as_str().unwrap();
    assert_eq!(call(&server, "GET", &format!("/v1/responses/{id}"), &Value::Null).await.0, 404);
    let (status, refused) = call(
        &server,
        "POST",
        "/v1/responses",
        &json!({"model": MODEL, "input": "x", "previous_response_id": id}),
    )
    .await;
    assert_eq!((status, &refused["error"]["code"]), (400, &json!("previous_response_not_found")));
    assert_eq!(refused["error"]["param"], "previous_response_id");
}

/// As Codex does: the whole history each time, thoughts and all.
#[tokio::test(flavor = "multi_thread")]
async fn signatures_travel_with_the_thoughts_of_the_client() {
    let (upstream, server) = serving(vec![thinking_call(), says("done")]).await;
    let body = json!({"model": MODEL, "instructions": "be brief", "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
        "tools": [function()], "tool_choice": "auto", "parallel_tool_calls": true, "reasoning": {"summary": "auto"},
        "store": false, "include": ["reasoning.encrypted_content"], "prompt_cache_key": "k", "client_metadata": {"x": "y"}});
    let told = events(&server, body.clone()).await;
    let mut next = body.clone();
    let input = next["input"].as_array_mut().unwrap();
    let items = told.last().unwrap()["response"]["output"].as_array().unwrap().clone();
    input.extend(items);
    // In another order than the calls.
    input.push(json!({"type": "function_call_output", "call_id": "c2", "output": "two"}));
    input.push(json!({"type": "function_call_output", "call_id": "c1", "output": "{\"one\":1}"}));
    let told = events(&server, next).await;
    assert_eq!(text(&told.last().unwrap()["response"]), "done");
    let asked = upstream.was_asked(2).await[1].json();
    let contents = asked["contents"].as_array().unwrap();
    assert_eq!(contents.len(), 3, "{asked}");
    assert_eq!(
        contents[1],
        json!({"role": "model", "parts": [
            {"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}, "thoughtSignature": "c2ln"},
            {"functionCall": {"id": "c2", "name": "f", "args": {}}},
        ]})
    );
    assert_eq!(
        contents[2],
        json!({"role": "user", "parts": [
            {"functionResponse": {"id": "c1", "name": "f", "response": {"one": 1}}},
            {"functionResponse": {"id": "c2", "name": "f", "response": {"output": "two"}}},
        ]})
    );
    assert_eq!(asked["systemInstruction"]["parts"], json!([{"text": "be brief"}]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_conversation_goes_on_also_after_a_restart() {
    let (upstream, server) = serving(vec![whole("one"), whole("two"), whole("three")]).await;
    let first = create(&server, json!({"model": MODEL, "input": "first", "instructions": "only now"})).await;
    let (one, two) = (
        first["id"].as_str().unwrap(),
        json!({"model": MODEL, "input": "second", "previous_response_id": first["id"]}),
    );
    let second = create(&server, two).await;
    let id = second["id"].as_str().unwrap();
    let server = before(&upstream, server.into_home());
    let third = create(&server, json!({"model": MODEL, "input": "third", "previous_response_id": id})).await;
    assert_eq!(text(&third), "three");
    let asked = upstream.was_asked(3).await[2].json();
    let said = |role: &str, text: &str| json!({"role": role, "parts": [{"text": text}]});
    let all = json!([
        said("user", "first"),
        said("model", "one"),
        said("user", "second"),
        said("model", "two"),
        said("user", "third")
    ]);
    assert_eq!(asked["contents"], all);
    assert!(asked.get("systemInstruction").is_none(), "instructions hold for one request");
    let (_, found) = call(&server, "GET", &format!("/v1/responses/{id}"), &Value::Null).await;
    assert_eq!(found, second);
    let path = format!("/v1/responses/{id}/input_items?order=asc&limit=2");
    let (_, page) = call(&server, "GET", &path, &Value::Null).await;
    assert_eq!((page["data"].as_array().unwrap().len(), &page["has_more"]), (2, &json!(true)));
    let after = page["last_id"].as_str().unwrap();
    let (_, rest) = call(&server, "GET", &format!("{path}&after={after}"), &Value::Null).await;
    assert_eq!(
        (&rest["data"][0]["content"][0]["text"], &rest["has_more"]),
        (&json!("second"), &json!(false))
    );
    // An item by its name.
    let reference = json!([{"type": "item_reference", "id": second["output"][0]["id"]}, {"role": "user", "content": "and?"}]);
    create(&server, json!({"model": MODEL, "input": reference})).await;
    assert_eq!(upstream.was_asked(4).await[3].json()["contents"][1], said("model", "two"));
    let lost = json!({"model": MODEL, "input": [{"type": "item_reference", "id": "msg_none"}]});
    let (status, refused) = call(&server, "POST", "/v1/responses", &lost).await;
    assert_eq!((status, &refused["error"]["param"]), (400, &json!("input[0].id")));
    let (_, gone) = call(&server, "DELETE", &format!("/v1/responses/{one}"), &Value::Null).await;
    assert_eq!(gone, json!({"id": one, "object": "response", "deleted": true}));
    assert_eq!(call(&server, "GET", &format!("/v1/responses/{one}"), &Value::Null).await.0, 404);
}

async fn waits(server: &Running, id: &Value, status: &str) -> Value {
    let path = format!("/v1/responses/{}", id.as_str().unwrap());
    let wait = async {
        loop {
            let (_, found) = call(server, "GET", &path, &Value::Null).await;
            if found["status"] == status {
                return found;
            }
            tokio::task::yield_now().await;
        }
    };
    soon(wait).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_background_run_needs_no_caller_and_can_be_stopped() {
    let held = Reply::open().event(&chunk(json!([{"text": "slow"}]), "")).then(Step::Hold);
    let held = held.event(&chunk(json!([{"text": "ly"}]), "STOP"));
    let silent = Reply::open().event(&chunk(json!([{"text": "a"}]), "")).then(Step::Silence);
    let (upstream, server) = serving(vec![held, silent.clone(), silent]).await;
    let body = json!({"model": MODEL, "input": "hi", "background": true});
    let begun = create(&server, body.clone()).await;
    assert_eq!((&begun["status"], &begun["background"]), (&json!("queued"), &json!(true)));
    waits(&server, &begun["id"], "in_progress").await;
    upstream.was_asked(1).await;
    upstream.release();
    assert_eq!(text(&waits(&server, &begun["id"], "completed").await), "slowly");

    let second = create(&server, body.clone()).await;
    upstream.was_asked(2).await;
    let cancel = |id: &Value| format!("/v1/responses/{}/cancel", id.as_str().unwrap());
    let (status, cancelled) = call(&server, "POST", &cancel(&second["id"]), &json!({})).await;
    assert_eq!((status, &cancelled["status"]), (200, &json!("cancelled")));
    upstream.was_left(1).await;
    let (_, again) = call(&server, "POST", &cancel(&second["id"]), &json!({})).await;
    assert_eq!(again["status"], "cancelled");

    // Nobody knows what became of it.
    let third = create(&server, body).await;
    upstream.was_asked(3).await;
    let server = before(&upstream, server.into_home());
    let failed = waits(&server, &third["id"], "failed").await;
    assert_eq!(failed["error"]["code"], "server_error");
    upstream.answer_from_now_on([whole("x")]);
    let plain = create(&server, json!({"model": MODEL, "input": "hi"})).await;
    let (status, refused) = call(&server, "POST", &cancel(&plain["id"]), &json!({})).await;
    assert_eq!(status, 400, "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_behind_the_beginning_is_an_event() {
    let limited = json!({"error": {"code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "11.05s"}]}});
    let reply = Reply::open().event(&chunk(json!([{"text": "a"}]), "")).event(&limited);
    let (_upstream, server) = serving(vec![reply]).await;
    let told = events(&server, json!({"model": MODEL, "input": "hi"})).await;
    let last = told.last().unwrap();
    assert_eq!((&last["type"], &last["response"]["status"]), (&json!("response.failed"), &json!("failed")));
    assert_eq!(last["response"]["error"]["code"], "rate_limit_exceeded", "{last}");
    assert!(last["response"]["error"]["message"].as_str().unwrap().contains("try again in 11.05s"), "{last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_done_is_refused_with_its_place() {
    let (_upstream, server) = serving(vec![says("x")]).await;
    for (body, field) in [
        (json!({"model": MODEL}), "input"),
        (json!({"model": MODEL, "input": "x", "conversation": "c"}), "conversation"),
        (json!({"model": MODEL, "input": "x", "prompt": {"id": "p"}}), "prompt"),
        (json!({"model": MODEL, "input": "x", "background": true, "store": false}), "background"),
        (json!({"model": MODEL, "input": "x", "tools": [{"type": "mcp", "server_label": "l"}]}), "tools[0]"),
        (
            json!({"model": MODEL, "input": "x", "tool_choice": {"type": "function", "name": "g"}}),
            "tool_choice.name",
        ),
        (
            json!({"model": MODEL, "input": [{"role": "user", "content": [{"type": "input_image", "file_id": "f"}]}]}),
            "input[0].content[0].file_id",
        ),
        (json!({"model": MODEL, "input": "x", "reasoning": {"effort": "wild"}}), "reasoning.effort"),
    ] {
        let (status, refused) = call(&server, "POST", "/v1/responses", &body).await;
        assert_eq!((status, &refused["error"]["param"]), (400, &json!(field)), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_generated_client_asks_streams_counts_and_previews() {
    let (upstream, server) = serving(vec![says("yes")]).await;
    let mut client = ResponsesServiceClient::connect(server.url.clone()).await.unwrap();
    let input = Some(ResponseInput { input: Some(response_input::Input::Text("hi".to_owned())) });
    let request = CreateResponseRequest { model: MODEL.to_owned(), input, ..Default::default() };
    let preview = soon(client.preview_response(request.clone())).await.unwrap().into_inner();
    assert_eq!(preview.request.unwrap().contents.len(), 1);
    let events = soon(client.stream_response(request.clone())).await.unwrap().into_inner();
    let events: Vec<_> = soon(events.collect::<Vec<_>>()).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(events.last().unwrap().kind(), "response.completed");
    upstream.answer_from_now_on([Reply::json(200, &json!({"totalTokens": 7}))]);
    assert_eq!(soon(client.count_input_tokens(request)).await.unwrap().into_inner().input_tokens, 7);
    let status = soon(client.stream_response(CreateResponseRequest::default())).await.unwrap_err();
    assert!(status.message().contains("model: is required"), "{status}");
}

/// What was said before comes out of the store, so no request bounds it by its own size.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_before_has_an_end() {
    let upstream = Upstream::start([whole("ok")]).await;
    let url = upstream.url();
    let environment = [("GEMINI_API_KEY", KEY), ("GOOGLE_GEMINI_BASE_URL", url.as_str())];
    let options = ["--auth", "none", "--set", "facade.body_bytes=20000"];
    let server = Running::start_with(tempfile::tempdir().unwrap(), &options, &environment);
    let long = "x".repeat(9000);
    let first = create(&server, json!({"model": MODEL, "input": long})).await;
    let go_on = |id: &Value| json!({"model": MODEL, "input": long, "previous_response_id": id});
    let second = create(&server, go_on(&first["id"])).await;
    let third = create(&server, go_on(&second["id"])).await;
    let (status, refused) = call(&server, "POST", "/v1/responses", &go_on(&third["id"])).await;
    assert_eq!((status, &refused["error"]["code"]), (400, &json!("context_length_exceeded")), "{refused}");
    let (_, items) = call(
        &server,
        "GET",
        &format!("/v1/responses/{}/input_items", first["id"].as_str().unwrap()),
        &Value::Null,
    )
    .await;
    let reference = json!({"type": "item_reference", "id": items["data"][0]["id"]});
    let many = json!({"model": MODEL, "input": [reference, reference, reference]});
    let (status, refused) = call(&server, "POST", "/v1/responses", &many).await;
    assert_eq!((status, &refused["error"]["param"]), (400, &json!("input[2].id")), "{refused}");
    assert_eq!(upstream.asked().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn compaction_is_said_to_be_missing() {
    let (_, server) = serving(vec![whole("ok")]).await;
    let (status, refused) = call(&server, "POST", "/v1/responses/compact", &json!({"model": MODEL})).await;
    assert_eq!(status, 404);
    assert!(refused["error"]["message"].as_str().unwrap().contains("compacted"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_waits_for_answers_in_the_background() {
    let slow = Reply::open().event(&chunk(json!([{"text": "slow"}]), "")).then(Step::Hold);
    let (upstream, mut server) = serving(vec![slow.event(&chunk(json!([{"text": "ly"}]), "STOP"))]).await;
    let begun = create(&server, json!({"model": MODEL, "input": "x", "background": true})).await;
    upstream.was_asked(1).await;
    server.signal("TERM");
    crate::kit::until("the stop", || server.logged().contains("draining")).await;
    upstream.release();
    assert_eq!(server.ended(), Some(0));
    let server = before(&upstream, server.into_home());
    let (_, found) =
        call(&server, "GET", &format!("/v1/responses/{}", begun["id"].as_str().unwrap()), &Value::Null).await;
    assert_eq!(
        (&found["status"], &found["output"][0]["content"][0]["text"]),
        (&json!("completed"), &json!("slowly"))
    );
}
