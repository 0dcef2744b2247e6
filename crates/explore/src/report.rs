//! The places of threads and the objects that they wait for, in terms of the source.

use crate::outcome::{Deadlocked, Holding, ThreadPlace, Waiting};
use crate::own_waits;
use crate::points;
use juror_debuggee::{Communication, CommunicationKind, ThreadId};
use juror_program::program::Program;
use juror_program::stack::frames::{Frame, users_frames};
use juror_schedule::{PointKind, Scheduler, State, Task, ThreadPath};
use std::path::Path;

/// The most frames that are looked at.
const FRAMES_MAX: usize = 64;

/// Returns where a stopped thread is: its innermost frame with a line in the user's code.
pub fn place_of(program: &Program, thread: ThreadId) -> ThreadPlace {
    let (frames, _) = program.backtrace(thread, FRAMES_MAX);
    let own = users_frames(&frames).unwrap_or(frames.len());
    let frames = frames.get(..own).unwrap_or_default();
    let is_main = |frame: &&Frame| frame.module.as_ref().is_some_and(|module| module.is_main);
    let has_line = |frame: &&Frame| {
        let file = frame.file.as_deref();
        frame.line.is_some() && file.is_some_and(is_users)
    };
    let mut in_main = frames.iter().filter(is_main);
    let frame = frames
        .iter()
        .find(|frame| has_line(frame) && is_main(frame))
        .or_else(|| in_main.next())
        .or_else(|| frames.first());
    ThreadPlace {
        number: program.thread_number(thread),
        function: frame.and_then(|frame| frame.name.clone()),
        file: frame.and_then(|frame| Some(frame.file.as_ref()?.display().to_string())),
        line: frame.and_then(|frame| frame.line),
    }
}

/// Returns whether a source file is the user's, and none of a library or a compiler.
pub(crate) fn is_users(file: &Path) -> bool {
    // Distributions build below /build, and say so also where the path is relative.
    // The crates that Rust's standard library needs are below /rust/deps.
    const FOREIGN: [&str; 8] = [
        "/usr/", "/rustc/", "/rust/", "/opt/", "/lib/", "/build/", "./", "../",
    ];
    let text = file.to_string_lossy();
    let is_foreign = FOREIGN.iter().any(|part| text.starts_with(part))
        || text.contains("/.cargo/registry/")
        || text.contains("/.rustup/");
    !is_foreign
}

/// Returns the name of the variable at an address, or the address.
pub fn object_name(program: &Program, address: u64) -> String {
    let named = program.modules.find(address).and_then(|module| {
        let (name, offset) = module.symbols.symbol_at(module.to_file(address))?;
        Some(match offset {
            0 => name.to_string(),
            offset => format!("{name}+{offset}"),
        })
    });
    named.unwrap_or_else(|| format!("{address:#x}"))
}

/// Returns the name of a function at an address, as the user's code calls it: the C library has its own
/// names with underscores for its functions of threads.
pub fn function_name(program: &Program, address: u64) -> String {
    let name = object_name(program, address);
    let public = name.trim_start_matches('_');
    if points::is_thread_function(public) {
        public.to_owned()
    } else {
        name
    }
}

/// Returns whether a call was made by the library of the function itself, or by the dynamic linker.
pub fn is_within_library(program: &Program, function: u64, return_address: u64) -> bool {
    let caller = program.modules.find(return_address);
    let called = program.modules.find(function);
    caller.zip(called).is_some_and(|(caller, called)| {
        let name = caller.path.file_name().unwrap_or_default();
        let is_linker = name.to_string_lossy().starts_with("ld-");
        !caller.is_main && (is_linker || caller.path == called.path)
    })
}

/// Returns the place of a call in the user's code, by its return address: the function, and the file
/// with the line. It is empty if it is not known.
pub fn place_of_call(program: &Program, return_address: u64) -> String {
    let place = || {
        let call = return_address.checked_sub(1)?;
        let module = program.modules.find(call)?;
        let address = module.to_file(call);
        let line = module.symbols.line_at(address)?;
        let function = module.symbols.symbol_at(address);
        is_users(&line.file).then(|| ThreadPlace {
            number: 0,
            function: function.map(|(name, _)| name.to_string()),
            file: Some(line.file.display().to_string()),
            line: Some(line.line),
        })
    };
    place().map_or_else(String::new, |place| place.place_words())
}

/// Returns the place at which a thread has taken a lock, if its calls were noted.
fn place_of_taking(
    program: &Program,
    communication: Option<&Communication>,
    (number, lock): (u32, u64),
) -> Option<String> {
    let takes = |kind: CommunicationKind| match kind {
        CommunicationKind::Calls { object, .. } => object == lock,
        _ => false,
    };
    let calls = communication?.steps();
    // It has made no call with it since.
    let taken = calls
        .filter(|step| step.thread == number && takes(step.kind))
        .last()?;
    Some(place_of_call(program, taken.caller)).filter(|place| !place.is_empty())
}

/// Describes the threads that wait for one another. `communication` says where they have taken
/// their locks.
pub fn deadlock(
    program: &Program,
    scheduler: &Scheduler,
    communication: Option<&Communication>,
) -> Deadlocked {
    let circle = scheduler.deadlock();
    // Threads in the kernel may go on.
    let waits = |task: &Task| matches!(task.state(), State::Waits { .. });
    let is_partial = scheduler.tasks().iter().any(|task| !waits(task));
    let is_meant = |path: ThreadPath| {
        circle.is_none_or(|deadlock| deadlock.circle.iter().any(|it| it.thread == path))
    };
    let mut waiting = Vec::new();
    for task in scheduler
        .tasks()
        .iter()
        .filter(|task| is_meant(task.path()))
    {
        if *task.state() == State::InKernel {
            let thread = ThreadId(task.id().0);
            waiting.push(Waiting {
                place: place_of(program, thread),
                object: own_waits::words(&program.debuggee, thread).to_owned(),
                holder: None,
            });
            continue;
        }
        let State::Waits { address, .. } = *task.state() else {
            continue;
        };
        let wish = scheduler.holders().wish_of(task.path());
        let held = wish.and_then(|wish| scheduler.holders().holders_against(wish).next());
        let joined = || {
            let mut edges = scheduler.waits_for().into_iter();
            let edge = edges.find(|edge| edge.thread == task.path() && edge.lock.is_none());
            edge.map(|edge| edge.other)
        };
        let holder = held.map(|held| held.thread);
        let object = match (&wish, holder.or_else(joined)) {
            (None, Some(other)) => {
                let number = number_of(program, scheduler, other).unwrap_or_default();
                format!("the end of thread {number}")
            }
            _ => object_name(program, address),
        };
        let holder = held.and_then(|held| {
            let number = number_of(program, scheduler, held.thread)?;
            Some(Holding {
                number,
                place: place_of_taking(program, communication, (number, held.lock)),
            })
        });
        waiting.push(Waiting {
            place: place_of(program, ThreadId(task.id().0)),
            object,
            holder,
        });
    }
    Deadlocked {
        threads: waiting,
        is_partial,
    }
}

fn number_of(program: &Program, scheduler: &Scheduler, path: ThreadPath) -> Option<u32> {
    let mut tasks = scheduler.tasks().iter();
    let task = tasks.find(|task| task.path() == path)?;
    Some(program.thread_number(ThreadId(task.id().0)))
}

/// Returns what a thread does next, or waits for, in words.
pub fn next_words(program: &Program, scheduler: &Scheduler, task: &Task) -> String {
    if let State::Waits { address, .. } = *task.state() {
        let mut edges = scheduler.waits_for().into_iter();
        let edge = edges.find(|edge| edge.thread == task.path() && edge.lock.is_none());
        let other = edge.and_then(|edge| number_of(program, scheduler, edge.other));
        return match other {
            Some(number) => format!("the end of thread {number}"),
            None => object_name(program, address),
        };
    }
    let Some(point) = task.state().point() else {
        return String::new();
    };
    match point.kind {
        PointKind::Start => "its first instruction".to_owned(),
        PointKind::Exit => "its end".to_owned(),
        PointKind::Yield => "sched_yield".to_owned(),
        PointKind::Futex => format!("futex({})", object_name(program, point.object)),
        PointKind::Synchronisation => {
            let name = function_name(program, point.site);
            format!("{name}({})", object_name(program, point.object))
        }
        PointKind::Call => "a system call".to_owned(),
        PointKind::Access => "an access to memory".to_owned(),
        PointKind::Loop | PointKind::Behind | PointKind::Preempted => String::new(),
    }
}

/// Returns where all threads are.
pub(crate) fn all_places(program: &Program) -> Vec<ThreadPlace> {
    let threads: Vec<ThreadId> = program.debuggee.thread_ids().collect();
    let mut places: Vec<ThreadPlace> = threads
        .into_iter()
        .filter(|thread| program.debuggee.is_waiting(*thread))
        .map(|thread| place_of(program, thread))
        .collect();
    places.sort();
    places
}
