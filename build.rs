//! Turns `proto/` into Rust: messages, gRPC services, JSON, field checks and HTTP routes.
//!
//! Two sets of files are compiled: the product's (`proto/`) and the tests' own service (`tests/proto/`), whose
//! code only the test binaries include. Generated code names this crate `::agena`, so both can use it.

#[path = "build/console.rs"]
mod console;
#[path = "build/http.rs"]
mod http;
#[path = "build/json.rs"]
mod json;
#[path = "build/names.rs"]
mod names;
#[path = "build/schema.rs"]
mod schema;
#[path = "src/transcode/template.rs"]
#[allow(dead_code, reason = "the router uses the rest")]
mod template;
#[path = "build/vendor.rs"]
mod vendor;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use prost_reflect::DescriptorPool;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What is compiled together and lands in one directory of `OUT_DIR`.
struct Set {
    name: &'static str,
    /// The files below it are compiled.
    root: &'static str,
    /// Where their imports are found.
    includes: &'static [&'static str],
    json: json::Packages,
}

const SETS: [Set; 2] = [
    Set {
        name: "product",
        root: "proto",
        includes: &["proto"],
        json: json::Packages {
            camel: &[".lf.a2a.v1", ".a2a.v1", ".agena.task.v1", ".google.rpc"],
            snake: &[".agena.devtool.v1"],
            // A2A wants every member of this answer, also where it holds the default.
            whole: &[".lf.a2a.v1.ListTasksResponse"],
        },
    },
    Set {
        name: "probe",
        root: "tests/proto",
        includes: &["tests/proto", "proto"],
        json: json::Packages { camel: &[".agena.probe.v1"], snake: &[".agena.snake.v1"], whole: &[] },
    },
];

fn main() -> Result<()> {
    for watched in ["build.rs", "build", "src/transcode/template.rs", "proto", "tests/proto", "web/dist"] {
        println!("cargo:rerun-if-changed={watched}");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    console::generate(Path::new("web/dist"), &out.join("console"))?;
    SETS.iter().try_for_each(|set| compile(set, &out.join(set.name)))
}

fn compile(set: &Set, out: &Path) -> Result<()> {
    fs::create_dir_all(out)?;
    let mut compiler = protox::Compiler::new(set.includes)?;
    compiler.include_imports(true).include_source_info(true).open_files(proto_files(Path::new(set.root))?)?;

    // Only the encoded form keeps the google.api options that reflection clients and our generators read.
    let encoded = compiler.encode_file_descriptor_set();
    fs::write(out.join("descriptors.bin"), &encoded)?;
    let pool = DescriptorPool::decode(encoded.as_slice())?;
    let (vendors, spelled_as_they_are) = vendor::present(&pool);
    let packages: Vec<&str> = [set.json.camel, set.json.snake]
        .concat()
        .into_iter()
        .chain(vendors.iter().map(String::as_str))
        .collect();
    let snake: Vec<&str> =
        set.json.snake.iter().copied().chain(spelled_as_they_are.iter().map(String::as_str)).collect();

    let mut files = compiler.file_descriptor_set();
    // prost-build walks google.protobuf even where we supply the types, so only google.api can go.
    files.file.retain(|file| file.package() != "google.api");
    rust_config(out, &pool)?.compile_fds(files)?;
    json::generate(&set.json, &encoded, &pool, out)?;
    schema::generate(&packages, &snake, &pool, out)
}

fn rust_config(out: &Path, pool: &DescriptorPool) -> Result<prost_build::Config> {
    let mut config = prost_build::Config::new();
    config
        .out_dir(out)
        .compile_well_known_types()
        .extern_path(".google.protobuf", "::pbjson_types")
        .enable_type_names()
        .btree_map(["."])
        .bytes(["."]);
    vendor::attributes(&mut config, pool)?;
    // Most events are pieces of text; they would all be as large as the largest.
    for large in ["created", "state", "tool_call", "tool_output", "decision", "artifact", "message", "usage"]
    {
        config.boxed(format!(".agena.task.v1.TaskEvent.event.{large}"));
    }
    // An item of a stream passes through many hands, and would be moved whole each time.
    for item in ["task", "message", "status_update", "artifact_update"] {
        config.boxed(format!(".lf.a2a.v1.StreamResponse.payload.{item}"));
    }
    for own in ["Any", "Duration", "Empty", "FieldMask", "ListValue", "Struct", "Timestamp", "Value"] {
        config.extern_path(format!(".google.protobuf.{own}"), format!("::agena::proto::wkt::{own}"));
    }
    let tonic = tonic_prost_build::configure()
        .generate_default_stubs(true)
        .codec_path("::agena::transcode::codec::CheckedCodec")
        .service_generator();
    config.service_generator(Box::new(http::WithRoutes::new(tonic, pool.clone())));
    Ok(config)
}

fn proto_files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(proto_files(&path)?);
        } else if path.extension().is_some_and(|e| e == "proto") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
