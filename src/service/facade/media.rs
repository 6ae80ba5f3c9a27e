//! Pictures and documents that a request only names: fetched and put into it, all at once. What Google's servers take by
//! its address stays an address.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::{StreamExt, TryStreamExt, stream};

use crate::domain::error::Error;
use crate::domain::media::{Fetch, Fetched, Room};
use crate::facade::Remote;
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Blob, FileData, GenerateContentRequest, Part};

/// What models take inside of a request.
const BYTES: usize = 20_000_000;
const MOST: usize = 16;
/// Google reads these itself.
const GOOGLES: [&str; 7] = [
    "gs://",
    "https://generativelanguage.googleapis.com/",
    "https://youtu.be/",
    "https://youtube.com/",
    "https://www.youtube.com/",
    "https://m.youtube.com/",
    "https://music.youtube.com/",
];

#[derive(Clone, Default)]
pub struct Media {
    /// None fetches nothing.
    fetch: Option<Arc<dyn Fetch>>,
}

impl fmt::Debug for Media {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Media").field("fetches", &self.fetch.is_some()).finish()
    }
}

impl Media {
    pub fn new(fetch: Option<Arc<dyn Fetch>>) -> Self {
        Self { fetch }
    }

    pub async fn fetch(&self, request: &mut GenerateContentRequest, remote: &[Remote]) -> Result<(), Error> {
        let wanted = wanted(remote);
        if wanted.is_empty() {
            return Ok(());
        }
        // Apart: fetching is large, and rare. Within, every answer would carry the room for it along.
        Box::pin(self.fetched(request, remote, wanted)).await
    }

    async fn fetched(
        &self,
        request: &mut GenerateContentRequest,
        remote: &[Remote],
        wanted: Vec<Remote>,
    ) -> Result<(), Error> {
        let Some(first) = wanted.first() else { return Ok(()) };
        let Some(fetch) = &self.fetch else {
            return Err(Error::field(
                &first.field,
                "lies elsewhere, and nothing is fetched here; send a data: URL",
            ));
        };
        if let Some(over) = wanted.get(MOST) {
            return Err(Error::field(
                &over.field,
                format!("is one more than the {MOST} that are fetched for a request; send data: URLs"),
            ));
        }
        let room = Room::new(BYTES);
        let one = async |remote: Remote| match fetch.fetch(&remote.url, &room).await {
            Ok(fetched) => Ok((remote.url, fetched)),
            Err(why) => Err(Error::field(remote.field, why.to_string())),
        };
        // The first that fails ends the others.
        let fetched = stream::iter(wanted).map(one).buffer_unordered(MOST).try_collect().await?;
        put(request, &fetched, remote)
    }
}

/// Each address once.
fn wanted(remote: &[Remote]) -> Vec<Remote> {
    let mut wanted: Vec<Remote> = Vec::new();
    for one in remote.iter().filter(|one| !is_googles(&one.url)) {
        if !wanted.iter().any(|known| known.url == one.url) {
            wanted.push(one.clone());
        }
    }
    wanted
}

fn is_googles(url: &str) -> bool {
    GOOGLES.iter().any(|place| url.get(..place.len()).is_some_and(|start| start.eq_ignore_ascii_case(place)))
}

fn put(
    request: &mut GenerateContentRequest,
    fetched: &HashMap<String, Fetched>,
    remote: &[Remote],
) -> Result<(), Error> {
    let contents = request.contents.iter_mut().chain(&mut request.system_instruction);
    for part in contents.flat_map(|content| &mut content.parts) {
        inline(part, fetched, remote)?;
        if let Some(Data::FunctionResponse(response)) = &mut part.data {
            response.parts.iter_mut().try_for_each(|part| inline(part, fetched, remote))?;
        }
    }
    Ok(())
}

fn inline(part: &mut Part, fetched: &HashMap<String, Fetched>, remote: &[Remote]) -> Result<(), Error> {
    let Some(Data::FileData(file)) = &part.data else { return Ok(()) };
    let Some(found) = fetched.get(&file.file_uri) else { return Ok(()) };
    if !is_as_said(file, &found.mime_type) {
        let field =
            remote.iter().find(|remote| remote.url == file.file_uri).map_or("", |remote| &remote.field);
        let (said, is) = (&file.mime_type, &found.mime_type);
        return Err(Error::field(field, format!("should be {said}, and what lies there is {is}")));
    }
    let (mime_type, data) = (found.mime_type.clone(), STANDARD.encode(&found.data));
    part.data = Some(Data::InlineData(Blob { mime_type, data }));
    Ok(())
}

/// As far as the request says what it should be: a picture stays a picture, of whatever kind.
fn is_as_said(file: &FileData, found: &str) -> bool {
    let family = |kind: &str| kind.split('/').next().unwrap_or_default().to_owned();
    file.mime_type.is_empty() || file.mime_type == "*/*" || family(&file.mime_type) == family(found)
}
