use http::HeaderValue;

use super::ModelCause::*;
use super::*;

fn who() -> Who {
    Who { name: "the server".to_owned(), credentials: "the key from X".to_owned() }
}

fn check(status: u16, body: &str, cause: ModelCause, message: &str) {
    let error = refused(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), body.as_bytes(), &who());
    assert_eq!((error.cause, error.message.as_str()), (cause, message), "{body}");
}

/// Status, message, type, code as JSON, and what is made of it.
const REFUSALS: &[(u16, &str, &str, &str, ModelCause, &str)] = &[
    // OpenAI.
    (400, "No.", "invalid_request_error", "null", Invalid, "the server refused the request (400): No."),
    (
        400,
        "5 tokens.",
        "invalid_request_error",
        "\"context_length_exceeded\"",
        TooLong,
        "the conversation is too long for the server (400): 5 tokens.",
    ),
    (
        401,
        "Incorrect API key provided: sk-abc123.",
        "invalid_request_error",
        "\"invalid_api_key\"",
        Denied,
        "the server refused the key from X (401): it is wrong, or may not do this",
    ),
    (
        403,
        "Country not supported.",
        "request_forbidden",
        "null",
        Forbidden,
        "the server refused the key from X (403): it is wrong, or may not do this: Country not supported.",
    ),
    (
        403,
        "No access to m.",
        "invalid_request_error",
        "\"model_not_found\"",
        NotFound,
        "the server has no such model or address (403): No access to m.",
    ),
    (
        404,
        "There is no m.",
        "invalid_request_error",
        "\"model_not_found\"",
        NotFound,
        "the server has no such model or address (404): There is no m.",
    ),
    (
        429,
        "Slow down.",
        "requests",
        "\"rate_limit_exceeded\"",
        Limited,
        "the server has had too many requests (429): Slow down.",
    ),
    (
        429,
        "You exceeded your current quota.",
        "insufficient_quota",
        "\"insufficient_quota\"",
        Exhausted,
        "the quota at the server is used up (429): You exceeded your current quota.",
    ),
    (
        429,
        "Too large: reduce the length of your input.",
        "tokens",
        "\"rate_limit_exceeded\"",
        Limited,
        "the server has had too many requests (429): Too large: reduce the length of your input.",
    ),
    (500, "Oops.", "server_error", "null", Failed, "the server failed (500): Oops."),
    (503, "Busy.", "server_error", "null", Unavailable, "the server is not available (503): Busy."),
    // vLLM.
    (
        400,
        "This model's maximum context length is 5 tokens.",
        "BadRequestError",
        "400",
        TooLong,
        "the conversation is too long for the server (400): This model's maximum context length is 5 tokens.",
    ),
    (
        400,
        "max_tokens must be at least 1, got -186.",
        "BadRequestError",
        "400",
        TooLong,
        "the conversation is too long for the server (400): max_tokens must be at least 1, got -186.",
    ),
    (
        404,
        "The model `m` does not exist.",
        "NotFoundError",
        "404",
        NotFound,
        "the server has no such model or address (404): The model `m` does not exist.",
    ),
    // llama.cpp, which has also said 500 to it.
    (
        500,
        "the request exceeds the available context size",
        "exceed_context_size_error",
        "500",
        TooLong,
        "the conversation is too long for the server (500): the request exceeds the available context size",
    ),
    (
        503,
        "Loading model",
        "unavailable_error",
        "503",
        Unavailable,
        "the server is not available (503): Loading model",
    ),
    // Ollama.
    (
        400,
        "m does not support tools",
        "invalid_request_error",
        "null",
        Unsupported,
        "the model cannot do that, says the server (400): m does not support tools",
    ),
    (
        404,
        "model 'm' not found",
        "not_found_error",
        "null",
        NotFound,
        "the server has no such model or address (404): model 'm' not found",
    ),
    (
        402,
        "Insufficient Balance",
        "unknown_error",
        "\"invalid_request_error\"",
        Exhausted,
        "the quota at the server is used up (402): Insufficient Balance",
    ),
];

#[test]
fn each_refusal_has_its_cause_and_its_words() {
    let say = |message: &str, kind: &str, code: &str| {
        format!(r#"{{"error":{{"message":"{message}","type":"{kind}","param":null,"code":{code}}}}}"#)
    };
    for (status, message, kind, code, cause, words) in REFUSALS.iter().copied() {
        check(status, &say(message, kind, code), cause, words);
        check(status, &format!("[{}]", say(message, kind, code)), cause, words);
    }
}

/// Status, body, and what is made of it.
const BODIES: &[(u16, &str, ModelCause, &str)] = &[
    (
        404,
        r#"{"error":"model 'm' not found"}"#,
        NotFound,
        "the server has no such model or address (404): model 'm' not found",
    ),
    (
        400,
        r#"{"object":"error","message":"Please reduce the length of the messages.","type":"BadRequestError","param":null,"code":400}"#,
        TooLong,
        "the conversation is too long for the server (400): Please reduce the length of the messages.",
    ),
    (
        422,
        r#"{"detail":[{"loc":["body"],"msg":"Field required","type":"missing"},{"msg":"Too bad"}]}"#,
        Invalid,
        "the server refused the request (422): Field required; Too bad",
    ),
    (404, r#"{"detail":"Not Found"}"#, NotFound, "the server has no such model or address (404): Not Found"),
    (400, r#"{"message":"a\n  b"}"#, Invalid, "the server refused the request (400): a b"),
    (400, r#"{"odd":1}"#, Invalid, r#"the server refused the request (400): {"odd":1}"#),
    (400, "[]", Invalid, "the server refused the request (400): []"),
    (400, "null", Invalid, "the server refused the request (400): null"),
    (
        502,
        "<html><h1>Bad Gateway</h1></html>",
        Unavailable,
        "the server is not available (502): it is a web page; is that the address of the API?",
    ),
    (
        404,
        "  404 page not found\n",
        NotFound,
        "the server has no such model or address (404): 404 page not found",
    ),
    (500, "", Failed, "the server failed (500)"),
    (413, "", TooLong, "the conversation is too long for the server (413)"),
    (302, "", NotFound, "the server has no such model or address (302)"),
    (408, "", Unavailable, "the server is not available (408)"),
    (501, "", Unsupported, "the model cannot do that, says the server (501)"),
    (
        400,
        "the key sk-0123456789abcdef is odd",
        Invalid,
        "the server refused the request (400): the key *** is odd",
    ),
];

#[test]
fn whatever_is_sent_is_read() {
    for (status, body, cause, words) in BODIES.iter().copied() {
        check(status, body, cause, words);
    }
    let long = refused(StatusCode::BAD_REQUEST, &HeaderMap::new(), "ä".repeat(9000).as_bytes(), &who());
    assert!(long.message.chars().count() < 700 && long.message.ends_with("..."), "{long}");
    let odd = refused(StatusCode::BAD_REQUEST, &HeaderMap::new(), b"\xff\xfe", &who());
    assert_eq!(odd.cause, Invalid);
}

#[test]
fn an_answer_is_an_error_only_if_it_says_so() {
    for body in
        ["", "{}", "[]", r#"{"error":null}"#, r#"{"message":"x"}"#, r#"{"choices":[]}"#, "nonsense", "[1]"]
    {
        assert_eq!(told(body.as_bytes(), &who()), None, "{body}");
    }
    for (body, cause) in [
        (r#"{"error":"x"}"#, Unavailable),
        (r#"{"error":{"message":"x","code":429}}"#, Limited),
        (r#"{"error":{"message":"x","code":"rate_limit_exceeded"}}"#, Limited),
        (r#"{"error":{"message":"x","type":"invalid_request_error"}}"#, Invalid),
        (r#"{"error":{"message":"x","code":200}}"#, Unavailable),
        (r#"{"error":{}}"#, Unavailable),
    ] {
        assert_eq!(told(body.as_bytes(), &who()).map(|error| error.cause), Some(cause), "{body}");
    }
}

#[test]
fn a_server_says_when_to_come_back() {
    let now = ("date", "Wed, 21 Oct 2026 07:28:00 GMT");
    for (headers, seconds) in [
        (vec![("retry-after", "2")], Some(2.0)),
        (vec![("retry-after", "0.5")], Some(0.5)),
        (vec![("retry-after", "2"), ("retry-after-ms", "1500")], Some(1.5)),
        (vec![("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT"), now], Some(30.0)),
        (vec![("retry-after", "Wed, 21 Oct 2026 07:27:30 GMT"), now], None),
        (vec![("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT")], None),
        (vec![("retry-after", "-1")], None),
        (vec![("retry-after", "inf")], None),
        (vec![("retry-after", "soon")], None),
        (vec![], None),
    ] {
        let mut map = HeaderMap::new();
        for (name, value) in &headers {
            map.insert(*name, HeaderValue::from_static(value));
        }
        let error = refused(StatusCode::TOO_MANY_REQUESTS, &map, b"", &who());
        assert_eq!(error.retry_after.map(|after| after.as_secs_f64()), seconds, "{headers:?}");
    }
}
