//! The compilers that the machine may have.

use std::collections::HashMap;
use std::fmt;
use std::process::Command;
use std::sync::{LazyLock, Mutex};

/// The language of a fixture, from the names of its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// C11 with the extensions of GNU and POSIX.
    C,
    /// C++17 with the extensions of GNU and POSIX.
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
    /// Those that compile this language, in the order of preference.
    pub fn of(language: Language) -> &'static [Compiler] {
        match language {
            Language::C => &[Compiler::Gcc, Compiler::Clang],
            Language::Cpp => &[Compiler::Gpp, Compiler::Clangpp],
            Language::Rust => &[Compiler::Rustc],
        }
    }

    /// The language that it compiles.
    pub fn language(self) -> Language {
        match self {
            Compiler::Gcc | Compiler::Clang => Language::C,
            Compiler::Gpp | Compiler::Clangpp => Language::Cpp,
            Compiler::Rustc => Language::Rust,
        }
    }

    /// The command that runs it.
    pub fn command(self) -> &'static str {
        match self {
            Compiler::Gcc => "gcc",
            Compiler::Gpp => "g++",
            Compiler::Clang => "clang",
            Compiler::Clangpp => "clang++",
            Compiler::Rustc => "rustc",
        }
    }

    /// What it says of its version, or `None` when the machine has no such
    /// compiler. The first time that one is found missing, a line on standard
    /// error says so.
    pub fn version(self) -> Option<String> {
        static VERSIONS: LazyLock<Mutex<HashMap<Compiler, Option<String>>>> =
            LazyLock::new(Mutex::default);
        let mut versions = match VERSIONS.lock() {
            Ok(versions) => versions,
            Err(poisoned) => poisoned.into_inner(),
        };
        versions.entry(self).or_insert_with(|| probe(self)).clone()
    }

    /// Whether the machine has it; see [`Compiler::version`].
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
            eprintln!(
                "juror-testing: there is no `{compiler}` here; what it would compile is left out"
            );
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
