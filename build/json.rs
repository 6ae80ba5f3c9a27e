//! ProtoJSON impls by pbjson-build, and the one correction that its output needs.

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
    keep_null_values(packages, pool, out)
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

/// A NaN in a float field prints as `null`, which no reader can take back. The tests' own service has such
/// fields to show it; the product must not.
fn refuse_floats(packages: &Packages, pool: &DescriptorPool, out: &Path) -> Result<()> {
    if out.ends_with("probe") {
        return Ok(());
    }
    let all = [packages.camel, packages.snake].concat();
    for field in fields_of(&all, pool) {
        if matches!(field.kind(), Kind::Float | Kind::Double) {
            return Err(
                format!("{}: NaN has no JSON here; use an integer or a string", field.full_name()).into()
            );
        }
    }
    Ok(())
}

/// pbjson reads `null` as "not set" everywhere. For google.protobuf.Value it is a value, and losing it would
/// lose the content of an A2A part. Each such field has its arm rewritten; a changed generator fails here.
fn keep_null_values(packages: &Packages, pool: &DescriptorPool, out: &Path) -> Result<()> {
    let all = [packages.camel, packages.snake].concat();
    for field in fields_of(&all, pool).into_iter().filter(is_single_value) {
        let path = out.join(format!("{}.serde.rs", field.parent_message().package_name()));
        let text = fs::read_to_string(&path)?;
        let patched = patch(&text, &field).ok_or_else(|| format!("{}: cannot patch", field.full_name()))?;
        fs::write(&path, patched)?;
    }
    Ok(())
}

fn is_single_value(field: &FieldDescriptor) -> bool {
    let is_value = field.kind().as_message().is_some_and(|m| m.full_name() == "google.protobuf.Value");
    is_value && !field.is_list() && !field.is_map() && !field.parent_message().is_map_entry()
}

fn patch(text: &str, field: &FieldDescriptor) -> Option<String> {
    let message = field.parent_message();
    let from = text.find(&format!("Deserialize<'de> for {} {{", message.name().to_upper_camel_case()))?;
    let variant = field.name().to_upper_camel_case();
    let arm = from + text[from..].find(&format!("GeneratedField::{variant} => {{"))?;
    let end = arm + text[arm..].find("\n                        }")?;
    let body = &text[arm..end];
    let changed = match field.containing_oneof() {
        Some(_) => rewrite_oneof(body)?,
        None => body.replacen("= map_.next_value()?;", "= Some(map_.next_value()?);", 1),
    };
    (changed != body).then(|| format!("{}{changed}{}", &text[..arm], &text[end..]))
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
