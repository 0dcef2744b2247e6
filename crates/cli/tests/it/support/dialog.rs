//! Commands that are typed at the prompt, and what each of them prints.

use super::juror;
use std::path::Path;

/// Returns the output after each command, in order; `$1 = ` of values is left out.
pub fn dialog(executable: &Path, commands: &[&str]) -> Vec<String> {
    let input = commands.join("\n") + "\n";
    let path = executable.to_string_lossy();
    let output = juror(&["run", "--color=never", &path]).input(input).run();
    let mut answers: Vec<String> = Vec::new();
    for line in output.stdout.lines() {
        match line.strip_prefix("(juror) ") {
            Some(_) => answers.push(String::new()),
            None => {
                let shown = match line.split_once(" = ") {
                    Some((number, value)) if number.starts_with('$') => value,
                    _ => line,
                };
                if let Some(last) = answers.last_mut() {
                    last.push_str(shown);
                    last.push('\n');
                }
            }
        }
    }
    answers.iter().map(|it| it.trim_end().to_owned()).collect()
}

/// Checks what is printed for a command where `look` was called for the `stop`th time: rows
/// of the stop, the command and a part of the answer, or the whole with a leading `=`.
#[track_caller]
pub fn check_at_looks(executable: &Path, how: &str, rows: &[(usize, &str, &str)]) {
    let last = rows.iter().map(|row| row.0).max().unwrap_or(0);
    let mut commands = vec!["break look"];
    let mut asked: Vec<(usize, usize)> = Vec::new();
    for stop in 1..=last {
        commands.push(if stop == 1 { "run" } else { "continue" });
        commands.push("up");
        for (number, row) in rows.iter().enumerate().filter(|(_, row)| row.0 == stop) {
            asked.push((number, commands.len()));
            commands.push(row.1);
        }
    }
    commands.push("kill");
    let answers = dialog(executable, &commands);
    for (number, at) in asked {
        let (stop, command, expected) = rows[number];
        let answer = answers.get(at).map_or("nothing", String::as_str);
        let is_right = match expected.strip_prefix('=') {
            Some(whole) => answer == whole,
            None => answer.contains(expected),
        };
        assert!(
            is_right,
            "{how}, stop {stop}: {command}: {answer}; expected {expected}"
        );
    }
}
