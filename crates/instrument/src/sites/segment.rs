//! The executable segments of a module: the text around a site, and the branches into it.
//!
//! Only the code around a site is decoded. A module is scanned once for branches that may reach it
//! from anywhere (`FarBranches`); a program has a hundred modules, and decoding all of them takes
//! longer than the program itself.

use juror_stub::head::{BranchTargets, FarBranches, NEAR, Text};
use juror_symbols::SymbolFile;
use rustc_hash::FxHashMap;
use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Range;
use std::rc::Rc;

/// The number of bytes that are scanned at once.
const PART_SIZE: u64 = 1 << 16;

/// The size from which on the scan of a segment is deferred.
const LARGE: u64 = 1 << 22;
/// The number of bytes that are scanned in the time of one return that stops the program.
const BYTES_OF_RETURN: u64 = 1 << 16;

/// An executable segment. All addresses are those of the process.
#[derive(Debug)]
pub(super) struct Segment {
    symbols: SymbolFile,
    bias: u64,
    pub(super) range: Range<u64>,
    far: OnceCell<RefCell<FarBranches>>,
    /// The number of deferred searches that need a scan.
    put_off: Cell<u64>,
    /// The decoded text, by the start of its unit.
    known: RefCell<FxHashMap<u64, Rc<Surroundings>>>,
}

/// The text around a site.
#[derive(Debug)]
pub(super) struct Surroundings {
    /// The function or part of a function that contains the site. If it is `None`, the bounds of
    /// functions are unknown, and the text is the complete segment.
    pub(super) unit: Option<Range<u64>>,
    address: u64,
    bytes: Vec<u8>,
    /// The branches into the unit, from anywhere; to its start only near ones.
    pub(super) branches: BranchTargets,
}

impl Surroundings {
    pub(super) fn text(&self) -> Text<'_> {
        Text {
            address: self.address,
            bytes: &self.bytes,
        }
    }

    pub(super) fn end(&self) -> u64 {
        self.address.wrapping_add(self.bytes.len() as u64)
    }
}

impl Segment {
    /// Returns the executable segments of a file that is loaded with a bias.
    pub(super) fn all(symbols: &SymbolFile, bias: u64) -> Vec<Segment> {
        let segments = symbols.header().segments.iter();
        let segments = segments.filter(|it| it.executable).map(|segment| {
            let start = segment.address.wrapping_add(bias);
            Segment {
                symbols: symbols.clone(),
                bias,
                range: start..start.saturating_add(segment.file_size),
                far: OnceCell::new(),
                put_off: Cell::new(0),
                known: RefCell::default(),
            }
        });
        segments.collect()
    }

    /// Returns whether a return site of a large segment should stop the program this time, since a
    /// scan of the segment takes as long as many returns. Returns false, from then on, once the
    /// deferred returns have taken as much time as the scan would.
    pub(super) fn puts_off(&self) -> bool {
        let size = self.range.end.saturating_sub(self.range.start);
        if size < LARGE || self.far.get().is_some() {
            return false;
        }
        let count = self.put_off.get().saturating_add(1);
        self.put_off.set(count);
        count.saturating_mul(BYTES_OF_RETURN) < size
    }

    /// Returns the text around an address of the segment; `None` if the file cannot be read.
    pub(super) fn around(&self, address: u64) -> Option<Rc<Surroundings>> {
        let unit = self.unit_at(address);
        let start = unit.as_ref().map_or(self.range.start, |unit| unit.start);
        if let Some(known) = self.known.borrow().get(&start) {
            return Some(Rc::clone(known));
        }
        let around = Rc::new(self.decode(unit)?);
        self.known.borrow_mut().insert(start, Rc::clone(&around));
        Some(around)
    }

    /// Decodes a unit, and the code near it whose short branches may reach it.
    fn decode(&self, unit: Option<Range<u64>>) -> Option<Surroundings> {
        let wanted = match &unit {
            None => self.range.clone(),
            Some(unit) => {
                let near = unit.start.saturating_sub(NEAR).max(self.range.start);
                let mut before = (near..unit.start).filter_map(|address| self.unit_at(address));
                let start = before.next().map_or(unit.start, |before| before.start);
                start..unit.end.saturating_add(NEAR).min(self.range.end)
            }
        };
        let bytes = self.bytes(wanted.clone())?;
        let text = Text {
            address: wanted.start,
            bytes: &bytes,
        };
        let mut branches = BranchTargets::of(text);
        // Branches to its start are tail calls, and there may be many.
        let targets = match &unit {
            Some(unit) => unit.start.saturating_add(1)..unit.end,
            None => wanted.clone(),
        };
        let far = self.far().borrow_mut().within(targets).into_iter();
        branches.add(far.filter(|(_, from)| !wanted.contains(from) && self.may_be_branch(*from)));
        Some(Surroundings {
            branches,
            unit,
            address: wanted.start,
            bytes,
        })
    }

    /// Returns whether the bytes at an address, which look like a branch, may be one: whether they
    /// are not inside of another instruction.
    fn may_be_branch(&self, address: u64) -> bool {
        let Some(unit) = self.unit_at(address) else {
            return true;
        };
        let bytes = self.bytes(unit.clone()).unwrap_or_default();
        let text = Text {
            address: unit.start,
            bytes: &bytes,
        };
        BranchTargets::of(text).has_branch_at(address)
    }

    /// Returns the range of one unwind entry, or else of the function.
    fn unit_at(&self, address: u64) -> Option<Range<u64>> {
        let file_address = address.wrapping_sub(self.bias);
        let described = self.symbols.unwind_range_at(file_address);
        let unit = described.or_else(|| {
            let function = self.symbols.function_at(file_address)?;
            let mut ranges = function.ranges.iter();
            ranges.find(|range| range.contains(&file_address)).cloned()
        })?;
        let unit = unit.start.wrapping_add(self.bias)..unit.end.wrapping_add(self.bias);
        let is_inside = self.range.start <= unit.start && unit.end <= self.range.end;
        is_inside.then_some(unit)
    }

    fn far(&self) -> &RefCell<FarBranches> {
        self.far.get_or_init(|| {
            let mut far = FarBranches::default();
            let overlap = FarBranches::SIZE_MAX as u64 - 1;
            let mut start = self.range.start;
            while start < self.range.end {
                let end = self.range.end.min(start.saturating_add(PART_SIZE));
                let bytes = self.bytes(start..end).unwrap_or_default();
                let part = Text {
                    address: start,
                    bytes: &bytes,
                };
                far.add(part, &self.range);
                start = start.saturating_add(PART_SIZE - overlap);
            }
            RefCell::new(far)
        })
    }

    fn bytes(&self, range: Range<u64>) -> Option<Vec<u8>> {
        let size = range.end.checked_sub(range.start)?;
        self.symbols
            .bytes_at(range.start.wrapping_sub(self.bias), size)
    }
}
