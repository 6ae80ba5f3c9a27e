//! Making a long conversation short before it overflows: the older part becomes a summary, the newest stays word for
//! word. Pure; the runner asks the model for the words.

use super::conversation::{MODEL, USER, text};
use crate::proto::gemini::part::Data;
use crate::proto::gemini::{Content, Part};

/// So much of the end stays as it is, in hundredths.
const KEPT: usize = 30;

/// The older part and the newer. None if there is no place to cut.
pub fn split(contents: &[Content]) -> Option<(&[Content], &[Content])> {
    let total: usize = contents.iter().map(size).sum();
    let mut left = total;
    for (at, content) in contents.iter().enumerate() {
        if at > 0 && begins_a_turn(content) && left * 100 <= total * KEPT {
            return Some(contents.split_at(at));
        }
        left -= size(content);
    }
    // The last turn alone is longer than what should stay: cut before it, if anything lies before it.
    let last = contents.iter().rposition(begins_a_turn).filter(|at| *at > 0)?;
    Some(contents.split_at(last))
}

/// What the conversation is from then on. None if that would be no shorter.
pub fn shortened(summary: &str, old: &[Content], kept: &[Content]) -> Option<Vec<Content>> {
    let summary = summary.trim();
    if summary.is_empty() || summary.len() >= old.iter().map(size).sum() {
        return None;
    }
    let told =
        format!("<summary_of_the_conversation_so_far>\n{summary}\n</summary_of_the_conversation_so_far>");
    let mut contents = vec![text(USER, told), text(MODEL, "Understood. I go on from there.")];
    contents.extend_from_slice(kept);
    Some(contents)
}

/// A rough count, for when the model has not told one.
pub fn tokens(contents: &[Content]) -> i64 {
    i64::try_from(contents.iter().map(size).sum::<usize>() / 4).unwrap_or(i64::MAX)
}

/// Words of the user; never the answer to a call, which must stay with it.
fn begins_a_turn(content: &Content) -> bool {
    content.role == USER
        && !content.parts.iter().any(|part| matches!(part.data, Some(Data::FunctionResponse(_))))
}

fn size(content: &Content) -> usize {
    let part = |part: &Part| match &part.data {
        Some(Data::Text(text)) => text.len(),
        Some(Data::FunctionCall(call)) => call.name.len() + call.args.len(),
        Some(Data::FunctionResponse(answer)) => answer.name.len() + answer.response.len(),
        // What an image costs, more or less.
        Some(Data::InlineData(_) | Data::FileData(_)) => 12_000,
        _ => part.extra.len(),
    };
    content.parts.iter().map(part).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::gemini::FunctionResponse;

    fn answer(length: usize) -> Content {
        let response = FunctionResponse { response: "x".repeat(length), ..FunctionResponse::default() };
        Content {
            role: USER.to_owned(),
            parts: vec![Part { data: Some(Data::FunctionResponse(response)), ..Part::default() }],
        }
    }

    #[test]
    fn the_cut_lies_before_words_of_the_user() {
        let say = |role: &str, length: usize| text(role, "x".repeat(length));
        for (contents, cut) in [
            (vec![say(USER, 10)], None),
            (vec![say(USER, 50), say(MODEL, 50), say(USER, 10), say(MODEL, 10)], Some(2)),
            (vec![say(USER, 50), say(MODEL, 50), answer(10), say(MODEL, 10)], None),
            (vec![say(USER, 10), say(MODEL, 10), say(USER, 50), say(MODEL, 50)], Some(2)),
            (vec![say(USER, 90), say(MODEL, 1), say(USER, 5), say(MODEL, 1), say(USER, 5)], Some(2)),
        ] {
            assert_eq!(split(&contents).map(|(old, _)| old.len()), cut);
        }
    }

    #[test]
    fn a_summary_must_be_shorter_than_what_it_stands_for() {
        let old = [text(USER, "x".repeat(100))];
        assert!(shortened("short", &old, &[]).is_some());
        assert!(shortened(&"x".repeat(100), &old, &[]).is_none());
        assert!(shortened("  ", &old, &[]).is_none());
    }
}
