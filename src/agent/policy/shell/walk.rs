//! From the tree of the grammar to simple commands. Only what is listed here is let through; what a later grammar
//! may add is refused until somebody has thought about it. Must not know what a program does; `shell` calls it.

use tree_sitter::{Node, Parser};

use super::word::{self, Literal};
use super::{MAX_BYTES, Simple, Why, Word, programs};

/// Deeper than any command that a person writes.
const MAX_DEPTH: usize = 12;
/// What may stand between statements.
const BETWEEN_STATEMENTS: &[char] = &[' ', '\t', '\n'];
/// What may stand between words. A newline there would be a new command to a shell.
const BETWEEN_WORDS: &[char] = &[' ', '\t'];
const JOINTS: &[&str] = &["&&", "||", ";", "|", "\n", "(", ")", "{", "}", "$(", "<(", ">("];
/// Redirections as descriptor, operator and target, that neither read nor write a file.
const HARMLESS: &[(&str, &str, &str)] = &[
    ("", ">", "/dev/null"),
    ("1", ">", "/dev/null"),
    ("2", ">", "/dev/null"),
    ("", ">>", "/dev/null"),
    ("2", ">>", "/dev/null"),
    ("", "<", "/dev/null"),
    ("2", ">&", "1"),
    ("1", ">&", "2"),
    ("", ">&", "2"),
];

pub(super) fn simple_commands(text: &str) -> Result<Vec<Simple>, Why> {
    let plain = screened(text)?;
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).map_err(|_| Why::Grammar)?;
    let tree = parser.parse(&plain, None).ok_or(Why::Grammar)?;
    let root = tree.root_node();
    if root.has_error() {
        return Err(Why::Grammar);
    }
    let mut walk = Walk { text, found: Vec::new(), depth: 0 };
    walk.blank(0, root.start_byte(), BETWEEN_STATEMENTS)?;
    walk.blank(root.end_byte(), text.len(), BETWEEN_STATEMENTS)?;
    walk.statement(root)?;
    if walk.found.is_empty() { Err(Why::Empty) } else { Ok(walk.found) }
}

/// The text as the grammar gets it, with every byte at its place. The grammar is C that trusts its input: outside of
/// ASCII and in here-documents it reads beyond its tables. So letters of other scripts are masked, and what no
/// command with such a thing in it could be allowed for is not shown to it at all.
fn screened(text: &str) -> Result<String, Why> {
    if text.len() > MAX_BYTES {
        return Err(Why::TooLong);
    }
    if text.contains("<<") {
        return Err(Why::Redirection);
    }
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_control() && !BETWEEN_STATEMENTS.contains(&c) => return Err(Why::Control),
            c if c.is_ascii() => plain.push(c),
            c if c.is_alphanumeric() => (0..c.len_utf8()).for_each(|_| plain.push('x')),
            _ => return Err(Why::Word),
        }
    }
    Ok(plain)
}

struct Walk<'a> {
    text: &'a str,
    found: Vec<Simple>,
    depth: usize,
}

impl<'a> Walk<'a> {
    fn statement(&mut self, node: Node<'_>) -> Result<(), Why> {
        match node.kind() {
            "command" => self.command(node),
            "redirected_statement" => self.redirected(node),
            "program" | "list" | "pipeline" | "subshell" | "compound_statement" => self.nested(node),
            kind => Err(Why::Construct(kind)),
        }
    }

    /// Statements and what joins them.
    fn nested(&mut self, node: Node<'_>) -> Result<(), Why> {
        if self.depth == MAX_DEPTH {
            return Err(Why::TooDeep);
        }
        self.depth += 1;
        let children = children(node);
        self.gaps(node, &children, BETWEEN_STATEMENTS)?;
        if children.first().is_some_and(|token| self.reads_on(*token)) {
            return Err(Why::Grammar);
        }
        for child in children {
            match child.is_named() {
                true => self.statement(child)?,
                false => self.joint(child)?,
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Two brackets in a row may be arithmetic to a shell, and a brace is one only if a blank follows.
    fn reads_on(&self, token: Node<'_>) -> bool {
        let rest = &self.text[token.end_byte()..];
        match token.kind() {
            "{" => !rest.starts_with(BETWEEN_STATEMENTS),
            kind => kind.ends_with('(') && rest.starts_with('('),
        }
    }

    fn joint(&self, token: Node<'_>) -> Result<(), Why> {
        match JOINTS.contains(&token.kind()) {
            true => Ok(()),
            false => Err(Why::Construct(token.kind())),
        }
    }

    fn redirected(&mut self, node: Node<'_>) -> Result<(), Why> {
        let children = children(node);
        self.gaps(node, &children, BETWEEN_WORDS)?;
        let [body, redirects @ ..] = children.as_slice() else { return Err(Why::Redirection) };
        redirects.iter().try_for_each(|redirect| self.redirect(*redirect))?;
        self.statement(*body)
    }

    fn redirect(&self, node: Node<'_>) -> Result<(), Why> {
        if node.kind() != "file_redirect" {
            return Err(Why::Redirection);
        }
        let children = children(node);
        self.gaps(node, &children, BETWEEN_WORDS)?;
        // The grammar takes words behind the target for further targets; to a shell they are arguments.
        let parts = match children.iter().map(|child| self.of(*child)).collect::<Vec<_>>()[..] {
            [operator, target] => ("", operator, target),
            [descriptor, operator, target] => (descriptor, operator, target),
            _ => return Err(Why::Redirection),
        };
        if HARMLESS.contains(&parts) { Ok(()) } else { Err(Why::Redirection) }
    }

    fn command(&mut self, node: Node<'_>) -> Result<(), Why> {
        let children = children(node);
        self.gaps(node, &children, BETWEEN_WORDS)?;
        if children.windows(2).any(|pair| pair[0].end_byte() == pair[1].start_byte()) {
            return Err(Why::Word);
        }
        let [name, rest @ ..] = children.as_slice() else { return Err(Why::Empty) };
        let name = self.name(*name)?;
        let arguments = rest.iter().map(|argument| self.argument(*argument)).collect::<Result<_, _>>()?;
        let simple = Simple { name, arguments };
        if programs::changes_the_shell(&simple) {
            return Err(Why::Builtin);
        }
        self.found.push(simple);
        Ok(())
    }

    /// A redirection or an assignment before the name is refused with everything else that is not a name.
    fn name(&self, node: Node<'_>) -> Result<String, Why> {
        let plain = node.kind() == "command_name" && node.child(0).is_some_and(|c| c.kind() == "word");
        let text = self.of(node);
        match plain && node.child_count() == 1 && word::is_name(text) {
            true => Ok(text.to_owned()),
            false => Err(Why::Name),
        }
    }

    fn argument(&mut self, node: Node<'_>) -> Result<Word, Why> {
        match node.kind() {
            "word" | "number" => word::bare(self.of(node), Literal::Whole),
            "raw_string" => word::single_quoted(self.of(node)),
            "string" => self.double_quoted(node),
            "concatenation" => self.joined(node),
            "command_substitution" | "process_substitution" => self.substitution(node),
            kind => Err(Why::Construct(kind)),
        }
    }

    /// Backquotes have rules of their own for what is quoted inside; their token is no joint.
    fn substitution(&mut self, node: Node<'_>) -> Result<Word, Why> {
        self.nested(node).map(|()| Word::Computed)
    }

    fn double_quoted(&mut self, node: Node<'_>) -> Result<Word, Why> {
        let inner: Vec<_> =
            children(node).into_iter().filter(|c| c.kind() == "command_substitution").collect();
        if inner.is_empty() {
            return word::double_quoted(self.of(node));
        }
        // What stands around the substitutions is judged as if they were not there.
        let (mut around, mut from) = (String::new(), node.start_byte());
        for substitution in inner {
            around.push_str(&self.text[from..substitution.start_byte()]);
            from = substitution.end_byte();
            self.substitution(substitution)?;
        }
        around.push_str(&self.text[from..node.end_byte()]);
        word::double_quoted(&around).map(|_| Word::Computed)
    }

    /// One word of several pieces, such as `--name="a b"`.
    fn joined(&mut self, node: Node<'_>) -> Result<Word, Why> {
        let children = children(node);
        self.gaps(node, &children, &[])?;
        let mut whole = Some(String::new());
        for (index, child) in children.into_iter().enumerate() {
            let piece = match child.kind() {
                "word" | "number" if index > 0 => word::bare(self.of(child), Literal::Rest)?,
                _ => self.argument(child)?,
            };
            whole = match (whole, piece) {
                (Some(whole), Word::Literal(piece)) => Some(whole + &piece),
                _ => None,
            };
        }
        Ok(whole.map_or(Word::Computed, Word::Literal))
    }

    /// Nothing but `allowed` stands between the children, and nothing before or behind them.
    fn gaps(&self, node: Node<'_>, children: &[Node<'_>], allowed: &[char]) -> Result<(), Why> {
        let mut from = node.start_byte();
        for child in children {
            self.blank(from, child.start_byte(), allowed)?;
            from = child.end_byte();
        }
        self.blank(from, node.end_byte(), allowed)
    }

    fn blank(&self, from: usize, to: usize, allowed: &[char]) -> Result<(), Why> {
        match self.text.get(from..to).is_some_and(|gap| gap.chars().all(|c| allowed.contains(&c))) {
            true => Ok(()),
            false => Err(Why::Grammar),
        }
    }

    fn of(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }
}

/// Also those without a name of their own, such as `&&`.
fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}
