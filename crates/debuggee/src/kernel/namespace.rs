//! PID namespaces for programs of users who may not choose process numbers.
//!
//! To give a thread its old number takes a capability, which any user has in a
//! user namespace of their own. So the program is started in one, with a PID
//! namespace that belongs to it, and with this one capability; the user, the
//! files and all else are as before. juror stays outside, and is its parent as
//! usual.
//!
//! The first process of such a namespace is its *init* process: with its end
//! all others end. It does nothing but wait for juror's end, which it sees at a
//! pipe.
//!
//! Invariant: the namespace ends with its last debuggee and checkpoint, and at
//! the latest with juror. Between `fork` and `exec` there are system calls on
//! prepared data only.

use std::ffi::CStr;
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::rc::Rc;

use libc::{c_int, c_long, pid_t};
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::unistd::{getegid, geteuid, pipe2};

use crate::kernel::process_status;
use crate::kernel::{self, Status};

/// A namespace, which ends with its last owner.
#[derive(Debug, Clone)]
pub(crate) struct Namespace {
    /// The end of a pipe that the init process reads.
    _init_pipe: Rc<OwnedFd>,
}

/// The PID namespace of a launched program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PidNamespace {
    /// juror's own.
    #[default]
    Shared,
    /// A new one if this user may not choose process numbers otherwise, so that
    /// threads can be restored; if that is forbidden, juror's own.
    NewIfNeeded,
    /// A new one, as for a user who may not choose process numbers.
    New,
}

/// The prepared data for the child.
pub(crate) struct Plan {
    user_map: Vec<u8>,
    group_map: Vec<u8>,
    /// The pipe: the end that the init process reads, and the one that it must
    /// not keep open.
    init_pipe: [RawFd; 2],
    /// The pipe to which the number of the program's process is written.
    answer: RawFd,
}

/// A namespace that is being made.
pub(crate) struct Making {
    init_pipe: [OwnedFd; 2],
    answer: [OwnedFd; 2],
}

/// Returns true if a program needs a namespace of its own.
pub(crate) fn is_wanted(namespace: PidNamespace) -> bool {
    let own = std::process::id();
    match namespace {
        PidNamespace::Shared => false,
        PidNamespace::New => true,
        PidNamespace::NewIfNeeded => !process_status::may_choose_pids(own, own),
    }
}

/// Returns true if a task's capabilities apply to its PID namespace: if both
/// belong to one user namespace.
pub(crate) fn owns_pid_namespace(process: u32, thread: u32) -> bool {
    let file = |name: &str| File::open(process_status::file_of(process, thread, name));
    let identity = |file: &File| file.metadata().map(|it| (it.dev(), it.ino())).ok();
    let Ok(numbers) = file("ns/pid") else {
        // A kernel without such namespaces.
        return true;
    };
    let owner = kernel::owner_of_namespace(&numbers).ok();
    let owner = owner.and_then(|owner| identity(&File::from(owner)));
    let own = file("ns/user").ok().and_then(|file| identity(&file));
    owner.is_some() && owner == own
}

impl Making {
    pub(crate) fn new() -> Result<Making, Errno> {
        let (init_read, init_write) = pipe2(OFlag::O_CLOEXEC)?;
        let (answer_read, answer_write) = pipe2(OFlag::O_CLOEXEC)?;
        Ok(Making {
            init_pipe: [init_read, init_write],
            answer: [answer_read, answer_write],
        })
    }

    /// Returns the plan for the maker, a process that ends afterwards.
    pub(crate) fn plan(&self) -> Plan {
        let [read, write] = &self.init_pipe;
        let [user_map, group_map] = own_maps();
        Plan {
            user_map,
            group_map,
            init_pipe: [read.as_raw_fd(), write.as_raw_fd()],
            answer: self.answer[1].as_raw_fd(),
        }
    }

    /// Waits for the maker, which has ended then; returns the program's
    /// process.
    pub(crate) fn finish(self, maker: u32) -> Result<(u32, Namespace), Errno> {
        let [answer, own_end] = self.answer;
        drop(own_end);
        let mut message = [0; 4];
        let mut filled = 0;
        while let Some(rest) = message.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match nix::unistd::read(&answer, rest) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(Errno::EINTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        while let Ok(Status::Stopped { .. }) = kernel::wait_for(maker) {}
        let [reading, writing] = self.init_pipe;
        drop(reading);
        match i32::from_ne_bytes(message) {
            process if filled == message.len() && process > 0 => Ok((
                process as u32,
                Namespace {
                    _init_pipe: Rc::new(writing),
                },
            )),
            refusal => Err(Errno::from_raw(-refusal)),
        }
    }
}

/// Returns what keeps the user and the group as they are in a user namespace.
pub(crate) fn own_maps() -> [Vec<u8>; 2] {
    let map = |id: u32| format!("{id} {id} 1\n").into_bytes();
    [map(geteuid().as_raw()), map(getegid().as_raw())]
}

/// Keeps the user and the group of this process, which is in a new user namespace.
///
/// # Safety
/// Only between `fork` and `exec`.
pub(crate) unsafe fn map_own(user_map: &[u8], group_map: &[u8]) -> Result<(), c_int> {
    // SAFETY: system calls on constant strings and live data.
    unsafe {
        fill(c"/proc/self/setgroups", b"deny")?;
        fill(c"/proc/self/gid_map", group_map)?;
        fill(c"/proc/self/uid_map", user_map)
    }
}

/// Returns why the kernel makes no such namespace, and what to do, for the
/// user.
pub(crate) fn refusal(errno: Errno) -> String {
    let setting = |name: &str| {
        let text = std::fs::read_to_string(format!("/proc/sys/{name}"));
        text.ok()?.trim().parse::<u64>().ok()
    };
    let (name, wanted) = if setting("user/max_user_namespaces") == Some(0) {
        ("user.max_user_namespaces", "1000")
    } else if setting("user/max_pid_namespaces") == Some(0) {
        ("user.max_pid_namespaces", "1000")
    } else if setting("kernel/unprivileged_userns_clone") == Some(0) {
        ("kernel.unprivileged_userns_clone", "1")
    } else if setting("kernel/apparmor_restrict_unprivileged_userns") == Some(1) {
        ("kernel.apparmor_restrict_unprivileged_userns", "0")
    } else {
        return format!(
            "user namespaces are forbidden here ({}), as in most containers",
            errno.desc()
        );
    };
    format!(
        "user namespaces are switched off ({name}); root can allow them: sysctl {name}={wanted}"
    )
}

/// In a child of juror's: makes the namespace, its init process and the
/// program's process, which alone returns; the child itself ends.
///
/// # Safety
/// Only between `fork` and `exec`.
pub(crate) unsafe fn enter(plan: &Plan) {
    // SAFETY: system calls on plain numbers and on data that lives in `plan` or on
    // this stack.
    unsafe {
        let answer = match make(plan) {
            Ok(0) => return,
            Ok(process) => process,
            Err(errno) => -errno,
        };
        let bytes = answer.to_ne_bytes();
        libc::write(plan.answer, bytes.as_ptr().cast(), bytes.len());
        libc::_exit(0);
    }
}

/// Returns the number of the program's process; 0 in that one.
///
/// # Safety
/// As [`enter`].
unsafe fn make(plan: &Plan) -> Result<pid_t, c_int> {
    let at = |result: c_long| match result {
        -1 => Err(Errno::last_raw()),
        result => Ok(result),
    };
    // SAFETY: as in `enter`.
    unsafe {
        let spaces = libc::CLONE_NEWUSER | libc::CLONE_NEWPID | libc::CLONE_NEWNS;
        at(libc::unshare(spaces).into())?;
        map_own(&plan.user_map, &plan.group_map)?;
        if at(libc::fork().into())? == 0 {
            run_init(plan.init_pipe);
        }
        // A child of juror's, as this one is.
        let flags = c_long::from(libc::CLONE_PARENT | libc::SIGCHLD);
        let process = at(libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0))?;
        if process == 0 {
            prepare();
        }
        Ok(process as pid_t)
    }
}

/// # Safety
/// As [`enter`].
unsafe fn fill(path: &CStr, text: &[u8]) -> Result<(), c_int> {
    // SAFETY: as in `enter`.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        let written = match file {
            -1 => -1,
            file => libc::write(file, text.as_ptr().cast(), text.len()),
        };
        match written {
            -1 => Err(Errno::last_raw()),
            _ => {
                libc::close(file);
                Ok(())
            }
        }
    }
}

/// Runs the init process of the namespace, until juror, or its last user,
/// closes the pipe.
///
/// # Safety
/// As [`enter`].
unsafe fn run_init([reading, writing]: [RawFd; 2]) -> ! {
    // SAFETY: as in `enter`.
    unsafe {
        // Orphans end without a trace.
        libc::signal(libc::SIGCHLD, libc::SIG_IGN);
        libc::setpgid(0, 0);
        libc::close(writing);
        libc::dup2(reading, 0);
        libc::syscall(libc::SYS_close_range, 1, u32::MAX, 0);
        let mut byte = 0_u8;
        while libc::read(0, (&raw mut byte).cast(), 1) == -1 && Errno::last_raw() == libc::EINTR {}
        libc::_exit(0);
    }
}

/// Mounts the program's own `/proc`, and keeps the one capability over `exec`.
/// If that fails, the program runs without.
///
/// # Safety
/// As [`enter`].
unsafe fn prepare() {
    // SAFETY: as in `enter`.
    unsafe {
        let none = std::ptr::null();
        let private = libc::MS_REC | libc::MS_PRIVATE;
        libc::mount(none, c"/".as_ptr(), none, private, none.cast());
        let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
        let (name, place) = (c"proc".as_ptr(), c"/proc".as_ptr());
        libc::mount(name, place, name, flags, none.cast());
        keep_capability();
    }
}

/// # Safety
/// As [`enter`].
unsafe fn keep_capability() {
    const CHECKPOINT_RESTORE: u32 = 40;
    /// The version of the kernel's `capget`.
    const VERSION: u32 = 0x2008_0522;
    const WORD_BITS: u32 = 32;
    // Effective, permitted, inheritable, for the lower and the upper half.
    let mut sets = [[0_u32; 3]; 2];
    let header = [VERSION, 0];
    // SAFETY: as in `enter`; the kernel reads the header, and reads and writes the
    // two times three words.
    unsafe {
        libc::syscall(libc::SYS_capget, header.as_ptr(), sets.as_mut_ptr());
        if let Some([.., inheritable]) = sets.get_mut((CHECKPOINT_RESTORE / WORD_BITS) as usize) {
            *inheritable |= 1 << (CHECKPOINT_RESTORE % WORD_BITS);
        }
        libc::syscall(libc::SYS_capset, header.as_ptr(), sets.as_ptr());
        libc::prctl(
            libc::PR_CAP_AMBIENT,
            libc::PR_CAP_AMBIENT_RAISE,
            CHECKPOINT_RESTORE,
            0,
            0,
        );
    }
}
