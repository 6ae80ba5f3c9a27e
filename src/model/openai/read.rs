//! From the bytes of a streamed answer to its chunks. Pure.

use std::sync::Arc;

use super::error::Who;
use super::stream::Stream;
use crate::model::chunks::{self, Out};
use crate::model::sse::{Frame, Frames};

/// Events from bytes, and chunks from events.
pub struct Reader {
    frames: Frames,
    stream: Stream,
}

impl Reader {
    pub fn new(who: Arc<Who>) -> Self {
        Self { frames: Frames::default(), stream: Stream::new(who) }
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Out) {
        match frame {
            Frame::Data(data) => self.stream.frame(data, out),
            Frame::Raw(raw) => self.stream.bare(raw, out),
            Frame::TooLong => self.stream.unreadable(b"", "it is longer than any answer could be", out),
        }
    }
}

impl chunks::Reader for Reader {
    fn push(&mut self, bytes: &[u8], out: &mut Out) {
        let mut frames = std::mem::take(&mut self.frames);
        frames.read(bytes, &mut |frame| self.frame(frame, out));
        self.frames = frames;
    }

    fn is_whole(&self) -> bool {
        self.stream.is_whole()
    }

    fn finish(&mut self, out: &mut Out) {
        let mut frames = std::mem::take(&mut self.frames);
        frames.finish(&mut |frame| self.frame(frame, out));
        self.stream.finish(out);
    }
}
