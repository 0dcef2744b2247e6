//! juror and other debuggers doing the same task, for benchmarks and comparisons. Debuggers
//! that are not installed are skipped.
//!
//! A peer is run at its best: without an init file or confirmations, and with the signals
//! that the program handles passed on.

use crate::Juror;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A count that no program here reaches.
const UNLIMITED: &str = "1000000000";

/// A task for a debugger while a program runs to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task<'a> {
    /// Counts the executions of exactly the first instruction of a function.
    Count {
        /// The function.
        function: &'a str,
        /// The number of SIGTRAP signals that the program itself handles meanwhile.
        own_traps: u32,
    },
    /// Evaluates a condition, which is never true, at each call of a function.
    Ask {
        /// The function, whose arguments are set up.
        function: &'a str,
        /// The condition in C syntax.
        condition: &'a str,
    },
    /// Counts the stores to a global variable.
    CountStores {
        /// The variable.
        variable: &'a str,
    },
    /// Counts the stores that change a global variable.
    CountChanges {
        /// The variable.
        variable: &'a str,
    },
    /// Runs to a function and steps by lines from there, over calls.
    Step {
        /// The function.
        function: &'a str,
        /// The number of lines.
        lines: u32,
    },
}

/// A debugger on this machine.
#[derive(Debug)]
pub struct Debugger {
    name: String,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Juror(PathBuf),
    Gdb,
    Lldb,
}

impl Debugger {
    /// Returns the juror of this workspace, built in the caller's profile, and the
    /// installed peers; prints a line for each missing one.
    ///
    /// # Errors
    ///
    /// juror does not build.
    pub fn all_present() -> Result<Vec<Debugger>, String> {
        let mut debuggers = vec![Debugger {
            name: "juror".to_owned(),
            kind: Kind::Juror(Juror::find_as_built()?),
        }];
        for (command, kind) in [("gdb", Kind::Gdb), ("lldb", Kind::Lldb)] {
            match version(command) {
                Some(version) => debuggers.push(Debugger {
                    name: format!("{command} {version}"),
                    kind,
                }),
                None => println!("{command} is not installed and is skipped.\n"),
            }
        }
        Ok(debuggers)
    }

    /// Returns the name; a peer's includes its version.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether it is juror.
    pub fn is_juror(&self) -> bool {
        matches!(self.kind, Kind::Juror(_))
    }

    /// Returns a command that runs a program to its end, does the task and prints the
    /// counts at the end. The caller adds the program's arguments.
    pub fn command(&self, task: Task<'_>, program: &Path) -> Command {
        let (mut command, flag) = match &self.kind {
            Kind::Juror(path) => {
                let mut command = Command::new(path);
                command.args(["run", "--batch", "--json"]);
                (command, "-e")
            }
            Kind::Gdb => {
                let mut command = Command::new("gdb");
                command.args(["-nx", "-q", "-batch"]);
                (command, "-ex")
            }
            Kind::Lldb => {
                let mut command = Command::new("lldb");
                command.args(["--no-lldbinit", "--batch"]);
                (command, "-o")
            }
        };
        let lines = match self.kind {
            Kind::Juror(_) => juror_script(task),
            Kind::Gdb => gdb_script(task),
            Kind::Lldb => lldb_script(task),
        };
        for line in lines {
            command.args([flag, &line]);
        }
        match self.kind {
            Kind::Juror(_) => {}
            Kind::Gdb => drop(command.arg("--args")),
            Kind::Lldb => drop(command.arg("--")),
        }
        command.arg(program);
        command
    }

    /// Returns a command that attaches to a process and detaches again.
    pub fn attach_command(&self, process: u32) -> Command {
        let process = process.to_string();
        match &self.kind {
            Kind::Juror(path) => {
                let mut command = Command::new(path);
                command.args(["attach", "--batch", "-e", "detach", &process]);
                command
            }
            Kind::Gdb => {
                let mut command = Command::new("gdb");
                command.args(["-nx", "-q", "-batch", "-iex"]);
                command.args(["set debuginfod enabled off", "-p", &process]);
                command.args(["-ex", "detach"]);
                command
            }
            Kind::Lldb => {
                let mut command = Command::new("lldb");
                command.args(["--no-lldbinit", "--batch", "-p", &process]);
                command.args(["-o", "detach"]);
                command
            }
        }
    }

    /// Returns the count of a task from the output of its command.
    pub fn count(&self, task: Task<'_>, output: &str) -> Option<u64> {
        match self.kind {
            Kind::Juror(_) => {
                // The command that has set the point shows it, too.
                let (_, listed) = output.rsplit_once("\"type\":\"points\"")?;
                number_after(listed, "\"hits\":")
            }
            // gdb prints nothing for a breakpoint that was not hit.
            Kind::Gdb => output
                .contains("Disp Enb Address")
                .then(|| number_after(output, "already hit ").unwrap_or(0)),
            Kind::Lldb => match task {
                Task::CountStores { .. } | Task::CountChanges { .. } => {
                    let (_, listed) = output.rsplit_once("Watchpoint 1: ")?;
                    number_after(listed, "hit_count = ")
                }
                _ => {
                    let (_, listed) = output.rsplit_once("\n2: name = ")?;
                    number_after(listed, "hit count = ")
                }
            },
        }
    }
}

fn juror_script(task: Task<'_>) -> Vec<String> {
    let ignore = format!("ignore 1 {UNLIMITED}");
    let counted = |point: String| script(&[&point, &ignore, "run", "info breakpoints"]);
    match task {
        Task::Count { function, .. } => counted(format!("break *{function}")),
        Task::Ask {
            function,
            condition,
        } => script(&[&format!("break {function} if {condition}"), "run"]),
        Task::CountStores { variable } => counted(format!("watch {variable}")),
        Task::CountChanges { variable } => counted(format!("change {variable}")),
        Task::Step { function, lines } => stepping(function, lines),
    }
}

fn gdb_script(task: Task<'_>) -> Vec<String> {
    let mut lines = script(&["set debuginfod enabled off", "set print thread-events off"]);
    let ignore = format!("ignore 1 {UNLIMITED}");
    let counted = |point: String| script(&[&point, &ignore, "run", "info breakpoints"]);
    lines.extend(match task {
        Task::Count {
            function,
            own_traps,
        } => {
            let mut counting = script(&[&format!("break *{function}"), &ignore, "run"]);
            // gdb uses SIGTRAP itself, and passes one on only by a command.
            counting.extend((0..own_traps).map(|_| "signal SIGTRAP".to_owned()));
            counting.push("info breakpoints".to_owned());
            counting
        }
        Task::Ask {
            function,
            condition,
        } => script(&[&format!("break {function} if {condition}"), "run"]),
        // gdb's watchpoints for writes report only changes.
        Task::CountStores { variable } | Task::CountChanges { variable } => {
            counted(format!("watch {variable}"))
        }
        Task::Step { function, lines } => stepping(function, lines),
    });
    lines
}

/// Returns the commands for stepping, which are the same in juror and gdb.
fn stepping(function: &str, lines: u32) -> Vec<String> {
    script(&[
        &format!("tbreak {function}"),
        "run",
        &format!("next {lines}"),
        "continue",
    ])
}

fn lldb_script(task: Task<'_>) -> Vec<String> {
    // Signals and watchpoints need a process.
    let mut lines = script(&[
        "breakpoint set --name main --one-shot true",
        "run",
        "process handle --pass true --stop false --notify false SIGTRAP SIGALRM SIGCHLD",
    ]);
    lines.extend(match task {
        Task::Count { function, .. } => script(&[
            &format!("breakpoint set --name {function} --skip-prologue false"),
            &format!("breakpoint modify --ignore-count {UNLIMITED} 2"),
            "continue",
            "breakpoint list",
        ]),
        Task::Ask {
            function,
            condition,
        } => script(&[
            &format!("breakpoint set --name {function} --condition '{condition}'"),
            "continue",
        ]),
        Task::CountStores { variable } | Task::CountChanges { variable } => script(&[
            &format!("watchpoint set variable --watch write {variable}"),
            &format!("watchpoint ignore --ignore-count {UNLIMITED} 1"),
            "continue",
            "watchpoint list --verbose",
        ]),
        Task::Step { function, lines } => {
            let breakpoint = format!("breakpoint set --name {function} --one-shot true");
            let mut stepping = script(&[&breakpoint, "continue"]);
            // lldb steps one line per command.
            stepping.extend((0..lines).map(|_| "next".to_owned()));
            stepping.push("continue".to_owned());
            stepping
        }
    });
    lines
}

fn script(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|&line| line.to_owned()).collect()
}

/// Returns the version that a command prints: the last word of the first line.
fn version(command: &str) -> Option<String> {
    let output = Command::new(command).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = text.lines().next()?.split_whitespace().last()?;
    output.status.success().then(|| version.to_owned())
}

fn number_after(text: &str, words: &str) -> Option<u64> {
    let (_, rest) = text.split_once(words)?;
    let end = rest.find(|c: char| !c.is_ascii_digit());
    rest.get(..end.unwrap_or(rest.len()))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_found_in_what_debuggers_print() {
        let of = |kind, task, output: &str| {
            let name = String::new();
            Debugger { name, kind }.count(task, output)
        };
        let count = Task::Count {
            function: "point",
            own_traps: 0,
        };
        let stores = Task::CountStores { variable: "x" };
        let juror = "{\"type\":\"point_set\",\"value\":{\"hits\":0,\"number\":1}}\n\
                     {\"type\":\"points\",\"value\":[{\"hits\":50,\"number\":1}]}";
        assert_eq!(of(Kind::Juror(PathBuf::new()), count, juror), Some(50));
        let gdb = "Num Type Disp Enb Address What\n1 breakpoint keep y 0x1 f\n";
        assert_eq!(of(Kind::Gdb, count, gdb), Some(0));
        let gdb = format!("{gdb}\tbreakpoint already hit 3328 times\n");
        assert_eq!(of(Kind::Gdb, count, &gdb), Some(3328));
        assert_eq!(of(Kind::Gdb, count, "the end"), None);
        let lldb = "1: name = 'main', hit count = 1\n2: name = 'point', hit count = 8 Options\n";
        assert_eq!(of(Kind::Lldb, count, lldb), Some(8));
        let lldb = "Watchpoint 1: addr = 0x40 size = 4\n    hit_count = 9     ignore_count = 0\n";
        assert_eq!(of(Kind::Lldb, stores, lldb), Some(9));
    }
}
