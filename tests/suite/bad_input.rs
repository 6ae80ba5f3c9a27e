//! Whatever comes in, the answer is an error that names the field and the server goes on.

use serde_json::{Value, json};

use crate::kit::{DEADLINE, TOKEN, TestServer, http, server};

/// A request, and what the answer has to say.
struct Case {
    name: &'static str,
    method: &'static str,
    path: String,
    content_type: &'static str,
    body: Vec<u8>,
    status: u16,
    /// The field of the first violation, or the reason where no field is at fault. A `*` stands for any end.
    blame: &'static str,
}

fn json_case(name: &'static str, body: impl Into<Vec<u8>>, status: u16, blame: &'static str) -> Case {
    let path = "/probe:echo".to_owned();
    Case { name, method: "POST", path, content_type: "application/json", body: body.into(), status, blame }
}

fn path_case(name: &'static str, method: &'static str, path: &str, status: u16, blame: &'static str) -> Case {
    Case { name, method, path: path.to_owned(), content_type: "", body: Vec::new(), status, blame }
}

async fn check(cases: Vec<Case>) {
    let server = server().await;
    for case in cases {
        let (status, body) = send(&server, &case).await;
        assert_eq!(status, case.status, "{}: {body}", case.name);
        let error = &body["error"];
        assert_eq!(error["code"], case.status, "{}", case.name);
        let details = error["details"].as_array().unwrap();
        let reason = details[0]["reason"].as_str().unwrap();
        let field = details.get(1).map_or(reason, |bad| bad["fieldViolations"][0]["field"].as_str().unwrap());
        let blamed = match case.blame.strip_suffix('*') {
            Some(start) => field.starts_with(start),
            None => field == case.blame,
        };
        assert!(blamed, "{}: {} expected in {body}", case.name, case.blame);
        assert!(!error["message"].as_str().unwrap().is_empty());
    }
    let alive = http().get(server.url("/probe/things/special")).bearer_auth(TOKEN).send().await.unwrap();
    assert_eq!(alive.status(), 200);
}

async fn send(server: &TestServer, case: &Case) -> (u16, Value) {
    let mut request = http().request(case.method.parse().unwrap(), server.url(&case.path)).bearer_auth(TOKEN);
    if !case.content_type.is_empty() {
        request = request.header("content-type", case.content_type);
    }
    let response = request.body(case.body.clone()).timeout(DEADLINE).send().await.unwrap();
    let status = response.status().as_u16();
    (status, serde_json::from_str(&response.text().await.unwrap()).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_types_name_their_field() {
    let kinds = |inner: &str| format!(r#"{{"kinds": {{{inner}}}}}"#);
    check(vec![
        json_case("number for text", kinds(r#""text": 5"#), 400, "kinds.text"),
        json_case("text for bool", kinds(r#""flag": "yes""#), 400, "kinds.flag"),
        json_case("text for int", kinds(r#""i32": "five""#), 400, "kinds.i32"),
        json_case("too large for int32", kinds(r#""i32": 2147483648"#), 400, "kinds.i32"),
        json_case("negative for unsigned", kinds(r#""u64": -1"#), 400, "kinds.u64"),
        json_case("fraction for int", kinds(r#""i64": 1.5"#), 400, "kinds.i64"),
        json_case("object for list", kinds(r#""texts": {}"#), 400, "kinds.texts"),
        json_case("list for object", kinds(r#""inner": []"#), 400, "kinds.inner"),
        json_case("inside of a list", kinds(r#""inners": [{}, {"size": "x"}]"#), 400, "kinds.inners[1].size"),
        json_case(
            "inside of a map",
            kinds(r#""byNumber": {"7": {"label": 1}}"#),
            400,
            "kinds.byNumber.7.label",
        ),
        json_case("bad map key", kinds(r#""byNumber": {"x": {}}"#), 400, "kinds.byNumber.x"),
        json_case("unknown enum name", kinds(r#""color": "COLOR_MAUVE""#), 400, "kinds.color"),
        json_case(
            "unknown enum name in a list",
            kinds(r#""colors": ["COLOR_RED", "x"]"#),
            400,
            "kinds.colors[1]",
        ),
        json_case("bad base64", kinds(r#""raw": "%%%""#), 400, "kinds.raw"),
        json_case("bad time", kinds(r#""time": "yesterday""#), 400, "kinds.time"),
        json_case("bad duration", kinds(r#""span": "1 hour""#), 400, "kinds.span"),
        json_case("text for object", kinds(r#""object": "x""#), 400, "kinds.object"),
        json_case(
            "two of a oneof",
            kinds(r#""pickedText": "a", "pickedFlag": true"#),
            400,
            "kinds.pickedText",
        ),
        json_case("a list as the document", "[]", 400, "MALFORMED_REQUEST"),
        json_case("text as the document", "\"x\"", 400, "MALFORMED_REQUEST"),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_documents_say_where() {
    let deep = |open: &str, close: &str, n: usize| {
        format!(r#"{{"kinds": {{"value": {}1{}}}}}"#, open.repeat(n), close.repeat(n)).into_bytes()
    };
    check(vec![
        json_case("not JSON", "{", 400, "MALFORMED_REQUEST"),
        json_case("trailing comma", r#"{"tenant": "a",}"#, 400, "MALFORMED_REQUEST"),
        json_case("two documents", "{} {}", 400, "MALFORMED_REQUEST"),
        json_case("invalid UTF-8", b"{\"tenant\": \"\xff\"}".to_vec(), 400, "tenant"),
        json_case("lone surrogate", r#"{"tenant": "\ud800"}"#, 400, "tenant"),
        json_case("duplicate key", r#"{"tenant": "a", "tenant": "b"}"#, 400, "tenant"),
        json_case("duplicate key inside", r#"{"kinds": {"text": "a", "text": "b"}}"#, 400, "kinds.text"),
        json_case(
            "duplicate key in free JSON",
            r#"{"kinds": {"object": {"a": 1, "a": 2}}}"#,
            400,
            "kinds.object.a",
        ),
        json_case("29 objects deep", deep(r#"{"a":"#, "}", 29), 400, "kinds.value*"),
        json_case("43 lists deep", deep("[", "]", 43), 400, "kinds.value*"),
        json_case("20,000 lists deep", deep("[", "]", 20_000), 400, "kinds.value*"),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_paths_and_parameters_say_what_is_wrong() {
    let steps = vec!["child"; 40].join(".");
    check(vec![
        path_case("nothing there", "GET", "/nowhere", 404, "ROUTE_NOT_FOUND"),
        path_case("empty id", "GET", "/probe/things/", 404, "ROUTE_NOT_FOUND"),
        path_case("wrong method", "POST", "/probe/things/special", 405, "METHOD_NOT_ALLOWED"),
        path_case("unknown parameter", "GET", "/probe/things/a?nope=1", 400, "nope"),
        path_case("unknown nested", "GET", "/probe/things/a?inner.nope=1", 400, "inner.nope"),
        path_case("through a plain field", "GET", "/probe/things/a?id.x=1", 400, "id.x"),
        path_case("given twice", "GET", "/probe/things/a?count=1&count=2", 400, "count"),
        path_case("message as text", "GET", "/probe/things/a?inner=x", 400, "inner"),
        path_case("map as text", "GET", "/probe/things/a?not_a_parameter=x", 400, "not_a_parameter"),
        path_case("bad bool", "GET", "/probe/things/a?flag=1", 400, "flag"),
        path_case("bad int", "GET", "/probe/things/a?count=x", 400, "count"),
        path_case("bad enum", "GET", "/probe/things/a?color=MAUVE", 400, "color"),
        path_case("bad path int", "GET", "/probe/counts/x/true/1", 400, "count"),
        path_case("not UTF-8", "GET", "/probe/things/%ff", 400, "id"),
        path_case("not UTF-8 in the query", "GET", "/probe/things/a?name=%ff", 400, "name"),
        path_case("not UTF-8 inside", "GET", "/probe/things/a?inner.label=a%C3", 400, "inner.label"),
        path_case("a name that is not UTF-8", "GET", "/probe/things/a?%ff=1", 400, "\u{fffd}"),
        path_case(
            "too many steps",
            "GET",
            &format!("/probe/things/a?inner.{steps}.label=x"),
            400,
            "inner.child.child*",
        ),
        path_case("body field in the query", "PATCH", "/probe/things/a?inner.label=x", 400, "inner.label"),
        path_case("parameters beside a whole body", "POST", "/probe:echo?tenant=x", 400, "tenant"),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_method_is_told_the_right_ones() {
    let server = server().await;
    let response = http().put(server.url("/probe/things/a")).bearer_auth(TOKEN).send().await.unwrap();
    assert_eq!(response.status(), 405);
    assert_eq!(response.headers()["allow"], "DELETE, GET, PATCH, PURGE");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nests_just_deep_enough_comes_back_whole() {
    let server = server().await;
    for (open, close, n) in [(r#"{"a":"#, "}", 28), ("[", "]", 42)] {
        let body = format!(r#"{{"kinds":{{"value":{}1{}}}}}"#, open.repeat(n), close.repeat(n));
        let request = http()
            .post(server.url("/probe:echo"))
            .bearer_auth(TOKEN)
            .header("content-type", "application/json");
        let response = request.body(body.clone()).send().await.unwrap();
        assert_eq!((response.status().as_u16(), response.text().await.unwrap()), (200, body));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn values_that_json_cannot_hold_are_refused_over_grpc() {
    use crate::kit::{Client, with_token};
    use crate::probe::pb::{EchoRequest, Kinds};
    use agena::proto::wkt::{Kind, ListValue, Value as Any};

    let server = server().await;
    let client = Client::new(&server).await;
    let nested = (0..43)
        .fold(Any::from(Kind::Bool(true)), |inner, _| Kind::List(ListValue { values: vec![inner] }).into());
    for (value, reason) in [(Kind::Number(f64::NAN).into(), "NOT_FINITE"), (nested, "TOO_DEEP")] {
        let kinds = Kinds { value: Some(value), ..Kinds::default() };
        let request = EchoRequest { kinds: Some(kinds), ..EchoRequest::default() };
        let refused = client.grpc().echo(with_token(request)).await.unwrap_err();
        let outcome = crate::kit::Outcome::of_status(&refused).error.unwrap();
        let violation = &outcome["details"][1]["fieldViolations"][0];
        assert_eq!((&violation["field"], &violation["reason"]), (&json!("kinds.value"), &json!(reason)));
    }
}
