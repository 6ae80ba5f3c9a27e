use super::*;

fn check(status: u16, body: &str, cause: ModelCause, seconds: Option<f64>, message: &str) {
    let error = refusal("Google", "the key from X", status, body.as_bytes());
    let told = (error.cause, error.retry_after.map(|delay| delay.as_secs_f64()), error.message.as_str());
    assert_eq!(told, (cause, seconds, message), "{body}");
}

#[test]
fn each_refusal_has_its_cause_and_its_words() {
    use ModelCause::*;
    let say = |message: &str, details: &str| {
        format!(r#"{{"error":{{"code":0,"message":"{message}","status":"S","details":[{details}]}}}}"#)
    };
    let both = |status, message: &str, details: &str, cause, seconds, expected: &str| {
        check(status, &say(message, details), cause, seconds, expected);
        // Streams wrap it in a list.
        check(status, &format!("[{}]", say(message, details)), cause, seconds, expected);
    };
    let invalid = r#"{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}"#;
    both(
        400,
        "API key not valid.",
        invalid,
        Denied,
        None,
        "Google refused the key from X: API key not valid.",
    );
    both(400, "Bad field.", "", Invalid, None, "Google refused the request: Bad field.");
    let long = "The input token count (5) exceeds the maximum number of tokens allowed (4).";
    both(400, long, "", TooLong, None, &format!("Google refused the request: {long}"));
    both(401, "No.", "", Denied, None, "Google refused the key from X: No.");
    let help = r#"{"links":[{"description":"d","url":"https://example.com/verify"}]}"#;
    both(
        403,
        "No.",
        help,
        Forbidden,
        None,
        "Google refused the key from X: No. (see https://example.com/verify)",
    );
    both(404, "No model.", "", NotFound, None, "Google refused the request: No model.");
    let retry = r#"{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"12.5s"}"#;
    both(429, "Slow.", retry, Limited, Some(12.5), "Google has had too many requests: Slow.");
    let text = "Quota. Please retry in 850ms.";
    both(429, text, "", Limited, Some(0.85), &format!("Google has had too many requests: {text}"));
    let minute = r#"{"violations":[{"quotaId":"RequestsPerMinutePerProject"}]}"#;
    both(429, "Slow.", minute, Limited, Some(60.0), "Google has had too many requests: Slow.");
    let day = r#"{"violations":[{"quotaId":"GenerateRequestsPerDayPerProject"}]}"#;
    both(429, "Day.", day, Exhausted, None, "the quota at Google is used up: Day.");
    let later = r#"{"retryDelay":"3600s"}"#;
    both(429, "Later.", later, Exhausted, Some(3600.0), "the quota at Google is used up: Later.");
    both(500, "Oops.", "", Failed, None, "Google failed: Oops.");
    for status in [408, 499, 502, 503, 504, 529] {
        both(status, "Down.", "", Unavailable, None, "Google is not available: Down.");
    }
}

#[test]
fn a_body_that_says_nothing_leaves_the_status() {
    for body in ["", "<html>", "{}", "[]", "[1]", r#"{"error":null}"#, "\u{0}"] {
        check(503, body, ModelCause::Unavailable, None, "Google is not available: status 503");
    }
    check(503, r#"{"error":"words"}"#, ModelCause::Unavailable, None, "Google is not available: words");
}

#[test]
fn within_a_stream_the_body_has_the_status() {
    check(
        0,
        r#"{"error":{"code":429,"message":"m"}}"#,
        ModelCause::Limited,
        None,
        "Google has had too many requests: m",
    );
    check(0, r#"{"error":{"message":"m"}}"#, ModelCause::Failed, None, "Google failed: m");
    check(0, r#"{"error":{"code":99999999,"message":"m"}}"#, ModelCause::Failed, None, "Google failed: m");
}

#[test]
fn what_a_server_says_is_cut_to_a_line() {
    let long = format!(r#"{{"error":{{"code":503,"message":"a\n  b {}"}}}}"#, "ä".repeat(5000));
    let error = refusal("Google", "the key from X", 503, long.as_bytes());
    assert!(error.message.starts_with("Google is not available: a b ä") && error.message.ends_with("..."));
    assert!(error.message.chars().count() < 650 && !error.message.contains('\n'));
}
