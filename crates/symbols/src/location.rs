//! Where a value is: DWARF location descriptions, evaluated (DWARF 5,
//! sections 2.5 and 2.6).
//!
//! Evaluation asks an [`EvaluationContext`] for registers and memory, one
//! request at a time, and is bounded in steps.

use crate::dwarf::{DebugInfo, DieRef, Reader, Value};
use gimli::{AttributeValue, EvaluationResult, Expression, UnitOffset};
use std::fmt;
use std::sync::Arc;
use thiserror::Error;

/// The most operations and requests that one evaluation may take.
const EVALUATION_STEPS_MAX: u32 = 10_000;

/// The number by which DWARF names the register that holds the first integer
/// argument, and so on: the AMD64 supplement, figure 3.36.
pub mod register {
    /// The result of a call; the first eightbyte.
    pub const RAX: u16 = 0;
    /// The third integer argument; the second eightbyte of a result.
    pub const RDX: u16 = 1;
    /// The fourth integer argument.
    pub const RCX: u16 = 2;
    /// Saved by the callee.
    pub const RBX: u16 = 3;
    /// The second integer argument.
    pub const RSI: u16 = 4;
    /// The first integer argument.
    pub const RDI: u16 = 5;
    /// The frame pointer.
    pub const RBP: u16 = 6;
    /// The stack pointer.
    pub const RSP: u16 = 7;
    /// The fifth integer argument.
    pub const R8: u16 = 8;
    /// The sixth integer argument.
    pub const R9: u16 = 9;
    /// The return address: where execution goes on.
    pub const RIP: u16 = 16;
    /// The first floating point argument; `XMM0 + n` is `xmm<n>`.
    pub const XMM0: u16 = 17;
    /// The top of the x87 stack.
    pub const ST0: u16 = 33;
    /// The next of the x87 stack.
    pub const ST1: u16 = 34;
}

/// Memory of the debuggee, by run-time addresses.
pub trait Memory {
    /// Fills the buffer; false when any of it cannot be read.
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool;
}

/// What evaluating a location needs to know of a frame.
pub trait EvaluationContext: Memory {
    /// A register's value in this frame by its DWARF number; the low eight
    /// bytes of a vector register. `None` when it is not known.
    fn register(&self, number: u16) -> Option<u64>;
    /// The frame's canonical frame address: the stack pointer before the call
    /// that made it pushed the return address.
    fn cfa(&self) -> Option<u64>;
    /// What to add to a file address to get a run-time address.
    fn load_bias(&self) -> u64;
    /// The run-time address of a thread-local variable, by its offset in the
    /// module's thread-local storage.
    fn tls_address(&self, _offset: u64) -> Option<u64> {
        None
    }
    /// The value that a register had when the function was entered.
    fn entry_value(&self, _register: u16) -> Option<u64> {
        None
    }
}

/// Why a value cannot be found.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LocationError {
    /// The frame does not know this register.
    #[error("the value of {} is not known in this frame", register_name(*register))]
    RegisterUnknown {
        /// Its DWARF number.
        register: u16,
    },
    /// Memory that the location goes through is not there.
    #[error("memory at {address:#x} cannot be read")]
    Unreadable {
        /// The run-time address.
        address: u64,
    },
    /// The value was in a register at the entry of the function and is lost.
    #[error("optimized out: only its value at the entry of the function was kept")]
    EntryValueLost,
    /// The frame was not unwound.
    #[error("the frame's place on the stack is not known")]
    FrameUnknown,
    /// Thread-local storage of this module cannot be found.
    #[error("the thread-local storage of this module cannot be found")]
    ThreadLocalUnknown,
    /// The location is damaged or of a kind that is not supported.
    #[error("the debug information of its location cannot be used: {0}")]
    Unusable(String),
}

/// The name of a register by its DWARF number.
pub fn register_name(number: u16) -> String {
    const GENERAL: [&str; 17] = [
        "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13",
        "r14", "r15", "rip",
    ];
    match GENERAL.get(usize::from(number)) {
        Some(name) => (*name).to_owned(),
        None => match number {
            17..=32 => format!("xmm{}", number - 17),
            33..=40 => format!("st{}", number - 33),
            58 => "fs_base".to_owned(),
            59 => "gs_base".to_owned(),
            67..=82 => format!("xmm{}", number - 51),
            _ => format!("register {number}"),
        },
    }
}

/// A part of a value and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// How many bits of the value it is; `None` for all of it.
    pub size_bits: Option<u64>,
    /// Where in the place it begins, in bits.
    pub offset_bits: u64,
    /// Where it is.
    pub place: Place,
}

/// Where a part of a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In the register of this DWARF number.
    Register(u16),
    /// In memory, at this run-time address.
    Address(u64),
    /// Nowhere, but it is this number.
    Value(u64),
    /// Nowhere, but it is these bytes.
    Bytes(Vec<u8>),
    /// It points to something that is nowhere itself.
    ImplicitPointer {
        /// What it points to.
        target: Location,
        /// How many bytes behind its start.
        offset: i64,
    },
    /// Nowhere: the compiler kept no copy.
    OptimizedOut,
}

/// Where a variable or parameter is, for every address of its scope.
#[derive(Clone)]
pub struct Location {
    pub(crate) info: Arc<DebugInfo>,
    pub(crate) unit: u32,
    /// The function whose frame it may refer to.
    pub(crate) function: Option<DieRef>,
    pub(crate) source: LocationSource,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LocationSource {
    /// The same wherever the variable is visible.
    Everywhere(Expression<Reader>),
    /// Different from address to address.
    List(Value),
    Constant(Vec<u8>),
    Nowhere,
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.source {
            LocationSource::Everywhere(_) => "everywhere",
            LocationSource::List(_) => "list",
            LocationSource::Constant(_) => "constant",
            LocationSource::Nowhere => "nowhere",
        };
        write!(f, "Location({kind})")
    }
}

impl PartialEq for Location {
    fn eq(&self, other: &Location) -> bool {
        Arc::ptr_eq(&self.info, &other.info) && self.unit == other.unit && self.source == other.source
    }
}

impl Eq for Location {}

impl Location {
    /// The location of an entry, from itself or the entry it completes.
    pub(crate) fn of_die(info: &Arc<DebugInfo>, die: DieRef, function: Option<DieRef>) -> Location {
        let source = info
            .inherited(die, |_, _, entry| {
                let location = match entry.attr_value(gimli::DW_AT_location) {
                    Some(AttributeValue::Exprloc(expression)) => {
                        LocationSource::Everywhere(expression)
                    }
                    Some(AttributeValue::Block(block)) => LocationSource::Everywhere(Expression(block)),
                    Some(list) => LocationSource::List(list),
                    None => LocationSource::Constant(constant(&entry.attr_value(gimli::DW_AT_const_value)?)?),
                };
                Some(location)
            })
            .unwrap_or(LocationSource::Nowhere);
        Location { info: info.clone(), unit: die.unit, function, source }
    }

    /// The expression that holds at a file address.
    pub(crate) fn expression_at(&self, pc: u64) -> Option<Expression<Reader>> {
        match &self.source {
            LocationSource::Everywhere(expression) => Some(expression.clone()),
            LocationSource::List(value) => {
                let unit = &self.info.unit(self.unit)?.unit;
                let mut list = self.info.dwarf.attr_locations(unit, value.clone()).ok()??;
                while let Ok(Some(entry)) = list.next() {
                    if (entry.range.begin..entry.range.end).contains(&pc) {
                        return Some(entry.data);
                    }
                }
                None
            }
            LocationSource::Constant(_) | LocationSource::Nowhere => None,
        }
    }

    /// Whether the compiler kept the value anywhere at all.
    pub fn is_nowhere(&self) -> bool {
        matches!(self.source, LocationSource::Nowhere)
    }

    /// Where the value is while execution stands at the file address `pc`,
    /// in pieces from its first byte on. For a caller's frame, `pc` is the
    /// address before the return address.
    ///
    /// # Errors
    /// Something the location needs is not known in this frame.
    pub fn evaluate(&self, pc: u64, context: &dyn EvaluationContext) -> Result<Vec<Piece>, LocationError> {
        if let LocationSource::Constant(bytes) = &self.source {
            return Ok(whole(Place::Bytes(bytes.clone())));
        }
        match self.expression_at(pc) {
            Some(expression) => self.evaluator(pc, context).pieces(expression),
            None => Ok(whole(Place::OptimizedOut)),
        }
    }

    fn evaluator<'a>(&'a self, pc: u64, context: &'a dyn EvaluationContext) -> Evaluator<'a> {
        Evaluator { info: &self.info, unit: self.unit, function: self.function, pc, context, depth: 0 }
    }
}

fn whole(place: Place) -> Vec<Piece> {
    vec![Piece { size_bits: None, offset_bits: 0, place }]
}

fn constant(value: &Value) -> Option<Vec<u8>> {
    match value {
        AttributeValue::Block(block) => Some(block.bytes().to_vec()),
        AttributeValue::String(text) => Some(text.bytes().to_vec()),
        AttributeValue::Udata(number) => Some(number.to_le_bytes().to_vec()),
        _ => value
            .sdata_value()
            .map(|number| number.to_le_bytes().to_vec())
            .or_else(|| value.udata_value().map(|number| number.to_le_bytes().to_vec())),
    }
}

struct Evaluator<'a> {
    info: &'a Arc<DebugInfo>,
    unit: u32,
    function: Option<DieRef>,
    pc: u64,
    context: &'a dyn EvaluationContext,
    depth: u8,
}

impl Evaluator<'_> {
    fn pieces(&self, expression: Expression<Reader>) -> Result<Vec<Piece>, LocationError> {
        let unit = self.info.unit(self.unit).ok_or_else(|| unusable("no such unit"))?;
        if expression.0.bytes().is_empty() {
            return Ok(whole(Place::OptimizedOut));
        }
        let mut evaluation = expression.evaluation(unit.unit.encoding());
        evaluation.set_max_iterations(EVALUATION_STEPS_MAX);
        let mut result = evaluation.evaluate().map_err(damaged)?;
        for _ in 0..EVALUATION_STEPS_MAX {
            if result == EvaluationResult::Complete {
                return Ok(evaluation.result().into_iter().map(|piece| self.piece(piece)).collect());
            }
            result = self.answer(&mut evaluation, result)?;
        }
        Err(unusable("it does not end"))
    }

    /// Gives the evaluation what it asked for.
    fn answer(
        &self,
        evaluation: &mut gimli::Evaluation<Reader>,
        request: EvaluationResult<Reader>,
    ) -> Result<EvaluationResult<Reader>, LocationError> {
        let next = match request {
            EvaluationResult::RequiresMemory { address, size, base_type, .. } => {
                let mut bytes = [0; 8];
                let wanted = bytes.get_mut(..usize::from(size)).ok_or_else(|| unusable("its size"))?;
                if !self.context.read(address, wanted) {
                    return Err(LocationError::Unreadable { address });
                }
                evaluation.resume_with_memory(self.typed(u64::from_le_bytes(bytes), base_type)?)
            }
            EvaluationResult::RequiresRegister { register, base_type } => {
                let value = self.register(register.0)?;
                evaluation.resume_with_register(self.typed(value, base_type)?)
            }
            EvaluationResult::RequiresFrameBase => evaluation.resume_with_frame_base(self.frame_base()?),
            EvaluationResult::RequiresCallFrameCfa => {
                let cfa = self.context.cfa().ok_or(LocationError::FrameUnknown)?;
                evaluation.resume_with_call_frame_cfa(cfa)
            }
            EvaluationResult::RequiresTls(offset) => {
                let address = self.context.tls_address(offset);
                evaluation.resume_with_tls(address.ok_or(LocationError::ThreadLocalUnknown)?)
            }
            EvaluationResult::RequiresAtLocation(reference) => {
                let die = match reference {
                    gimli::DieReference::UnitRef(offset) => {
                        Some(DieRef { unit: self.unit, offset: offset.0 })
                    }
                    gimli::DieReference::DebugInfoRef(offset) => self.info.at_debug_info_offset(offset),
                };
                let called = die.map(|die| Location::of_die(self.info, die, self.function));
                let bytes = match called.map(|called| called.source) {
                    Some(LocationSource::Everywhere(expression)) => expression.0,
                    _ => Reader::new(Arc::from([]), gimli::LittleEndian),
                };
                evaluation.resume_with_at_location(bytes)
            }
            EvaluationResult::RequiresEntryValue(expression) => {
                let register = single_register(&expression, evaluation_encoding(self.info, self.unit));
                let value = register.and_then(|register| self.context.entry_value(register));
                let value = value.ok_or(LocationError::EntryValueLost)?;
                evaluation.resume_with_entry_value(gimli::Value::Generic(value))
            }
            EvaluationResult::RequiresParameterRef(_) => return Err(LocationError::EntryValueLost),
            EvaluationResult::RequiresRelocatedAddress(address) => {
                evaluation.resume_with_relocated_address(address.wrapping_add(self.context.load_bias()))
            }
            EvaluationResult::RequiresIndexedAddress { index, relocate } => {
                let unit = self.info.unit(self.unit).ok_or_else(|| unusable("no such unit"))?;
                let address = self.info.dwarf.address(&unit.unit, index).map_err(damaged)?;
                let bias = if relocate { self.context.load_bias() } else { 0 };
                evaluation.resume_with_indexed_address(address.wrapping_add(bias))
            }
            EvaluationResult::RequiresBaseType(offset) => {
                let base_type = self.value_type(offset)?;
                evaluation.resume_with_base_type(base_type)
            }
            EvaluationResult::Complete
            | EvaluationResult::RequiresWasmLocal { .. }
            | EvaluationResult::RequiresWasmGlobal { .. }
            | EvaluationResult::RequiresWasmStack { .. } => {
                return Err(unusable("it is meant for another machine"));
            }
        };
        next.map_err(damaged)
    }

    fn register(&self, number: u16) -> Result<u64, LocationError> {
        self.context.register(number).ok_or(LocationError::RegisterUnknown { register: number })
    }

    fn frame_base(&self) -> Result<u64, LocationError> {
        if self.depth > 0 {
            return Err(unusable("a frame base that refers to itself"));
        }
        let function = self.function.ok_or(LocationError::FrameUnknown)?;
        let expression = frame_base_at(self.info, function, self.pc).ok_or(LocationError::FrameUnknown)?;
        let inner = Evaluator {
            info: self.info,
            unit: function.unit,
            function: None,
            pc: self.pc,
            context: self.context,
            depth: self.depth + 1,
        };
        let pieces = inner.pieces(expression)?;
        match pieces.first().map(|piece| &piece.place) {
            Some(Place::Register(register)) => self.register(*register),
            Some(Place::Address(address)) => Ok(*address),
            Some(Place::Value(value)) => Ok(*value),
            _ => Err(LocationError::FrameUnknown),
        }
    }

    fn typed(&self, raw: u64, base_type: UnitOffset) -> Result<gimli::Value, LocationError> {
        let value_type = self.value_type(base_type)?;
        Ok(match value_type {
            gimli::ValueType::F32 => gimli::Value::F32(f32::from_bits(raw as u32)),
            gimli::ValueType::F64 => gimli::Value::F64(f64::from_bits(raw)),
            _ => gimli::Value::from_u64(value_type, raw).map_err(damaged)?,
        })
    }

    fn value_type(&self, offset: UnitOffset) -> Result<gimli::ValueType, LocationError> {
        if offset.0 == 0 {
            return Ok(gimli::ValueType::Generic);
        }
        self.info
            .die(DieRef { unit: self.unit, offset: offset.0 })
            .and_then(|entry| {
                let size = entry.attr_value(gimli::DW_AT_byte_size)?.udata_value()?;
                match entry.attr_value(gimli::DW_AT_encoding)? {
                    AttributeValue::Encoding(encoding) => gimli::ValueType::from_encoding(encoding, size),
                    _ => None,
                }
            })
            .ok_or_else(|| unusable("a type that is no number"))
    }

    fn piece(&self, piece: gimli::Piece<Reader>) -> Piece {
        let place = match piece.location {
            gimli::Location::Empty => Place::OptimizedOut,
            gimli::Location::Register { register } => Place::Register(register.0),
            gimli::Location::Address { address } => Place::Address(address),
            gimli::Location::Value { value } => Place::Value(raw_bits(value)),
            gimli::Location::Bytes { value } => Place::Bytes(value.bytes().to_vec()),
            gimli::Location::ImplicitPointer { value, byte_offset } => {
                match self.info.at_debug_info_offset(value) {
                    Some(die) => Place::ImplicitPointer {
                        target: Location::of_die(self.info, die, self.function),
                        offset: byte_offset,
                    },
                    None => Place::OptimizedOut,
                }
            }
        };
        Piece { size_bits: piece.size_in_bits, offset_bits: piece.bit_offset.unwrap_or(0), place }
    }
}

/// The expression of a function's frame base at a file address.
pub(crate) fn frame_base_at(info: &Arc<DebugInfo>, function: DieRef, pc: u64) -> Option<Expression<Reader>> {
    let source = info.inherited(function, |_, _, entry| match entry.attr_value(gimli::DW_AT_frame_base)? {
        AttributeValue::Exprloc(expression) => Some(LocationSource::Everywhere(expression)),
        AttributeValue::Block(block) => Some(LocationSource::Everywhere(Expression(block))),
        list => Some(LocationSource::List(list)),
    })?;
    let location = Location { info: info.clone(), unit: function.unit, function: None, source };
    location.expression_at(pc)
}

pub(crate) fn evaluation_encoding(info: &DebugInfo, unit: u32) -> gimli::Encoding {
    info.unit(unit).map_or(
        gimli::Encoding { address_size: 8, format: gimli::Format::Dwarf32, version: 5 },
        |unit| unit.unit.encoding(),
    )
}

/// The register that an expression is, when it is one.
pub(crate) fn single_register(expression: &Expression<Reader>, encoding: gimli::Encoding) -> Option<u16> {
    let mut operations = expression.clone().operations(encoding);
    match (operations.next().ok()??, operations.next().ok()?) {
        (gimli::Operation::Register { register }, None) => Some(register.0),
        // Written by some compilers for the value of the register.
        (gimli::Operation::RegisterOffset { register, offset: 0, .. }, None) => Some(register.0),
        _ => None,
    }
}

fn raw_bits(value: gimli::Value) -> u64 {
    match value {
        gimli::Value::Generic(number) | gimli::Value::U64(number) => number,
        gimli::Value::I8(number) => number as u64,
        gimli::Value::U8(number) => u64::from(number),
        gimli::Value::I16(number) => number as u64,
        gimli::Value::U16(number) => u64::from(number),
        gimli::Value::I32(number) => number as u64,
        gimli::Value::U32(number) => u64::from(number),
        gimli::Value::I64(number) => number as u64,
        gimli::Value::F32(number) => u64::from(number.to_bits()),
        gimli::Value::F64(number) => number.to_bits(),
    }
}

fn damaged(error: gimli::Error) -> LocationError {
    LocationError::Unusable(error.to_string())
}

fn unusable(why: &str) -> LocationError {
    LocationError::Unusable(why.to_owned())
}
