//! `Schema` for every message: its fields for path and query, and the checks that its descriptor asks for.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use proc_macro2::TokenStream;
use prost_reflect::{
    Cardinality, DescriptorPool, DynamicMessage, ExtensionDescriptor, FieldDescriptor, Kind,
    MessageDescriptor, Value,
};
use quote::quote;

use crate::{Result, names};

/// google.api.FieldBehavior.REQUIRED.
const REQUIRED: i32 = 2;
const JSON_TYPES: [&str; 3] =
    ["google.protobuf.Value", "google.protobuf.Struct", "google.protobuf.ListValue"];

pub fn generate(packages: &[&str], snake: &[&str], pool: &DescriptorPool, out: &Path) -> Result<()> {
    let generator = Generator {
        behavior: pool.get_extension_by_name("google.api.field_behavior").ok_or("no field_behavior")?,
        inspected: inspected(packages, pool)?,
        requests: pool
            .services()
            .flat_map(|s| {
                // A bad item of a stream must not end the stream: its service inspects each by itself.
                let methods = s.methods().filter(|m| !m.is_client_streaming());
                methods.map(|m| m.input().full_name().to_owned()).collect::<Vec<_>>()
            })
            .collect(),
        packages,
        snake,
    };
    for package in packages {
        let name = package.trim_start_matches('.');
        let mut code = String::new();
        for message in pool.all_messages().filter(|m| m.package_name() == name && !m.is_map_entry()) {
            code += &generator.message(&message)?.to_string();
            code.push('\n');
        }
        fs::write(out.join(format!("{name}.schema.rs")), code)?;
    }
    Ok(())
}

/// The messages that have something to check, in themselves or somewhere below.
fn inspected(packages: &[&str], pool: &DescriptorPool) -> Result<HashSet<String>> {
    let behavior = pool.get_extension_by_name("google.api.field_behavior").ok_or("no field_behavior")?;
    let ours: Vec<MessageDescriptor> =
        pool.all_messages().filter(|m| in_packages(packages, m.package_name())).collect();
    let mut found: HashSet<String> = JSON_TYPES.iter().map(|name| (*name).to_owned()).collect();
    loop {
        let before = found.len();
        for message in &ours {
            let below =
                |f: &FieldDescriptor| f.kind().as_message().is_some_and(|m| found.contains(m.full_name()));
            if message.fields().any(|f| is_required(&f, &behavior) || below(&f)) {
                found.insert(message.full_name().to_owned());
            }
        }
        if found.len() == before {
            return Ok(found);
        }
    }
}

fn in_packages(packages: &[&str], name: &str) -> bool {
    packages.iter().any(|p| p.trim_start_matches('.') == name)
}

fn is_required(field: &FieldDescriptor, behavior: &ExtensionDescriptor) -> bool {
    let options: DynamicMessage = field.options();
    match options.get_extension(behavior).as_ref() {
        Value::List(values) => values.iter().any(|v| v.as_enum_number() == Some(REQUIRED)),
        _ => false,
    }
}

/// What a field that is not set prints where it is the whole answer.
fn default(field: &FieldDescriptor) -> String {
    if field.is_list() {
        return "[]".to_owned();
    }
    match field.kind() {
        // Well-known types are not objects in JSON.
        Kind::Message(message) if !field.is_map() && message.package_name() == "google.protobuf" => {
            "null".to_owned()
        }
        Kind::Message(_) => "{}".to_owned(),
        _ if field.supports_presence() => "null".to_owned(),
        Kind::Bool => "false".to_owned(),
        Kind::String | Kind::Bytes => "\"\"".to_owned(),
        Kind::Enum(of) => format!("{:?}", of.default_value().name()),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 | Kind::Uint64 | Kind::Fixed64 => "\"0\"".to_owned(),
        _ => "0".to_owned(),
    }
}

struct Generator<'a> {
    behavior: ExtensionDescriptor,
    inspected: HashSet<String>,
    /// What some RPC takes.
    requests: HashSet<String>,
    packages: &'a [&'a str],
    snake: &'a [&'a str],
}

impl Generator<'_> {
    fn message(&self, message: &MessageDescriptor) -> Result<TokenStream> {
        let name = names::message(message)?;
        let request = self.requests.contains(message.full_name());
        let checks = message.fields().map(|f| self.checks(&f)).collect::<Result<Vec<_>>>()?;
        let fields = message.fields().map(|f| self.field(&f)).collect::<Result<Vec<_>>>()?;
        Ok(quote! {
            impl ::agena::proto::schema::Inspect for #name {
                const REQUEST: bool = #request;
                #[allow(unused_variables)]
                fn inspect(&self, at: &mut ::agena::proto::schema::Inspector) { #(#checks)* }
            }
            impl ::agena::proto::schema::Schema for #name {
                fn pool() -> &'static ::prost_reflect::DescriptorPool { &POOL }
                fn fields() -> &'static [::agena::proto::schema::Field] {
                    const FIELDS: &[::agena::proto::schema::Field] = &[#(#fields),*];
                    FIELDS
                }
            }
        })
    }

    /// The name that errors and answers use: as this package prints it.
    fn wire_name(&self, field: &FieldDescriptor) -> String {
        let snake = in_packages(self.snake, field.parent_message().package_name());
        if snake { field.name().to_owned() } else { field.json_name().to_owned() }
    }

    fn checks(&self, field: &FieldDescriptor) -> Result<TokenStream> {
        let required = self.required_check(field)?;
        let below = self.check_below(field)?;
        Ok(quote!(#required #below))
    }

    fn required_check(&self, field: &FieldDescriptor) -> Result<Option<TokenStream>> {
        if !is_required(field, &self.behavior) {
            return Ok(None);
        }
        if field.containing_oneof().is_some_and(|o| !o.is_synthetic()) {
            return Err(format!("{}: REQUIRED says nothing inside a oneof", field.full_name()).into());
        }
        let (name, member) = (self.wire_name(field), names::member(field.name())?);
        let missing = if field.is_list() || field.is_map() {
            quote!(#member.is_empty())
        } else if field.supports_presence() {
            quote!(#member.is_none())
        } else {
            match field.kind() {
                Kind::String | Kind::Bytes => quote!(#member.is_empty()),
                Kind::Enum(_) => quote!(#member == 0),
                // Without presence a zero is as good as any other number.
                _ => return Ok(None),
            }
        };
        Ok(Some(quote!(at.required(#name, #missing);)))
    }

    fn check_below(&self, field: &FieldDescriptor) -> Result<Option<TokenStream>> {
        let kind = field.kind();
        let Some(message) = kind.as_message().filter(|m| self.inspected.contains(m.full_name())) else {
            return Ok(None);
        };
        let (name, member) = (self.wire_name(field), names::member(field.name())?);
        if field.is_map() {
            let value = message.map_entry_value_field();
            let inspected = value.kind().as_message().is_some_and(|m| self.inspected.contains(m.full_name()));
            return Ok(inspected.then(|| quote!(at.entries(#name, &#member);)));
        }
        if let Some(oneof) = field.containing_oneof().filter(|o| !o.is_synthetic()) {
            let (holder, path) = (names::member(oneof.name())?, names::oneof(&oneof)?);
            let variant = names::variant(field)?;
            return Ok(Some(
                quote! { if let Some(#path::#variant(inner)) = &#holder { at.one(#name, inner); } },
            ));
        }
        Ok(Some(match field.cardinality() {
            Cardinality::Repeated => quote!(at.each(#name, &#member);),
            _ => quote!(if let Some(inner) = &#member { at.one(#name, inner); }),
        }))
    }

    fn field(&self, field: &FieldDescriptor) -> Result<TokenStream> {
        let (name, json, printed) = (field.name(), field.json_name(), self.wire_name(field));
        let (repeated, default) = (field.is_list(), default(field));
        let shape = self.shape(field)?;
        Ok(quote! {
            ::agena::proto::schema::Field {
                name: #name,
                json: #json,
                printed: #printed,
                default: #default,
                repeated: #repeated,
                shape: ::agena::proto::schema::Shape::#shape,
            }
        })
    }

    fn shape(&self, field: &FieldDescriptor) -> Result<TokenStream> {
        let kind = field.kind();
        let Some(message) = kind.as_message() else {
            return Ok(match kind {
                Kind::Bool => quote!(Bool),
                Kind::Enum(_) => quote!(Enum),
                _ => quote!(Text),
            });
        };
        Ok(match message.full_name() {
            "google.protobuf.BoolValue" => quote!(Bool),
            "google.protobuf.Timestamp" | "google.protobuf.Duration" | "google.protobuf.FieldMask" => {
                quote!(Text)
            }
            name if name.starts_with("google.protobuf.")
                && name.ends_with("Value")
                && !JSON_TYPES.contains(&name) =>
            {
                quote!(Text)
            }
            _ if field.is_list() || field.is_map() || !in_packages(self.packages, message.package_name()) => {
                quote!(Opaque)
            }
            _ => {
                let path = self.type_from(field, message)?;
                quote!(Message(<#path as ::agena::proto::schema::Schema>::fields))
            }
        })
    }

    /// Another package is reached from the root of all packages, `super` by `super`.
    fn type_from(&self, field: &FieldDescriptor, target: &MessageDescriptor) -> Result<TokenStream> {
        let name = names::message(target)?;
        let here = field.parent_message().package_name().to_owned();
        if here == target.package_name() {
            return Ok(name);
        }
        let up = "super::".repeat(here.split('.').count());
        let down = names::path(&(up + &target.package_name().replace('.', "::")))?;
        Ok(quote!(#down::#name))
    }
}
