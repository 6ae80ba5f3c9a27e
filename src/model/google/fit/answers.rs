//! Pictures in the answers of functions: older models take them only as what the user says behind it.

use super::Changes;
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Content, Part};

pub(super) fn part_media(contents: &mut Vec<Content>, changes: &mut Changes) {
    let has_media =
        |part: &Part| matches!(&part.data, Some(Data::FunctionResponse(told)) if !told.parts.is_empty());
    if !contents.iter().any(|content| content.parts.iter().any(has_media)) {
        return;
    }
    let mut all = Vec::with_capacity(contents.len() + 1);
    for (at, mut content) in std::mem::take(contents).into_iter().enumerate() {
        let mut media = Vec::new();
        for (index, part) in content.parts.iter_mut().enumerate() {
            let Some(Data::FunctionResponse(told)) = &mut part.data else { continue };
            if told.parts.is_empty() {
                continue;
            }
            changes.altered(
                format!("contents[{at}].parts[{index}].functionResponse.parts"),
                "this model takes them only behind the answers",
            );
            media.push(Part::text(format!("What {} gave besides:", told.name)));
            media.append(&mut told.parts);
        }
        let role = content.role.clone();
        all.push(content);
        if !media.is_empty() {
            all.push(Content { role, parts: media });
        }
    }
    *contents = all;
}
