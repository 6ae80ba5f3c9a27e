//! What belongs to other dialects and is sent here all the same: some editors choose the shape of a request by the family
//! of the model and not by the address. It is read where its meaning is plain, and told as altered.

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::messages::response;
use super::turns::Answered;
use super::{Notes, members, part};
use crate::domain::error::Error;
use crate::facade::Report;
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Blob, FunctionCall, GenerationConfig, Part, ThinkingConfig};
use crate::proto::openai::{ChatCompletionRequest, Content};

const CLAUDE: &str = "belongs to Anthropic's API; read as what it means there";
const UNKNOWN: &str = "is not known here";

/// A part of a message.
#[derive(Debug)]
pub enum Piece {
    Part(Part),
    /// What became of a call.
    Answer(Answered),
}

/// What is said in members that are not OpenAI's.
#[derive(Debug, Default)]
pub struct Besides {
    pub config: GenerationConfig,
    /// A text, or blocks of text.
    pub system: Option<Content>,
}

pub fn request(asked: &mut ChatCompletionRequest, notes: &mut Notes) -> Result<Besides, Error> {
    let mut besides = Besides::default();
    let config = &mut besides.config;
    let report = &mut notes.report;
    for (name, value) in members(&asked.extra).into_iter().filter(|(_, value)| value.get() != "null") {
        match name.as_str() {
            "top_k" => config.top_k = Some(read(&value, &name)?),
            "system" => {
                report.altered(&name, CLAUDE);
                besides.system = read(&value, &name)?;
            }
            "stop_sequences" => {
                report.altered(&name, CLAUDE);
                asked.stop.extend(read::<Vec<String>>(&value, &name)?);
            }
            "thinking" => {
                report.altered(&name, CLAUDE);
                config.thinking_config = thinking(read(&value, &name)?);
            }
            _ => report.dropped(&name, UNKNOWN),
        }
    }
    Ok(besides)
}

pub fn read<'a, T: Deserialize<'a>>(value: &'a RawValue, at: &str) -> Result<T, Error> {
    serde_json::from_str(value.get()).map_err(|error| Error::field(at, format!("cannot be read: {error}")))
}

#[derive(Deserialize)]
struct Thinking {
    #[serde(default)]
    r#type: String,
    budget_tokens: Option<i32>,
}

fn thinking(thinking: Thinking) -> Option<ThinkingConfig> {
    let budget = match (thinking.r#type.as_str(), thinking.budget_tokens) {
        ("disabled", _) => Some(0),
        ("adaptive", None) => Some(-1),
        (_, budget) => budget,
    };
    let include_thoughts = Some(budget != Some(0));
    Some(ThinkingConfig { include_thoughts, thinking_budget: budget, ..ThinkingConfig::default() })
}

/// A block of Anthropic's, or a part that other servers know.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Block {
    r#type: String,
    text: Option<String>,
    id: String,
    name: String,
    input: Option<Box<RawValue>>,
    tool_use_id: String,
    content: Option<Box<RawValue>>,
    is_error: bool,
    source: Option<Place>,
    video_url: Option<Address>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Place {
    media_type: String,
    data: String,
    url: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Address {
    url: String,
}

/// Nothing where nothing is said.
pub fn piece(text: &str, at: &str, notes: &mut Notes) -> Result<Option<Piece>, Error> {
    let kind = Error::field(
        format!("{at}.type"),
        "must be text, image_url, input_audio or file; send what it says as one of these",
    );
    let block: Block = match text {
        "" => return Err(kind),
        text => serde_json::from_str(text)
            .map_err(|error| Error::field(at, format!("cannot be read: {error}")))?,
    };
    let mut why = CLAUDE;
    let found = match block.r#type.as_str() {
        "tool_use" => Some(Piece::Part(call(block))),
        "tool_result" => Some(Piece::Answer(answer(block, at, notes)?)),
        "image" | "document" => Some(Piece::Part(place(block.source.unwrap_or_default(), at, notes)?)),
        "thinking" | "redacted_thinking" => {
            why = "the model is not told its thoughts again";
            None
        }
        "video_url" => {
            why = "belongs to no API of OpenAI's; taken for a video";
            let url = block.video_url.unwrap_or_default().url;
            Some(Piece::Part(part::located(&url, &format!("{at}.video_url.url"), notes)?))
        }
        _ => return Err(kind),
    };
    tell(&mut notes.report, at, why, found.is_some());
    Ok(found)
}

fn tell(report: &mut Report, at: &str, why: &str, said: bool) {
    if said { report.altered(at, why) } else { report.ignored(at, why) }
}

fn call(block: Block) -> Part {
    let args = block.input.map(|input| input.get().to_owned());
    let args = args.filter(|args| args.starts_with('{')).unwrap_or_else(|| "{}".to_owned());
    Part::of(Data::FunctionCall(FunctionCall { id: block.id, name: block.name, args }))
}

fn place(place: Place, at: &str, notes: &mut Notes) -> Result<Part, Error> {
    if place.data.is_empty() {
        return part::located(&place.url, &format!("{at}.source.url"), notes);
    }
    let mime_type = place.media_type;
    Ok(Part::of(Data::InlineData(Blob { mime_type, data: place.data })))
}

fn answer(block: Block, at: &str, notes: &mut Notes) -> Result<Answered, Error> {
    let (mut texts, mut parts) = (Vec::new(), Vec::new());
    let content = block.content.as_deref().map_or("null", RawValue::get);
    match serde_json::from_str::<String>(content) {
        Ok(text) => texts.push(text),
        Err(_) => {
            let field = format!("{at}.content");
            let blocks: Option<Vec<Block>> = serde_json::from_str(content)
                .map_err(|error| Error::field(&field, format!("cannot be read: {error}")))?;
            for (index, block) in blocks.unwrap_or_default().into_iter().enumerate() {
                let at = format!("{field}[{index}]");
                match (block.text, block.source) {
                    (Some(text), _) => texts.push(text),
                    (None, Some(source)) => parts.push(place(source, &at, notes)?),
                    _ => notes.report.dropped(at, UNKNOWN),
                }
            }
        }
    }
    let text = texts.join("\n");
    let response = if block.is_error { json!({"error": text}).to_string() } else { response(&text) };
    Ok(Answered { id: block.tool_use_id, name: String::new(), response, parts })
}
