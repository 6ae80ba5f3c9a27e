//! What is said of sound and of pictures beside their bytes. Pure.

use crate::domain::error::Error;

const SOUNDS: &[(&str, &str)] = &[
    ("wav", "audio/wav"),
    ("mp3", "audio/mp3"),
    ("mpeg", "audio/mp3"),
    ("flac", "audio/flac"),
    ("ogg", "audio/ogg"),
    ("aac", "audio/aac"),
    ("aiff", "audio/aiff"),
];

pub fn sound(format: &str) -> Option<&'static str> {
    SOUNDS.iter().find(|(name, _)| *name == format).map(|(_, mime)| *mime)
}

/// How closely pictures are looked at. One setting holds for all of them.
#[derive(Debug, Default)]
pub struct Details {
    low: Option<String>,
    high: bool,
}

impl Details {
    pub fn see(&mut self, detail: &str, at: &str) -> Result<(), Error> {
        match detail {
            "" | "auto" => {}
            "low" => self.low = Some(at.to_owned()),
            "high" | "original" => self.high = true,
            _ => return Err(Error::field(at, "must be auto, low, high or original")),
        }
        Ok(())
    }

    /// What is asked for, and the field that does not get its way.
    pub fn resolution(&self) -> Option<(&'static str, Option<&str>)> {
        match (&self.low, self.high) {
            (low, true) => Some(("MEDIA_RESOLUTION_HIGH", low.as_deref())),
            (Some(_), false) => Some(("MEDIA_RESOLUTION_LOW", None)),
            (None, false) => None,
        }
    }
}
