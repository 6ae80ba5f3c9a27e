//! A child that is talked with: like those of `process`, below a supervisor of its own, but its standard input and output
//! are one socket, and what it complains about comes apart. Knows nothing of what is said. Letting go of it ends it.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as Pair;
use std::path::PathBuf;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

use super::confine::{Order, Variables};
use super::process::Launcher;

/// A child that runs.
#[derive(Debug)]
pub struct Talking {
    /// What it says, and what is said to it.
    pub voice: UnixStream,
    /// What it prints besides.
    pub complaints: pipe::Receiver,
    pub life: Life,
}

/// As long as somebody holds it, the child lives. The supervisor sees that it is gone and ends the child, with all that
/// the child has started.
#[derive(Debug)]
pub struct Life {
    control: BufReader<UnixStream>,
    helper: tokio::process::Child,
}

impl Launcher {
    /// Returns when the program runs. The variables are its own, besides those that all children get.
    pub async fn talk(
        &self,
        directory: PathBuf,
        program: OsString,
        arguments: Vec<OsString>,
        variables: Vec<(OsString, OsString)>,
    ) -> io::Result<Talking> {
        let (confinement, variables) = (self.confinement.clone(), Variables::new(variables)?);
        let handed = variables.to_bytes();
        let order = Order { directory, confinement, talks: true, variables, program, arguments };
        let (control, theirs) = pair()?;
        let (voice, its_voice) = pair()?;
        let (reader, writer) = io::pipe()?;
        // The command keeps its ends until it is dropped, so it goes before anything is read.
        let helper = tokio::process::Command::new(&self.helper)
            .args(order.to_arguments())
            .env_clear()
            .envs(self.environment.iter().cloned())
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::from(OwnedFd::from(its_voice)))
            .stderr(writer)
            .spawn()?;
        let complaints = pipe::Receiver::from_owned_fd(reader.into())?;
        let mut life = Life { control: BufReader::new(UnixStream::from_std(control)?), helper };
        life.hand(&handed).await?;
        life.started().await?;
        Ok(Talking { voice: UnixStream::from_std(voice)?, complaints, life })
    }
}

/// Ours does not block.
fn pair() -> io::Result<(Pair, Pair)> {
    let (ours, theirs) = Pair::pair()?;
    ours.set_nonblocking(true)?;
    Ok((ours, theirs))
}

impl Life {
    /// How it ended, in words; waits until it has.
    pub async fn ended(&mut self) -> String {
        let line = self.line().await.unwrap_or_default();
        let _ = self.helper.wait().await;
        let mut words = line.split(' ');
        match (words.next(), words.next()) {
            (Some("exit"), Some(code)) => format!("it ended with exit code {code}"),
            (Some("signal"), Some(signal)) => format!("it was ended by signal {signal}"),
            _ => "it ended".to_owned(),
        }
    }

    /// A supervisor that is gone already says so itself.
    async fn hand(&mut self, variables: &[u8]) -> io::Result<()> {
        match self.control.get_mut().write_all(variables).await {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written,
        }
    }

    async fn started(&mut self) -> io::Result<()> {
        let line = self.line().await?;
        match line.strip_prefix("failed ") {
            Some(problem) => Err(io::Error::other(problem.to_owned())),
            None if line.starts_with("started ") => Ok(()),
            None => Err(io::Error::other("the supervisor did not start; is the helper the agena binary?")),
        }
    }

    async fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.control.read_line(&mut line).await?;
        Ok(line.trim_end().to_owned())
    }
}
