//! Requests of the hub and what is made of them; a number is that of a bug in the list of those that users met.

use super::*;
use crate::proto::vendor;

/// What stands in place of `given`, and what was told.
fn fitted(model: &str, given: &str) -> (String, String) {
    let ask = r#"{"contents":[{"role":"user","parts":[{"text":"a"}]}],"#;
    let text = format!("{ask}{given}}}");
    let mut request: GenerateContentRequest = vendor::decode(text.as_bytes()).unwrap();
    request.model = model.to_owned();
    let abilities = Abilities::of(model);
    let Fitted { request, changes, .. } = fit(request, &abilities);
    let again = fit(request.clone(), &abilities);
    assert_eq!((&again.request, again.changes.len()), (&request, 0), "{model} {given}: again");
    (printed(&request).replacen(ask, "", 1), told(&changes))
}

fn printed(request: &GenerateContentRequest) -> String {
    let mut out = Vec::new();
    vendor::encode(request, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn told(changes: &[Change]) -> String {
    let one = |change: &Change| format!("{}: {}", change.field, change.how.as_str());
    changes.iter().map(one).collect::<Vec<_>>().join(" ")
}

const LEVEL: &str = "generationConfig.thinkingConfig.thinkingLevel: altered";
const BUDGET: &str = "generationConfig.thinkingConfig.thinkingBudget: altered";

#[test]
fn thinking_is_asked_for_as_the_model_knows_it() {
    let (old, new) = ("gemini-2.5-flash", "gemini-3-flash-preview");
    for (model, given, expected, changes) in [
        (old, r#""thinkingLevel":"LOW""#, r#""thinkingBudget":1024"#, LEVEL),
        (old, r#""thinkingLevel":"MEDIUM""#, r#""thinkingBudget":8192"#, LEVEL),
        (old, r#""thinkingLevel":"HIGH""#, r#""thinkingBudget":24576"#, LEVEL),
        (old, r#""thinkingBudget":0"#, r#""thinkingBudget":0"#, ""),
        (old, r#""thinkingBudget":-1"#, r#""thinkingBudget":-1"#, ""),
        (old, r#""thinkingBudget":100000"#, r#""thinkingBudget":24576"#, BUDGET),
        ("gemini-2.5-pro", r#""thinkingBudget":0"#, r#""thinkingBudget":128"#, BUDGET),
        ("gemini-2.5-pro", r#""thinkingBudget":100000"#, r#""thinkingBudget":32768"#, BUDGET),
        ("gemini-2.5-flash-lite", r#""thinkingBudget":100"#, r#""thinkingBudget":512"#, BUDGET),
        (
            old,
            r#""thinkingBudget":5,"thinkingLevel":"LOW""#,
            r#""thinkingBudget":5"#,
            "generationConfig.thinkingConfig.thinkingLevel: ignored",
        ),
        (
            old,
            r#""includeThoughts":true,"thinkingBudget":0"#,
            r#""thinkingBudget":0"#,
            "generationConfig.thinkingConfig.includeThoughts: ignored",
        ),
        (new, r#""thinkingLevel":"MINIMAL""#, r#""thinkingLevel":"MINIMAL""#, ""),
        (new, r#""thinkingBudget":0"#, r#""thinkingLevel":"MINIMAL""#, BUDGET),
        (new, r#""thinkingBudget":2048"#, r#""thinkingLevel":"LOW""#, BUDGET),
        (new, r#""thinkingBudget":16384"#, r#""thinkingLevel":"MEDIUM""#, BUDGET),
        (new, r#""thinkingBudget":16385"#, r#""thinkingLevel":"HIGH""#, BUDGET),
        (
            new,
            r#""includeThoughts":true,"thinkingBudget":-1"#,
            r#""includeThoughts":true"#,
            "generationConfig.thinkingConfig.thinkingBudget: ignored",
        ),
        (
            new,
            r#""thinkingBudget":5,"thinkingLevel":"LOW""#,
            r#""thinkingLevel":"LOW""#,
            "generationConfig.thinkingConfig.thinkingBudget: ignored",
        ),
        (
            new,
            r#""includeThoughts":true,"thinkingLevel":"HUGE""#,
            r#""includeThoughts":true"#,
            "generationConfig.thinkingConfig.thinkingLevel: dropped",
        ),
        ("gemini-3-pro-preview", r#""thinkingLevel":"MEDIUM""#, r#""thinkingLevel":"HIGH""#, LEVEL),
        ("gemini-3-pro-preview", r#""thinkingBudget":0"#, r#""thinkingLevel":"LOW""#, BUDGET),
        ("gemini-3.1-pro-preview", r#""thinkingLevel":"MEDIUM""#, r#""thinkingLevel":"MEDIUM""#, ""),
        ("gemini-3.8-flash", r#""thinkingLevel":"MINIMAL""#, r#""thinkingLevel":"LOW""#, LEVEL),
        ("gemini-4-argon", r#""thinkingLevel":"MINIMAL""#, r#""thinkingLevel":"LOW""#, LEVEL),
    ] {
        let config = |thinking: &str| format!(r#""generationConfig":{{"thinkingConfig":{{{thinking}}}}}"#);
        let (printed, told) = fitted(model, &config(given));
        assert_eq!((printed, told.as_str()), (format!("{}}}", config(expected)), changes), "{model} {given}");
    }
}

#[test]
fn who_does_not_think_is_not_asked_to() {
    for (given, how) in [(r#""thinkingLevel":"LOW""#, "dropped"), (r#""includeThoughts":true"#, "ignored")] {
        let given = format!(r#""generationConfig":{{"seed":1,"thinkingConfig":{{{given}}}}}"#);
        let expected = r#""generationConfig":{"seed":1}}"#.to_owned();
        assert_eq!(
            fitted("gemini-2.0-flash", &given),
            (expected, format!("generationConfig.thinkingConfig: {how}"))
        );
    }
}

/// Bug 40.
#[test]
fn what_may_be_seen_leaves_room_for_thoughts() {
    let visible = "generationConfig.visibleOutputTokens: altered";
    for (model, thinking, visible_tokens, most, expected, changes) in [
        ("gemini-3-flash", "", 100, None, 8_292, visible),
        ("gemini-3-flash", "LOW", 100, None, 1_124, visible),
        ("gemini-3-flash", "HIGH", 100, None, 24_676, visible),
        ("gemini-3-flash", "HIGH", 60_000, None, 65_536, visible),
        ("gemini-3-flash", "", 100, Some(200), 200, visible),
        ("gemini-2.0-flash", "", 100, None, 100, ""),
        ("gemini-4-argon", "", 100_000, None, 108_192, visible),
    ] {
        let thinking_config = (!thinking.is_empty()).then(|| crate::proto::gemini::ThinkingConfig {
            thinking_level: thinking.to_owned(),
            ..Default::default()
        });
        let config = crate::proto::gemini::GenerationConfig {
            visible_output_tokens: Some(visible_tokens),
            max_output_tokens: most,
            thinking_config,
            ..Default::default()
        };
        let request = GenerateContentRequest { generation_config: Some(config), ..Default::default() };
        let Fitted { request, changes: told_of, .. } = fit(request, &Abilities::of(model));
        let config = request.generation_config.unwrap();
        assert_eq!(
            (config.max_output_tokens, config.visible_output_tokens),
            (Some(expected), None),
            "{model}"
        );
        assert_eq!(told(&told_of).trim_end_matches("contents: guessed").trim(), changes, "{model}");
    }
    let off = r#""generationConfig":{"maxOutputTokens":100000}"#;
    let expected = (
        r#""generationConfig":{"maxOutputTokens":65536}}"#.to_owned(),
        "generationConfig.maxOutputTokens: altered".to_owned(),
    );
    assert_eq!(fitted("gemini-2.5-flash", off), expected);
}

#[test]
fn what_this_server_says_to_itself_is_in_no_json() {
    let text = r#"{"generationConfig":{"visibleOutputTokens":5}}"#;
    let request: GenerateContentRequest = vendor::decode(text.as_bytes()).unwrap();
    assert_eq!(request.generation_config.unwrap().visible_output_tokens, None);
    let config =
        crate::proto::gemini::GenerationConfig { visible_output_tokens: Some(5), ..Default::default() };
    let request = GenerateContentRequest { generation_config: Some(config), ..Default::default() };
    assert_eq!(printed(&request), r#"{"generationConfig":{}}"#);
}

const F: &str = r#"{"functionDeclarations":[{"name":"f"}]}"#;

#[test]
fn what_a_model_does_not_take_is_said_in_another_way() {
    let (old, new) = ("gemini-2.5-flash", "gemini-3-flash");
    let search = format!(r#""tools":[{F},{{"googleSearch":{{}},"urlContext":{{}}}}]"#);
    let beside = format!(
        r#""tools":[{F},{{"googleSearch":{{}}}},{{"urlContext":{{}}}}],"toolConfig":{{"includeServerSideToolInvocations":true}}"#
    );
    let both = r#""tools":[{"functionDeclarations":[{"name":"f"},{"name":"g"}]}]"#;
    let calling = |mode: &str, names: &str| {
        format!(
            r#"{both},"toolConfig":{{"functionCallingConfig":{{"mode":"{mode}","allowedFunctionNames":[{names}]}}}}"#
        )
    };
    let allowed = "toolConfig.functionCallingConfig.allowedFunctionNames: dropped";
    let fine = r#""tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object", "properties":{}}}]}],"generationConfig":{"temperature":1,"responseModalities":["TEXT"]},"cachedContent":"c""#;
    for (case, model, given, expected, changes) in [
        ("31 auto and names", new, calling("AUTO", r#""g""#), r#""tools":[{"functionDeclarations":[{"name":"g"}]}],"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}}"#.to_owned(), ""),
        ("31 any and names", new, calling("ANY", r#""g""#), calling("ANY", r#""g""#), ""),
        ("31 validated and names", new, calling("VALIDATED", r#""g""#), calling("VALIDATED", r#""g""#), ""),
        ("31 a name of nothing", new, calling("ANY", r#""g","h""#), calling("ANY", r#""g""#), allowed),
        ("32 search beside functions", new, search.clone(), beside, ""),
        ("32 search beside functions, before", old, search, format!(r#""tools":[{F}]"#), "tools[1].googleSearch: dropped tools[1].urlContext: dropped"),
        ("32 search alone", old, r#""tools":[{"googleSearch":{}}]"#.to_owned(), r#""tools":[{"googleSearch":{}}]"#.to_owned(), ""),
        ("samplers", "gemini-4-argon", r#""generationConfig":{"temperature":1,"topP":0.5,"topK":3,"seed":1}"#.to_owned(), r#""generationConfig":{"seed":1}"#.to_owned(), "generationConfig.temperature: dropped generationConfig.topP: dropped generationConfig.topK: dropped"),
        ("55 a bad category", new, r#""safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"OFF"},{"category":"HARM_CATEGORY_TOXICITY","threshold":"OFF"},{"category":"HARM_CATEGORY_HATE_SPEECH","threshold":"ALL"}]"#.to_owned(), r#""safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"OFF"}]"#.to_owned(), "safetySettings[1].category: dropped safetySettings[2].threshold: dropped"),
        ("48 JSON beside tools", new, format!(r#""tools":[{F}],"generationConfig":{{"responseMimeType":"application/json"}}"#), format!(r#""tools":[{F}],"generationConfig":{{"responseMimeType":"application/json"}}"#), ""),
        ("48 JSON beside tools, before", old, format!(r#""systemInstruction":{{"parts":[{{"text":"s"}}]}},"tools":[{F}],"generationConfig":{{"seed":1,"responseMimeType":"application/json","responseJsonSchema":{{"type":"array"}}}}"#), format!(r#""systemInstruction":{{"parts":[{{"text":"s"}},{{"text":"When you call no function, answer with nothing but JSON by this schema: {{\"type\":\"array\"}}"}}]}},"tools":[{F}],"generationConfig":{{"seed":1}}"#), "generationConfig.responseMimeType: altered"),
        ("20 an empty system text", new, r#""systemInstruction":{"parts":[{"text":""}]},"labels":{"a":"b"}"#.to_owned(), r#""labels":{"a":"b"}"#.to_owned(), ""),
        ("a schema of an older model", "gemini-2.0-flash", r#""tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"$schema":"s","type":"object","properties":{"x":{"type":"string"}}}}]}]"#.to_owned(), r#""tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT","properties":{"x":{"type":"STRING"}}}}]}]"#.to_owned(), "tools[f].$schema: ignored"),
        ("all else is left alone", new, fine.to_owned(), fine.to_owned(), ""),
    ] {
        assert_eq!(fitted(model, &given), (format!("{expected}}}"), changes.to_owned()), "{case}");
    }
}

/// Bug 35.
#[test]
fn pictures_of_functions_go_behind_their_answers_where_they_must() {
    let text = r#"{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{},"parts":[{"inlineData":{"mimeType":"image/png","data":"AA=="}}]}}]}]}"#;
    let request = || vendor::decode::<GenerateContentRequest>(text.as_bytes()).unwrap();
    let old = fit(request(), &Abilities::of("gemini-2.5-flash"));
    assert_eq!(
        printed(&old.request),
        text.replace(r#","parts":[{"inlineData":{"mimeType":"image/png","data":"AA=="}}]}}]}"#, r#"}}]},{"role":"user","parts":[{"text":"What f gave besides:"},{"inlineData":{"mimeType":"image/png","data":"AA=="}}]}"#)
    );
    assert_eq!(told(&old.changes), "contents[2].parts[0].functionResponse.parts: altered");
    let new = fit(request(), &Abilities::of("gemini-3-flash"));
    assert!(printed(&new.request).contains(r#""parts":[{"inlineData""#) && new.changes.is_empty());
}
