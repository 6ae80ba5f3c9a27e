//! A part of what the user says: text, pictures, sound, documents.

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::Dropped;
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Blob, CodeExecutionResult, ExecutableCode, FileData, Part};
use crate::proto::openai::content::Kind;
use crate::proto::openai::content_part::Part as Wire;
use crate::proto::openai::{Content, ContentPart, ContentParts, File, ImageUrl, InputAudio};

/// One part, or nothing where there are no words for it.
pub fn part(part: Part, path: &str, dropped: &mut Dropped) -> Option<ContentPart> {
    dropped.members(path, &part.extra);
    let (name, wire) = match part.data? {
        Data::Text(text) if text.is_empty() => return None,
        Data::Text(text) => ("text", Some(Wire::Text(text))),
        Data::InlineData(blob) => ("inlineData", inline(blob)),
        Data::FileData(file) => ("fileData", elsewhere(file)),
        Data::ExecutableCode(code) => ("executableCode", Some(Wire::Text(code_text(&code)))),
        Data::CodeExecutionResult(result) => ("codeExecutionResult", Some(Wire::Text(result_text(&result)))),
        Data::FunctionCall(_) => ("functionCall", None),
        Data::FunctionResponse(_) => ("functionResponse", None),
    };
    if wire.is_none() {
        dropped.note(format!("{path}.{name}"));
    }
    wire.map(|part| ContentPart { part: Some(part), ..ContentPart::default() })
}

/// Texts alone become one: some servers take each part for a message of its own, others join them with a line break.
pub fn content(parts: Vec<ContentPart>) -> Option<Content> {
    let text = |part: &ContentPart| match &part.part {
        Some(Wire::Text(text)) => Some(text.clone()),
        _ => None,
    };
    if parts.is_empty() {
        return None;
    }
    match parts.iter().map(text).collect::<Option<Vec<String>>>() {
        Some(texts) => Some(Content::text(texts.join("\n"))),
        None => Some(Content { kind: Some(Kind::Parts(ContentParts { parts })) }),
    }
}

pub fn code_text(code: &ExecutableCode) -> String {
    format!("```{}\n{}\n```", code.language.to_lowercase(), code.code)
}

pub fn result_text(result: &CodeExecutionResult) -> String {
    format!("```\n{}\n```", result.output)
}

fn inline(blob: Blob) -> Option<Wire> {
    let (family, kind) = blob.mime_type.split_once('/')?;
    let kind = kind.split(';').next().unwrap_or_default().trim();
    match (family, kind) {
        ("image", _) => Some(Wire::ImageUrl(ImageUrl { url: data_url(&blob), ..ImageUrl::default() })),
        ("audio", _) => {
            Some(Wire::InputAudio(InputAudio { format: sound(kind).to_owned(), data: standard(blob.data) }))
        }
        ("application", "pdf") => Some(Wire::File(File {
            file_data: data_url(&blob),
            filename: "document.pdf".to_owned(),
            ..File::default()
        })),
        ("text", _) | ("application", "json" | "xml" | "yaml" | "x-yaml" | "toml") => text(&blob.data),
        _ => None,
    }
}

/// Text is said as text: nobody takes it as a file.
fn text(data: &str) -> Option<Wire> {
    const LENIENT: GeneralPurposeConfig =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let alphabet = if data.contains(['-', '_']) { URL_SAFE } else { STANDARD };
    let bytes = GeneralPurpose::new(&alphabet, LENIENT).decode(data).ok()?;
    String::from_utf8(bytes).ok().map(Wire::Text)
}

fn elsewhere(file: FileData) -> Option<Wire> {
    let reachable = ["https://", "http://", "data:"].iter().any(|start| file.file_uri.starts_with(start));
    let picture = file.mime_type.starts_with("image/") || file.mime_type.is_empty();
    (reachable && picture).then(|| Wire::ImageUrl(ImageUrl { url: file.file_uri, ..ImageUrl::default() }))
}

fn data_url(blob: &Blob) -> String {
    format!("data:{};base64,{}", blob.mime_type, standard(blob.data.clone()))
}

/// In the plain alphabet and with its padding: the URL-safe one, which Google's SDKs send, is not read everywhere.
fn standard(data: String) -> String {
    let mut data = if data.contains(['-', '_']) { data.replace('-', "+").replace('_', "/") } else { data };
    while data.len() % 4 != 0 && !data.is_empty() {
        data.push('=');
    }
    data
}

fn sound(kind: &str) -> &str {
    match kind {
        "wav" | "x-wav" | "wave" | "vnd.wave" => "wav",
        "mpeg" | "mp3" | "mpga" => "mp3",
        other => other,
    }
}
