//! `juror demo`: compiles an example with a bug, and stops it at the bug.
//!
//! The example is kept, so that the user can continue with it.

use crate::arguments::{Color, Demo};
use crate::driver::{Options, PropertySource};
use crate::output::Output;
use crate::session::time_limit::TimeLimit;
use crate::session::{batch, console};
use crate::{directories, exit};
use anyhow::{Context as _, anyhow, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files of the example.
const FILES: [(&str, &str); 4] = [
    ("queue.h", include_str!("../../../examples/queue/queue.h")),
    ("queue.c", include_str!("../../../examples/queue/queue.c")),
    ("main.c", include_str!("../../../examples/queue/main.c")),
    (PROPERTY, include_str!("../../../examples/queue/queue.prop")),
];
const PROPERTY: &str = "queue.prop";
const PROGRAM: &str = "queue";
const COMPILE: [&str; 6] = ["-g", "-O0", "-o", PROGRAM, "queue.c", "main.c"];

/// The compilers that are tried if `CC` is not set.
const COMPILERS: [&str; 3] = ["cc", "gcc", "clang"];

/// Runs `juror demo`. Returns the exit status: 0 if the bug was found.
pub fn run(demo: &Demo) -> anyhow::Result<u8> {
    let directory = directory(demo);
    let mut output = Output::open(demo.messages.color, None, false)?;
    write_files(&directory)?;
    output.say(&introduction(&directory))?;
    let compiler = compile(&directory)?;
    let shown = display(&directory);
    output.say(&format!(
        "$ cd {shown} && {compiler} {}\n$ {}\n\n",
        COMPILE.join(" "),
        command_line(&directory, "--batch ")
    ))?;
    let status = watch(&directory, output)?;
    conclude(&directory, demo.messages.color, status)
}

/// Returns the directory of the example: in the build directory of the working
/// directory, or else in the cache of the user.
fn directory(demo: &Demo) -> PathBuf {
    if let Some(directory) = &demo.directory {
        return directory.clone();
    }
    if Path::new("Cargo.toml").is_file() && Path::new("target").is_dir() {
        return PathBuf::from("target/juror-demo");
    }
    match directories::cache() {
        Some(cache) => cache.join("demo"),
        None => std::env::temp_dir().join("juror-demo"),
    }
}

fn write_files(directory: &Path) -> anyhow::Result<()> {
    let refused = || {
        format!(
            "the example cannot be written to {}; choose another directory with --directory",
            directory.display()
        )
    };
    std::fs::create_dir_all(directory).with_context(refused)?;
    for (name, text) in FILES {
        std::fs::write(directory.join(name), text).with_context(refused)?;
    }
    Ok(())
}

/// Compiles the example. Returns the name of the compiler.
fn compile(directory: &Path) -> anyhow::Result<String> {
    let chosen = std::env::var("CC").ok().filter(|name| !name.is_empty());
    let candidates: Vec<&str> = match &chosen {
        Some(name) => vec![name],
        None => COMPILERS.to_vec(),
    };
    for compiler in &candidates {
        let result = Command::new(compiler)
            .args(COMPILE)
            .current_dir(directory)
            .output();
        match result {
            Ok(result) if result.status.success() => return Ok((*compiler).to_owned()),
            Ok(result) => bail!(
                "{compiler} could not compile the example in {}:\n{}",
                directory.display(),
                String::from_utf8_lossy(&result.stderr)
            ),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| format!("{compiler} cannot be run")),
        }
    }
    Err(anyhow!(
        "the demo needs a C compiler, and {} was not found\n\
         help: install one (`apt install gcc`), or set CC: CC=/path/to/cc juror demo",
        candidates.join(" or ")
    ))
}

/// Runs the example under its property, as `juror run --batch` does.
fn watch(directory: &Path, output: Output) -> anyhow::Result<u8> {
    let property = directory.join(PROPERTY);
    let options = Options {
        program: directory.join(PROGRAM),
        properties: vec![PropertySource::read(&property).map_err(anyhow::Error::msg)?],
        batch: true,
        ..Options::default()
    };
    Ok(match console::open(options, output)? {
        Ok(mut console) => batch::run(&mut console, &[], false, &TimeLimit::default())?,
        Err(status) => status,
    })
}

fn introduction(directory: &Path) -> String {
    format!(
        "A program with a bug and a property that detects it are in {}:\n\
         queue.c and main.c keep letters and digits in a queue; queue.prop requires that a\n\
         queue never holds more elements than it has room for.\n\n",
        display(directory)
    )
}

/// Shows what to do next, or what is wrong.
fn conclude(directory: &Path, color: Color, status: u8) -> anyhow::Result<u8> {
    let mut output = Output::open(color, None, false)?;
    match status {
        exit::VIOLATED => {
            output.say(&format!(
                "\njuror stopped the program before it wrote one letter too many. To debug it \
                 yourself, run\n\n  {}\n\nand type at the prompt: backtrace, up, print *queue, monitor, \
                 list, continue, help.\n",
                command_line(directory, "")
            ))?;
            Ok(exit::HOLDS)
        }
        exit::HOLDS => {
            output.show_error(
                "the bug of the demo was not found: the property holds, but should be violated",
            )?;
            Ok(exit::USAGE)
        }
        status => Ok(status),
    }
}

/// Returns the command line that runs the example from the working directory.
fn command_line(directory: &Path, options: &str) -> String {
    let juror = std::env::current_exe().unwrap_or_else(|_| "juror".into());
    let on_path = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|entry| entry.join("juror") == juror));
    let juror = if on_path {
        "juror".to_owned()
    } else {
        display(&juror)
    };
    let property = display(&directory.join(PROPERTY));
    let program = display(&directory.join(PROGRAM));
    format!("{juror} run {options}--property {property} {program}")
}

/// Returns the path quoted for a shell, and relative to the working directory if it is
/// below it.
fn display(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let path = path.strip_prefix(&here).unwrap_or(path);
    let text = path.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    let text = if text.chars().all(plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    };
    juror_text::escape::safe(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_compiles_if_there_is_a_compiler() {
        let directory = tempfile::tempdir().expect("a directory");
        write_files(directory.path()).expect("files");
        let found = COMPILERS
            .iter()
            .any(|name| Command::new(name).arg("--version").output().is_ok());
        match compile(directory.path()) {
            Ok(_) => assert!(directory.path().join(PROGRAM).is_file()),
            Err(error) => assert!(!found, "{error:#}"),
        }
    }

    #[test]
    fn paths_are_quoted_for_a_shell() {
        for (path, expected) in [
            ("target/juror-demo/queue", "target/juror-demo/queue"),
            ("/tmp/my files/it's", "'/tmp/my files/it'\\''s'"),
        ] {
            assert_eq!(display(Path::new(path)), expected);
        }
        let here = std::env::current_dir().expect("a directory");
        assert_eq!(display(&here.join("a/b")), "a/b");
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_reported() {
        let error = write_files(Path::new("/proc/no/such")).expect_err("no place");
        assert!(error.to_string().contains("--directory"), "{error}");
    }
}
