//! Where things are printed. On a terminal a mark moves while nothing else does; in a pipe there is only what was said.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::cli::show::paint::{Ink, Paint};
use crate::cli::show::story::{Piece, Voice};
use crate::config::client::Color;

const MARKS: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
pub const TICK: Duration = Duration::from_millis(120);

/// What the streams of this process are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Streams {
    pub input: bool,
    pub output: bool,
    pub error: bool,
}

impl Streams {
    pub fn look() -> Self {
        Self {
            input: io::stdin().is_terminal(),
            output: io::stdout().is_terminal(),
            error: io::stderr().is_terminal(),
        }
    }

    /// Whether a user can be asked something.
    pub fn can_ask(self) -> bool {
        self.input && self.error
    }

    pub fn paint(self, color: Color) -> Paint {
        let smart = std::env::var_os("TERM").is_some_and(|term| term != "dumb");
        match color {
            Color::Always => Paint(true),
            Color::Never => Paint(false),
            Color::Auto => Paint(self.output && self.error && smart),
        }
    }
}

/// Where asides go: beside the answer on standard output, or to standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asides {
    Beside,
    Error,
}

pub struct Screen {
    pub paint: Paint,
    asides: Asides,
    /// Whether a mark moves.
    lively: bool,
    spinning: bool,
    ticks: usize,
    since: Instant,
}

impl Screen {
    pub fn new(streams: Streams, paint: Paint, asides: Asides) -> Self {
        let lively =
            streams.error && streams.output && std::env::var_os("TERM").is_some_and(|term| term != "dumb");
        Self { paint, asides, lively, spinning: false, ticks: 0, since: Instant::now() }
    }

    pub fn show(&mut self, pieces: &[Piece]) -> io::Result<()> {
        if pieces.is_empty() {
            return Ok(());
        }
        self.still()?;
        for Piece { voice, text } in pieces {
            match (voice, self.asides) {
                (Voice::Aside, Asides::Error) => put(&mut io::stderr(), text)?,
                _ => put(&mut io::stdout(), text)?,
            }
        }
        self.since = Instant::now();
        Ok(())
    }

    /// A line of our own.
    pub fn say(&mut self, ink: Ink, line: &str) -> io::Result<()> {
        let text = self.paint.ink(ink, &format!("{line}\n"));
        self.show(&[Piece { voice: Voice::Aside, text }])
    }

    /// The same without an end, for what is typed behind it.
    pub fn prompt(&mut self, text: &str) -> io::Result<()> {
        let text = self.paint.ink(Ink::Bold, text);
        self.show(&[Piece { voice: Voice::Aside, text }])
    }

    /// What a program reads.
    pub fn print(&mut self, text: &str) -> io::Result<()> {
        put(&mut io::stdout(), text)
    }

    /// Moves the mark; the cursor must stand at the beginning of a line.
    pub fn tick(&mut self, what: &str) -> io::Result<()> {
        // What is answered at once needs no mark.
        if !self.lively || self.since.elapsed() < 2 * TICK {
            return Ok(());
        }
        self.ticks += 1;
        self.spinning = true;
        let mark = MARKS.get(self.ticks % MARKS.len()).copied().unwrap_or_default();
        let words = self.paint.ink(Ink::Dim, &format!("{mark} {what}"));
        put(&mut io::stderr(), &format!("\r\u{1b}[K{words}"))
    }

    fn still(&mut self) -> io::Result<()> {
        match std::mem::take(&mut self.spinning) {
            true => put(&mut io::stderr(), "\r\u{1b}[K"),
            false => Ok(()),
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // Nothing is left to do about an output that cannot be written.
        let _ = self.still();
    }
}

fn put(out: &mut dyn Write, text: &str) -> io::Result<()> {
    out.write_all(text.as_bytes())?;
    out.flush()
}
