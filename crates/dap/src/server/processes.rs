//! Finds the process to attach to.

use crate::protocol::arguments::Start;
use crate::protocol::message::Failure;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Returns the process to attach to.
pub(super) fn process_of(start: &Start) -> Result<u32, Failure> {
    let number = start.pid.as_ref().or(start.process_id.as_ref());
    let parsed = |value: &Value| match value {
        Value::String(text) => text.trim().parse().ok(),
        value => value.as_u64().and_then(|number| u32::try_from(number).ok()),
    };
    if let Some(given) = number.filter(|given| !given.is_null()) {
        let wrong = || Failure::shown(format!("{given} is not the number of a process"));
        return parsed(given).ok_or_else(wrong);
    }
    let name = start.name_of_process.as_ref().or(start.program.as_ref());
    let name = name.ok_or_else(|| Failure::shown("attach needs a pid or the name of a program"))?;
    let found = processes_named(name);
    match found.as_slice() {
        [one] => Ok(*one),
        [] => Err(Failure::shown(format!("no process is called {name}"))),
        several => {
            let all: Vec<String> = several
                .iter()
                .map(|process| command_line(*process))
                .collect();
            Err(Failure::shown(format!(
                "several processes are called {name}: {}",
                all.join("; ")
            )))
        }
    }
}

/// Returns the processes of a name, or of the path of a program.
fn processes_named(name: &str) -> Vec<u32> {
    let own = std::process::id();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_meant = |process: &u32| {
        let directory = PathBuf::from(format!("/proc/{process}"));
        let program = std::fs::read_link(directory.join("exe")).unwrap_or_default();
        let called = std::fs::read_to_string(directory.join("comm")).unwrap_or_default();
        let file = program.file_name().and_then(|file| file.to_str());
        if name.contains('/') {
            Path::new(name).canonicalize().is_ok_and(|it| it == program)
        } else {
            file == Some(name) || called.trim_end() == name
        }
    };
    let mut found: Vec<u32> = numbers.filter(|it| *it != own).filter(is_meant).collect();
    found.sort_unstable();
    found
}

fn command_line(process: u32) -> String {
    let bytes = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let words: Vec<_> = bytes
        .split(|byte| *byte == 0)
        .filter(|word| !word.is_empty())
        .map(String::from_utf8_lossy)
        .collect();
    format!("{process} ({})", words.join(" "))
}
