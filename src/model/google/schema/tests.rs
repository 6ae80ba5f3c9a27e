//! Cases by what they show; a number is that of a bug in the list of those that users met with other bridges.

use super::*;

/// The schema of a function `f`, and what was told of it.
fn declared(schema: &str, json_schema: bool) -> (String, Vec<String>) {
    let function = FunctionDeclaration {
        name: "f".to_owned(),
        parameters_json_schema: schema.to_owned(),
        ..FunctionDeclaration::default()
    };
    let tool = crate::proto::gemini::Tool { function_declarations: vec![function], extra: String::new() };
    let mut request = GenerateContentRequest { tools: vec![tool], ..GenerateContentRequest::default() };
    let mut changes = Vec::new();
    fit(&mut request, json_schema, &mut changes);
    let function = &request.tools[0].function_declarations[0];
    let schema = if json_schema { &function.parameters_json_schema } else { &function.parameters };
    let told = changes.iter().map(|change| format!("{}: {}", change.field, change.how.as_str()));
    (schema.clone(), told.collect())
}

/// The schema of a property `x`, reduced; `of` stands for where it is.
fn reduced(schema: &str) -> (String, String) {
    let (printed, told) = declared(&format!(r#"{{"type":"object","properties":{{"x":{schema}}}}}"#), false);
    let inner = printed.strip_prefix(r#"{"type":"OBJECT","properties":{"x":"#);
    let inner = inner.and_then(|rest| rest.strip_suffix("}}")).unwrap_or(&printed);
    (inner.to_owned(), told.join(" ").replace("tools[f].properties.x", "x"))
}

const REDUCED: &[(&str, &str, &str, &str)] = &[
    (
        "21 $schema",
        r#"{"$schema":"s","$id":"i","type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}"#,
        r#"{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}"#,
        "x.$schema: ignored x.$id: ignored x.additionalProperties: ignored",
    ),
    (
        "21 maps",
        r#"{"type":"object","description":"d","additionalProperties":{"type":"integer"}}"#,
        r#"{"type":"OBJECT","description":"d (further members: {\"type\":\"integer\"})"}"#,
        "x.additionalProperties: altered",
    ),
    (
        "22 exclusive of integers",
        r#"{"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":10}"#,
        r#"{"type":"INTEGER","minimum":1,"maximum":9}"#,
        "",
    ),
    (
        "22 exclusive of numbers",
        r#"{"type":"number","exclusiveMinimum":0.5}"#,
        r#"{"type":"NUMBER","minimum":0.5}"#,
        "x.exclusiveMinimum: altered",
    ),
    (
        "22 exclusive beside a bound",
        r#"{"type":"integer","exclusiveMinimum":0,"minimum":5}"#,
        r#"{"type":"INTEGER","minimum":5}"#,
        "",
    ),
    (
        "22 exclusive of draft 4",
        r#"{"exclusiveMaximum":true,"type":"integer","maximum":5}"#,
        r#"{"type":"INTEGER","maximum":4}"#,
        "",
    ),
    (
        "22 multipleOf",
        r#"{"type":"integer","multipleOf":5}"#,
        r#"{"type":"INTEGER","description":"(a multiple of 5)"}"#,
        "x.multipleOf: altered",
    ),
    (
        "22 propertyNames",
        r#"{"type":"object","propertyNames":{"pattern":"a"}}"#,
        r#"{"type":"OBJECT","description":"(propertyNames: {\"pattern\":\"a\"})"}"#,
        "x.propertyNames: altered",
    ),
    (
        "22 uniqueItems",
        r#"{"type":"array","items":{"type":"string"},"uniqueItems":true}"#,
        r#"{"type":"ARRAY","description":"(no item twice)","items":{"type":"STRING"}}"#,
        "x.uniqueItems: altered",
    ),
    ("23 const", r#"{"const":"a"}"#, r#"{"type":"STRING","enum":["a"]}"#, ""),
    (
        "23 const that is no text",
        r#"{"const":5}"#,
        r#"{"type":"INTEGER","description":"(one of 5)"}"#,
        "x.enum: altered",
    ),
    (
        "23 $comment and enumDescriptions",
        r#"{"type":"string","enum":["a"],"$comment":"c","enumDescriptions":["d"],"examples":["a"],"x-own":1}"#,
        r#"{"type":"STRING","enum":["a"]}"#,
        "x.$comment: ignored x.enumDescriptions: ignored x.examples: ignored x.x-own: ignored",
    ),
    (
        "24 a type or null",
        r#"{"type":["string","null"],"description":"d"}"#,
        r#"{"type":"STRING","description":"d","nullable":true}"#,
        "",
    ),
    (
        "24 several types",
        r#"{"type":["string","integer"],"description":"d"}"#,
        r#"{"anyOf":[{"type":"STRING","description":"d"},{"type":"INTEGER","description":"d"}]}"#,
        "",
    ),
    ("24 null alone", r#"{"type":"null"}"#, r#"{"type":"STRING","nullable":true}"#, "x.type: altered"),
    (
        "25 anyOf with null",
        r#"{"anyOf":[{"type":"string"},{"type":"null"}],"default":null,"title":"X"}"#,
        r#"{"type":"STRING","nullable":true}"#,
        "x.default: ignored x.title: ignored",
    ),
    (
        "25 siblings of anyOf",
        r#"{"description":"d","type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}"#,
        r#"{"anyOf":[{"type":"OBJECT","properties":{"a":{"type":"STRING"},"b":{"type":"STRING"}},"description":"d","required":["a"]},{"type":"OBJECT","properties":{"a":{"type":"STRING"},"b":{"type":"STRING"}},"description":"d","required":["b"]}]}"#,
        "",
    ),
    ("25 a bare branch", r#"{"anyOf":[{"type":"string"},{}]}"#, r#"{"type":"STRING"}"#, "x.anyOf: dropped"),
    (
        "25 oneOf",
        r#"{"oneOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]}"#,
        r#"{"anyOf":[{"type":"STRING","nullable":true},{"type":"INTEGER","nullable":true}]}"#,
        "x.oneOf: altered",
    ),
    (
        "25 branches of constants",
        r#"{"oneOf":[{"const":"a","title":"A"},{"const":"b"}]}"#,
        r#"{"type":"STRING","enum":["a","b"]}"#,
        "x.oneOf: altered",
    ),
    (
        "25 allOf",
        r#"{"allOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"integer","minimum":1},"a":{"minLength":2}},"required":["b"]}],"properties":{"b":{"minimum":3}}}"#,
        r#"{"type":"OBJECT","properties":{"b":{"type":"INTEGER","minimum":3},"a":{"type":"STRING","minLength":2}},"required":["a","b"]}"#,
        "",
    ),
    (
        "26 enum of integers",
        r#"{"type":"integer","enum":[1,2,3],"description":"d"}"#,
        r#"{"type":"INTEGER","description":"d (one of 1, 2, 3)"}"#,
        "x.enum: altered",
    ),
    ("26 enum without a type", r#"{"enum":["a","b"]}"#, r#"{"type":"STRING","enum":["a","b"]}"#, ""),
    (
        "26 enum with null",
        r#"{"type":["string","null"],"enum":["a",null]}"#,
        r#"{"type":"STRING","enum":["a"],"nullable":true}"#,
        "x.enum: altered",
    ),
    (
        "26 empty enum and empty text",
        r#"{"type":"string","enum":[]}"#,
        r#"{"type":"STRING"}"#,
        "x.enum: dropped",
    ),
    (
        "26 an empty text in an enum",
        r#"{"type":"string","enum":["","a"]}"#,
        r#"{"type":"STRING","enum":["a"]}"#,
        "x.enum: altered",
    ),
    (
        "26 enum of several kinds",
        r#"{"enum":["a",1,true]}"#,
        r#"{"type":"STRING","enum":["a","1","true"]}"#,
        "x.enum: altered",
    ),
    (
        "28 formats",
        r#"{"type":"string","format":"email"}"#,
        r#"{"type":"STRING","description":"(format: email)"}"#,
        "x.format: altered",
    ),
    (
        "28 a format that is known",
        r#"{"type":"string","format":"date-time"}"#,
        r#"{"type":"STRING","format":"date-time"}"#,
        "",
    ),
    (
        "28 a format of numbers",
        r#"{"type":"integer","format":"int64"}"#,
        r#"{"type":"INTEGER","format":"int64"}"#,
        "",
    ),
    (
        "array without items",
        r#"{"type":"array","maxItems":3}"#,
        r#"{"type":"ARRAY","maxItems":3,"items":{"type":"STRING"}}"#,
        "x.items: guessed",
    ),
    (
        "tuples",
        r#"{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}]}"#,
        r#"{"type":"ARRAY","items":{"anyOf":[{"type":"STRING"},{"type":"INTEGER"}]}}"#,
        "x.prefixItems: altered",
    ),
    ("a nested object without members", r#"{"type":"object"}"#, r#"{"type":"OBJECT"}"#, ""),
    ("no type", r#"{"description":"d"}"#, r#"{"type":"STRING","description":"d"}"#, "x.type: altered"),
    (
        "a name that is required and not there",
        r#"{"type":"object","properties":{"a":true},"required":["a","b"]}"#,
        r#"{"type":"OBJECT","properties":{"a":{"type":"STRING"}},"required":["a"]}"#,
        "x.properties.a.type: altered x.required: dropped",
    ),
    (
        "conditions",
        r#"{"type":"object","if":{"a":1},"then":{"b":2},"not":{"type":"string"}}"#,
        r#"{"type":"OBJECT","description":"(if: {\"a\":1}; then: {\"b\":2}; not: {\"type\":\"string\"})"}"#,
        "x.if: altered x.then: altered x.not: altered",
    ),
    (
        "counts as texts",
        r#"{"type":"string","minLength":"2","maxLength":5.0}"#,
        r#"{"type":"STRING","minLength":2,"maxLength":5}"#,
        "",
    ),
    (
        "Gemini's own words",
        r#"{"type":"STRING","nullable":true}"#,
        r#"{"type":"STRING","nullable":true}"#,
        "",
    ),
];

#[test]
fn a_json_schema_is_reduced_to_what_gemini_says() {
    for (case, schema, expected, told) in REDUCED {
        assert_eq!(reduced(schema), ((*expected).to_owned(), (*told).to_owned()), "{case}");
    }
}

const ROOTS: &[(&str, &str, &str, &str)] = &[
    (
        "27 references",
        r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A","description":"here"},"b":{"$ref":"#/definitions/B"}},"$defs":{"A":{"type":"string","description":"there"}},"definitions":{"B":{"type":"array","items":{"$ref":"#/$defs/A"}}}}"##,
        r#"{"type":"OBJECT","properties":{"a":{"type":"STRING","description":"here"},"b":{"type":"ARRAY","items":{"type":"STRING","description":"there"}}}}"#,
        "",
    ),
    (
        "27 a cycle",
        r##"{"type":"object","properties":{"next":{"$ref":"#/$defs/Node"}},"$defs":{"Node":{"type":"object","properties":{"next":{"$ref":"#/$defs/Node"},"v":{"type":"string"}}}}}"##,
        r#"{"type":"OBJECT","properties":{"next":{"type":"OBJECT","properties":{"next":{"type":"OBJECT"},"v":{"type":"STRING"}}}}}"#,
        "tools[f].properties.next.properties.next.$ref: altered",
    ),
    (
        "27 the same twice is no cycle",
        r##"{"allOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/A"}],"$defs":{"A":{"type":"object","properties":{"a":{"type":"string"}}}}}"##,
        r#"{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}"#,
        "",
    ),
    (
        "27 a reference that leads nowhere",
        r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}}}"##,
        r#"{"type":"OBJECT","properties":{"a":{"type":"OBJECT"}}}"#,
        "tools[f].properties.a.$ref: dropped",
    ),
    (
        "27 an anchor and an escaped name",
        r##"{"type":"object","properties":{"a":{"$ref":"#one"},"b":{"$ref":"#/$defs/x~1y%20z"}},"$defs":{"A":{"$anchor":"one","type":"integer"},"x/y z":{"type":"boolean"}}}"##,
        r#"{"type":"OBJECT","properties":{"a":{"type":"INTEGER"},"b":{"type":"BOOLEAN"}}}"#,
        "tools[f].properties.a.$anchor: ignored",
    ),
    ("29 no arguments", r#"{"type":"object","properties":{}}"#, "", ""),
    ("29 nothing at all", "{}", "", ""),
    (
        "a root that is no object",
        r#"{"type":"array","items":{"type":"string"}}"#,
        r#"{"type":"OBJECT","properties":{"value":{"type":"ARRAY","items":{"type":"STRING"}}},"required":["value"]}"#,
        "tools[f]: altered",
    ),
    (
        "a path as it is told",
        r#"{"type":"object","properties":{"when":{"type":"string","format":"date"}}}"#,
        r#"{"type":"OBJECT","properties":{"when":{"type":"STRING","description":"(format: date)"}}}"#,
        "tools[f].properties.when.format: altered",
    ),
];

#[test]
fn the_root_of_a_schema_has_rules_of_its_own() {
    for (case, schema, expected, told) in ROOTS {
        let (printed, changes) = declared(schema, false);
        assert_eq!((printed.as_str(), changes.join(" ").as_str()), (*expected, *told), "{case}");
    }
}

#[test]
fn what_was_reduced_is_reduced_no_further() {
    for (case, schema, ..) in REDUCED.iter().chain(ROOTS) {
        let (once, _) = declared(&format!(r#"{{"type":"object","properties":{{"x":{schema}}}}}"#), false);
        let (twice, told) = declared(&once, false);
        assert_eq!((twice, told), (once, Vec::new()), "{case}");
    }
}

const FULL: &[(&str, &str, Option<&str>, &str)] = &[
    (
        "as it is",
        r#"{ "type":"object", "properties":{"z":{"type":["string","null"],"minLength":1},"a":{"anyOf":[{"type":"integer","exclusiveMinimum":0},{"type":"null"}]}},"additionalProperties":false}"#,
        None,
        "",
    ),
    (
        "21 $schema",
        r#"{"$schema":"s","type":"object","properties":{"$schema":{"type":"string"},"a":{"$comment":"c","type":"string"}}}"#,
        Some(r#"{"type":"object","properties":{"$schema":{"type":"string"},"a":{"type":"string"}}}"#),
        "tools[f].$schema: ignored tools[f].properties.a.$comment: ignored",
    ),
    (
        "23 const",
        r#"{"type":"object","properties":{"a":{"const":1},"b":{"const":true}}}"#,
        Some(r#"{"type":"object","properties":{"a":{"enum":[1]},"b":{"const":true}}}"#),
        "",
    ),
    (
        "27 definitions",
        r##"{"type":"object","properties":{"a":{"$ref":"#/definitions/A","description":"d","minLength":1}},"definitions":{"A":{"type":"string"}}}"##,
        Some(
            r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"string"}}}"##,
        ),
        "tools[f].properties.a.description: ignored tools[f].properties.a.minLength: dropped",
    ),
    (
        "a root without a type",
        r#"{"properties":{"a":{"type":"string"}}}"#,
        Some(r#"{"properties":{"a":{"type":"string"}},"type":"object"}"#),
        "",
    ),
    (
        "a root that is no object",
        r##"{"type":"string","$defs":{"A":{}}}"##,
        Some(
            r##"{"type":"object","$defs":{"A":{}},"properties":{"value":{"type":"string"}},"required":["value"]}"##,
        ),
        "tools[f]: altered",
    ),
];

#[test]
fn where_json_schema_is_taken_only_what_is_refused_goes() {
    for (case, schema, expected, told) in FULL {
        let (printed, changes) = declared(schema, true);
        assert_eq!(
            (printed.as_str(), changes.join(" ").as_str()),
            (expected.unwrap_or(schema), *told),
            "{case}"
        );
        assert_eq!(declared(&printed, true), (printed, Vec::new()), "{case}, again");
    }
}

#[test]
fn a_schema_of_the_answer_goes_the_same_way() {
    let text =
        r#"{"contents":[],"generationConfig":{"responseJsonSchema":{"type":"array","items":{"const":"a"}}}}"#;
    let mut request: GenerateContentRequest = crate::proto::vendor::decode(text.as_bytes()).unwrap();
    fit(&mut request, false, &mut Vec::new());
    let config = request.generation_config.unwrap();
    assert_eq!(config.response_schema, r#"{"type":"ARRAY","items":{"type":"STRING","enum":["a"]}}"#);
    assert_eq!(config.response_json_schema, "");
}

#[test]
fn what_would_grow_without_end_is_cut() {
    let doubling: Vec<String> =
        (0..40).map(|at| format!(r##""A{at}":{{"type":"object","properties":{{"l":{{"$ref":"#/$defs/A{0}"}},"r":{{"$ref":"#/$defs/A{0}"}}}}}}"##, at + 1)).collect();
    let schema = format!(r##"{{"$ref":"#/$defs/A0","$defs":{{{}}}}}"##, doubling.join(","));
    let (printed, told) = declared(&schema, false);
    assert!(printed.len() < 10_000_000 && !told.is_empty(), "{} {}", printed.len(), told.len());
    let deep =
        format!("{}{}{}", r#"{"type":"array","items":"#.repeat(60), r#"{"type":"string"}"#, "}".repeat(60));
    let (_, told) = reduced(&deep);
    assert!(told.contains("dropped"), "{told}");
}
