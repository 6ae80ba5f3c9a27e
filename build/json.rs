//! ProtoJSON impls by pbjson-build, and the corrections that its output needs. Each of them fails the build when
//! it no longer finds what it corrects: the generator has changed then.

use std::fs;
use std::path::Path;

use heck::ToUpperCamelCase;
use pbjson_build::Builder;
use prost_reflect::{DescriptorPool, FieldDescriptor, Kind};

use crate::Result;

/// Which packages print how. Names begin with a dot, as pbjson-build wants them.
pub struct Packages {
    /// lowerCamelCase, as ProtoJSON asks.
    pub camel: &'static [&'static str],
    /// Field names as in the file, as the development-tool RFC prints them.
    pub snake: &'static [&'static str],
    /// Messages that print members at their default too.
    pub whole: &'static [&'static str],
}

pub fn generate(packages: &Packages, encoded: &[u8], pool: &DescriptorPool, out: &Path) -> Result<()> {
    refuse_floats(packages, pool, out)?;
    builder(encoded, out)?.exclude(packages.whole.iter().copied()).build(packages.camel)?;
    if !packages.snake.is_empty() {
        builder(encoded, out)?.preserve_proto_field_names().build(packages.snake)?;
    }
    if !packages.whole.is_empty() {
        // The file has the name of its package, so it needs a directory of its own.
        let whole = out.join("whole");
        fs::create_dir_all(&whole)?;
        builder(encoded, &whole)?.emit_fields().build(packages.whole)?;
    }
    let all = [packages.camel, packages.snake].concat();
    let fields = fields_of(&all, pool);
    correct_files(&fields, &[out, &out.join("whole")])?;
    correct_arms(&fields, out)
}

fn builder(encoded: &[u8], out: &Path) -> Result<Builder> {
    let mut builder = Builder::new();
    builder
        .register_descriptors(encoded)?
        .out_dir(out)
        .extern_path(".google.protobuf", "::pbjson_types")
        .btree_map(["."])
        .ignore_unknown_fields();
    Ok(builder)
}

const FLOAT_BOXES: [&str; 2] = ["google.protobuf.FloatValue", "google.protobuf.DoubleValue"];

/// A NaN in a float field prints as `null`, which no reader can take back. The tests' own service has such
/// fields to show it; the product must not.
fn refuse_floats(packages: &Packages, pool: &DescriptorPool, out: &Path) -> Result<()> {
    if out.ends_with("probe") {
        return Ok(());
    }
    let all = [packages.camel, packages.snake].concat();
    for field in fields_of(&all, pool) {
        let boxed = field.kind().as_message().is_some_and(|m| FLOAT_BOXES.contains(&m.full_name()));
        if boxed || matches!(field.kind(), Kind::Float | Kind::Double) {
            return Err(
                format!("{}: NaN has no JSON here; use an integer or a string", field.full_name()).into()
            );
        }
    }
    Ok(())
}

/// What is corrected wherever it stands.
fn correct_files(fields: &[FieldDescriptor], directories: &[&Path]) -> Result<()> {
    let (mut enums, mut maps) = (0, 0);
    for directory in directories.iter().filter(|directory| directory.exists()) {
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            if path.to_string_lossy().ends_with(".serde.rs") {
                let (text, found) = print_unknown_enums(&fs::read_to_string(&path)?)?;
                enums += found;
                let (text, found) = refuse_double_keys(&text);
                maps += found;
                fs::write(&path, text)?;
            }
        }
    }
    let expected = (count(fields, |f| f.kind().as_enum().is_some()), count(fields, FieldDescriptor::is_map));
    let found = (enums, maps);
    (found == expected)
        .then_some(())
        .ok_or_else(|| format!("corrected {found:?} enums and maps of {expected:?}").into())
}

fn count(fields: &[FieldDescriptor], which: impl Fn(&FieldDescriptor) -> bool) -> usize {
    fields.iter().filter(|field| which(field)).count()
}

/// pbjson refuses to print an enum number that is newer than this build. ProtoJSON prints the number.
fn print_unknown_enums(text: &str) -> Result<(String, usize)> {
    const REFUSAL: &str = r#".map_err(|_| serde::ser::Error::custom(format!("Invalid variant {}", "#;
    let mut pieces = text.split(REFUSAL);
    let mut patched = pieces.next().unwrap_or_default().to_owned();
    let mut found = 0;
    for piece in pieces {
        let (number, rest) = piece.split_once(")))").ok_or("an enum is printed in another way")?;
        let open = "::agena::proto::json::Open";
        patched +=
            &format!(".map_or(Ok::<_, S::Error>({open}::Number({number})), |v| Ok({open}::Name(v))){rest}");
        found += 1;
    }
    Ok((patched, found))
}

/// Of two map entries with the same key, serde silently takes the last.
fn refuse_double_keys(text: &str) -> (String, usize) {
    const READ: &str = "map_.next_value::<std::collections::BTreeMap<";
    let patch = |line: &str| match line.contains(READ) {
        true => format!("{}.0\n", line.replace(READ, "map_.next_value::<::agena::proto::json::Entries<")),
        false => format!("{line}\n"),
    };
    (text.lines().map(patch).collect(), text.matches(READ).count())
}

/// What is corrected in the arm that reads one field.
fn correct_arms(fields: &[FieldDescriptor], out: &Path) -> Result<()> {
    for field in fields {
        // In lists and maps, the generated code leaves `null` alone.
        let single = !field.is_list() && !field.parent_message().is_map_entry();
        let is_value = field.kind().as_message().is_some_and(|m| m.full_name() == "google.protobuf.Value");
        if !is_value || !single {
            continue;
        }
        let path = out.join(format!("{}.serde.rs", field.parent_message().package_name()));
        let text = fs::read_to_string(&path)?;
        let refused = || format!("{}: cannot patch", field.full_name());
        fs::write(&path, patch(&text, field).ok_or_else(refused)?)?;
    }
    Ok(())
}

fn patch(text: &str, field: &FieldDescriptor) -> Option<String> {
    let message = field.parent_message();
    let from = text.find(&format!("Deserialize<'de> for {} {{", message.name().to_upper_camel_case()))?;
    let variant = field.name().to_upper_camel_case();
    let arm = from + text[from..].find(&format!("GeneratedField::{variant} => {{"))?;
    let end = arm + text[arm..].find("\n                        }")?;
    let body = &text[arm..end];
    let changed = keep_null(body, field)?;
    (changed != body).then(|| format!("{}{changed}{}", &text[..arm], &text[end..]))
}

/// pbjson reads `null` as "not set" everywhere. For google.protobuf.Value it is a value, and losing it would
/// lose the content of an A2A part.
fn keep_null(body: &str, field: &FieldDescriptor) -> Option<String> {
    match field.containing_oneof() {
        Some(_) => rewrite_oneof(body),
        None => Some(body.replacen("= map_.next_value()?;", "= Some(map_.next_value()?);", 1)),
    }
}

/// `map_.next_value::<Option<_>>()?.map(x::Y)` becomes `Some(x::Y(map_.next_value()?))`.
fn rewrite_oneof(body: &str) -> Option<String> {
    const READ: &str = "map_.next_value::<::std::option::Option<_>>()?.map(";
    let at = body.find(READ)?;
    let tail = &body[at + READ.len()..];
    let close = tail.find(')')?;
    Some(format!("{}Some({}(map_.next_value()?)){}", &body[..at], &tail[..close], &tail[close + 1..]))
}

fn fields_of(packages: &[&str], pool: &DescriptorPool) -> Vec<FieldDescriptor> {
    let wanted = |name: &str| packages.iter().any(|p| p.trim_start_matches('.') == name);
    pool.all_messages()
        .filter(|m| wanted(m.package_name()))
        .flat_map(|m| m.fields().collect::<Vec<_>>())
        .collect()
}
