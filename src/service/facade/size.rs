//! About how many tokens something is, where nobody counts. Pure.

use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Content, GenerateContentRequest, Part};

/// What a token is in bytes, roughly.
const TOKEN: usize = 4;
/// Pictures count as what models take for one, whatever their bytes.
const PICTURE: usize = 258 * TOKEN;
/// A text without a quotation mark that is longer and has only letters of base64 is none.
const LONG: usize = 4096;

pub(super) fn tokens(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(TOKEN)).unwrap_or(u32::MAX)
}

pub(super) fn of(request: &GenerateContentRequest) -> u32 {
    let contents = request.contents.iter().chain(&request.system_instruction).map(length).sum::<usize>();
    let tools = request.tools.iter().map(prost::Message::encoded_len).sum::<usize>();
    tokens(contents + tools)
}

pub(super) fn length(content: &Content) -> usize {
    let part = |part: &Part| match &part.data {
        Some(Data::Text(text)) => text.len(),
        Some(Data::InlineData(_) | Data::FileData(_)) => PICTURE,
        _ => prost::Message::encoded_len(part).saturating_sub(part.thought_signature.len()),
    };
    content.parts.iter().map(part).sum()
}

/// Of JSON that was not read.
pub(super) fn of_bytes(body: &[u8]) -> u32 {
    let base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=');
    let length = |piece: &[u8]| match piece.len() > LONG && piece.iter().all(base64) {
        true => PICTURE,
        false => piece.len(),
    };
    tokens(body.split(|byte| *byte == b'"').map(length).sum())
}
