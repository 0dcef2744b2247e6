//! Protecting the watched pages, and opening them.

use std::collections::BTreeMap;
use std::ops::Range;

use juror_stepping::{AccessKinds, ThreadId};

use super::{Page, Pages, UNMAPPED};
use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::kernel::mapping::{Mapping, PAGE_LENGTH, mappings, page_of};
use crate::state::thread::State;
use crate::watch::WatchTier;

impl Debuggee {
    /// Protects the pages of the watches of this tier, and no others. Every
    /// thread is stopped; without one that can make the calls, the watches are
    /// stepped.
    pub(crate) fn arrange_pages(&mut self) -> Result<(), DebuggeeError> {
        let wanted = self.pages_to_watch();
        if wanted == self.watches.pages.pages {
            return Ok(());
        }
        let callable = if self.is_seccomp_filtered_now() {
            None
        } else {
            self.thread_for_calls()
        };
        let Some(thread) = callable else {
            self.step_instead_of_pages();
            return Ok(());
        };
        let are_open = self.watches.pages.are_open();
        if !are_open {
            self.open_pages(thread)?;
        }
        if self.watches.pages.is_empty() {
            self.learn_fault_action(thread)?;
        }
        self.watches.pages.pages = wanted;
        if !are_open {
            self.close_pages(thread)?;
        }
        Ok(())
    }

    /// Handles the end of a call that may have installed a seccomp filter; the
    /// pages are open for it, and stay so if it did.
    pub(crate) fn note_seccomp_filter(&mut self, number: i64) {
        let may_filter = [libc::SYS_seccomp, libc::SYS_prctl].contains(&number);
        if may_filter && !self.watches.pages.is_empty() && self.is_seccomp_filtered_now() {
            self.step_instead_of_pages();
            self.watches.pages.pages.clear();
        }
    }

    /// Watches by steps instead of pages.
    fn step_instead_of_pages(&mut self) {
        for watch in &mut self.watches.list {
            if watch.tier == WatchTier::Page {
                watch.tier = WatchTier::Stepping;
            }
        }
    }

    /// Returns a stopped thread that can make system calls for juror.
    fn thread_for_calls(&self) -> Option<ThreadId> {
        let mut threads = self.threads.values();
        let can = threads
            .find(|it| it.state == State::Stopped && !it.inside_kernel && !it.is_vfork_child);
        can.map(|it| it.id)
    }

    /// Returns the pages that the watches of this tier need, as they are mapped
    /// now.
    pub(crate) fn pages_to_watch(&self) -> BTreeMap<u64, Page> {
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
                    let page = match (known.get(&address), mapping) {
                        (_, None) => UNMAPPED,
                        // The listed protection is juror's own.
                        (Some(page), Some((_, seen)))
                            if is_closed && page.is_mapped && *seen == page.watched =>
                        {
                            Page::made(page.original)
                        }
                        (_, Some((_, seen))) => Page::made(*seen),
                    };
                    let page = pages.entry(address).or_insert(page);
                    page.watched &= if watch.kinds.contains(AccessKinds::READ) {
                        libc::PROT_NONE
                    } else {
                        !libc::PROT_WRITE
                    };
                    address += PAGE_LENGTH;
                }
            }
        }
        pages
    }

    /// Returns the mapped ranges with their protection.
    fn protections(&self) -> Vec<(Range<u64>, i32)> {
        let path = format!("/proc/{}/maps", self.process);
        let maps = std::fs::read_to_string(path).unwrap_or_default();
        mappings(&maps)
            .map(|mapping| (mapping.range.clone(), protection(&mapping)))
            .collect()
    }

    /// Restores the protection that the program gave the pages. Every other
    /// thread is stopped, or steps.
    pub(crate) fn open_pages(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        self.protect(thread, |page| page.original)?;
        self.restore_fault_action(thread)
    }

    /// Restores the protection in a forked child, in which nothing is watched,
    /// of the pages that were protected in its parent.
    pub(crate) fn open_inherited_pages(
        &mut self,
        thread: ThreadId,
        pages: Pages,
    ) -> Result<(), DebuggeeError> {
        self.watches.pages = pages;
        let opened = if self.watches.pages.is_empty() {
            Ok(())
        } else {
            self.open_pages(thread)
        };
        self.watches.pages = Pages::default();
        opened
    }

    /// Protects the pages. Every other thread is stopped, or steps; pages that
    /// the kernel does not protect are watched by steps from now on.
    pub(crate) fn close_pages(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        if !self.protect(thread, |page| page.watched)? {
            self.open_pages(thread)?;
            self.step_instead_of_pages();
            self.watches.pages.pages.clear();
        }
        Ok(())
    }

    /// Makes a thread protect the pages; returns true if the kernel has done
    /// it.
    fn protect(
        &mut self,
        thread: ThreadId,
        protection: impl Fn(&Page) -> i32,
    ) -> Result<bool, DebuggeeError> {
        let Some(gadget) = self.image.out_of_line.gadget() else {
            return Ok(self.watches.pages.is_empty());
        };
        let mut is_done = true;
        for (range, allowed) in runs(&self.watches.pages.pages, protection) {
            let length = range.end - range.start;
            let arguments = [range.start, length, allowed as u64, 0, 0, 0];
            let result = self.call_system(thread, gadget, libc::SYS_mprotect, arguments)?;
            is_done &= result == 0;
        }
        Ok(is_done)
    }
}

/// Returns the ranges of neighbouring pages that get the same protection.
fn runs(pages: &BTreeMap<u64, Page>, protection: impl Fn(&Page) -> i32) -> Vec<(Range<u64>, i32)> {
    let mut runs: Vec<(Range<u64>, i32)> = Vec::new();
    for (&address, page) in pages.iter().filter(|(_, page)| page.is_mapped) {
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

/// Returns the access rights of a mapping as bits of `mprotect`.
fn protection(mapping: &Mapping<'_>) -> i32 {
    let bits = [
        ('r', libc::PROT_READ),
        ('w', libc::PROT_WRITE),
        ('x', libc::PROT_EXEC),
    ];
    bits.iter()
        .filter(|(letter, _)| mapping.permissions.contains(*letter))
        .fold(0, |allowed, (_, bit)| allowed | bit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_pages_are_protected_together() {
        let page = |original| Page {
            watched: 0,
            ..Page::made(original)
        };
        let pages = [(0, 1), (0x1000, 1), (0x2000, 3), (0x4000, 3)];
        let mut pages: BTreeMap<u64, Page> =
            pages.map(|(at, original)| (at, page(original))).into();
        pages.insert(0x3000, UNMAPPED);
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
    fn permissions_are_bits() {
        let check = |line, expected| {
            let mapping = Mapping::parse(line).expect("a mapping");
            assert_eq!(protection(&mapping), expected, "{line}");
        };
        check(
            "00400000-00452000 r-xp 00000000 08:02 173521 /usr/bin/x w",
            libc::PROT_READ | libc::PROT_EXEC,
        );
        check("7ff0-8000 ---p 0", 0);
    }
}
