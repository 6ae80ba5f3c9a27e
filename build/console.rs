//! Turns `web/dist` into a table of files that the program carries, as they are and compressed once and for all.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use quote::quote;

use super::Result;

/// The page comes first, its assets after it by name.
const PAGE: &str = "index.html";
const ASSETS: &str = "assets";

pub fn generate(dist: &Path, out: &Path) -> Result<()> {
    fs::create_dir_all(out)?;
    let mut assets = names(&dist.join(ASSETS))?;
    assets.sort();
    let page = (dist.join(PAGE), "/".to_owned());
    let assets = assets.into_iter().map(|name| {
        let path = format!("/{ASSETS}/{name}");
        (dist.join(ASSETS).join(name), path)
    });
    let files = [page].into_iter().chain(assets);
    let rows = files.map(|(file, path)| row(&file, &path, out)).collect::<Result<Vec<_>>>()?;
    let count = rows.len();
    let table = quote!(static FILES: [File; #count] = [#(#rows),*];);
    Ok(fs::write(out.join("files.rs"), table.to_string())?)
}

fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    entries
        .map(|entry| entry?.file_name().into_string().map_err(|name| format!("{name:?} is no text").into()))
        .collect()
}

fn row(file: &Path, path: &str, out: &Path) -> Result<proc_macro2::TokenStream> {
    let bytes = fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let kind = kind(file)?;
    let small = out.join(format!("{}.gz", path.rsplit('/').next().filter(|n| !n.is_empty()).unwrap_or(PAGE)));
    let mut encoder = GzEncoder::new(fs::File::create(&small)?, Compression::best());
    encoder.write_all(&bytes)?;
    encoder.finish()?;
    let (plain, small) = (text(&file.canonicalize()?)?, text(&small)?);
    Ok(quote!(File {
        rule: page_rule(#path),
        kind: #kind,
        plain: include_bytes!(#plain),
        small: include_bytes!(#small),
    }))
}

fn kind(file: &Path) -> Result<&'static str> {
    Ok(match file.extension().and_then(|ending| ending.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("woff2") => "font/woff2",
        _ => return Err(format!("{}: nobody said what kind of file this is", file.display()).into()),
    })
}

fn text(path: &Path) -> Result<String> {
    let path: PathBuf = path.into();
    path.into_os_string().into_string().map_err(|path| format!("{path:?} is no text").into())
}
