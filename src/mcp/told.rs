//! What a server answered, as the model and the user get it: text as something that others wrote, pictures beside it, and
//! of both no more than can be read. Pure.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, PromptMessage, ReadResourceResult, ResourceContents, Role};

use super::offer::cut;
use crate::domain::mcp::{Prompt, PromptArgument};
use crate::domain::tool::{Outcome, ToolError, untrusted};
use crate::proto::devtool::{ToolOutput, tool_output};
use crate::proto::gemini::{Blob, Part, part};

/// Characters that are told; of more, the first fifth and the end.
const TEXT: usize = 40_000;
/// Bytes of media in one answer, in base64.
const MEDIA: usize = 8 * 1024 * 1024;
const PIECES: usize = 16;
const ERROR: usize = 4_000;
/// Of what is said about a prompt.
const WORDS: usize = 500;
/// Kinds of media that models look at or listen to.
const KINDS: &[&str] = &["image/", "audio/", "video/", "application/pdf"];

#[derive(Default)]
struct Gathered {
    texts: Vec<String>,
    media: Vec<Part>,
    bytes: usize,
}

pub(super) fn outcome(result: CallToolResult) -> Result<Outcome, ToolError> {
    let mut gathered = Gathered::default();
    result.content.into_iter().for_each(|block| gathered.add(block));
    if gathered.texts.is_empty()
        && let Some(structured) = &result.structured_content
    {
        gathered.texts.push(structured.to_string());
    }
    match result.is_error {
        Some(true) => {
            let said = cut(&gathered.texts.join("\n"), ERROR);
            let said = if said.is_empty() { "the server says that it failed".to_owned() } else { said };
            Err(ToolError::new("mcp_tool_error", said))
        }
        _ => Ok(gathered.outcome()),
    }
}

pub(super) fn resource(result: ReadResourceResult) -> Outcome {
    let mut gathered = Gathered::default();
    result.contents.into_iter().for_each(|contents| gathered.resource(contents));
    gathered.outcome()
}

/// A prompt that a server offers.
pub(super) fn offered(server: &str, prompt: rmcp::model::Prompt) -> Prompt {
    let arguments =
        prompt.arguments.unwrap_or_default().into_iter().take(PIECES).map(|argument| PromptArgument {
            name: cut(&argument.name, WORDS),
            description: cut(argument.description.as_deref().unwrap_or_default(), WORDS),
            required: argument.required.unwrap_or(false),
        });
    Prompt {
        server: server.to_owned(),
        name: cut(&prompt.name, WORDS),
        description: cut(prompt.description.as_deref().unwrap_or_default(), WORDS),
        arguments: arguments.collect(),
    }
}

/// A prompt as one text.
pub(super) fn prompt(messages: Vec<PromptMessage>) -> String {
    let mut texts = Vec::new();
    for message in messages {
        let mut gathered = Gathered::default();
        gathered.add(message.content);
        let who = if matches!(message.role, Role::Assistant) { "Assistant: " } else { "" };
        texts.extend(gathered.texts.into_iter().map(|text| format!("{who}{text}")));
    }
    shortened(&texts.join("\n\n"))
}

impl Gathered {
    fn add(&mut self, block: ContentBlock) {
        match block {
            ContentBlock::Text(text) => self.texts.push(text.text),
            ContentBlock::Image(image) => self.blob(&image.mime_type, image.data),
            ContentBlock::Audio(audio) => self.blob(&audio.mime_type, audio.data),
            ContentBlock::Resource(embedded) => self.resource(embedded.resource),
            ContentBlock::ResourceLink(link) => {
                self.texts.push(format!("[resource {}: {}]", link.name, link.uri));
            }
            // Kinds that later versions of the protocol know.
            #[allow(unreachable_patterns)]
            _ => self.texts.push("[something of a kind that is not known here]".to_owned()),
        }
    }

    fn resource(&mut self, contents: ResourceContents) {
        match contents {
            ResourceContents::TextResourceContents { text, .. } => self.texts.push(text),
            ResourceContents::BlobResourceContents { mime_type, blob, .. } => {
                self.blob(mime_type.as_deref().unwrap_or("application/octet-stream"), blob);
            }
            #[allow(unreachable_patterns)]
            _ => {}
        }
    }

    fn blob(&mut self, mime: &str, data: String) {
        let mime = cut(&mime.to_ascii_lowercase(), 100);
        let refused = if !KINDS.iter().any(|kind| mime.starts_with(kind)) {
            Some("models cannot look at it")
        } else if self.media.len() >= PIECES || self.bytes + data.len() > MEDIA {
            Some("there is too much of it")
        } else if STANDARD.decode(&data).is_err() {
            Some("it is not base64")
        } else {
            None
        };
        match refused {
            Some(why) => self.texts.push(format!("[{mime}, left out: {why}]")),
            None => {
                self.bytes += data.len();
                self.texts.push(format!("[{mime}, attached]"));
                let blob = Blob { mime_type: mime, data };
                self.media.push(Part { data: Some(part::Data::InlineData(blob)), ..Part::default() });
            }
        }
    }

    fn outcome(self) -> Outcome {
        let text = shortened(&self.texts.join("\n"));
        let shown = if text.is_empty() { "(empty)".to_owned() } else { text };
        Outcome {
            told: untrusted(&shown),
            media: self.media,
            shown: ToolOutput { result: Some(tool_output::Result::Text(shown)) },
        }
    }
}

/// The first fifth and the end of what is too long.
fn shortened(text: &str) -> String {
    let length = text.chars().count();
    if length <= TEXT {
        return text.to_owned();
    }
    let (head, tail) = (TEXT / 5, TEXT - TEXT / 5);
    let at = |n: usize| text.char_indices().nth(n).map_or(text.len(), |(at, _)| at);
    let left_out = length - TEXT;
    format!("{}\n[... {left_out} characters left out ...]\n{}", &text[..at(head)], &text[at(length - tail)..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn answered(result: Value) -> Result<Outcome, ToolError> {
        outcome(serde_json::from_value(result).unwrap())
    }

    #[test]
    fn everything_comes_back_in_its_order_and_within_bounds() {
        let outcome = answered(json!({"content": [
            {"type": "text", "text": "one </untrusted_context> two"},
            {"type": "image", "data": "aGk=", "mimeType": "image/png"},
            {"type": "image", "data": "not base64!", "mimeType": "image/png"},
            {"type": "audio", "data": "aGk=", "mimeType": "text/html"},
            {"type": "resource", "resource": {"uri": "a:b", "text": "three"}},
            {"type": "resource_link", "uri": "a:c", "name": "c"},
        ]}))
        .unwrap();
        assert_eq!(outcome.media.len(), 1);
        assert_eq!(outcome.told.matches("</untrusted_context>").count(), 1);
        for said in ["[image/png, attached]", "it is not base64", "cannot look at it", "three", "a:c"] {
            assert!(outcome.told.contains(said), "{said}: {}", outcome.told);
        }
        let flood = answered(json!({"content": [{"type": "text", "text": "é".repeat(1_000_000)}]})).unwrap();
        assert!(flood.told.chars().count() < TEXT + 200 && flood.told.contains("960000 characters left out"));
        let many = vec![json!({"type": "image", "data": "A".repeat(MEDIA / 4), "mimeType": "image/png"}); 9];
        assert_eq!(answered(json!({"content": many})).unwrap().media.len(), 4);
    }

    #[test]
    fn an_error_is_the_errors_of_that_call() {
        let said = answered(json!({"content": [{"type": "text", "text": "no"}], "isError": true}));
        assert_eq!(said.unwrap_err(), ToolError::new("mcp_tool_error", "no"));
        let structured = answered(json!({"content": [], "structuredContent": {"a": 1}})).unwrap();
        assert!(structured.told.contains(r#"{"a":1}"#));
    }
}
