//! The smallest program that prints something, in the language of the file's name.

/// A language: endings of its files, how it quotes, and a program with `%` where the quoted text goes and `@` for the
/// name of the file without its ending.
struct Language {
    endings: &'static [&'static str],
    quote: fn(&str) -> String,
    program: &'static str,
}

const LANGUAGES: &[Language] = &[
    Language { endings: &["py"], quote: double, program: "print(%)\n" },
    Language { endings: &["js", "mjs", "cjs", "ts"], quote: double, program: "console.log(%);\n" },
    Language { endings: &["rs"], quote: rust, program: "fn main() {\n    println!(%);\n}\n" },
    Language {
        endings: &["go"],
        quote: double,
        program: "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Println(%)\n}\n",
    },
    Language {
        endings: &["c"],
        quote: double,
        program: "#include <stdio.h>\n\nint main(void) {\n    puts(%);\n    return 0;\n}\n",
    },
    Language {
        endings: &["cpp", "cc", "cxx"],
        quote: double,
        program: "#include <iostream>\n\nint main() {\n    std::cout << % << '\\n';\n}\n",
    },
    Language {
        endings: &["java"],
        quote: double,
        program: "class @ {\n    public static void main(String[] args) {\n        System.out.println(%);\n    }\n}\n",
    },
    Language { endings: &["rb"], quote: single, program: "puts %\n" },
    Language { endings: &["php"], quote: single, program: "<?php\n\necho %, PHP_EOL;\n" },
    Language { endings: &["pl"], quote: single, program: "print %, \"\\n\";\n" },
    Language { endings: &["lua"], quote: double, program: "print(%)\n" },
    Language { endings: &["sh", "bash"], quote: shell, program: "#!/bin/sh\nprintf '%s\\n' %\n" },
    Language {
        endings: &["html", "htm"],
        quote: html,
        program: "<!doctype html>\n<meta charset=\"utf-8\">\n<title>@</title>\n<p>%</p>\n",
    },
    Language { endings: &["md"], quote: str::to_owned, program: "%\n" },
];

/// Files without a language get the text itself.
pub(super) fn that_prints(file: &str, what: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let ending = ending.to_lowercase();
    let Some(language) = LANGUAGES.iter().find(|language| language.endings.contains(&ending.as_str())) else {
        return format!("{what}\n");
    };
    // The text last: it may hold either sign.
    let (before, after) = language.program.rsplit_once('%').unwrap_or((language.program, ""));
    let named = |piece: &str| piece.replace('@', stem);
    format!("{}{}{}", named(before), (language.quote)(what), named(after))
}

fn double(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

/// In its macros, braces mean something.
fn rust(text: &str) -> String {
    double(&text.replace('{', "{{").replace('}', "}}"))
}

fn single(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

fn shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_print_what_was_asked() {
        for (file, what, program) in [
            ("hello.py", "hi", "print(\"hi\")\n"),
            ("a/b.js", "say \"hi\" \\", "console.log(\"say \\\"hi\\\" \\\\\");\n"),
            ("main.rs", "{x}", "fn main() {\n    println!(\"{{x}}\");\n}\n"),
            ("x.sh", "it's 5%", "#!/bin/sh\nprintf '%s\\n' 'it'\\''s 5%'\n"),
            (
                "Hi.java",
                "a@b",
                "class Hi {\n    public static void main(String[] args) {\n        System.out.println(\"a@b\");\n    }\n}\n",
            ),
            (
                "i.html",
                "<b>",
                "<!doctype html>\n<meta charset=\"utf-8\">\n<title>i</title>\n<p>&lt;b&gt;</p>\n",
            ),
            ("x.rb", "#{x} it's", "puts '#{x} it\\'s'\n"),
            ("notes.txt", "hi", "hi\n"),
            ("Makefile", "hi", "hi\n"),
        ] {
            assert_eq!(that_prints(file, what), program, "{file}");
        }
    }
}
