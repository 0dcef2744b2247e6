//! The supported compilers.

use std::collections::HashMap;
use std::fmt;
use std::process::Command;
use std::sync::{LazyLock, Mutex};

/// The language of a fixture, determined by its file names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// C11 with GNU and POSIX extensions.
    C,
    /// C++17 with GNU and POSIX extensions.
    Cpp,
    /// Rust, edition 2024; one crate without dependencies.
    Rust,
}

/// A compiler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compiler {
    /// GNU C.
    Gcc,
    /// GNU C++.
    Gpp,
    /// Clang for C.
    Clang,
    /// Clang for C++.
    Clangpp,
    /// Rust.
    Rustc,
}

impl Compiler {
    /// Returns the compilers for a language, in order of preference.
    pub fn of(language: Language) -> &'static [Compiler] {
        match language {
            Language::C => &[Compiler::Gcc, Compiler::Clang],
            Language::Cpp => &[Compiler::Gpp, Compiler::Clangpp],
            Language::Rust => &[Compiler::Rustc],
        }
    }

    /// Returns the language of the compiler.
    pub fn language(self) -> Language {
        match self {
            Compiler::Gcc | Compiler::Clang => Language::C,
            Compiler::Gpp | Compiler::Clangpp => Language::Cpp,
            Compiler::Rustc => Language::Rust,
        }
    }

    /// Returns the command of the compiler.
    pub fn command(self) -> &'static str {
        match self {
            Compiler::Gcc => "gcc",
            Compiler::Gpp => "g++",
            Compiler::Clang => "clang",
            Compiler::Clangpp => "clang++",
            Compiler::Rustc => "rustc",
        }
    }

    /// Returns the compiler's version line, or `None` if it is not installed. Prints a line
    /// on standard error the first time a compiler is found missing.
    pub fn version(self) -> Option<String> {
        static VERSIONS: LazyLock<Mutex<HashMap<Compiler, Option<String>>>> =
            LazyLock::new(Mutex::default);
        let mut versions = match VERSIONS.lock() {
            Ok(versions) => versions,
            Err(poisoned) => poisoned.into_inner(),
        };
        versions.entry(self).or_insert_with(|| probe(self)).clone()
    }

    /// Returns whether it is installed; see [`Compiler::version`].
    pub fn is_present(self) -> bool {
        self.version().is_some()
    }
}

fn probe(compiler: Compiler) -> Option<String> {
    let output = Command::new(compiler.command()).arg("--version").output();
    match output {
        Ok(output) if output.status.success() => {
            Some(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        _ => {
            eprintln!("juror-testing: `{compiler}` is not installed; its builds are skipped");
            None
        }
    }
}

impl fmt::Display for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.command())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_compiler_is_listed_under_its_language() {
        for language in [Language::C, Language::Cpp, Language::Rust] {
            for compiler in Compiler::of(language) {
                assert_eq!(compiler.language(), language);
            }
        }
    }

    #[test]
    fn the_compiler_of_this_crate_is_present() {
        assert!(Compiler::Rustc.is_present());
    }
}
