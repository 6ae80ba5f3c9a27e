//! Tools that the vendor defines and the caller carries out: the vendor's models know them by heart, others are told
//! what they take.

/// What a model is told of one of them.
#[derive(Debug)]
pub(super) struct ClientTool {
    /// What its type begins with.
    pub(super) prefix: &'static str,
    pub(super) description: &'static str,
    /// A JSON schema.
    pub(super) schema: &'static str,
}

pub(super) const CLIENT_TOOLS: [ClientTool; 3] = [
    ClientTool {
        prefix: "bash_",
        description: "Runs a command in a bash session that lives on between calls. Set `restart` to begin a new session.",
        schema: r#"{"type":"object","properties":{"command":{"type":"string","description":"The command to run. Required unless the session is restarted."},"restart":{"type":"boolean","description":"Begins a new session."}}}"#,
    },
    ClientTool {
        prefix: "text_editor_",
        description: "Views, creates and edits text files. `view` shows a file or the names in a directory, `create` writes a whole file, `str_replace` replaces a text that stands in the file exactly once, `insert` puts a text behind a line.",
        schema: r#"{"type":"object","properties":{"command":{"type":"string","enum":["view","create","str_replace","insert"]},"path":{"type":"string","description":"Absolute path of the file or directory."},"view_range":{"type":"array","items":{"type":"integer"},"description":"For view: first and last line, from 1; -1 is the end."},"file_text":{"type":"string","description":"For create: the whole text."},"old_str":{"type":"string","description":"For str_replace: what is replaced, exactly as it stands."},"new_str":{"type":"string","description":"For str_replace: what stands there then."},"insert_line":{"type":"integer","description":"For insert: the line behind which the text goes; 0 is the beginning."},"insert_text":{"type":"string","description":"For insert: the text."}},"required":["command","path"]}"#,
    },
    ClientTool {
        prefix: "memory_",
        description: "Keeps notes in files below /memories that outlive this conversation. Look at them before you begin, and write down what will be needed later.",
        schema: r#"{"type":"object","properties":{"command":{"type":"string","enum":["view","create","str_replace","insert","delete","rename"]},"path":{"type":"string","description":"Path below /memories; all commands but rename."},"view_range":{"type":"array","items":{"type":"integer"},"description":"For view: first and last line."},"file_text":{"type":"string","description":"For create: the whole text."},"old_str":{"type":"string","description":"For str_replace: what is replaced."},"new_str":{"type":"string","description":"For str_replace: what stands there then."},"insert_line":{"type":"integer","description":"For insert: the line behind which the text goes."},"insert_text":{"type":"string","description":"For insert: the text."},"old_path":{"type":"string","description":"For rename: where it is."},"new_path":{"type":"string","description":"For rename: where it goes."}},"required":["command"]}"#,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_is_one() {
        for tool in CLIENT_TOOLS {
            let schema: serde_json::Value = serde_json::from_str(tool.schema).unwrap();
            assert!(schema["properties"]["command"].is_object(), "{}", tool.prefix);
        }
    }
}
