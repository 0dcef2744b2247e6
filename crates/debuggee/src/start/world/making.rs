//! Making the namespaces of a world: a process makes them, and ends.
//!
//! Its file system is a memory file system with the old root at `/old`, the new one at `/new`, and the
//! layers beside them; at the end only the new one is left, and the layers live as long as it.
//!
//! Invariant: between its start and its end that process makes system calls on prepared data only.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::ptr;

use libc::{c_char, c_int};
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::unistd::pipe2;

use super::layout::{Maker, Step};
use super::prepared::{Kind, Prepared, prepared};
use crate::kernel::process_descriptors::{descriptor_of, open_process};
use crate::kernel::{self, Status, namespace};

/// Directories of which every system has one: the memory file system is mounted there for a moment.
const PLACES: [&str; 4] = ["/tmp", "/mnt", "/run", "/proc"];

/// The tables of the objects of System V.
const TABLES: [&CStr; 3] = [
    c"/old/proc/sysvipc/shm",
    c"/old/proc/sysvipc/sem",
    c"/old/proc/sysvipc/msg",
];

/// A report of the maker: a kind, and a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
enum Said {
    /// The number of an error: there are no such namespaces.
    NoNamespaces = 1,
    /// The number of an error: the file systems could not be mounted.
    NoMounts,
    /// The index of a layer that could not be made.
    NoLayer,
    /// The descriptor of a table.
    Table,
    /// All is made; what is to be opened is within reach.
    Made,
    /// The old root and the layers are out of reach.
    Left,
}

/// Why there is no world.
pub(super) enum Refusal {
    /// There are no such namespaces.
    Namespaces(Errno),
    /// The file systems could not be mounted.
    Mounts(Errno),
    /// Something of juror's own has failed.
    System(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Refusal {
        Refusal::System(error)
    }
}

impl From<Errno> for Refusal {
    fn from(errno: Errno) -> Refusal {
        Refusal::System(errno.into())
    }
}

/// The namespaces, and what tells whether they were used.
pub(super) struct Made {
    pub(super) user: Option<OwnedFd>,
    pub(super) mounts: OwnedFd,
    pub(super) objects: Option<OwnedFd>,
    /// The directories into which what is written goes.
    pub(super) uppers: Vec<OwnedFd>,
    pub(super) tables: Vec<OwnedFd>,
    /// The indices of the steps whose layers could not be made.
    pub(super) without_layer: Vec<usize>,
}

struct Plan {
    maker: Maker,
    user_map: Vec<u8>,
    group_map: Vec<u8>,
    place: CString,
    steps: Vec<Prepared>,
    /// The descriptor to which it reports.
    answer: RawFd,
    /// Read until juror has what it needs, and juror's end of that.
    end: RawFd,
    end_write: RawFd,
}

/// Makes the namespaces.
pub(super) fn make(maker: Maker, steps: &[Step]) -> Result<Made, Refusal> {
    let (answer_read, answer_write) = pipe2(OFlag::O_CLOEXEC)?;
    let (end_read, end_write) = pipe2(OFlag::O_CLOEXEC)?;
    let place = PLACES.iter().find(|place| Path::new(place).is_dir());
    let [user_map, group_map] = namespace::own_maps();
    let plan = Plan {
        maker,
        user_map,
        group_map,
        place: CString::new(*place.unwrap_or(&"/")).unwrap_or_default(),
        steps: steps
            .iter()
            .enumerate()
            .map(|(index, step)| prepared(maker, index, step))
            .collect::<io::Result<_>>()?,
        answer: answer_write.as_raw_fd(),
        end: end_read.as_raw_fd(),
        end_write: end_write.as_raw_fd(),
    };
    // SAFETY: the child branch makes system calls only, on data prepared before, and never returns.
    let child = match unsafe { libc::fork() } {
        -1 => return Err(Errno::last().into()),
        0 => run(&plan),
        child => child as u32,
    };
    drop(answer_write);
    drop(end_read);
    let made = collect(child, &answer_read, &plan).and_then(|made| {
        nix::unistd::write(&end_write, &[1])?;
        match receive(&answer_read)? {
            (said, _) if said == Said::Left as i32 => Ok(made),
            (_, number) => Err(Refusal::Mounts(Errno::from_raw(number))),
        }
    });
    drop(end_write);
    while let Ok(Status::Stopped { .. }) = kernel::wait_for(child) {}
    made
}

/// Takes what the maker has made, while it waits.
fn collect(child: u32, answer: &OwnedFd, plan: &Plan) -> Result<Made, Refusal> {
    let mut without_layer = Vec::new();
    let mut numbers = Vec::new();
    loop {
        let (kind, number) = receive(answer)?;
        let errno = Errno::from_raw(number);
        match kind {
            kind if kind == Said::NoNamespaces as i32 => return Err(Refusal::Namespaces(errno)),
            kind if kind == Said::NoMounts as i32 => return Err(Refusal::Mounts(errno)),
            kind if kind == Said::NoLayer as i32 => without_layer.push(number as usize),
            kind if kind == Said::Table as i32 => numbers.push(number),
            _ => break,
        }
    }
    let process = open_process(child)?;
    let tables = numbers.into_iter();
    let tables = tables.map(|number| descriptor_of(&process, number));
    let open = |path: &str| -> io::Result<OwnedFd> {
        let path = format!("/proc/{child}/{path}");
        Ok(std::fs::File::open(path)?.into())
    };
    let layers = plan
        .steps
        .iter()
        .enumerate()
        .filter(|(index, step)| step.kind == Kind::Layer && !without_layer.contains(index));
    let uppers = layers.map(|(_, step)| open(&format!("root{}", step.upper.to_string_lossy())));
    let mut uppers: Vec<OwnedFd> = uppers.collect::<io::Result<_>>()?;
    // There are none of them on a kernel without message queues.
    uppers.extend(open("root/queues"));
    Ok(Made {
        user: match plan.maker {
            Maker::Privileged => None,
            Maker::Anyone => Some(open("ns/user")?),
        },
        mounts: open("ns/mnt")?,
        objects: open("ns/ipc").ok(),
        uppers,
        tables: tables.collect::<Result<_, Errno>>()?,
        without_layer,
    })
}

fn receive(answer: &OwnedFd) -> io::Result<(i32, i32)> {
    let mut message = [0; 8];
    let mut filled = 0;
    while let Some(rest) = message.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match nix::unistd::read(answer, rest) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => filled += count,
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    let [a, b, c, d, e, f, g, h] = message;
    let number = |bytes| i32::from_ne_bytes(bytes);
    Ok((number([a, b, c, d]), number([e, f, g, h])))
}

/// Runs the maker.
fn run(plan: &Plan) -> ! {
    // SAFETY: system calls on plain numbers and on data that lives in `plan`, in a process of one
    // thread, which ends here.
    unsafe {
        libc::close(plan.end_write);
        match enter(plan) {
            Err(errno) => say(plan, Said::NoNamespaces, errno),
            Ok(()) => match build(plan) {
                Err(errno) => say(plan, Said::NoMounts, errno),
                Ok(()) => {
                    say(plan, Said::Made, 0);
                    await_end(plan);
                    match leave() {
                        Ok(()) => say(plan, Said::Left, 0),
                        Err(errno) => say(plan, Said::NoMounts, errno),
                    }
                }
            },
        }
        libc::_exit(0)
    }
}

/// # Safety
/// Only in the maker.
unsafe fn say(plan: &Plan, said: Said, number: c_int) {
    let message = [said as i32, number];
    // SAFETY: a write of a live array to an open pipe.
    unsafe { libc::write(plan.answer, message.as_ptr().cast(), size_of_val(&message)) };
}

fn at(result: c_int) -> Result<c_int, c_int> {
    match result {
        -1 => Err(Errno::last_raw()),
        result => Ok(result),
    }
}

/// Makes the namespaces.
///
/// # Safety
/// Only in the maker.
unsafe fn enter(plan: &Plan) -> Result<(), c_int> {
    // SAFETY: as in `run`.
    unsafe {
        match plan.maker {
            Maker::Privileged => at(libc::unshare(libc::CLONE_NEWNS))?,
            Maker::Anyone => {
                at(libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS))?;
                namespace::map_own(&plan.user_map, &plan.group_map)?;
                0
            }
        };
        // A kernel without such objects has no namespaces for them.
        libc::unshare(libc::CLONE_NEWIPC);
    }
    Ok(())
}

const NONE: *const c_char = ptr::null();

/// # Safety
/// Only in the maker, once it has its namespaces.
unsafe fn build(plan: &Plan) -> Result<(), c_int> {
    let memory = c"tmpfs".as_ptr();
    let flags = libc::MS_NOSUID | libc::MS_NODEV;
    // SAFETY: as in `run`.
    unsafe {
        let private = libc::MS_REC | libc::MS_PRIVATE;
        at(libc::mount(NONE, c"/".as_ptr(), NONE, private, NONE.cast()))?;
        let place = plan.place.as_ptr();
        let options = c"mode=0755".as_ptr();
        at(libc::mount(memory, place, memory, flags, options.cast()))?;
        at(libc::chdir(place))?;
        at(libc::mkdir(c"old".as_ptr(), 0o755))?;
        at(libc::mkdir(c"new".as_ptr(), 0o755))?;
        let moved = libc::syscall(libc::SYS_pivot_root, c".".as_ptr(), c"old".as_ptr());
        at(moved as c_int)?;
        at(libc::chdir(c"/".as_ptr()))?;
        for (index, step) in plan.steps.iter().enumerate() {
            if !take(step)? {
                say(plan, Said::NoLayer, index as c_int);
            }
        }
        let queues = c"/queues".as_ptr();
        let kind = c"mqueue".as_ptr();
        libc::mkdir(queues, 0o755);
        libc::mount(kind, queues, kind, 0, NONE.cast());
        for table in TABLES {
            let flags = libc::O_RDONLY | libc::O_CLOEXEC;
            let opened = libc::open(table.as_ptr(), flags);
            if opened != -1 {
                say(plan, Said::Table, opened);
            }
        }
    }
    Ok(())
}

/// Waits until juror has opened what it needs; ends with juror.
///
/// # Safety
/// Only in the maker.
unsafe fn await_end(plan: &Plan) {
    let mut byte = 0_u8;
    // SAFETY: system calls on plain numbers and one live byte.
    unsafe {
        loop {
            match libc::read(plan.end, (&raw mut byte).cast(), 1) {
                -1 if Errno::last_raw() == libc::EINTR => {}
                1 => return,
                _ => libc::_exit(127),
            }
        }
    }
}

/// Makes the new root the only one.
///
/// # Safety
/// Only in the maker.
unsafe fn leave() -> Result<(), c_int> {
    // SAFETY: system calls on constant strings.
    unsafe {
        at(libc::chdir(c"/new".as_ptr()))?;
        // Both at one place, so that the program's root has no directory for the old one.
        let moved = libc::syscall(libc::SYS_pivot_root, c".".as_ptr(), c".".as_ptr());
        at(moved as c_int)?;
        at(libc::umount2(c".".as_ptr(), libc::MNT_DETACH))?;
        at(libc::chdir(c"/".as_ptr()))?;
    }
    Ok(())
}

/// Returns false if a layer could not be made: its directory is read-only.
///
/// # Safety
/// Only in the maker.
unsafe fn take(step: &Prepared) -> Result<bool, c_int> {
    let (source, target) = (step.source.as_ptr(), step.target.as_ptr());
    let bind = libc::MS_BIND | libc::MS_REC;
    // SAFETY: as in `run`.
    unsafe {
        match step.kind {
            // A socket may be gone.
            Kind::Keep => drop(at(libc::mount(source, target, NONE, bind, NONE.cast()))),
            Kind::Queues => {
                let kind = c"mqueue".as_ptr();
                libc::mount(kind, target, kind, 0, NONE.cast());
            }
            Kind::ReadOnly => make_read_only(step)?,
            Kind::Layer => {
                if make_layer(step).is_err() {
                    make_read_only(step)?;
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}

/// # Safety
/// Only in the maker.
unsafe fn make_layer(step: &Prepared) -> Result<(), c_int> {
    let (upper, work) = (step.upper.as_ptr(), step.work.as_ptr());
    let kind = c"overlay".as_ptr();
    let flags = step.flags & (libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC);
    // SAFETY: as in `run`; the structure is filled in by the kernel.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        at(libc::stat(step.source.as_ptr(), &raw mut status))?;
        at(libc::mkdir(upper, 0o700))?;
        at(libc::mkdir(work, 0o700))?;
        // In a user namespace other owners have no number.
        libc::chown(upper, status.st_uid, status.st_gid);
        at(libc::chmod(upper, status.st_mode & 0o7777))?;
        let time = |seconds, nanoseconds| libc::timespec {
            tv_sec: seconds,
            tv_nsec: nanoseconds,
        };
        let times = [
            time(status.st_atime, status.st_atime_nsec),
            time(status.st_mtime, status.st_mtime_nsec),
        ];
        at(libc::utimensat(libc::AT_FDCWD, upper, times.as_ptr(), 0))?;
        let (target, options) = (step.target.as_ptr(), step.options.as_ptr());
        at(libc::mount(kind, target, kind, flags, options.cast()))?;
    }
    Ok(())
}

/// # Safety
/// Only in the maker.
unsafe fn make_read_only(step: &Prepared) -> Result<(), c_int> {
    let (source, target) = (step.source.as_ptr(), step.target.as_ptr());
    let bind = libc::MS_BIND | libc::MS_REC;
    let change = libc::MS_BIND | libc::MS_REMOUNT | libc::MS_RDONLY | step.flags;
    // SAFETY: as in `run`.
    unsafe {
        at(libc::mount(source, target, NONE, bind, NONE.cast()))?;
        at(libc::mount(NONE, target, NONE, change, NONE.cast()))?;
    }
    Ok(())
}

/// The descriptors by which a program's process enters a world.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(super) user: Option<RawFd>,
    pub(super) mounts: RawFd,
    pub(super) objects: Option<RawFd>,
}

impl Entry {
    /// Enters the world; the working directory is its root then.
    ///
    /// # Safety
    /// Only between `fork` and `exec`.
    pub(crate) unsafe fn enter(&self) -> Result<(), c_int> {
        // SAFETY: system calls on plain numbers.
        unsafe {
            if let Some(user) = self.user {
                at(libc::setns(user, libc::CLONE_NEWUSER))?;
            }
            at(libc::setns(self.mounts, libc::CLONE_NEWNS))?;
            if let Some(objects) = self.objects {
                at(libc::setns(objects, libc::CLONE_NEWIPC))?;
            }
        }
        Ok(())
    }
}
