//! The tools that only look: list_directory, read_file, read_many_files, glob, grep_search.

use std::time::Duration;

use agena::domain::tool::Toolbox;
use agena::proto::devtool::tool_output;
use agena::proto::gemini::part;
use serde_json::json;

use super::{Bed, shown};

fn project() -> Bed {
    let bed = Bed::new();
    bed.file(".gitignore", "*.secret\nout/\n!keep.secret\n");
    bed.file(".geminiignore", "private.txt\n");
    bed.file("src/main.rs", "fn main() {\n    println!(\"Hello\");\n}\n");
    bed.file("src/lib.rs", "pub fn hello() {}\n");
    bed.file("README.md", "# Hello\n");
    bed.file("a.secret", "hello");
    bed.file("keep.secret", "hello");
    bed.file("out/made.rs", "hello");
    bed.file("private.txt", "hello");
    bed.file("node_modules/x/index.js", "hello");
    bed.file("src/.gitignore", "generated.rs\n");
    bed.file("src/generated.rs", "hello");
    bed
}

#[tokio::test(flavor = "multi_thread")]
async fn list_directory_shows_directories_first_and_leaves_out_what_is_ignored() {
    let bed = project();
    let ws = bed.tools.workspace();
    let told = bed.told("list_directory", json!({"dir_path": ".", "ignore": ["*.md"]})).await;
    let expected = format!(
        "Directory listing for {ws}:\n[DIR] node_modules\n[DIR] src\n.geminiignore (12 bytes)\n.gitignore (27 \
         bytes)\nkeep.secret (5 bytes)\n\n(4 ignored)"
    );
    assert_eq!(told, expected);
    let all = json!({"respect_git_ignore": false, "respect_gemini_ignore": false});
    let told = bed.told("list_directory", json!({"dir_path": ws, "file_filtering_options": all})).await;
    assert!(["a.secret", "[DIR] out", "private.txt"].iter().all(|name| told.contains(name)), "{told}");
    std::fs::create_dir(bed.path("empty")).unwrap();
    let told = bed.told("list_directory", json!({"dir_path": "empty"})).await;
    assert_eq!(told, format!("Directory {ws}/empty is empty."));
    for (path, kind) in [("README.md", "path_is_not_a_directory"), ("missing", "file_not_found")] {
        assert_eq!(bed.refused("list_directory", json!({"dir_path": path})).await.0, kind);
    }
    assert_eq!(
        bed.refused("list_directory", json!({"dir_path": ".", "ignore": ["["]})).await.0,
        "invalid_tool_params"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn read_file_reads_text_and_says_where_it_was_cut() {
    let bed = Bed::new();
    let numbered: String = (1..=2500).map(|n| format!("line {n}\n")).collect();
    bed.file("long.txt", &numbered);
    bed.file("wide.txt", format!("{}\nshort\n", "w".repeat(3000)));
    bed.file("small.txt", "a\nb");
    bed.file("utf16.txt", b"\xff\xfeh\0i\0");
    bed.file("data.bin", b"\0\x01\x02");
    bed.file("empty.txt", "");
    for (arguments, begins, ends) in [
        (json!({"file_path": "small.txt"}), "a\nb", "a\nb"),
        (json!({"file_path": "@small.txt"}), "a\nb", "a\nb"),
        (json!({"file_path": "empty.txt"}), "", ""),
        (json!({"file_path": "utf16.txt"}), "hi", "hi"),
        (json!({"file_path": "data.bin"}), "data.bin is a binary file", "cannot be shown."),
        (
            json!({"file_path": "long.txt"}),
            "IMPORTANT: this is not the whole file. It shows lines 1-2000 of 2500. To read on, use start_line: 2001.",
            "\nline 2000",
        ),
        (
            json!({"file_path": "long.txt", "start_line": 2001}),
            "IMPORTANT: this is not the whole file. It shows lines 2001-2500 of 2500.\n",
            "\nline 2500",
        ),
        (
            json!({"file_path": "long.txt", "start_line": 3.0, "end_line": 4}),
            "IMPORTANT: this is not the whole file. It shows lines 3-4 of 2500. To read on, use start_line: 5.",
            "---\nline 3\nline 4",
        ),
        (
            json!({"file_path": "long.txt", "start_line": 9999}),
            "IMPORTANT: this is not the whole file. It shows no lines of 2500.",
            "---\n",
        ),
        (json!({"file_path": "wide.txt"}), "IMPORTANT", "www... [truncated]\nshort"),
    ] {
        let told = bed.told("read_file", arguments.clone()).await;
        assert!(
            told.starts_with(begins) && told.ends_with(ends),
            "{arguments}: {}",
            &told[..told.len().min(300)]
        );
    }
    let outcome = bed.run("read_file", json!({"file_path": "long.txt", "end_line": 2})).await.unwrap();
    assert_eq!(shown(&outcome), "Read lines 1-2 of 2500");
}

#[tokio::test(flavor = "multi_thread")]
async fn read_file_attaches_pictures_and_refuses_the_rest_with_a_word() {
    let bed = project();
    bed.file("dot.png", b"\x89PNG\r\n\x1a\n\0\0\0\0");
    let outcome = bed.run("read_file", json!({"file_path": "dot.png"})).await.unwrap();
    let Some(part::Data::InlineData(blob)) = &outcome.media[0].data else { panic!("{outcome:?}") };
    assert_eq!((blob.mime_type.as_str(), blob.data.as_str()), ("image/png", "iVBORw0KGgoAAAAA"));
    std::fs::File::create(bed.path("huge")).unwrap().set_len(21 * 1024 * 1024).unwrap();
    for (arguments, kind) in [
        (json!({"file_path": "src"}), "target_is_directory"),
        (json!({"file_path": "none"}), "file_not_found"),
        (json!({"file_path": "README.md/x"}), "path_is_not_a_directory"),
        (json!({"file_path": "huge"}), "file_too_large"),
        (json!({"file_path": "a.secret"}), "permission_denied"),
        (json!({"file_path": "out/made.rs"}), "permission_denied"),
        (json!({"file_path": "private.txt"}), "permission_denied"),
        (json!({"file_path": "src/generated.rs"}), "permission_denied"),
        (json!({"file_path": "README.md", "start_line": 3, "end_line": 2}), "invalid_tool_params"),
        (json!({"file_path": "README.md", "start_line": 0}), "invalid_tool_params"),
        (json!({"file_path": 7}), "invalid_tool_params"),
        (json!({}), "invalid_tool_params"),
    ] {
        assert_eq!(bed.refused("read_file", arguments.clone()).await.0, kind, "{arguments}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn glob_finds_what_is_not_ignored_newest_first() {
    let bed = project();
    let old = std::time::SystemTime::now() - Duration::from_hours(1);
    std::fs::File::open(bed.path("src/main.rs")).unwrap().set_modified(old).unwrap();
    let ws = bed.tools.workspace();
    for (arguments, files) in [
        (json!({"pattern": "**/*.rs"}), "src/lib.rs src/main.rs"),
        (json!({"pattern": "*.rs", "dir_path": "src"}), "src/lib.rs src/main.rs"),
        (json!({"pattern": format!("{ws}/src/l*")}), "src/lib.rs"),
        (json!({"pattern": "./src/lib.rs"}), "src/lib.rs"),
        (json!({"pattern": "readme.*"}), "README.md"),
        (json!({"pattern": "readme.*", "case_sensitive": true}), ""),
        (json!({"pattern": "*.rs"}), ""),
        (json!({"pattern": "*.secret"}), "keep.secret"),
        (json!({"pattern": "{README,src/lib}.*"}), "README.md src/lib.rs"),
        (json!({"pattern": "node_modules/**"}), ""),
    ] {
        let told = bed.told("glob", arguments.clone()).await;
        let mut found: Vec<&str> = told.lines().skip(1).map(|line| &line[ws.len() + 1..]).collect();
        if !arguments["pattern"].as_str().unwrap().ends_with(".rs") {
            found.sort_unstable();
        }
        assert_eq!(found.join(" "), files, "{arguments}: {told}");
    }
    let ignored = json!({"pattern": "a.secret", "respect_git_ignore": false});
    assert!(bed.told("glob", ignored).await.contains("a.secret"));
    assert_eq!(bed.refused("glob", json!({"pattern": "["})).await.0, "invalid_tool_params");
}

#[tokio::test(flavor = "multi_thread")]
async fn grep_search_finds_lines_and_few_of_them_with_what_stands_around() {
    let bed = project();
    bed.file("many.txt", "x\n".repeat(300));
    bed.file("bin.dat", b"hello\0hello");
    for (arguments, expected) in [
        (
            json!({"pattern": "println"}),
            vec!["File: src/main.rs", "L1- fn main() {", "L2:     println!(\"Hello\");", "L3- }"],
        ),
        (
            json!({"pattern": "println", "context": 0}),
            vec!["File: src/main.rs", "L2:     println!(\"Hello\");"],
        ),
        (
            json!({"pattern": "hello", "case_sensitive": true, "include_pattern": "*.rs"}),
            vec!["File: src/lib.rs", "L1: pub fn hello() {}"],
        ),
        (
            json!({"pattern": "Hello", "names_only": true, "case_sensitive": true}),
            vec!["File: README.md", "File: src/main.rs"],
        ),
        (
            json!({"pattern": "hello", "exclude_pattern": "pub|print|#", "context": 0}),
            vec!["File: keep.secret", "L1: hello"],
        ),
        (
            json!({"pattern": "hello()", "fixed_strings": true}),
            vec!["File: src/lib.rs", "L1: pub fn hello() {}"],
        ),
        (
            json!({"pattern": "x", "dir_path": "many.txt", "total_max_matches": 2, "context": 0}),
            vec!["File: many.txt", "L1: x", "L2: x"],
        ),
        (json!({"pattern": "^x$", "max_matches_per_file": 1, "context": 0}), vec!["File: many.txt", "L1: x"]),
        (
            json!({"pattern": "hello", "dir_path": "src/generated.rs"}),
            vec!["File: src/generated.rs", "L1: hello"],
        ),
        (
            json!({"pattern": "hello", "no_ignore": true, "include_pattern": "out/**", "context": 0}),
            vec!["File: out/made.rs", "L1: hello"],
        ),
        (json!({"pattern": "nowhere"}), vec![]),
    ] {
        let told = bed.told("grep_search", arguments.clone()).await;
        let lines: Vec<&str> = told.lines().skip(1).filter(|line| *line != "---").collect();
        assert_eq!(lines, expected, "{arguments}: {told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn grep_search_stops_at_a_number_and_refuses_what_it_cannot_search() {
    let bed = project();
    bed.file("many.txt", "x\n".repeat(300));
    let told = bed.told("grep_search", json!({"pattern": "^x"})).await;
    assert!(told.starts_with("Found 100 match(es) in 1 file(s) (cut"), "{told}");
    let outcome = bed.run("grep_search", json!({"pattern": "println"})).await.unwrap();
    assert!(matches!(outcome.shown.result, Some(tool_output::Result::StructuredData(_))));
    for (arguments, kind) in [
        (json!({"pattern": "("}), "invalid_tool_params"),
        (json!({"pattern": "x", "dir_path": "missing"}), "search_path_not_found"),
    ] {
        assert_eq!(bed.refused("grep_search", arguments).await.0, kind);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn read_many_files_reads_what_fits() {
    let bed = project();
    bed.file("dot.png", b"\x89PNG\r\n\x1a\n\0\0");
    let ws = bed.tools.workspace();
    for (arguments, files, media) in [
        (json!({"include": ["src"]}), "src/.gitignore src/lib.rs src/main.rs", 0),
        (json!({"include": ["src/*.rs", "README.md"], "exclude": ["**/lib.rs"]}), "README.md src/main.rs", 0),
        (json!({"include": ["**/*.md", "*.png"]}), "README.md", 1),
        (
            json!({"include": ["*"], "exclude": [".*", "*.secret", "src/**"], "recursive": false}),
            "README.md",
            0,
        ),
        (json!({"include": ["missing"]}), "", 0),
    ] {
        let outcome = bed.run("read_many_files", arguments.clone()).await.unwrap();
        let found: Vec<&str> = outcome
            .told
            .lines()
            .filter_map(|line| {
                line.strip_prefix("--- ")?.strip_suffix(" ---")?.strip_prefix(&format!("{ws}/"))
            })
            .collect();
        assert_eq!(
            (found.join(" ").as_str(), outcome.media.len()),
            (files, media),
            "{arguments}: {}",
            outcome.told
        );
    }
    assert_eq!(bed.refused("read_many_files", json!({"include": []})).await.0, "invalid_tool_params");
}
