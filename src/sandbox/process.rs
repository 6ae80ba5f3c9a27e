//! A child of the server: started below a supervisor of its own (`confine`), with its output as it comes and its end.
//! Knows nothing of what runs in it. Letting go of a child ends it: the supervisor notices.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use bytes::BytesMut;
use rustix::process::{Pid, Signal};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

use super::confine::{Order, Variables};
use super::landlock::Confinement;

/// Longer than a supervisor needs to end everything.
const STOP: Duration = Duration::from_secs(4);
const CHUNK: usize = 8 * 1024;

/// Starts children, all in the same way.
#[derive(Debug, Clone)]
pub struct Launcher {
    /// This binary, which is the supervisor when it is told so.
    pub helper: PathBuf,
    pub environment: Vec<(OsString, OsString)>,
    pub confinement: Option<Confinement>,
}

/// The binary that runs now, even if another one has its name since.
pub fn own_binary() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok(PathBuf::from("/proc/self/exe")) } else { std::env::current_exe() }
}

/// Closes the memory and the environment of this process, where its keys are, to other processes of the same user:
/// commands that no Landlock confines could read them in `/proc`. There are no core dumps of it then. The superuser is
/// not kept out. Called once, when the server starts.
#[cfg(target_os = "linux")]
pub fn close_to_others() -> io::Result<()> {
    Ok(rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?)
}

#[cfg(not(target_os = "linux"))]
pub fn close_to_others() -> io::Result<()> {
    Ok(())
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct End {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// Processes that it had left behind, which were ended too.
    pub left: usize,
}

/// A running child. Dropped, it is ended, with everything that it started.
#[derive(Debug)]
pub struct Child {
    helper: tokio::process::Child,
    /// Both of its outputs, in the order in which it wrote.
    output: pipe::Receiver,
    control: BufReader<UnixStream>,
    pid: i32,
}

impl Launcher {
    /// Returns when the program runs. Arguments may be long, but each of them no longer than the kernel takes.
    pub async fn start(
        &self,
        directory: PathBuf,
        program: OsString,
        arguments: Vec<OsString>,
    ) -> io::Result<Child> {
        let (confinement, variables) = (self.confinement.clone(), Variables::default());
        let order = Order { directory, confinement, talks: false, variables, program, arguments };
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let (reader, writer) = io::pipe()?;
        // The command keeps its ends of pipe and socket until it is dropped, so it goes before anything is read.
        let helper = tokio::process::Command::new(&self.helper)
            .args(order.to_arguments())
            .env_clear()
            .envs(self.environment.iter().cloned())
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::from(writer.try_clone()?))
            .stderr(writer)
            .spawn()?;
        let output = pipe::Receiver::from_owned_fd(reader.into())?;
        let control = BufReader::new(UnixStream::from_std(ours)?);
        let mut child = Child { helper, output, control, pid: 0 };
        child.pid = child.started().await?;
        Ok(child)
    }
}

impl Child {
    /// Of the program and of its process group.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// What it printed since the last time; none at its end. Nothing is lost if this is not waited for.
    pub async fn printed(&mut self) -> Option<BytesMut> {
        let mut buffer = BytesMut::with_capacity(CHUNK);
        match self.output.read_buf(&mut buffer).await {
            Ok(1..) => Some(buffer),
            Ok(0) | Err(_) => None,
        }
    }

    /// After the last of its output: how it ended.
    pub async fn ended(&mut self) -> End {
        let line = tokio::time::timeout(STOP, self.line()).await.ok().and_then(Result::ok);
        let end = line.as_deref().and_then(read_end);
        if end.is_none() {
            // Somebody has ended the supervisor. What it would have found in the tree is not known any more.
            self.kill();
        }
        let _ = self.helper.wait().await;
        end.unwrap_or(End { signal: Some(Signal::KILL.as_raw()), ..End::default() })
    }

    /// Ends it and everything that it started. What it still prints on its way out is handed over.
    pub async fn stop(&mut self) -> Vec<u8> {
        let _ = self.control.get_mut().shutdown().await;
        let mut last = Vec::new();
        let drained = async {
            while let Some(piece) = self.printed().await {
                last.extend_from_slice(&piece[..piece.len().min(CHUNK * 8 - last.len().min(CHUNK * 8))]);
            }
        };
        if tokio::time::timeout(STOP, drained).await.is_err() {
            self.kill();
        }
        self.ended().await;
        last
    }

    fn kill(&mut self) {
        let _ = self.helper.start_kill();
        if let Some(group) = Pid::from_raw(self.pid).filter(|_| self.pid > 1) {
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
    }

    async fn started(&mut self) -> io::Result<i32> {
        let line = self.line().await?;
        let pid = line.strip_prefix("started ").and_then(|pid| pid.parse().ok());
        let problem = || match line.strip_prefix("failed ") {
            Some(problem) => io::Error::other(problem.to_owned()),
            None => io::Error::other("the supervisor did not start; is the helper the agena binary?"),
        };
        pid.ok_or_else(problem)
    }

    async fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.control.read_line(&mut line).await?;
        Ok(line.trim_end().to_owned())
    }
}

fn read_end(line: &str) -> Option<End> {
    let mut words = line.split(' ');
    let (kind, number) = (words.next()?, words.next()?.parse().ok()?);
    let left = words.next()?.parse().ok()?;
    match kind {
        "exit" => Some(End { code: Some(number), signal: None, left }),
        "signal" => Some(End { code: None, signal: Some(number), left }),
        _ => None,
    }
}

/// Every process below one, as `/proc` knows them, those that have ended and were not buried left out.
#[cfg(target_os = "linux")]
pub fn descendants(root: i32) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let all: Vec<(i32, i32, char)> = pids
        .filter_map(|pid| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            parent(&stat).map(|(parent, state)| (pid, parent, state))
        })
        .collect();
    let mut found = vec![root];
    let mut at = 0;
    while let Some(&above) = found.get(at) {
        found.extend(all.iter().filter(|(_, parent, _)| *parent == above).map(|(pid, ..)| *pid));
        at += 1;
    }
    let ended = |pid: &i32| all.iter().any(|(other, _, state)| other == pid && *state == 'Z');
    found.into_iter().skip(1).filter(|pid| !ended(pid)).collect()
}

/// The name of a program stands in parentheses and may hold anything, so the last one counts.
#[cfg(target_os = "linux")]
fn parent(stat: &str) -> Option<(i32, char)> {
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let state = fields.next()?.chars().next()?;
    Some((fields.next()?.parse().ok()?, state))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_read_as_they_are_written() {
        for (line, expected) in [
            ("exit 3 0", Some(End { code: Some(3), signal: None, left: 0 })),
            ("signal 9 2", Some(End { code: None, signal: Some(9), left: 2 })),
            ("", None),
            ("exit", None),
            ("started 4", None),
        ] {
            assert_eq!(read_end(line), expected, "{line:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_may_have_any_name() {
        assert_eq!(parent("7 (a) S 99 (b) R 3 7 7 0"), Some((3, 'R')));
        assert_eq!(parent("nonsense"), None);
    }
}
