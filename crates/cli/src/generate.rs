//! `juror generate`: writes man pages and shell completions, for packages. Both are
//! derived from the declared command line.

use crate::arguments::generate::{Files, Generate};
use crate::exit;
use anyhow::Context;
use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Writes the files. Returns the exit status.
pub fn run(generate: &Generate, command: Command) -> anyhow::Result<u8> {
    let (Files::Man { directory } | Files::Completions { directory, .. }) = &generate.files;
    let written = fs::create_dir_all(directory).and_then(|()| match &generate.files {
        Files::Man { .. } => write_man_pages(command, directory),
        Files::Completions { shell, .. } => write_completions(command, *shell, directory),
    });
    written.with_context(|| format!("cannot write to {}", directory.display()))?;
    Ok(exit::HOLDS)
}

fn write_completions(mut command: Command, shell: Shell, directory: &Path) -> io::Result<()> {
    clap_complete::generate_to(shell, &mut command, "juror", directory).map(|_| ())
}

/// Writes `juror.1`, and `juror-COMMAND.1` for each command that `--help` lists.
fn write_man_pages(command: Command, directory: &Path) -> io::Result<()> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let mut pending = vec![command];
    while let Some(command) = pending.pop() {
        let subcommands = command.get_subcommands().filter(|it| !it.is_hide_set());
        pending.extend(subcommands.cloned());
        let examples = command.get_before_help().map(ToString::to_string);
        let man = Man::new(command.clone());
        let mut file = fs::File::create(directory.join(man.get_filename()))?;
        man.render_title(&mut file)?;
        man.render_name_section(&mut file)?;
        man.render_synopsis_section(&mut file)?;
        man.render_description_section(&mut file)?;
        write_examples(&examples.unwrap_or_default(), &mut file)?;
        man.render_options_section(&mut file)?;
        if command.get_subcommands().next().is_some() {
            man.render_subcommands_section(&mut file)?;
        }
        if command.get_after_help().is_some() {
            man.render_extra_section(&mut file)?;
        }
        file.flush()?;
    }
    Ok(())
}

/// Writes the examples of `--help` with their line breaks.
fn write_examples(examples: &str, file: &mut fs::File) -> io::Result<()> {
    let mut lines = examples.lines().skip(1).peekable();
    if lines.peek().is_none() {
        return Ok(());
    }
    let mut page = Roff::new();
    page.control("SH", ["EXAMPLES"]).control("nf", []);
    for line in lines {
        page.text([roman(line)]);
    }
    page.control("fi", []);
    page.to_writer(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::CommandLine;
    use clap::{CommandFactory, ValueEnum};

    /// The commands that `--help` lists, with their subcommands: `property check`.
    fn commands() -> Vec<String> {
        let mut names = Vec::new();
        for command in CommandLine::command().get_subcommands() {
            if command.is_hide_set() {
                continue;
            }
            names.push(command.get_name().to_owned());
            for inner in command.get_subcommands() {
                names.push(format!("{} {}", command.get_name(), inner.get_name()));
            }
        }
        assert!(names.iter().any(|name| name == "run") && names.len() > 10);
        names
    }

    fn generate(files: Files) {
        run(&Generate { files }, CommandLine::command()).expect("the files are written");
    }

    #[test]
    fn each_command_has_a_man_page() {
        let place = tempfile::tempdir().expect("a directory");
        let directory = place.path().join("share/man/man1");
        generate(Files::Man {
            directory: directory.clone(),
        });
        let mut expected: Vec<String> = commands()
            .iter()
            .map(|name| format!("juror-{}.1", name.replace(' ', "-")))
            .collect();
        expected.push("juror.1".to_owned());
        expected.sort();
        let files = fs::read_dir(&directory).expect("the directory");
        let mut found: Vec<String> = files
            .map(|file| {
                file.expect("a file")
                    .file_name()
                    .into_string()
                    .expect("text")
            })
            .collect();
        found.sort();
        assert_eq!(found, expected);
        let page = |name: &str| fs::read_to_string(directory.join(name)).expect("a page");
        let whole = page("juror.1");
        for name in commands().iter().filter(|name| !name.contains(' ')) {
            assert!(
                whole.contains(&format!("juror\\-{name}(1)")),
                "{name}: {whole}"
            );
        }
        let of_run = page("juror-run.1");
        for expected in ["EXAMPLES\n.nf\n", "\\-\\-property", "PROGRAM"] {
            assert!(of_run.contains(expected), "{expected}: {of_run}");
        }
    }

    #[test]
    fn each_shell_completes_each_command() {
        for shell in Shell::value_variants() {
            let place = tempfile::tempdir().expect("a directory");
            generate(Files::Completions {
                shell: *shell,
                directory: place.path().to_owned(),
            });
            let mut files = fs::read_dir(place.path()).expect("the directory");
            let file = files.next().expect("a file").expect("a file").path();
            let script = fs::read_to_string(file).expect("a script");
            for name in commands() {
                let last = name.rsplit(' ').next().unwrap_or(&name);
                assert!(script.contains(last), "{shell}: {name}");
            }
            assert!(files.next().is_none(), "{shell}");
        }
    }
}
