//! The supervisor of a child: the hidden command `agena __confine`, a process between the server and what it starts.
//! It takes rights and limits from the child, adopts everything that the child leaves behind, and ends all of it when
//! the child ends or when the server says so or is gone. Only `process` starts it.
//!
//! That is why nothing escapes by `setsid` or by forking twice: an orphan below a subreaper becomes its child, so the
//! whole tree can be found in `/proc` until nothing is left. Where a kernel has neither, the process group is ended.
//! Its standard input is a socket: what happens is reported there, one line each, and its end means "end it".

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, Signal, WaitOptions, WaitStatus};

use super::landlock::{Confinement, confine_thread};

/// The first argument that makes this binary a supervisor.
pub const COMMAND: &str = "__confine";

/// How long what is asked to end may take before it is made to.
const GRACE: Duration = Duration::from_millis(800);
/// Not even the kernel ends what hangs in it.
const GIVE_UP: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(10);

/// The most of each, where the operator's own limit is not lower. Processes are counted per user, so that number is
/// only there to stop a fork bomb.
const LIMITS: &[(Resource, u64)] = &[
    (Resource::Core, 0),
    (Resource::Nofile, 16 * 1024),
    (Resource::Nproc, 16 * 1024),
    (Resource::Fsize, 16 * 1024 * 1024 * 1024),
];

/// What to start, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    pub directory: PathBuf,
    /// None means that the child keeps the rights of the server.
    pub confinement: Option<Confinement>,
    /// The child's standard input is what its standard output is: a socket, over which it talks with the server.
    pub talks: bool,
    /// The child's alone. Whoever chose them chose nothing for the supervisor, which is not confined.
    pub variables: Variables,
    pub program: OsString,
    pub arguments: Vec<OsString>,
}

/// Variables, and how they travel: over the socket, because everybody may read arguments, and what a process has in its
/// environment has a say in how it is loaded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Variables(Vec<(OsString, OsString)>);

impl Variables {
    pub fn new(variables: Vec<(OsString, OsString)>) -> io::Result<Self> {
        let odd = |(name, value): &&(OsString, OsString)| {
            let (name, value) = (name.as_bytes(), value.as_bytes());
            name.is_empty() || name.contains(&b'=') || name.contains(&0) || value.contains(&0)
        };
        match variables.iter().find(odd) {
            Some((name, _)) => {
                let problem = format!("{name:?} is no name of a variable, or its value is none");
                Err(io::Error::new(io::ErrorKind::InvalidInput, problem))
            }
            None => Ok(Self(variables)),
        }
    }

    /// Each ends with a zero.
    pub fn to_bytes(&self) -> Vec<u8> {
        let one =
            |(name, value): &(OsString, OsString)| [name.as_bytes(), b"=", value.as_bytes(), b"\0"].concat();
        self.0.iter().flat_map(one).collect()
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let one = |line: &[u8]| {
            let at = line.iter().position(|byte| *byte == b'=')?;
            Some((OsString::from_vec(line[..at].to_vec()), OsString::from_vec(line[at + 1..].to_vec())))
        };
        Self(bytes.split(|byte| *byte == 0).filter_map(one).collect())
    }
}

impl Order {
    pub fn to_arguments(&self) -> Vec<OsString> {
        let mut made: Vec<OsString> = vec![COMMAND.into(), "--in".into(), self.directory.clone().into()];
        if let Some(confinement) = &self.confinement {
            made.push("--confined".into());
            for (flag, paths) in [("--write", &confinement.write), ("--hide", &confinement.hide)] {
                made.extend(paths.iter().flat_map(|path| [flag.into(), path.clone().into()]));
            }
        }
        made.extend(self.talks.then(|| "--talk".into()));
        let handed = self.variables.to_bytes().len();
        if handed > 0 {
            made.extend(["--variables".into(), handed.to_string().into()]);
        }
        made.extend(["--".into(), self.program.clone()]);
        made.extend(self.arguments.iter().cloned());
        made
    }

    /// Of what stands behind the command's name. The variables are still to be read: so many bytes.
    fn parse(mut arguments: impl Iterator<Item = OsString>) -> Option<(Self, usize)> {
        let mut directory = None;
        let mut confinement: Option<Confinement> = None;
        let (mut talks, mut handed) = (false, 0);
        loop {
            let flag = arguments.next()?;
            match flag.to_str()? {
                "--in" => directory = Some(PathBuf::from(arguments.next()?)),
                "--confined" => confinement = Some(Confinement::default()),
                "--write" => confinement.as_mut()?.write.push(arguments.next()?.into()),
                "--hide" => confinement.as_mut()?.hide.push(arguments.next()?.into()),
                "--talk" => talks = true,
                "--variables" => handed = arguments.next()?.to_str()?.parse().ok()?,
                "--" => break,
                _ => return None,
            }
        }
        let (directory, program) = (directory?, arguments.next()?);
        let variables = Variables::default();
        let arguments = arguments.collect();
        Some((Self { directory, confinement, talks, variables, program, arguments }, handed))
    }
}

/// Runs the supervisor. Whatever there is to say goes to the server.
pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    match supervise(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn supervise(arguments: impl Iterator<Item = OsString>) -> io::Result<()> {
    let mut server = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let Some((mut order, handed)) = Order::parse(arguments) else {
        return writeln!(server, "failed the command is only for the server itself");
    };
    let mut variables = vec![0; handed];
    server.read_exact(&mut variables)?;
    order.variables = Variables::from_bytes(&variables);
    // Away from the server's terminal, and from the signals that a key there sends.
    let _ = rustix::process::setsid();
    adopt_orphans();
    let started = limit().map_err(|error| format!("limits: {error}")).and_then(|()| start(order));
    let child = match started {
        Ok(child) => child,
        Err(problem) => return writeln!(server, "failed {problem}"),
    };
    writeln!(server, "started {}", child.as_raw_nonzero())?;
    let lifeline = server.try_clone()?;
    thread::spawn(move || obey(lifeline, child));
    let status = wait_for(child)?;
    let left = end_the_rest(child);
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => writeln!(server, "exit {code} {left}"),
        (None, signal) => writeln!(server, "signal {} {left}", signal.unwrap_or_default()),
    }
}

/// On a thread of its own, which gives up its rights before it forks; the supervisor keeps its own.
fn start(order: Order) -> Result<Pid, String> {
    let started = thread::spawn(move || {
        if let Some(confinement) = &order.confinement {
            confine_thread(confinement)?;
        }
        let input = match order.talks {
            true => io::stdout().as_fd().try_clone_to_owned().map(Stdio::from),
            false => Ok(Stdio::null()),
        };
        let input = input.map_err(|error| format!("standard input: {error}"))?;
        let mut command = Command::new(&order.program);
        command.args(&order.arguments).current_dir(&order.directory).stdin(input).process_group(0);
        command.envs(order.variables.0);
        let child = command.spawn().map_err(|error| {
            format!("{} in {}: {error}", order.program.display(), order.directory.display())
        })?;
        Ok(Pid::from_child(&child))
    });
    started.join().unwrap_or_else(|_| Err("the thread that starts it has ended".to_owned()))
}

/// The operator's limits stay where they are lower.
fn limit() -> io::Result<()> {
    for &(resource, most) in LIMITS {
        let hard = rustix::process::getrlimit(resource).maximum.map_or(most, |hard| hard.min(most));
        rustix::process::setrlimit(resource, Rlimit { current: Some(hard), maximum: Some(hard) })?;
    }
    Ok(())
}

/// Reaps whatever ends, until it is this one.
fn wait_for(child: Pid) -> io::Result<WaitStatus> {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == child && !status.stopped() => return Ok(status),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// What the child left behind goes with it; how many that were comes back.
fn end_the_rest(child: Pid) -> usize {
    let left = signal_all(child, Signal::TERM);
    let started = Instant::now();
    while !nothing_is_left() && started.elapsed() < GIVE_UP {
        if started.elapsed() > GRACE {
            kill_all(child);
        }
        thread::sleep(POLL);
    }
    left
}

/// Reaps what has ended. An error means that there is no child any more.
fn nothing_is_left() -> bool {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Ok(None) => return false,
            Err(_) => return true,
        }
    }
}

/// Waits for the end of the socket and then ends everything. The other thread sees it end and leaves, and with it
/// this one.
fn obey(mut lifeline: UnixStream, child: Pid) {
    let mut byte = [0; 16];
    while !matches!(lifeline.read(&mut byte), Ok(0) | Err(_)) {}
    signal_all(child, Signal::TERM);
    thread::sleep(GRACE);
    loop {
        kill_all(child);
        thread::sleep(POLL);
    }
}

/// First held, so that nothing forks between the look and the blow.
fn kill_all(child: Pid) {
    signal_all(child, Signal::STOP);
    signal_all(child, Signal::KILL);
}

/// The tree below this process; what is not there any more needs no signal.
#[cfg(target_os = "linux")]
fn signal_all(_: Pid, signal: Signal) -> usize {
    let found = super::process::descendants(rustix::process::getpid().as_raw_nonzero().get());
    for pid in found.iter().filter_map(|pid| Pid::from_raw(*pid)) {
        let _ = rustix::process::kill_process(pid, signal);
    }
    found.len()
}

#[cfg(not(target_os = "linux"))]
fn signal_all(child: Pid, signal: Signal) -> usize {
    let found = rustix::process::test_kill_process_group(child).is_ok();
    let _ = rustix::process::kill_process_group(child, signal);
    usize::from(found)
}

#[cfg(target_os = "linux")]
fn adopt_orphans() {
    // Since Linux 3.4; any pid means yes.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_as_it_was_written() {
        let bare = Order {
            directory: "/a b".into(),
            confinement: None,
            talks: false,
            variables: Variables::default(),
            program: "bash".into(),
            arguments: vec!["-c".into(), "--hide -- x".into()],
        };
        let confinement = Confinement { write: vec!["/w".into(), "--".into()], hide: vec!["/h".into()] };
        let confined = Order { confinement: Some(confinement), ..bare.clone() };
        let talking = Order { talks: true, ..confined.clone() };
        for order in [bare, confined, talking] {
            let written = order.to_arguments();
            assert_eq!(written[0], COMMAND);
            assert_eq!(Order::parse(written.into_iter().skip(1)), Some((order, 0)));
        }
        for wrong in [&["--hide", "/x"][..], &["--in", "/"], &["--in", "/", "--"], &["bash"], &[]] {
            assert_eq!(Order::parse(wrong.iter().map(OsString::from)), None, "{wrong:?}");
        }
    }

    #[test]
    fn variables_travel_beside_the_arguments() {
        let variables =
            Variables::new(vec![("A".into(), "s3cret = 1".into()), ("B".into(), "".into())]).unwrap();
        let order = Order {
            directory: "/".into(),
            confinement: None,
            talks: true,
            variables: variables.clone(),
            program: "x".into(),
            arguments: vec![],
        };
        let written = order.to_arguments();
        assert!(!format!("{written:?}").contains("s3cret"));
        let (read, handed) = Order::parse(written.into_iter().skip(1)).unwrap();
        assert_eq!((read.variables, handed), (Variables::default(), variables.to_bytes().len()));
        assert_eq!(Variables::from_bytes(&variables.to_bytes()), variables);
        for (name, value) in [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "x\0B=y")] {
            assert!(Variables::new(vec![(name.into(), value.into())]).is_err(), "{name:?}");
        }
    }
}
