//! Asks juror for the values of the checks of a program, in one way to compile it.

use super::{Check, Moment, Program};
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fmt, fs};

/// A way to compile a program.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    pub compiler: &'static str,
    /// The level of optimization.
    pub option: &'static str,
}

/// The checks of a run, counted by their result.
#[derive(Debug, Default)]
pub struct Verdicts {
    pub right: usize,
    /// The numbers of refusals by reason.
    pub refused: BTreeMap<String, usize>,
    /// The functions that have no event: they exist only inlined, or merged.
    pub without_event: usize,
    /// The checks that are neither right nor refused, described.
    pub wrong: Vec<String>,
    /// Events with right values that happened another number of times than the function was called.
    pub counted_otherwise: Vec<String>,
    /// Events taken in the program.
    pub native: usize,
    /// Events taken by traps.
    pub trapped: usize,
}

impl fmt::Display for Verdicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let refused: usize = self.refused.values().sum();
        write!(
            f,
            "right {}, refused {refused}, without an event {}, wrong {}, counted otherwise {}, native {}, \
             trapped {}",
            self.right,
            self.without_event,
            self.wrong.len(),
            self.counted_otherwise.len(),
            self.native,
            self.trapped
        )?;
        for (reason, count) in &self.refused {
            write!(f, "\n    refused {count}: {reason}")?;
        }
        Ok(())
    }
}

impl Verdicts {
    pub fn add(&mut self, other: Verdicts) {
        self.right += other.right;
        self.without_event += other.without_event;
        self.native += other.native;
        self.trapped += other.trapped;
        self.wrong.extend(other.wrong);
        self.counted_otherwise.extend(other.counted_otherwise);
        for (reason, count) in other.refused {
            *self.refused.entry(reason).or_default() += count;
        }
    }
}

/// Some checks of one function, which are captures of one event.
struct Group<'a> {
    checks: Vec<&'a Check>,
    subject: String,
    name: String,
}

/// The captures begin in this column of the property's second line.
impl Group<'_> {
    fn property(&self) -> String {
        let moment = match self.moment() {
            Moment::Before => "before",
            Moment::After => "after",
        };
        let captures: Vec<String> = self.captures();
        let guards: Vec<String> = self.checks.iter().enumerate().map(guard).collect();
        format!(
            "property {}\nevent e = {moment} \"{}\"({})\n\
             state init accepting {{ on e when {} -> init else -> wrong }}\n\
             state wrong non-accepting\n",
            self.name,
            self.subject,
            captures.join(", "),
            guards.join(" and ")
        )
    }

    fn captures(&self) -> Vec<String> {
        let checks = self.checks.iter().enumerate();
        checks
            .map(|(at, it)| format!("v{at} = {}", it.capture))
            .collect()
    }

    fn moment(&self) -> Moment {
        self.checks[0].moment
    }

    /// The capture in a column of the second line, counted from 1.
    fn capture_at(&self, column: usize) -> usize {
        let text = self.property();
        let line = text.lines().nth(1).unwrap_or("");
        let start = line.find("(v0").unwrap_or(0) + 1;
        let mut at = start;
        for (number, capture) in self.captures().iter().enumerate() {
            at += capture.len() + 2;
            if column <= at {
                return number;
            }
        }
        0
    }
}

fn guard((at, check): (usize, &&Check)) -> String {
    let equal: Vec<String> = check
        .values
        .iter()
        .map(|value| format!("v{at} == {}", value.in_property()))
        .collect();
    format!("({})", equal.join(" or "))
}

/// How many properties have room in the program.
const NATIVE_AT_ONCE: usize = 16;

/// Compiles a program and checks it; `None` if the compiler refuses it.
pub fn judge(juror: &OsStr, program: &Program, way: Way, seed: u64, directory: &Path) -> Verdicts {
    let executable = compile(program, way, directory);
    let symbols = symbols(&executable);
    let mut verdicts = Verdicts::default();
    let mut groups: Vec<Group> = Vec::new();
    let mut by_key: HashMap<(usize, Moment, bool), usize> = HashMap::new();
    for check in &program.checks {
        let Some(subject) = subject(check, &symbols) else {
            verdicts.without_event += 1;
            continue;
        };
        let is_word = check.is_word();
        let key = (check.function, check.moment, is_word);
        let group = *by_key.entry(key).or_insert_with(|| {
            groups.push(Group {
                checks: Vec::new(),
                subject,
                name: format!("p{}", groups.len()),
            });
            groups.len() - 1
        });
        groups[group].checks.push(check);
    }
    let mut active: Vec<usize> = (0..groups.len()).collect();
    refuse(
        juror,
        &executable,
        directory,
        &mut groups,
        &mut active,
        &mut verdicts,
    );
    // Only words are read in the program, which has room for some properties.
    let is_word = |group: &&usize| groups[**group].checks.iter().all(|it| it.is_word());
    let words: Vec<usize> = active.iter().filter(is_word).copied().collect();
    let native = words.chunks(NATIVE_AT_ONCE).map(|some| ("auto", some));
    for (tier, some) in native.chain([("trap", active.as_slice())]) {
        let mut asked = some.to_vec();
        let of = Run {
            juror,
            executable: &executable,
            directory,
            tier,
            way,
            seed,
        };
        while of.run(&groups, &mut asked, &mut verdicts) {}
    }
    verdicts
}

fn compile(program: &Program, way: Way, directory: &Path) -> PathBuf {
    let extension = match way.compiler {
        "rustc" => "rs",
        "g++" | "clang++" => "cc",
        _ => "c",
    };
    let source = directory.join(format!("program.{extension}"));
    fs::write(&source, &program.source).expect("a file");
    let executable = directory.join("program");
    let output = Command::new(way.compiler)
        .arg("-g")
        .args(if way.compiler == "rustc" {
            ["--edition=2021"].as_slice()
        } else {
            &["-w", "-Wno-psabi"]
        })
        .arg(way.option)
        .arg(&source)
        .arg("-o")
        .arg(&executable)
        .output()
        .expect("the compiler runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{way:?} {}: {errors}",
        source.display()
    );
    executable
}

fn symbols(executable: &Path) -> Vec<String> {
    let output = Command::new("nm")
        .arg(executable)
        .output()
        .expect("nm runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let of_code = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let kind = words.next()?;
        matches!(kind, "t" | "T" | "W" | "w")
            .then(|| words.next().map(str::to_owned))
            .flatten()
    });
    of_code.collect()
}

/// The subject of a check in properties; `None` if its function has no code of its own.
fn subject(check: &Check, symbols: &[String]) -> Option<String> {
    let Some(part) = check.subject.strip_prefix("symbol:") else {
        return Some(check.subject.clone());
    };
    let inside = |name: &&String| name.contains(part) && name.contains("clE");
    symbols.iter().find(inside).cloned()
}

/// Removes the captures that juror refuses.
fn refuse(
    juror: &OsStr,
    executable: &Path,
    directory: &Path,
    groups: &mut [Group],
    active: &mut Vec<usize>,
    verdicts: &mut Verdicts,
) {
    let mut asked = active.clone();
    while !asked.is_empty() {
        let mut command = Command::new(juror);
        command.args([
            "--no-init",
            "--color=never",
            "-e",
            "break main",
            "-e",
            "run",
        ]);
        for &group in &asked {
            let group = &groups[group];
            let path = directory.join(format!("{}.prop", group.name));
            fs::write(&path, group.property()).expect("a file");
            command
                .arg("-e")
                .arg(format!("property add {}", path.display()));
        }
        let output = command
            .arg(executable)
            .stdin(std::process::Stdio::null())
            .output()
            .expect("juror runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        let mut again = Vec::new();
        let mut message = String::new();
        for line in text.lines() {
            if let Some(found) = line.strip_prefix("error") {
                message = found.split_once(": ").map_or(found, |it| it.1).to_owned();
            }
            let Some(place) = line.trim().strip_prefix("--> ") else {
                continue;
            };
            let mut words = place.rsplitn(3, ':');
            let column: usize = words.next().and_then(|it| it.parse().ok()).unwrap_or(1);
            let Some(file) = words.nth(1).and_then(|it| it.strip_suffix(".prop")) else {
                continue;
            };
            let name = file.rsplit('/').next().unwrap_or(file);
            let Some(&group) = asked.iter().find(|&&it| groups[it].name == name) else {
                continue;
            };
            let is_of_function = [
                "has no function",
                "only inlined",
                "inlined",
                "no loaded module",
            ]
            .iter()
            .any(|part| message.contains(part));
            if is_of_function {
                verdicts.without_event += groups[group].checks.len();
                active.retain(|it| *it != group);
                continue;
            }
            let capture = groups[group].capture_at(column);
            let check = groups[group].checks.remove(capture);
            if std::env::var_os("JUROR_SIGNATURE_REFUSALS").is_some() {
                println!("refused: {} {} {message}", check.subject, check.capture);
            }
            *verdicts.refused.entry(reason(&message, check)).or_default() += 1;
            if groups[group].checks.is_empty() {
                active.retain(|it| *it != group);
            } else {
                again.push(group);
            }
        }
        asked = again;
    }
}

/// A refusal without the names of its program.
fn reason(message: &str, check: &Check) -> String {
    let mut text: String = message
        .split('`')
        .step_by(2)
        .collect::<Vec<_>>()
        .join("`…`");
    text.truncate(110);
    let kind = check.kind.split(' ').next().unwrap_or("");
    let used = ["result", "unused", "own"]
        .iter()
        .find(|it| check.kind.contains(**it));
    format!("{text} [{kind} {}]", used.unwrap_or(&"used"))
}

/// A run of the program under the properties.
struct Run<'a> {
    juror: &'a OsStr,
    executable: &'a Path,
    directory: &'a Path,
    tier: &'a str,
    way: Way,
    seed: u64,
}

impl Run<'_> {
    /// Runs once; returns whether a property ended the run, and was taken out of it.
    fn run(&self, groups: &[Group], active: &mut Vec<usize>, verdicts: &mut Verdicts) -> bool {
        let Run {
            juror,
            executable,
            directory,
            tier,
            way,
            seed,
        } = *self;
        let mut command = Command::new(juror);
        command.args([
            "run",
            "--no-init",
            "--batch",
            "--keep-going",
            "--color=never",
        ]);
        command.arg(format!("--tier={tier}"));
        for &group in active.iter() {
            let path = directory.join(format!("{}.prop", groups[group].name));
            fs::write(&path, groups[group].property()).expect("a file");
            command.arg("--property").arg(&path);
        }
        let output = command.arg(executable).output().expect("juror runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        let _ = fs::write(directory.join(format!("report.{tier}")), &text);
        // A guard over a value that is not available ends the run.
        let ends = text.lines().find_map(|line| line.strip_prefix("error: "));
        if let Some((name, why)) =
            ends.and_then(|it| it.split_once(": this value is not available: "))
            && let Some(place) = active.iter().position(|&it| groups[it].name == name)
        {
            let it = &groups[active.remove(place)];
            if why.contains("memory at") {
                verdicts.wrong.push(format!(
                    "{} {} seed {seed} {tier} {name} {:?} {}: {why}",
                    way.compiler,
                    way.option,
                    it.moment(),
                    it.subject
                ));
            } else {
                *verdicts
                    .refused
                    .entry(format!("at the event: {why}"))
                    .or_default() += 1;
            }
            return true;
        }
        let mut verdict: HashMap<&str, (&str, u64, bool)> = HashMap::new();
        let mut paths: HashMap<&str, Vec<&str>> = HashMap::new();
        let mut last = "";
        for line in text.lines() {
            let mut words = line.split_whitespace();
            match words.next() {
                Some(word @ ("HOLDS" | "VIOLATED" | "UNDECIDED" | "ERROR"))
                    if !line.starts_with(' ') =>
                {
                    last = words.next().unwrap_or("").trim_end_matches(':');
                    verdict.entry(last).or_insert((word, 0, false)).0 = word;
                }
                Some("path") => paths.entry(last).or_default().push(line.trim()),
                Some("e") if line.starts_with("   ") => {
                    let all: Vec<&str> = words.collect();
                    let at = all.iter().position(|it| it.starts_with("time"));
                    let count = at.and_then(|at| all.get(at.checked_sub(1)?)?.parse().ok());
                    if let Some(known) = verdict.get_mut(last) {
                        known.1 = count.unwrap_or(0);
                        known.2 = line.contains("native");
                    }
                }
                _ => {}
            }
        }
        for &group in active.iter() {
            let it = &groups[group];
            let found = verdict.get(it.name.as_str());
            match found {
                Some(("HOLDS", count, is_native)) if *count == it.checks[0].calls as u64 => {
                    verdicts.right += it.checks.len();
                    *if *is_native {
                        &mut verdicts.native
                    } else {
                        &mut verdicts.trapped
                    } += 1;
                }
                Some(("HOLDS", count, _)) if *count > 0 => {
                    verdicts.counted_otherwise.push(format!(
                        "{} {} seed {seed} {tier} {:?} {}: {count}",
                        way.compiler,
                        way.option,
                        it.moment(),
                        it.subject
                    ));
                }
                _ => {
                    let kinds: Vec<String> = it
                        .checks
                        .iter()
                        .map(|check| {
                            format!("{} = {:?} ({})", check.capture, check.values, check.kind)
                        })
                        .collect();
                    let path = paths.get(it.name.as_str()).map(|it| it.join(" | "));
                    verdicts.wrong.push(format!(
                        "{} {} seed {seed} {tier} {} {:?} {}: {found:?} {} wanted {}",
                        way.compiler,
                        way.option,
                        it.name,
                        it.moment(),
                        it.subject,
                        path.unwrap_or_default(),
                        kinds.join(", ")
                    ));
                }
            }
        }
        false
    }
}
