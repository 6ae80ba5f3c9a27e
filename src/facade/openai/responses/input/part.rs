//! Parts of messages and outputs: texts, pictures, documents and sound.

use crate::domain::error::Error;
use crate::facade::media::{Source, is_base64, mime_of};
use crate::facade::{Remote, Report};
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Blob, FileData, Part};
use crate::proto::openai::item_part::Part as Kind;
use crate::proto::openai::{FilePart, ImagePart, InputAudio, ItemContent, ItemPart, item_content};

/// What is met on the way.
pub(super) struct Media<'a> {
    pub(super) remote: &'a mut Vec<Remote>,
    pub(super) report: &'a mut Report,
}

pub(super) fn parts(
    content: Option<ItemContent>,
    at: &str,
    media: &mut Media<'_>,
) -> Result<Vec<Part>, Error> {
    let all = match content.and_then(|content| content.content) {
        None => return Ok(Vec::new()),
        Some(item_content::Content::Text(text)) => return Ok(some_text(text).into_iter().collect()),
        Some(item_content::Content::Parts(parts)) => parts.parts,
    };
    let mut found = Vec::with_capacity(all.len());
    for (index, part) in all.into_iter().enumerate() {
        found.extend(one(part, &format!("{at}[{index}]"), media)?);
    }
    Ok(found)
}

/// The model refuses empty ones.
fn some_text(text: String) -> Option<Part> {
    (!text.is_empty()).then(|| Part::text(text))
}

fn one(part: ItemPart, at: &str, media: &mut Media<'_>) -> Result<Option<Part>, Error> {
    match part.part {
        Some(
            Kind::InputText(text) | Kind::Text(text) | Kind::SummaryText(text) | Kind::ReasoningText(text),
        ) => Ok(some_text(text.text)),
        Some(Kind::OutputText(text)) => Ok(some_text(text.text)),
        Some(Kind::Refusal(refusal)) => Ok(some_text(refusal.refusal)),
        Some(Kind::InputImage(image)) => picture(image, at, media).map(Some),
        Some(Kind::InputFile(file)) => document(file, at, media).map(Some),
        Some(Kind::InputAudio(audio)) => sound(audio.input_audio.unwrap_or_default(), at).map(Some),
        None => {
            media.report.dropped(at, "a part of this type means nothing here");
            Ok(None)
        }
    }
}

fn picture(image: ImagePart, at: &str, media: &mut Media<'_>) -> Result<Part, Error> {
    if matches!(image.detail.as_str(), "low" | "high" | "original") {
        media.report.ignored(format!("{at}.detail"), "the model decides how closely it looks");
    }
    match image.image_url.filter(|url| !url.is_empty()) {
        Some(url) => lying(url, format!("{at}.image_url"), media),
        None => Err(no_files(format!("{at}.file_id"), image.file_id.as_deref(), "image_url")),
    }
}

fn document(file: FilePart, at: &str, media: &mut Media<'_>) -> Result<Part, Error> {
    if let Some(url) = file.file_url.filter(|url| !url.is_empty()) {
        return lying(url, format!("{at}.file_url"), media);
    }
    match file.file_data.filter(|data| !data.is_empty()) {
        Some(data) if data.starts_with("data:") => lying(data, format!("{at}.file_data"), media),
        Some(data) if !is_base64(&data) => Err(Error::field(format!("{at}.file_data"), "is not base64")),
        Some(data) => Ok(blob(mime_of(&file.filename).unwrap_or("application/pdf").to_owned(), data)),
        None => Err(no_files(format!("{at}.file_id"), file.file_id.as_deref(), "file_data")),
    }
}

fn no_files(field: String, id: Option<&str>, instead: &str) -> Error {
    match id {
        Some(id) => {
            Error::field(field, format!("files are not kept here, so there is no `{id}`; send {instead}"))
        }
        None => Error::field(field.replace("file_id", instead), "is required"),
    }
}

fn sound(audio: InputAudio, at: &str) -> Result<Part, Error> {
    match audio.format.as_str() {
        "wav" => Ok(blob("audio/wav".to_owned(), audio.data)),
        "mp3" => Ok(blob("audio/mp3".to_owned(), audio.data)),
        other => {
            let field = format!("{at}.input_audio.format");
            Err(Error::field(field, format!("`{other}` is not `wav` or `mp3`")))
        }
    }
}

/// In the address itself, or elsewhere.
fn lying(url: String, field: String, media: &mut Media<'_>) -> Result<Part, Error> {
    match Source::of(&url) {
        Ok(Source::Bytes(blob)) => Ok(Part::of(Data::InlineData(blob))),
        Ok(Source::Web(_)) => {
            media.remote.push(Remote { field, url: url.clone() });
            Ok(Part::of(Data::FileData(FileData { file_uri: url, ..FileData::default() })))
        }
        Ok(Source::Stored(file)) => Ok(Part::of(Data::FileData(file))),
        Ok(Source::Bare) => Err(Error::field(field, "is no data: URL and no http(s) URL; send one of these")),
        Err(problem) => Err(Error::field(field, problem)),
    }
}

fn blob(mime_type: String, data: String) -> Part {
    Part::of(Data::InlineData(Blob { mime_type, data }))
}
