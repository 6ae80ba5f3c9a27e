//! Signatures of the model inside of the opaque values of this API. Its clients send back every thinking block as it came,
//! so what was signed can be signed again: each value says what it was on.

/// No other server's values begin like this.
const OWN: &str = "agena1.";
const CALL: &str = "call.";
const THOUGHT: &str = "thought.";
const TEXT: &str = "text.";

/// What an opaque value holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Carried<'a> {
    /// The signature of the next call.
    Call(&'a str),
    /// That of the thought itself.
    Thought(&'a str),
    /// That of the text before it.
    Text(&'a str),
    /// Nothing was signed.
    Nothing,
    /// It is from elsewhere, and means nothing to the models here.
    Foreign,
}

pub(super) fn nothing() -> String {
    OWN.to_owned()
}

pub(super) fn for_call(signature: &str) -> String {
    format!("{OWN}{CALL}{signature}")
}

pub(super) fn for_thought(signature: &str) -> String {
    format!("{OWN}{THOUGHT}{signature}")
}

pub(super) fn for_text(signature: &str) -> String {
    format!("{OWN}{TEXT}{signature}")
}

pub(super) fn read(value: &str) -> Carried<'_> {
    let Some(own) = value.strip_prefix(OWN) else { return Carried::Foreign };
    let held = |kind: &str| own.strip_prefix(kind);
    held(CALL)
        .map(Carried::Call)
        .or_else(|| held(THOUGHT).map(Carried::Thought))
        .or_else(|| held(TEXT).map(Carried::Text))
        .unwrap_or(Carried::Nothing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_carried_is_found_again() {
        assert_eq!(read(&for_call("c2ln/+=")), Carried::Call("c2ln/+="));
        assert_eq!(read(&for_thought("x")), Carried::Thought("x"));
        assert_eq!(read(&for_text("y")), Carried::Text("y"));
        assert_eq!(read(&nothing()), Carried::Nothing);
        assert_eq!(read("EqQBCgIYAhIM"), Carried::Foreign);
        assert_eq!(read(""), Carried::Foreign);
    }
}
