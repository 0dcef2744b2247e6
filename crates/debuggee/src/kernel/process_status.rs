//! Information of `/proc` on a process and its threads.
//!
//! Invariant: missing or unknown information is `None`; a process can end at
//! any moment.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::kernel::namespace;

/// The parts of `/proc/PID/status` that are needed before attaching.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProcessStatus {
    pub(crate) name: String,
    /// `R`, `S`, `T`, `Z` and so on.
    pub(crate) state: char,
    /// The process that a thread belongs to; its own number for a process.
    pub(crate) process: u32,
    /// Its parent, or the process that inherited it.
    pub(crate) parent: u32,
    /// Its tracer; 0 for none.
    pub(crate) tracer: u32,
    /// Its real user.
    pub(crate) user: u32,
    /// How many filters its system calls pass; 1 if the kernel does not count them.
    pub(crate) seccomp_filters: u32,
    /// Whether programs that it executes get no further privileges.
    pub(crate) has_no_new_privileges: bool,
}

impl ProcessStatus {
    /// Returns the status of a process.
    pub(crate) fn of_process(process: u32) -> Option<ProcessStatus> {
        ProcessStatus::parse(&read_text(format!("/proc/{process}/status").as_ref())?)
    }

    /// Returns the status of one of its threads.
    pub(crate) fn of_thread(process: u32, thread: u32) -> Option<ProcessStatus> {
        let path = format!("/proc/{process}/task/{thread}/status");
        ProcessStatus::parse(&read_text(path.as_ref())?)
    }

    fn parse(text: &str) -> Option<ProcessStatus> {
        let field = |name: &str| field(text, name);
        let number = |name| field(name)?.split_whitespace().next()?.parse().ok();
        Some(ProcessStatus {
            name: field("Name")?.to_owned(),
            state: field("State")?.chars().next()?,
            process: number("Tgid")?,
            parent: number("PPid")?,
            tracer: number("TracerPid")?,
            user: number("Uid")?,
            seccomp_filters: match number("Seccomp").unwrap_or(0) {
                0 => 0,
                _ => number("Seccomp_filters").unwrap_or(1),
            },
            has_no_new_privileges: number("NoNewPrivs").unwrap_or(0) != 0,
        })
    }

    /// Returns true if it has ended.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x')
    }
}

/// Returns true if a thread runs, or waits for a processor.
pub(crate) fn is_runnable(thread: u32) -> bool {
    let status = ProcessStatus::of_process(thread);
    status.is_some_and(|status| status.state == 'R')
}

/// Reads a file of `/proc`, whose length is unknown before: in large parts, of
/// which one suffices for most.
pub(crate) fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    const AT_ONCE: usize = 4 << 10;
    let mut file = fs::File::open(path)?;
    let mut bytes = Vec::new();
    let mut filled = 0;
    loop {
        bytes.resize(filled + AT_ONCE.max(filled), 0);
        match file.read(bytes.get_mut(filled..).unwrap_or_default())? {
            0 => break,
            count => filled += count,
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// As [`read`], as text.
pub(crate) fn read_text(path: &Path) -> Option<String> {
    String::from_utf8(read(path).ok()?).ok()
}

/// Returns the threads of a process, including ended ones that are still
/// listed.
pub(crate) fn threads(process: u32) -> Vec<u32> {
    numbers_in(&format!("/proc/{process}/task")).collect()
}

/// Returns every process, by its number.
pub(crate) fn all() -> impl Iterator<Item = (u32, ProcessStatus)> {
    numbers_in("/proc").filter_map(|id| Some((id, ProcessStatus::of_process(id)?)))
}

fn numbers_in(directory: &str) -> impl Iterator<Item = u32> + use<> {
    let entries = fs::read_dir(directory);
    entries
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Returns true for a thread of the kernel, which has no program.
pub(crate) fn is_kernel_thread(process: u32) -> bool {
    /// `PF_KTHREAD` of the kernel, in the field `flags` of `stat`.
    const KERNEL_THREAD: u64 = 0x0020_0000;
    /// The number of fields between the name and the flags.
    const FLAGS: usize = 6;
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .and_then(|(_, fields)| fields.split(' ').nth(FLAGS)?.parse().ok())
        .is_some_and(|flags: u64| flags & KERNEL_THREAD != 0)
}

/// Returns the number of a thread in its own, innermost namespace.
pub(crate) fn own_pid(process: u32, thread: u32) -> Option<u32> {
    let text = status_text(process, thread)?;
    field(&text, "NSpid")?
        .split_whitespace()
        .last()?
        .parse()
        .ok()
}

/// `CAP_SYS_ADMIN` and `CAP_CHECKPOINT_RESTORE` of the kernel.
const ADMINISTRATES: u64 = 1 << 21;
const RESTORES: u64 = 1 << 40;

/// Returns true if a thread may choose the numbers of new ones.
pub(crate) fn may_choose_pids(process: u32, thread: u32) -> bool {
    has_one_of(process, thread, ADMINISTRATES | RESTORES)
        && namespace::owns_pid_namespace(process, thread)
}

/// Returns true if a process may mount file systems.
pub(crate) fn may_mount(process: u32) -> bool {
    has_one_of(process, process, ADMINISTRATES)
}

fn has_one_of(process: u32, thread: u32, capabilities: u64) -> bool {
    let effective = status_text(process, thread)
        .and_then(|text| u64::from_str_radix(field(&text, "CapEff")?, 16).ok());
    effective.is_some_and(|effective| effective & capabilities != 0)
}

/// Returns the users and groups as which a thread acts, in the kernel's form.
pub(crate) fn users(process: u32, thread: u32) -> Option<[String; 3]> {
    let text = status_text(process, thread)?;
    let text_of = |name| Some(field(&text, name)?.to_owned());
    Some([text_of("Uid")?, text_of("Gid")?, text_of("Groups")?])
}

/// Returns the process group and the session of a process.
pub(crate) fn group_and_session(process: u32) -> Option<(u32, u32)> {
    let stat = read_text(format!("/proc/{process}/stat").as_ref())?;
    let (_, fields) = stat.rsplit_once(") ")?;
    // After the state and the parent.
    let mut fields = fields.split(' ').skip(2);
    let group = fields.next()?.parse().ok()?;
    Some((group, fields.next()?.parse().ok()?))
}

/// Returns the resident memory of a process in bytes.
pub(crate) fn resident_bytes(process: u32) -> Option<u64> {
    let text = read_text(format!("/proc/{process}/statm").as_ref())?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * crate::kernel::mapping::PAGE_LENGTH)
}

/// Returns the children of a process that have not been waited for.
pub(crate) fn children(process: u32) -> Vec<u32> {
    let lists = threads(process)
        .into_iter()
        .filter_map(|thread| read_text(&file_of(process, thread, "children")));
    let numbers = |list: String| -> Vec<u32> {
        list.split_whitespace()
            .filter_map(|number| number.parse().ok())
            .collect()
    };
    lists.flat_map(numbers).collect()
}

/// Returns a process whose group or session has the number of another one,
/// `process`.
pub(crate) fn user_of_pid(process: u32, is_excepted: impl Fn(u32) -> bool) -> Option<u32> {
    numbers_in("/proc").find(|&id| {
        id != process
            && !is_excepted(id)
            && group_and_session(id)
                .is_some_and(|(group, session)| group == process || session == process)
    })
}

fn status_text(process: u32, thread: u32) -> Option<String> {
    read_text(&file_of(process, thread, "status"))
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
        .map(str::trim)
}

/// Returns the name of a user, or the number if there is none.
pub(crate) fn user_name(user: u32) -> String {
    let found = nix::unistd::User::from_uid(nix::unistd::Uid::from_raw(user));
    match found {
        Ok(Some(user)) => user.name,
        _ => format!("user {user}"),
    }
}

/// Returns the path of a file of the process by way of one of its threads:
/// those of the first thread are empty when it has ended.
pub(crate) fn file_of(process: u32, thread: u32, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{process}/task/{thread}/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read() {
        let text = "Name:\tsome name\nUmask:\t0022\nState:\tt (tracing stop)\nTgid:\t12\n\
                    Ngid:\t0\nPid:\t13\nPPid:\t11\nTracerPid:\t9\nUid:\t5\t6\t7\t8\nSeccomp:\t2\n";
        let expected = ProcessStatus {
            name: "some name".into(),
            state: 't',
            process: 12,
            parent: 11,
            tracer: 9,
            user: 5,
            seccomp_filters: 1,
            has_no_new_privileges: false,
        };
        assert_eq!(ProcessStatus::parse(text), Some(expected));
        assert_eq!(ProcessStatus::parse("Name:\tx\n"), None);
    }

    #[test]
    fn this_test_is_a_process_of_the_system() {
        let own = std::process::id();
        let status = ProcessStatus::of_process(own).unwrap();
        assert_eq!(status.process, own);
        assert!(!status.has_ended());
        assert!(threads(own).contains(&own));
        // Its state may change between two reads.
        let same = |it: &ProcessStatus| it.process == own && it.name == status.name;
        assert!(all().any(|(id, it)| id == own && same(&it)));
        assert!(!is_kernel_thread(own));
        assert_eq!(ProcessStatus::of_process(0), None);
        assert!(threads(0).is_empty());
    }
}
