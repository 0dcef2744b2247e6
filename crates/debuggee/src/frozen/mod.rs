//! A process kept as it is, to be brought back as often as one likes.
//!
//! All threads stand; what the kernel keeps for each of them is read, and the
//! process is copied by a `clone` that its first thread makes for juror. The
//! copy, the *template*, is juror's child as the process is, is traced, and
//! never runs an instruction of the program: what it holds is shared with the
//! process page by page until one is written. To bring the process back, the
//! present one is ended, and the template makes a copy of itself that has the
//! number of the old process, and in which each thread is made again with the
//! number that it had: robust mutexes, locks that know their owner, and
//! `pthread_kill` go by these numbers.
//!
//! Invariant: a template stands from its making to its end, with the original
//! text, outside of the process group and session of the program (whose numbers
//! would otherwise stay in use), and ends with its [`FrozenProcess`] or with
//! juror.

mod bare;
mod batch;
mod descriptors;
mod ended_children;
mod error;
mod freezing;
mod kernel;
mod memory_holder;
mod scheduling;
mod thawing;
mod threads;
mod timers;
mod uncopied;

pub use descriptors::Descriptors;
pub use error::{FreezeError, ThawError};
pub(crate) use kernel::bytes_of;
pub use thawing::Thawed;

use std::collections::VecDeque;
use std::path::PathBuf;

use juror_stepping::Owner;
use libc::siginfo_t;
use nix::sys::termios::Termios;

use crate::image::Image;
use crate::launch::CpuPolicy;
use crate::life::{Origin, ProcessGroup};
use crate::memory::Memory;
use crate::namespace::Namespace;
use crate::self_check::SelfCheck;
use crate::stop_event::StopEvent;
use crate::watch::Watch;
use crate::{kernel as requests, pending_stops, process_status};
use juror_stepping::StepBy;
use threads::{FrozenThread, Place};
use timers::Timers;

/// A process as it was. Dropping it gives the copy up.
///
/// Bound to the thread of juror that traces, as the debuggee is.
#[derive(Debug)]
pub struct FrozenProcess {
    template: Template,
    memory: Memory,
    place: Place,
    /// The number of the process for juror, and for itself.
    process: u32,
    own_pid: u32,
    /// The first thread is the first.
    threads: Vec<FrozenThread>,
    /// Signals that wait for whichever thread takes them.
    waiting: Vec<siginfo_t>,
    timers: Timers,
    /// The process may give numbers to new ones.
    keeps_pids: bool,
    leads_group: bool,
    leads_session: bool,
    settings: Settings,
    image: Image,
    /// Every point there was, whose, and how often it was inserted.
    points: Vec<(u64, Owner, u32)>,
    watches: Vec<Watch>,
    system_calls: crate::system_calls::WantedCalls,
    monitored_signals: u64,
    /// What it had made, and not waited for.
    children: Vec<u32>,
    /// It had made processes, ended ones included.
    has_made_processes: bool,
    /// Memory that the copy does not have, in bytes, if the kernel tells.
    uncopied: Option<u64>,
    threads_with_own_users: usize,
    /// It had juror's terminal.
    had_terminal: bool,
    /// With these modes.
    terminal_modes: Option<Termios>,
    /// Whose numbers they are, if they are the program's own.
    namespace: Option<Namespace>,
    /// What was still to be told.
    pending_events: VecDeque<StopEvent>,
}

/// What juror had arranged for the process.
#[derive(Debug, Clone)]
struct Settings {
    origin: Origin,
    cpu: CpuPolicy,
    step_by: StepBy,
    in_place: bool,
    self_check: Option<SelfCheck>,
    follow: crate::follow::Follow,
    signal_policies: crate::signals::SignalPolicies,
    catches_forks: bool,
    group: ProcessGroup,
}

/// The copy: a process that stands for ever.
#[derive(Debug)]
struct Template(u32);

impl Template {
    fn new(process: u32) -> Template {
        pending_stops::add_template(process);
        Template(process)
    }

    /// Whether nobody has killed it.
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
    /// The number that the process had, and has when it is brought back; see
    /// [`FrozenProcess::keeps_pids`].
    pub fn pid(&self) -> u32 {
        self.process
    }

    /// The process that holds the copy.
    pub fn template(&self) -> u32 {
        self.template.0
    }

    /// Whether the copy is still there: anybody may kill it.
    pub fn is_alive(&self) -> bool {
        self.template.is_alive()
    }

    /// How many threads there were.
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// Whether a process that is brought back has the old numbers for itself;
    /// otherwise it has another one, and had one thread.
    pub fn keeps_pids(&self) -> bool {
        self.keeps_pids
    }

    /// The processes that it had made, and that it had not waited for.
    pub fn children(&self) -> &[u32] {
        &self.children
    }

    /// Those of them that keep the number of the process in use, since it is the one of
    /// their group or session.
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

    /// How many threads had other users and groups than the first one, which they have
    /// when they are brought back.
    pub fn threads_with_own_users(&self) -> usize {
        self.threads_with_own_users
    }

    /// How many bytes of memory the copy does not have, since the program keeps
    /// them out of copies; nothing where the kernel does not tell.
    pub fn uncopied_bytes(&self) -> Option<u64> {
        self.uncopied
    }

    /// The program's file, by what the kernel says of the copy.
    pub fn program(&self) -> PathBuf {
        let link = format!("/proc/{}/exe", self.template.0);
        std::fs::read_link(link).unwrap_or_default()
    }
}
