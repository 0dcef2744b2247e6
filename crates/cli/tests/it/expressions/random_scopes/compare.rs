//! Compiling a program, running it, and asking for the same names.

use crate::support::dialog::dialog;
use crate::support::progress::note;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A way to compile programs.
pub struct Way {
    pub command: &'static str,
    pub options: &'static [&'static str],
}

/// What was compared, by kind.
#[derive(Default)]
pub struct Counts {
    pub scopes: usize,
    names: usize,
    /// By way and kind of answer.
    answers: BTreeMap<(String, &'static str), usize>,
    /// The wrong ones.
    pub wrong: Vec<String>,
}

/// One marked call: its line, and the names with their values.
struct Mark {
    line: String,
    names: Vec<(String, String)>,
}

/// The most rejected lines that are taken out of a program.
const REPAIRS_MAX: usize = 12;

impl Way {
    pub const fn new(command: &'static str, options: &'static [&'static str]) -> Way {
        Way { command, options }
    }

    pub fn is_optimized(&self) -> bool {
        !self.options.iter().any(|it| it.ends_with('0'))
    }

    /// Compiles a program without the lines that the compiler rejects; `None` if the compiler is
    /// not installed or rejects more.
    pub fn compile(&self, directory: &Path, mut source: String) -> Option<PathBuf> {
        let ending = match self.command {
            "rustc" => "rs",
            "g++" | "clang++" => "cpp",
            _ => "c",
        };
        let name = format!("scopes.{ending}");
        for _ in 0..REPAIRS_MAX {
            std::fs::write(directory.join(&name), &source).unwrap();
            let output = Command::new(self.command)
                .args(["-g", "-o", "scopes", &name])
                .args(self.options)
                .args(if ending == "rs" {
                    &["--edition=2024"][..]
                } else {
                    &["-w", "-fmax-errors=0"]
                })
                .current_dir(directory)
                .output();
            let Ok(output) = output else {
                eprintln!("{} is not installed: its scopes are left out", self.command);
                return None;
            };
            if output.status.success() {
                return Some(directory.join("scopes"));
            }
            let messages = String::from_utf8_lossy(&output.stderr).into_owned();
            let mut lines: Vec<String> = source.lines().map(str::to_owned).collect();
            let mut is_changed = false;
            for number in rejected(&messages, &name) {
                let Some(line) = lines.get_mut(number.saturating_sub(1)) else {
                    continue;
                };
                let trimmed = line.trim();
                let is_print = trimmed.starts_with("P(") || trimmed.starts_with("p!(");
                let is_declared_elsewhere =
                    trimmed.contains("using ") || trimmed.starts_with("extern ");
                if is_print || is_declared_elsewhere {
                    // The block stays.
                    *line = trimmed.chars().take_while(|it| *it == '{').collect();
                    is_changed = true;
                }
            }
            if !is_changed {
                eprintln!("{} rejects a program: {messages}", self.command);
                return None;
            }
            source = lines.join("\n") + "\n";
        }
        None
    }
}

/// Returns the lines that errors are about.
fn rejected(messages: &str, name: &str) -> Vec<usize> {
    let about = messages.lines().filter_map(|line| {
        let at = line.find(&format!("{name}:"))?;
        let rest = &line[at + name.len() + 1..];
        let is_error = rest.contains("error") || line.trim_start().starts_with("-->");
        is_error.then(|| rest.split(':').next()?.parse().ok())?
    });
    about.collect()
}

/// Compares all names of a program. Returns whether none was wrong.
pub fn run(way: &Way, executable: &Path, seed: u64, counts: &mut Counts) -> bool {
    let output = Command::new(executable).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let marks = marks(&told);
    let mut commands: Vec<String> = vec!["break look".into()];
    let mut asked: Vec<(usize, usize, usize)> = Vec::new();
    for (at, mark) in marks.iter().enumerate() {
        commands.push(if at == 0 { "run" } else { "continue" }.into());
        commands.push("up".into());
        for (number, (name, _)) in mark.names.iter().enumerate() {
            asked.push((at, number, commands.len()));
            commands.push(format!("print {name} + 0"));
        }
    }
    commands.push("kill".into());
    let written: Vec<&str> = commands.iter().map(String::as_str).collect();
    let answers = dialog(executable, &written);
    counts.scopes += marks.len();
    let mut suspects = Vec::new();
    for (at, number, command) in asked {
        let (name, expected) = &marks[at].names[number];
        let answer = answers.get(command).map_or("nothing", String::as_str);
        counts.names += 1;
        let kind = kind_of(answer, expected);
        *counts.answers.entry((way.to_string(), kind)).or_default() += 1;
        if kind == "wrong" || kind == "refused" && !way.is_optimized() {
            suspects.push((at, name.clone(), expected.clone(), answer.to_owned(), kind));
        }
    }
    let mut is_right = true;
    for (at, name, expected, answer, kind) in suspects {
        let line = &marks[at].line;
        let is_doubtful = kind == "wrong" && way.is_optimized();
        let of_gdb = match is_doubtful {
            true => by_gdb(executable, at, &name),
            false => "not asked".to_owned(),
        };
        let is_described_so = is_doubtful && of_gdb == answer;
        let what = format!(
            "{way}, seed {seed}, line {line}: {name}: {answer}; expected {expected}; gdb: {of_gdb}"
        );
        if is_described_so {
            *counts
                .answers
                .entry((way.to_string(), "described so"))
                .or_default() += 1;
        } else if kind == "wrong" {
            is_right = false;
            note("JUROR_SCOPES_LOG", &format!("WRONG {what}"));
            counts.wrong.push(what);
        } else {
            is_right = false;
            eprintln!("refused {what}");
        }
    }
    is_right
}

fn kind_of(answer: &str, expected: &str) -> &'static str {
    let is_number = answer.parse::<i128>().is_ok();
    match answer {
        _ if answer == expected => "right",
        _ if is_number => "wrong",
        _ if answer.contains("optimized out") => "optimized out",
        _ if answer.contains("ambiguous") => "ambiguous",
        _ => "refused",
    }
}

/// Returns what gdb prints for a name at a stop.
fn by_gdb(executable: &Path, at: usize, name: &str) -> String {
    let output = Command::new("gdb")
        .args(["-q", "-nx", "-batch", "-ex", "break look", "-ex", "run"])
        .args(["-ex", &format!("ignore 1 {}", at.saturating_sub(1))])
        .args(if at > 0 {
            &["-ex", "continue"][..]
        } else {
            &[]
        })
        .args(["-ex", "up", "-ex", &format!("print {name} + 0")])
        .arg(executable)
        .output();
    let Ok(output) = output else {
        return "not installed".into();
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let shown = text.lines().find_map(|line| line.strip_prefix("$1 = "));
    shown.map_or_else(
        || {
            String::from_utf8_lossy(&output.stderr)
                .lines()
                .last()
                .unwrap_or("nothing")
                .to_owned()
        },
        str::to_owned,
    )
}

fn marks(told: &str) -> Vec<Mark> {
    let mut found = Vec::new();
    let mut names = Vec::new();
    for line in told.lines() {
        match line.split_once(' ') {
            Some(("look", at)) => found.push(Mark {
                line: at.to_owned(),
                names: std::mem::take(&mut names),
            }),
            Some((name, value)) if !name.is_empty() => {
                let (name, value) = line.rsplit_once(' ').unwrap_or((name, value));
                names.push((name.to_owned(), value.to_owned()));
            }
            _ => {}
        }
    }
    found
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.command, self.options.join(" "))
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} scopes, {} names, {} wrong",
            self.scopes,
            self.names,
            self.wrong.len()
        )?;
        for ((way, kind), count) in &self.answers {
            writeln!(f, "  {way}: {kind} {count}")?;
        }
        Ok(())
    }
}
