//! Starting a [`Launch`]: the process is traced and stopped right after `exec`,
//! before the first instruction of the new program.
//!
//! The child waits for juror to seize it before it calls `exec`; seizing
//! (rather than `PTRACE_TRACEME`) makes group stops and requested stops
//! distinguishable. Between `fork` and `exec` the child makes system calls on
//! prepared data only: other threads of juror may have held any lock.

use std::ffi::CString;
use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::ptr;

use libc::{c_char, c_int};
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::unistd::pipe2;

use crate::error::LaunchError;
use crate::kernel::namespace::{self, Namespace};
use crate::kernel::{self, Event, Status};
use crate::start::executable;
use crate::start::launch::{self, Launch};
use crate::start::world::{Entry, World};
use crate::state::wanted_calls::WantedCalls;

mod filter;

use filter::FilterPlan;

/// The stage at which the child failed, as it reports it through the pipe.
#[derive(Clone, Copy)]
enum Stage {
    Directory = 1,
    Stream = 2,
    Execute = 3,
    Group = 4,
    Filter = 5,
    World = 6,
}

/// Everything the child needs, prepared before the fork.
struct Plan {
    path: CString,
    arguments: Vec<*const c_char>,
    environment: Vec<*const c_char>,
    directory: Option<CString>,
    /// The descriptors that become standard input, output and error.
    streams: [Option<RawFd>; 3],
    randomize: bool,
    /// Read until juror has seized the child.
    start: RawFd,
    /// juror's end of it, which the child must not keep open: the pipe ends with juror.
    start_write: RawFd,
    /// Written when something fails.
    failure: RawFd,
    /// The plan for its PID namespace, if it gets one.
    namespace: Option<namespace::Plan>,
    filter: FilterPlan,
    world: Option<Entry>,
}

/// A process that has been started.
pub(crate) struct Spawned {
    pub(crate) process: u32,
    /// Its PID namespace, if it has one of its own.
    pub(crate) namespace: Option<Namespace>,
    /// The reason why it has none, if it was to have one.
    pub(crate) refusal: Option<String>,
    /// How its system calls stop.
    pub(crate) calls: WantedCalls,
}

/// Starts the program; it is the leader of its own process group and stopped.
pub(crate) fn spawn(launch: &Launch) -> Result<Spawned, LaunchError> {
    let path = executable::locate(&launch.program)?;
    executable::check(&path)?;
    let system = |what: &'static str| {
        let path = path.clone();
        move |errno: Errno| LaunchError::System {
            path,
            what,
            source: errno.into(),
        }
    };
    let arguments = launch::arguments(launch)?;
    let environment = launch::environment(&launch.environment)?;
    let directory = match (&launch.directory, &launch.world) {
        (Some(directory), _) => Some(directory.clone()),
        // Entering it leads to its root.
        (None, Some(_)) => std::env::current_dir().ok(),
        (None, None) => None,
    };
    let directory = directory.map(|directory| {
        let directory = directory.into_os_string();
        launch::string(&directory, "the working directory")
    });
    let directory = directory.transpose()?;
    let streams = [
        launch.input.open("input")?,
        launch.output.open("output")?,
        launch.error.open("error")?,
    ];
    let (start_read, start_write) = pipe2(OFlag::O_CLOEXEC).map_err(system("making a pipe"))?;
    let (failure_read, failure_write) = pipe2(OFlag::O_CLOEXEC).map_err(system("making a pipe"))?;
    let mut plan = Plan {
        path: launch::string(&path.clone().into_os_string(), "the program's path")?,
        arguments: pointers(&arguments),
        environment: pointers(&environment),
        directory,
        streams: streams
            .each_ref()
            .map(|stream| stream.as_ref().map(|descriptor| descriptor.as_raw_fd())),
        randomize: launch.randomize,
        start: start_read.as_raw_fd(),
        start_write: start_write.as_raw_fd(),
        failure: failure_write.as_raw_fd(),
        namespace: None,
        filter: FilterPlan::new(&launch.call_stops, &path)?,
        world: launch.world.as_deref().map(World::entry),
    };
    let mut refusal = None;
    let mut made = None;
    if namespace::is_wanted(launch.pid_namespace) {
        match spawn_in_namespace(&mut plan) {
            Ok(it) => made = Some(it),
            Err(errno) => refusal = Some(namespace::refusal(errno)),
        }
    }
    let (child, namespace) = match made {
        Some((child, namespace)) => (child, Some(namespace)),
        None => (fork(&plan).map_err(system("fork"))?, None),
    };
    drop(failure_write);
    let started = seize(child, &path, &start_write, plan.filter.is_any())
        .and_then(|()| wait_for_exec(child, &path, launch, failure_read));
    if started.is_err() {
        kernel::abandon(child);
    }
    started.map(|()| Spawned {
        process: child,
        namespace,
        refusal,
        calls: plan.filter.calls_of(child, &launch.call_stops),
    })
}

fn fork(plan: &Plan) -> Result<u32, Errno> {
    // SAFETY: the child branch makes system calls only, on data prepared before,
    // and never returns.
    match unsafe { libc::fork() } {
        -1 => Err(Errno::last()),
        0 => run_child(plan),
        child => Ok(child as u32),
    }
}

/// As [`fork`], in a PID namespace that is made for it.
fn spawn_in_namespace(plan: &mut Plan) -> Result<(u32, Namespace), Errno> {
    let making = namespace::Making::new()?;
    plan.namespace = Some(making.plan());
    let maker = fork(plan);
    plan.namespace = None;
    making.finish(maker?)
}

fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings
        .iter()
        .map(|string| string.as_ptr())
        .chain(std::iter::once(ptr::null()))
        .collect()
}

fn seize(child: u32, path: &Path, start: &OwnedFd, is_filtered: bool) -> Result<(), LaunchError> {
    let of_filter = if is_filtered {
        libc::PTRACE_O_TRACESECCOMP
    } else {
        0
    };
    let options = kernel::EVENTS | libc::PTRACE_O_EXITKILL | of_filter;
    kernel::seize(child, options).map_err(|errno| match errno {
        Errno::EPERM | Errno::EACCES => LaunchError::Untraceable {
            path: path.to_owned(),
            hint: trace_hint(),
        },
        errno => LaunchError::System {
            path: path.to_owned(),
            what: "ptrace",
            source: errno.into(),
        },
    })?;
    nix::unistd::write(start, &[1]).map_err(|errno| LaunchError::System {
        path: path.to_owned(),
        what: "continuing the new process",
        source: errno.into(),
    })?;
    Ok(())
}

/// Returns why the kernel may have refused.
fn trace_hint() -> String {
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    match scope.trim() {
        "3" => "tracing is switched off until the next boot (kernel.yama.ptrace_scope is 3)".into(),
        "2" => "only root may trace here (kernel.yama.ptrace_scope is 2)".into(),
        _ => "a security policy forbids ptrace; in a container, allow it with \
              --cap-add=SYS_PTRACE or --security-opt seccomp=unconfined; \
              another debugger around juror forbids it too"
            .into(),
    }
}

fn wait_for_exec(
    child: u32,
    path: &Path,
    launch: &Launch,
    failure: OwnedFd,
) -> Result<(), LaunchError> {
    loop {
        let status = kernel::wait_for(child).map_err(|errno| LaunchError::System {
            path: path.to_owned(),
            what: "waiting for the new process",
            source: errno.into(),
        })?;
        match status {
            Status::Stopped {
                event: Event::Exec, ..
            } => return Ok(()),
            Status::Stopped {
                signal,
                event: Event::Signal,
            } => drop(kernel::resume(child, signal)),
            Status::Stopped { .. } => drop(kernel::resume(child, 0)),
            Status::Exited { .. } => return Err(child_failure(path, launch, failure)),
            Status::Killed { .. } => {
                return Err(unless_truncated(path, LaunchError::DiedEarly));
            }
        }
    }
}

/// Returns why the kernel did not run the program: the file is truncated, or
/// `otherwise`.
fn unless_truncated(path: &Path, otherwise: fn(PathBuf) -> LaunchError) -> LaunchError {
    if executable::is_truncated(path) {
        LaunchError::Truncated(path.to_owned())
    } else {
        otherwise(path.to_owned())
    }
}

/// Returns the child's report of its failure.
fn child_failure(path: &Path, launch: &Launch, failure: OwnedFd) -> LaunchError {
    let path = path.to_owned();
    let mut message = [0; 5];
    if std::fs::File::from(failure)
        .read_exact(&mut message)
        .is_err()
    {
        return LaunchError::DiedEarly(path);
    }
    let [stage, code @ ..] = message;
    let errno = i32::from_ne_bytes(code);
    let source = std::io::Error::from_raw_os_error(errno);
    let directory = || launch.directory.clone().unwrap_or_default();
    match stage {
        stage if stage == Stage::Directory as u8 => LaunchError::Directory {
            path: directory(),
            source,
        },
        stage if stage == Stage::Execute as u8 && errno == libc::ENOEXEC => {
            unless_truncated(&path, LaunchError::NotExecutable)
        }
        stage if stage == Stage::Execute as u8 && errno == libc::EACCES => {
            LaunchError::NotPermitted(path)
        }
        stage if stage == Stage::Filter as u8 => LaunchError::Filter {
            path,
            reason: source.to_string(),
        },
        stage => LaunchError::System {
            path,
            what: match stage {
                stage if stage == Stage::Stream as u8 => "redirecting a standard stream",
                stage if stage == Stage::Group as u8 => "making a process group",
                stage if stage == Stage::World as u8 => "entering its world",
                _ => "exec",
            },
            source,
        },
    }
}

/// Runs the child, from `fork` to `exec`.
fn run_child(plan: &Plan) -> ! {
    if let Some(namespace) = &plan.namespace {
        // SAFETY: this is between `fork` and `exec`.
        unsafe { namespace::enter(namespace) };
    }
    let (stage, errno) = match prepare_child(plan) {
        Ok(()) => {
            // SAFETY: the pointers are to zero-terminated strings that outlive
            // the call, in arrays that end with a null pointer.
            unsafe {
                libc::execve(
                    plan.path.as_ptr(),
                    plan.arguments.as_ptr(),
                    plan.environment.as_ptr(),
                );
            }
            (Stage::Execute, Errno::last_raw())
        }
        Err(failure) => failure,
    };
    let mut message = [stage as u8; 5];
    for (to, from) in message.iter_mut().skip(1).zip(errno.to_ne_bytes()) {
        *to = from;
    }
    // SAFETY: a write of a live array to an open pipe, then the end of this
    // process without running anything of juror's at exit.
    unsafe {
        libc::write(plan.failure, message.as_ptr().cast(), message.len());
        libc::_exit(127);
    }
}

fn prepare_child(plan: &Plan) -> Result<(), (Stage, c_int)> {
    let at = |stage| {
        move |result: c_int| match result {
            -1 => Err((stage, Errno::last_raw())),
            _ => Ok(()),
        }
    };
    // SAFETY: system calls on plain numbers and on strings and structures that
    // live in `plan` or on this stack.
    unsafe {
        // First of all: a child that has already ended cannot be seized.
        libc::close(plan.start_write);
        await_start(plan.start);
        at(Stage::Group)(libc::setpgid(0, 0))?;
        for (target, source) in plan.streams.iter().enumerate() {
            if let Some(source) = *source {
                at(Stage::Stream)(replace_stream(source, target as c_int))?;
            }
        }
        if let Some(world) = &plan.world {
            world.enter().map_err(|errno| (Stage::World, errno))?;
        }
        if let Some(directory) = &plan.directory {
            at(Stage::Directory)(libc::chdir(directory.as_ptr()))?;
        }
        if !plan.randomize {
            // A kernel that forbids it still runs the program.
            let present = libc::personality(0xffff_ffff);
            if present != -1 {
                libc::personality((present | libc::ADDR_NO_RANDOMIZE) as libc::c_ulong);
            }
        }
        // Rust ignores SIGPIPE, and juror ignores the others: that is not for the
        // program, which starts as from a shell.
        for signal in [libc::SIGPIPE, libc::SIGTTOU, libc::SIGXFSZ] {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
        plan.filter.install()?;
    }
    Ok(())
}

/// Waits until juror has seized this process; ends with juror.
///
/// # Safety
/// Only between `fork` and `exec`.
unsafe fn await_start(start: RawFd) {
    let mut byte = 0_u8;
    // SAFETY: system calls on plain numbers and one live byte.
    unsafe {
        loop {
            match libc::read(start, (&raw mut byte).cast(), 1) {
                -1 if Errno::last_raw() == libc::EINTR => {}
                0 => libc::_exit(127),
                _ => return,
            }
        }
    }
}

/// Replaces `target` by `source`, so that it survives `exec`.
///
/// # Safety
/// Both must be descriptor numbers of this process.
unsafe fn replace_stream(source: RawFd, target: RawFd) -> c_int {
    // SAFETY: system calls on descriptor numbers.
    unsafe {
        if source == target {
            // `dup2` onto itself would leave the close-on-exec flag.
            libc::fcntl(target, libc::F_SETFD, 0)
        } else {
            libc::dup2(source, target)
        }
    }
}
