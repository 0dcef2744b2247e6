//! Watched expressions: the bytes that they read, and their values later, when their frame is not
//! available.
//!
//! Invariant: a name keeps the meaning that it had when the expression was written. A local
//! variable of unoptimized code stays at its address as long as its call lasts, so reading it takes
//! no stack. A variable that moves between registers and memory is located again in the frame of
//! its call ([`WatchedExpression::follow`]).

use juror_language::Expression;
use juror_program::program::Program;
use juror_program::scope::FrameScope;
use juror_program::stack::frames::Frame;
use juror_symbols::{BitField, Piece, Type, Variable, VtableOwner};
use juror_values::error::ValueError;
use juror_values::expression::{Scope, evaluate};
use juror_values::standard_types::LibraryTypes;
use juror_values::typed::{Location, Memory, Typed};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;

/// An expression with the values of its names.
#[derive(Debug, Clone)]
pub struct WatchedExpression {
    expression: Expression,
    /// The values by the number of callers up, and the name.
    names: BTreeMap<(usize, String), Typed>,
    /// Variables without a fixed address in memory, by name.
    moving: BTreeMap<String, Variable>,
    extent: Extent,
    /// The value at its original address.
    location: Option<Typed>,
}

/// The part of an expression's dependences that is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All memory that it reads.
    Everything,
    /// The bytes of its value, if it is in memory.
    Value,
    /// The bytes of its value, at the address that it had originally.
    Location,
}

/// The value of an expression at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The address ranges that it depends on, sorted and disjoint.
    pub ranges: Vec<Range<u64>>,
    /// Whether they are the ranges of the value itself, which is in memory.
    pub is_value_location: bool,
    /// The value with its bytes, or the reason for which it has none.
    pub value: Result<Typed, String>,
}

/// The dependences of an expression besides memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dependence {
    /// Whether it names local variables, so that it ends with their call.
    pub is_local: bool,
    /// Whether it reads registers, of which accesses cannot be observed.
    pub reads_registers: bool,
    /// Whether it names registers, which keep the values of when it was written.
    pub names_registers: bool,
    /// Whether it reads variables of the frame that may move at the next instruction, and nothing
    /// else in registers.
    pub moves: bool,
}

impl WatchedExpression {
    /// Evaluates an expression for the first time.
    pub fn new(
        expression: Expression,
        scope: FrameScope<'_>,
        extent: Extent,
    ) -> (WatchedExpression, Reading, Dependence) {
        let record = Record::new(scope.program);
        let level = scope.level;
        let recording = Recording {
            frame: scope,
            record: &record,
            first_level: level,
        };
        let value = evaluate(&expression, &recording).map_err(|error| error.message);
        let dependence = Dependence {
            is_local: record.is_local.get(),
            reads_registers: record.reads_registers.get(),
            names_registers: record.names_registers.get(),
            moves: !record.moving.borrow().is_empty() && !record.is_elsewhere.get(),
        };
        let is_fixed = extent == Extent::Location || extent == Extent::Value && !dependence.moves;
        let location = match &value {
            Ok(value) if is_fixed && matches!(value.location, Location::Memory(_)) => {
                Some(value.clone())
            }
            _ => None,
        };
        let program = recording.frame.program;
        let reading = record.reading(program, value, extent);
        let watched = WatchedExpression {
            expression,
            names: record.names.into_inner(),
            moving: record.moving.into_inner(),
            extent,
            location,
        };
        (watched, reading, dependence)
    }

    /// Evaluates it again.
    pub fn read(&self, program: &Program) -> Reading {
        let record = Record::new(program);
        if let Some(location) = &self.location {
            return record.reading(program, Ok(location.clone()), self.extent);
        }
        record.names.replace(self.names.clone());
        let recording = Recording {
            frame: FrameScope {
                program,
                frames: &[],
                level: 0,
                convenience: &|_| None,
            },
            record: &record,
            first_level: 0,
        };
        let value = evaluate(&self.expression, &recording).map_err(|error| error.message);
        record.reading(program, value, self.extent)
    }

    /// Locates the variables that move, in the present frames of their call. Returns false if one
    /// of them has no location at the moment; then all keep their previous values.
    pub fn follow(&mut self, program: &Program, frames: &[Frame]) -> bool {
        let mut found = Vec::with_capacity(self.moving.len());
        for (name, variable) in &self.moving {
            let frame = frame_of(program, frames, variable);
            match frame.map(|frame| program.value_of(frame, variable)) {
                Some(value)
                    if matches!(value.location, Location::Memory(_) | Location::Bytes(_)) =>
                {
                    found.push(((0, name.clone()), value));
                }
                _ => return false,
            }
        }
        self.names.extend(found);
        true
    }

    /// Returns the values of the variables that move, as they were located last.
    pub fn moving_values(&self) -> Vec<Typed> {
        let known = |name: &String| self.names.get(&(0, name.clone())).cloned();
        self.moving.keys().filter_map(known).collect()
    }

    /// Returns the locations of the variables that move, in the present frames of their call.
    pub(crate) fn moving_pieces(&self, program: &Program, frames: &[Frame]) -> Vec<Piece> {
        let pieces = self.moving.values().filter_map(|variable| {
            let frame = frame_of(program, frames, variable)?;
            Some(program.pieces_of(frame, variable))
        });
        pieces.flatten().collect()
    }

    /// Returns whether a reading without a value may have one later: whether the pointer to
    /// unmapped memory is itself in memory.
    pub fn may_be_read_later(&self, reading: &Reading) -> bool {
        let is_unreadable =
            |why: &String| why.starts_with("memory at ") && why.ends_with(" cannot be read");
        self.extent == Extent::Everything
            && reading.value.as_ref().is_err_and(is_unreadable)
            && !reading.ranges.is_empty()
    }

    /// Returns the expression.
    pub fn expression(&self) -> &Expression {
        &self.expression
    }
}

/// Returns the frame in which a variable is visible.
fn frame_of<'a>(program: &Program, frames: &'a [Frame], meant: &Variable) -> Option<&'a Frame> {
    frames.iter().find(|frame| {
        // Another variable of this name hides it.
        let visible = program.local_variable(frame, &meant.name);
        visible.is_some_and(|variable| variable.location == meant.location)
    })
}

/// The accesses of an evaluation.
struct Record<'a> {
    memory: RecordingMemory<'a>,
    names: RefCell<BTreeMap<(usize, String), Typed>>,
    moving: RefCell<BTreeMap<String, Variable>>,
    is_local: Cell<bool>,
    reads_registers: Cell<bool>,
    names_registers: Cell<bool>,
    /// Whether it reads registers other than variables of the frame.
    is_elsewhere: Cell<bool>,
}

struct RecordingMemory<'a> {
    program: &'a Program,
    reads: RefCell<Vec<Range<u64>>>,
}

impl Memory for RecordingMemory<'_> {
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        let end = address.saturating_add(buffer.len() as u64);
        // Unmapped memory is not watched, but the pointer to it is.
        let is_read = self.program.read(address, buffer);
        if is_read {
            self.reads.borrow_mut().push(address..end);
        }
        is_read
    }

    fn vtable_owner(&self, address: u64) -> Option<VtableOwner> {
        self.program.vtable_owner(address)
    }
}

impl<'a> Record<'a> {
    fn new(program: &'a Program) -> Record<'a> {
        Record {
            memory: RecordingMemory {
                program,
                reads: RefCell::default(),
            },
            names: RefCell::default(),
            moving: RefCell::default(),
            is_local: Cell::new(false),
            reads_registers: Cell::new(false),
            names_registers: Cell::new(false),
            is_elsewhere: Cell::new(false),
        }
    }

    fn reading(&self, program: &Program, value: Result<Typed, String>, extent: Extent) -> Reading {
        let in_memory = |value: &Typed| matches!(value.location, Location::Memory(_));
        let is_value_location = extent != Extent::Everything && value.as_ref().is_ok_and(in_memory);
        let mut ranges = if is_value_location {
            Vec::new()
        } else {
            self.memory.reads.borrow().clone()
        };
        let value = value.and_then(|value| {
            let found = materialized(&value, program).map_err(|why| why.to_string())?;
            ranges.extend(bytes_of(&value));
            Ok(found)
        });
        Reading {
            ranges: joined(ranges),
            is_value_location,
            value,
        }
    }
}

/// Returns the address range of a value in memory.
fn bytes_of(value: &Typed) -> Option<Range<u64>> {
    let Location::Memory(address) = value.location else {
        return None;
    };
    if let Some(bits) = value.bits {
        let first = address.wrapping_add(bits.offset_bits / 8);
        let end = (bits.offset_bits + bits.size_bits).div_ceil(8);
        return Some(first..address.wrapping_add(end));
    }
    let size = value.r#type.size()?;
    Some(address..address.saturating_add(size))
}

/// Returns the value with its present bytes.
fn materialized(value: &Typed, program: &Program) -> Result<Typed, ValueError> {
    let size = value
        .r#type
        .size()
        .ok_or("its size is not known, so it cannot be watched")?;
    let size = match value.bits {
        Some(bits) => (bits.offset_bits + bits.size_bits).div_ceil(8).max(size),
        None => size,
    };
    let mut bytes = value.bytes(program, size)?;
    if let Some(bits) = value.bits {
        keep_own_bits(&mut bytes, bits, value.r#type.is_big_endian());
    }
    Ok(Typed {
        location: Location::Bytes(bytes),
        ..value.clone()
    })
}

/// Clears the bits outside of a bit field, whose changes do not concern it.
fn keep_own_bits(bytes: &mut [u8], bits: BitField, is_big_endian: bool) {
    let end = bits.offset_bits.saturating_add(bits.size_bits);
    for (number, byte) in (0_u64..).zip(bytes.iter_mut()) {
        for bit in 0..8 {
            let place = number * 8 + bit;
            let is_own = (bits.offset_bits..end).contains(&place);
            let shift = if is_big_endian { 7 - bit } else { bit };
            if !is_own {
                *byte &= !(1 << shift);
            }
        }
    }
}

/// Sorts ranges and merges those that overlap or touch.
fn joined(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// The scope of a frame that records the names that are looked up.
struct Recording<'a> {
    frame: FrameScope<'a>,
    record: &'a Record<'a>,
    first_level: usize,
}

impl Recording<'_> {
    fn note(&self, name: String, value: &Typed) {
        let callers = self.frame.level.saturating_sub(self.first_level);
        let mut names = self.record.names.borrow_mut();
        names.insert((callers, name), value.clone());
    }

    fn known(&self, name: &str) -> Option<Typed> {
        let callers = self.frame.level.saturating_sub(self.first_level);
        let names = self.record.names.borrow();
        names.get(&(callers, name.to_owned())).cloned()
    }

    fn note_local(&self, value: &Typed) {
        match value.location {
            // A static variable outlives its call.
            Location::Memory(address) => {
                let program = self.frame.program;
                if program.modules.find(address).is_none() {
                    self.record.is_local.set(true);
                }
            }
            _ => {
                self.record.is_local.set(true);
                self.record.reads_registers.set(true);
            }
        }
    }
}

impl Scope for Recording<'_> {
    fn name(&self, name: &str) -> Result<Typed, ValueError> {
        if let Some(known) = self.known(name) {
            return Ok(known);
        }
        if let Some((variable, local)) = self.frame.local_variable(name) {
            self.note_local(&local);
            let is_innermost = self.frame.level == self.first_level;
            let in_memory = matches!(local.location, Location::Memory(_));
            if is_innermost && (variable.location.moves() || !in_memory) {
                let mut moving = self.record.moving.borrow_mut();
                moving.insert(name.to_owned(), variable);
            } else if !in_memory {
                self.record.is_elsewhere.set(true);
            }
            self.note(name.to_owned(), &local);
            return Ok(local);
        }
        let value = match self.frame.field_of_this(name) {
            Some(field) => {
                self.record.is_local.set(true);
                field?
            }
            None => self.frame.outside(name)?,
        };
        self.note(name.to_owned(), &value);
        Ok(value)
    }

    fn register(&self, name: &str) -> Result<Typed, ValueError> {
        let key = format!("${name}");
        if let Some(known) = self.known(&key) {
            return Ok(known);
        }
        // A snapshot does not change: its address is watched.
        let value = self.frame.register(name)?.without_snapshot();
        self.record.names_registers.set(true);
        self.note(key, &value);
        Ok(value)
    }

    fn argument(&self, position: u8) -> Result<Typed, ValueError> {
        let key = format!("argument {position}");
        if let Some(known) = self.known(&key) {
            return Ok(known);
        }
        let value = self.frame.argument(position)?;
        self.note_local(&value);
        if !matches!(value.location, Location::Memory(_)) {
            self.record.is_elsewhere.set(true);
        }
        self.note(key, &value);
        Ok(value)
    }

    fn returned(&self) -> Result<Typed, ValueError> {
        self.frame.returned()
    }

    fn caller(&self) -> Result<Box<dyn Scope + '_>, ValueError> {
        let is_fixed = self.frame.frames.is_empty();
        if !is_fixed && self.frame.level + 1 >= self.frame.frames.len() {
            return Err("this frame has no caller that is known".into());
        }
        Ok(Box::new(Recording {
            frame: FrameScope {
                level: self.frame.level + 1,
                ..self.frame
            },
            record: self.record,
            first_level: self.first_level,
        }))
    }

    fn type_named(&self, name: &str) -> Option<Type> {
        self.frame.type_named(name)
    }

    fn is_cpp(&self) -> bool {
        self.frame.is_cpp()
    }

    fn is_elsewhere(&self, name: &str) -> bool {
        self.frame.is_elsewhere(name)
    }

    fn has_variable(&self, word: &str) -> bool {
        self.frame.has_variable(word)
    }

    fn is_rust(&self) -> bool {
        self.frame.is_rust()
    }

    fn function_linked(&self, linkage_name: &str) -> Option<u64> {
        self.frame.function_linked(linkage_name)
    }

    fn standard_types(&self) -> Option<&dyn LibraryTypes> {
        self.frame.standard_types()
    }

    fn memory(&self) -> &dyn Memory {
        &self.record.memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::single_range_in_vec_init, reason = "lists of ranges")]
    fn ranges_that_touch_are_joined() {
        for (ranges, expected) in [
            (vec![8..12, 0..4, 4..8], vec![0..12]),
            (vec![0..4, 8..12, 9..10], vec![0..4, 8..12]),
            (vec![3..3, 5..6], vec![5..6]),
            (vec![], vec![]),
        ] {
            assert_eq!(joined(ranges.clone()), expected, "{ranges:?}");
        }
    }

    #[test]
    fn the_neighbours_of_a_bit_field_are_cleared() {
        let bits = |offset_bits, size_bits| BitField {
            offset_bits,
            size_bits,
        };
        for (field, is_big_endian, expected) in [
            (bits(3, 5), false, [0b1111_1000, 0]),
            (bits(6, 4), false, [0b1100_0000, 0b0000_0011]),
            (bits(0, 16), false, [0xff, 0xff]),
            (bits(3, 5), true, [0b0001_1111, 0]),
            (bits(6, 4), true, [0b0000_0011, 0b1100_0000]),
        ] {
            let mut bytes = [0xff; 2];
            keep_own_bits(&mut bytes, field, is_big_endian);
            assert_eq!(bytes, expected, "{field:?} {is_big_endian}");
        }
    }

    #[test]
    fn a_value_in_memory_has_the_bytes_of_its_type_or_bits() {
        let int = || Type::builtin("int").expect("a type");
        let whole = Typed::in_memory(int(), 0x100);
        assert_eq!(bytes_of(&whole), Some(0x100..0x104));
        let field = Typed {
            bits: Some(BitField {
                offset_bits: 11,
                size_bits: 7,
            }),
            ..whole
        };
        assert_eq!(bytes_of(&field), Some(0x101..0x103));
        assert_eq!(bytes_of(&Typed::of_bytes(int(), vec![0; 4])), None);
        assert_eq!(bytes_of(&Typed::in_memory(Type::void(), 0x100)), None);
    }
}
