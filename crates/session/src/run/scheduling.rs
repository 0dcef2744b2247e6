//! A program whose threads are under a schedule: a run that is made again.

use crate::session::Session;
use juror_debuggee::{
    CpuPolicy, EnvironmentChange, Launch, PidNamespace, StandstillKind, ThreadId,
};
use juror_explore::{ExploreError, Recorded, RunFile, Waiting};
use juror_fault::{CommandError, SessionError};
use juror_program::program::Program;
use juror_schedule::State;
use juror_view::{
    self as view, Outcome, ScheduleView, ScheduledState, ScheduledThreadView, StopReason,
};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::sync::Arc;

/// Sets up the launch of a program that will be under a schedule.
pub(crate) fn prepare(session: &Session, launch: &mut Launch) -> Result<(), SessionError> {
    let options = &session.options;
    if options.schedule.is_none() && options.recorded_run.is_none() {
        return Ok(());
    }
    launch.cpu = CpuPolicy::Shared;
    launch.is_repeatable = true;
    launch.call_stops = juror_explore::call_stops();
    if let Some(file) = &options.schedule {
        let world = file.world();
        launch.world = world.map_err(|error| SessionError::Launch(error.to_string()))?;
        if file.is_recorded() {
            launch.call_stops = juror_explore::kept_call_stops();
        }
    } else {
        launch.call_stops = juror_explore::recorded_call_stops();
        // Its path is on its first stack.
        let located = juror_debuggee::locate(&launch.program);
        launch.program = located.map_err(|error| SessionError::Launch(error.to_string()))?;
        // Those of the file are the program's, in the same order.
        let cleared = EnvironmentChange::Clear;
        let variables = environment(&launch.environment).into_iter();
        let set =
            |(name, value): (String, String)| EnvironmentChange::Set(name.into(), value.into());
        launch.environment = [cleared].into_iter().chain(variables.map(set)).collect();
    }
    if launch.world.is_some() {
        // A process in the namespaces of one may not enter those of the other.
        launch.pid_namespace = PidNamespace::Shared;
    }
    Ok(())
}

/// Returns the variables of the environment after some changes; those that are no UTF-8 are left
/// out.
fn environment(changes: &[EnvironmentChange]) -> Vec<(String, String)> {
    let mut variables: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    for change in changes {
        match change {
            EnvironmentChange::Clear => variables.clear(),
            EnvironmentChange::Unset(name) => drop(variables.remove(name)),
            EnvironmentChange::Set(name, value) => {
                variables.insert(name.clone(), value.clone());
            }
        }
    }
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    variables.into_iter().filter_map(text).collect()
}

/// Puts the threads of a program that has just been started under the schedule of the options, or
/// records its run.
pub(crate) fn take_control(
    session: &Session,
    program: &mut Program,
    main: ThreadId,
    launch: &Launch,
) -> Result<(), SessionError> {
    let options = &session.options;
    let failed = |error: ExploreError| SessionError::Launch(error.to_string());
    if let Some(file) = &options.schedule {
        return file.take_control(program, main).map_err(failed);
    }
    let Some(path) = &options.recorded_run else {
        return Ok(());
    };
    let text = |word: &OsStr| match word.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(SessionError::Launch(format!(
            "{word:?}: the file of a run cannot hold this word: it is no UTF-8"
        ))),
    };
    let directory = match &launch.directory {
        Some(directory) => directory.clone(),
        None => std::env::current_dir().unwrap_or_default(),
    };
    let recorded = Recorded {
        path: path.clone(),
        program: text(launch.program.as_os_str())?,
        arguments: launch
            .arguments
            .iter()
            .map(|it| text(it))
            .collect::<Result<_, _>>()?,
        directory: text(directory.as_os_str())?,
        environment: environment(&launch.environment),
        properties: options.properties.clone(),
        by_stops: options.records_by_stops,
        tally: Arc::clone(&options.recorded),
    };
    RunFile::record(&recorded, program, main).map_err(failed)
}

/// Refuses what would change the run.
pub(crate) fn refuse(session: &Session, what: &str) -> Result<(), CommandError> {
    let program = session.processes.program.as_ref();
    if program.is_none_or(|program| program.debuggee.scheduler().is_none()) {
        return Ok(());
    }
    Err(CommandError::with_help(
        format!("{what} is not possible while a run is made again: it would be another run"),
        "run makes it again from its start",
    ))
}

/// Returns the reason of a standstill.
pub(crate) fn standstill(program: &Program, kind: StandstillKind) -> StopReason {
    let kind = match kind {
        StandstillKind::Deadlock => view::StandstillKind::Deadlock,
        StandstillKind::PartialDeadlock => view::StandstillKind::PartialDeadlock,
        StandstillKind::Endless => view::StandstillKind::Endless,
        StandstillKind::Diverged => view::StandstillKind::Diverged,
    };
    let scheduler = program.debuggee.scheduler();
    let is_deadlock = matches!(
        kind,
        view::StandstillKind::Deadlock | view::StandstillKind::PartialDeadlock
    );
    let waiting = match scheduler.filter(|_| is_deadlock) {
        Some(scheduler) => {
            let communication = program.debuggee.communication();
            juror_explore::deadlock(program, scheduler, communication).threads
        }
        None => Vec::new(),
    };
    let waiting = waiting.iter().map(Waiting::view).collect();
    StopReason::Standstill {
        standstill: kind,
        waiting,
    }
}

/// `schedule`, `schedule 3`
pub(crate) fn schedule_command(session: &mut Session, rest: &str) -> Result<Outcome, CommandError> {
    let program = session.running_mut()?;
    if program.debuggee.scheduler().is_none() {
        return Err(CommandError::with_help(
            "the threads are under no schedule",
            "juror explore finds a run that fails; juror replay FILE.run makes it again",
        ));
    }
    if !rest.is_empty() {
        let number: Option<u32> = rest.parse().ok();
        let thread = number.and_then(|number| program.thread_of_number(number));
        let thread = thread.ok_or_else(|| {
            CommandError::with_help(
                format!("`{rest}` is no thread"),
                "schedule shows the threads, schedule 3 lets thread 3 go on",
            )
        })?;
        program.debuggee.choose_thread(thread)?;
    }
    schedule_view(session.running()?).map(|view| Outcome::Schedule(Box::new(view)))
}

fn schedule_view(program: &Program) -> Result<ScheduleView, CommandError> {
    let Some(scheduler) = program.debuggee.scheduler() else {
        return Err(CommandError::new("the threads are under no schedule"));
    };
    let mut threads: Vec<ScheduledThreadView> = scheduler
        .tasks()
        .iter()
        .map(|task| {
            let thread = ThreadId(task.id().0);
            let place = match task.points() {
                0 => String::new(),
                _ => juror_explore::place_of(program, thread).place_words(),
            };
            ScheduledThreadView {
                number: program.thread_number(thread),
                state: match task.state() {
                    State::Running => ScheduledState::Runs,
                    State::InKernel => ScheduledState::InKernel,
                    _ if task.state().can_run() => ScheduledState::Ready,
                    _ => ScheduledState::Waits,
                },
                next: juror_explore::next_words(program, scheduler, task),
                place,
            }
        })
        .collect();
    threads.sort_by_key(|thread| thread.number);
    Ok(ScheduleView {
        points: scheduler.points(),
        is_branched: program.debuggee.is_branched(),
        threads,
    })
}
