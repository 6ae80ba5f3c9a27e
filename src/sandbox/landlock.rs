//! What the kernel keeps a child from: writing outside of a few directories, reading what is hidden, signalling or
//! tracing whoever is not its own child. Landlock holds for a thread and all that it starts; the supervisor of a
//! child calls it on a thread of its own, so that it stays free itself.

use std::fmt;
use std::path::PathBuf;

/// What a child may and may not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Confinement {
    /// Directories that it may change; everything else it may only read.
    pub write: Vec<PathBuf>,
    /// What it may not even read, unless it lies in one of the above.
    pub hide: Vec<PathBuf>,
}

/// Whether the kernel can do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// By the version of its interface.
    Landlock(u32),
    Lacking,
    /// It is there and was not switched on at boot.
    SwitchedOff,
}

impl Support {
    pub fn is_there(self) -> bool {
        matches!(self, Self::Landlock(_))
    }
}

/// A word for the banner.
impl fmt::Display for Support {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Landlock(version) => write!(f, "on (Landlock {version})"),
            Self::Lacking => f.write_str("off (kernel lacks it)"),
            Self::SwitchedOff => f.write_str("off (kernel has Landlock switched off)"),
        }
    }
}

#[cfg(target_os = "linux")]
pub use linux::{confine_thread, support};

#[cfg(not(target_os = "linux"))]
pub fn support() -> Support {
    Support::Lacking
}

#[cfg(not(target_os = "linux"))]
pub fn confine_thread(_: &Confinement) -> Result<(), String> {
    Ok(())
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::path::{Path, PathBuf};

    use landlock::{
        ABI, Access, AccessFs, LandlockStatus, RestrictionStatus, Ruleset, RulesetAttr, RulesetCreatedAttr,
        RulesetError, Scope, path_beneath_rules,
    };

    use rustix::thread::CapabilitySet;

    use super::{Confinement, Support};

    /// The newest interface that this is written for; on an older kernel what it knows is in force.
    const KNOWN: ABI = ABI::V6;
    /// Powers of the superuser that look into or change other processes and the kernel past all rules. Who is not the
    /// superuser has none of them.
    const POWERS: &[CapabilitySet] = &[
        CapabilitySet::SYS_PTRACE,
        CapabilitySet::SYS_ADMIN,
        CapabilitySet::PERFMON,
        CapabilitySet::BPF,
        CapabilitySet::SYS_MODULE,
        CapabilitySet::SYS_RAWIO,
        CapabilitySet::SYS_BOOT,
    ];
    /// Devices that programs write to.
    const DEVICES: &[&str] = &[
        "/dev/null",
        "/dev/zero",
        "/dev/full",
        "/dev/random",
        "/dev/urandom",
        "/dev/tty",
        "/dev/ptmx",
        "/dev/pts",
        "/dev/shm",
    ];

    /// Asks the kernel, by confining a thread that ends at once.
    pub fn support() -> Support {
        let tried = std::thread::spawn(|| restrict(&Confinement::default())).join();
        match tried.ok().and_then(Result::ok).map(|status| status.landlock) {
            Some(LandlockStatus::Available { effective_abi, kernel_abi }) => {
                Support::Landlock(kernel_abi.map_or(effective_abi as u32, i32::cast_unsigned))
            }
            Some(LandlockStatus::NotEnabled) => Support::SwitchedOff,
            _ => Support::Lacking,
        }
    }

    /// Takes rights from this thread and from whatever it starts, for good; also those of set-uid programs. A kernel
    /// without Landlock does the latter alone.
    pub fn confine_thread(confinement: &Confinement) -> Result<(), String> {
        for power in POWERS {
            let _ = rustix::thread::remove_capability_from_bounding_set(*power);
        }
        rustix::thread::set_no_new_privs(true).map_err(|error| format!("no-new-privileges: {error}"))?;
        restrict(confinement).map(drop).map_err(|error| format!("Landlock: {error}"))
    }

    fn restrict(confinement: &Confinement) -> Result<RestrictionStatus, RulesetError> {
        let all = AccessFs::from_all(KNOWN);
        let hidden: Vec<PathBuf> =
            confinement.hide.iter().filter_map(|path| path.canonicalize().ok()).collect();
        Ruleset::default()
            .handle_access(all)?
            .scope(Scope::from_all(KNOWN))?
            .create()?
            // Names may be seen everywhere: a rule holds for all that lies below, so they cannot be left out.
            .add_rules(path_beneath_rules(["/"], AccessFs::ReadDir))?
            .add_rules(path_beneath_rules(
                all_but(Path::new("/"), &hidden),
                AccessFs::ReadFile | AccessFs::Execute,
            ))?
            .add_rules(path_beneath_rules(DEVICES, all))?
            .add_rules(path_beneath_rules(&confinement.write, all))?
            .restrict_self()
    }

    /// The fewest paths that hold everything below `start` but what is hidden. Rules can only give, so what lies
    /// beside a hidden path is given piece by piece.
    fn all_but(start: &Path, hidden: &[PathBuf]) -> Vec<PathBuf> {
        if hidden.iter().any(|path| path == start) {
            return Vec::new();
        }
        if !hidden.iter().any(|path| path.starts_with(start)) {
            return vec![start.to_owned()];
        }
        let entries = fs::read_dir(start).into_iter().flatten().flatten();
        // What a symlink leads to is given, or not, where it really is.
        let real = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
        real.flat_map(|entry| all_but(&entry.path(), hidden)).collect()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn what_is_hidden_is_left_out_and_what_lies_beside_it_is_not() {
            let place = tempfile::tempdir().unwrap();
            let root = place.path().canonicalize().unwrap();
            fs::create_dir_all(root.join("home/keys")).unwrap();
            fs::create_dir_all(root.join("usr")).unwrap();
            fs::write(root.join("home/notes"), "").unwrap();
            std::os::unix::fs::symlink(root.join("home/keys"), root.join("way")).unwrap();
            let mut given = all_but(&root, &[root.join("home/keys")]);
            given.sort();
            assert_eq!(given, [root.join("home/notes"), root.join("usr")]);
            assert_eq!(all_but(&root, &[]), [root]);
        }
    }
}
