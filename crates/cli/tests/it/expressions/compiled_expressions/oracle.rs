//! The program's own values of expressions, those of juror in three ways, and those of gdb.

use super::generated::{Form, Forms};
use crate::support::juror;
use juror_testing::{Build, Compiler, Fixture};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How many values one event reads.
const CAPTURES_MAX: usize = 50;

/// A value that the program computes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Known {
    /// A whole number.
    Whole(i128),
    /// A `float`.
    Short(f32),
    /// A `double`.
    Double(f64),
    /// A `long double`, rounded to `double`.
    Wide(f64),
}

impl Known {
    fn parse(kind: &str, text: &str) -> Option<Known> {
        Some(match kind {
            "i" | "u" => Known::Whole(text.parse().ok()?),
            "e" => Known::Short(text.parse().ok()?),
            "f" => Known::Double(text.parse().ok()?),
            "g" => Known::Wide(text.parse().ok()?),
            _ => return None,
        })
    }

    /// Returns whether a text shows the value, as debuggers show it.
    pub(super) fn is_shown(&self, text: &str) -> bool {
        let word = text.split_whitespace().next().unwrap_or("");
        let word = match word {
            "true" => "1",
            "false" | "RED" => "0",
            "GREEN" => "5",
            "BLUE" => "-2",
            word => word,
        };
        let is_same = |shown: f64, known: f64| shown == known || shown.is_nan() && known.is_nan();
        let nan = |word: &str| word.to_lowercase().contains("nan");
        match self {
            Known::Whole(number) => word.parse() == Ok(*number),
            Known::Short(number) if number.is_nan() => nan(word),
            Known::Double(number) | Known::Wide(number) if number.is_nan() => nan(word),
            Known::Short(number) => {
                let shown = word.parse::<f32>();
                shown.is_ok_and(|shown| is_same(shown.into(), (*number).into()))
            }
            Known::Double(number) => {
                let shown = word.parse::<f64>();
                shown.is_ok_and(|shown| is_same(shown, *number))
            }
            // The shortest digits of a wide number may be rounded to another `double`.
            Known::Wide(number) => {
                let shown = word.parse::<f64>();
                let is_near = |shown: f64| (shown - number).abs() <= number.abs() * 4e-16;
                shown.is_ok_and(|shown| is_same(shown, *number) || is_near(shown))
            }
        }
    }

    /// Returns the value as an expression, if a comparison with it is exact.
    fn literal(&self) -> Option<String> {
        match self {
            Known::Whole(number) if *number == i128::from(i64::MIN) => {
                Some(format!("({} - 1)", number + 1))
            }
            Known::Whole(number) => Some(number.to_string()),
            Known::Short(number) if number.is_finite() => Some(format!("{:?}", f64::from(*number))),
            Known::Double(number) if number.is_finite() => Some(format!("{number:?}")),
            _ => None,
        }
    }
}

/// The values of the expressions in all ways.
pub(super) struct Seen {
    pub(super) known: Vec<Option<Known>>,
    pub(super) printed: Vec<Result<String, String>>,
    pub(super) conditions: Vec<Option<Result<bool, String>>>,
    pub(super) captured: Vec<Option<String>>,
}

/// Compiles a program of the expressions.
pub(super) fn compiled(source: &mut Forms, forms: &[&Form], build: &Build) -> PathBuf {
    let program = source.program(forms);
    let checks = "-fsanitize=signed-integer-overflow,shift,integer-divide-by-zero,\
                  float-cast-overflow";
    let fixture = match build.compiler {
        Compiler::Gcc | Compiler::Clang => Fixture::c("compiled_expressions", &program),
        _ => Fixture::cpp("compiled_expressions", &program),
    };
    let traps = match build.compiler {
        Compiler::Gcc | Compiler::Gpp => "-fsanitize-undefined-trap-on-error",
        _ => {
            "-fsanitize-trap=signed-integer-overflow,shift,integer-divide-by-zero,\
              float-cast-overflow"
        }
    };
    let fixture = fixture.argument(checks).argument(traps).argument("-w");
    fixture.compile(build)
}

/// Returns what the program says of its expressions; `None` where C defines no value.
pub(super) fn of_program(executable: &Path, count: usize) -> Vec<Option<Known>> {
    let output = Command::new(executable).arg("own").output();
    let output = output.expect("the program runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut known: Vec<Option<Known>> = vec![None; count];
    for line in text.lines() {
        let mut words = line.split(' ');
        let number = words.next().and_then(|word| word.parse::<usize>().ok());
        let value = words.next().zip(words.next());
        let value = value.and_then(|(kind, text)| Known::parse(kind, text));
        if let Some(place) = number.and_then(|number| known.get_mut(number)) {
            *place = value;
        }
    }
    assert!(output.status.success(), "{}: {text}", output.status);
    known
}

/// Returns what juror says of the expressions at the call of `probe`.
pub(super) fn of_juror(executable: &Path, forms: &[&Form]) -> Seen {
    let known = of_program(executable, forms.len());
    let conditions: Vec<Option<String>> = forms
        .iter()
        .zip(&known)
        .map(|(form, known)| {
            let literal = known.as_ref()?.literal()?;
            Some(format!("break probe if ({}) == {literal}", form.text))
        })
        .collect();
    let directory = tempfile::tempdir().expect("a directory");
    let report = directory.path().join("report.json");
    let mut options = vec![format!("--json={}", report.display())];
    let mut names: Vec<Option<(String, String)>> = vec![None; forms.len()];
    let is_read = |at: &usize| known[*at].is_some() && forms[*at].reads;
    let read: Vec<usize> = (0..forms.len()).filter(is_read).collect();
    for (number, part) in read.chunks(CAPTURES_MAX).enumerate() {
        let captures: Vec<String> = part
            .iter()
            .map(|at| format!("x{at} = {}", forms[*at].text))
            .collect();
        let file = directory.path().join(format!("{number}.prop"));
        let property = format!(
            "property p{number}\nevent e{number} = before probe({})\n\
             state s accepting {{ on e{number} -> s }}\n",
            captures.join(", ")
        );
        std::fs::write(&file, property).expect("a file");
        options.extend(["--property".to_owned(), file.display().to_string()]);
        for at in part {
            names[*at] = Some((format!("e{number}"), format!("x{at}")));
        }
    }
    let mut commands = vec!["break probe".to_owned()];
    commands.extend(conditions.iter().flatten().cloned());
    commands.push("run".to_owned());
    let is_known = |at: &usize| known[*at].is_some();
    let asked = (0..forms.len()).filter(is_known);
    commands.extend(asked.map(|at| format!("print {}", forms[at].text)));
    commands.extend(["info breakpoints", "kill"].map(str::to_owned));
    let output = juror(&["run", "--no-init", "--color=never"])
        .args(&options)
        .args([executable])
        .input(commands.join("\n") + "\n")
        .run();
    let text = std::fs::read_to_string(&report).unwrap_or_default();
    let lines = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"));
    let lines: Vec<serde_json::Value> = lines.collect();
    let mut outcomes: HashMap<&str, Result<&serde_json::Value, String>> = HashMap::new();
    let mut changes: HashMap<&str, &serde_json::Value> = HashMap::new();
    for line in &lines {
        match (line["kind"].as_str(), line["command"].as_str()) {
            (Some("outcome"), Some(command)) => {
                outcomes.insert(command, Ok(&line["value"]));
            }
            (Some("error"), Some(command)) => {
                outcomes.insert(command, Err(line["message"].to_string()));
            }
            (Some("state_change"), _) => {
                changes.insert(line["event"].as_str().unwrap_or(""), &line["values"]);
            }
            _ => {}
        }
    }
    let has_read = changes.len() == read.len().div_ceil(CAPTURES_MAX);
    assert!(has_read, "{}\n{}", output.stdout, output.stderr);
    let printed =
        forms.iter().map(
            |form| match outcomes.get(format!("print {}", form.text).as_str()) {
                Some(Ok(value)) => Ok(value["value"].as_str().unwrap_or("").to_owned()),
                Some(Err(why)) => Err(why.clone()),
                None => Err("no answer".to_owned()),
            },
        );
    let printed = printed.collect();
    let hits = hits_by_condition(outcomes.get("info breakpoints"));
    let conditions = conditions.iter().map(|line| {
        let line = line.as_deref()?;
        Some(match outcomes.get(line) {
            Some(Ok(_)) => {
                let condition = line.split_once(" if ").map_or("", |it| it.1);
                Ok(hits.get(condition).is_some_and(|hits| *hits > 0))
            }
            Some(Err(why)) => Err(why.clone()),
            None => Err("no answer".to_owned()),
        })
    });
    let conditions = conditions.collect();
    let captured = names.iter().map(|name| {
        let (event, name) = name.as_ref()?;
        let values = changes.get(event.as_str())?.as_array()?;
        let value = values.iter().find(|value| value["name"] == *name)?;
        Some(match &value["value"] {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        })
    });
    let captured = captured.collect();
    Seen {
        known,
        printed,
        conditions,
        captured,
    }
}

fn hits_by_condition(points: Option<&Result<&serde_json::Value, String>>) -> HashMap<String, u64> {
    let Some(Ok(points)) = points else {
        return HashMap::new();
    };
    let list = points.as_array().cloned().unwrap_or_default();
    let hits = list.iter().filter_map(|point| {
        let condition = point["condition"].as_str()?.to_owned();
        Some((condition, point["hits"].as_u64()?))
    });
    hits.collect()
}

/// Returns what gdb says of the expressions, or `None` if it is not installed.
pub(super) fn of_gdb(executable: &Path, forms: &[&Form]) -> Option<Vec<String>> {
    let mut script = String::from("break probe\nrun\n");
    for (number, form) in forms.iter().enumerate() {
        // Writing to a text does not fail.
        let _ = writeln!(script, "echo \\n#{number} \\nprint {}", form.text);
    }
    let file = tempfile::NamedTempFile::new().ok()?;
    std::fs::write(file.path(), script).ok()?;
    let output = Command::new("gdb")
        .args([
            "-nx",
            "-q",
            "-batch",
            "-iex",
            "set debuginfod enabled off",
            "-x",
        ])
        .arg(file.path())
        .arg(executable)
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut shown = vec![String::new(); forms.len()];
    let mut at = None;
    for line in text.lines() {
        if let Some(number) = line.strip_prefix('#') {
            at = number.trim().parse::<usize>().ok();
        } else if let Some((_, value)) = line.split_once(" = ").filter(|_| line.starts_with('$'))
            && let Some(place) = at.and_then(|at| shown.get_mut(at))
        {
            *place = value.to_owned();
        }
    }
    Some(shown)
}
