//! DWARF location descriptions and their evaluation (DWARF 5, sections 2.5 and 2.6).
//!
//! An [`EvaluationContext`] provides registers and memory, one request at a time. The
//! number of steps is bounded.

mod evaluate;
mod fixed;
mod uninitialized;
mod view;

use crate::dwarf::{DebugInfo, DieRef, Reader, Value};
use crate::types::VtableOwner;
use evaluate::Evaluator;
pub use fixed::FixedLocation;
use gimli::{AttributeValue, Expression, Operation};
use juror_arch::dwarf;
use std::fmt;
use std::sync::Arc;
use thiserror::Error;
pub(crate) use view::Uses;

/// The debuggee's memory, by run-time addresses.
pub trait Memory {
    /// Fills the buffer; returns false if any byte is unreadable.
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool;

    /// Returns the C++ class whose vtable contains an address, including construction
    /// vtables; `None` if there is none or the implementor knows no vtables.
    fn vtable_owner(&self, address: u64) -> Option<VtableOwner> {
        let _ = address;
        None
    }
}

/// The frame that a location is evaluated in.
pub trait EvaluationContext: Memory {
    /// Returns a register's value in this frame by its DWARF number; the low eight bytes of
    /// a vector register. `None` if unknown.
    fn register(&self, number: u16) -> Option<u64>;
    /// Returns the frame's canonical frame address: the stack pointer before the call
    /// pushed the return address.
    fn cfa(&self) -> Option<u64>;
    /// Returns the difference between run-time and file addresses.
    fn load_bias(&self) -> u64;
    /// Returns the run-time address of a thread-local variable by its offset in the
    /// module's TLS block.
    fn tls_address(&self, _offset: u64) -> Option<u64> {
        None
    }
    /// Returns the value that a register had at the function's entry.
    fn entry_value(&self, _register: u16) -> Option<u64> {
        None
    }
    /// Returns the value at the function's entry of a parameter that the compiler removed.
    fn dropped_parameter(&self, _parameter: DroppedParameter) -> Option<u64> {
        None
    }
}

/// A parameter that the compiler removed from a function; callers may still know its value
/// (`DW_OP_GNU_parameter_ref`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DroppedParameter(pub(crate) DieRef);

/// The reason why a value cannot be found.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LocationError {
    /// A register is unknown in this frame.
    #[error("the value of {} is not known in this frame", dwarf::name(*register))]
    RegisterUnknown {
        /// The DWARF number.
        register: u16,
    },
    /// Memory that the location refers to is unreadable.
    #[error("memory at {address:#x} cannot be read")]
    Unreadable {
        /// The run-time address.
        address: u64,
    },
    /// The value was in a register at the function's entry and is lost.
    #[error("optimized out: only its value at the entry of the function was kept")]
    EntryValueLost,
    /// The frame was not unwound.
    #[error("the address of the frame on the stack is not known")]
    FrameUnknown,
    /// The module's thread-local storage cannot be found.
    #[error("the thread has no copy of it: it is allocated when the thread first uses it")]
    ThreadLocalUnknown,
    /// Several variables have the name.
    #[error("the compiler does not say which block has it, and the name means another one, too")]
    Undecided,
    /// The location is damaged or unsupported.
    #[error("its location in the debug information cannot be used: {0}")]
    Unusable(String),
}

/// A part of a value and its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The size of the part in bits; `None` for the whole value.
    pub size_bits: Option<u64>,
    /// The offset in the location, in bits.
    pub offset_bits: u64,
    /// The location.
    pub location: ValueLocation,
}

/// The evaluated location of a part of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueLocation {
    /// In the register with this DWARF number.
    Register(u16),
    /// In memory, at this run-time address.
    Address(u64),
    /// A constant without a location.
    Value(u64),
    /// Constant bytes without a location.
    Bytes(Vec<u8>),
    /// A pointer to an object that has no location itself.
    ImplicitPointer {
        /// The location of the object pointed to.
        target: Location,
        /// The offset in bytes from the object's start.
        offset: i64,
    },
    /// No location: the compiler kept no copy.
    OptimizedOut,
}

/// The DWARF location description of a variable or parameter, for every address of its
/// scope.
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
    /// One expression for the whole scope.
    Everywhere(Expression<Reader>),
    /// A location list, and the offset of its view pairs (`DW_AT_GNU_locviews`).
    List(Value, Option<Value>),
    Constant(Vec<u8>),
    Nowhere,
    /// That of one of several variables, of which none is chosen.
    Undecided,
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.source {
            LocationSource::Everywhere(_) => "everywhere",
            LocationSource::List(..) => "list",
            LocationSource::Constant(_) => "constant",
            LocationSource::Nowhere => "nowhere",
            LocationSource::Undecided => "undecided",
        };
        write!(f, "Location({kind})")
    }
}

impl PartialEq for Location {
    fn eq(&self, other: &Location) -> bool {
        Arc::ptr_eq(&self.info, &other.info)
            && self.unit == other.unit
            && self.source == other.source
    }
}

impl Eq for Location {}

impl Location {
    /// Returns the location described by an expression in a DIE of a function.
    pub(crate) fn of_expression(
        info: &Arc<DebugInfo>,
        function: DieRef,
        expression: Expression<Reader>,
    ) -> Location {
        Location {
            info: info.clone(),
            unit: function.unit,
            function: Some(function),
            source: LocationSource::Everywhere(expression),
        }
    }

    /// Returns the location of a constant.
    pub(crate) fn of_bytes(info: &Arc<DebugInfo>, unit: u32, bytes: Vec<u8>) -> Location {
        Location {
            info: info.clone(),
            unit,
            function: None,
            source: LocationSource::Constant(bytes),
        }
    }

    /// Returns the location of a DIE, or of the DIE it completes.
    pub(crate) fn of_die(info: &Arc<DebugInfo>, die: DieRef, function: Option<DieRef>) -> Location {
        let source = info
            .inherited(die, |_, _, entry| {
                let location = match entry.attr_value(gimli::DW_AT_location) {
                    Some(AttributeValue::Exprloc(expression)) => {
                        LocationSource::Everywhere(expression)
                    }
                    Some(AttributeValue::Block(block)) => {
                        LocationSource::Everywhere(Expression(block))
                    }
                    Some(list) => {
                        let views = entry.attr_value(gimli::DW_AT_GNU_locviews);
                        LocationSource::List(list, views)
                    }
                    None => LocationSource::Constant(constant(
                        &entry.attr_value(gimli::DW_AT_const_value)?,
                    )?),
                };
                Some(location)
            })
            .unwrap_or(LocationSource::Nowhere);
        let mut location = Location {
            info: info.clone(),
            unit: die.unit,
            function,
            source,
        };
        if location.is_removed() {
            location.source = LocationSource::Nowhere;
        }
        location
    }

    /// Returns whether the linker removed the variable (`--gc-sections`): its address is
    /// outside of the file.
    fn is_removed(&self) -> bool {
        let LocationSource::Everywhere(expression) = &self.source else {
            return false;
        };
        let address = match self.first_operation(expression.clone()) {
            Some(Operation::Address { address }) => Some(address),
            Some(Operation::AddressIndex { index }) => self.indexed_address(index),
            _ => None,
        };
        address.is_some_and(|address| !self.info.is_data(address))
    }

    /// Returns the expression that applies at a file address.
    pub(crate) fn expression_at(&self, pc: u64) -> Option<Expression<Reader>> {
        let expression = self.written_at(pc)?;
        let encoding = evaluation_encoding(&self.info, self.unit);
        Some(uninitialized::without_marks(expression, encoding))
    }

    fn written_at(&self, pc: u64) -> Option<Expression<Reader>> {
        match &self.source {
            LocationSource::Everywhere(expression) => Some(expression.clone()),
            LocationSource::List(value, _) => {
                let unit = &self.info.unit(self.unit)?.unit;
                let mut list = self
                    .info
                    .source(self.unit)?
                    .locations(unit, value.clone())?;
                while let Ok(Some(entry)) = list.next() {
                    if (entry.range.begin..entry.range.end).contains(&pc) {
                        return Some(entry.data);
                    }
                }
                None
            }
            LocationSource::Constant(_) | LocationSource::Nowhere | LocationSource::Undecided => {
                None
            }
        }
    }

    /// Returns whether the value has no location anywhere.
    pub fn is_nowhere(&self) -> bool {
        matches!(self.source, LocationSource::Nowhere)
    }

    /// Returns whether the location is described at an address.
    pub(crate) fn is_described_at(&self, pc: u64) -> bool {
        matches!(self.source, LocationSource::Constant(_)) || self.written_at(pc).is_some()
    }

    /// Returns whether the location depends on the address (a location list).
    pub fn moves(&self) -> bool {
        matches!(self.source, LocationSource::List(..))
    }

    /// Returns whether the value is in a register somewhere.
    pub(crate) fn names_register(&self) -> bool {
        let encoding = evaluation_encoding(&self.info, self.unit);
        let is_register = |expression: Expression<Reader>| {
            let first = expression.operations(encoding).next();
            matches!(first, Ok(Some(Operation::Register { .. })))
        };
        match &self.source {
            LocationSource::Everywhere(expression) => is_register(expression.clone()),
            LocationSource::List(value, _) => {
                let unit = self.info.unit(self.unit);
                let source = self.info.source(self.unit);
                let list = unit
                    .zip(source)
                    .and_then(|(unit, source)| source.locations(&unit.unit, value.clone()));
                let Some(mut list) = list else {
                    return false;
                };
                while let Ok(Some(entry)) = list.next() {
                    if is_register(entry.data) {
                        return true;
                    }
                }
                false
            }
            LocationSource::Constant(_) | LocationSource::Nowhere | LocationSource::Undecided => {
                false
            }
        }
    }

    /// Evaluates the location at the file address `pc`; returns the pieces from the first
    /// byte on. For a caller's frame, `pc` is the return address minus one.
    ///
    /// # Errors
    /// Something the location needs is unknown in this frame.
    pub fn evaluate(
        &self,
        pc: u64,
        context: &dyn EvaluationContext,
    ) -> Result<Vec<Piece>, LocationError> {
        if let LocationSource::Constant(bytes) = &self.source {
            return Ok(whole(ValueLocation::Bytes(bytes.clone())));
        }
        if matches!(self.source, LocationSource::Undecided) {
            return Err(LocationError::Undecided);
        }
        match self.expression_at(pc) {
            Some(expression) => self.evaluator(pc, context).pieces(expression, None),
            None => Ok(whole(ValueLocation::OptimizedOut)),
        }
    }

    /// Evaluates the location of a part of an object from the object's address.
    ///
    /// # Errors
    /// Memory is unreadable, or the result is not an address.
    pub(crate) fn address_from(
        &self,
        object: u64,
        memory: &dyn Memory,
    ) -> Result<u64, LocationError> {
        let unusable = |why: &str| LocationError::Unusable(why.to_owned());
        let expression = self
            .expression_at(0)
            .ok_or_else(|| unusable("it is none"))?;
        let context = ObjectContext(memory);
        let pieces = self
            .evaluator(0, &context)
            .pieces(expression, Some(object))?;
        match pieces.as_slice() {
            [
                Piece {
                    location: ValueLocation::Address(address),
                    ..
                },
            ] => Ok(*address),
            _ => Err(unusable("an expression whose result is not an address")),
        }
    }

    /// Evaluates an expression of the type of an object, at the object's address in a frame.
    /// Returns the number, which may be an address; `None` if something is not known.
    pub(crate) fn number_from(
        &self,
        object: Option<u64>,
        pc: u64,
        context: &dyn EvaluationContext,
    ) -> Option<u64> {
        let expression = self.expression_at(pc)?;
        let pieces = self
            .evaluator(pc, context)
            .pieces(expression, object)
            .ok()?;
        match pieces.as_slice() {
            [piece] => match piece.location {
                ValueLocation::Address(number) | ValueLocation::Value(number) => Some(number),
                _ => None,
            },
            _ => None,
        }
    }

    fn evaluator<'a>(&'a self, pc: u64, context: &'a dyn EvaluationContext) -> Evaluator<'a> {
        Evaluator {
            info: &self.info,
            unit: self.unit,
            function: self.function,
            pc,
            context,
            depth: 0,
        }
    }
}

/// The context of an expression over an object, which may only read memory.
struct ObjectContext<'a>(&'a dyn Memory);

impl Memory for ObjectContext<'_> {
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        self.0.read(address, buffer)
    }
}

impl EvaluationContext for ObjectContext<'_> {
    fn register(&self, _: u16) -> Option<u64> {
        None
    }

    fn cfa(&self) -> Option<u64> {
        None
    }

    fn load_bias(&self) -> u64 {
        0
    }
}

fn whole(location: ValueLocation) -> Vec<Piece> {
    vec![Piece {
        size_bits: None,
        offset_bits: 0,
        location,
    }]
}

fn constant(value: &Value) -> Option<Vec<u8>> {
    match value {
        AttributeValue::Block(block) => Some(block.bytes().to_vec()),
        AttributeValue::String(text) => Some(text.bytes().to_vec()),
        AttributeValue::Sdata(number) => Some(number.to_le_bytes().to_vec()),
        AttributeValue::Data16(number) => Some(number.to_le_bytes().to_vec()),
        // A constant of fixed size is unsigned: 200 in one byte is 200 for an `int`, and
        // for a type of its own size the bytes are the same either way.
        _ => {
            let number = value.udata_value()?;
            Some(number.to_le_bytes().to_vec())
        }
    }
}

/// Returns the frame base expression of a function at a file address.
pub(crate) fn frame_base_at(
    info: &Arc<DebugInfo>,
    function: DieRef,
    pc: u64,
) -> Option<Expression<Reader>> {
    let source = info.inherited(function, |_, _, entry| {
        match entry.attr_value(gimli::DW_AT_frame_base)? {
            AttributeValue::Exprloc(expression) => Some(LocationSource::Everywhere(expression)),
            AttributeValue::Block(block) => Some(LocationSource::Everywhere(Expression(block))),
            list => Some(LocationSource::List(list, None)),
        }
    })?;
    let location = Location {
        info: info.clone(),
        unit: function.unit,
        function: None,
        source,
    };
    location.expression_at(pc)
}

pub(crate) fn evaluation_encoding(info: &DebugInfo, unit: u32) -> gimli::Encoding {
    info.unit(unit).map_or(
        gimli::Encoding {
            address_size: 8,
            format: gimli::Format::Dwarf32,
            version: 5,
        },
        |unit| unit.unit.encoding(),
    )
}

/// Returns the register if the expression is a single register.
pub(crate) fn single_register(
    expression: &Expression<Reader>,
    encoding: gimli::Encoding,
) -> Option<u16> {
    let mut operations = expression.clone().operations(encoding);
    match (operations.next().ok()??, operations.next().ok()?) {
        (gimli::Operation::Register { register }, None) => Some(register.0),
        // Some compilers write this for the value of the register.
        (
            gimli::Operation::RegisterOffset {
                register,
                offset: 0,
                ..
            },
            None,
        ) => Some(register.0),
        _ => None,
    }
}
