//! Pictures, documents and what was found, as parts of the hub.

use super::work::{Work, at};
use crate::domain::error::Error;
use crate::facade::Remote;
use crate::facade::media::{Source, is_base64};
use crate::proto::anthropic::source_block::Block as Kind;
use crate::proto::anthropic::{
    self as anthropic, DocumentBlock, ImageBlock, SearchResultBlock, SourceBlock, SourceContent,
    source_content,
};
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Blob, FileData, Part};

const PDF: &str = "application/pdf";

pub(super) fn image(image: ImageBlock, path: &str, work: &mut Work) -> Result<Part, Error> {
    work.cache_control(path, &image.cache_control);
    work.unknown(path, &image.extra);
    media(image.source, "", path, work)
}

/// Bytes, here or elsewhere.
fn media(source: Option<anthropic::Source>, usual: &str, path: &str, work: &mut Work) -> Result<Part, Error> {
    let path = at(path, "source");
    let source = source.ok_or_else(|| Error::field(&path, "is required"))?;
    work.unknown(&path, &source.extra);
    let mime = if source.media_type.is_empty() { usual } else { &source.media_type };
    match source.r#type.as_str() {
        "base64" if source.data.is_empty() => Err(Error::field(at(&path, "data"), "is required")),
        "base64" if mime.is_empty() => Err(Error::field(at(&path, "media_type"), "is required")),
        "base64" if !is_base64(&source.data) => Err(Error::field(at(&path, "data"), "is not base64")),
        "base64" => Ok(inline(mime, &source.data)),
        "url" => elsewhere(&source.url, usual, at(&path, "url"), work),
        "file" => stored(&source.file_id, mime, at(&path, "file_id")),
        _ => Err(Error::field(at(&path, "type"), "must be base64, url or file")),
    }
}

fn inline(mime: &str, data: &str) -> Part {
    Part::of(Data::InlineData(Blob { mime_type: mime.to_owned(), data: data.to_owned() }))
}

fn elsewhere(url: &str, mime: &str, path: String, work: &mut Work) -> Result<Part, Error> {
    match Source::of(url) {
        Ok(Source::Bytes(blob)) => Ok(Part::of(Data::InlineData(blob))),
        Ok(Source::Web(_)) => {
            work.remote.push(Remote { field: path, url: url.to_owned() });
            Ok(Part::of(Data::FileData(FileData { mime_type: mime.to_owned(), file_uri: url.to_owned() })))
        }
        Ok(Source::Stored(file)) => Ok(Part::of(Data::FileData(file))),
        Ok(Source::Bare) => Err(Error::field(path, "must begin with https://")),
        Err(problem) => Err(Error::field(path, problem)),
    }
}

/// Files are not kept here; those that lie with the model's vendor are passed on.
fn stored(id: &str, mime: &str, path: String) -> Result<Part, Error> {
    if id.starts_with("files/") || id.contains("://") {
        return Ok(Part::of(Data::FileData(FileData {
            mime_type: mime.to_owned(),
            file_uri: id.to_owned(),
        })));
    }
    Err(Error::field(path, "names a file that is not here: none are kept; send it as base64"))
}

/// A label where it has one, and then what is to be read.
pub(super) fn document(document: DocumentBlock, path: &str, work: &mut Work) -> Result<Vec<Part>, Error> {
    work.cache_control(path, &document.cache_control);
    work.unknown(path, &document.extra);
    citations(&document.citations, path, work);
    let label = label(&[("title", &document.title), ("context", &document.context)]);
    let source = document.source.ok_or_else(|| Error::field(at(path, "source"), "is required"))?;
    let within = at(path, "source");
    if matches!(source.r#type.as_str(), "text" | "content") {
        work.unknown(&within, &source.extra);
    }
    match source.r#type.as_str() {
        "text" => Ok(vec![Part::text(format!("<document{label}>\n{}\n</document>", source.data))]),
        "content" => {
            let mut parts = vec![Part::text(format!("<document{label}>"))];
            parts.extend(content(source.content, &at(&within, "content"), work)?);
            parts.push(Part::text("</document>"));
            Ok(parts)
        }
        _ => {
            let bytes = media(Some(source), PDF, path, work)?;
            let label = (!label.is_empty()).then(|| Part::text(format!("<document{label}/>")));
            Ok(label.into_iter().chain([bytes]).collect())
        }
    }
}

/// ` title="..."`.
fn label(named: &[(&str, &str)]) -> String {
    let given = named.iter().filter(|(_, value)| !value.is_empty());
    given.map(|(name, value)| format!(" {name}=\"{}\"", value.replace('"', "'"))).collect()
}

fn content(content: Option<SourceContent>, path: &str, work: &mut Work) -> Result<Vec<Part>, Error> {
    match content.and_then(|content| content.kind) {
        None => Err(Error::field(path, "is required")),
        Some(source_content::Kind::Text(text)) => Ok(vec![Part::text(text)]),
        Some(source_content::Kind::Blocks(blocks)) => all(blocks.blocks, path, work),
    }
}

fn all(blocks: Vec<SourceBlock>, path: &str, work: &mut Work) -> Result<Vec<Part>, Error> {
    let mut parts = Vec::with_capacity(blocks.len());
    for (index, block) in blocks.into_iter().enumerate() {
        let path = format!("{path}[{index}]");
        match block.block {
            Some(Kind::Text(text)) if text.text.is_empty() => {}
            Some(Kind::Text(text)) => {
                work.cache_control(&path, &text.cache_control);
                parts.push(Part::text(text.text));
            }
            Some(Kind::Image(block)) => parts.push(image(block, &path, work)?),
            Some(Kind::Other(_)) | None => return Err(Error::field(path, "must be a text or an image")),
        }
    }
    Ok(parts)
}

pub(super) fn search_result(
    found: SearchResultBlock,
    path: &str,
    work: &mut Work,
) -> Result<Vec<Part>, Error> {
    work.cache_control(path, &found.cache_control);
    work.unknown(path, &found.extra);
    citations(&found.citations, path, work);
    let label = label(&[("title", &found.title), ("source", &found.source)]);
    let mut parts = vec![Part::text(format!("<search_result{label}>"))];
    parts.extend(all(found.content, &at(path, "content"), work)?);
    parts.push(Part::text("</search_result>"));
    Ok(parts)
}

/// Models here quote what they searched for themselves, and nothing else.
fn citations(json: &str, path: &str, work: &mut Work) {
    let wanted = serde_json::from_str::<serde_json::Value>(json).is_ok_and(|value| value["enabled"] == true);
    if wanted {
        work.report.dropped(at(path, "citations"), "the model does not say where in a document it read");
    }
}
