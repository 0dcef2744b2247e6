//! The copy of the repository with the edits, and how it is built.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::edits::{self, Edit};
use crate::pieces::{Pieces, Rendered};

/// The most times that edits which do not compile are dropped.
const ROUNDS_MAX: usize = 60;

/// One source with its edits.
struct Source {
    /// The path from the root of the repository.
    path: PathBuf,
    text: String,
    pieces: Pieces,
    rendered: Option<Rendered>,
}

/// The edited copy of the repository.
pub struct Tree {
    root: PathBuf,
    target: PathBuf,
    /// The names of the edited crates, without `juror-`.
    pub crates: Vec<String>,
    /// The names of the crates whose tests are tried too.
    with: Vec<String>,
    sources: Vec<Source>,
    /// All edits: their crate, their source, and what they are.
    pub edits: Vec<(String, PathBuf, Edit)>,
    /// The edits that do not compile.
    pub dropped: BTreeSet<usize>,
}

/// A program of tests.
pub struct TestProgram {
    /// The crate that it tests, without `juror-`.
    pub of: String,
    /// The directory that its tests run in.
    pub directory: PathBuf,
    /// The file.
    pub path: PathBuf,
}

impl Tree {
    /// Copies the repository at `repository` to `root`, and finds the edits of the crates.
    ///
    /// # Errors
    ///
    /// A file cannot be read, parsed or written.
    pub fn copy(
        repository: &Path,
        root: &Path,
        target: &Path,
        crates: &[String],
        with: &[String],
    ) -> Result<Self> {
        let mut tree = Self {
            root: root.to_owned(),
            target: target.to_owned(),
            crates: crates.to_vec(),
            with: with.to_vec(),
            sources: Vec::new(),
            edits: Vec::new(),
            dropped: BTreeSet::new(),
        };
        for name in crates {
            let directory = Path::new("crates").join(name);
            tree.add_crate(repository, name, &directory)
                .with_context(|| format!("{}", directory.display()))?;
        }
        let edited: BTreeSet<&Path> = tree
            .sources
            .iter()
            .map(|source| source.path.as_path())
            .collect();
        copy_files(repository, root, &edited)?;
        for name in crates {
            add_runtime(
                &root.join("crates").join(name).join("Cargo.toml"),
                repository,
                name,
            )?;
        }
        Ok(tree)
    }

    fn add_crate(&mut self, repository: &Path, name: &str, directory: &Path) -> Result<()> {
        let mut files = Vec::new();
        list_sources(&repository.join(directory).join("src"), &mut files)?;
        files.sort();
        let mut for_tests: Vec<PathBuf> = Vec::new();
        let mut found_sources = Vec::new();
        for file in files {
            let text = fs::read_to_string(&file)?;
            let found = edits::find(&text, 0).with_context(|| file.display().to_string())?;
            let base = match file.file_name().and_then(|name| name.to_str()) {
                Some("lib.rs" | "mod.rs") => file.parent().map(Path::to_owned),
                _ => Some(file.with_extension("")),
            };
            let base = base.unwrap_or_default();
            for module in found.test_modules {
                for_tests.push(base.join(&module));
                for_tests.push(base.join(format!("{module}.rs")));
            }
            found_sources.push((file, text));
        }
        found_sources.retain(|(file, _)| !for_tests.iter().any(|path| file.starts_with(path)));
        for (file, text) in found_sources {
            let path = file.strip_prefix(repository).unwrap_or(&file).to_owned();
            let found = edits::find(&text, self.edits.len())?;
            let of = |edit| (name.to_owned(), path.clone(), edit);
            self.edits.extend(found.edits.into_iter().map(of));
            self.sources.push(Source {
                path,
                text,
                pieces: found.pieces,
                rendered: None,
            });
        }
        Ok(())
    }

    /// Builds the edited crates and their tests without the edits that do not compile, and
    /// returns the programs of the tests.
    ///
    /// # Errors
    ///
    /// A file cannot be written, or the sources do not compile for another reason.
    pub fn build(&mut self) -> Result<Vec<TestProgram>> {
        for _ in 0..ROUNDS_MAX {
            self.write()?;
            // What is found without generating code is found sooner.
            let mut messages = self.cargo(&["check", "--keep-going", "--lib"], &[])?;
            if self.drop_culprits(&messages)? {
                continue;
            }
            messages = self.cargo(&["test", "--no-run", "--tests"], &self.with)?;
            if !self.drop_culprits(&messages)? {
                return Ok(self.programs(&messages));
            }
        }
        bail!("edits that do not compile are found after {ROUNDS_MAX} rounds");
    }

    fn write(&mut self) -> Result<()> {
        for source in &mut self.sources {
            let rendered = source.pieces.render(&source.text, &self.dropped);
            write_if_different(&self.root.join(&source.path), &rendered.text)?;
            source.rendered = Some(rendered);
        }
        Ok(())
    }

    /// Drops the edits that the compiler's errors are about. Returns whether there are any.
    fn drop_culprits(&mut self, messages: &[Value]) -> Result<bool> {
        let errors: Vec<&Value> = messages
            .iter()
            .map(|message| &message["message"])
            .filter(|message| message["level"] == "error")
            .collect();
        if errors.is_empty() {
            return Ok(false);
        }
        let before = self.dropped.len();
        for error in &errors {
            let culprits = self.culprits(error);
            self.dropped.extend(culprits);
        }
        if self.dropped.len() == before {
            let texts: Vec<&str> = errors
                .iter()
                .filter_map(|error| error["rendered"].as_str())
                .collect();
            bail!("the edited sources do not compile:\n{}", texts.join("\n"));
        }
        eprintln!("   {} edits do not compile", self.dropped.len());
        Ok(true)
    }

    /// Returns the edits that an error is about: those whose text it points to, or else the
    /// smallest that is around it.
    fn culprits(&self, message: &Value) -> BTreeSet<usize> {
        let mut culprits = BTreeSet::new();
        for span in message["spans"].as_array().into_iter().flatten() {
            if span["is_primary"] == true {
                self.add_culprits(span, &mut culprits);
            }
        }
        if culprits.is_empty() {
            for span in message["spans"].as_array().into_iter().flatten() {
                self.add_culprits(span, &mut culprits);
            }
        }
        culprits
    }

    fn add_culprits(&self, span: &Value, culprits: &mut BTreeSet<usize>) {
        let file = span["file_name"].as_str().unwrap_or_default();
        let (Some(start), Some(end)) = (span["byte_start"].as_u64(), span["byte_end"].as_u64())
        else {
            return;
        };
        let (start, end) = (start as usize, end as usize);
        let source = self
            .sources
            .iter()
            .find(|source| Path::new(file).ends_with(&source.path));
        let Some(rendered) = source.and_then(|source| source.rendered.as_ref()) else {
            return;
        };
        let mut extents: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        let mut touched = BTreeSet::new();
        for (edit, place) in &rendered.places {
            if place.start < end && start < place.end {
                touched.insert(*edit);
            }
            let extent = extents.entry(*edit).or_insert((place.start, place.end));
            *extent = (extent.0.min(place.start), extent.1.max(place.end));
        }
        // An error about a whole expression touches all edits in it: the smallest is dropped.
        let around = extents
            .iter()
            .filter(|(_, extent)| extent.0 <= start && end <= extent.1)
            .min_by_key(|(_, extent)| extent.1 - extent.0)
            .map(|(edit, _)| *edit);
        let is_inside = |edit: &usize| {
            extents
                .get(edit)
                .is_some_and(|extent| start <= extent.0 && extent.1 <= end)
        };
        if !touched.is_empty() && touched.len() <= 2 {
            culprits.extend(touched);
        } else if let Some(edit) = around {
            culprits.insert(edit);
        } else {
            culprits.extend(touched.into_iter().filter(is_inside));
        }
    }

    /// Returns the programs of the tests that cargo has built.
    fn programs(&self, messages: &[Value]) -> Vec<TestProgram> {
        let mut programs = Vec::new();
        for message in messages {
            let Some(path) = message["executable"].as_str() else {
                continue;
            };
            let manifest = PathBuf::from(message["manifest_path"].as_str().unwrap_or_default());
            let Some(directory) = manifest.parent() else {
                continue;
            };
            let of = directory
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or_default();
            let mut tested = self.crates.iter().chain(&self.with);
            if message["profile"]["test"] == true && tested.any(|name| name == of) {
                programs.push(TestProgram {
                    of: of.to_owned(),
                    directory: directory.to_owned(),
                    path: path.into(),
                });
            }
        }
        programs
    }

    fn cargo(&self, arguments: &[&str], with: &[String]) -> Result<Vec<Value>> {
        let mut command = Command::new("cargo");
        command
            .current_dir(&self.root)
            .args(arguments)
            .arg("--message-format=json");
        command
            .arg("--quiet")
            .arg("--offline")
            .env("CARGO_TARGET_DIR", &self.target);
        command
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .stderr(std::process::Stdio::null());
        for name in self.crates.iter().chain(with) {
            let package = match name.as_str() {
                "cli" => "juror".to_owned(),
                name => format!("juror-{name}"),
            };
            command.arg("--package").arg(package);
        }
        let output = command.output().context("cargo cannot be run")?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect())
    }
}

/// Writes the manifest of an edited crate, which depends on the runtime.
fn add_runtime(manifest: &Path, repository: &Path, name: &str) -> Result<()> {
    let text = fs::read_to_string(repository.join("crates").join(name).join("Cargo.toml"))?;
    let runtime = "[dependencies]\njuror-edits = { path = \"../edits\" }\n";
    write_if_different(manifest, &text.replacen("[dependencies]\n", runtime, 1))
}

/// Copies what git knows of a repository, but for the edited sources and manifests. Only what
/// differs is written: everything else is built already, by an earlier run.
fn copy_files(repository: &Path, root: &Path, edited: &BTreeSet<&Path>) -> Result<()> {
    let output = Command::new("git")
        .current_dir(repository)
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .output()
        .context("git cannot be run")?;
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    for name in listed.split('\0').filter(|name| !name.is_empty()) {
        let (from, to) = (repository.join(name), root.join(name));
        if !from.is_file() {
            continue;
        }
        let bytes = fs::read(&from)?;
        let is_edited = edited.contains(Path::new(name));
        if !is_edited && fs::read(&to).ok().as_ref() != Some(&bytes) {
            fs::create_dir_all(to.parent().unwrap_or(root))?;
            fs::write(&to, bytes)?;
        }
    }
    let runtime = repository.join("mutants/runtime");
    for name in ["Cargo.toml", "src/lib.rs"] {
        let text = fs::read_to_string(runtime.join(name))?;
        write_if_different(&root.join("crates/edits").join(name), &text)?;
    }
    Ok(())
}

fn list_sources(directory: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            list_sources(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

fn write_if_different(path: &Path, text: &str) -> Result<()> {
    if fs::read_to_string(path).ok().as_deref() != Some(text) {
        fs::create_dir_all(path.parent().unwrap_or(path))?;
        fs::write(path, text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}
