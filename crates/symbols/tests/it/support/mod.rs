//! Compiles small programs for the tests.

use juror_symbols::{Cache, Function, SymbolFile, SymbolSettings};
use juror_testing::is_installed;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use tempfile::TempDir;

/// A compiled program; its directory goes when it goes.
pub struct Program {
    pub directory: TempDir,
    pub path: PathBuf,
    pub file: SymbolFile,
    /// How it was compiled, for messages.
    pub how: String,
}

impl Program {
    /// The one function of this name.
    pub fn function(&self, name: &str) -> Function {
        let found = self.file.functions_named(name);
        assert_eq!(found.len(), 1, "{name} in {}: {found:?}", self.how);
        found.into_iter().next().unwrap()
    }
}

/// Settings with a cache that keeps the indexes of small programs, too.
pub fn settings_with_cache(directory: &Path) -> Arc<SymbolSettings> {
    Arc::new(SymbolSettings {
        cache: Some(Cache {
            size_min_bytes: 0,
            ..Cache::new(directory)
        }),
        ..SymbolSettings::default()
    })
}

/// Compiles a source text; `None` when the compiler is absent.
pub fn compile(compiler: &str, name: &str, source: &str, options: &[&str]) -> Option<Program> {
    if !is_installed(compiler) {
        return None;
    }
    let directory = TempDir::new().unwrap();
    let source_path = directory.path().join(name);
    std::fs::write(&source_path, source).unwrap();
    let path = directory.path().join("program");
    let output = Command::new(compiler)
        .current_dir(directory.path())
        .args(options)
        .arg("-o")
        .arg(&path)
        .arg(name)
        .output()
        .unwrap();
    let how = format!("{compiler} {}", options.join(" "));
    assert!(
        output.status.success(),
        "{how}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let file = SymbolFile::open(&path).unwrap();
    Some(Program {
        directory,
        path,
        file,
        how,
    })
}

/// The same C source by every compiler, debug format and layout here.
pub fn compile_everywhere(source: &str, level: &str) -> Vec<Program> {
    let mut programs = Vec::new();
    for compiler in ["gcc", "clang"] {
        for format in ["-gdwarf-4", "-gdwarf-5"] {
            for layout in [["-fPIE", "-pie"], ["-fno-pie", "-no-pie"]] {
                let mut options = vec![level, format];
                options.extend(layout);
                programs.extend(compile(compiler, "program.c", source, &options));
            }
        }
    }
    programs
}

/// The line, counted from 1, that holds the mark.
pub fn line_of(source: &str, mark: &str) -> u32 {
    let at = source.lines().position(|line| line.contains(mark));
    at.unwrap_or_else(|| panic!("no mark {mark}")) as u32 + 1
}
