//! Whether commands are confined: what the settings ask for, as far as the kernel can. Pure but for the question.

use super::StartError;
use crate::config::Sandbox;
use crate::sandbox::landlock::{Support, support};

/// What was decided, and a word about it for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Confining {
    pub(super) on: bool,
    pub(super) word: String,
}

pub(super) fn confining(wanted: Sandbox) -> Result<Confining, StartError> {
    match wanted {
        Sandbox::Off => Ok(Confining {
            on: false,
            word: "off, as asked for: commands may do whatever this user may".to_owned(),
        }),
        Sandbox::On | Sandbox::Auto => decide(wanted, support()),
    }
}

/// Asked for and not to be had is no start: a command that was meant to be confined must not run free.
fn decide(wanted: Sandbox, support: Support) -> Result<Confining, StartError> {
    let lack = match support {
        Support::Landlock(version) => {
            return Ok(Confining { on: true, word: format!("on (Landlock ABI {version})") });
        }
        Support::Lacking => "this kernel has no Landlock",
        Support::SwitchedOff => "this kernel has Landlock switched off",
    };
    match wanted {
        Sandbox::On => Err(StartError::NoSandbox(lack)),
        _ => Ok(Confining {
            on: false,
            word: format!("off: {lack}, so commands may do whatever this user may"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_on_where_the_kernel_can_and_said_where_not() {
        for wanted in [Sandbox::On, Sandbox::Auto] {
            let decided = decide(wanted, Support::Landlock(6)).unwrap();
            assert_eq!((decided.on, decided.word.as_str()), (true, "on (Landlock ABI 6)"));
        }
        for (support, lack) in [
            (Support::Lacking, "this kernel has no Landlock"),
            (Support::SwitchedOff, "this kernel has Landlock switched off"),
        ] {
            let decided = decide(Sandbox::Auto, support).unwrap();
            assert!(!decided.on && decided.word.starts_with(&format!("off: {lack}")), "{decided:?}");
            let refused = decide(Sandbox::On, support).unwrap_err().to_string();
            assert!(refused.starts_with("agent.sandbox is on") && refused.contains(lack), "{refused}");
            assert!(refused.lines().count() == 1 && refused.contains("--sandbox auto"), "{refused}");
        }
        let off = confining(Sandbox::Off).unwrap();
        assert!(!off.on && off.word.starts_with("off, as asked for"), "{off:?}");
    }
}
