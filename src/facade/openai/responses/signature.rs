//! Thought signatures inside of `encrypted_content`, with what they belong to. What another vendor put there is not ours.

const OURS: &str = "agena1.";
const CALL: &str = "call.";
const TEXT: &str = "text.";

/// A signature and where it belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Seal {
    /// To the call with this id.
    Call { id: String, signature: String },
    /// To the text that it stands with.
    Text { signature: String },
}

impl Seal {
    pub(super) fn print(&self) -> String {
        match self {
            Self::Call { id, signature } => format!("{OURS}{CALL}{id}.{signature}"),
            Self::Text { signature } => format!("{OURS}{TEXT}{signature}"),
        }
    }

    /// None if it is not ours.
    pub(super) fn read(text: &str) -> Option<Self> {
        let ours = text.strip_prefix(OURS)?;
        if let Some(signature) = ours.strip_prefix(TEXT) {
            return Some(Self::Text { signature: signature.to_owned() });
        }
        let (id, signature) = ours.strip_prefix(CALL)?.split_once('.')?;
        Some(Self::Call { id: id.to_owned(), signature: signature.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_is_read_as_it_was_printed_and_no_other() {
        let call = Seal::Call { id: "call_1-x".to_owned(), signature: "a.b/c+=".to_owned() };
        let text = Seal::Text { signature: "abc=".to_owned() };
        for seal in [call, text] {
            assert_eq!(Seal::read(&seal.print()), Some(seal));
        }
        for foreign in ["", "gAAAAABl", "agena1.", "agena1.call.x"] {
            assert_eq!(Seal::read(foreign), None, "{foreign}");
        }
    }
}
