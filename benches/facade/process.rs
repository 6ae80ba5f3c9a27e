//! A server as a child process: the CPU time that it has used, and the memory that it has.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub struct Process {
    child: Child,
    address: SocketAddr,
    _home: Option<tempfile::TempDir>,
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

    /// User and system time, in the kernel's ticks of 10 ms.
    pub fn cpu(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        // The second field is a name in brackets that may hold blanks.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        Duration::from_millis(ticks * 10)
    }

    pub fn memory_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
