//! The results of commands as text.

use crate::locations::{write_frame, write_frames, write_source, write_stacks};
use crate::page::Page;
use crate::stops::{self, Context};
use crate::{
    checkpoints, code, ending, evaluations, monitors, path, properties, recorded, scenarios, tables,
};
use juror_view::Outcome;

/// Writes an outcome. Writes nothing for an outcome without a result.
pub fn write(page: &mut Page, outcome: &Outcome, context: Context) {
    match outcome {
        Outcome::Done | Outcome::Quit => {}
        Outcome::Message(message) => tables::write_message(page, message),
        Outcome::Stopped(stop) => stops::write_stop(page, stop, context),
        Outcome::Ended(end) => ending::write(page, end),
        Outcome::RecordedStop(stop) => recorded::write_stop(page, stop),
        Outcome::RecordedEnd(end) => recorded::write_end(page, end),
        Outcome::Backtrace { frames, more } => write_frames(page, frames, *more, 0),
        Outcome::Stacks(stacks) => write_stacks(page, stacks),
        Outcome::Frame(frame, source) => {
            write_frame(page, frame, 0, true);
            if let Some(source) = source {
                write_source(page, source);
            }
        }
        Outcome::Source(source) => write_source(page, source),
        Outcome::Points(points) => tables::write_points(page, points),
        Outcome::Threads(threads) => tables::write_threads(page, threads),
        Outcome::Checkpoint(checkpoint) => checkpoints::write_one(page, checkpoint),
        Outcome::Checkpoints(checkpoints) => checkpoints::write_all(page, checkpoints),
        Outcome::Processes(processes) => tables::write_processes(page, processes),
        Outcome::Signals(signals) => tables::write_signals(page, signals),
        Outcome::Registers(registers) => tables::write_registers(page, registers),
        Outcome::Variables(variables) => tables::write_variables(page, variables),
        Outcome::Assembly(assembly) => code::write_assembly(page, assembly),
        Outcome::Memory(memory) => code::write_memory(page, memory),
        Outcome::Names(names) => code::write_names(page, names),
        Outcome::Monitors(monitors) => monitors::write(page, monitors),
        Outcome::Properties(list) => properties::write(page, list),
        Outcome::Scenarios(list) => scenarios::write(page, list),
        Outcome::Graphs(graphs) => properties::write_graphs(page, graphs),
        Outcome::Paths(paths) => write_paths(page, paths),
        Outcome::Value(value) => tables::write_value(page, value),
        Outcome::Displays(displays) => tables::write_displays(page, displays),
        Outcome::Evaluations(open) => evaluations::write(page, open),
        Outcome::HelpIndex(commands) => tables::write_help_index(page, commands),
        Outcome::HelpGroups(groups) => tables::write_help_groups(page, groups),
        Outcome::Help(command) => tables::write_help(page, command),
    }
}

/// Writes the paths of slices, violated or not.
fn write_paths(page: &mut Page, paths: &[juror_view::ViolationView]) {
    use crate::escape::safe;
    use crate::page::{NAME, STRONG};
    if paths.is_empty() {
        page.push("No slice has taken a transition yet.\n");
    }
    for view in paths {
        page.gap();
        writeln!(
            page,
            "{STRONG}{}{STRONG:#} in state {NAME}{}{NAME:#}",
            safe(&view.property),
            safe(&view.state)
        );
        path::write(page, view);
    }
}

/// Sample views for tests.
#[cfg(any(test, feature = "samples"))]
pub mod samples {
    use super::*;
    use crate::stops::samples::*;
    use juror_view::*;

    /// An access to watched memory: a store if there is a value before it, otherwise a
    /// read.
    pub fn access(before: Option<String>) -> WatchedAccess {
        let is_write = before.is_some();
        WatchedAccess {
            number: 3,
            expression: "queue.count".into(),
            access: if is_write { "write" } else { "read" }.into(),
            before,
            value: "2".into(),
            place: location("take", "queue.c", 40),
            system_call: is_write.then(|| "read".into()),
        }
    }

    /// One reason of each kind.
    pub fn stop_reasons() -> Vec<StopReason> {
        vec![
            StopReason::Violation {
                violations: vec![violation()],
            },
            StopReason::MonitorError {
                property: "p".into(),
                message: "m".into(),
                start: 0,
                end: 1,
                file: "f".into(),
                text: "".into(),
            },
            StopReason::Scenario {
                scenario: "zoom".into(),
                message: Some("full".into()),
            },
            StopReason::Scenario {
                scenario: "zoom".into(),
                message: None,
            },
            StopReason::ScenarioError {
                scenario: "zoom".into(),
                message: "m".into(),
                help: Some("h".into()),
                start: 0,
                end: 1,
                file: "f".into(),
                text: "".into(),
            },
            StopReason::Breakpoint {
                numbers: vec![1],
                errors: vec![],
                silent: false,
                temporary: false,
            },
            StopReason::Watchpoint {
                accesses: [Some("1".to_owned()), None].map(access).into(),
                errors: vec![],
                silent: false,
            },
            StopReason::WatchpointEnded {
                numbers: vec![3],
                expressions: vec!["count".into()],
                function: "work".into(),
            },
            StopReason::Caught {
                numbers: vec![2],
                temporary: true,
                event: "syscall_entry".into(),
                description: "entry into write".into(),
                errors: vec![],
                silent: false,
            },
            StopReason::Step,
            StopReason::Finished {
                returned: Some(variable("$1", "int", "7")),
                function: "f".into(),
            },
            StopReason::Signal {
                signal: "SIGSEGV".into(),
                description: "d".into(),
                fault_address: None,
                fatal: true,
            },
            StopReason::Interrupted,
            StopReason::Started,
            StopReason::Evaluated {
                number: 1,
                expression: "f(1)".into(),
                returned: Some(variable("$1", "int", "7")),
            },
            StopReason::Abandoned {
                evaluations: vec![2, 3],
            },
            StopReason::Restored {
                checkpoint: 2,
                losses: vec!["socket 3".into()],
            },
            StopReason::Attached { process: 815 },
        ]
    }

    /// One outcome of each kind.
    pub fn all() -> Vec<Outcome> {
        vec![
            Outcome::Done,
            Outcome::Message("Breakpoint 1 at queue_push".into()),
            Outcome::Stopped(Box::new(violation_stop())),
            Outcome::Ended(Box::new(end(
                Some(Ending::Exited { status: 0 }),
                summary(juror_event::Verdict::PresumablySatisfied, 0),
            ))),
            Outcome::RecordedStop(Box::new(recorded::samples::stop())),
            Outcome::RecordedEnd(Box::new(recorded::samples::end())),
            Outcome::Backtrace {
                frames: violation_stop().backtrace,
                more: true,
            },
            Outcome::Stacks(vec![stops::samples::stack()]),
            Outcome::Frame(
                Box::new(frame(1, location("fill", "main.c", 17), vec![])),
                Some(source()),
            ),
            Outcome::Source(source()),
            Outcome::Points(tables::samples::points()),
            Outcome::Threads(tables::samples::threads()),
            Outcome::Checkpoint(Box::new(checkpoints::samples::checkpoint())),
            Outcome::Checkpoints(vec![checkpoints::samples::checkpoint()]),
            Outcome::Processes(tables::samples::processes()),
            Outcome::Signals(tables::samples::signals()),
            Outcome::Registers(tables::samples::registers()),
            Outcome::Variables(vec![variable("c", "char", "110")]),
            Outcome::Assembly(code::samples::assembly()),
            Outcome::Memory(code::samples::memory()),
            Outcome::Names(code::samples::names()),
            Outcome::Monitors(vec![monitors::sample()]),
            Outcome::Properties(vec![properties::samples::property(false)]),
            Outcome::Scenarios(vec![scenarios::samples::scenario()]),
            Outcome::Graphs(vec![properties::samples::graph()]),
            Outcome::Paths(vec![violation()]),
            Outcome::Displays(vec![stops::samples::display()]),
            Outcome::Value(ValueView {
                is_formatted: false,
                number: 1,
                type_name: "int".into(),
                value: "7".into(),
            }),
            Outcome::Evaluations(vec![EvaluationView {
                number: 1,
                thread: 2,
                expression: "f(1) + 2".into(),
                function: "f".into(),
            }]),
            Outcome::HelpIndex(vec![tables::samples::help()]),
            Outcome::HelpGroups(vec![tables::samples::group()]),
            Outcome::Help(tables::samples::help()),
            Outcome::Quit,
        ]
    }
}

#[cfg(test)]
mod hostile;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::plain;

    fn begins(outcome: &Outcome) -> &'static str {
        match outcome {
            Outcome::Done | Outcome::Quit => "",
            Outcome::Message(_) => "Breakpoint 1 at queue_push\n",
            Outcome::Stopped(_) => "VIOLATED  queue_bounds: a queue",
            Outcome::Ended(_) => "The program exited with status 0.\n",
            Outcome::RecordedStop(_) => "VIOLATED  queue_bounds: a queue",
            Outcome::RecordedEnd(_) => "The program exited with status 0.\n",
            Outcome::Backtrace { .. } => "#0  queue_push (queue=0x4052a0, c=110)",
            Outcome::Stacks(_) => "Thread 1 (main):\n#0  queue_push (queue=0x4052a0, c=110)",
            Outcome::Frame(..) => "#1  fill () at src/main.c:17\n      22   void",
            Outcome::Source(_) => "      22   void queue_push",
            Outcome::Points(_) => "#    owner",
            Outcome::Threads(_) => "   #  id",
            Outcome::Checkpoint(_) => "Checkpoint 1 in ",
            Outcome::Checkpoints(_) => "#  threads  events",
            Outcome::Processes(_) => "   #  id    program",
            Outcome::Signals(_) => "number  name     stop",
            Outcome::Registers(_) => "rax  0x",
            Outcome::Variables(_) => "c = 110\n",
            Outcome::Assembly(_) => "queue_push:\n",
            Outcome::Memory(_) => "0x4052a0 <names+8>  0x0001  0x0002\n",
            Outcome::Names(_) => "queue_push",
            Outcome::Monitors(_) => "queue_bounds  violated",
            Outcome::Properties(_) => "property          verdict",
            Outcome::Scenarios(_) => {
                "zoom: looks closely\n  for queue_bounds, 2 reactions (zoom.scn)\n"
            }
            Outcome::Graphs(_) => "queue_bounds\n\n*→ ready",
            Outcome::Paths(_) => "queue_bounds in state overflow\n  slice   queue",
            Outcome::Value(_) => "$1 = 7\n",
            Outcome::Displays(_) => "1: count = 7\n",
            Outcome::Evaluations(_) => "#  thread  in  expression\n1  2       f   f(1) + 2\n",
            Outcome::HelpIndex(_) => "next  n  run",
            Outcome::HelpGroups(_) => "running",
            Outcome::Help(_) => "next (n): run",
        }
    }

    #[test]
    fn every_outcome_is_shown() {
        for outcome in samples::all() {
            let context = Context { prompt: true };
            let text = plain(|page| write(page, &outcome, context));
            let expected = begins(&outcome);
            assert!(text.starts_with(expected), "{text}");
            assert_eq!(text.is_empty(), expected.is_empty());
            assert!(text.is_empty() || text.ends_with('\n'), "{text}");
            assert!(
                text.lines().all(|line| line.trim_end() == line),
                "a line ends in spaces:\n{text}"
            );
        }
    }
}
