//! Making a checkpoint and restoring it, step by step ([`crate::order`]).

use crate::files::{self, SavedFiles, Wanted};
use crate::loss::Loss;
use crate::mapping;
use crate::memory::{self, SavedMemory};
use crate::open;
use crate::order::{Making, Restoring};
use juror_debuggee::{
    Debuggee, DebuggeeError, FreezeError, FrozenProcess, Owner, ThawError, Thawed,
};
use std::fs;
use std::os::unix::fs::MetadataExt;

/// The state that checkpoints keep beside the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Whether the contents of writable files are kept, so that writes are
    /// undone.
    pub keeps_contents: bool,
    /// The maximum length of a kept file, in bytes.
    pub file_bytes_max: u64,
    /// The maximum amount of kept shared memory, in bytes.
    pub shared_bytes_max: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            keeps_contents: true,
            file_bytes_max: 16 << 20,
            shared_bytes_max: 64 << 20,
        }
    }
}

/// The reason why no checkpoint could be made.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The process cannot be kept.
    #[error(transparent)]
    Freeze(#[from] FreezeError),
    /// A request failed.
    #[error(transparent)]
    Debuggee(#[from] DebuggeeError),
}

/// The reason why a checkpoint could not be restored.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct RestoreError(#[from] pub ThawError);

/// The kept state of a process and of its open files.
#[derive(Debug)]
pub struct Checkpoint {
    process: FrozenProcess,
    files: SavedFiles,
    memory: Vec<SavedMemory>,
    losses: Vec<Loss>,
}

/// A process that has been restored.
#[derive(Debug)]
pub struct Restored {
    /// The process, and its threads.
    pub thawed: Thawed,
    /// The state that was not restored.
    pub losses: Vec<Loss>,
}

/// Memory up to this size, in KiB, is searched for pages that no copy gets, if
/// that takes a look at each page.
const SEARCHED_KIB_MAX: u64 = 64 << 10;

impl Checkpoint {
    /// Keeps the state of the process. Unchanged state is shared with the
    /// earlier checkpoint `before`.
    ///
    /// # Errors
    /// It cannot be kept; it is then as before.
    pub fn take(
        debuggee: &mut Debuggee,
        settings: &Settings,
        before: Option<&Checkpoint>,
    ) -> Result<Checkpoint, CheckpointError> {
        let mut losses = vec![Loss::Clock, Loss::LaterFiles];
        let mut files = SavedFiles::default();
        let mut memory = Vec::new();
        let mut step = Making::FIRST;
        loop {
            match step {
                Making::Halt => {
                    debuggee.halt_all()?;
                    if !debuggee.is_alive() {
                        return Err(DebuggeeError::Gone.into());
                    }
                }
                Making::Descriptors => {
                    let wanted = Wanted {
                        contents: settings.keeps_contents.then_some(settings.file_bytes_max),
                    };
                    let descriptors = debuggee.descriptors()?;
                    let before = before.map(|before| &before.files);
                    files = files::save(&descriptors, wanted, before, &mut losses);
                }
                Making::SharedMemory => {
                    let before = before.map_or(&[][..], |before| &before.memory);
                    memory = memory::save(debuggee, settings.shared_bytes_max, before, &mut losses);
                }
                Making::Process => {
                    let process = debuggee.freeze()?;
                    if !process.keeps_pids() {
                        losses.push(Loss::Pid);
                    }
                    losses.extend(losses_of_process(&process, debuggee.pid()));
                    losses.sort_unstable();
                    losses.dedup();
                    return Ok(Checkpoint {
                        process,
                        files,
                        memory,
                        losses,
                    });
                }
            }
            step = step.next().unwrap_or(Making::Process);
        }
    }

    /// Restores the process in place of the present one, with these points.
    ///
    /// # Errors
    /// It cannot be restored.
    pub fn restore(
        &self,
        present: Option<&mut Debuggee>,
        points: &[(u64, Owner, u32)],
    ) -> Result<Restored, RestoreError> {
        let mut losses = self.losses.clone();
        let mut present = present;
        if let Some(present) = present.as_deref_mut().filter(|it| it.is_alive()) {
            present.halt_all().map_err(ThawError::from)?;
            let descriptors = present.descriptors().map_err(ThawError::from)?;
            losses.extend(files::opened_since(&descriptors, &self.files));
        }
        let mut thawed = self.process.thaw(present, points)?;
        let descriptors = match thawed.debuggee.descriptors() {
            Ok(descriptors) => descriptors,
            Err(error) => return Err(ThawError::from(error).into()),
        };
        for (what, thread, why) in &thawed.refused {
            losses.push(Loss::Failure {
                what: format!("the {what} of thread {}", thread.0),
                why: why.to_string(),
            });
        }
        let mut step = Restoring::Process.next();
        while let Some(present) = step {
            match present {
                Restoring::Check | Restoring::Process => {}
                Restoring::SharedMemory => {
                    memory::restore(&mut thawed.debuggee, &self.memory, &mut losses);
                }
                Restoring::Pipes => self.files.restore_pipes(&descriptors, &mut losses),
                Restoring::Files => self.files.restore_files(&descriptors, &mut losses),
                Restoring::Timers => self.files.restore_timers(&descriptors, &mut losses),
            }
            step = present.next();
        }
        Ok(Restored { thawed, losses })
    }

    /// Returns the kept process.
    pub fn process(&self) -> &FrozenProcess {
        &self.process
    }

    /// Returns the state that a restore does not bring back.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }
}

/// Returns the losses of state that belongs to the process and ends with it.
fn losses_of_process(frozen: &FrozenProcess, process: u32) -> Vec<Loss> {
    let mut losses = Vec::new();
    let mut children = frozen.children().to_vec();
    children.sort_unstable();
    if !children.is_empty() {
        losses.push(Loss::Children(children));
    }
    let mut with_number: Vec<u32> = frozen.children_using_its_pid().collect();
    with_number.sort_unstable();
    if !with_number.is_empty() {
        losses.push(Loss::ChildrenUsingPid(with_number));
    }
    match frozen.threads_with_own_users() {
        0 => {}
        count => losses.push(Loss::Users(count)),
    }
    if has_system_five(process) {
        losses.push(Loss::SystemFive);
    }
    let length = frozen.uncopied_bytes();
    let length = length.or_else(|| uncopied_by_list(process)).unwrap_or(0);
    if length > 0 {
        losses.push(Loss::UncopiedMemory { length });
    }
    losses
}

/// Returns true if the user of a process has System V semaphores or message
/// queues; which process uses them is unknown.
fn has_system_five(process: u32) -> bool {
    let user = fs::metadata(format!("/proc/{process}")).map(|it| it.uid());
    user.is_ok_and(|user| {
        ["sem", "msg"].iter().any(|name| {
            let list = fs::read_to_string(format!("/proc/sysvipc/{name}"));
            list.is_ok_and(|list| open::lists_something_of(&list, user))
        })
    })
}

/// Returns the memory that no copy gets, by the list of mappings with the state
/// of their pages, for kernels without a better interface.
fn uncopied_by_list(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let resident = status.lines().find_map(|line| {
        line.strip_prefix("VmRSS:")?
            .split_whitespace()
            .next()?
            .parse()
            .ok()
    });
    let is_searched = resident.is_some_and(|kib: u64| kib <= SEARCHED_KIB_MAX);
    let smaps = is_searched.then(|| fs::read_to_string(format!("/proc/{process}/smaps")));
    Some(mapping::uncopied(&smaps?.ok()?))
}
