//! The generated types of every package in `proto/`, and what makes them usable: well-known types, ProtoJSON,
//! the checks that the descriptors ask for. Knows no service and does no I/O; everything above uses it.

pub mod anthropic;
pub mod codeassist;
pub mod gemini;
pub mod json;
pub mod openai;
pub mod schema;
pub mod vendor;
pub mod vertex;
pub mod wkt;

/// Includes what `build.rs` made of one package.
macro_rules! package {
    ($name:literal) => {
        include!(concat!(env!("OUT_DIR"), "/product/", $name, ".rs"));
        include!(concat!(env!("OUT_DIR"), "/product/", $name, ".serde.rs"));
        include!(concat!(env!("OUT_DIR"), "/product/", $name, ".schema.rs"));
        use crate::proto::POOL;
    };
}

/// The same of a package whose JSON is a vendor's.
macro_rules! vendor_package {
    ($name:literal) => {
        include!(concat!(env!("OUT_DIR"), "/product/", $name, ".rs"));
        include!(concat!(env!("OUT_DIR"), "/product/", $name, ".schema.rs"));
        use crate::proto::POOL;
    };
}

/// The descriptors of all packages, as reflection serves them.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/product/descriptors.bin"));

/// The same, decoded. Only slow paths and error texts need it, so it is made on first use.
pub static POOL: std::sync::LazyLock<prost_reflect::DescriptorPool> =
    std::sync::LazyLock::new(|| schema::decode_pool(DESCRIPTORS));

#[allow(clippy::all, clippy::pedantic, unused_qualifications)]
mod generated {
    pub mod lf {
        pub mod a2a {
            pub mod v1 {
                package!("lf.a2a.v1");
                include!(concat!(env!("OUT_DIR"), "/product/whole/lf.a2a.v1.serde.rs"));
            }
        }
    }
    pub mod a2a {
        pub mod v1 {
            package!("a2a.v1");
        }
    }
    pub mod agena {
        pub mod anthropic {
            pub mod v1 {
                vendor_package!("agena.anthropic.v1");
            }
        }
        pub mod codeassist {
            pub mod v1 {
                vendor_package!("agena.codeassist.v1");
            }
        }
        pub mod devtool {
            pub mod v1 {
                package!("agena.devtool.v1");
            }
        }
        pub mod facade {
            pub mod v1 {
                vendor_package!("agena.facade.v1");
            }
        }
        pub mod gemini {
            pub mod v1 {
                vendor_package!("agena.gemini.v1");
            }
        }
        pub mod openai {
            pub mod v1 {
                vendor_package!("agena.openai.v1");
            }
        }
        pub mod task {
            pub mod v1 {
                package!("agena.task.v1");
            }
        }
        pub mod vertex {
            pub mod v1 {
                vendor_package!("agena.vertex.v1");
            }
        }
    }
    pub mod google {
        pub mod rpc {
            package!("google.rpc");
        }
    }
}

/// A2A 0.3's gRPC package, for older clients.
pub use generated::a2a::v1 as a2a_v03;
/// The development-tool extension: the RFC's schemas and the typed service over them.
pub use generated::agena::devtool::v1 as devtool;
/// What a facade's conversion changes.
pub use generated::agena::facade::v1 as facade;
/// The journal's events.
pub use generated::agena::task::v1 as task;
/// google.rpc: status and error details.
pub use generated::google::rpc;
/// A2A 1.0, the native dialect.
pub use generated::lf::a2a::v1 as a2a;
