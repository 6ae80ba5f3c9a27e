//! What such clients answer when they are asked: they know the answers by heart, and are offered none. An answer that
//! is not offered here becomes the nearest one that allows no more. Pure; the service calls it.

use crate::proto::devtool::{ToolCall, ToolCallConfirmation};

pub(super) const CANCEL: &str = "cancel";
const ONCE: &str = "proceed_once";
const EDITOR: &str = "modify_with_editor";

/// Each with what stands in for it, the first that is offered. All of them approve the call itself.
const STANDS_IN: [(&str, &[&str]); 5] = [
    ("proceed_always", &[ONCE]),
    ("proceed_always_tool", &["proceed_always", ONCE]),
    ("proceed_always_server", &["proceed_always_tool", ONCE]),
    // Nothing is kept beyond the context.
    ("proceed_always_and_save", &["proceed_always", "proceed_always_tool", ONCE]),
    (EDITOR, &[ONCE]),
];

/// The answer in the words of the call that asks. An error says what is wrong with it. What is not known stays as it
/// is, and is refused where every answer is looked at.
pub fn fit(confirmation: &mut ToolCallConfirmation, call: &ToolCall) -> Result<(), &'static str> {
    let Some(request) = &call.confirmation_request else { return Ok(()) };
    let chosen = confirmation.selected_option_id.as_str();
    if chosen == EDITOR && confirmation.modified_details.is_none() {
        return Err("needs newContent: there is no editor on this side");
    }
    let offered = |id: &str| request.options.iter().any(|option| option.id == id);
    if offered(chosen) {
        return Ok(());
    }
    let known = STANDS_IN.into_iter().find(|(id, _)| *id == chosen);
    let instead = known.and_then(|(_, instead)| instead.iter().copied().find(|id| offered(id)));
    if let Some(instead) = instead {
        confirmation.selected_option_id = instead.to_owned();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::devtool::tool_call_confirmation::ModifiedDetails;
    use crate::proto::devtool::{ConfirmationOption, ConfirmationRequest, ModifiedFileDetails};

    fn fitted(offered: &[&str], chosen: &str, edited: bool) -> Result<String, &'static str> {
        let option = |id: &&str| ConfirmationOption { id: (*id).to_owned(), ..ConfirmationOption::default() };
        let options = offered.iter().map(option).collect();
        let request = ConfirmationRequest { options, ..ConfirmationRequest::default() };
        let call = ToolCall { confirmation_request: Some(request), ..ToolCall::default() };
        let file = ModifiedDetails::FileDetails(ModifiedFileDetails { new_content: "x".to_owned() });
        let mut confirmation = ToolCallConfirmation {
            selected_option_id: chosen.to_owned(),
            modified_details: edited.then_some(file),
            ..ToolCallConfirmation::default()
        };
        fit(&mut confirmation, &call).map(|()| confirmation.selected_option_id)
    }

    #[test]
    fn what_is_not_offered_becomes_what_allows_no_more() {
        let edit = ["proceed_once", "proceed_always", "cancel"];
        let mcp = ["proceed_once", "proceed_always_tool", "proceed_always_server", "cancel"];
        for (offered, chosen, expected) in [
            (&edit[..], "proceed_once", "proceed_once"),
            (&edit, "proceed_always", "proceed_always"),
            (&edit, "proceed_always_server", "proceed_once"),
            (&edit, "proceed_always_and_save", "proceed_always"),
            (&mcp, "proceed_always_server", "proceed_always_server"),
            (&mcp, "proceed_always_and_save", "proceed_always_tool"),
            (&mcp, "proceed_always", "proceed_once"),
            (&["proceed_once", "cancel"], "proceed_always", "proceed_once"),
            (&edit, "cancel", "cancel"),
            (&edit, "yes please", "yes please"),
        ] {
            assert_eq!(fitted(offered, chosen, false).unwrap(), expected, "{chosen}");
        }
        assert_eq!(fitted(&edit, "modify_with_editor", true).unwrap(), "proceed_once");
        assert!(fitted(&edit, "modify_with_editor", false).is_err());
    }
}
