//! `juror trust`: the directories whose command file `.juror` may be executed.
//!
//! The store keeps what was allowed, directory and text: a file that has changed since is not
//! executed.
//!
//! **Invariant**: a text is executed only if this user has allowed exactly this text in exactly
//! this directory. A store that another user could have written is not read.

use crate::arguments::trust::Trust;
use crate::directories;
use crate::exit;
use crate::output::Output;
use anyhow::{Context as _, anyhow, bail};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The name of the command file.
pub const FILE: &str = ".juror";

/// The largest size of a command file.
const SIZE_MAX: u64 = 1 << 20;

/// The text that may be executed in a directory.
#[derive(Debug, PartialEq, Eq)]
pub enum Allowed {
    /// There is no file.
    Nothing,
    /// The file has this text, and is allowed.
    Text(String),
    /// The file is not allowed; why.
    No(String),
}

/// A text that was allowed in a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    directory: PathBuf,
    text: String,
}

/// Runs `juror trust`. Returns the exit status.
pub fn run(command: &Trust) -> anyhow::Result<u8> {
    let mut output = Output::open(command.messages.color, None, false)?;
    match perform(command) {
        Ok(text) => {
            output.say(&text)?;
            Ok(exit::HOLDS)
        }
        Err(error) => {
            output.show_error(&format!("{error:#}"))?;
            Ok(exit::USAGE)
        }
    }
}

fn perform(command: &Trust) -> anyhow::Result<String> {
    let store = store().context("there is no home directory")?;
    let mut entries = read(&store)?;
    if command.list {
        let lines = entries.iter();
        return Ok(lines
            .map(|entry| format!("{}\n", juror_text::escape::safe(&name(&entry.directory))))
            .collect());
    }
    let given = command.directory.as_deref().unwrap_or(Path::new("."));
    let directory = fs::canonicalize(given)
        .with_context(|| format!("the directory {} cannot be used", given.display()))?;
    let before = entries.len();
    entries.retain(|entry| entry.directory != directory);
    if command.forget {
        if entries.len() == before {
            bail!("{} was not allowed", name(&directory.join(FILE)));
        }
        write(&store, &entries)?;
        return Ok(format!("{} is not executed any more\n", shown(&directory)));
    }
    let Some(text) = text_in(&directory)? else {
        bail!("there is no file {}", name(&directory.join(FILE)));
    };
    let lines: String = text
        .lines()
        .map(|line| format!("  {}\n", juror_text::escape::safe(line)))
        .collect();
    entries.push(Entry {
        directory: directory.clone(),
        text,
    });
    write(&store, &entries)?;
    Ok(format!(
        "{} is executed in this directory while it has this text:\n{lines}",
        shown(&directory)
    ))
}

fn name(path: &Path) -> String {
    path.display().to_string()
}

fn shown(directory: &Path) -> String {
    juror_text::escape::safe(&name(&directory.join(FILE))).to_string()
}

/// Returns what may be executed in a directory.
pub fn check(directory: &Path) -> Allowed {
    let found = fs::canonicalize(directory).map_err(anyhow::Error::from);
    let found = found.and_then(|directory| Ok((text_in(&directory)?, directory)));
    let (text, directory) = match found {
        Ok((Some(text), directory)) => (text, directory),
        Ok((None, _)) => return Allowed::Nothing,
        Err(error) => return Allowed::No(format!("{error:#}")),
    };
    let entries = match store().map(|store| read(&store)) {
        Some(Ok(entries)) => entries,
        Some(Err(error)) => return Allowed::No(format!("{error:#}")),
        None => Vec::new(),
    };
    decide(&entries, &directory, text)
}

fn decide(entries: &[Entry], directory: &Path, text: String) -> Allowed {
    let entry = entries.iter().find(|entry| entry.directory == directory);
    match entry {
        Some(entry) if entry.text == text => Allowed::Text(text),
        Some(_) => Allowed::No("it has changed since it was allowed by juror trust".to_owned()),
        None => Allowed::No("allow it by juror trust, after reading it".to_owned()),
    }
}

/// Returns the text of the command file in a directory; nothing if there is none.
fn text_in(directory: &Path) -> anyhow::Result<Option<String>> {
    let file = directory.join(FILE);
    // Only a regular file is opened: a named pipe would wait.
    match fs::metadata(&file) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("{FILE} cannot be read")),
    }
    let opened = File::open(&file).with_context(|| format!("{FILE} cannot be read"))?;
    let mut text = String::new();
    let read = opened.take(SIZE_MAX + 1).read_to_string(&mut text);
    read.with_context(|| format!("{FILE} cannot be read"))?;
    if text.len() as u64 > SIZE_MAX {
        Err(anyhow!("{FILE} is larger than 1 MiB"))
    } else {
        Ok(Some(text))
    }
}

/// Returns the file of what was allowed.
fn store() -> Option<PathBuf> {
    Some(directories::state()?.join("trusted"))
}

/// Reads what was allowed.
fn read(store: &Path) -> anyhow::Result<Vec<Entry>> {
    let opened = match File::open(store) {
        Ok(opened) => opened,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            return Err(error).with_context(|| format!("{} cannot be read", store.display()));
        }
    };
    // Of the open file, which cannot be replaced any more.
    require_own(store, &opened.metadata()?)?;
    if let Some(directory) = store.parent() {
        require_own(directory, &fs::metadata(directory)?)?;
    }
    let text = std::io::read_to_string(opened)?;
    let entries = text.lines().map(serde_json::from_str);
    let entries: Result<_, _> = entries.collect();
    entries.with_context(|| format!("{} is damaged", store.display()))
}

/// Refuses what another user could have written.
fn require_own(path: &Path, metadata: &Metadata) -> anyhow::Result<()> {
    let is_own = metadata.uid() == nix::unistd::geteuid().as_raw();
    if is_own && metadata.mode() & 0o022 == 0 {
        Ok(())
    } else {
        Err(anyhow!("other users can write to {}", path.display()))
    }
}

/// Writes what is allowed, as a whole.
fn write(store: &Path, entries: &[Entry]) -> anyhow::Result<()> {
    let wrong = || format!("{} cannot be written", store.display());
    if let Some(directory) = store.parent() {
        let mut builder = fs::DirBuilder::new();
        let made = builder.recursive(true).mode(0o700).create(directory);
        made.with_context(wrong)?;
    }
    let mut text = String::new();
    for entry in entries {
        text.push_str(&serde_json::to_string(entry)?);
        text.push('\n');
    }
    let new = store.with_extension("new");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.open(&new).with_context(wrong)?;
    file.write_all(text.as_bytes()).with_context(wrong)?;
    fs::rename(&new, store).with_context(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn entry(directory: &str, text: &str) -> Entry {
        Entry {
            directory: directory.into(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn only_this_text_in_this_directory_is_allowed() {
        let entries = [entry("/a", "run"), entry("/b", "next")];
        let decide =
            |directory: &str, text: &str| decide(&entries, Path::new(directory), text.to_owned());
        assert_eq!(decide("/a", "run"), Allowed::Text("run".to_owned()));
        for (directory, text, why) in [
            ("/a", "next", "changed"),
            ("/a", "run\n", "changed"),
            ("/c", "run", "juror trust"),
        ] {
            let found = decide(directory, text);
            assert!(
                matches!(&found, Allowed::No(said) if said.contains(why)),
                "{directory} {text}: {found:?}"
            );
        }
    }

    #[test]
    fn a_store_that_others_can_write_is_not_read() {
        let directory = tempfile::tempdir().expect("a directory");
        let store = directory.path().join("juror/trusted");
        assert!(read(&store).expect("no store").is_empty());
        let entries = [entry("/a \n", "run\nnext"), entry("/b", "")];
        write(&store, &entries).expect("a store");
        assert_eq!(read(&store).expect("a store"), entries);
        let change = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("own");
        };
        change(&store, 0o620);
        let error = read(&store).expect_err("writable");
        assert!(
            error.to_string().contains("other users can write"),
            "{error}"
        );
        change(&store, 0o600);
        change(store.parent().expect("a directory"), 0o702);
        assert!(read(&store).is_err());
    }
}
