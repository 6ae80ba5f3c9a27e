//! The messages of 0.3's package `a2a.v1`, to and from 1.0, owned. Its protobuf says less than its JSON: parts have no
//! metadata, files no name, messages no references. Knows no service; the gRPC service of `a2a.v1` calls it, and
//! `rest` for bodies.

mod answer;
mod part;
mod push;
mod request;
mod resource;

pub use answer::stream_item;

/// Each item converted.
pub(super) fn each<A, B: From<A>>(items: Vec<A>) -> Vec<B> {
    items.into_iter().map(B::from).collect()
}
