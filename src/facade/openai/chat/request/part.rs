//! A part of a message: text, pictures, sound, documents.

use serde_json::Value;

use super::Notes;
use super::media as sounds;
use crate::domain::error::Error;
use crate::facade::Remote;
use crate::facade::media::{self, Source};
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Blob, Part};
use crate::proto::openai::content_part::Part as Wire;
use crate::proto::openai::{File, InputAudio};
use crate::proto::vendor;

/// Nothing where nothing is said.
pub fn convert(part: Wire, at: &str, notes: &mut Notes) -> Result<Option<Part>, Error> {
    match part {
        Wire::Text(text) | Wire::Refusal(text) => Ok((!text.is_empty()).then(|| Part::text(text))),
        Wire::ImageUrl(image) => {
            let at = format!("{at}.image_url");
            notes.details.see(&image.detail, &format!("{at}.detail"))?;
            located(&image.url, &format!("{at}.url"), notes).map(Some)
        }
        Wire::InputAudio(audio) => sound(audio, &format!("{at}.input_audio")).map(Some),
        Wire::File(file) => document(file, &format!("{at}.file"), notes).map(Some),
    }
}

/// What a URL leads to: its own bytes, or bytes that lie elsewhere.
pub fn located(url: &str, at: &str, notes: &mut Notes) -> Result<Part, Error> {
    match Source::of(url).map_err(|problem| Error::field(at, problem))? {
        Source::Bytes(blob) => Ok(Part::of(Data::InlineData(blob))),
        Source::Stored(file) => Ok(Part::of(Data::FileData(file))),
        Source::Web(file) => {
            notes.remote.push(Remote { field: at.to_owned(), url: url.to_owned() });
            Ok(Part::of(Data::FileData(file)))
        }
        Source::Bare => {
            Err(Error::field(at, "is no address; send a data: URL with base64, or an https: one"))
        }
    }
}

fn sound(audio: InputAudio, at: &str) -> Result<Part, Error> {
    let Some(mime) = sounds::sound(&audio.format) else {
        return Err(Error::field(
            format!("{at}.format"),
            "must be wav or mp3 (flac, ogg, aac and aiff are read too)",
        ));
    };
    let data = match Source::of(&audio.data) {
        Ok(Source::Bytes(blob)) => blob.data,
        _ => audio.data,
    };
    bytes(mime, data, &format!("{at}.data"))
}

fn bytes(mime: &str, data: String, at: &str) -> Result<Part, Error> {
    if !media::is_base64(&data) {
        return Err(Error::field(at, "is not base64"));
    }
    Ok(Part::of(Data::InlineData(Blob { mime_type: mime.to_owned(), data })))
}

fn document(file: File, at: &str, notes: &mut Notes) -> Result<Part, Error> {
    if file.file_data.is_empty() {
        let (field, problem) = match file.file_id.is_empty() {
            true => ("file_data", "is required: a data: URL with the bytes of the file"),
            false => ("file_id", "files are not kept here; send the bytes as a data: URL in file_data"),
        };
        return Err(Error::field(format!("{at}.{field}"), problem));
    }
    let field = format!("{at}.file_data");
    let guess = media::mime_of(&file.filename);
    match Source::of(&file.file_data).map_err(|problem| Error::field(&field, problem))? {
        // Some leave out what kind of file it is.
        Source::Bare => {
            let mime = guess.unwrap_or("application/pdf");
            notes.report.guessed(&field, &format!("says no type; taken for {mime}"));
            bytes(mime, file.file_data, &field)
        }
        Source::Bytes(blob) if blob.mime_type == media::OCTETS && guess.is_some() => {
            let mime = guess.unwrap_or_default();
            notes.report.guessed(&field, &format!("says no type; taken for {mime}"));
            Ok(Part::of(Data::InlineData(Blob { mime_type: mime.to_owned(), ..blob })))
        }
        _ => located(&file.file_data, &field, notes),
    }
}

/// Google's thought signature in what a vendor adds.
pub fn signature(extra_content: &str) -> String {
    if extra_content.is_empty() {
        return String::new();
    }
    let extra: Value = vendor::kept(extra_content).unwrap_or_default();
    let found = ["/google/thought_signature", "/vertex/thought_signature"].map(|path| extra.pointer(path));
    found.into_iter().flatten().find_map(Value::as_str).unwrap_or_default().to_owned()
}
