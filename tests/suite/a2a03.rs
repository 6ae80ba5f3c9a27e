//! The 0.3 dialect over the cases in `tests/golden/a2a03`: each `<case>.in.json` names a direction, and what comes out
//! is `<case>.out.json`, byte for byte. `AGENA_GOLDEN=refresh` writes the latter anew.

mod case;
mod round_trip;

use std::fs;
use std::path::{Path, PathBuf};

const CASES: &str = "tests/golden/a2a03";

#[test]
fn every_case_comes_out_as_recorded() {
    let refresh = std::env::var_os("AGENA_GOLDEN").is_some_and(|value| value == "refresh");
    let mut wrong = Vec::new();
    for path in cases() {
        let out = PathBuf::from(path.to_str().unwrap().replace(".in.json", ".out.json"));
        let ours = case::run(&fs::read(&path).unwrap()) + "\n";
        if refresh {
            fs::write(&out, &ours).unwrap();
        } else if fs::read_to_string(&out).ok().as_ref() != Some(&ours) {
            wrong.push(format!("{}:\n{ours}", out.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn there_are_enough_cases_and_none_is_left_over() {
    let cases = cases();
    assert!(cases.len() >= 40, "{} cases", cases.len());
    let files = fs::read_dir(CASES).unwrap().count();
    assert_eq!(files, 2 * cases.len(), "an output without its input, or the other way round");
}

fn cases() -> Vec<PathBuf> {
    let paths = fs::read_dir(Path::new(CASES)).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = paths.filter(|path| path.to_str().unwrap().ends_with(".in.json")).collect();
    found.sort();
    found
}
