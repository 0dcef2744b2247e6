//! The rules, checked on the operations alone.
//!
//! - A trap is inserted where none is, and removed where one is.
//! - While an owner's trap is not in memory, or a trap without an owner is (for
//!   the end of a step), at most one thread runs; an owner's trap is removed
//!   while none runs.
//! - A patch is written and removed while no thread runs. No trap is inserted in
//!   its head, and while it is there, its head counts as guarded.
//! - A thread that is resumed, moved or reported is stopped, and a thread that
//!   is held runs.
//! - A report names owners of the place where the thread stands, each once
//!   until the thread leaves.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Input, Operation, Owner, Owners, Site, ThreadId};

#[derive(Debug, Clone, Default)]
pub(super) struct Referee {
    sites: BTreeMap<u64, Site>,
    inserted: BTreeSet<u64>,
    /// The addresses with an owner or a trap, but not both.
    exposed: BTreeSet<u64>,
    /// The addresses at which a trap was ever inserted.
    ever_inserted: BTreeSet<u64>,
    /// The addresses whose original bytes were restored in a copy of the memory
    /// that is to run.
    restored: BTreeSet<u64>,
    /// The ends of heads and jumps by their sites, and the one that was asked for last.
    patches: BTreeMap<u64, u64>,
    asked: Option<(u64, u64)>,
    /// The sites that ever had a patch, and those whose bytes were restored in a
    /// copy.
    ever_patched: BTreeSet<u64>,
    unpatched: BTreeSet<u64>,
    /// The addresses of lost traps, which may be removed or not.
    lost: BTreeSet<u64>,
    threads: BTreeMap<ThreadId, Observed>,
    moving: usize,
}

/// What can be observed of a thread.
#[derive(Debug, Clone, Default)]
struct Observed {
    moves: bool,
    stand: Stand,
    suspended: Vec<Stand>,
}

/// The place of a thread, and the owners that have been notified there.
#[derive(Debug, Clone, Copy, Default)]
struct Stand {
    address: u64,
    notified: Option<Owners>,
}

impl Referee {
    pub(super) fn follow(&mut self, input: &Input, ordered: &[Operation]) -> Result<(), String> {
        self.note(input);
        for operation in ordered {
            self.judge(operation)?;
        }
        self.judge_exposure()
    }

    fn note(&mut self, input: &Input) {
        match *input {
            Input::Insert {
                address,
                owner,
                step_over,
            } => {
                let site = self.sites.entry(address);
                site.or_insert_with(|| Site::new(step_over)).add(owner);
                self.update(address);
            }
            Input::Remove { address, owner } => self.remove(address, owner),
            Input::InsertFailed { address } => {
                self.sites.remove(&address);
                self.patches.remove(&address);
                if self.inserted.remove(&address) {
                    self.lost.insert(address);
                }
                self.update(address);
            }
            Input::Started { thread } | Input::StartedInPlace { thread, .. } => {
                self.start(thread);
            }
            Input::Attached { thread } => {
                self.start(thread);
                if let Some(known) = self.threads.get_mut(&thread) {
                    known.moves = true;
                    self.moving += 1;
                }
            }
            Input::Ended { thread } => self.end(thread),
            Input::Trapped {
                thread, address, ..
            }
            | Input::Stepped { thread, address } => self.stop(thread, address, true),
            Input::Patch {
                address,
                end,
                jump_end,
                ..
            } => self.asked = Some((address, end.max(jump_end))),
            Input::Stopped { thread, address }
            | Input::Stray { thread, address }
            | Input::Interrupted { thread, address }
            | Input::Faulted {
                thread, address, ..
            } => self.stop(thread, address, false),
            Input::Jumped { thread, address } => {
                if let Some(thread) = self.standing(thread) {
                    thread.stand = Stand::at(address);
                }
            }
            Input::Suspend { thread } => {
                if let Some(thread) = self.standing(thread) {
                    thread.suspended.push(std::mem::take(&mut thread.stand));
                }
            }
            Input::Restore { thread, depth } => {
                if let Some(thread) = self.standing(thread)
                    && let Some(&stand) = thread.suspended.get(depth)
                {
                    thread.suspended.truncate(depth);
                    thread.stand = stand;
                }
            }
            Input::Discard { thread, depth } => {
                if let Some(thread) = self.threads.get_mut(&thread) {
                    thread.suspended.truncate(depth);
                }
            }
            Input::Parked { thread, address } => self.stop(thread, address, true),
            Input::ForkFollowed { thread } => {
                self.threads.clear();
                self.moving = 0;
                self.start(thread);
                let sites = self.sites.keys();
                self.inserted = sites.copied().collect();
                self.exposed.clear();
                self.lost.clear();
                self.patches.clear();
                self.restored.clear();
                self.unpatched.clear();
            }
            Input::ForkStopped { .. } => {
                self.restored.clear();
                self.unpatched.clear();
            }
            Input::Executed { thread } => {
                *self = Referee::default();
                self.start(thread);
            }
            Input::FollowSet { .. }
            | Input::ForkMade { .. }
            | Input::Inherited { .. }
            | Input::Rewritten { .. }
            | Input::Unparked { .. }
            | Input::Signalled { .. }
            | Input::Unpatch { .. }
            | Input::Counted { .. }
            | Input::HandlerEntered { .. }
            | Input::HandlerReturned { .. }
            | Input::Called { .. }
            | Input::Resume { .. }
            | Input::Step { .. }
            | Input::Halt { .. } => {}
        }
    }

    fn remove(&mut self, address: u64, owner: Owner) {
        if let Some(site) = self.sites.get_mut(&address) {
            site.subtract(owner);
            if site.owners().is_empty() {
                self.sites.remove(&address);
            }
        }
        self.update(address);
    }

    fn start(&mut self, thread: ThreadId) {
        self.end(thread);
        self.threads.insert(thread, Observed::default());
    }

    fn end(&mut self, thread: ThreadId) {
        if self
            .threads
            .remove(&thread)
            .is_some_and(|known| known.moves)
        {
            self.moving -= 1;
        }
    }

    fn stop(&mut self, thread: ThreadId, address: u64, executed: bool) {
        let known = self.threads.entry(thread).or_default();
        if std::mem::take(&mut known.moves) {
            self.moving -= 1;
        }
        if executed || known.stand.address != address {
            known.stand = Stand::at(address);
        }
    }

    /// Returns the thread, if it is stopped.
    fn standing(&mut self, thread: ThreadId) -> Option<&mut Observed> {
        self.threads.get_mut(&thread).filter(|known| !known.moves)
    }

    fn update(&mut self, address: u64) {
        let is_patched = self.patch_over(address).is_some();
        if is_patched || self.sites.contains_key(&address) == self.inserted.contains(&address) {
            self.exposed.remove(&address);
        } else {
            self.exposed.insert(address);
        }
    }

    /// Returns the site of the patch whose head or jump contains `address`.
    fn patch_over(&self, address: u64) -> Option<u64> {
        let (&start, &end) = self.patches.range(..=address).next_back()?;
        (address < end).then_some(start)
    }

    fn judge_patch(&mut self, address: u64, is_written: bool) -> Result<(), String> {
        demand(self.moving == 0, || {
            format!("the patch at {address:#x} is written or removed while a thread runs")
        })?;
        let end = if is_written {
            let asked = self.asked.filter(|asked| asked.0 == address);
            let (_, end) =
                asked.ok_or_else(|| format!("no patch was asked for at {address:#x}"))?;
            let is_first = self.patches.insert(address, end).is_none();
            self.ever_patched.insert(address);
            demand(is_first && self.inserted.contains(&address), || {
                format!("a patch replaces no trap at {address:#x}")
            })?;
            end
        } else {
            self.patches
                .remove(&address)
                .ok_or_else(|| format!("a patch is removed at {address:#x}, where none is"))?
        };
        let all = self.sites.keys().chain(&self.inserted).copied();
        let inside: Vec<u64> = all.filter(|it| (address..end).contains(it)).collect();
        for place in inside {
            self.update(place);
            demand(!is_written || place == address, || {
                format!("a patch is written over the site at {place:#x}")
            })?;
        }
        Ok(())
    }

    fn judge(&mut self, operation: &Operation) -> Result<(), String> {
        match *operation {
            Operation::WritePatch { address } => self.judge_patch(address, true),
            Operation::RemovePatch { address } => self.judge_patch(address, false),
            Operation::RestorePatchInFork { address, .. } => {
                self.unpatched.insert(address);
                Ok(())
            }
            Operation::InsertTrap { address } => {
                let is_patched = self.patch_over(address).is_some();
                demand(!is_patched, || {
                    format!("a trap is inserted at {address:#x}, in a patch")
                })?;
                let fresh = self.inserted.insert(address);
                self.ever_inserted.insert(address);
                self.lost.remove(&address);
                self.update(address);
                demand(fresh, || {
                    format!("a second trap is inserted at {address:#x}")
                })
            }
            Operation::RemoveTrap { address } => {
                let owned = self.sites.contains_key(&address);
                demand(!owned || self.moving == 0, || {
                    format!("the trap at {address:#x} is removed while a thread may run into it")
                })?;
                let there = self.inserted.remove(&address) || self.lost.remove(&address);
                self.update(address);
                demand(there, || {
                    format!("a trap is removed at {address:#x}, where none is")
                })
            }
            Operation::RestoreInFork { address, .. } => {
                self.restored.insert(address);
                Ok(())
            }
            Operation::InsertInFork { address, .. } => {
                let owned = self.sites.contains_key(&address);
                self.restored.insert(address);
                demand(owned, || {
                    format!("a copy gets a trap at {address:#x}, where no site is")
                })
            }
            Operation::ReleaseFork { .. } => {
                let missing = self.ever_inserted.difference(&self.restored).next();
                demand(missing.is_none(), || {
                    format!("a copy may run into a trap at {:#x}", missing.unwrap_or(&0))
                })?;
                let missing = self.ever_patched.difference(&self.unpatched).next();
                demand(missing.is_none(), || {
                    let address = missing.unwrap_or(&0);
                    format!("a copy may run into a patch at {address:#x}")
                })
            }
            Operation::ContinueThread { thread }
            | Operation::StepThread { thread }
            | Operation::Arrive { thread, .. }
            | Operation::RunToFollowSet { thread } => {
                self.demand_standing(thread, "resumed")?.moves = true;
                self.moving += 1;
                self.judge_exposure()
            }
            Operation::HoldThread { thread } => {
                let moves = self.threads.get(&thread).is_some_and(|known| known.moves);
                demand(moves, || {
                    format!("thread {} is held, and does not run", thread.0)
                })
            }
            Operation::Report {
                thread,
                address,
                owners,
            } => self.judge_report(thread, address, owners),
            Operation::ReportStep { thread, address } => {
                self.demand_standing(thread, "reported")?.stand.address = address;
                Ok(())
            }
            Operation::SetCounter { thread, .. }
            | Operation::MoveToTwin { thread, .. }
            | Operation::EmulateCall { thread, .. }
            | Operation::FindFollowSet { thread, .. } => {
                self.demand_standing(thread, "moved by hand").map(drop)
            }
            Operation::ReportHalted { thread } | Operation::Unexplained { thread, .. } => {
                self.demand_standing(thread, "reported").map(drop)
            }
        }
    }

    fn judge_report(
        &mut self,
        thread: ThreadId,
        address: u64,
        owners: Owners,
    ) -> Result<(), String> {
        let present = self.sites.get(&address).map(Site::owners);
        let stand = &mut self.demand_standing(thread, "reported")?.stand;
        let notified = stand.notified.unwrap_or(Owners::empty());
        stand.notified = Some(notified | owners);
        let place = format!("thread {} at {address:#x}", thread.0);
        demand(stand.address == address, || {
            format!("{place} is reported, but stands elsewhere")
        })?;
        demand(
            present.is_some_and(|present| present.contains(owners)),
            || format!("{place} is reported to {owners:?}, which have no point there"),
        )?;
        demand(!notified.intersects(owners), || {
            format!("{place} is reported twice to {:?}", notified & owners)
        })
    }

    fn demand_standing(&mut self, thread: ThreadId, what: &str) -> Result<&mut Observed, String> {
        self.standing(thread)
            .ok_or_else(|| format!("thread {} is {what} while it is not stopped", thread.0))
    }

    fn judge_exposure(&self) -> Result<(), String> {
        let Some(address) = self.exposed.first() else {
            return Ok(());
        };
        demand(self.moving <= 1, || {
            format!("another thread may run while the bytes at {address:#x} are those of a step")
        })
    }
}

impl Stand {
    fn at(address: u64) -> Stand {
        Stand {
            address,
            notified: None,
        }
    }
}

fn demand(holds: bool, broken: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(broken()) }
}
