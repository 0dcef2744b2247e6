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
//! - a stub counts for the inserts that its site had when it was patched, and for no
//!   others: no other site is in a head, and no thread returns to the site with its
//!   arrival reported, since the jump would count it again;
//! - when the patch is gone, no thread is left in its twins; none returns to them
//!   from a handler, since no signal is delivered there. One whose event has been counted stands at the site, and
//!   is stepped over by the former method: the first twin leads to the second, past
//!   a site there.
//!
//! A head may be shorter than the jump. The bytes behind it are then the jump's and the
//! program's at once: the instruction there is executed as ever, but a trap on it would
//! change the jump. So what is true of an insert in a head is true of one there.
//!
//! An insert in a head is therefore carried out later: the patch leaves, all
//! threads are held, and the trap is inserted when they stand. A thread that passes
//! meanwhile has passed before the insert.

use super::{Engine, Rule};
use crate::site::Site;
use crate::thread::Thread;
use crate::{Operation, Owner, StepOver, ThreadId};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Bound, Range};

/// The patches of an engine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Patches {
    /// What the patches take, by their sites.
    present: BTreeMap<u64, Extent>,
    /// The patches that are removed as soon as all threads stand.
    leaving: BTreeSet<u64>,
    /// Every patch there ever was: a copy of the memory has the state of some
    /// moment before it is seen.
    pub(super) ever: BTreeMap<u64, Former>,
}

/// The text that a patch takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Extent {
    /// The first address behind the head.
    head_end: u64,
    /// The first address behind the head and the jump.
    end: u64,
}

/// What is known of the last patch at a site: the end of its head, the owner for
/// which it counts, and how the site is stepped over without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Former {
    pub(super) end: u64,
    pub(super) owner: Owner,
    pub(super) step_over: StepOver,
    /// How it was stepped over with the patch.
    pub(super) twin: StepOver,
}

impl Patches {
    /// Returns the site of the patch whose head or jump contains `address`.
    pub(super) fn over(&self, address: u64) -> Option<u64> {
        let (&start, extent) = self.present.range(..=address).next_back()?;
        (address < extent.end).then_some(start)
    }

    /// Returns the site of the patch whose head contains `address`.
    pub(super) fn with_head_over(&self, address: u64) -> Option<u64> {
        let (&start, extent) = self.present.range(..=address).next_back()?;
        (address < extent.head_end).then_some(start)
    }

    /// Returns true if a patch waits to be removed.
    pub(super) fn leave(&self) -> bool {
        !self.leaving.is_empty()
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

    /// Returns the sites that have a jump instead of a trap.
    pub fn patched_sites(&self) -> impl DoubleEndedIterator<Item = u64> + '_ {
        self.patches.present.keys().copied()
    }

    /// Returns the site of the patch whose head or jump contains `address`.
    pub fn patch_over(&self, address: u64) -> Option<u64> {
        self.patches.over(address)
    }

    /// Returns true if `address` lies in the head of a patch, behind its start:
    /// a trap or a fault of a thread there may be that of a byte of the jump
    /// ([`Input::Stray`](crate::Input::Stray)).
    pub fn is_inside_patch(&self, address: u64) -> bool {
        let start = self.patches.with_head_over(address);
        start.is_some_and(|start| start != address)
    }

    /// Returns true if nothing else is where a head and its jump would be, which begin
    /// at a site: so many inserts of this owner are all that the site has, and no other
    /// site and no other patch is in this text.
    pub fn has_room_for_patch(&self, text: Range<u64>, counted: (Owner, u32)) -> bool {
        let is_only = |site: &Site| site.counts().eq([counted]);
        if text.is_empty() || !self.sites.get(&text.start).is_some_and(is_only) {
            return false;
        }
        let inside = (Bound::Excluded(text.start), Bound::Excluded(text.end));
        let mut before = self.patches.present.range(..text.end);
        self.sites.range(inside).next().is_none()
            && before.next_back().is_none_or(|it| it.1.end <= text.start)
    }

    /// Returns true if [`Input::Patch`](crate::Input::Patch) would be granted
    /// for this head and a jump up to `jump_end`: they have room, all threads stand, and
    /// none returns to the site with its arrival reported, or stands in the head with a
    /// signal or during an evaluation.
    pub fn may_be_patched(&self, head: Range<u64>, jump_end: u64, counted: (Owner, u32)) -> bool {
        let end = head.end.max(jump_end);
        let holds = !self.drops(Rule::HoldForPatch);
        let refuses_returns = !self.drops(Rule::RefuseReturns);
        let refuses_signals = !self.drops(Rule::RefuseSignals);
        let prevents = |thread: &Thread| {
            holds && thread.motion.moves()
                || refuses_returns && thread.returns_to_patch(&head)
                || thread.stays_in_patch(&head, refuses_signals)
        };
        !head.is_empty()
            && self.has_room_for_patch(head.start..end, counted)
            && self.in_place.is_none()
            && !self.patches.leave()
            && !self.threads.values().any(prevents)
    }

    pub(super) fn patch(
        &mut self,
        (address, end): (u64, u64),
        jump_end: u64,
        (counted, twin): ((Owner, u32), u64),
        operations: &mut Vec<Operation>,
    ) {
        if !self.may_be_patched(address..end, jump_end, counted) {
            return;
        }
        let twin = StepOver::OutOfLine { at: twin };
        let Some(site) = self.sites.get_mut(&address) else {
            return;
        };
        let step_over = std::mem::replace(&mut site.step_over, twin);
        let extent = Extent {
            head_end: end,
            end: end.max(jump_end),
        };
        self.patches.present.insert(address, extent);
        let former = Former {
            end,
            owner: counted.0,
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

    /// Prepares an insert at `address`; returns false if no trap is to be written
    /// now.
    pub(super) fn may_insert_trap(
        &mut self,
        address: u64,
        operations: &mut Vec<Operation>,
    ) -> bool {
        let Some(start) = self.patches.over(address) else {
            return true;
        };
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
        if self.is_patched(address) {
            self.patches.leaving.insert(address);
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
        for address in std::mem::take(&mut self.patches.leaving) {
            if let Some(extent) = self.patches.present.remove(&address) {
                self.remove_patch(address, extent, operations);
            }
        }
        true
    }

    fn remove_patch(&mut self, address: u64, extent: Extent, operations: &mut Vec<Operation>) {
        let Some(former) = self.patches.ever.get(&address).copied() else {
            return;
        };
        let head = address..extent.head_end;
        let leaves = !self.drops(Rule::LeaveTwins);
        let forgets = self.drops(Rule::FormerStepOver);
        for (id, thread) in &mut self.threads {
            if !forgets {
                thread.change_step_over(address, former.step_over);
            }
            if thread.pc == address {
                thread.stand_counted(former);
            } else if thread.pc != address && leaves && thread.is_in_head(&head) {
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
        let inside = (Bound::Excluded(address), Bound::Excluded(extent.end));
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
        self.patches.leaving.clear();
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
        self.patches.leaving.remove(&address);
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
