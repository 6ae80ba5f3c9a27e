//! Categories and thresholds that are known: one that is not is refused with the whole request.

use super::super::Abilities;
use super::Changes;
use crate::proto::gemini::SafetySetting;

const CATEGORIES: [&str; 6] =
    ["HARASSMENT", "HATE_SPEECH", "SEXUALLY_EXPLICIT", "DANGEROUS_CONTENT", "CIVIC_INTEGRITY", "JAILBREAK"];
const OF_PICTURES: [&str; 4] =
    ["IMAGE_HATE", "IMAGE_DANGEROUS_CONTENT", "IMAGE_HARASSMENT", "IMAGE_SEXUALLY_EXPLICIT"];
const THRESHOLDS: [&str; 6] = [
    "HARM_BLOCK_THRESHOLD_UNSPECIFIED",
    "BLOCK_LOW_AND_ABOVE",
    "BLOCK_MEDIUM_AND_ABOVE",
    "BLOCK_ONLY_HIGH",
    "BLOCK_NONE",
    "OFF",
];

pub(super) fn fit(settings: &mut Vec<SafetySetting>, abilities: &Abilities, changes: &mut Changes) {
    let mut at = 0;
    settings.retain(|SafetySetting { category, threshold }| {
        let field = format!("safetySettings[{at}]");
        at += 1;
        let name = category.strip_prefix("HARM_CATEGORY_").unwrap_or_default();
        let of_pictures = abilities.safety_of_pictures && OF_PICTURES.contains(&name);
        let known = CATEGORIES.contains(&name) || of_pictures;
        let fits = known && (threshold.is_empty() || THRESHOLDS.contains(&threshold.as_str()));
        match (known, fits) {
            (false, _) => changes.dropped(field + ".category", "there is no such category here"),
            (true, false) => changes.dropped(field + ".threshold", "there is no such threshold"),
            (true, true) => {}
        }
        fits
    });
}
