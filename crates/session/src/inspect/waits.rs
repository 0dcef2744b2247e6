//! For what a stopped thread waits: a mutex and its owner, the end of a thread, a condition
//! variable, a descriptor.
//!
//! The system call that the stop has interrupted and its arguments say it, with the function of
//! the C library that made it. What the library keeps in memory (the owner of a mutex) is read as
//! glibc lays it out. Rust's locks have no owner: their guards are looked for (`guards`).

use crate::session::Session;
use juror_arch::Registers;
use juror_debuggee::ThreadId;
use juror_points::system_call_names::system_call_name;
use juror_program::program::Program;
use juror_program::stack::frames::Frame;
use juror_values::format::Names as _;
use juror_view::WaitView;

/// The kernel's results of system calls that it restarts: `ERESTARTSYS`, `ERESTARTNOINTR`,
/// `ERESTARTNOHAND`, `ERESTART_RESTARTBLOCK`.
const RESTARTS: [i64; 4] = [-512, -513, -514, -516];

/// The distance of the owner's number from the lock in glibc's `pthread_mutex_t`, in bytes.
const OWNER_AT: u64 = 8;

/// An interrupted system call.
struct Call {
    number: u64,
    arguments: [u64; 6],
}

impl Call {
    /// Returns the system call that a stop has interrupted; none if the thread ran.
    fn interrupted(registers: &Registers) -> Option<Call> {
        let is_call = registers.is_in_system_call();
        (is_call && RESTARTS.contains(&(registers.result() as i64))).then_some(Call {
            number: registers.system_call(),
            arguments: registers.system_call_arguments(),
        })
    }
}

/// The wait of a thread.
#[derive(Debug)]
pub(crate) struct Wait {
    pub(crate) view: WaitView,
    /// The address that a lock of Rust waits with: its guard says who holds it.
    pub(crate) guarded: Option<u64>,
}

impl Wait {
    fn of(what: String, holder: Option<u32>) -> Wait {
        Wait {
            view: WaitView {
                what,
                holder,
                guards: Vec::new(),
            },
            guarded: None,
        }
    }
}

/// Returns for what a thread waits, given its stack; none if it runs.
pub(crate) fn wait_of(session: &Session, thread: ThreadId, frames: &[Frame]) -> Option<Wait> {
    let program = session.processes.program.as_ref()?;
    let call = Call::interrupted(program.registers(thread).ok()?)?;
    let name = system_call_name(call.number);
    match &*name {
        "futex" => Some(futex(program, call.arguments[0], frames)),
        _ => words(program, &name, &call).map(|what| Wait::of(what, None)),
    }
}

/// Returns for what a thread waits in a system call other than `futex`.
fn words(program: &Program, name: &str, call: &Call) -> Option<String> {
    let file = || file_of(program, call.arguments[0]);
    Some(match name {
        "read" | "pread64" | "readv" | "recvfrom" | "recvmsg" => format!("input from {}", file()),
        "write" | "pwrite64" | "writev" | "sendto" | "sendmsg" => format!("output to {}", file()),
        "accept" | "accept4" => format!("a connection to {}", file()),
        "connect" => format!("a connection of {}", file()),
        "flock" | "fcntl" => format!("a lock of {}", file()),
        "nanosleep" | "clock_nanosleep" => "a moment: it sleeps".to_owned(),
        "poll" | "ppoll" | "select" | "pselect6" | "epoll_wait" | "epoll_pwait"
        | "epoll_pwait2" => format!("one of several events ({name})"),
        "wait4" | "waitid" => "the end of a process".to_owned(),
        "pause" | "rt_sigsuspend" | "rt_sigtimedwait" => "a signal".to_owned(),
        _ => return None,
    })
}

/// Returns what a descriptor is: the file, and its number.
fn file_of(program: &Program, descriptor: u64) -> String {
    if program.debuggee.is_core_file() {
        return format!("descriptor {descriptor}");
    }
    let link = format!("/proc/{}/fd/{descriptor}", program.debuggee.pid());
    match std::fs::read_link(link) {
        Ok(file) => format!("descriptor {descriptor} ({})", file.display()),
        Err(_) => format!("descriptor {descriptor}"),
    }
}

/// The functions that wait with `futex`, by what they wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waiter {
    Mutex,
    Condition,
    Join,
    Barrier,
    Semaphore,
    Lock,
    /// A lock of Rust.
    Guarded,
}

/// Returns the waiter of a stack, by the innermost function that says it.
fn waiter(names: &[&str]) -> Option<Waiter> {
    let of_name = |name: &&str| {
        let name = name.trim_start_matches('_');
        // glibc's names of its own calls.
        let name = name.trim_start_matches("GI_").trim_start_matches('_');
        Some(match name {
            _ if name.starts_with("pthread_cond_") => Waiter::Condition,
            _ if name.starts_with("pthread_mutex_") || name == "lll_lock_wait" => Waiter::Mutex,
            _ if name.starts_with("pthread_") && name.contains("join") => Waiter::Join,
            _ if name.starts_with("pthread_barrier_") => Waiter::Barrier,
            _ if name.starts_with("sem_") || name.starts_with("new_sem_") => Waiter::Semaphore,
            _ if name.starts_with("pthread_rwlock_") => Waiter::Lock,
            _ if name.contains("Mutex") && name.contains("lock_contended") => Waiter::Guarded,
            _ if name.contains("RwLock") && name.contains("contended") => Waiter::Guarded,
            _ if name.contains("Condvar") && name.contains("wait") => Waiter::Condition,
            _ => return None,
        })
    };
    names.iter().find_map(of_name)
}

/// Returns for what a thread waits in `futex`.
fn futex(program: &Program, address: u64, frames: &[Frame]) -> Wait {
    let names = frames.iter().filter_map(|frame| frame.name.as_deref());
    let names: Vec<&str> = names.take(8).collect();
    let word = |address: u64| {
        let both = program.debuggee.read_u64(address).ok()?;
        u32::try_from(both & u64::from(u32::MAX)).ok()
    };
    let thread_of = |id: Option<u32>| {
        let id = ThreadId(id.filter(|&id| id != 0)?);
        let mut known = program.debuggee.thread_ids();
        known.any(|it| it == id).then(|| program.thread_number(id))
    };
    let named = |kind: &str| match program.name_of(address) {
        Some(name) => format!("the {kind} `{name}`"),
        None => format!("the {kind} at {address:#x}"),
    };
    let waiter = waiter(&names);
    let (what, holder) = match waiter {
        Some(Waiter::Mutex) => (
            named("mutex"),
            thread_of(word(address.wrapping_add(OWNER_AT))),
        ),
        // The kernel clears the number of a thread that has ended.
        Some(Waiter::Join) => match thread_of(word(address)) {
            Some(number) => (format!("the end of thread {number}"), Some(number)),
            None => ("the end of a thread".to_owned(), None),
        },
        Some(Waiter::Condition) => ("a condition variable".to_owned(), None),
        Some(Waiter::Barrier) => ("a barrier".to_owned(), None),
        Some(Waiter::Semaphore) => (named("semaphore"), None),
        Some(Waiter::Lock | Waiter::Guarded) => (named("lock"), None),
        None => (named("futex"), None),
    };
    Wait {
        guarded: (waiter == Some(Waiter::Guarded)).then_some(address),
        ..Wait::of(what, holder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_arch::NO_SYSTEM_CALL;

    #[test]
    fn the_library_function_says_for_what_it_waits() {
        for (names, expected) in [
            (
                &["futex_wait", "__lll_lock_wait", "pthread_mutex_lock", "f"][..],
                Some(Waiter::Mutex),
            ),
            (
                &[
                    "futex_wait",
                    "__pthread_cond_wait_common",
                    "___pthread_cond_wait",
                ],
                Some(Waiter::Condition),
            ),
            (
                &["__futex_abstimed_wait", "__pthread_clockjoin_ex"],
                Some(Waiter::Join),
            ),
            (
                &["futex_wait", "__new_sem_wait_slow64"],
                Some(Waiter::Semaphore),
            ),
            (
                &[
                    "futex_wait",
                    "std::sys::sync::mutex::futex::Mutex::lock_contended",
                ],
                Some(Waiter::Guarded),
            ),
            (&["futex_wait", "main"], None),
        ] {
            assert_eq!(waiter(names), expected, "{names:?}");
        }
    }

    #[test]
    fn only_an_interrupted_call_is_a_wait() {
        let mut registers = Registers::default();
        registers.set_arguments([7, 0, 0, 0, 0, 0]);
        registers.set_system_call(202);
        registers.set_result(-512_i64 as u64);
        let call = Call::interrupted(&registers).expect("a call");
        assert_eq!((call.number, call.arguments[0]), (202, 7));
        registers.set_result(0);
        assert!(Call::interrupted(&registers).is_none());
        registers.set_result(-512_i64 as u64);
        registers.set_system_call(NO_SYSTEM_CALL);
        assert!(Call::interrupted(&registers).is_none());
    }
}
