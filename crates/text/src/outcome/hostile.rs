//! Tests that no text in a view acts on the terminal: each string of each view
//! contains control characters.

use super::{samples, write};
use crate::page::plain;
use crate::stops::Context;
use juror_event::Value;
use juror_view::*;

const HOSTILE: &str = "x\u{1b}[2J\u{9b}31m\u{7}\r\u{202e}y";

fn text() -> String {
    HOSTILE.to_owned()
}

fn poison_values(values: &mut [NamedValue]) {
    for named in values {
        named.name = text();
        named.value = Value::String(HOSTILE.into());
    }
}

fn poison_location(location: &mut Location) {
    location.function = Some(text());
    location.file = Some(text());
    location.module = Some(text());
}

fn poison_variable(variable: &mut VariableView) {
    variable.name = text();
    variable.type_name = text();
    variable.value = text();
}

fn poison_frame(frame: &mut FrameView) {
    poison_location(&mut frame.location);
    frame.arguments.iter_mut().for_each(poison_variable);
    for local in frame.locals.iter_mut().flatten() {
        poison_variable(local);
    }
}

fn poison_source(source: &mut SourceView) {
    source.file = text();
    source.lines.fill(text());
    source.remark = Some(text());
}

fn poison_violation(violation: &mut ViolationView) {
    violation.property = text();
    violation.description = Some(text());
    violation.file = text();
    violation.state = text();
    poison_values(&mut violation.slice);
    poison_values(&mut violation.variables);
    for step in &mut violation.path {
        step.event = text();
        step.what = format!("before {HOSTILE}");
        step.from = text();
        step.to = text();
        poison_values(&mut step.values);
        poison_location(&mut step.location);
    }
}

fn poison_count(count: &mut ViolationCount) {
    count.event = Some(text());
    count.what = Some(text());
    count.from = text();
    count.to = text();
    count.location.iter_mut().for_each(poison_location);
    poison_values(&mut count.slice);
}

fn poison_display(display: &mut DisplayView) {
    display.expression = text();
    display.value = Some(text());
}

fn poison_stop(stop: &mut StopView) {
    stop.displays = vec![crate::stops::samples::display()];
    stop.displays.iter_mut().for_each(poison_display);
    if let StopReason::Violation { violations } = &mut stop.reason {
        violations.iter_mut().for_each(poison_violation);
    }
    if let StopReason::Breakpoint { errors, .. }
    | StopReason::Watchpoint { errors, .. }
    | StopReason::Caught { errors, .. } = &mut stop.reason
    {
        errors.fill(text());
    }
    poison_location(&mut stop.location);
    stop.source.iter_mut().for_each(poison_source);
    stop.backtrace.iter_mut().for_each(poison_frame);
}

fn poison_recorded(stop: &mut RecordedStop) {
    stop.recording = text();
    stop.errors.fill(text());
    if let StopReason::Violation { violations } = &mut stop.why {
        violations.iter_mut().for_each(poison_violation);
    }
    stop.what = format!("before {HOSTILE}");
    stop.location.iter_mut().for_each(poison_location);
    poison_values(&mut stop.values);
    stop.source.iter_mut().for_each(poison_source);
}

fn poison_end(end: &mut EndView) {
    end.called = Some(text());
    for summary in &mut end.summaries {
        summary.property = text();
        summary.remarks.fill(text());
        summary.violation_counts.iter_mut().for_each(poison_count);
        for event in &mut summary.events {
            event.event = text();
            event.what = text();
        }
    }
}

fn poison_checkpoint(checkpoint: &mut CheckpointView) {
    checkpoint.losses.fill(text());
    poison_location(&mut checkpoint.location);
}

fn poison_group(group: &mut GroupHelp) {
    group.name = text();
    group.summary = text();
    group.commands.fill(text());
}

fn poison_help(help: &mut CommandHelp) {
    help.name = text();
    help.aliases.fill(text());
    help.summary = text();
    help.examples.fill((text(), text()));
    help.details = text();
    help.possible = Some(text());
}

fn poison_point(point: &mut PointView) {
    point.owner = text();
    point.for_what = text();
    point.passage = Some(text());
    point.condition = Some(text());
    point.commands.fill(text());
    for location in &mut point.locations {
        poison_location(&mut location.place);
        location.passage = Some(text());
    }
}

fn poison_monitor(monitor: &mut MonitorView) {
    monitor.property = text();
    monitor.description = Some(text());
    monitor.needed.fill(text());
    monitor.not_needed.fill(text());
    monitor.violation_counts.iter_mut().for_each(poison_count);
    for slice in &mut monitor.slices {
        slice.state = text();
        poison_values(&mut slice.binding);
        poison_values(&mut slice.variables);
    }
}

fn poison_property(property: &mut PropertyView) {
    property.property = text();
    property.description = Some(text());
    property.file = text();
    property.since = text();
    property.error = Some(text());
    property.violations.iter_mut().for_each(poison_violation);
}

fn poison_assembly(view: &mut AssemblyView) {
    view.function = Some(text());
    view.unreadable = Some(text());
    for line in &mut view.lines {
        line.name = Some(text());
        line.text = text();
        if let Some(source) = &mut line.source {
            source.file = text();
            source.text = source.text.take().map(|_| text());
        }
    }
}

fn poison_memory(view: &mut MemoryView) {
    view.unreadable = Some(text());
    for row in &mut view.rows {
        row.name = Some(text());
        row.cells.fill(text());
    }
}

fn poison_value(value: &mut ValueView) {
    value.type_name = text();
    value.value = text();
}

fn poison_code(code: &mut FrameCodeView) {
    code.function = Some(text());
    code.name = Some(text());
}

fn poison_frame_info(view: &mut FrameInfoView) {
    poison_code(&mut view.code);
    view.file = Some(text());
    view.caller.iter_mut().for_each(poison_code);
    view.callee.iter_mut().for_each(poison_code);
    for saved in &mut view.saved_registers {
        saved.register = text();
    }
}

fn poison_line(view: &mut LineView) {
    view.file = Some(text());
    view.name = Some(text());
    view.end_name = Some(text());
}

fn poison_source_file(view: &mut SourceFileView) {
    poison_line(&mut view.line);
    view.remark = Some(text());
    if let Some(unit) = &mut view.unit {
        unit.name = Some(text());
        unit.directory = Some(text());
        unit.language = Some(text());
        unit.producer = Some(text());
    }
}

fn poison_scope(view: &mut ScopeView) {
    view.function = text();
    for variable in &mut view.variables {
        variable.name = text();
        variable.declaration = text();
        variable.storage.register = Some(text());
    }
    for label in &mut view.labels {
        label.name = text();
    }
}

fn poison_process_info(view: &mut ProcessInfoView) {
    view.directory = Some(text());
    view.program = Some(text());
    let lists = [
        &mut view.command_line,
        &mut view.environment,
        &mut view.limits,
        &mut view.status,
    ];
    for list in lists {
        *list = Some(vec![text()]);
    }
    for file in view.files.iter_mut().flatten() {
        file.file = text();
    }
    for mapping in view.mappings.iter_mut().flatten() {
        mapping.permissions = text();
        mapping.name = text();
    }
}

fn poison_setting(setting: &mut SettingView) {
    setting.name = text();
    setting.value = Some(text());
    for rule in &mut setting.substitutions {
        rule.from = text();
        rule.to = text();
    }
}

fn poison_skip(skip: &mut SkipView) {
    skip.function = Some(text());
    skip.file = Some(text());
}

/// Poisons results about the program in detail.
fn poison_inspection(outcome: &mut Outcome) {
    match outcome {
        Outcome::FrameInfo(view) => poison_frame_info(view),
        Outcome::Location(location) => poison_location(location),
        Outcome::Lines(lines) => lines.iter_mut().for_each(poison_line),
        Outcome::SourceFile(view) => poison_source_file(view),
        Outcome::Scope(view) => poison_scope(view),
        Outcome::ProcessInfo(view) => poison_process_info(view),
        Outcome::Program(view) => poison_location(&mut view.location),
        Outcome::Symbol(view) => {
            view.name = Some(text());
            view.module = Some(text());
        }
        Outcome::Address(view) => view.expression = text(),
        Outcome::Types(types) => {
            for view in types {
                view.function = Some(text());
                view.name = text();
                view.definition = Some(text());
            }
        }
        Outcome::AuxiliaryVector(entries) => {
            for entry in entries {
                entry.name = text();
                entry.text = Some(text());
            }
        }
        Outcome::Modules(modules) => {
            for module in modules {
                module.path = text();
            }
        }
        other => poison_settings(other),
    }
}

/// Poisons settings, the user's own values and commands, and short answers.
fn poison_settings(outcome: &mut Outcome) {
    match outcome {
        Outcome::Empty(view) => view.pattern = Some(text()),
        Outcome::Settings(list) => list.iter_mut().for_each(poison_setting),
        Outcome::Skips(skips) => skips.iter_mut().for_each(poison_skip),
        Outcome::Skip(skip) => poison_skip(skip),
        Outcome::Thread(thread) | Outcome::ThreadHeading(thread) => thread.name = text(),
        Outcome::PlainValue(value) => poison_value(value),
        Outcome::ValueHistory(values) => values.iter_mut().for_each(poison_value),
        Outcome::Assigned(variable) => poison_variable(variable),
        Outcome::ConvenienceVariables(list) => list.iter_mut().for_each(poison_variable),
        Outcome::Copied(copy) => copy.file = Some(text()),
        Outcome::WorkingDirectory(words) | Outcome::Version(words) => *words = text(),
        Outcome::ShellEnded(end) => end.signal = Some(text()),
        Outcome::Environment(variables) => {
            for variable in variables {
                variable.name = text();
                variable.value = Some(text());
            }
        }
        Outcome::CommandGroups(groups) => {
            for group in groups {
                group.name = text();
                group.commands.fill(text());
            }
        }
        Outcome::PrettyPrinters(files) => {
            for file in files {
                file.file = text();
            }
        }
        Outcome::InfoSubjects(subjects) => {
            for subject in subjects {
                subject.name = text();
                subject.summary = text();
            }
        }
        Outcome::RecordedEvents(events) => {
            for event in events {
                event.event = text();
                event.values.fill(text());
            }
        }
        Outcome::Process(_) | Outcome::RecordedCheckpoints(_) => {}
        other => panic!("nothing is poisoned in {other:?}"),
    }
}

fn poison(outcome: &mut Outcome) {
    match outcome {
        // What the user has formatted is the user's own; the session escapes what is in it of
        // the program.
        Outcome::Done | Outcome::Quit(_) | Outcome::Printed(_) => {}
        Outcome::Message(message) => *message = text(),
        Outcome::Stopped(stop) => poison_stop(stop),
        Outcome::Ended(end) => poison_end(end),
        Outcome::RecordedStop(stop) => poison_recorded(stop),
        Outcome::RecordedEnd(end) => {
            end.recording = text();
            end.fault = Some(text());
            poison_end(&mut end.end);
        }
        Outcome::Backtrace { frames, .. } => frames.iter_mut().for_each(poison_frame),
        Outcome::Stacks(stacks) => {
            for stack in stacks {
                stack.thread.name = text();
                stack.frames.iter_mut().for_each(poison_frame);
            }
        }
        Outcome::Frame(frame, source) => {
            poison_frame(frame);
            source.iter_mut().for_each(poison_source);
        }
        Outcome::Source(source) => poison_source(source),
        Outcome::Points(points) => points.iter_mut().for_each(poison_point),
        Outcome::PointSet(set) => {
            poison_point(&mut set.point);
            set.written = text();
            for place in set.place.iter_mut().chain(&mut set.functions) {
                place.function = Some(text());
                place.file = Some(text());
            }
            set.remarks = vec![text()];
        }
        Outcome::Threads(threads) => {
            for thread in threads {
                thread.name = text();
                poison_location(&mut thread.location);
                thread.caller.as_mut().into_iter().for_each(poison_location);
                if let Some(waits) = &mut thread.waits {
                    waits.what = text();
                    let guards = waits.guards.iter_mut();
                    guards.for_each(|guard| poison_location(&mut guard.location));
                }
            }
        }
        Outcome::Schedule(schedule) => {
            for thread in &mut schedule.threads {
                thread.next = text();
                thread.place = text();
            }
        }
        Outcome::Communication(communication) => {
            communication.file = communication.file.as_ref().map(|_| text());
            for step in &mut communication.steps {
                step.step = text();
                step.place = text();
            }
        }
        Outcome::Origins(origins) => {
            origins.expression = text();
            origins.value = text();
            for step in &mut origins.steps {
                step.name = step.name.as_ref().map(|_| text());
                step.value = step.value.as_ref().map(|_| text());
                step.remark = step.remark.as_ref().map(|_| text());
                step.source = step.source.as_ref().map(|_| text());
                step.place.as_mut().into_iter().for_each(poison_location);
                if let Some(call) = &mut step.call {
                    call.name = text();
                    call.file = call.file.as_ref().map(|_| text());
                }
            }
        }
        Outcome::Checkpoint(checkpoint) => poison_checkpoint(checkpoint),
        Outcome::Checkpoints(checkpoints) => checkpoints.iter_mut().for_each(poison_checkpoint),
        Outcome::Processes(processes) => {
            for process in processes {
                process.program = text();
                process.state = text();
                poison_location(&mut process.location);
            }
        }
        Outcome::Signals(signals) => {
            for signal in signals {
                signal.name = text();
                signal.description = text();
            }
        }
        Outcome::Registers(registers) => {
            for register in registers {
                register.name = text();
                register.meaning = Some(text());
            }
        }
        Outcome::Variables(variables) => variables.iter_mut().for_each(poison_variable),
        Outcome::Assembly(view) => poison_assembly(view),
        Outcome::Memory(view) => poison_memory(view),
        Outcome::Names(names) => {
            for name in names {
                name.name = text();
                name.type_name = text();
                name.location.iter_mut().for_each(poison_location);
            }
        }
        Outcome::Monitors(monitors) => monitors.iter_mut().for_each(poison_monitor),
        Outcome::Properties(list) => list.iter_mut().for_each(poison_property),
        Outcome::Scenarios(list) => {
            for scenario in list {
                scenario.scenario = text();
                scenario.description = Some(text());
                scenario.file = text();
                scenario.properties.fill(text());
                poison_values(&mut scenario.variables);
            }
        }
        Outcome::Events(events) => {
            for event in events {
                event.property = text();
                event.event = text();
                event.what = text();
                event.absent = Some(text());
                event.locations.iter_mut().for_each(poison_location);
            }
        }
        Outcome::Graphs(graphs) => {
            for graph in graphs {
                graph.property = text();
                graph.picture = text();
                graph.file = Some(text());
            }
        }
        Outcome::Paths(paths) => paths.iter_mut().for_each(poison_violation),
        Outcome::Value(value) => poison_value(value),
        Outcome::Displays(displays) => displays.iter_mut().for_each(poison_display),
        Outcome::Evaluations(open) => {
            for one in open {
                one.expression = text();
                one.function = text();
            }
        }
        Outcome::HelpIndex(commands) => commands.iter_mut().for_each(poison_help),
        Outcome::HelpGroups(groups) => groups.iter_mut().for_each(poison_group),
        Outcome::Help(help) => poison_help(help),
        other => poison_inspection(other),
    }
}

#[test]
fn nothing_acts_on_the_terminal() {
    let mut outcomes = samples::all();
    for reason in samples::stop_reasons() {
        let mut stop = crate::stops::samples::stop(reason);
        match &mut stop.reason {
            StopReason::Scenario { scenario, message } => {
                *scenario = text();
                *message = Some(text());
            }
            StopReason::Standstill { waiting, .. } => {
                for thread in waiting {
                    thread.place = text();
                    thread.object = Some(text());
                    thread.taken_at = Some(text());
                }
            }
            StopReason::ScenarioError {
                scenario,
                message,
                help,
                file,
                text: source,
                ..
            } => {
                *scenario = text().into();
                *message = text();
                *help = Some(text().into());
                *file = text().into();
                *source = text().into();
            }
            StopReason::MonitorError {
                property,
                message,
                file,
                text: source,
                ..
            } => {
                *property = text();
                *message = text();
                *file = text();
                *source = text().into();
            }
            StopReason::Watchpoint { accesses, .. } => {
                for access in accesses {
                    access.expression = text();
                    access.access = text();
                    access.before = Some(text());
                    access.value = text();
                    access.system_call = Some(text());
                    poison_location(&mut access.place);
                }
            }
            StopReason::WatchpointEnded {
                expressions,
                function,
                ..
            } => {
                expressions.iter_mut().for_each(|it| *it = text());
                *function = text();
            }
            StopReason::Restored { losses, .. } => losses.fill(text()),
            StopReason::Caught { description, .. } => *description = text(),
            StopReason::Evaluated {
                expression,
                returned,
                ..
            } => {
                returned.iter_mut().for_each(poison_variable);
                *expression = text();
            }
            StopReason::Finished { returned, function } => {
                returned.iter_mut().for_each(poison_variable);
                *function = text();
            }
            StopReason::Signal {
                signal,
                description,
                stack_overflow,
                ..
            } => {
                for name in stack_overflow.iter_mut().flat_map(|it| &mut it.cycle) {
                    *name = text();
                }
                *signal = text();
                *description = text();
            }
            StopReason::CoreFile {
                program,
                signal,
                description,
                ..
            } => {
                *program = text();
                *signal = Some(text());
                *description = Some(text());
            }
            _ => {}
        }
        outcomes.push(Outcome::Stopped(Box::new(stop)));
    }
    for mut outcome in outcomes {
        poison(&mut outcome);
        let context = Context { prompt: true };
        let mut page = crate::page::Page::default();
        write(&mut page, &outcome, context);
        // The only escape sequences are the styles of the page.
        let shown = page.into_text();
        for part in shown.split('\u{1b}').skip(1) {
            let ends = part.trim_start_matches(|c: char| "[0123456789;".contains(c));
            assert!(part.starts_with('[') && ends.starts_with('m'), "{part:?}");
        }
        let shown = plain(|page| write(page, &outcome, context));
        let active = |c: char| c != '\n' && crate::escape::is_active(c);
        assert!(!shown.contains(active), "{shown:?}");
    }
}
