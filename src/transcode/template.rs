//! Path templates of `google.api.http` rules, such as `/v1/{name=tasks/*}:cancel`.
//!
//! Pure text in, pure data out; knows no HTTP. The build script reads it to check rules against the schema,
//! the router reads the same file to match requests.

use std::cmp::Ordering;
use std::fmt;

/// One segment of a path, as a pattern.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Segment {
    Literal(String),
    /// `*`: exactly one segment, not empty.
    One,
    /// `**`: all that is left, possibly nothing. Only ever the last segment.
    Rest,
}

/// A variable and the segments that it takes in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Field path, as in `["confirmation", "tool_call_id"]`.
    pub field: Vec<String>,
    pub start: usize,
    pub end: usize,
    /// Written with a pattern of several segments; such values keep `%2F` as it is.
    pub multi: bool,
}

/// A parsed template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pub segments: Vec<Segment>,
    pub variables: Vec<Variable>,
    pub verb: Option<String>,
}

/// What a template does not allow, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadTemplate {
    pub template: String,
    pub problem: &'static str,
}

impl fmt::Display for BadTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "path template {:?}: {}", self.template, self.problem)
    }
}

impl std::error::Error for BadTemplate {}

impl Template {
    pub fn parse(text: &str) -> Result<Self, BadTemplate> {
        parse(text).map_err(|problem| BadTemplate { template: text.to_owned(), problem })
    }

    /// The same template below a prefix of literal segments.
    pub fn below(mut self, prefix: &[&str]) -> Self {
        let by = prefix.len();
        self.segments.splice(0..0, prefix.iter().map(|s| Segment::Literal((*s).to_owned())));
        for variable in &mut self.variables {
            variable.start += by;
            variable.end += by;
        }
        self
    }

    /// It fits one path, and that is what it says.
    pub fn is_path(&self) -> bool {
        let literal = |segment: &Segment| matches!(segment, Segment::Literal(_));
        self.verb.is_none() && !self.segments.is_empty() && self.segments.iter().all(literal)
    }

    /// The first segment of every path that fits, if that is one. Where nothing need follow it, a verb is a part of it, and
    /// there is none.
    pub fn first_literal(&self) -> Option<&str> {
        match self.segments.as_slice() {
            [Segment::Literal(_)] | [Segment::Literal(_), Segment::Rest] if self.verb.is_some() => None,
            [Segment::Literal(name), ..] => Some(name),
            _ => None,
        }
    }

    /// The more specific template first: a verb before none, a literal before `*` before `**`, from the left.
    /// Equal means that nothing decides between the two.
    pub fn rank(&self, other: &Self) -> Ordering {
        let verbs = other.verb.is_some().cmp(&self.verb.is_some()).then_with(|| self.verb.cmp(&other.verb));
        verbs.then_with(|| self.segments.cmp(&other.segments))
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for segment in &self.segments {
            match segment {
                Segment::Literal(text) => write!(f, "/{text}")?,
                Segment::One => f.write_str("/*")?,
                Segment::Rest => f.write_str("/**")?,
            }
        }
        self.verb.iter().try_for_each(|verb| write!(f, ":{verb}"))
    }
}

fn parse(text: &str) -> Result<Template, &'static str> {
    let path = text.strip_prefix('/').ok_or("must begin with /")?;
    if path.is_empty() {
        return Ok(Template { segments: Vec::new(), variables: Vec::new(), verb: None });
    }
    let (path, verb) = split_verb(path)?;
    let mut template = Template { segments: Vec::new(), variables: Vec::new(), verb };
    for piece in split_segments(path)? {
        match piece.strip_prefix('{') {
            Some(rest) => {
                template.variable(rest.strip_suffix('}').ok_or("a variable must fill its segment")?)?
            }
            None => template.segments.push(segment(piece)?),
        }
    }
    let before_last = template.segments.len().saturating_sub(1);
    if template.segments.iter().take(before_last).any(|s| *s == Segment::Rest) {
        return Err("** must be the last segment");
    }
    Ok(template)
}

/// A verb is what follows the last `:` outside of braces, within the last segment.
fn split_verb(path: &str) -> Result<(&str, Option<String>), &'static str> {
    let tail = path.rfind(['/', '}']).map_or(0, |at| at + 1);
    match path[tail..].rfind(':') {
        None => Ok((path, None)),
        Some(at) if path[tail + at + 1..].is_empty() => Err("the verb is empty"),
        Some(at) => Ok((&path[..tail + at], Some(path[tail + at + 1..].to_owned()))),
    }
}

/// Splits at `/`, but not inside of braces.
fn split_segments(path: &str) -> Result<Vec<&str>, &'static str> {
    let (mut pieces, mut start, mut open) = (Vec::new(), 0, false);
    for (at, c) in path.char_indices() {
        match c {
            '{' if open => return Err("variables cannot be nested"),
            '{' => open = true,
            '}' => open = false,
            '/' if !open => {
                pieces.push(&path[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if open {
        return Err("a brace is not closed");
    }
    pieces.push(&path[start..]);
    Ok(pieces)
}

fn segment(text: &str) -> Result<Segment, &'static str> {
    match text {
        "" => Err("a segment is empty"),
        "*" => Ok(Segment::One),
        "**" => Ok(Segment::Rest),
        _ if text.contains(['{', '}', '*']) => Err("a segment is a literal, * or **"),
        _ => Ok(Segment::Literal(text.to_owned())),
    }
}

impl Template {
    fn variable(&mut self, text: &str) -> Result<(), &'static str> {
        let (field, pattern) = text.split_once('=').unwrap_or((text, "*"));
        let field: Vec<String> = field.split('.').map(str::to_owned).collect();
        if field.iter().any(String::is_empty) {
            return Err("a variable has no name");
        }
        if self.variables.iter().any(|v| v.field == field) {
            return Err("a variable stands twice");
        }
        let start = self.segments.len();
        for piece in pattern.split('/') {
            self.segments.push(segment(piece)?);
        }
        let multi = self.segments.len() - start > 1 || pattern == "**";
        self.variables.push(Variable { field, start, end: self.segments.len(), multi });
        Ok(())
    }
}

// The path is written out because the build script includes this file from elsewhere.
#[cfg(test)]
#[path = "template/tests.rs"]
mod tests;
