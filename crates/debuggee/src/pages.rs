//! Watching by page protection.
//!
//! A watched page may not be written (or not be accessed, for reads), so each
//! access to it faults. The faulting thread then executes its instruction
//! alone, with the pages as the program made them, and what it accessed is
//! told. Faults of the program's own stay its own: the instruction raises them
//! again while the pages are as they were.
//!
//! The kernel, too, would be refused by a protected page. So before a system
//! call that may touch one, the pages are opened for as long as it takes; all
//! other threads run by single steps meanwhile, which see every access.
//!
//! Invariant: while a page is open, no thread runs freely but in the kernel.
//! Protecting a page needs no such care: what it forbids too early faults, and
//! is tried again.

use std::collections::BTreeMap;
use std::ops::Range;

use juror_stepping::{AccessKinds, Input, ThreadId};
use libc::siginfo_t;

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::kernel;
use crate::thread::State;
use crate::watch::{MemoryAccess, WatchTier};
use crate::watched_steps::{StepEnd, note_access};

/// Length of a page in bytes.
pub(crate) const PAGE_LENGTH: u64 = 4096;
/// `SEGV_ACCERR`: the page forbids the access.
const FORBIDDEN: i32 = 2;

/// The protected pages.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    /// By address.
    pages: BTreeMap<u64, Page>,
    /// Threads in system calls for which the pages are open.
    callers: Vec<ThreadId>,
    /// The pages are as the program made them.
    is_open: bool,
    /// One thread executes its instruction alone.
    is_passing: bool,
}

/// A page as the program made it, and as it is while it is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Page {
    original: i32,
    watched: i32,
}

impl Pages {
    /// Whether the pages are as the program made them, for a system call.
    pub(crate) fn are_open(&self) -> bool {
        self.is_open
    }

    /// Whether a range touches one of them.
    pub(crate) fn meet(&self, range: &Range<u64>) -> bool {
        let first = page_of(range.start);
        first < range.end && self.pages.range(first..range.end).next().is_some()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// The same pages, of a forked copy of the process.
    pub(crate) fn for_fork(&self) -> Pages {
        Pages {
            pages: self.pages.clone(),
            ..Pages::default()
        }
    }
}

impl Debuggee {
    /// Protects the pages of the watches of this tier, and no others. Every
    /// thread stands; without one that can make the calls, the watches are
    /// stepped.
    pub(crate) fn arrange_pages(&mut self) -> Result<(), DebuggeeError> {
        let wanted = self.pages_to_watch();
        let has_changed = wanted != self.watches.pages.pages;
        if has_changed {
            let Some(thread) = self.thread_for_calls() else {
                for watch in &mut self.watches.list {
                    if watch.tier == WatchTier::Page {
                        watch.tier = WatchTier::Stepping;
                    }
                }
                return Ok(());
            };
            let are_open = self.watches.pages.are_open();
            if !are_open {
                self.open_pages(thread)?;
            }
            self.watches.pages.pages = wanted;
            if !are_open {
                self.close_pages(thread)?;
            }
        }
        Ok(())
    }

    /// A stopped thread that can make system calls for juror.
    fn thread_for_calls(&self) -> Option<ThreadId> {
        let mut threads = self.threads.values();
        let can = threads.find(|it| it.state == State::Stopped && !it.inside_kernel && !it.silent);
        can.map(|it| it.id)
    }

    /// The pages that the watches of this tier need, as they are mapped now.
    fn pages_to_watch(&self) -> BTreeMap<u64, Page> {
        let mappings = self.protections();
        let known = &self.watches.pages.pages;
        let is_closed = !self.watches.pages.are_open();
        let mut pages: BTreeMap<u64, Page> = BTreeMap::new();
        let watches = self.watches.list.iter();
        for watch in watches.filter(|watch| watch.tier == WatchTier::Page) {
            for range in &watch.ranges {
                let mut address = page_of(range.start);
                while address < range.end {
                    let mapping = mappings.iter().find(|(it, _)| it.contains(&address));
                    let original = match (known.get(&address), mapping) {
                        (_, None) => None,
                        // What is seen is juror's own protection.
                        (Some(page), Some((_, seen))) if is_closed && *seen == page.watched => {
                            Some(page.original)
                        }
                        (_, Some((_, seen))) => Some(*seen),
                    };
                    if let Some(original) = original {
                        let page = pages.entry(address).or_insert(Page {
                            original,
                            watched: original,
                        });
                        page.watched &= match watch.kinds.contains(AccessKinds::READ) {
                            true => libc::PROT_NONE,
                            false => !libc::PROT_WRITE,
                        };
                    }
                    address += PAGE_LENGTH;
                }
            }
        }
        pages
    }

    /// The mapped ranges with what is allowed there.
    fn protections(&self) -> Vec<(Range<u64>, i32)> {
        let path = format!("/proc/{}/maps", self.process);
        let maps = std::fs::read_to_string(path).unwrap_or_default();
        maps.lines().filter_map(parse_mapping).collect()
    }

    /// Gives the pages the protection that the program gave them. Every other
    /// thread stands, or steps.
    pub(crate) fn open_pages(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        self.protect(thread, |page| page.original)
    }

    /// Gives a forked child, in which nothing is watched, the pages back that
    /// were protected in its parent.
    pub(crate) fn open_inherited_pages(
        &mut self,
        thread: ThreadId,
        pages: Pages,
    ) -> Result<(), DebuggeeError> {
        self.watches.pages = pages;
        let opened = match self.watches.pages.is_empty() {
            true => Ok(()),
            false => self.open_pages(thread),
        };
        self.watches.pages = Pages::default();
        opened
    }

    /// Protects the pages.
    pub(crate) fn close_pages(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        self.protect(thread, |page| page.watched)
    }

    fn protect(
        &mut self,
        thread: ThreadId,
        protection: impl Fn(&Page) -> i32,
    ) -> Result<(), DebuggeeError> {
        let Some(gadget) = self.scratch.gadget() else {
            return Ok(());
        };
        for (range, allowed) in runs(&self.watches.pages.pages, protection) {
            let length = range.end - range.start;
            let arguments = [range.start, length, allowed as u64, 0, 0, 0];
            // What has been unmapped cannot be protected, nor accessed.
            self.call_system(thread, gadget, libc::SYS_mprotect, arguments)?;
        }
        Ok(())
    }

    /// Whether a fault may be one of a protected page.
    #[inline]
    pub(crate) fn is_page_fault(&self, signal: i32) -> bool {
        signal == libc::SIGSEGV && !self.watches.pages.is_empty()
    }

    /// A thread has faulted.
    pub(crate) fn take_in_page_fault(
        &mut self,
        thread: ThreadId,
        information: &siginfo_t,
    ) -> Result<PageFault, DebuggeeError> {
        let address = kernel::fault_address(information);
        let page = self.watches.pages.pages.get(&page_of(address)).copied();
        let Some(page) = page.filter(|_| information.si_code == FORBIDDEN) else {
            return Ok(PageFault::Own(None));
        };
        if self.watches.pages.is_passing {
            // Another thread's turn: the fault will come again.
            return self.settle(thread).map(|()| PageFault::Taken);
        }
        if self.watches.pages.is_open {
            // It has faulted before the pages were opened; or the program
            // itself forbids what it does.
            let forbidden = page.original & libc::PROT_WRITE == 0;
            return match forbidden {
                true => Ok(PageFault::Own(None)),
                false => self.settle(thread).map(|()| PageFault::Taken),
            };
        }
        let passed = self.with_others_held(thread, |it| it.pass_page(thread))?;
        match passed {
            Passed::Done(accesses) if accesses.is_empty() => self.go_on_after(thread)?,
            Passed::Done(accesses) => self.tell_accesses(thread, accesses)?,
            Passed::Faulted(signal, information) => {
                return Ok(PageFault::Own(Some((signal, information))));
            }
        }
        Ok(PageFault::Taken)
    }

    /// Has a thread execute its instruction with the pages open.
    fn pass_page(&mut self, thread: ThreadId) -> Result<Passed, DebuggeeError> {
        self.open_pages(thread)?;
        let mut accesses: Vec<MemoryAccess> = Vec::new();
        let mut fault = None;
        loop {
            let step = self.watched_step(thread)?;
            if let StepEnd::Faulted(signal) = self.step_alone(thread)? {
                fault = kernel::signal_information(thread.0)
                    .ok()
                    .map(|information| (signal, information));
                break;
            }
            let hits = self.take_hardware_hits(thread)?;
            let mut found = Vec::new();
            self.hardware_accesses(&hits, &mut found);
            if let Some(step) = &step {
                self.stepped_accesses(step, &mut found);
            }
            for access in found {
                note_access(&mut accesses, access);
            }
            // The rest of a repeated instruction's way over the pages.
            if !self.repeats_on(thread, |it, bytes| it.watches.pages.meet(bytes))? {
                break;
            }
        }
        self.close_pages(thread)?;
        Ok(match fault {
            Some((signal, information)) if accesses.is_empty() => {
                Passed::Faulted(signal, information)
            }
            // The fault will come again, when these have been told.
            _ => Passed::Done(accesses),
        })
    }

    /// Does some work while all other threads stand, and lets those run again
    /// that ran before.
    fn with_others_held<T>(
        &mut self,
        thread: ThreadId,
        work: impl FnOnce(&mut Self) -> Result<T, DebuggeeError>,
    ) -> Result<T, DebuggeeError> {
        let was_halting = self.is_halting;
        let awaiting = |it: &Self| -> Vec<ThreadId> {
            let threads = it.threads.values().filter(|known| known.awaiting);
            threads.map(|known| known.id).collect()
        };
        let awaited_before = awaiting(self);
        let others: Vec<ThreadId> = self
            .threads
            .values()
            .filter(|it| it.id != thread && !it.awaiting)
            .filter(|it| matches!(it.state, State::Running | State::Stopped))
            .map(|it| it.id)
            .collect();
        self.watches.pages.is_passing = true;
        // What is born meanwhile waits, too.
        self.is_halting = true;
        let mut result = Ok(());
        for other in others {
            result = result.and(self.feed(Input::Halt { thread: other }));
        }
        let is_moving = |it: &Self| {
            let mut threads = it.threads.values();
            threads.any(|known| known.id != thread && known.state == State::Running)
        };
        while result.is_ok() && is_moving(self) {
            result = self.take_status();
        }
        let done = result.and_then(|()| work(self));
        self.watches.pages.is_passing = false;
        self.is_halting = was_halting;
        if !was_halting {
            for other in awaiting(self) {
                if other != thread && !awaited_before.contains(&other) {
                    self.resume(other)?;
                }
            }
        }
        done
    }

    /// A thread enters a system call that may touch a protected page: opens
    /// the pages until the call is over. For that the thread may have to leave
    /// the entry; it comes there again.
    pub(crate) fn open_for_call(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let pages = &mut self.watches.pages;
        if pages.is_open {
            pages.callers.push(thread);
            return Ok(());
        }
        if pages.is_passing {
            // Another thread's turn: it will come to the entry again.
            self.leave_entry(thread)?;
        } else {
            pages.callers.push(thread);
            self.with_others_held(thread, |it| {
                it.open_pages(thread)?;
                it.watches.pages.is_open = true;
                Ok(())
            })?;
        }
        // Its entry has not been told, so the next one is news.
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.enters_again = false;
        }
        Ok(())
    }

    /// A thread has left its system call.
    pub(crate) fn close_after_call(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        if !self.is_page_caller(thread) {
            return Ok(());
        }
        // The program may have changed its mappings by the call.
        let now = self.pages_to_watch();
        let pages = &mut self.watches.pages;
        pages.callers.retain(|caller| *caller != thread);
        pages.pages = now;
        self.close_unneeded(thread)
    }

    /// Protects the pages again when no call needs them open.
    pub(crate) fn close_unneeded(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let pages = &mut self.watches.pages;
        if !pages.is_open || !pages.callers.is_empty() {
            return Ok(());
        }
        pages.is_open = false;
        self.close_pages(thread)
    }

    /// A thread is gone, and with it the call that it was in.
    pub(crate) fn forget_page_caller(&mut self, thread: ThreadId) {
        let pages = &mut self.watches.pages;
        pages.callers.retain(|caller| *caller != thread);
    }

    /// Whether a thread is in a call for which the pages are open.
    pub(crate) fn is_page_caller(&self, thread: ThreadId) -> bool {
        self.watches.pages.callers.contains(&thread)
    }
}

/// Whose affair a fault is.
pub(crate) enum PageFault {
    /// Juror's: it has been dealt with.
    Taken,
    /// The program's; when the thread has been moved meanwhile, the fault as
    /// it is now.
    Own(Option<(i32, siginfo_t)>),
}

/// How a thread's instruction went.
enum Passed {
    /// It has run; what it accessed of what is watched.
    Done(Vec<MemoryAccess>),
    /// It faults for a reason of the program's own.
    Faulted(i32, siginfo_t),
}

/// The ranges of neighbouring pages that get the same protection.
fn runs(pages: &BTreeMap<u64, Page>, protection: impl Fn(&Page) -> i32) -> Vec<(Range<u64>, i32)> {
    let mut runs: Vec<(Range<u64>, i32)> = Vec::new();
    for (&address, page) in pages {
        let allowed = protection(page);
        match runs.last_mut() {
            Some((range, same)) if range.end == address && *same == allowed => {
                range.end += PAGE_LENGTH;
            }
            _ => runs.push((address..address + PAGE_LENGTH, allowed)),
        }
    }
    runs
}

/// A line of `/proc/PID/maps`: the range and what is allowed there.
fn parse_mapping(line: &str) -> Option<(Range<u64>, i32)> {
    let mut words = line.split(' ');
    let (start, end) = words.next()?.split_once('-')?;
    let start = u64::from_str_radix(start, 16).ok()?;
    let end = u64::from_str_radix(end, 16).ok()?;
    let letters = words.next()?;
    let bits = [
        ('r', libc::PROT_READ),
        ('w', libc::PROT_WRITE),
        ('x', libc::PROT_EXEC),
    ];
    let allowed = bits
        .iter()
        .filter(|(letter, _)| letters.contains(*letter))
        .fold(0, |allowed, (_, bit)| allowed | bit);
    Some((start..end, allowed))
}

/// The start of the page that holds an address.
pub(crate) fn page_of(address: u64) -> u64 {
    address & !(PAGE_LENGTH - 1)
}

/// The end of the last page of what ends at `end`.
pub(crate) fn page_end(end: u64) -> u64 {
    page_of(end.saturating_add(PAGE_LENGTH - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_pages_are_protected_together() {
        let page = |original| Page {
            original,
            watched: 0,
        };
        let pages = [(0, 1), (0x1000, 1), (0x2000, 3), (0x4000, 3)];
        let pages = pages.map(|(at, original)| (at, page(original))).into();
        assert_eq!(
            runs(&pages, |page| page.original),
            [(0..0x2000, 1), (0x2000..0x3000, 3), (0x4000..0x5000, 3)]
        );
        assert_eq!(
            runs(&pages, |page| page.watched),
            [(0..0x3000, 0), (0x4000..0x5000, 0)]
        );
    }

    #[test]
    fn mappings_are_read_with_their_permissions() {
        assert_eq!(
            parse_mapping("00400000-00452000 r-xp 00000000 08:02 173521 /usr/bin/x w"),
            Some((0x40_0000..0x45_2000, libc::PROT_READ | libc::PROT_EXEC))
        );
        assert_eq!(parse_mapping("7ff0-8000 ---p 0"), Some((0x7ff0..0x8000, 0)));
        assert_eq!(parse_mapping(""), None);
    }
}
