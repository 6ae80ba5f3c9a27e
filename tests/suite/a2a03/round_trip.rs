//! What 0.3 can carry comes back as it was, whatever it is: through its protobuf, and through its JSON.

use agena::projection::v03::read;
use agena::projection::v03::write::V03;
use agena::proto::a2a::part::Content;
use agena::proto::a2a::{
    AuthenticationInfo, Message, Part, Role, SendMessageConfiguration, SendMessageRequest,
    TaskPushNotificationConfig,
};
use agena::proto::wkt::{Kind, ListValue, Struct, Value};
use agena::proto::{a2a, a2a_v03};
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::json;

proptest! {
    #![proptest_config(Config { cases: 500, failure_persistence: None, ..Config::default() })]

    #[test]
    fn protobuf_keeps_what_it_can_carry(request in requests()) {
        let there = a2a_v03::SendMessageRequest::from(request.clone());
        let back = SendMessageRequest::try_from(there).map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert_eq!(back, carried_by_protobuf(request));
    }

    /// Tasks only go out, so their messages and artifacts are compared by the parts that can come back.
    #[test]
    fn tasks_keep_their_parts(message in messages(), state in 0..9_i32) {
        let artifact = a2a::Artifact {
            artifact_id: "a".to_owned(), name: "n".to_owned(), description: "d".to_owned(),
            parts: message.parts.clone(), metadata: message.metadata.clone(), extensions: message.extensions.clone(),
        };
        let status = a2a::TaskStatus { state, message: Some(message.clone()), timestamp: None };
        let task = a2a::Task {
            id: "t".to_owned(), context_id: "c".to_owned(), status: Some(status),
            artifacts: vec![artifact.clone()], history: vec![message.clone()], metadata: message.metadata.clone(),
        };
        let there = a2a_v03::Task::from(task);
        let carried = carried_message(message);
        prop_assert_eq!((there.id.as_str(), there.context_id.as_str()), ("t", "c"));
        prop_assert_eq!(&there.metadata, &carried.metadata);
        prop_assert_eq!(there.history.into_iter().map(Message::from).collect::<Vec<_>>(), [carried.clone()]);
        let status = there.status.unwrap();
        prop_assert_eq!((status.state, status.update.map(Message::from)), (state, Some(carried.clone())));
        let [ours] = <[a2a_v03::Artifact; 1]>::try_from(there.artifacts).unwrap();
        prop_assert_eq!(ours.parts.into_iter().map(Part::from).collect::<Vec<_>>(), carried.parts);
        prop_assert_eq!((ours.name, ours.description), (artifact.name, artifact.description));
        prop_assert_eq!((ours.metadata, ours.extensions), (artifact.metadata, artifact.extensions));
    }

    #[test]
    fn json_keeps_all_but_names_and_types_of_what_is_no_file(message in messages()) {
        let params = json!({"message": V03(&message)});
        let back = read::send_message(params).map_err(|e| TestCaseError::fail(e.to_string()))?;
        let mut expected = message;
        expected.parts.iter_mut().filter(|part| !is_file(part)).for_each(|part| {
            part.filename.clear();
            part.media_type.clear();
        });
        prop_assert_eq!(back.message, Some(expected));
    }
}

fn is_file(part: &Part) -> bool {
    matches!(part.content, Some(Content::Raw(_) | Content::Url(_)))
}

fn carried_by_protobuf(mut request: SendMessageRequest) -> SendMessageRequest {
    request.message = request.message.map(carried_message);
    if let Some(configuration) = &mut request.configuration {
        // 0 means "all" there.
        configuration.history_length = configuration.history_length.filter(|length| *length != 0);
    }
    request
}

fn carried_message(message: Message) -> Message {
    let parts = message.parts.into_iter().map(carried_part).collect();
    Message { parts, reference_task_ids: Vec::new(), ..message }
}

fn carried_part(part: Part) -> Part {
    let media_type = if is_file(&part) { part.media_type } else { String::new() };
    let content = part.content.map(|content| match content {
        Content::Data(data) if !matches!(data.kind, Some(Kind::Struct(_))) => {
            let fields = [("value".to_owned(), data)].into();
            Content::Data(Kind::Struct(Struct { fields }).into())
        }
        other => other,
    });
    Part { content, media_type, ..Part::default() }
}

fn requests() -> impl Strategy<Value = SendMessageRequest> {
    let configuration = prop::option::of(configurations());
    (messages(), configuration, metadata()).prop_map(|(message, configuration, metadata)| {
        SendMessageRequest { message: Some(message), configuration, metadata, tenant: String::new() }
    })
}

fn configurations() -> impl Strategy<Value = SendMessageConfiguration> {
    let modes = prop::collection::vec("[a-z]+/[a-z]+", 0..3);
    let lengths = prop::option::of(0..9_i32);
    (modes, prop::option::of(webhooks()), lengths, any::<bool>()).prop_map(
        |(accepted_output_modes, task_push_notification_config, history_length, return_immediately)| {
            SendMessageConfiguration {
                accepted_output_modes,
                task_push_notification_config,
                history_length,
                return_immediately,
            }
        },
    )
}

fn webhooks() -> impl Strategy<Value = TaskPushNotificationConfig> {
    let info = ("[A-Z][a-z]+", "[a-z]*")
        .prop_map(|(scheme, credentials)| AuthenticationInfo { scheme, credentials });
    (".*", ".+", ".*", prop::option::of(info)).prop_map(|(id, url, token, authentication)| {
        TaskPushNotificationConfig { id, url, token, authentication, ..TaskPushNotificationConfig::default() }
    })
}

fn messages() -> impl Strategy<Value = Message> {
    let texts = || prop::collection::vec(".*", 0..3);
    let ids = (".+", ".*", ".*");
    let parts = prop::collection::vec(parts(), 1..4);
    let role = prop::sample::select(vec![Role::User, Role::Agent]);
    (ids, role, parts, metadata(), texts(), texts()).prop_map(
        |((message_id, context_id, task_id), role, parts, metadata, extensions, reference_task_ids)| {
            Message {
                message_id,
                context_id,
                task_id,
                role: role.into(),
                parts,
                metadata,
                extensions,
                reference_task_ids,
            }
        },
    )
}

fn parts() -> impl Strategy<Value = Part> {
    let content = prop_oneof![
        ".*".prop_map(Content::Text),
        prop::collection::vec(any::<u8>(), 0..9).prop_map(|bytes| Content::Raw(bytes.into())),
        ".*".prop_map(Content::Url),
        values().prop_map(Content::Data),
    ];
    (content, metadata(), ".*", ".*").prop_map(|(content, metadata, filename, media_type)| Part {
        content: Some(content),
        metadata,
        filename,
        media_type,
    })
}

/// Not empty when it is there: the mark on wrapped data takes empty metadata with it when it goes.
fn metadata() -> impl Strategy<Value = Option<Struct>> {
    prop::option::of(objects(values().boxed(), 1))
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Kind::Null(0)),
        any::<bool>().prop_map(Kind::Bool),
        any::<i32>().prop_map(|number| Kind::Number(number.into())),
        prop::num::f64::NORMAL.prop_map(Kind::Number),
        ".*".prop_map(Kind::String),
    ];
    leaf.prop_map(Value::from).prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|values| Kind::List(ListValue { values }).into()),
            objects(inner.boxed(), 0).prop_map(|object| Kind::Struct(object).into()),
        ]
    })
}

fn objects(values: BoxedStrategy<Value>, least: usize) -> impl Strategy<Value = Struct> {
    prop::collection::btree_map("[a-z]{1,4}", values, least..4).prop_map(|fields| Struct { fields })
}
