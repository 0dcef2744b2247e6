//! How a fixture is compiled.

use crate::{Compiler, Language};
use std::fmt;

/// The optimization level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Optimization {
    /// No optimization (`-O0`).
    None,
    /// Optimization that does not impede debugging (`-Og`; for Rust `opt-level=1`).
    Light,
    /// Optimization as for releases (`-O2`).
    Full,
}

/// The way a fixture is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Build {
    /// The compiler.
    pub compiler: Compiler,
    /// The optimization level.
    pub optimization: Optimization,
    /// Whether the executable is position-independent or has fixed addresses.
    pub pie: bool,
    /// Whether it has debug information (DWARF, in the compiler's default version).
    pub debug: bool,
}

impl Build {
    /// Returns the usual build during development: not optimized, position-independent,
    /// with debug information, by the first compiler for the language.
    pub fn plain(language: Language) -> Build {
        let compilers = Compiler::of(language);
        let compiler = compilers.iter().find(|compiler| compiler.is_present());
        Build {
            compiler: *compiler.unwrap_or(&compilers[0]),
            optimization: Optimization::None,
            pie: true,
            debug: true,
        }
    }

    /// Returns all builds of C with the machine's compilers: each compiler, optimized and
    /// not, position-independent and not, with debug information.
    pub fn all() -> Vec<Build> {
        Build::all_of(Language::C)
    }

    /// Returns all builds, as [`Build::all`], for any language.
    pub fn all_of(language: Language) -> Vec<Build> {
        let mut builds = Vec::new();
        for &compiler in Compiler::of(language) {
            if !compiler.is_present() {
                continue;
            }
            for optimization in [Optimization::None, Optimization::Full] {
                for pie in [true, false] {
                    builds.push(Build {
                        compiler,
                        optimization,
                        pie,
                        debug: true,
                    });
                }
            }
        }
        builds
    }

    /// Returns one build with light optimization per compiler of a language, as for
    /// programs to be debugged.
    pub fn light_of(language: Language) -> Vec<Build> {
        let present = Compiler::of(language).iter();
        let present = present.filter(|compiler| compiler.is_present());
        let light = |&compiler: &Compiler| Build {
            compiler,
            optimization: Optimization::Light,
            pie: true,
            debug: true,
        };
        present.map(light).collect()
    }

    /// Returns the compiler's arguments for this build.
    pub(crate) fn arguments(&self) -> Vec<&'static str> {
        match self.compiler.language() {
            Language::C | Language::Cpp => self.c_arguments(),
            Language::Rust => self.rust_arguments(),
        }
    }

    fn c_arguments(&self) -> Vec<&'static str> {
        let mut arguments = vec![match self.compiler.language() {
            Language::Cpp => "-std=gnu++17",
            _ => "-std=gnu11",
        }];
        arguments.push(match self.optimization {
            Optimization::None => "-O0",
            Optimization::Light => "-Og",
            Optimization::Full => "-O2",
        });
        arguments.extend(if self.pie {
            ["-fPIE", "-pie"]
        } else {
            ["-fno-pie", "-no-pie"]
        });
        arguments.push(if self.debug { "-g" } else { "-g0" });
        arguments.extend(["-Wall", "-Wextra", "-pthread"]);
        arguments
    }

    fn rust_arguments(&self) -> Vec<&'static str> {
        vec![
            "--edition=2024",
            match self.optimization {
                Optimization::None => "-Copt-level=0",
                Optimization::Light => "-Copt-level=1",
                Optimization::Full => "-Copt-level=2",
            },
            match self.pie {
                true => "-Crelocation-model=pie",
                false => "-Crelocation-model=static",
            },
            match self.debug {
                true => "-Cdebuginfo=2",
                false => "-Cdebuginfo=0",
            },
        ]
    }
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let optimization = match self.optimization {
            Optimization::None => "O0",
            Optimization::Light => "Og",
            Optimization::Full => "O2",
        };
        let position = if self.pie { "pie" } else { "nopie" };
        let debug = if self.debug { "debug" } else { "nodebug" };
        write!(f, "{}-{optimization}-{position}-{debug}", self.compiler)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn all_builds_differ_in_name_and_arguments() {
        for language in [Language::C, Language::Cpp, Language::Rust] {
            let mut builds = Build::all_of(language);
            builds.extend(Build::light_of(language));
            let names: HashSet<String> = builds.iter().map(Build::to_string).collect();
            let commands: HashSet<_> = builds
                .iter()
                .map(|build| (build.compiler, build.arguments()))
                .collect();
            assert_eq!(names.len(), builds.len());
            assert_eq!(commands.len(), builds.len());
        }
    }
}
