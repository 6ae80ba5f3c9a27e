//! `restore_files`: brings files back as a checkpoint has them. Called by the user's `/restore`, declared to no model. It
//! touches only the files that are named, and each only as it was when that was shown.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::json;

use super::diff;
use super::shape::{Job, Place, Tool, blocking, declaration, plain_plan, read, text};
use super::write_file::current;
use crate::domain::tool::{
    Arguments, Declaration, Extent, Kind, Outcome, Plan, RESTORE, Reach, ToolError, fingerprint,
};
use crate::proto::task::SavedFile;
use crate::sandbox::Workspace;

#[derive(Deserialize)]
struct Wanted {
    files: Vec<File>,
}

/// A file as it shall be.
#[derive(Deserialize)]
struct File {
    path: String,
    /// None: there shall be no such file.
    content: Option<String>,
    /// Of the file as it was when this was decided on; none if there was none.
    now: Option<String>,
}

/// One that is found as it was said to be.
struct Found {
    path: PathBuf,
    old: Option<String>,
    new: Option<String>,
}

pub(super) struct RestoreFiles;

#[async_trait]
impl Tool for RestoreFiles {
    fn declaration(&self) -> Declaration {
        let file = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "content": {"type": ["string", "null"]},
                "now": {"type": ["string", "null"]},
            },
            "required": ["path"],
        });
        declaration(
            RESTORE,
            "RestoreFiles",
            Kind::Edit,
            "Brings files back as they were before a tool call changed them.",
            json!({
                "type": "object",
                "properties": {"files": {"type": "array", "minItems": 1, "items": file}},
                "required": ["files"],
            }),
        )
    }

    async fn plan(&self, place: &Place, arguments: &Arguments) -> Result<Plan, ToolError> {
        let (wanted, workspace) = (read::<Wanted>(arguments)?, Arc::clone(&place.workspace));
        blocking(move || {
            let found = look(&workspace, &wanted)?;
            let shown: Vec<String> = found.iter().map(|found| found.shown(&workspace)).collect();
            let reach =
                |found: &Found| Reach { path: workspace.absolute(&found.path), extent: Extent::Itself };
            let paths = found.iter().map(reach).collect();
            Ok(Plan { paths, ..plain_plan(format!("Restore {} files\n\n{}", found.len(), shown.join("\n"))) })
        })
        .await
    }

    async fn run(&self, place: &Place, job: Job) -> Result<Outcome, ToolError> {
        let (wanted, workspace) = (read::<Wanted>(&job.arguments)?, Arc::clone(&place.workspace));
        blocking(move || {
            // All are looked at before the first is touched.
            let found = look(&workspace, &wanted)?;
            let mut done = Vec::new();
            for found in &found {
                found.restore(&workspace).map_err(|error| partly(error, &done))?;
                done.push(format!("{} {}", found.verb(), workspace.absolute(&found.path)));
            }
            let told = done.join("\n");
            Ok(text(told.clone(), told))
        })
        .await
    }
}

/// The files as they are now.
pub(super) async fn saves(place: &Place, arguments: &Arguments) -> Vec<SavedFile> {
    let Ok(wanted) = read::<Wanted>(arguments) else { return Vec::new() };
    let workspace = Arc::clone(&place.workspace);
    let saved = blocking(move || {
        let found = look(&workspace, &wanted)?;
        let saved = |found: Found| SavedFile { path: workspace.absolute(&found.path), content: found.old };
        Ok(found.into_iter().map(saved).collect())
    });
    saved.await.unwrap_or_default()
}

/// What a restore that stopped in the middle has done already is told.
fn partly(error: ToolError, done: &[String]) -> ToolError {
    match error {
        ToolError::Failed { kind, message, code } if !done.is_empty() => {
            let message = format!("{message}\nBefore that: {}", done.join(", "));
            ToolError::Failed { kind, message, code }
        }
        other => other,
    }
}

fn look(workspace: &Workspace, wanted: &Wanted) -> Result<Vec<Found>, ToolError> {
    let one = |file: &File| {
        let path = itself(workspace, &file.path)?;
        let old = current(workspace, &path)?;
        if old.as_deref().map(fingerprint) != file.now {
            let message =
                format!("{} has changed since the restore was proposed; propose it again", file.path);
            return Err(ToolError::new("file_changed", message));
        }
        Ok(Found { path, old, new: file.content.clone() })
    };
    wanted.files.iter().map(one).collect()
}

/// The file of an absolute path, and nothing that has come into its place: a link would lead to one that no tool touched.
pub(super) fn itself(workspace: &Workspace, path: &str) -> Result<PathBuf, ToolError> {
    let real = workspace.follow(path)?;
    match workspace.absolute(&real) == path {
        true => Ok(real),
        false => Err(ToolError::new("file_changed", format!("{path} leads elsewhere now"))),
    }
}

impl Found {
    fn verb(&self) -> &'static str {
        match (&self.old, &self.new) {
            (_, None) => "removed",
            (None, Some(_)) => "created",
            (Some(_), Some(_)) => "restored",
        }
    }

    fn shown(&self, workspace: &Workspace) -> String {
        let path = workspace.absolute(&self.path);
        let edit = diff::file_diff(&path, self.old.clone(), self.new.clone().unwrap_or_default());
        format!("{} {path}\n{}", self.verb(), edit.formatted_diff.unwrap_or_default())
    }

    fn restore(&self, workspace: &Workspace) -> Result<(), ToolError> {
        match (&self.old, &self.new) {
            (old, Some(new)) => workspace.write(&self.path, old.as_deref(), new),
            (Some(old), None) => workspace.remove(&self.path, old),
            (None, None) => Ok(()),
        }
    }
}
