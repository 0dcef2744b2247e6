//! Small programs in source form, compiled on demand.
//!
//! The target directory keeps each fixture's sources, and beside them one executable per
//! [`Build`], whose name contains a hash of everything that the result depends on. Files
//! are created by renaming, so tests that need the same executable at the same time do not
//! interfere. The sources stay where they were compiled, so that debuggers find them.

use crate::{Build, Compiler, Language, repository_directory, target_directory};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program in source form.
#[derive(Debug, Clone, Hash)]
pub struct Fixture {
    name: String,
    language: Language,
    /// The names and contents; the first file is the root of a Rust program.
    files: Vec<(String, String)>,
    arguments: Vec<String>,
}

/// The reason why a fixture has no executable.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A file of the fixture or of the cache is not accessible.
    #[error("{}: {cause}", path.display())]
    File {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// The machine does not have the compiler.
    #[error("`{0}` is not installed")]
    CompilerAbsent(Compiler),
    /// The compiler is for another language.
    #[error("`{compiler}` does not compile the fixture `{name}`, which is {language:?}")]
    WrongLanguage {
        /// The requested compiler.
        compiler: Compiler,
        /// The fixture.
        name: String,
        /// The fixture's language.
        language: Language,
    },
    /// The compiler reported an error.
    #[error("{command}\n{messages}")]
    Rejected {
        /// The command line.
        command: String,
        /// The compiler's messages.
        messages: String,
    },
}

impl Fixture {
    /// Creates a C program of one file.
    pub fn c(name: &str, source: &str) -> Fixture {
        Fixture::files(name, &[(&format!("{name}.c"), source)])
    }

    /// Creates a C++ program of one file.
    pub fn cpp(name: &str, source: &str) -> Fixture {
        Fixture::files(name, &[(&format!("{name}.cpp"), source)])
    }

    /// Creates a Rust program of one file.
    pub fn rust(name: &str, source: &str) -> Fixture {
        Fixture::files(name, &[(&format!("{name}.rs"), source)])
    }

    /// Creates a program of several files, given by name and content. The file names
    /// determine the language; headers are found beside the sources.
    pub fn files(name: &str, files: &[(&str, &str)]) -> Fixture {
        let has = |ending: &str| files.iter().any(|(file, _)| file.ends_with(ending));
        Fixture {
            name: name.to_owned(),
            language: match (has(".rs"), has(".cpp")) {
                (true, _) => Language::Rust,
                (_, true) => Language::Cpp,
                _ => Language::C,
            },
            files: files
                .iter()
                .map(|(file, content)| ((*file).to_owned(), (*content).to_owned()))
                .collect(),
            arguments: Vec::new(),
        }
    }

    /// Returns a program of `crates/testing/programs` by its file name.
    ///
    /// # Panics
    ///
    /// The file does not exist.
    #[track_caller]
    pub fn program(file: &str) -> Fixture {
        let name = Path::new(file).file_stem().unwrap_or_default();
        Fixture::files(&name.to_string_lossy(), &[(file, &Fixture::source(file))])
    }

    /// Returns a source of `crates/testing/programs`.
    #[track_caller]
    pub(crate) fn source(file: &str) -> String {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("programs")
            .join(file);
        match fs::read_to_string(&path) {
            Ok(source) => source,
            Err(cause) => panic!("{}", BuildError::File { path, cause }),
        }
    }

    /// Returns the program in the directory `examples/NAME`.
    ///
    /// # Panics
    ///
    /// The directory does not exist.
    #[track_caller]
    pub fn example(name: &str) -> Fixture {
        let directory = repository_directory().join("examples").join(name);
        match read_sources(&directory) {
            Ok(files) => {
                let files: Vec<(&str, &str)> = files
                    .iter()
                    .map(|(file, content)| (file.as_str(), content.as_str()))
                    .collect();
                Fixture::files(name, &files)
            }
            Err(cause) => panic!(
                "{}",
                BuildError::File {
                    path: directory,
                    cause
                }
            ),
        }
    }

    /// Returns a program of `crates/testing/programs/legal`: unusual, correct uses of the C
    /// library (`library/NAME.c`).
    ///
    /// # Panics
    ///
    /// The file does not exist.
    #[track_caller]
    pub fn legal(name: &str) -> Fixture {
        let source = Fixture::source(&format!("legal/library/{name}.c"));
        Fixture::files(name, &[(&format!("{name}.c"), &source)]).with_uses()
    }

    /// Returns the sources of `examples/NAME`, without its mistake, with a `main` that makes
    /// unusual, correct uses of them (`programs/legal/examples/NAME.c`).
    ///
    /// # Panics
    ///
    /// A file does not exist.
    #[track_caller]
    pub fn legal_example(name: &str) -> Fixture {
        let mut fixture = Fixture::example(name).define("FIXED").with_uses();
        let uses = Fixture::source(&format!("legal/examples/{name}.c"));
        for (file, content) in &mut fixture.files {
            if file == "main.c" {
                content.clone_from(&uses);
            }
        }
        fixture.name = format!("legal-{name}");
        fixture
    }

    /// Adds the headers of the programs that consist of uses.
    fn with_uses(mut self) -> Fixture {
        for header in ["use.h", "boards.h"] {
            let content = Fixture::source(&format!("legal/{header}"));
            self.files.push((header.to_owned(), content));
        }
        self
    }

    /// Defines a preprocessor name (`-DNAME`).
    pub fn define(self, name: &str) -> Fixture {
        self.argument(&format!("-D{name}"))
    }

    /// Adds an argument for the compiler.
    pub fn argument(mut self, argument: &str) -> Fixture {
        self.arguments.push(argument.to_owned());
        self
    }

    /// Returns the name, with which the executable's name begins.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the language.
    pub fn language(&self) -> Language {
        self.language
    }

    /// Returns the contents of its files.
    pub fn sources(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|(_, content)| content.as_str())
    }

    /// Returns the executable, compiled as [`Build::plain`].
    ///
    /// # Panics
    ///
    /// As [`Fixture::compile`].
    #[track_caller]
    pub fn compile_plain(&self) -> PathBuf {
        self.compile(&Build::plain(self.language))
    }

    /// Returns the executable.
    ///
    /// # Panics
    ///
    /// See [`BuildError`]; the message includes the compiler's.
    #[track_caller]
    pub fn compile(&self, build: &Build) -> PathBuf {
        match self.try_compile(build) {
            Ok(executable) => executable,
            Err(error) => panic!("the fixture `{}` does not compile: {error}", self.name),
        }
    }

    /// Returns the executable, compiled now or by an earlier test.
    ///
    /// # Errors
    ///
    /// See [`BuildError`].
    pub fn try_compile(&self, build: &Build) -> Result<PathBuf, BuildError> {
        if build.compiler.language() != self.language {
            return Err(BuildError::WrongLanguage {
                compiler: build.compiler,
                name: self.name.clone(),
                language: self.language,
            });
        }
        let Some(version) = build.compiler.version() else {
            return Err(BuildError::CompilerAbsent(build.compiler));
        };
        let directory = self.write_sources()?;
        let key = hash(&(self, build, version));
        let executable = directory.join(format!("{}-{build}-{key:016x}", self.name));
        if !executable.is_file() {
            let fresh = directory.join(unique_name());
            self.run_compiler(build, &directory, &fresh)?;
            rename(&fresh, &executable)?;
        }
        Ok(executable)
    }

    /// Writes the sources if necessary, and returns their directory.
    fn write_sources(&self) -> Result<PathBuf, BuildError> {
        let directory = target_directory().join("fixtures").join(format!(
            "{}-{:016x}",
            self.name,
            hash(&self.files)
        ));
        fs::create_dir_all(&directory).map_err(|cause| file_error(&directory, cause))?;
        for (name, content) in &self.files {
            let path = directory.join(name);
            if !path.is_file() {
                let fresh = directory.join(unique_name());
                fs::write(&fresh, content).map_err(|cause| file_error(&fresh, cause))?;
                rename(&fresh, &path)?;
            }
        }
        Ok(directory)
    }

    fn run_compiler(
        &self,
        build: &Build,
        directory: &Path,
        executable: &Path,
    ) -> Result<(), BuildError> {
        let mut command = Command::new(build.compiler.command());
        command
            .current_dir(directory)
            .args(build.arguments())
            .args(&self.arguments)
            .args(self.inputs().map(|name| directory.join(name)))
            .arg("-o")
            .arg(executable);
        let output = command
            .output()
            .map_err(|cause| file_error(Path::new(build.compiler.command()), cause))?;
        if output.status.success() {
            return Ok(());
        }
        Err(BuildError::Rejected {
            command: format!("{command:?}"),
            messages: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    /// Returns the files passed to the compiler, which finds the others itself.
    fn inputs(&self) -> impl Iterator<Item = &str> {
        let names = self.files.iter().map(|(name, _)| name.as_str());
        let limit = match self.language {
            Language::Rust => 1,
            Language::C | Language::Cpp => usize::MAX,
        };
        names
            .filter(|name| [".c", ".cpp", ".rs"].iter().any(|end| name.ends_with(end)))
            .take(limit)
    }
}

/// Returns the C sources and headers of a directory, sorted by name.
fn read_sources(directory: &Path) -> io::Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.ends_with(".c") || name.ends_with(".h") {
            files.push((name.into_owned(), fs::read_to_string(&path)?));
        }
    }
    files.sort();
    Ok(files)
}

/// Returns a file name that no other test in any process uses.
fn unique_name() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!(".fresh-{}-{number}", std::process::id())
}

fn rename(from: &Path, to: &Path) -> Result<(), BuildError> {
    fs::rename(from, to).map_err(|cause| file_error(to, cause))
}

fn file_error(path: &Path, cause: io::Error) -> BuildError {
    BuildError::File {
        path: path.to_path_buf(),
        cause,
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
