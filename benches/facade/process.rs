//! A server as a child process: the CPU time that it has used, and the memory that it has.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::AddAssign;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub struct Process {
    child: Child,
    address: SocketAddr,
    _home: Option<tempfile::TempDir>,
}

/// Who used the time, as the kernel shares it out between the two by where its ticks find the process.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cpu {
    pub program: Duration,
    pub kernel: Duration,
}

impl Cpu {
    pub fn whole(self) -> Duration {
        self.program + self.kernel
    }

    /// What was used between `before` and this.
    pub fn since(self, before: Self) -> Self {
        Self { program: self.program - before.program, kernel: self.kernel - before.kernel }
    }
}

/// In KiB.
#[derive(Debug, Clone, Copy, Default)]
pub struct Memory {
    pub whole: u64,
    /// Without what the system shares: the program itself, which comes in piece by piece while it is used.
    pub own: u64,
}

impl AddAssign for Cpu {
    fn add_assign(&mut self, more: Self) {
        self.program += more.program;
        self.kernel += more.kernel;
    }
}

impl Process {
    /// This very program as one of its servers. It prints its address first.
    pub fn own(server: &[&str]) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let mut child = command.arg("--serve").args(server).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, address: line.trim().parse().unwrap(), _home: None }
    }

    /// The program that is shipped, with its model at this address.
    pub fn agena(model: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let (config, workspace) = (home.path().join("agena.toml"), home.path().join("workspace"));
        std::fs::create_dir(&workspace).unwrap();
        let settings = format!(
            "[server]\nmax_connections = 20000\n[log]\nfilter = 'warn'\n[model]\nname = 'gemini-3.8-flash'\n\
             [[model.backends]]\nname = 'one'\nkind = 'gemini'\nbase_url = 'http://{model}'\n"
        );
        std::fs::write(&config, settings).unwrap();
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_agena"))
            .args(["--listen", &address.to_string(), "--auth", "none", "--sandbox", "off"])
            .arg("--config")
            .arg(&config)
            .arg("--data-dir")
            .arg(home.path().join("data"))
            .arg("--workspace")
            .arg(&workspace)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(address).is_err() {
            assert!(Instant::now() < deadline, "agena does not start");
            std::thread::yield_now();
        }
        Self { child, address, _home: Some(home) }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// In the kernel's ticks of 10 ms.
    pub fn cpu(&self) -> Cpu {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        // The second field is a name in brackets that may hold blanks.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        let ticks = |at: usize| Duration::from_millis(fields[at].parse::<u64>().unwrap() * 10);
        Cpu { program: ticks(11), kernel: ticks(12) }
    }

    pub fn memory(&self) -> Memory {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let kib = |name: &str| -> u64 {
            let line = status.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_whitespace().nth(1).unwrap().parse().unwrap()
        };
        Memory { whole: kib("VmRSS:"), own: kib("RssAnon:") }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
