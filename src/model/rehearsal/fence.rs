//! A script in the prompt itself: a fenced block named `rehearsal` with the lines of one rule, or with `rules:`. Pure; the
//! agent's side and the model's side both look for it first.

use super::script::{BadScript, Script};

const OPENING: &str = "```rehearsal";
const CLOSING: &str = "```";

/// The script, and what was said around it.
pub(super) struct Fenced {
    pub(super) script: Script,
    pub(super) around: String,
}

/// None if there is no such block.
pub(super) fn find(text: &str) -> Option<Result<Fenced, BadScript>> {
    if !text.contains(OPENING) {
        return None;
    }
    let lines: Vec<&str> = text.lines().collect();
    let open = lines.iter().position(|line| line.trim() == OPENING)?;
    let block = &lines[open + 1..];
    // A block that is not closed goes to the end, as Markdown has it.
    let length = block.iter().position(|line| line.trim() == CLOSING).unwrap_or(block.len());
    let behind = block.get(length + 1..).unwrap_or_default();
    let around = [&lines[..open], behind].concat().join("\n").trim().to_owned();
    Some(parse(&block[..length]).map(|script| Fenced { script, around }))
}

fn parse(lines: &[&str]) -> Result<Script, BadScript> {
    let first =
        lines.iter().map(|line| line.trim_start()).find(|line| !line.is_empty() && !line.starts_with('#'));
    let text = lines.join("\n");
    if first.is_some_and(|line| line.starts_with(['-', '['])) {
        Script::lines_in_prompt(&text)
    } else {
        Script::in_prompt(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_found_with_what_stands_around_it() {
        for (text, around) in [
            ("```rehearsal\n- say: a\n```", ""),
            ("Please:\n\n```rehearsal\n# one\n- say: a\n```\nThanks", "Please:\n\nThanks"),
            ("x\n  ```rehearsal\n  rules:\n  - do: [say: a]\n  ```", "x"),
            ("```rehearsal\n- say: a", ""),
        ] {
            assert_eq!(find(text).unwrap().unwrap().around, around, "{text}");
        }
        for text in ["", "say: a", "```yaml\n- say: a\n```", "```rehearsals\n- say: a\n```"] {
            assert!(find(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_bad_block_says_what_is_wrong() {
        for (text, problem) in [
            ("```rehearsal\n- sing: a\n```", "sing"),
            ("```rehearsal\n```", ""),
            ("```rehearsal\n- calls: []\n```", "`calls` has no call"),
            (
                "```rehearsal\n- reset: {times: 1}\n- say: a\n```",
                "rule 1: `times` counts while a script runs",
            ),
            ("```rehearsal\nrules: [{do: [error: {status: 500, times: 1}]}]\n```", "rule 1: `times` counts"),
        ] {
            let said = find(text).unwrap().map(|_| ()).unwrap_err().to_string();
            assert!(said.contains(problem), "{text}: {said}");
        }
    }
}
