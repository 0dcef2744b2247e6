//! Batch runs of juror over a program and a property, and their JSON lines.
//!
//! Each test file uses a part of it.

pub mod at_terminal;
pub mod attached;
pub mod dialog;
pub mod printed;
pub mod progress;
pub mod tiers;
pub mod transcripts;

use juror_testing::{Fixture, Juror, Output, repository_directory};
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// How long a run may take before it is killed. The slowest takes seconds.
const DEADLINE: Duration = Duration::from_secs(240);

/// The debugger under test, with these arguments.
pub fn juror(arguments: &[&str]) -> Juror {
    Juror::new(env!("CARGO_BIN_EXE_juror"))
        .args(arguments)
        .deadline(DEADLINE)
}

/// A program of `tests/programs`, by the name of its file.
pub fn program(file: &str) -> Fixture {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/programs")
        .join(file);
    let source = fs::read_to_string(&path).expect("the program is there");
    let name = path.file_stem().expect("it has a name").to_string_lossy();
    Fixture::files(&name, &[(file, &source)])
}

/// A property file of the repository.
pub fn property_file(path: &str) -> PathBuf {
    repository_directory().join(path)
}

/// A property that stays in one accepting state, in which each of these events
/// is taken: the run's JSON tells all their values.
pub fn property_of(events: &str) -> String {
    let names = events.lines().filter_map(|line| {
        let rest = line.trim().strip_prefix("event ")?;
        rest.split([' ', '=']).next()
    });
    let transitions: Vec<String> = names.map(|name| format!("on {name}")).collect();
    format!(
        "property watched\n{events}\nstate init accepting {{ {} }}\n",
        transitions.join(" ")
    )
}

/// A batch run that is being prepared.
pub struct Batch {
    directory: TempDir,
    options: Vec<OsString>,
    properties: usize,
    working_directory: Option<PathBuf>,
    input: Vec<u8>,
}

impl Batch {
    /// A run without properties.
    pub fn new() -> Batch {
        Batch {
            directory: TempDir::with_prefix("juror-batch-").expect("a directory"),
            options: Vec::new(),
            properties: 0,
            working_directory: None,
            input: Vec::new(),
        }
    }

    /// A run with a property of these words, in a file called `1.prop`.
    pub fn watching(property: &str) -> Batch {
        Batch::new().property(property)
    }

    /// A run with a property file.
    pub fn watching_file(path: impl AsRef<OsStr>) -> Batch {
        Batch::new().option("--property").option(path)
    }

    /// Adds a property of these words; the second one is in `2.prop`.
    pub fn property(mut self, property: &str) -> Batch {
        self.properties += 1;
        let file = self
            .directory
            .path()
            .join(format!("{}.prop", self.properties));
        fs::write(&file, property).expect("a file");
        self.option("--property").option(file)
    }

    /// Adds a word to juror's own arguments.
    pub fn option(mut self, option: impl AsRef<OsStr>) -> Batch {
        self.options.push(option.as_ref().to_owned());
        self
    }

    /// Executes a command first; `run` must be among them then.
    pub fn command(self, line: &str) -> Batch {
        self.option("-e").option(line)
    }

    /// Runs in this directory.
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Batch {
        self.working_directory = Some(directory.into());
        self
    }

    /// Gives this on standard input.
    pub fn input(mut self, input: impl Into<Vec<u8>>) -> Batch {
        self.input = input.into();
        self
    }

    /// Runs the program to its end.
    #[track_caller]
    pub fn run(self, program: impl AsRef<OsStr>, arguments: &[&str]) -> Report {
        if std::env::var_os("JUROR_BOTH_TIERS").is_some() {
            self.run_in_both_tiers(program.as_ref(), arguments);
        }
        let json = self.directory.path().join("report.json");
        let mut option = OsString::from("--json=");
        option.push(&json);
        let mut juror = juror(&["run", "--batch", "--color=never"])
            .args([option])
            .args(&self.options)
            .args([program.as_ref()])
            .args(arguments)
            .input(self.input);
        if let Some(directory) = &self.working_directory {
            juror = juror.directory(directory);
        }
        let output = juror.run();
        let text = fs::read_to_string(&json).unwrap_or_default();
        let lines = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("a line of JSON"))
            .collect();
        Report { output, lines }
    }
}

impl Batch {
    /// With `JUROR_BOTH_TIERS` in the environment, every batch run is made in both tiers,
    /// too, and a difference is written to the file of that name. Programs that print what
    /// differs from run to run are among them.
    fn run_in_both_tiers(&self, program: &OsStr, arguments: &[&str]) {
        use std::io::Write;
        let mut tiers = tiers::Tiers::new()
            .options(&self.options)
            .input(self.input.clone());
        if let Some(directory) = &self.working_directory {
            tiers = tiers.directory(directory);
        }
        let told = match tiers.compare(program, arguments) {
            Ok(told) => format!("same: {} events, {} stops", told.occurrences, told.stops),
            Err(difference) => format!("different: {difference}"),
        };
        let path = std::env::var_os("JUROR_BOTH_TIERS").unwrap_or_default();
        let file = fs::OpenOptions::new().append(true).create(true).open(path);
        let name = std::thread::current().name().unwrap_or("").to_owned();
        writeln!(file.expect("a file"), "=== {name}: {told}").expect("it is written");
    }
}

/// What a batch run left.
pub struct Report {
    /// Its output and exit status.
    pub output: Output,
    /// The lines of JSON.
    pub lines: Vec<Value>,
}

/// What the summary says of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// How often it happened.
    pub occurrences: u64,
    /// How often the program was stopped for it.
    pub stops: u64,
}

impl Report {
    /// The lines of a kind.
    pub fn kind(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.lines.iter().filter(move |line| line["kind"] == kind)
    }

    /// Everything, for messages.
    pub fn all(&self) -> String {
        format!(
            "{}\n--- standard output\n{}\n--- standard error\n{}",
            self.output.status, self.output.stdout, self.output.stderr
        )
    }

    /// Checks the exit status.
    #[track_caller]
    pub fn assert_code(&self, code: i32) -> &Report {
        self.output.assert_code(code);
        self
    }

    /// The only stop.
    #[track_caller]
    pub fn stop(&self) -> &Value {
        let mut stops = self.kind("stop");
        let stop = stops.next();
        assert!(stops.next().is_none(), "several stops: {}", self.all());
        stop.unwrap_or_else(|| panic!("no stop: {}", self.all()))
    }

    /// The end.
    #[track_caller]
    pub fn end(&self) -> &Value {
        self.kind("end")
            .last()
            .unwrap_or_else(|| panic!("no end: {}", self.all()))
    }

    /// The result of a command, by its line.
    #[track_caller]
    pub fn outcome(&self, command: &str) -> &Value {
        let found = self
            .kind("outcome")
            .find(|outcome| outcome["command"] == command);
        &found.unwrap_or_else(|| panic!("no `{command}`: {}", self.all()))["value"]
    }

    /// The summary of a property.
    #[track_caller]
    pub fn summary(&self, property: &str) -> &Value {
        let summaries = self.end()["summaries"].as_array().expect("a list");
        let found = summaries
            .iter()
            .find(|summary| summary["property"] == property);
        found.unwrap_or_else(|| panic!("no summary of {property}: {}", self.all()))
    }

    /// How often an event happened, in the first property that has it.
    #[track_caller]
    pub fn counts(&self, event: &str) -> Counts {
        let summaries = self.end()["summaries"].as_array().expect("a list");
        let mut events = summaries
            .iter()
            .flat_map(|summary| summary["events"].as_array().expect("a list"));
        let found = events
            .find(|summary| summary["event"] == event)
            .unwrap_or_else(|| panic!("no event {event}: {}", self.all()));
        Counts {
            occurrences: found["occurrences"].as_u64().expect("a number"),
            stops: found["stops"].as_u64().expect("a number"),
        }
    }

    /// How often an event happened.
    #[track_caller]
    pub fn occurrences(&self, event: &str) -> u64 {
        self.counts(event).occurrences
    }

    /// The remarks on a property.
    #[track_caller]
    pub fn remarks(&self, property: &str) -> Vec<&str> {
        let remarks = self.summary(property)["remarks"].as_array();
        let remarks = remarks.expect("a list").iter();
        remarks
            .map(|remark| remark.as_str().expect("text"))
            .collect()
    }

    /// The state changes that an event brought.
    pub fn changes(&self, event: &str) -> Vec<&Value> {
        self.kind("state_change")
            .filter(|change| change["event"] == event)
            .collect()
    }

    /// A value that an event carried, each time that it happened.
    #[track_caller]
    pub fn values(&self, event: &str, name: &str) -> Vec<Value> {
        self.changes(event)
            .into_iter()
            .map(|change| named(&change["values"], name))
            .collect()
    }

    /// A number that the program prints after a word: `entered 15`.
    #[track_caller]
    pub fn printed(&self, word: &str) -> u64 {
        let mut words = self.output.stdout.split_whitespace();
        words.find(|&found| found == word);
        let number = words.next().and_then(|number| number.parse().ok());
        number.unwrap_or_else(|| panic!("no number after `{word}`: {}", self.all()))
    }
}

/// The value of this name in a list of named values.
#[track_caller]
pub fn named(values: &Value, name: &str) -> Value {
    let list = values.as_array().expect("a list of named values");
    let found = list.iter().find(|value| value["name"] == name);
    found.unwrap_or_else(|| panic!("no `{name}` in {values}"))["value"].clone()
}

/// The name of a file without its directories.
pub fn base_name(path: &Value) -> &str {
    let path = path.as_str().unwrap_or_default();
    path.rsplit('/').next().unwrap_or_default()
}
