//! A terminal: what a person sees of the client, and what they type.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::client;
use crate::kit::DEADLINE;
use crate::kit::process::Running;

pub struct Terminal {
    child: Child,
    keys: File,
    seen: Arc<Mutex<Vec<u8>>>,
    /// How much of it was looked at.
    at: usize,
}

impl Terminal {
    /// A chat at a terminal of its own, at its first prompt.
    pub fn chat(server: &Running, environment: &[(&str, &str)]) -> Self {
        let mut terminal = Self::start(server, &["chat"], environment);
        terminal.expect("Ctrl-D leaves");
        terminal.expect("> ");
        terminal
    }

    pub fn start(server: &Running, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        // Wide, so that nothing that is looked for is broken over lines.
        tcsetwinsize(&master, Winsize { ws_row: 50, ws_col: 400, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let slave =
            rustix::fs::open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty());
        let slave = File::from(slave.unwrap());
        let inner = client(server, arguments);
        // Makes it the terminal of a session of its own, so that Ctrl-C is a signal.
        let mut command = Command::new("setsid");
        command.arg("--ctty").arg(inner.get_program()).args(inner.get_args()).env_clear();
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("TERM", "xterm").envs(environment.iter().copied()).current_dir(server.home());
        command
            .stdin(Stdio::from(slave.try_clone().unwrap()))
            .stdout(Stdio::from(slave.try_clone().unwrap()));
        let child = command.stderr(Stdio::from(slave)).spawn().unwrap();
        // It holds the other end as long as it lives.
        drop(command);
        let keys = File::from(master);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (mut screen, shared) = (keys.try_clone().unwrap(), Arc::clone(&seen));
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // A terminal whose program has ended gives an error.
            while let Ok(count @ 1..) = screen.read(&mut buffer) {
                shared.lock().unwrap().extend_from_slice(&buffer[..count]);
            }
        });
        Self { child, keys, seen, at: 0 }
    }

    pub fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Everything on the screen so far, without colours and movements.
    pub fn text(&self) -> String {
        without_sequences(&String::from_utf8_lossy(&self.seen.lock().unwrap()))
    }

    pub fn raw(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned()
    }

    /// Waits until it is seen behind what was looked at before; what stands between is returned.
    pub fn expect(&mut self, what: &str) -> String {
        let started = Instant::now();
        loop {
            let text = self.text();
            let rest = text.get(self.at..).unwrap_or_default();
            if let Some(place) = rest.find(what) {
                let between = rest[..place].to_owned();
                self.at += place + what.len();
                return between;
            }
            assert!(
                started.elapsed() < 2 * DEADLINE,
                "{what:?} is not in {rest:?}\nafter {:?}",
                &text[..self.at]
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Says something when the prompt is there.
    pub fn say(&mut self, line: &str) {
        self.press(line);
        self.press("\r");
    }

    /// The exit code.
    pub fn ended(&mut self) -> Option<i32> {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(started.elapsed() < DEADLINE, "it does not end: {}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn without_sequences(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text.chars();
    while let Some(next) = rest.next() {
        if next != '\u{1b}' {
            shown.push(next);
            continue;
        }
        if rest.next() == Some('[') {
            rest.by_ref().find(char::is_ascii_alphabetic);
        }
    }
    shown
}
