//! Views of the stopped program: frames, variables, values, threads, registers, points, monitors.

use crate::commands::info_graph::{named, no_property};
use crate::inspect::expressions;
use crate::inspect::frames::{selected_frame, variable_view};
use crate::inspect::guards;
use crate::inspect::source::line_of;
use crate::inspect::waits::{self, Wait};
use crate::run::points::kind_and_point;
use crate::run::processes::watching;
use crate::session::Session;
use juror_arch::names::{self, is_register};
use juror_debuggee::ThreadId;
use juror_fault::CommandError;
use juror_monitoring::monitors::MonitoredProperty;
use juror_monitoring::report;
use juror_points::point::whole_points;
use juror_program::locations;
use juror_program::stack::frames::Frame;
use juror_symbols::processor_flags;
use juror_values::format::Names;
use juror_view::{
    LineView, ModuleView, Outcome, PointView, RegisterView, ThreadView, WaitView, location,
};

/// The limit of slices whose path `monitor NAME` shows.
const PATHS_MAX: usize = 20;

/// `info registers`, `info registers rip rsp`
pub(crate) fn registers(session: &mut Session, names: &str) -> Result<Outcome, CommandError> {
    let frame = selected_frame(session)?;
    let program = session.running()?;
    let mut views: Vec<RegisterView> = names::GENERAL
        .into_iter()
        .filter_map(|name| {
            let value = frame.registers.get(names::whole_register(name)?)?;
            Some(RegisterView {
                name: name.to_owned(),
                value,
                meaning: program.name_of(value),
            })
        })
        .collect();
    if session.processes.selection.level == 0 {
        let flags = program.registers(session.thread()?)?.flags();
        views.push(RegisterView {
            name: names::FLAGS.to_owned(),
            value: flags,
            meaning: Some(flag_names(flags)),
        });
    }
    if names.is_empty() {
        return Ok(Outcome::Registers(views));
    }
    let named = names.split_whitespace();
    let is_special = |name: &str| {
        let plain = name.trim_start_matches('$');
        let is_alias = names::aliased(plain).is_some();
        is_register(plain) && !is_alias && !views.iter().any(|view| view.name == plain)
    };
    if named.clone().any(is_special) {
        return special_registers(session, names);
    }
    let mut chosen = Vec::new();
    for name in names.split_whitespace() {
        let plain = name.trim_start_matches('$');
        let plain = match names::aliased(plain) {
            Some(register) => register.name(),
            None => plain,
        };
        let found = views.iter().find(|view| view.name == plain);
        chosen.push(found.cloned().ok_or_else(|| {
            CommandError::with_help(
                format!("there is no register `{name}` in this frame"),
                "info registers lists them",
            )
        })?);
    }
    Ok(Outcome::Registers(chosen))
}

/// Returns vector registers and parts of registers: `info registers xmm0`.
fn special_registers(session: &mut Session, names: &str) -> Result<Outcome, CommandError> {
    let mut views = Vec::new();
    for name in names.split_whitespace() {
        let plain = name.trim_start_matches('$');
        let value = expressions::evaluate(session, &format!("${plain}"))?;
        views.push(variable_view(session, plain, &value));
    }
    Ok(Outcome::Variables(views))
}

/// `info threads`, `info threads 1 2`
pub(crate) fn threads(session: &mut Session, numbers: &str) -> Result<Outcome, CommandError> {
    let mut views = thread_views(session)?;
    if !numbers.is_empty() {
        let mut wanted: Vec<u32> = Vec::new();
        for word in numbers.split_whitespace() {
            let number = word.parse().ok();
            let mut known = views.iter().map(|view| view.number);
            let known = known.find(|known| Some(*known) == number);
            wanted.push(known.ok_or_else(|| {
                let message = format!("there is no thread {word}");
                CommandError::with_help(message, "see: info threads")
            })?);
        }
        views.retain(|view| wanted.contains(&view.number));
    }
    Ok(Outcome::Threads(views))
}

/// Returns the views of the threads of every process.
pub(crate) fn thread_views(session: &mut Session) -> Result<Vec<ThreadView>, CommandError> {
    let current = session.thread()?;
    let shown = session.frames()?.first().cloned();
    let threads: Vec<_> = session.running()?.debuggee.threads().collect();
    let mut stacks = Vec::new();
    for thread in &threads {
        let (frames, _) = session.running()?.backtrace(thread.id, CALLERS_MAX);
        stacks.push((thread.id, frames));
    }
    let waits = waits_of(session, &stacks)?;
    let mut views = Vec::new();
    for ((thread, (_, frames)), waits) in threads.into_iter().zip(stacks).zip(waits) {
        let caller = users_caller(session, frames);
        let program = session.running()?;
        let number = program.thread_number(thread.id);
        views.push(ThreadView {
            caller: caller.map(|frame| locations::location_of(program, &frame)),
            waits,
            number,
            id: thread.id.0,
            name: session.user.thread_names.of(thread.id, thread.name),
            current: thread.id == current,
            location: match (&shown, thread.pc) {
                (Some(frame), _) if thread.id == current => locations::location_of(program, frame),
                (_, Some(pc)) => locations::location(program, pc),
                (_, None) => Default::default(),
            },
        });
    }
    views.sort_by_key(|view| view.number);
    Ok(views)
}

/// Returns for what each thread waits, given the stacks.
fn waits_of(
    session: &mut Session,
    stacks: &[(ThreadId, Vec<Frame>)],
) -> Result<Vec<Option<WaitView>>, CommandError> {
    let waits = stacks.iter();
    let waits = waits.map(|(thread, frames)| waits::wait_of(session, *thread, frames));
    let waits: Vec<Option<Wait>> = waits.collect();
    let is_guarded = |wait: &Option<Wait>| wait.as_ref().is_some_and(|it| it.guarded.is_some());
    let known = if waits.iter().any(is_guarded) {
        let stacks = stacks.iter().map(|(thread, frames)| (*thread, &**frames));
        guards::guards(session.running()?, &stacks.collect::<Vec<_>>())
    } else {
        Vec::new()
    };
    let views = waits.into_iter().map(|wait| {
        let Wait { mut view, guarded } = wait?;
        if let Some(address) = guarded {
            let (guards, is_certain) = guards::of_lock(session, &known, address);
            view.holder = guards.first().map(|it| it.thread).filter(|_| is_certain);
            view.guards = guards;
        }
        Some(view)
    });
    Ok(views.collect())
}

/// The number of frames of a thread in which a caller with source is looked for.
const CALLERS_MAX: usize = 64;

/// Returns the innermost caller of a thread's innermost frame that has source to show; none if
/// the innermost frame has it.
fn users_caller(session: &mut Session, frames: Vec<Frame>) -> Option<Frame> {
    let level = frames.iter().position(|frame| session.is_users(frame));
    let level = level.filter(|&level| level > 0)?;
    frames.into_iter().nth(level)
}

/// `info breakpoints`: the user's points, then those that the monitors have inserted.
pub(crate) fn points(session: &mut Session, numbers: &str) -> Result<Outcome, CommandError> {
    let mut views = point_views(session);
    if !numbers.is_empty() {
        let wanted = whole_points(numbers)?;
        for number in &wanted {
            kind_and_point(session, *number)?;
        }
        views.retain(|view| view.number.is_some_and(|number| wanted.contains(&number)));
    }
    Ok(Outcome::Points(views))
}

/// Returns the views of the user's points, then of those that the monitors have inserted.
pub(crate) fn point_views(session: &mut Session) -> Vec<PointView> {
    let program = session.processes.program.as_ref();
    let mut views = session.points.breakpoints.views(program);
    views.extend(session.points.catchpoints.views(program));
    views.extend(session.points.hardware.views(program));
    views.extend(watching::watchpoint_views(session));
    views.sort_by_key(|view| view.number);
    views.extend(session.monitor_points(|_| true));
    views
}

/// `monitor`, `monitor NAME`
pub(crate) fn session_monitors(session: &Session, name: &str) -> Result<Outcome, CommandError> {
    monitors(
        session.processes.monitors.shown(),
        session.processes.program.as_ref(),
        name,
    )
}

/// `info sharedlibrary`
pub(crate) fn shared_libraries(session: &Session) -> Result<Outcome, CommandError> {
    module_views(session).map(Outcome::Modules)
}

/// Returns the views of the loaded modules.
pub(crate) fn module_views(session: &Session) -> Result<Vec<ModuleView>, CommandError> {
    let modules = session.running()?.modules.iter();
    let views = modules.map(|module| ModuleView {
        path: module.path.display().to_string(),
        load_bias: module.bias,
        has_debug_info: module.symbols.has_debug_info(),
    });
    Ok(views.collect())
}

/// `info line`
pub(crate) fn line_info(session: &mut Session) -> Result<Outcome, CommandError> {
    Ok(Outcome::Lines(vec![line_of_frame(session)?]))
}

/// Returns the line of the selected frame.
pub(crate) fn line_of_frame(session: &mut Session) -> Result<LineView, CommandError> {
    let frame = selected_frame(session)?;
    // The offset is from the entry of the containing non-inlined function.
    let function = frame.function.as_ref().zip(frame.module.as_ref());
    let name = function.map(|(function, module)| {
        match module.to_file(frame.pc).wrapping_sub(function.low_pc) {
            0 => function.name.to_string(),
            offset => format!("{}+{offset}", function.name),
        }
    });
    let found = line_of(session, &frame);
    let (file, line, compiler_generated) = match found {
        Some((file, line, is_near)) => (Some(file), Some(line), is_near),
        None => (None, None, false),
    };
    Ok(LineView {
        file: file.map(|file| file.display().to_string()),
        line,
        compiler_generated,
        address: frame.pc,
        name,
        ..LineView::default()
    })
}

/// Returns all monitors, or the paths of one.
pub(crate) fn monitors<P: location::Places>(
    shown: &[MonitoredProperty],
    places: Option<&P>,
    name: &str,
) -> Result<Outcome, CommandError> {
    if shown.is_empty() {
        return Err(no_property());
    }
    if name.is_empty() {
        let views = shown.iter().map(|it| report::monitor(it, places));
        return Ok(Outcome::Monitors(views.collect()));
    }
    let monitored = named(shown, name)?;
    let ids: Vec<_> = monitored.monitor.slices().map(|slice| slice.id).collect();
    let paths = ids.into_iter().take(PATHS_MAX);
    let views = paths.map(|id| report::violation(monitored, id, places, false, false));
    Ok(Outcome::Paths(views.collect()))
}

fn flag_names(flags: u64) -> String {
    let known = processor_flags();
    let names = known.flag_names().unwrap_or_default();
    let set: Vec<&str> = names
        .iter()
        .filter(|(bit, _)| flags >> bit & 1 == 1)
        .map(|(_, name)| *name)
        .collect();
    format!("[ {} ]", set.join(" "))
}
