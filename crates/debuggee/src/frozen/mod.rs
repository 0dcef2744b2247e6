//! A process whose state is kept, to be restored any number of times.
//!
//! All threads are stopped; the kernel's state of each is read, and the process
//! is copied by a `clone` that its first thread makes for juror. The copy, the
//! *template*, is juror's child as the process is, is traced, and never runs an
//! instruction of the program; it shares every page with the process until one
//! of them writes to it. To restore the process, the present one is killed, and
//! the template makes a copy of itself that has the number of the old process,
//! and in which each thread is made again with its old number: robust mutexes,
//! locks that know their owner, and `pthread_kill` depend on these numbers.
//! `docs/design/checkpoints.md` describes the costs.
//!
//! Invariant: a template is stopped from its creation to its end, with the
//! original text, outside of the process group and session of the program
//! (whose numbers would otherwise stay in use), and ends with its
//! [`FrozenProcess`] or with juror.

mod bare;
mod batch;
mod copies;
mod descriptors;
mod ended_children;
mod entries;
mod error;
mod freezing;
mod kernel;
mod memory_holder;
mod scheduling;
mod thawing;
mod threads;
mod timers;
mod uncopied;

pub use copies::FrozenRun;
pub use descriptors::Descriptors;
pub use error::{FreezeError, ThawError};
pub(crate) use kernel::bytes_of;
pub use thawing::Thawed;

use std::collections::VecDeque;
use std::path::PathBuf;

use juror_stepping::Owner;
use libc::siginfo_t;
use nix::sys::termios::Termios;

use crate::host::cpu::CpuPolicy;
use crate::image::Image;
use crate::kernel::namespace::Namespace;
use crate::kernel::{self as requests, pending_stops, process_status};
use crate::memory::Memory;
use crate::state::life::{Origin, ProcessGroup};
use crate::state::self_check::SelfCheck;
use crate::state::stop_event::StopEvent;
use crate::watch::Watch;
use entries::Entry;
use juror_stepping::StepBy;
use threads::{FrozenThread, Place};
use timers::Timers;

/// The kept state of a process. Dropping it ends the copy.
///
/// Bound to the tracing thread of juror, as the debuggee is.
#[derive(Debug)]
pub struct FrozenProcess {
    template: Template,
    memory: Memory,
    place: Place,
    /// The number of the process for juror, and in its own namespace.
    process: u32,
    own_pid: u32,
    /// The first thread is the first entry.
    threads: Vec<FrozenThread>,
    /// The threads that stood at the entry of a system call.
    entries: Vec<Entry>,
    /// Signals pending for the process as a whole.
    waiting: Vec<siginfo_t>,
    timers: Timers,
    /// Whether the process may choose the numbers of new ones.
    keeps_pids: bool,
    leads_group: bool,
    leads_session: bool,
    settings: Settings,
    image: Image,
    /// Every point with its owner, and how often it was inserted.
    points: Vec<(u64, Owner, u32)>,
    watches: Vec<Watch>,
    system_calls: crate::state::wanted_calls::WantedCalls,
    monitored_signals: u64,
    /// Its children that it had not waited for.
    children: Vec<u32>,
    /// Whether it had made processes, including ended ones.
    has_made_processes: bool,
    /// Memory that the copy does not have, in bytes, if known.
    uncopied: Option<u64>,
    threads_with_own_users: usize,
    /// Whether it had juror's terminal.
    had_terminal: bool,
    /// The modes of that terminal.
    terminal_modes: Option<Termios>,
    /// Its PID namespace, if it has its own.
    namespace: Option<Namespace>,
    /// Stop events that were queued.
    pending_events: VecDeque<StopEvent>,
}

/// juror's settings for the process.
#[derive(Debug, Clone)]
struct Settings {
    origin: Origin,
    cpu: CpuPolicy,
    step_by: StepBy,
    in_place: bool,
    self_check: Option<SelfCheck>,
    follow: crate::processes::forks::Follow,
    signal_policies: crate::state::signals::SignalPolicies,
    catches_forks: bool,
    group: ProcessGroup,
}

/// The copy: a process that stays stopped.
#[derive(Debug)]
struct Template(u32);

impl Template {
    fn new(process: u32) -> Template {
        pending_stops::add_template(process);
        Template(process)
    }

    /// Returns true if it has not been killed.
    fn is_alive(&self) -> bool {
        let status = process_status::ProcessStatus::of_process(self.0);
        status.is_some_and(|status| !status.has_ended()) && !requests::is_dying(self.0)
    }
}

impl Drop for Template {
    fn drop(&mut self) {
        memory_holder::end(self.0);
    }
}

impl FrozenProcess {
    /// Returns the number that the process had, and has when it is restored;
    /// see [`FrozenProcess::keeps_pids`].
    pub fn pid(&self) -> u32 {
        self.process
    }

    /// Returns the process that holds the copy.
    pub fn template(&self) -> u32 {
        self.template.0
    }

    /// Returns true if the copy still exists: it may be killed from outside.
    pub fn is_alive(&self) -> bool {
        self.template.is_alive()
    }

    /// Returns the number of threads.
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// Returns true if a restored process has its old numbers; otherwise it has
    /// another one, and had one thread.
    pub fn keeps_pids(&self) -> bool {
        self.keeps_pids
    }

    /// Returns its children that it had not waited for.
    pub fn children(&self) -> &[u32] {
        &self.children
    }

    /// Returns those children that keep the number of the process in use as the
    /// number of their group or session.
    pub fn children_using_its_pid(&self) -> impl Iterator<Item = u32> + '_ {
        let uses = |child: &u32| {
            let groups = process_status::group_and_session(*child);
            self.keeps_pids
                && groups.is_some_and(|(group, session)| {
                    group == self.process || session == self.process
                })
        };
        self.children.iter().copied().filter(uses)
    }

    /// Returns the number of threads that had other users and groups than the
    /// first one, which they have when they are restored.
    pub fn threads_with_own_users(&self) -> usize {
        self.threads_with_own_users
    }

    /// Returns the number of bytes of memory that the copy does not have, since
    /// the program keeps them out of copies; none if the kernel does not say.
    pub fn uncopied_bytes(&self) -> Option<u64> {
        self.uncopied
    }

    /// Returns the program's file, according to the kernel's entry for the
    /// copy.
    pub fn program(&self) -> PathBuf {
        let link = format!("/proc/{}/exe", self.template.0);
        std::fs::read_link(link).unwrap_or_default()
    }
}
