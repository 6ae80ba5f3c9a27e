//! The tests' own service: generated from `tests/proto`, as any other, and answered here.

mod service;

pub use service::{Probe, Shared};

/// What `build.rs` made of it.
#[allow(clippy::all, clippy::pedantic, unused_qualifications, dead_code)]
pub mod pb {
    include!(concat!(env!("OUT_DIR"), "/probe/agena.probe.v1.rs"));
    include!(concat!(env!("OUT_DIR"), "/probe/agena.probe.v1.serde.rs"));
    include!(concat!(env!("OUT_DIR"), "/probe/agena.probe.v1.schema.rs"));

    pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/probe/descriptors.bin"));

    static POOL: std::sync::LazyLock<prost_reflect::DescriptorPool> =
        std::sync::LazyLock::new(|| agena::proto::schema::decode_pool(DESCRIPTORS));
}

/// The package that prints names as its file has them.
#[allow(clippy::all, clippy::pedantic, unused_qualifications, dead_code)]
pub mod snake {
    include!(concat!(env!("OUT_DIR"), "/probe/agena.snake.v1.rs"));
    include!(concat!(env!("OUT_DIR"), "/probe/agena.snake.v1.serde.rs"));
    include!(concat!(env!("OUT_DIR"), "/probe/agena.snake.v1.schema.rs"));

    static POOL: std::sync::LazyLock<prost_reflect::DescriptorPool> =
        std::sync::LazyLock::new(|| agena::proto::schema::decode_pool(super::pb::DESCRIPTORS));
}
