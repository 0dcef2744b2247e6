//! Evaluation of a location expression, request by request.

use super::{
    DroppedParameter, EvaluationContext, Location, LocationError, LocationSource, Piece,
    ValueLocation, evaluation_encoding, frame_base_at, single_register, whole,
};
use crate::dwarf::{DebugInfo, DieRef, Reader};
use gimli::{AttributeValue, EvaluationResult, Expression, UnitOffset};
use std::sync::Arc;

/// The maximum number of operations and requests of one evaluation.
const EVALUATION_STEPS_MAX: u32 = 10_000;

pub(super) struct Evaluator<'a> {
    pub info: &'a Arc<DebugInfo>,
    pub unit: u32,
    pub function: Option<DieRef>,
    pub pc: u64,
    pub context: &'a dyn EvaluationContext,
    pub depth: u8,
}

impl Evaluator<'_> {
    /// Returns the pieces of a value. `object` is the address of the object that the expression is
    /// about, and its initial stack.
    pub fn pieces(
        &self,
        expression: Expression<Reader>,
        object: Option<u64>,
    ) -> Result<Vec<Piece>, LocationError> {
        let unit = self
            .info
            .unit(self.unit)
            .ok_or_else(|| unusable("a reference to a missing unit"))?;
        if expression.0.bytes().is_empty() {
            return Ok(whole(ValueLocation::OptimizedOut));
        }
        let mut evaluation = expression.evaluation(unit.unit.encoding());
        evaluation.set_max_iterations(EVALUATION_STEPS_MAX);
        if let Some(object) = object {
            evaluation.set_initial_value(object);
            evaluation.set_object_address(object);
        }
        let mut result = evaluation.evaluate().map_err(damaged)?;
        for _ in 0..EVALUATION_STEPS_MAX {
            if result == EvaluationResult::Complete {
                return Ok(evaluation
                    .result()
                    .into_iter()
                    .map(|piece| self.piece(piece))
                    .collect());
            }
            result = self.answer(&mut evaluation, result)?;
        }
        Err(unusable("an expression that does not terminate"))
    }

    /// Answers a request of the evaluation.
    fn answer(
        &self,
        evaluation: &mut gimli::Evaluation<Reader>,
        request: EvaluationResult<Reader>,
    ) -> Result<EvaluationResult<Reader>, LocationError> {
        let next = match request {
            EvaluationResult::RequiresMemory {
                address,
                size,
                base_type,
                ..
            } => {
                let mut bytes = [0; 8];
                let wanted = bytes
                    .get_mut(..usize::from(size))
                    .ok_or_else(|| unusable("an operation with an invalid size"))?;
                if !self.context.read(address, wanted) {
                    return Err(LocationError::Unreadable { address });
                }
                evaluation.resume_with_memory(self.typed(u64::from_le_bytes(bytes), base_type)?)
            }
            EvaluationResult::RequiresRegister {
                register,
                base_type,
            } => {
                let value = self.register(register.0)?;
                evaluation.resume_with_register(self.typed(value, base_type)?)
            }
            EvaluationResult::RequiresFrameBase => {
                evaluation.resume_with_frame_base(self.frame_base()?)
            }
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
                    gimli::DieReference::UnitRef(offset) => Some(DieRef {
                        unit: self.unit,
                        offset: offset.0,
                    }),
                    gimli::DieReference::DebugInfoRef(offset) => {
                        self.info.at_debug_info_offset(self.unit, offset)
                    }
                };
                let called = die.map(|die| Location::of_die(self.info, die, self.function));
                let bytes = match called.map(|called| called.source) {
                    Some(LocationSource::Everywhere(expression)) => expression.0,
                    _ => Reader::new(Arc::from([]), gimli::LittleEndian),
                };
                evaluation.resume_with_at_location(bytes)
            }
            EvaluationResult::RequiresEntryValue(expression) => {
                let register =
                    single_register(&expression, evaluation_encoding(self.info, self.unit));
                let value = register.and_then(|register| self.context.entry_value(register));
                let value = value.ok_or(LocationError::EntryValueLost)?;
                evaluation.resume_with_entry_value(gimli::Value::Generic(value))
            }
            EvaluationResult::RequiresParameterRef(offset) => {
                let parameter = DroppedParameter(DieRef {
                    unit: self.unit,
                    offset: offset.0,
                });
                let value = self.context.dropped_parameter(parameter);
                evaluation.resume_with_parameter_ref(value.ok_or(LocationError::EntryValueLost)?)
            }
            EvaluationResult::RequiresRelocatedAddress(address) => evaluation
                .resume_with_relocated_address(address.wrapping_add(self.context.load_bias())),
            EvaluationResult::RequiresIndexedAddress { index, relocate } => {
                let unit = self
                    .info
                    .unit(self.unit)
                    .ok_or_else(|| unusable("a reference to a missing unit"))?;
                let source = self
                    .info
                    .source(self.unit)
                    .ok_or_else(|| unusable("a reference to a missing unit"))?;
                let address = source.dwarf().address(&unit.unit, index).map_err(damaged)?;
                let bias = if relocate {
                    self.context.load_bias()
                } else {
                    0
                };
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
                return Err(unusable("an operation for another machine"));
            }
        };
        next.map_err(damaged)
    }

    fn register(&self, number: u16) -> Result<u64, LocationError> {
        self.context
            .register(number)
            .ok_or(LocationError::RegisterUnknown { register: number })
    }

    fn frame_base(&self) -> Result<u64, LocationError> {
        if self.depth > 0 {
            return Err(unusable("a frame base that refers to itself"));
        }
        let function = self.function.ok_or(LocationError::FrameUnknown)?;
        let expression =
            frame_base_at(self.info, function, self.pc).ok_or(LocationError::FrameUnknown)?;
        let inner = Evaluator {
            info: self.info,
            unit: function.unit,
            function: None,
            pc: self.pc,
            context: self.context,
            depth: self.depth + 1,
        };
        let pieces = inner.pieces(expression, None)?;
        match pieces.first().map(|piece| &piece.location) {
            Some(ValueLocation::Register(register)) => self.register(*register),
            Some(ValueLocation::Address(address)) => Ok(*address),
            Some(ValueLocation::Value(value)) => Ok(*value),
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
            .die(DieRef {
                unit: self.unit,
                offset: offset.0,
            })
            .and_then(|entry| {
                let size = entry.attr_value(gimli::DW_AT_byte_size)?.udata_value()?;
                match entry.attr_value(gimli::DW_AT_encoding)? {
                    AttributeValue::Encoding(encoding) => {
                        gimli::ValueType::from_encoding(encoding, size)
                    }
                    _ => None,
                }
            })
            .ok_or_else(|| unusable("an operation on a type that is not a number"))
    }

    fn piece(&self, piece: gimli::Piece<Reader>) -> Piece {
        let location = match piece.location {
            gimli::Location::Empty => ValueLocation::OptimizedOut,
            gimli::Location::Register { register } => ValueLocation::Register(register.0),
            gimli::Location::Address { address } => ValueLocation::Address(address),
            gimli::Location::Value { value } => ValueLocation::Value(raw_bits(value)),
            gimli::Location::Bytes { value } => ValueLocation::Bytes(value.bytes().to_vec()),
            gimli::Location::ImplicitPointer { value, byte_offset } => {
                match self.info.at_debug_info_offset(self.unit, value) {
                    Some(die) => ValueLocation::ImplicitPointer {
                        target: Location::of_die(self.info, die, self.function),
                        offset: byte_offset,
                    },
                    None => ValueLocation::OptimizedOut,
                }
            }
        };
        Piece {
            size_bits: piece.size_in_bits,
            offset_bits: piece.bit_offset.unwrap_or(0),
            location,
        }
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
