//! The file of a recording: written by a thread of its own, so that a slow disk delays nobody, and a rule at a time in one
//! piece, so that a killed server leaves whole rules.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};
use std::time::SystemTime;

use chrono::{DateTime, Utc};

use super::blot::Blot;
use crate::model::rehearsal::{Script, Take};

const HEAD: &str = "# A recorded session. `agena --rehearsal` with this file plays it again; `speed: 10` above `rules:` \
                    makes it faster.\n";
const SEARCHES: &str = "searches: true\n";

/// So many bytes of answers may wait for the disk.
const MOST: usize = 256 << 20;

/// The last one who holds it waits until all is written.
pub(super) struct Writer {
    takes: Option<Sender<(Take, usize)>>,
    /// How many bytes wait.
    waiting: Arc<AtomicUsize>,
    searches: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(dir: &Path, blot: Arc<Blot>) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        let (takes, taken) = mpsc::channel::<(Take, usize)>();
        let waiting = Arc::new(AtomicUsize::new(0));
        let mut recording = Recording::new(dir);
        let searches = Arc::clone(&recording.searches);
        let left = Arc::clone(&waiting);
        let write = move || {
            for (take, size) in taken {
                recording.add(&blot.take(take));
                left.fetch_sub(size, Ordering::Relaxed);
            }
        };
        let thread = thread::Builder::new().name("recorder".to_owned()).spawn(write)?;
        Ok(Self { takes: Some(takes), waiting, searches, thread: Some(thread) })
    }

    /// A model that is recorded looks things up on the web. Known before the first answer, or never told.
    pub(super) fn searches(&self) {
        self.searches.store(true, Ordering::Relaxed);
    }

    /// `size` is what the answer holds, more or less.
    pub(super) fn write(&self, take: Take, size: usize) {
        let more = |waiting: usize| waiting.checked_add(size).filter(|all| *all <= MOST);
        if self.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_err() {
            tracing::warn!(most = MOST, "an answer is not recorded: too many wait for the disk");
            return;
        }
        // Only a thread that has died hears nothing, and then nothing can be done about it here.
        if let Some(takes) = &self.takes {
            let _ = takes.send((take, size));
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.takes.take());
        self.thread.take().into_iter().for_each(|thread| drop(thread.join()));
    }
}

struct Recording {
    dir: PathBuf,
    file: Option<File>,
    searches: Arc<AtomicBool>,
    warned: bool,
}

impl Recording {
    fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), file: None, searches: Arc::default(), warned: false }
    }

    fn add(&mut self, take: &Take) {
        let rule = take.rule();
        // What could not be read again would spoil all that is there.
        if let Err(problem) = Script::parse(&format!("rules:\n{rule}")) {
            tracing::warn!(%problem, "an answer cannot be recorded");
            return;
        }
        match self.append(&rule) {
            Ok(()) => self.warned = false,
            Err(error) if !self.warned => {
                self.warned = true;
                tracing::warn!(dir = %self.dir.display(), %error, "what the model answers is not recorded");
            }
            Err(_) => {}
        }
    }

    fn append(&mut self, rule: &str) -> io::Result<()> {
        let Some(file) = &mut self.file else {
            let (mut file, path) = create(&self.dir, SystemTime::now())?;
            let searches = if self.searches.load(Ordering::Relaxed) { SEARCHES } else { "" };
            // What is left of a failed beginning would be no script.
            file.write_all(format!("{HEAD}{searches}rules:\n{rule}").as_bytes())
                .inspect_err(|_| drop(fs::remove_file(&path)))?;
            tracing::info!(path = %path.display(), "recording");
            self.file = Some(file);
            return Ok(());
        };
        let whole = file.metadata()?.len();
        file.write_all(rule.as_bytes()).inspect_err(|_| drop(file.set_len(whole)))
    }
}

/// `session-20260301T120000Z.yaml`, or with a number if another server has begun in that second.
fn create(dir: &Path, now: SystemTime) -> io::Result<(File, PathBuf)> {
    let time = DateTime::<Utc>::from(now).format("%Y%m%dT%H%M%SZ");
    let mut number = 1;
    loop {
        let more = if number == 1 { String::new() } else { format!("-{number}") };
        let path = dir.join(format!("session-{time}{more}.yaml"));
        match OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
            Ok(file) => return Ok((file, path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::domain::model::Backend;
    use crate::model::rehearsal::Rehearsal;
    use crate::proto::gemini::GenerateContentRequest;

    #[test]
    fn a_file_is_for_its_owner_and_never_another_ones() {
        let dir = tempfile::tempdir().unwrap();
        let time = SystemTime::UNIX_EPOCH;
        for name in ["session-19700101T000000Z.yaml", "session-19700101T000000Z-2.yaml"] {
            let (file, path) = create(dir.path(), time).unwrap();
            assert_eq!(path.file_name().unwrap(), name);
            assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_disk_that_refuses_leaves_whole_rules_and_is_tried_again() {
        let dir = tempfile::tempdir().unwrap();
        let take = Take::of(&GenerateContentRequest::default());
        let place = dir.path().join("gone");
        let mut recording = Recording::new(&place);
        recording.add(&take);
        assert!(recording.warned && recording.file.is_none());
        fs::create_dir(&place).unwrap();
        recording.add(&take);
        assert!(!recording.warned);
        let path = fs::read_dir(&place).unwrap().next().unwrap().unwrap().path();
        // Reading only, as a full disk would have it.
        let good = recording.file.replace(File::open(&path).unwrap());
        recording.add(&take);
        assert!(recording.warned);
        recording.file = good;
        recording.add(&take);
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches("- when:").count(), 2, "{text}");
        Script::parse(&text).unwrap();
    }

    #[test]
    fn what_waits_for_the_disk_is_bounded_and_makes_room_again() {
        let dir = tempfile::tempdir().unwrap();
        let writer = Writer::start(dir.path(), Arc::new(Blot::new(&[]))).unwrap();
        let waiting = Arc::clone(&writer.waiting);
        let take = || Take::of(&GenerateContentRequest::default());
        waiting.store(1, Ordering::Relaxed);
        for (size, full) in [(MOST, true), (usize::MAX, true), (MOST - 1, false)] {
            writer.write(Take { turn: usize::from(full), ..take() }, size);
        }
        drop(writer);
        assert_eq!(waiting.load(Ordering::Relaxed), 1);
        let path = fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap().path();
        let text = fs::read_to_string(path).unwrap();
        assert!(text.matches("- when:").count() == 1 && text.contains("turn: 0"), "{text}");
    }

    #[test]
    fn the_head_says_whether_the_model_searches() {
        for searches in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let writer = Writer::start(dir.path(), Arc::new(Blot::new(&[]))).unwrap();
            if searches {
                writer.searches();
            }
            writer.write(Take::of(&GenerateContentRequest::default()), 0);
            drop(writer);
            let path = fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap().path();
            let text = fs::read_to_string(path).unwrap();
            assert_eq!(Rehearsal::new(Script::parse(&text).unwrap()).searches(""), searches, "{text}");
        }
    }
}
