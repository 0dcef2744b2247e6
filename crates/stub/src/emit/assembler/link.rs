//! Branches: their lengths and displacements.

use super::{Assembler, Label, Target};

/// How a branch becomes short.
struct Short {
    /// The first byte of its instruction.
    start: usize,
    /// The byte behind it.
    end: usize,
    label: Label,
    /// The opcode of the short form.
    opcode: u8,
    is_short: bool,
}

impl Short {
    /// Returns the number of bytes that are saved.
    fn saved(&self) -> usize {
        if self.is_short {
            self.end - self.start - 2
        } else {
            0
        }
    }
}

impl<M: Copy> Assembler<M> {
    /// Gives each branch whose target is near its form of two bytes. Labels, marks and lock
    /// prefixes move with the code.
    pub(crate) fn shorten(&mut self) {
        let mut branches: Vec<Short> = self
            .branches
            .iter()
            .filter_map(|at| self.form(at))
            .collect();
        // Each round makes a branch short, and none long: distances only shrink.
        while self.shorten_more(&mut branches) {}
        branches.retain(|branch| branch.is_short);
        self.rewrite(&branches);
    }

    /// Returns the short form of a branch; none if it has none.
    fn form(&self, (field, target): &(usize, Target)) -> Option<Short> {
        let Target::Label(label) = *target else {
            return None;
        };
        let before = |distance: usize| {
            let at = field.checked_sub(distance)?;
            Some((at, *self.bytes.get(at)?))
        };
        let (start, opcode) = match (before(2), before(1)?) {
            (Some((start, 0x0f)), (_, near @ 0x80..0x90)) => (start, near - 0x10),
            (_, (start, 0xe9)) => (start, 0xeb),
            // The address of a label.
            _ => return None,
        };
        Some(Short {
            start,
            end: field + 4,
            label,
            opcode,
            is_short: false,
        })
    }

    /// Makes those branches short that can be; returns true if there was one.
    fn shorten_more(&self, branches: &mut [Short]) -> bool {
        let moved = Moved::new(branches);
        let mut found = false;
        for branch in branches.iter_mut().filter(|branch| !branch.is_short) {
            let Some(target) = self.offset_of(branch.label) else {
                continue;
            };
            let (from, to) = (moved.offset(branch.end), moved.offset(target));
            let distance = to as i64 - from as i64;
            if (-128..=127).contains(&distance) {
                branch.is_short = true;
                found = true;
            }
        }
        found
    }

    /// Writes the short branches, and moves everything behind them.
    fn rewrite(&mut self, branches: &[Short]) {
        let moved = Moved::new(branches);
        let mut bytes = Vec::with_capacity(self.bytes.len());
        let mut from = 0;
        for branch in branches {
            let target = self.offset_of(branch.label).unwrap_or(branch.end);
            let distance = moved.offset(target) as i64 - moved.offset(branch.end) as i64;
            bytes.extend_from_slice(self.bytes.get(from..branch.start).unwrap_or_default());
            bytes.extend_from_slice(&[branch.opcode, distance as u8]);
            from = branch.end;
        }
        bytes.extend_from_slice(self.bytes.get(from..).unwrap_or_default());
        self.bytes = bytes;
        let is_short = |field: usize| {
            branches
                .binary_search_by_key(&(field + 4), |branch| branch.end)
                .is_ok()
        };
        self.branches.retain(|(field, _)| !is_short(*field));
        let marks = self.marks.iter_mut().map(|(at, _)| at);
        let fields = self.branches.iter_mut().map(|(at, _)| at);
        let labels = self.labels.iter_mut().flatten();
        for at in marks
            .chain(fields)
            .chain(labels)
            .chain(&mut self.lock_prefixes)
        {
            *at = moved.offset(*at);
        }
    }

    /// Returns the bytes for an address and a site; none if a label is not bound or a target
    /// is out of reach.
    pub(crate) fn link(&self, at: u64, site: u64) -> Option<Vec<u8>> {
        let mut bytes = self.bytes.clone();
        for (field, target) in &self.branches {
            let target = match target {
                Target::Label(label) => at.wrapping_add(self.offset_of(*label)? as u64),
                Target::Address(address) => *address,
                Target::Site => site,
            };
            let from = at.wrapping_add(*field as u64 + 4);
            let displacement = i32::try_from(target.wrapping_sub(from) as i64).ok()?;
            bytes
                .get_mut(*field..*field + 4)?
                .copy_from_slice(&displacement.to_le_bytes());
        }
        Some(bytes)
    }
}

/// How far offsets move when branches become short.
struct Moved {
    /// The end of each short branch, and the bytes that are saved up to it.
    saved: Vec<(usize, usize)>,
}

impl Moved {
    fn new(branches: &[Short]) -> Self {
        let mut sum = 0;
        let short = branches.iter().filter(|branch| branch.is_short);
        let saved = short.map(|branch| {
            sum += branch.saved();
            (branch.end, sum)
        });
        Self {
            saved: saved.collect(),
        }
    }

    fn offset(&self, offset: usize) -> usize {
        let before = self.saved.partition_point(|(end, _)| *end <= offset);
        let saved = before.checked_sub(1).and_then(|last| self.saved.get(last));
        offset - saved.map_or(0, |(_, sum)| *sum)
    }
}
