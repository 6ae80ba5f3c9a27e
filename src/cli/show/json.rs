//! Messages as lines of JSON, one object each.

use std::fmt::Write;

use super::safe::acts;
use crate::proto::json::{self, Unprintable};
use crate::proto::schema::Schema;

/// One line, with its end. Characters that a terminal would act upon are escaped, which means the same to a program.
pub fn line<T: Schema>(message: &T) -> Result<String, Unprintable> {
    let mut bytes = Vec::new();
    json::encode(message, &mut bytes)?;
    Ok(escaped(&String::from_utf8_lossy(&bytes)) + "\n")
}

/// Outside of strings JSON has none of these.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for next in text.chars() {
        if acts(next) {
            let mut units = [0; 2];
            for unit in next.encode_utf16(&mut units) {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(next);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::devtool::{TaskUpdate, task_update::Update};

    #[test]
    fn a_line_is_one_object_that_reads_back_and_moves_nothing() {
        let text = "a\n\u{1b}[31m\u{9b}\u{202e}\u{e0041}\u{7f}é";
        let update =
            TaskUpdate { sequence: 7, update: Some(Update::Text(text.to_owned())), ..TaskUpdate::default() };
        let line = line(&update).unwrap();
        assert_eq!(line.matches('\n').count(), 1);
        assert!(!line.trim_end().chars().any(acts), "{line}");
        assert_eq!(json::decode::<TaskUpdate>(line.as_bytes()).unwrap(), update);
    }
}
