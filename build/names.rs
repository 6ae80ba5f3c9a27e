//! How prost spells things in Rust.

use heck::{ToSnakeCase, ToUpperCamelCase};
use proc_macro2::TokenStream;
use prost_reflect::{FieldDescriptor, MessageDescriptor, OneofDescriptor};
use quote::quote;

use crate::Result;

/// A path in Rust as tokens.
pub fn path(text: &str) -> Result<TokenStream> {
    text.parse::<TokenStream>().map_err(|e| format!("{text}: {e}").into())
}

/// The type of a message, seen from the module of its package.
pub fn message(message: &MessageDescriptor) -> Result<TokenStream> {
    let mut text = message.name().to_upper_camel_case();
    let mut outer = message.parent_message();
    while let Some(parent) = outer {
        text = format!("{}::{text}", module(parent.name()));
        outer = parent.parent_message();
    }
    path(&text)
}

/// The enum of a oneof, seen from the module of its package.
pub fn oneof(oneof: &OneofDescriptor) -> Result<TokenStream> {
    let parent = oneof.parent_message();
    let nested = format!("{}::{}", module(parent.name()), oneof.name().to_upper_camel_case());
    let outer = parent.parent_message().map(|m| module(m.name()) + "::").unwrap_or_default();
    path(&(outer + &nested))
}

pub fn variant(field: &FieldDescriptor) -> Result<TokenStream> {
    path(&field.name().to_upper_camel_case())
}

pub fn module(name: &str) -> String {
    name.to_snake_case()
}

/// `self.field`.
pub fn member(name: &str) -> Result<TokenStream> {
    let ident = field(name)?;
    Ok(quote!(self.#ident))
}

/// A field, with the words that Rust reserves written as prost writes them.
pub fn field(name: &str) -> Result<TokenStream> {
    let name = name.to_snake_case();
    match name.as_str() {
        "self" | "super" | "extern" | "crate" => path(&format!("{name}_")),
        _ if syn::parse_str::<syn::Ident>(&name).is_ok() => path(&name),
        _ => path(&format!("r#{name}")),
    }
}
