//! A line from the terminal that may be given up before it is typed, because somebody else was faster.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What was typed before the question could be read is no answer to it.
pub fn forget() {
    #[cfg(unix)]
    // A terminal that is gone has nothing to forget.
    let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
}

/// Ends the reader when nobody waits for it any more.
struct Ended(Arc<AtomicBool>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The next line without its end; none at the end of input.
pub async fn line() -> io::Result<Option<String>> {
    let ended = Ended(Arc::new(AtomicBool::new(false)));
    let flag = Arc::clone(&ended.0);
    let read = tokio::task::spawn_blocking(move || if wait(&flag)? { read() } else { Ok(None) });
    read.await.map_err(io::Error::other)?
}

/// Until there is something to read. In this mode a terminal has something when a line is whole, so that reading it does
/// not wait.
#[cfg(unix)]
fn wait(ended: &AtomicBool) -> io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let (stdin, often) = (io::stdin(), Timespec { tv_sec: 0, tv_nsec: 50_000_000 });
    loop {
        if ended.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
        match poll(&mut fds, Some(&often)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            // What comes after it was given up is for the prompt, which may be there by now.
            Ok(_) => return Ok(!ended.load(Ordering::Relaxed)),
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(not(unix))]
fn wait(_: &AtomicBool) -> io::Result<bool> {
    Ok(true)
}

fn read() -> io::Result<Option<String>> {
    let mut line = String::new();
    match io::stdin().read_line(&mut line)? {
        0 => Ok(None),
        _ => Ok(Some(line.trim_end_matches(['\n', '\r']).to_owned())),
    }
}
