//! The tools that edit: write_file, replace, save_memory. What was shown is what is written, over what was shown.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use agena::domain::tool::Approval;
use agena::proto::devtool::FileDiff;
use agena::proto::devtool::confirmation_request::Details;
use serde_json::{Value, json};

use super::{Bed, diff, problem};

async fn planned(bed: &Bed, tool: &str, arguments: Value) -> FileDiff {
    match bed.plan(tool, arguments).await.unwrap().details {
        Details::FileEditDetails(edit) => edit,
        other => panic!("no edit: {other:?}"),
    }
}

fn agreed(edit: FileDiff, modified: bool) -> Approval {
    Approval { details: Some(Details::FileEditDetails(edit)), modified, answers: Vec::new() }
}

/// Somebody else at work.
type Change = fn(&Bed);

fn replace(path: &str, old: &str, new: &str) -> Value {
    json!({"file_path": path, "instruction": "because", "old_string": old, "new_string": new})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_shows_the_edit_and_changes_nothing() {
    let bed = Bed::new();
    bed.file("a.txt", "one\ntwo\n");
    let edit = planned(&bed, "write_file", json!({"file_path": "a.txt", "content": "one\n2\n"})).await;
    assert_eq!((edit.file_name.as_str(), edit.file_path), ("a.txt", bed.text("a.txt")));
    assert_eq!((edit.old_content.as_deref(), edit.new_content.as_str()), (Some("one\ntwo\n"), "one\n2\n"));
    assert_eq!(edit.formatted_diff.unwrap(), "--- Current\n+++ Proposed\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
    let new =
        planned(&bed, "write_file", json!({"file_path": bed.text("deep/er/b.txt"), "content": "b"})).await;
    assert_eq!((new.old_content, new.new_content.as_str()), (None, "b"));
    assert_eq!(bed.content("a.txt"), "one\ntwo\n");
    assert!(!bed.path("deep").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_agreed_on_is_written_and_what_the_user_made_of_it_is_told() {
    let bed = Bed::new();
    let arguments = json!({"file_path": "deep/er/b.txt", "content": "b\n"});
    let edit = planned(&bed, "write_file", arguments.clone()).await;
    let outcome = bed.run_with("write_file", arguments.clone(), agreed(edit, false)).await.unwrap();
    assert_eq!(bed.content("deep/er/b.txt"), "b\n");
    assert_eq!(outcome.told, format!("Successfully created the file {}.", bed.text("deep/er/b.txt")));

    let arguments = json!({"file_path": "deep/er/b.txt", "content": "c\n"});
    let mut edit = planned(&bed, "write_file", arguments.clone()).await;
    edit.new_content = "mine\n".to_owned();
    let outcome = bed.run_with("write_file", arguments, agreed(edit, true)).await.unwrap();
    assert_eq!(bed.content("deep/er/b.txt"), "mine\n");
    assert!(outcome.told.contains("The user changed the proposed content"), "{}", outcome.told);
    assert!(outcome.told.ends_with("mine\n"));
    let shown = diff(&outcome);
    assert_eq!((shown.old_content.as_deref(), shown.new_content.as_str()), (Some("b\n"), "mine\n"));
    assert!(shown.formatted_diff.as_ref().unwrap().contains("+mine"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_changed_since_it_was_shown_is_not_written() {
    let bed = Bed::new();
    bed.file("a.txt", "one");
    bed.file("gone.txt", "one");
    let before: [(&str, Change); 4] = [
        ("a.txt", |bed| bed.file("a.txt", "two")),
        ("a.txt", |bed| bed.file("a.txt", "one and more")),
        ("gone.txt", |bed| fs::remove_file(bed.path("gone.txt")).unwrap()),
        ("new.txt", |bed| bed.file("new.txt", "from elsewhere")),
    ];
    for (name, change) in before {
        let arguments = json!({"file_path": name, "content": "from the model"});
        let edit = planned(&bed, "write_file", arguments.clone()).await;
        change(&bed);
        let now = fs::read_to_string(bed.path(name)).ok();
        let error = bed.run_with("write_file", arguments, agreed(edit, false)).await.unwrap_err();
        let (kind, message) = problem(error);
        assert_eq!(kind, "file_changed", "{name}: {message}");
        assert!(message.contains("nothing was written"), "{message}");
        assert_eq!(fs::read_to_string(bed.path(name)).ok(), now);
    }
    let left: Vec<_> = fs::read_dir(bed.path("")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains("agena")), "{left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_is_shown_and_made_where_it_really_is() {
    let bed = Bed::new();
    bed.file("real/a.txt", "a");
    fs::create_dir(bed.path("other")).unwrap();
    symlink("real", bed.path("dir")).unwrap();
    symlink("dir/a.txt", bed.path("way")).unwrap();
    for (given, real) in
        [("way", "real/a.txt"), ("dir/a.txt", "real/a.txt"), ("dir/x/y", "real/x/y"), ("@dir/z", "real/z")]
    {
        let edit = planned(&bed, "write_file", json!({"file_path": given, "content": "b"})).await;
        assert_eq!(edit.file_path, bed.text(real), "{given}");
    }
    let moved: [(&str, Change); 3] = [
        ("dir/a.txt", |bed| {
            fs::rename(bed.path("real"), bed.path("kept")).unwrap();
            symlink("kept", bed.path("real")).unwrap();
        }),
        ("other/new", |bed| {
            fs::remove_dir(bed.path("other")).unwrap();
            symlink("kept", bed.path("other")).unwrap();
        }),
        ("fresh/new", |bed| symlink("kept", bed.path("fresh")).unwrap()),
    ];
    for (given, change) in moved {
        let arguments = json!({"file_path": given, "content": "b"});
        let edit = planned(&bed, "write_file", arguments.clone()).await;
        change(&bed);
        let error = bed.run_with("write_file", arguments, agreed(edit, false)).await.unwrap_err();
        assert_eq!(problem(error).0, "file_changed", "{given}");
    }
    assert_eq!(bed.content("kept/a.txt"), "a");
    assert_eq!(fs::read_dir(bed.path("kept")).unwrap().count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_user_makes_of_an_edit_has_a_size_too() {
    let bed = Bed::new();
    let arguments = json!({"file_path": "a.txt", "content": "a"});
    let mut edit = planned(&bed, "write_file", arguments.clone()).await;
    edit.new_content = "a".repeat(2 * 1024 * 1024 + 1);
    let error = bed.run_with("write_file", arguments, agreed(edit, true)).await.unwrap_err();
    assert_eq!(problem(error).0, "file_too_large");
    assert!(!bed.path("a.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn modes_and_line_endings_stay() {
    let bed = Bed::new();
    bed.file("run.sh", "echo 1\r\necho 2\r\n");
    fs::set_permissions(bed.path("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    bed.run("write_file", json!({"file_path": "run.sh", "content": "echo 3\necho 4\n"})).await.unwrap();
    assert_eq!(bed.content("run.sh"), "echo 3\r\necho 4\r\n");
    bed.run("replace", replace("run.sh", "echo 3\necho 4", "echo 5\necho 6")).await.unwrap();
    assert_eq!(bed.content("run.sh"), "echo 5\r\necho 6\r\n");
    assert_eq!(fs::metadata(bed.path("run.sh")).unwrap().permissions().mode() & 0o7777, 0o750);
    bed.file("mixed.txt", "a\r\nb\nc\r\n");
    bed.run("replace", replace("mixed.txt", "b\n", "B\n")).await.unwrap();
    assert_eq!(bed.content("mixed.txt"), "a\r\nB\nc\r\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn replace_finds_the_passage_that_is_meant() {
    let bed = Bed::new();
    let code = "fn a() {\n    let x = compute(1);\n    x\n}\n";
    for (old, new, expected, note) in [
        ("compute(1)", "2", "fn a() {\n    let x = 2;\n    x\n}\n", ""),
        ("let x = compute(1);\n  x", "y", "fn a() {\n    y\n}\n", "other white space"),
        ("    let x = compvte(1);", "    z", "fn a() {\n    z\n    x\n}\n", "only nearly, at line 2"),
    ] {
        bed.file("a.rs", code);
        let told = bed.told("replace", replace("a.rs", old, new)).await;
        assert_eq!(bed.content("a.rs"), expected, "{old}");
        assert!(told.contains(note), "{told}");
    }
    bed.file("b.txt", "x x x");
    let mut several = replace("b.txt", "x", "y");
    several["allow_multiple"] = json!(true);
    assert!(bed.told("replace", several).await.contains("3 occurrences"));
    assert_eq!(bed.content("b.txt"), "y y y");
    bed.run("replace", replace("made.txt", "", "new")).await.unwrap();
    assert_eq!(bed.content("made.txt"), "new");
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_that_cannot_be_made_say_why() {
    let bed = Bed::new();
    bed.file("a.txt", "x x");
    bed.file("latin.txt", b"caf\xe9");
    fs::create_dir(bed.path("dir")).unwrap();
    for (tool, arguments, kind) in [
        ("replace", replace("a.txt", "nothing like this", "y"), "edit_no_occurrence_found"),
        ("replace", replace("a.txt", "x", "y"), "edit_expected_occurrence_mismatch"),
        ("replace", replace("a.txt", "x x", "x x"), "edit_no_change"),
        ("replace", replace("a.txt", "", "y"), "attempt_to_create_existing_file"),
        ("replace", replace("none.txt", "x", "y"), "file_not_found"),
        ("replace", replace("latin.txt", "x", "y"), "edit_preparation_failure"),
        ("replace", replace("a.txt", "x x", "// ... rest of code ..."), "invalid_tool_params"),
        (
            "replace",
            json!({"file_path": "a.txt", "old_string": "x", "new_string": "y"}),
            "invalid_tool_params",
        ),
        ("write_file", json!({"file_path": "dir", "content": ""}), "target_is_directory"),
        ("write_file", json!({"file_path": ".", "content": ""}), "target_is_directory"),
        ("write_file", json!({"file_path": "a.txt/b", "content": ""}), "path_is_not_a_directory"),
        (
            "write_file",
            json!({"file_path": "b", "content": "# ... existing code ..."}),
            "invalid_tool_params",
        ),
        ("write_file", json!({"file_path": "b", "content": "b".repeat(3 * 1024 * 1024)}), "file_too_large"),
        ("write_file", json!({"file_path": "b"}), "invalid_tool_params"),
        ("save_memory", json!({"fact": " - "}), "invalid_tool_params"),
    ] {
        let (found, message) = problem(bed.plan(tool, arguments.clone()).await.unwrap_err());
        assert_eq!(found, kind, "{tool}: {message}");
        assert_eq!(bed.refused(tool, arguments).await.0, kind);
    }
    assert_eq!(bed.content("a.txt"), "x x");
    assert!(!bed.path("b").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn save_memory_is_an_edit_of_the_workspaces_own_file() {
    let bed = Bed::new();
    let edit = planned(&bed, "save_memory", json!({"fact": "- likes\n  tabs"})).await;
    assert_eq!(edit.file_path, bed.text("GEMINI.md"));
    assert_eq!(edit.new_content, "## Gemini Added Memories\n- likes tabs\n");
    bed.run("save_memory", json!({"fact": "likes tabs"})).await.unwrap();
    let told = bed.told("save_memory", json!({"fact": "dislikes noise"})).await;
    assert!(told.ends_with("Remembered: dislikes noise"), "{told}");
    assert_eq!(bed.content("GEMINI.md"), "## Gemini Added Memories\n- likes tabs\n- dislikes noise\n");
}
