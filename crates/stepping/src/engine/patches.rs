//! Patched sites: a jump to a stub instead of the trap.
//!
//! A patch replaces the first instructions at a site (its *head*) by a jump. The
//! stub counts the event and goes on in the *twins*, the relocated instructions of
//! the head. So the trap is there for the first instruction only, and two things
//! differ from a displaced copy: the bytes behind the site are not the original
//! ones, and a thread that has passed the site runs several instructions
//! elsewhere.
//!
//! Invariants, checked by exploration:
//!
//! - the jump is written and removed only while all threads stand: several bytes
//!   cannot be written at once, and a thread that runs in a twin would run past a
//!   trap that is inserted in the head;
//! - no site but the patched one is in a head, and no thread returns to the site
//!   with its arrival reported: the jump would count it again;
//! - when the patch is gone, no thread is left in its twins; none returns to them
//!   from a handler, since no signal is delivered there. One whose event has been counted stands at the site, and
//!   is stepped over by the former method: the first twin leads to the second, past
//!   a site there.
//!
//! An insert in a head is therefore carried out later: the patch leaves
//! (`Patch::leaves`), all threads are held, and the trap is inserted when they
//! stand. A thread that passes meanwhile has passed before the insert.

use super::{Engine, Rule};
use crate::thread::Thread;
use crate::{Operation, Owner, Owners, StepOver, ThreadId};
use std::collections::BTreeMap;
use std::ops::{Bound, Range};

/// The owners whose sites may be patched: their events are counted by the stub.
pub(super) const PATCHABLE: Owners = Owners::MONITOR.union(Owners::RETURN);

/// The patches of an engine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Patches {
    /// The patches, by their sites.
    present: BTreeMap<u64, Patch>,
    /// Every patch there ever was: a copy of the memory has the state of some
    /// moment before it is seen.
    pub(super) ever: BTreeMap<u64, Former>,
}

/// A patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Patch {
    /// The first address behind its head.
    end: u64,
    /// It is to be removed as soon as all threads stand.
    leaves: bool,
}

/// What is known of the last patch at a site: the end of its head, and how the
/// site is stepped over without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Former {
    pub(super) end: u64,
    pub(super) step_over: StepOver,
    /// How it was stepped over with the patch.
    pub(super) twin: StepOver,
}

impl Patches {
    /// Returns the site of the patch whose head contains `address`.
    pub(super) fn over(&self, address: u64) -> Option<u64> {
        let (&start, patch) = self.present.range(..=address).next_back()?;
        (address < patch.end).then_some(start)
    }

    /// Returns true if a patch waits to be removed.
    pub(super) fn leave(&self) -> bool {
        self.present.values().any(|patch| patch.leaves)
    }

    /// Forgets everything, as the memory does.
    pub(super) fn clear(&mut self) {
        *self = Patches::default();
    }
}

impl Engine {
    /// Returns true if the site at `address` has a jump instead of a trap.
    pub fn is_patched(&self, address: u64) -> bool {
        self.patches.present.contains_key(&address)
    }

    /// Returns true if `address` lies in the head of a patch, behind its start:
    /// a trap or a fault of a thread there may be that of a byte of the jump
    /// ([`Input::Stray`](crate::Input::Stray)).
    pub fn is_inside_patch(&self, address: u64) -> bool {
        let start = self.patches.over(address);
        start.is_some_and(|start| start != address)
    }

    /// Returns true if [`Input::Patch`](crate::Input::Patch) would be granted
    /// for this head, which begins at a site: only owners that may be patched
    /// have it, no other site and no other patch is in the head, all threads
    /// stand, and none returns to the site with its arrival reported, or stands
    /// at a former site in the head.
    pub fn may_be_patched(&self, head: Range<u64>) -> bool {
        let site = self.sites.get(&head.start);
        if head.is_empty() || !site.is_some_and(|site| PATCHABLE.contains(site.owners())) {
            return false;
        }
        let inside = (Bound::Excluded(head.start), Bound::Excluded(head.end));
        let mut before = self.patches.present.range(..head.end);
        let is_free = self.sites.range(inside).next().is_none()
            && before.next_back().is_none_or(|it| it.1.end <= head.start);
        let refuses = !self.drops(Rule::RefuseReturns);
        let admits = |thread: &Thread| {
            (!thread.motion.moves() || self.drops(Rule::HoldForPatch))
                && thread.admits_patch(&head, refuses)
        };
        is_free
            && self.in_place.is_none()
            && !self.patches.leave()
            && self.threads.values().all(admits)
    }

    pub(super) fn patch(
        &mut self,
        address: u64,
        end: u64,
        twin: u64,
        operations: &mut Vec<Operation>,
    ) {
        if !self.may_be_patched(address..end) {
            return;
        }
        let twin = StepOver::OutOfLine { at: twin };
        let Some(site) = self.sites.get_mut(&address) else {
            return;
        };
        let step_over = std::mem::replace(&mut site.step_over, twin);
        let leaves = false;
        self.patches.present.insert(address, Patch { end, leaves });
        let former = Former {
            end,
            step_over,
            twin,
        };
        self.patches.ever.insert(address, former);
        for (id, thread) in &mut self.threads {
            thread.change_step_over(address, twin);
            if thread.pc != address && thread.is_in_head(&(address..end)) {
                // The jump may be there, behind an `endbr64`.
                thread.pc_to_write = None;
                operations.push(Operation::MoveToTwin {
                    thread: *id,
                    address: thread.pc,
                });
            }
        }
        operations.push(Operation::WritePatch { address });
    }

    /// Prepares an insert of `owner` at `address`; returns false if no trap is
    /// to be written now.
    pub(super) fn may_insert_trap(
        &mut self,
        address: u64,
        owner: Owner,
        operations: &mut Vec<Operation>,
    ) -> bool {
        let Some(start) = self.patches.over(address) else {
            return true;
        };
        if start == address && PATCHABLE.contains(owner.into()) {
            return false;
        }
        if self.drops(Rule::UnpatchForSite) {
            return start != address;
        }
        self.mark_leaving(start, operations);
        false
    }

    /// Lets the patch leave: it is removed when all threads stand.
    pub(super) fn unpatch(&mut self, address: u64, operations: &mut Vec<Operation>) {
        if self.is_patched(address) {
            self.mark_leaving(address, operations);
            self.settle(operations);
        }
    }

    /// Marks a patch as leaving, and holds all threads but one that is stepped
    /// in place, whose step ends soon. The caller settles.
    pub(super) fn mark_leaving(&mut self, address: u64, operations: &mut Vec<Operation>) {
        if let Some(patch) = self.patches.present.get_mut(&address) {
            patch.leaves = true;
        }
        self.hold_for_patches(operations);
    }

    fn hold_for_patches(&mut self, operations: &mut Vec<Operation>) {
        let stepper = self.stepper();
        let holds = !self.drops(Rule::HoldForRemoval);
        for (id, thread) in &mut self.threads {
            if holds && stepper != Some(*id) && thread.motion.moves() {
                thread.hold(*id, operations);
            }
        }
    }

    /// Removes the patches that leave; returns false if some thread runs still.
    pub(super) fn remove_patches(&mut self, operations: &mut Vec<Operation>) -> bool {
        if !self.patches.leave() {
            return true;
        }
        let moves = self.threads.values().any(|thread| thread.motion.moves());
        if moves && !self.drops(Rule::HoldForRemoval) {
            self.hold_for_patches(operations);
            return false;
        }
        let mut present = std::mem::take(&mut self.patches.present);
        present.retain(|&address, patch| {
            if patch.leaves {
                self.remove_patch(address, patch.end, operations);
            }
            !patch.leaves
        });
        self.patches.present = present;
        true
    }

    fn remove_patch(&mut self, address: u64, end: u64, operations: &mut Vec<Operation>) {
        let Some(former) = self.patches.ever.get(&address).copied() else {
            return;
        };
        let leaves = !self.drops(Rule::LeaveTwins);
        let forgets = self.drops(Rule::FormerStepOver);
        for (id, thread) in &mut self.threads {
            if !forgets {
                thread.change_step_over(address, former.step_over);
            }
            if thread.pc == address {
                thread.stand_counted(former.step_over);
            } else if thread.pc != address && leaves && thread.is_in_head(&(address..end)) {
                thread.pc_to_write = None;
                operations.push(Operation::SetCounter {
                    thread: *id,
                    address: thread.pc,
                });
            }
        }
        operations.push(Operation::RemovePatch { address });
        match self.sites.get_mut(&address) {
            Some(site) if !forgets => site.step_over = former.step_over,
            Some(_) => {}
            None => operations.push(Operation::RemoveTrap { address }),
        }
        let inside = (Bound::Excluded(address), Bound::Excluded(end));
        let sites: Vec<u64> = self.sites.range(inside).map(|(site, _)| *site).collect();
        for site in sites {
            self.insert_trap(site, operations);
        }
    }

    /// Removes the patches that are in the way of a step with this follow set;
    /// no thread runs.
    pub(super) fn clear_way(
        &mut self,
        addresses: impl Iterator<Item = u64>,
        operations: &mut Vec<Operation>,
    ) {
        for address in addresses {
            if let Some(start) = self.patches.over(address) {
                self.mark_leaving(start, operations);
            }
        }
        self.remove_patches(operations);
    }

    /// Returns the step-over method that a site or an arrival has without the
    /// patch at `address`, if there is one.
    pub(super) fn step_over_by_trap(&self, address: u64, step_over: StepOver) -> StepOver {
        let former = self.patches.ever.get(&address);
        let former = former.filter(|_| self.is_patched(address));
        former.map_or(step_over, |former| former.step_over)
    }

    /// Orders the original bytes back in a copy of the memory, wherever a patch
    /// ever was.
    pub(super) fn restore_patches(&self, process: ThreadId, operations: &mut Vec<Operation>) {
        if self.drops(Rule::RestorePatchInFork) {
            return;
        }
        for &address in self.patches.ever.keys() {
            operations.push(Operation::RestorePatchInFork { process, address });
        }
    }

    /// Gives the sites of a followed copy, which has no patches, their former
    /// step-over methods.
    pub(super) fn drop_patches(&mut self) {
        for address in std::mem::take(&mut self.patches.present).into_keys() {
            let Some(former) = self.patches.ever.get(&address) else {
                continue;
            };
            if let Some(site) = self.sites.get_mut(&address) {
                site.step_over = former.step_over;
            }
        }
    }

    /// Forgets the patch of a site that is gone with its memory.
    pub(super) fn lose_patch(&mut self, address: u64) {
        self.patches.present.remove(&address);
    }

    /// Records that the instruction of a site is another one now.
    pub(super) fn rewrite_patched(
        &mut self,
        address: u64,
        step_over: StepOver,
        operations: &mut Vec<Operation>,
    ) {
        if let Some(former) = self.patches.ever.get_mut(&address) {
            former.step_over = step_over;
        }
        if let Some(start) = self.patches.over(address) {
            self.unpatch(start, operations);
        }
    }
}
