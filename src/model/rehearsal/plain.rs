//! Plain requests in English, understood without a script: each row of the table is a pattern and what is then done, which
//! is always one call of one tool and a report of what came of it. Pure; tools are called by their names of Gemini CLI.

mod pattern;
mod program;
mod wish;

use serde_json::{Value, json};

use self::pattern::Slots;
pub(super) use self::wish::Wish;
use self::wish::{Done, object};

type Row = (&'static str, fn(&Slots) -> Option<Wish>);

/// The first row that fits and can be carried out.
const ROWS: &[Row] = &[
    (
        "create|make|write|add [a|an|the] [new|small|simple|short] [python|rust|shell|bash|javascript|text] \
      [file|script|program] [called|named] <file> that|which prints|print|says|outputs|echoes {what}",
        create,
    ),
    (
        "create|make|write|add [a|an|the] [new] [file] [called|named] <file> with|containing [the] \
      [text|content|contents|words] {what}",
        write,
    ),
    ("create|make|touch [a|an|the] [new|empty] [file] [called|named] <file>", empty),
    ("write|put|save {what} to|into|in [the|a] [file] <file>", write),
    ("fetch|download|get|open|visit|read [the] [page] [at] <url>", fetch),
    ("run|execute [the] command {command}", run),
    ("run|execute {command}", run),
    ("what|what's|whats [is] in|inside [the] [file] <file>", read),
    ("what does [the] [file] <file> say|contain", read),
    (
        "read|show|open|cat|print|display|view|summarise|summarize [me] [the] [file|content|contents] [of|in] \
      [the] [file] <file>",
        read,
    ),
    ("list|show [me] [all] [the|my] files [in] [this|the] [current|here] [directory|folder|workspace]", list),
    ("list|show [me] [all] [the|my] files in|of|under [the] [directory|folder] <path>", list),
    ("what files are there|here", list),
    ("ls", list),
    ("find|glob [me] [all] [the] [files] [named|called|matching|like] <glob>", find),
    ("search|grep|look [for] {what} in|under <path>", search),
    ("search|grep [for] {what}", search),
    ("look for {what}", search),
    ("replace|change {old} with|to|by {new} in [the] [file] <file>", replace),
    ("remember [that] {fact}", remember),
    ("ask me to choose|pick [between|from|one] [of] {options}", choose),
    ("ask me whether|if {question}", confirm),
    ("ask me [about] {question}", ask),
    ("plan|todo|todos {items}", plan),
];

/// Longer texts are no plain requests.
const MOST_WORDS: usize = 400;

/// What the user wants, if it is one of the things that are understood.
pub(super) fn understand(text: &str) -> Option<Wish> {
    let words = pattern::words(text);
    if words.len() > MOST_WORDS {
        return None;
    }
    ROWS.iter().find_map(|(row, wish)| wish(&pattern::slots(row, text, &words)?))
}

fn create(slots: &Slots) -> Option<Wish> {
    let (file, what) = (slots.get("file")?, slots.get("what")?);
    let done = Done::Said(format!("{file} is written. It prints: {what}"));
    Some(write_file(file, program::that_prints(file, what), done))
}

fn write(slots: &Slots) -> Option<Wish> {
    let (file, what) = (slots.get("file")?, slots.get("what")?);
    Some(write_file(file, format!("{what}\n"), Done::Said(format!("{file} is written."))))
}

fn empty(slots: &Slots) -> Option<Wish> {
    let file = slots.get("file")?;
    Some(write_file(file, String::new(), Done::Said(format!("{file} is there, and empty."))))
}

fn write_file(file: &str, content: String, done: Done) -> Wish {
    Wish {
        subject: format!("Writing {file}"),
        deed: format!("write {file}"),
        tool: "write_file",
        with: object(json!({"file_path": file, "content": content})),
        done,
    }
}

fn run(slots: &Slots) -> Option<Wish> {
    let command = slots.get("command")?;
    Some(Wish {
        subject: "Running a command".to_owned(),
        deed: format!("run `{command}`"),
        tool: "run_shell_command",
        with: object(json!({"command": command, "description": format!("Runs {command}")})),
        done: Done::Shown { intro: format!("I ran `{command}`:"), lines: 40 },
    })
}

fn read(slots: &Slots) -> Option<Wish> {
    let file = slots.get("file")?;
    Some(Wish {
        subject: format!("Reading {file}"),
        deed: format!("read {file}"),
        tool: "read_file",
        with: object(json!({"file_path": file})),
        done: Done::Shown { intro: format!("{file} begins like this:"), lines: 8 },
    })
}

fn list(slots: &Slots) -> Option<Wish> {
    let place = slots.get("path").unwrap_or(".");
    Some(Wish {
        subject: "Looking around".to_owned(),
        deed: format!("list {place}"),
        tool: "list_directory",
        with: object(json!({"dir_path": place})),
        done: Done::Shown { intro: "This is there:".to_owned(), lines: 40 },
    })
}

fn find(slots: &Slots) -> Option<Wish> {
    let glob = slots.get("glob")?;
    // A bare name would be looked for at the top only.
    let pattern = if glob.contains('/') { glob.to_owned() } else { format!("**/{glob}") };
    Some(Wish {
        subject: format!("Finding {glob}"),
        deed: format!("find {glob}"),
        tool: "glob",
        with: object(json!({"pattern": pattern})),
        done: Done::Shown { intro: "I found this:".to_owned(), lines: 40 },
    })
}

fn search(slots: &Slots) -> Option<Wish> {
    let what = slots.get("what")?;
    let mut with = object(json!({"pattern": pattern::literally(what)}));
    with.extend(slots.get("path").map(|path| ("dir_path".to_owned(), path.into())));
    Some(Wish {
        subject: format!("Searching for {what}"),
        deed: format!("search for {what}"),
        tool: "grep_search",
        with,
        done: Done::Shown { intro: "I found this:".to_owned(), lines: 40 },
    })
}

fn replace(slots: &Slots) -> Option<Wish> {
    let (old, new, file) = (slots.get("old")?, slots.get("new")?, slots.get("file")?);
    let instruction = format!("Replace {old} with {new}");
    Some(Wish {
        subject: format!("Editing {file}"),
        deed: format!("edit {file}"),
        tool: "replace",
        with: object(json!({
            "file_path": file, "instruction": instruction, "old_string": old, "new_string": new,
        })),
        done: Done::Said(format!("{file} is changed: {new} stands where {old} stood.")),
    })
}

fn remember(slots: &Slots) -> Option<Wish> {
    let fact = slots.get("fact")?;
    Some(Wish {
        subject: "Remembering".to_owned(),
        deed: "remember that".to_owned(),
        tool: "save_memory",
        with: object(json!({"fact": fact})),
        done: Done::Said(format!("I will remember: {fact}")),
    })
}

fn fetch(slots: &Slots) -> Option<Wish> {
    let url = slots.get("url")?;
    Some(Wish {
        subject: format!("Fetching {url}"),
        deed: format!("fetch {url}"),
        tool: "web_fetch",
        with: object(json!({"prompt": format!("Fetch {url} and say what is there.")})),
        done: Done::Shown { intro: format!("{url} says:"), lines: 20 },
    })
}

fn ask(slots: &Slots) -> Option<Wish> {
    Some(asking(slots.get("question")?, &json!({"type": "text"})))
}

fn confirm(slots: &Slots) -> Option<Wish> {
    Some(asking(slots.get("question")?, &json!({"type": "yesno"})))
}

fn choose(slots: &Slots) -> Option<Wish> {
    let options = items(slots.get("options")?, &[",", " or ", " and "]);
    let option = |label: &String| json!({"label": label, "description": format!("Choose {label}")});
    let options: Vec<Value> = options.iter().map(option).collect();
    (2..=4)
        .contains(&options.len())
        .then(|| asking("which one do you choose", &json!({"type": "choice", "options": options})))
}

fn asking(question: &str, kind: &Value) -> Wish {
    let question = wish::sentence(question, '?');
    let mut asked = object(json!({"question": question, "header": "Question"}));
    asked.extend(object(kind.clone()));
    Wish {
        subject: "Asking".to_owned(),
        deed: "ask you".to_owned(),
        tool: "ask_user",
        with: object(json!({"questions": [asked]})),
        done: Done::Answered,
    }
}

fn plan(slots: &Slots) -> Option<Wish> {
    let items = items(slots.get("items")?, &[",", ";", "\n"]);
    let status = |index| if index == 0 { "in_progress" } else { "pending" };
    let todo = |(index, item)| json!({"description": item, "status": status(index)});
    let todos: Vec<Value> = items.iter().enumerate().map(todo).collect();
    Some(Wish {
        subject: "Planning".to_owned(),
        deed: "write the plan down".to_owned(),
        tool: "write_todos",
        with: object(json!({"todos": todos})),
        done: Done::Shown { intro: "This is the plan:".to_owned(), lines: 40 },
    })
}

fn items(text: &str, separators: &[&str]) -> Vec<String> {
    let commas = separators.iter().fold(text.to_owned(), |text, separator| text.replace(separator, ","));
    let item = |item: &str| item.trim().trim_end_matches(['.', '?', '!']).to_owned();
    commas.split(',').map(item).filter(|item| !item.is_empty()).collect()
}
