//! Building the index: all units are read on all processors, and the results are merged.
//!
//! A thread keeps rows and strings but never the facts of a unit; each string is stored
//! once per thread, and once in the index. The largest units come first, so that no thread
//! ends long after the others.

use super::merge::merge;
use super::{EXTERNAL, NameIndex, wide_checksum};
use crate::dwarf::facts::{self, Facts};
use crate::dwarf::index::{StringRef, StringTable, checksum};
use crate::dwarf::processors::thread_count;
use crate::dwarf::{DebugInfo, DieRef};
use crate::names::tail;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// The minimum total size of the units in bytes for several threads.
const PARALLEL_SIZE_MIN: u64 = 1 << 20;
/// The interval between progress reports.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);

/// The watcher of long work, which may cancel it.
pub(crate) struct Watch<'a> {
    /// Set to cancel.
    pub cancel: &'a AtomicBool,
    /// Receives the work done and the total.
    pub progress: &'a mut dyn FnMut(u64, u64),
}

pub(super) struct FunctionRow {
    pub low_pc: u64,
    pub die: DieRef,
    pub name: StringRef,
    pub linkage_name: StringRef,
    pub tail: u32,
    pub external: bool,
    /// The range in the parts of the same thread.
    pub parts: Range<usize>,
}

pub(super) struct NamedRow {
    pub die: DieRef,
    pub name: StringRef,
    pub tail: u32,
    pub flags: u32,
}

/// The result of one thread.
#[derive(Default)]
pub(super) struct Part {
    pub strings: StringTable,
    pub functions: Vec<FunctionRow>,
    pub ranges: Vec<Range<u64>>,
    pub globals: Vec<NamedRow>,
    pub types: Vec<NamedRow>,
    /// The indexes in `types` by name and kind.
    pub seen_types: FxHashMap<(StringRef, u32), usize>,
    /// The enumerations by the checksums of the enumerator's name and scope.
    pub enumerators: FxHashMap<(u64, u64), DieRef>,
    pub inlined: Vec<(u32, StringRef, u32)>,
}

impl DebugInfo {
    /// Reads all units. `None` if cancelled.
    pub(crate) fn build_names(&self, watch: Option<&mut Watch<'_>>) -> Option<NameIndex> {
        let mut order: Vec<u32> = self.unit_numbers().collect();
        order.sort_by_key(|number| std::cmp::Reverse(self.unit_size(*number)));
        let total: u64 = order.iter().map(|number| self.unit_size(*number)).sum();
        let parts = if total < PARALLEL_SIZE_MIN {
            let mut part = Part::default();
            for number in order {
                part.add_unit(self, number);
            }
            vec![part]
        } else {
            self.read_by_threads(&order, total, watch)?
        };
        merge(parts)
    }

    pub(in crate::dwarf) fn unit_size(&self, number: u32) -> u64 {
        let slot = self.slots.get(number as usize);
        slot.map_or(0, |slot| slot.header.size as u64)
    }

    fn read_by_threads(
        &self,
        order: &[u32],
        total: u64,
        mut watch: Option<&mut Watch<'_>>,
    ) -> Option<Vec<Part>> {
        let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
        let ends = AtomicBool::new(false);
        let (sender, receiver) = mpsc::channel();
        let work = |sender: mpsc::Sender<Part>| {
            let mut part = Part::default();
            while let Some(number) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                if ends.load(Ordering::Relaxed) {
                    return;
                }
                part.add_unit(self, *number);
                done.fetch_add(self.unit_size(*number), Ordering::Relaxed);
            }
            // The receiver exists until all threads have ended.
            let _ = sender.send(part);
        };
        let parts = std::thread::scope(|scope| {
            for _ in 0..thread_count() {
                let sender = sender.clone();
                scope.spawn(|| work(sender));
            }
            drop(sender);
            let mut parts = Vec::new();
            loop {
                match receiver.recv_timeout(REPORT_INTERVAL) {
                    Ok(part) => parts.push(part),
                    Err(mpsc::RecvTimeoutError::Disconnected) => return parts,
                    Err(mpsc::RecvTimeoutError::Timeout) => {}
                }
                if let Some(watch) = watch.as_deref_mut() {
                    (watch.progress)(done.load(Ordering::Relaxed).min(total - 1), total);
                    ends.fetch_or(watch.cancel.load(Ordering::Relaxed), Ordering::Relaxed);
                }
            }
        });
        if let Some(watch) = watch {
            (watch.progress)(total, total);
        }
        (!ends.into_inner()).then_some(parts)
    }
}

impl Part {
    fn add_unit(&mut self, info: &DebugInfo, number: u32) {
        match info.known_facts(number) {
            Some(facts) => self.add_facts(info, number, facts),
            None => self.add_facts(info, number, &facts::read(info, number)),
        }
    }

    fn add_facts(&mut self, info: &DebugInfo, number: u32, facts: &Facts) {
        for function in &facts.functions {
            let record = info.named_function(number, facts, function);
            let start = self.ranges.len();
            self.ranges.extend(record.ranges);
            let linkage_name = record.linkage_name.as_deref().unwrap_or("");
            self.functions.push(FunctionRow {
                low_pc: record.low_pc,
                die: record.die,
                name: self.strings.keep(record.name.as_bytes()),
                linkage_name: self.strings.keep(linkage_name.as_bytes()),
                tail: checksum(tail(&record.name)),
                external: record.external,
                parts: start..self.ranges.len(),
            });
        }
        for global in &facts.globals {
            if let Some(record) = info.named_global(number, facts, global) {
                self.globals.push(NamedRow {
                    die: record.die,
                    name: self.strings.keep(record.name.as_bytes()),
                    tail: checksum(tail(&record.name)),
                    flags: if record.external { EXTERNAL } else { 0 },
                });
            }
        }
        for record in &facts.types {
            let name = self.strings.keep(record.name.as_bytes());
            let flags = u32::from(record.tag.0) | u32::from(record.declaration) << 16;
            // Every unit repeats the types of its headers; the first in the file counts, in
            // whatever order they are read.
            let number = *self
                .seen_types
                .entry((name, flags))
                .or_insert(self.types.len());
            match self.types.get_mut(number) {
                Some(known) => known.die = known.die.min(record.die),
                None => self.types.push(NamedRow {
                    die: record.die,
                    name,
                    tail: checksum(tail(&record.name)),
                    flags,
                }),
            }
        }
        for enumerator in &facts.enumerators {
            let key = (
                wide_checksum(&enumerator.name),
                wide_checksum(&enumerator.scope),
            );
            let first = self.enumerators.entry(key).or_insert(enumerator.of);
            *first = (*first).min(enumerator.of);
        }
        for origin in &facts.inlined {
            if let Some(name) = info.abstract_name_from(number, facts, *origin) {
                let text = self.strings.keep(name.as_bytes());
                self.inlined.push((checksum(tail(name)), text, number));
            }
        }
    }
}
