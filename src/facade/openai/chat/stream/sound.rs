//! What the model speaks. It comes as bare samples; who asked for a file gets a head before them.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// How it is given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sound {
    /// Samples alone: 16 bits, the lowest byte first.
    Pcm,
    /// A file.
    Wav,
}

/// What models speak at unless they say so.
const RATE: u32 = 24_000;

/// Of `audio/L16;codec=pcm;rate=24000`; none of anything else.
pub fn rate(mime: &str) -> Option<u32> {
    let mime = mime.to_ascii_lowercase();
    if !mime.starts_with("audio/l16") && !mime.starts_with("audio/pcm") {
        return None;
    }
    let rate = mime.split(';').find_map(|part| part.trim().strip_prefix("rate=")?.parse().ok());
    Some(rate.unwrap_or(RATE))
}

impl Sound {
    /// All pieces as one, in base64. Without a rate they are no samples, and stay what they are.
    pub fn whole(self, pieces: &[Vec<u8>], rate: Option<u32>) -> String {
        let samples = pieces.concat();
        match (self, rate) {
            (Self::Wav, Some(rate)) => BASE64_STANDARD.encode([head(rate, samples.len()), samples].concat()),
            _ => BASE64_STANDARD.encode(samples),
        }
    }
}

/// One channel, 16 bits.
fn head(rate: u32, length: usize) -> Vec<u8> {
    const BYTES: u16 = 2;
    let length = u32::try_from(length).unwrap_or(u32::MAX - 36);
    let mut head = Vec::with_capacity(44);
    head.extend_from_slice(b"RIFF");
    head.extend_from_slice(&(length.saturating_add(36)).to_le_bytes());
    head.extend_from_slice(b"WAVEfmt ");
    head.extend_from_slice(&16u32.to_le_bytes());
    head.extend_from_slice(&1u16.to_le_bytes());
    head.extend_from_slice(&1u16.to_le_bytes());
    head.extend_from_slice(&rate.to_le_bytes());
    head.extend_from_slice(&rate.saturating_mul(BYTES.into()).to_le_bytes());
    head.extend_from_slice(&BYTES.to_le_bytes());
    head.extend_from_slice(&(BYTES * 8).to_le_bytes());
    head.extend_from_slice(b"data");
    head.extend_from_slice(&length.to_le_bytes());
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_become_a_file_where_one_is_wanted() {
        assert_eq!(rate("audio/L16;codec=pcm;rate=16000"), Some(16_000));
        assert_eq!((rate("audio/pcm"), rate("audio/mp3")), (Some(24_000), None));
        let file = BASE64_STANDARD.decode(Sound::Wav.whole(&[vec![1, 2], vec![3, 4]], Some(16_000))).unwrap();
        assert_eq!((&file[..4], &file[8..12], file.len()), (&b"RIFF"[..], &b"WAVE"[..], 48));
        assert_eq!((file[4], file[40], &file[44..]), (40, 4, &[1, 2, 3, 4][..]));
        assert_eq!(Sound::Pcm.whole(&[vec![1], vec![2]], Some(16_000)), "AQI=");
        assert_eq!(Sound::Wav.whole(&[vec![1]], None), "AQ==");
    }
}
