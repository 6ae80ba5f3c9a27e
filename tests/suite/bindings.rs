//! Whatever the generator makes is the same over gRPC, gRPC-Web and HTTP+JSON: answers, errors, streams.

use serde_json::{Value, json};

use crate::kit::{Binding, Client, Http, Outcome, server};

/// One call: the RPC with its request, and the same over HTTP.
struct Case {
    rpc: &'static str,
    request: Value,
    http: (&'static str, &'static str, Value),
    expected: Value,
}

fn case(
    rpc: &'static str,
    request: Value,
    http: (&'static str, &'static str, Value),
    expected: Value,
) -> Case {
    Case { rpc, request, http, expected }
}

async fn check(cases: Vec<Case>) {
    let server = server().await;
    let client = Client::new(&server).await;
    for Case { rpc, request, http: (method, path, body), expected } in cases {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        for binding in Binding::ALL {
            let form = Http { method, path, body: &body };
            let outcome = client.call(binding, rpc, &request.to_string(), form).await;
            assert_eq!(
                outcome,
                Outcome::answer(expected.clone()),
                "{rpc} at {method} {path} over {binding:?}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_template_shape_fills_the_same_request() {
    let look = |seen: Value| json!({ "seen": seen });
    let get = |path| ("GET", path, Value::Null);
    check(vec![
        case("Look", json!({"id": "a"}), get("/probe/things/a"), look(json!({"id": "a"}))),
        case("Look", json!({"id": "a/b"}), get("/probe/things/a%2Fb"), look(json!({"id": "a/b"}))),
        case("Look", json!({"id": "ü ö"}), get("/probe/things/%C3%BC%20%C3%B6"), look(json!({"id": "ü ö"}))),
        case("Look", json!({"id": "urn:x:y"}), get("/probe/things/urn:x:y"), look(json!({"id": "urn:x:y"}))),
        case("Look", json!({"id": "x:peek"}), get("/probe/things/x%3Apeek"), look(json!({"id": "x:peek"}))),
        case("Look", json!({"id": "+"}), get("/probe/things/+"), look(json!({"id": "+"}))),
        case("Peek", json!({"id": "urn:x"}), get("/probe/things/urn:x:peek"), json!({"peeked": "urn:x"})),
        case("Special", json!({}), get("/probe/things/special"), json!({"special": true})),
        case(
            "Look",
            json!({"name": "rooms/1/items/a/b%2Fc"}),
            get("/probe/rooms/1/items/a/b%2Fc"),
            look(json!({"name": "rooms/1/items/a/b%2Fc"})),
        ),
        case(
            "Look",
            json!({"name": "rooms/1/items"}),
            get("/probe/rooms/1/items"),
            look(json!({"name": "rooms/1/items"})),
        ),
        case(
            "Look",
            json!({"count": -7, "flag": true, "color": "COLOR_RED"}),
            get("/probe/counts/-7/true/COLOR_RED"),
            look(json!({"count": -7, "flag": true, "color": "COLOR_RED"})),
        ),
        case(
            "Look",
            json!({"count": 1, "color": "COLOR_GREEN"}),
            get("/probe/counts/1/false/2"),
            look(json!({"count": 1, "color": "COLOR_GREEN"})),
        ),
        case(
            "Look",
            json!({"inner": {"label": "x"}}),
            get("/probe/nested/x"),
            look(json!({"inner": {"label": "x"}})),
        ),
        case("Look", json!({"pickedText": "x"}), get("/probe/picked/x"), look(json!({"pickedText": "x"}))),
        case("Custom", json!({"id": "a"}), ("PURGE", "/probe/things/a", Value::Null), json!({"purged": "a"})),
        case(
            "Keyword",
            json!({"type": "t", "camelName": "c", "self": "s"}),
            ("POST", "/probe/keywords/t/c", json!({"type": "other", "self": "s"})),
            json!({"seen": {"type": "t", "camelName": "c", "self": "s"}}),
        ),
        case("Remove", json!({"id": "a"}), ("DELETE", "/probe/things/a", Value::Null), json!({})),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn query_parameters_reach_nested_repeated_and_well_known_fields() {
    let full = json!({
        "id": "a", "count": 5, "flag": true, "color": "COLOR_GREEN",
        "inner": {"label": "l", "size": "9007199254740993", "child": {"label": "deep"}, "@odd": "o"},
        "tags": ["x", "y z"], "numbers": ["1", "-2"], "maybe": false, "colors": ["COLOR_RED", "COLOR_GREEN"],
        "since": "2026-01-31T12:00:00.500Z", "mask": "inner.oddName,tags", "span": "1.500s", "box": "0",
        "raw": "/+8=", "real": 0.25, "pickedFlag": false,
    });
    let query = "/probe/things/a?count=5&flag=true&color=2&inner.label=l&inner.size=9007199254740993\
        &inner.child.label=deep&inner.odd_name=o&tags=x&tags=y+z&numbers=1&numbers=-2&maybe=false\
        &colors=COLOR_RED&colors=2&since=2026-01-31T14:00:00.5%2B02:00&mask=inner.oddName,tags&span=1.5s&box=0\
        &raw=_-8&real=0.25&picked_flag=false&key=ignored-here";
    let seen = json!({ "seen": full });
    check(vec![case("Look", full, ("GET", query, Value::Null), seen)]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_body_fills_the_same_request() {
    let kinds =
        json!({"text": "t", "i64": "-1", "color": "COLOR_NEGATIVE", "object": {"a": [1, null, {"b": 2.5}]}});
    let echo = |tenant: &str| match tenant {
        "" => json!({ "kinds": kinds }),
        _ => json!({ "tenant": tenant, "kinds": kinds }),
    };
    let store = |seen: Value| json!({ "seen": seen });
    check(vec![
        case("Echo", echo(""), ("POST", "/probe:echo", echo("")), echo("")),
        case("Echo", echo("acme"), ("POST", "/acme/probe:echo", echo("")), echo("acme")),
        // The path stands above the body, whichever spelling the body chose.
        case("Echo", echo("acme"), ("POST", "/acme/probe:echo", echo("other")), echo("acme")),
        case(
            "Echo",
            json!({"kinds": {"text": "path", "flag": true}}),
            ("PUT", "/probe/echo/path", json!({"kinds": {"text": "body", "flag": true}})),
            json!({"kinds": {"text": "path", "flag": true}}),
        ),
        case(
            "Store",
            json!({"id": "a", "inner": {"label": "l", "child": {"size": "3"}}, "color": "COLOR_RED"}),
            ("PATCH", "/probe/things/a?color=COLOR_RED", json!({"label": "l", "child": {"size": 3}})),
            store(json!({"id": "a", "inner": {"label": "l", "child": {"size": "3"}}, "color": "COLOR_RED"})),
        ),
        case(
            "Store",
            json!({"id": "a", "tags": ["x", "y"]}),
            ("POST", "/probe/things/a/tags", json!(["x", "y"])),
            store(json!({"id": "a", "tags": ["x", "y"]})),
        ),
        case(
            "Store",
            json!({"id": "a"}),
            ("PATCH", "/probe/things/a", Value::Null),
            store(json!({"id": "a"})),
        ),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn response_body_prints_one_field_over_http() {
    let server = server().await;
    let client = Client::new(&server).await;
    let form = Http { method: "GET", path: "/probe/pluck?count=2", body: "" };
    let grpc = client.call(Binding::Grpc, "Pluck", r#"{"count":2}"#, form).await;
    let http = client.call(Binding::Http, "Pluck", "", form).await;
    assert_eq!(http.answers[0], grpc.answers[0]["inners"]);
    assert_eq!(http.answers[0], json!([{"label": "no 0"}, {"label": "no 1", "size": "1"}]));
}

#[tokio::test(flavor = "multi_thread")]
async fn response_body_prints_the_default_of_a_field_that_is_not_set() {
    let server = server().await;
    let client = Client::new(&server).await;
    for (path, expected) in [
        ("/probe/pluck", json!([])),
        ("/probe/pluck/hidden", json!("")),
        ("/probe/pluck/total", json!("0")),
        ("/probe/pluck/some", json!(false)),
        ("/probe/pluck/first", json!({})),
        ("/probe/pluck/names", json!({})),
        ("/probe/pluck/color", json!("COLOR_UNSPECIFIED")),
        ("/probe/pluck/maybe", json!(null)),
        ("/probe/pluck/first?count=1", json!({"label": "no 0"})),
    ] {
        let told = client.http(Http { method: "GET", path, body: "" }).await;
        assert_eq!(told.outcome, Outcome::answer(expected), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_package_that_prints_names_as_they_are_reads_both_spellings() {
    let server = server().await;
    let client = Client::new(&server).await;
    let whole =
        json!({"item_id": "a", "inner_part": {"short_name": "n", "some_size": 3}, "some_tags": ["x", "y"]});
    let inner = |name: &str| json!({ "item_id": "b", name: {"someSize": 3} }).to_string();
    let seen = json!({"item_id": "b", "inner_part": {"short_name": "n", "some_size": 3}});
    for (method, path, body, expected) in [
        (
            "GET",
            "/snake/a?inner_part.short_name=n&inner_part.some_size=3&some_tags=x&some_tags=y",
            "",
            &whole,
        ),
        ("GET", "/snake/a?innerPart.shortName=n&inner_part.someSize=3&someTags=x&some_tags=y", "", &whole),
        ("PATCH", "/snake/a?someTags=x&some_tags=y", r#"{"shortName": "n", "some_size": 3}"#, &whole),
        (
            "POST",
            "/snake/b",
            r#"{"itemId": "other", "innerPart": {"short_name": "n", "someSize": 3}}"#,
            &seen,
        ),
        ("PUT", "/snake/n", &inner("innerPart"), &seen),
        ("PUT", "/snake/n", &inner("inner_part"), &seen),
        ("PUT", "/snake/n", r#"{"itemId": "b", "innerPart": {"shortName": "m", "some_size": 3}}"#, &seen),
    ] {
        let told = client.http(Http { method, path, body }).await;
        let expected = Outcome::answer(json!({ "seen_request": expected }));
        assert_eq!(told.outcome, expected, "{method} {path} {body}");
    }
    let plucked = client.http(Http { method: "GET", path: "/snake/a/seen?someTags=x", body: "" }).await;
    assert_eq!(plucked.outcome, Outcome::answer(json!({"item_id": "a", "some_tags": ["x"]})));
    let twice =
        Http { method: "GET", path: "/snake/a?innerPart.shortName=n&inner_part.short_name=m", body: "" };
    assert_eq!(client.http(twice).await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_are_the_same_with_all_their_details() {
    let server = server().await;
    let client = Client::new(&server).await;
    let mut cases: Vec<(&str, Value, (&str, &str))> = (1..=16)
        .map(|code| ("Fail", json!({"code": code, "message": "why: ü\n%"}), ("POST", "/probe:fail")))
        .collect();
    cases.extend([
        ("Fail", json!({"code": 5, "message": "m", "reason": "LOST"}), ("POST", "/probe:fail")),
        ("Fail", json!({"fields": ["a.b[1]", "c"]}), ("POST", "/probe:fail")),
        ("Fail", json!({"message": "later", "retryAfterSeconds": 7}), ("POST", "/probe:fail")),
        ("Fail", json!({"panic": true}), ("POST", "/probe:fail")),
        ("Stub", json!({}), ("GET", "/probe/stub")),
        ("Count", json!({"to": 3, "thenFail": 8}), ("POST", "/probe:count")),
        ("Count", json!({"to": 0, "thenFail": 3}), ("POST", "/probe:count")),
    ]);
    for (rpc, request, (method, path)) in cases {
        let text = request.to_string();
        let form = Http { method, path, body: if method == "GET" { "" } else { &text } };
        let grpc = client.call(Binding::Grpc, rpc, &text, form).await;
        assert!(grpc.error.is_some(), "{request}");
        for binding in [Binding::GrpcWeb, Binding::Http] {
            assert_eq!(
                client.call(binding, rpc, &text, form).await,
                grpc,
                "{rpc} {request} over {binding:?}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_required_fields_are_named_alike_on_every_binding() {
    let server = server().await;
    let client = Client::new(&server).await;
    let request = json!({"needy": [
        {"word": "w", "color": "COLOR_RED", "parts": ["p"], "inner": {}, "maybe": ""},
        {"more": {"k": {"either": {"or": "x"}}}},
    ]});
    let text = request.to_string();
    let form = Http { method: "POST", path: "/probe:store", body: &text };
    let outcome = client.call(Binding::Grpc, "Store", &text, form).await;
    for binding in [Binding::GrpcWeb, Binding::Http] {
        assert_eq!(client.call(binding, "Store", &text, form).await, outcome, "{binding:?}");
    }
    let error = outcome.error.unwrap();
    let fields: Vec<&str> = error["details"][1]["fieldViolations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|violation| violation["field"].as_str().unwrap())
        .collect();
    let below = ["word", "color", "parts", "inner"];
    let mut expected = vec!["id".to_owned()];
    expected.extend(below.map(|name| format!("needy[1].{name}")));
    expected.extend(below.map(|name| format!("needy[1].more[k].{name}")));
    expected.extend(below.map(|name| format!("needy[1].more[k].either.{name}")));
    expected.extend(
        ["needy[1].more[k].either.maybe", "needy[1].more[k].maybe", "needy[1].maybe"].map(str::to_owned),
    );
    assert_eq!(fields, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn metadata_of_an_answer_is_headers_over_http() {
    let server = server().await;
    let response = crate::kit::http()
        .post(server.url("/probe:echo"))
        .bearer_auth(crate::kit::TOKEN)
        .json(&json!({}))
        .send()
        .await
        .unwrap();
    assert_eq!(response.headers()["x-probe"], "echoed");
    assert_eq!(response.headers()["content-type"], "application/json");
}
