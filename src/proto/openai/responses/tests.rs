//! The JSON of responses, there and back.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::proto::openai::response_event::Event;
use crate::proto::openai::{CreateResponseRequest, Item, ItemProgress, ResponseEvent, item};
use crate::proto::vendor::{decode, encode};

fn print<T: Serialize + prost::Name>(message: &T) -> String {
    let mut out = Vec::new();
    encode(message, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn again<T: Serialize + DeserializeOwned + prost::Name>(text: &str) -> String {
    print::<T>(&decode(text.as_bytes()).unwrap_or_else(|e| panic!("{text}: {e}")))
}

#[test]
fn requests_are_printed_as_they_were_read() {
    for text in [
        r#"{"model":"m","input":"hi","stream":true}"#,
        r#"{"input":[{"type":"message","role":"user","content":"hi"},{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"a","annotations":[{"n":12345678901234567890123}],"logprobs":[]},{"type":"refusal","refusal":"no"}],"phase":"commentary"}]}"#,
        r#"{"input":[{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"s"}],"encrypted_content":"x","new":1.50}]}"#,
        r#"{"input":[{"type":"function_call","call_id":"c","name":"f","arguments":"{\"n\":1.0}"},{"type":"function_call_output","call_id":"c","output":"x"},{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":"data:image/png;base64,AA=="}]}]}"#,
        r#"{"input":[{"type":"mcp_call","output":{"deep":[1e2]},"status":5},{"type":"message","role":"user","content":[{"type":"hologram","x":1}]}]}"#,
        r#"{"tools":[{"type":"function","name":"f","parameters":{"maximum":12345678901234567890123},"strict":null},{"type":"custom","name":"c","format":{"type":"grammar"}},{"type":"namespace","name":"n","tools":[{"type":"web_search","filters":[]}]},{"type":"mcp","server_label":"l"}]}"#,
        r#"{"tool_choice":"auto"}"#,
        r#"{"tool_choice":{"type":"function","name":"f"}}"#,
        r#"{"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"}]}}"#,
        r#"{"tool_choice":{"type":"web_search_preview"}}"#,
        r#"{"text":{"format":{"type":"json_schema","name":"n","schema":{"a":1.0},"strict":true},"verbosity":"low"},"new":{}}"#,
    ] {
        assert_eq!(again::<CreateResponseRequest>(text), text);
    }
}

#[test]
fn items_without_a_type_are_known_by_what_they_have() {
    let one = |text: &str| decode::<Item>(text.as_bytes()).unwrap().item;
    assert!(matches!(one(r#"{"role":"user","content":"hi"}"#), Some(item::Item::Message(_))));
    assert!(matches!(one(r#"{"type":null,"id":"x"}"#), Some(item::Item::ItemReference(_))));
    assert!(one(r#"{"new":1}"#).is_none());
    assert!(decode::<Item>(b"5").unwrap_err().to_string().contains("an item is an object"));
    let wrong = decode::<CreateResponseRequest>(
        br#"{"input":[{"role":"user","content":[{"type":"input_text","text":5}]}]}"#,
    );
    let wrong = wrong.unwrap_err().to_string();
    assert!(wrong.contains("input[0]") && wrong.contains("content[0]") && wrong.contains("text"), "{wrong}");
}

#[test]
fn an_event_has_its_type_and_number_before_its_members() {
    let progress = ItemProgress { item_id: "ws_1".to_owned(), output_index: 0 };
    let event = ResponseEvent { sequence_number: 7, event: Some(Event::WebSearchCallSearching(progress)) };
    assert_eq!(
        print(&event),
        r#"{"type":"response.web_search_call.searching","sequence_number":7,"item_id":"ws_1","output_index":0}"#
    );
}
