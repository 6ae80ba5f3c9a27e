//! ProtoJSON against Python's json_format: what one writes, the other reads.

use agena::proto::json;

use crate::probe::pb::Kinds;

#[test]
fn a_null_value_stays_a_value() {
    let kinds: Kinds = json::decode(br#"{"value":null,"pickedValue":null,"values":[null]}"#).unwrap();
    let mut out = Vec::new();
    json::encode(&kinds, &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), r#"{"value":null,"values":[null],"pickedValue":null}"#);
}
