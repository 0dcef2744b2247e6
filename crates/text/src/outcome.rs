//! The results of commands as text.

use crate::locations::{write_frame, write_frames, write_source, write_stacks};
use crate::page::Page;
use crate::stops::{self, Context};
use crate::{
    checkpoints, code, communication, ending, evaluations, inspection, monitors, origins, path,
    properties, recorded, scenarios, set_points, settings, standstill, tables, threads,
};
use juror_view::Outcome;

/// Writes an outcome. Writes nothing for an outcome without a result.
pub fn write(page: &mut Page, outcome: &Outcome, context: Context) {
    match outcome {
        Outcome::Done | Outcome::Quit(_) => {}
        Outcome::Message(message) => tables::write_message(page, message),
        Outcome::Printed(text) => {
            page.keep_lines();
            tables::write_printed(page, text);
        }
        Outcome::Empty(view) => settings::write_empty(page, view),
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
        Outcome::FrameInfo(view) => inspection::write_frame_info(page, view),
        Outcome::Location(location) => inspection::write_location(page, location),
        Outcome::Lines(lines) => inspection::write_line_views(page, lines),
        Outcome::SourceFile(view) => inspection::write_source_file(page, view),
        Outcome::Points(points) => tables::write_points(page, points),
        Outcome::PointSet(set) => set_points::write(page, set),
        Outcome::Threads(threads) => threads::write(page, threads),
        Outcome::Skips(skips) => settings::write_skips(page, skips),
        Outcome::Skip(skip) => settings::write_skip(page, skip),
        Outcome::Thread(it) => {
            tables::write_message(page, &format!("thread {} (kernel id {})", it.number, it.id));
        }
        Outcome::ThreadHeading(it) => {
            tables::write_message(page, &format!("Thread {} ({}):", it.number, it.name));
        }
        Outcome::Schedule(schedule) => standstill::write(page, schedule),
        Outcome::Communication(communication) => communication::write(page, communication),
        Outcome::Origins(origins) => origins::write(page, origins),
        Outcome::Checkpoint(checkpoint) => checkpoints::write_one(page, checkpoint),
        Outcome::Checkpoints(checkpoints) => checkpoints::write_all(page, checkpoints),
        Outcome::RecordedCheckpoints(list) => settings::write_recorded_checkpoints(page, list),
        Outcome::RecordedEvents(list) => settings::write_recorded_events(page, list),
        Outcome::Processes(processes) => tables::write_processes(page, processes),
        Outcome::Process(it) => {
            tables::write_message(page, &format!("process {} ({})", it.number, it.id));
        }
        Outcome::ProcessInfo(view) => inspection::write_process_info(page, view),
        Outcome::AuxiliaryVector(list) => inspection::write_auxiliary_vector(page, list),
        Outcome::Program(view) => inspection::write_program(page, view),
        Outcome::Modules(modules) => inspection::write_modules(page, modules),
        Outcome::Signals(signals) => tables::write_signals(page, signals),
        Outcome::Registers(registers) => tables::write_registers(page, registers),
        Outcome::Variables(variables) => tables::write_variables(page, variables),
        Outcome::Assembly(assembly) => code::write_assembly(page, assembly),
        Outcome::Memory(memory) if memory.rows.is_empty() && memory.unreadable.is_none() => {
            tables::write_message(page, "it is not there");
        }
        Outcome::Memory(memory) => code::write_memory(page, memory),
        Outcome::Names(names) => code::write_names(page, names),
        Outcome::Symbol(view) => inspection::write_symbol(page, view),
        Outcome::Address(view) => inspection::write_address(page, view),
        Outcome::Scope(view) => inspection::write_scope(page, view),
        Outcome::Types(types) => inspection::write_types(page, types),
        Outcome::Monitors(monitors) => monitors::write(page, monitors),
        Outcome::Properties(list) => properties::write(page, list),
        Outcome::Scenarios(list) => scenarios::write(page, list),
        Outcome::Events(events) => properties::write_events(page, events),
        Outcome::Graphs(graphs) => properties::write_graphs(page, graphs),
        Outcome::Paths(paths) => write_paths(page, paths),
        Outcome::Value(value) => tables::write_value(page, value),
        Outcome::PlainValue(value) => tables::write_message(page, &value.value),
        Outcome::Assigned(it) => {
            tables::write_message(page, &format!("{} = {}", it.name, it.value));
        }
        Outcome::ConvenienceVariables(list) => settings::write_convenience_variables(page, list),
        Outcome::ValueHistory(values) => settings::write_value_history(page, values),
        Outcome::Copied(copy) => settings::write_copy(page, copy),
        Outcome::Settings(list) => settings::write_settings(page, list),
        Outcome::Environment(variables) => settings::write_environment(page, variables),
        Outcome::WorkingDirectory(directory) => tables::write_message(page, directory),
        Outcome::Version(version) => tables::write_message(page, &format!("juror {version}")),
        Outcome::CommandGroups(groups) => settings::write_command_groups(page, groups),
        Outcome::PrettyPrinters(files) => settings::write_pretty_printers(page, files),
        Outcome::ShellEnded(end) => settings::write_shell_end(page, end),
        Outcome::InfoSubjects(subjects) => settings::write_subjects(page, subjects),
        Outcome::Displays(displays) if displays.is_empty() => {
            tables::write_message(page, "there are no displays");
        }
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
                stack_overflow: Some(StackOverflowView {
                    frame_count: 34_940,
                    cycle: vec!["even".into(), "odd".into()],
                }),
                fatal: true,
            },
            StopReason::Interrupted,
            StopReason::Standstill {
                standstill: juror_view::StandstillKind::Deadlock,
                waiting: standstill::samples::waiting(),
            },
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
            StopReason::CoreFile {
                program: "./crash".into(),
                pid: 815,
                signal: Some("SIGSEGV".into()),
                description: Some("d".into()),
                fault_address: Some(8),
                stack_overflow: None,
            },
        ]
    }

    fn value() -> ValueView {
        ValueView {
            is_formatted: false,
            number: 1,
            type_name: "int".into(),
            value: "7".into(),
        }
    }

    /// One outcome of each kind.
    pub fn all() -> Vec<Outcome> {
        vec![
            Outcome::Done,
            Outcome::Message("Breakpoint 1 at queue_push".into()),
            Outcome::Printed("7 letters".into()),
            Outcome::Empty(settings::samples::empty()),
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
            Outcome::FrameInfo(Box::new(inspection::samples::frame_info())),
            Outcome::Location(Box::new(location("fill", "main.c", 17))),
            Outcome::Lines(vec![inspection::samples::line()]),
            Outcome::SourceFile(Box::new(inspection::samples::source_file())),
            Outcome::Points(tables::samples::points()),
            Outcome::PointSet(Box::new(set_points::samples::breakpoint())),
            Outcome::Threads(tables::samples::threads()),
            Outcome::Skips(vec![settings::samples::skip()]),
            Outcome::Skip(settings::samples::skip()),
            Outcome::Thread(settings::samples::thread()),
            Outcome::ThreadHeading(settings::samples::thread()),
            Outcome::Schedule(Box::new(standstill::samples::schedule())),
            Outcome::Communication(Box::new(communication::samples::communication())),
            Outcome::Origins(Box::new(origins::samples::origins())),
            Outcome::Checkpoint(Box::new(checkpoints::samples::checkpoint())),
            Outcome::Checkpoints(vec![checkpoints::samples::checkpoint()]),
            Outcome::Processes(tables::samples::processes()),
            Outcome::RecordedCheckpoints(settings::samples::recorded_checkpoints()),
            Outcome::RecordedEvents(settings::samples::recorded_events()),
            Outcome::Process(ProcessName {
                number: 1,
                id: 4711,
                count: 1,
            }),
            Outcome::ProcessInfo(Box::new(inspection::samples::process_info())),
            Outcome::AuxiliaryVector(inspection::samples::auxiliary_vector()),
            Outcome::Program(Box::new(inspection::samples::program())),
            Outcome::Modules(inspection::samples::modules()),
            Outcome::Signals(tables::samples::signals()),
            Outcome::Registers(tables::samples::registers()),
            Outcome::Variables(vec![variable("c", "char", "110")]),
            Outcome::Assembly(code::samples::assembly()),
            Outcome::Memory(code::samples::memory()),
            Outcome::Names(code::samples::names()),
            Outcome::Symbol(inspection::samples::symbol()),
            Outcome::Address(inspection::samples::address()),
            Outcome::Scope(inspection::samples::scope()),
            Outcome::Types(inspection::samples::types()),
            Outcome::Monitors(vec![monitors::sample()]),
            Outcome::Properties(vec![properties::samples::property(false)]),
            Outcome::Scenarios(vec![scenarios::samples::scenario()]),
            Outcome::Events(properties::samples::events()),
            Outcome::Graphs(vec![properties::samples::graph()]),
            Outcome::Paths(vec![violation()]),
            Outcome::Displays(vec![stops::samples::display()]),
            Outcome::Value(value()),
            Outcome::PlainValue(value()),
            Outcome::Assigned(variable("count", "int", "7")),
            Outcome::ConvenienceVariables(vec![variable("n", "int", "7")]),
            Outcome::ValueHistory(vec![value()]),
            Outcome::Copied(settings::samples::copy()),
            Outcome::Settings(settings::samples::settings()),
            Outcome::Environment(settings::samples::environment()),
            Outcome::WorkingDirectory("/home/user".into()),
            Outcome::Version("0.1.0".into()),
            Outcome::CommandGroups(settings::samples::groups()),
            Outcome::PrettyPrinters(settings::samples::printers()),
            Outcome::ShellEnded(settings::samples::shell_end()),
            Outcome::InfoSubjects(settings::samples::subjects()),
            Outcome::Evaluations(vec![EvaluationView {
                number: 1,
                thread: 2,
                expression: "f(1) + 2".into(),
                function: "f".into(),
            }]),
            Outcome::HelpIndex(vec![tables::samples::help()]),
            Outcome::HelpGroups(vec![tables::samples::group()]),
            Outcome::Help(tables::samples::help()),
            Outcome::Quit(juror_view::QuitView::default()),
        ]
    }
}

#[cfg(test)]
mod hostile;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{plain, plain_at};

    fn begins(outcome: &Outcome) -> &'static str {
        match outcome {
            Outcome::Done | Outcome::Quit(_) => "",
            Outcome::Message(_) => "Breakpoint 1 at queue_push\n",
            Outcome::Printed(_) => "7 letters\n",
            Outcome::Empty(_) => "there is no function whose name matches `^queue_`\n",
            Outcome::Stopped(_) => "VIOLATED  queue_bounds: a queue",
            Outcome::Ended(_) => "The program exited with status 0.\n",
            Outcome::RecordedStop(_) => "VIOLATED  queue_bounds: a queue",
            Outcome::RecordedEnd(_) => "The program exited with status 0.\n",
            Outcome::Backtrace { .. } => "#0  queue_push (queue=0x4052a0, c=110)",
            Outcome::Stacks(_) => "Thread 1 (main):\n#0  queue_push (queue=0x4052a0, c=110)",
            Outcome::Frame(..) => "#1  fill () at src/main.c:17\n      22   void",
            Outcome::Source(_) => "      22   void queue_push",
            Outcome::FrameInfo(_) => "#1  fill at main.c:17\nrip is 0x401136 <fill+4>\n",
            Outcome::Location(_) => "line 17 of /home/user/src/main.c, in fill\n",
            Outcome::Lines(_) => "line 17 of main.c begins at 0x401136 <fill+4> and ends before",
            Outcome::SourceFile(_) => {
                "compiler-generated code near line 17 of /home/user/src/main.c, at 0x401136 \
                 <fill+4>\n40 lines; it is newer than the program\ncompiled as main.c in "
            }
            Outcome::Skips(_) => "#  state     what\n1  enabled   functions that match",
            Outcome::Skip(_) => "step skips functions that match `^std::` in queue.h (skip 1)\n",
            Outcome::Thread(_) => "thread 1 (kernel id 4711)\n",
            Outcome::ThreadHeading(_) => "Thread 1 (main):\n",
            Outcome::RecordedCheckpoints(_) => "checkpoint 1 at event 27\n",
            Outcome::RecordedEvents(_) => "         8  before queue_push(queue, c)\n",
            Outcome::Process(_) => "process 1 (4711)\n",
            Outcome::ProcessInfo(_) => "process 4711\ncommand    ./faulty 8\ndirectory  /home",
            Outcome::AuxiliaryVector(_) => {
                "6   AT_PAGESZ             4096\n9   AT_ENTRY              0x1000\n\
                 31  AT_EXECFN             0x1000 \"./f\"\n"
            }
            Outcome::Program(_) => {
                "process 4711 was started by juror; it has 2 threads\n\
                 thread 1 is selected, at 0x401136: fill, main.c:17\n"
            }
            Outcome::Modules(_) => "0x000000007f000000  symbols only       /lib/libc.so.6\n",
            Outcome::Symbol(_) => "0x401136 is fill+4 in faulty\n",
            Outcome::Address(_) => "count is at 0x404020\n",
            Outcome::Scope(_) => {
                "parameter int n, 4 bytes, in memory at $rbp-20\n\
                 label again, line 20, at 0x1140 of the file\n"
            }
            Outcome::Types(_) => "void (int)\n",
            Outcome::PlainValue(_) => "7\n",
            Outcome::Assigned(_) => "count = 7\n",
            Outcome::ConvenienceVariables(_) => "$n = 7\n",
            Outcome::ValueHistory(_) => "$1 = 7\n",
            Outcome::Copied(_) => "3 bytes in memory.bin\n",
            Outcome::Settings(_) => "listsize: 10\nsubstitute-path: /build is /home/user\n",
            Outcome::Environment(_) => "LANG=C\n",
            Outcome::WorkingDirectory(_) => "/home/user\n",
            Outcome::Version(_) => "juror 0.1.0\n",
            Outcome::CommandGroups(_) => "both: print n; up\n",
            Outcome::PrettyPrinters(_) => "queue.views: 2 rules\n",
            Outcome::ShellEnded(_) => "the command was ended by SIGTERM\n",
            Outcome::InfoSubjects(_) => "info args           the arguments of the selected frame\n",
            Outcome::Points(_) => "#    owner",
            Outcome::PointSet(_) => "breakpoint 1 at 0x401136: queue_push, queue.c:23 (no code",
            Outcome::Threads(_) => "   #  id",
            Outcome::Schedule(_) => "thread  state      next",
            Outcome::Communication(_) => "2 older steps left out\n",
            Outcome::Origins(_) => "balance = 107\n",
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
            Outcome::Events(_) => "property      event",
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
    fn the_width_changes_white_space_only() {
        fn words(text: &str) -> Vec<&str> {
            text.split_whitespace().collect()
        }
        for outcome in samples::all() {
            let context = Context { prompt: true };
            let text = plain(|page| write(page, &outcome, context));
            let narrow = plain_at(40, |page| write(page, &outcome, context));
            assert_eq!(words(&narrow), words(&text));
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
