//! Items between requests: ids for those that came without, references to others, and what of a stored answer is shown.

use std::collections::HashMap;

use prost::Message;

use crate::domain::error::Error;
use crate::proto::openai::item::Item as Kind;
use crate::proto::openai::item_part::Part;
use crate::proto::openai::response_input::Input;
use crate::proto::openai::{
    Item, ItemContent, ItemPart, ItemParts, MessageItem, OutputTextPart, Response, ResponseInput, TextPart,
    item_content,
};

/// The items of an input. A text is a message of the user's.
pub fn items(input: Option<ResponseInput>) -> Vec<Item> {
    match input.and_then(|input| input.input) {
        None => Vec::new(),
        Some(Input::Items(items)) => items.items,
        Some(Input::Text(text)) => {
            let content = Some(ItemContent { content: Some(item_content::Content::Text(text)) });
            let message = MessageItem { role: "user".to_owned(), content, ..MessageItem::default() };
            vec![Item { item: Some(Kind::Message(message)), ..Item::default() }]
        }
    }
}

/// The same look at every kind of item, to read or to write.
macro_rules! id {
    ($kind:expr, $($by:tt)+) => {
        match $kind {
            Kind::Message(item) => $($by)+ item.id,
            Kind::Reasoning(item) => $($by)+ item.id,
            Kind::FunctionCall(item) => $($by)+ item.id,
            Kind::CustomToolCall(item) => $($by)+ item.id,
            Kind::FunctionCallOutput(item)
            | Kind::CustomToolCallOutput(item)
            | Kind::LocalShellCallOutput(item)
            | Kind::ApplyPatchCallOutput(item) => $($by)+ item.id,
            Kind::ItemReference(item) => $($by)+ item.id,
            Kind::WebSearchCall(item) => $($by)+ item.id,
            Kind::CodeInterpreterCall(item) => $($by)+ item.id,
            Kind::ImageGenerationCall(item) => $($by)+ item.id,
            Kind::LocalShellCall(item) | Kind::ShellCall(item) => $($by)+ item.id,
            Kind::ShellCallOutput(item) => $($by)+ item.id,
            Kind::ApplyPatchCall(item) => $($by)+ item.id,
            Kind::AdditionalTools(item) => $($by)+ item.id,
        }
    };
}

/// The id of an item; nothing where it has none.
pub fn id(item: &Item) -> &str {
    item.item.as_ref().map_or("", |kind| id!(kind, &))
}

fn id_mut(item: &mut Item) -> Option<&mut String> {
    item.item.as_mut().map(|kind| id!(kind, &mut))
}

/// What the ids of input items begin with, by their type.
fn prefix(item: &Item) -> &'static str {
    match item.item {
        Some(Kind::Message(_)) => "msg",
        Some(Kind::Reasoning(_)) => "rs",
        Some(Kind::FunctionCall(_)) => "fc",
        Some(Kind::FunctionCallOutput(_)) => "fco",
        _ => "item",
    }
}

/// Gives an id to every item that has none, made of the id of the answer.
pub fn named(items: &mut [Item], response_id: &str) {
    let own = response_id.strip_prefix("resp_").unwrap_or(response_id).to_owned();
    for (at, item) in items.iter_mut().enumerate() {
        let prefix = prefix(item);
        if let Some(id) = id_mut(item).filter(|id| id.is_empty()) {
            *id = format!("{prefix}_{own}i{at:02}");
        }
    }
}

/// The answers in which items may stand that these only name: ids of items are made of those of their answers.
pub fn places(items: &[Item]) -> Vec<String> {
    const LENGTH: usize = 32;
    let place = |item: &Item| match &item.item {
        Some(Kind::ItemReference(reference)) => {
            let own = reference.id.split_once('_')?.1.get(..LENGTH)?;
            Some(format!("resp_{own}"))
        }
        _ => None,
    };
    let mut places: Vec<String> = items.iter().filter_map(place).collect();
    places.sort();
    places.dedup();
    places
}

/// Puts what references name in their place. `known` is all that may be named, `most` how many bytes it may come to.
pub fn resolve(items: &mut [Item], known: &[Item], most: usize) -> Result<(), Error> {
    let known: HashMap<&str, &Item> = known.iter().map(|item| (id(item), item)).collect();
    let mut length = 0;
    for (at, item) in items.iter_mut().enumerate() {
        let Some(Kind::ItemReference(reference)) = &item.item else { continue };
        let Some(found) = known.get(reference.id.as_str()) else {
            let field = format!("input[{at}].id");
            let problem = format!("there is no item `{}`; send the item itself", reference.id);
            return Err(Error::field(field, problem));
        };
        length += found.encoded_len();
        if length > most {
            let problem = format!("what the references name is larger than {most} bytes; name less");
            return Err(Error::field(format!("input[{at}].id"), problem));
        }
        *item = (*found).clone();
    }
    Ok(())
}

/// As a list of items shows it: what a message says is in parts, however it came.
pub fn listed(mut item: Item) -> Item {
    if let Some(Kind::Message(message)) = &mut item.item
        && let Some(ItemContent { content: Some(content) }) = &mut message.content
        && let item_content::Content::Text(text) = content
    {
        let part = match message.role.as_str() {
            "assistant" => {
                Part::OutputText(OutputTextPart { text: std::mem::take(text), ..OutputTextPart::default() })
            }
            _ => Part::InputText(TextPart { text: std::mem::take(text), ..TextPart::default() }),
        };
        let parts = vec![ItemPart { part: Some(part), ..ItemPart::default() }];
        *content = item_content::Content::Parts(ItemParts { parts });
    }
    item
}

/// Thoughts travel only with clients that ask for them.
pub fn shown(mut response: Response, include: &[String]) -> Response {
    if !include.iter().any(|one| one == super::ENCRYPTED) {
        response.output.iter_mut().for_each(hide);
    }
    response
}

/// Takes what only the model can read out of an item.
pub(super) fn hide(item: &mut Item) {
    if let Some(Kind::Reasoning(reasoning)) = &mut item.item {
        reasoning.encrypted_content = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::vendor;

    #[test]
    fn a_list_shows_messages_in_parts() {
        for (came, shown) in [
            (r#"{"role":"user","content":"a"}"#, r#"[{"type":"input_text","text":"a"}]"#),
            (r#"{"role":"assistant","content":"b"}"#, r#""text":"b""#),
            (
                r#"{"role":"user","content":[{"type":"input_text","text":"c"}]}"#,
                r#"[{"type":"input_text","text":"c"}]"#,
            ),
        ] {
            let item: Item = vendor::decode(came.as_bytes()).unwrap();
            let told = serde_json::to_string(&listed(item)).unwrap();
            assert!(told.contains(shown) && told.contains(r#""content":["#), "{told}");
        }
    }
}
