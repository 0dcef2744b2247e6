//! One application of CFI rules: the caller's registers from a frame's.

use super::{Registers, UnwindError, UnwindMethod, Unwound, read_word};
use crate::dwarf::Reader;
use crate::location::Memory;
use gimli::{BaseAddresses, CfaRule, EvaluationResult, RegisterRule, UnwindSection};
use juror_arch::abi;
use juror_arch::dwarf::{INSTRUCTION_POINTER, STACK_POINTER, UNWOUND_COUNT};

/// The maximum number of requests by a rule's expression.
const EVALUATION_STEPS_MAX: u32 = 1000;

type Rules = gimli::UnwindTableRow<usize>;

/// One application of the rules for an address.
pub(super) struct Step<'a, S> {
    pub pc: u64,
    pub registers: &'a Registers,
    pub memory: &'a dyn Memory,
    pub section: &'a S,
    pub bases: &'a BaseAddresses,
}

impl<S: UnwindSection<Reader>> Step<'_, S> {
    pub fn by_entry(&self, offset: S::Offset) -> Result<Unwound, UnwindError> {
        let entry = self
            .section
            .fde_from_offset(self.bases, offset, |section, bases, at| {
                section.cie_from_offset(bases, at)
            })
            .map_err(|error| self.damaged(error))?;
        let mut context = gimli::UnwindContext::new();
        let rules = entry
            .unwind_info_for_address(self.section, self.bases, &mut context, self.pc)
            .map_err(|error| self.damaged(error))?;
        let return_register = entry.cie().return_address_register();
        let encoding = entry.cie().encoding();
        self.apply(
            rules,
            return_register,
            entry.is_signal_trampoline(),
            encoding,
        )
    }

    fn apply(
        &self,
        rules: &Rules,
        return_register: gimli::Register,
        signal_frame: bool,
        encoding: gimli::Encoding,
    ) -> Result<Unwound, UnwindError> {
        // The outermost frame marks its return address as undefined.
        if let Some(RegisterRule::Undefined) = rules.register(return_register) {
            return Err(UnwindError::Outermost);
        }
        let cfa = match rules.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                self.register(register.0)?.wrapping_add_signed(*offset)
            }
            CfaRule::Expression(expression) => {
                let expression = expression
                    .get(self.section)
                    .map_err(|error| self.damaged(error))?;
                self.evaluate(expression, encoding, None)?
            }
        };
        let (mut caller, mut saved) = (Registers::default(), Registers::default());
        for number in 0..UNWOUND_COUNT as u16 {
            let saved_at = self.saved_at(rules, number, cfa, encoding)?;
            saved.set(number, saved_at);
            let value = match saved_at {
                Some(address) => Some(read_word(self.memory, address)?),
                None => self.recover(rules, number, cfa, encoding)?,
            };
            caller.set(number, value);
        }
        if rules.register(gimli::Register(STACK_POINTER)).is_none() {
            caller.set(STACK_POINTER, Some(cfa));
        }
        if return_register.0 != INSTRUCTION_POINTER {
            caller.set(INSTRUCTION_POINTER, caller.get(return_register.0));
            saved.set(INSTRUCTION_POINTER, saved.get(return_register.0));
        }
        match caller.get(INSTRUCTION_POINTER) {
            None => Err(UnwindError::Outermost),
            // A signal may have interrupted a thread at address zero, a call of a null pointer.
            Some(0) if !signal_frame => Err(UnwindError::Outermost),
            Some(_) => Ok(Unwound {
                registers: caller,
                saved,
                cfa,
                signal_frame,
                method: UnwindMethod::Rules,
            }),
        }
    }

    /// Returns the address at which the frame saved a register of the caller, if in memory.
    fn saved_at(
        &self,
        rules: &Rules,
        number: u16,
        cfa: u64,
        encoding: gimli::Encoding,
    ) -> Result<Option<u64>, UnwindError> {
        match rules.register(gimli::Register(number)) {
            Some(RegisterRule::Offset(offset)) => Ok(Some(cfa.wrapping_add_signed(offset))),
            Some(RegisterRule::Expression(expression)) => {
                let expression = expression
                    .get(self.section)
                    .map_err(|error| self.damaged(error))?;
                self.evaluate(expression, encoding, Some(cfa)).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Returns a register of the caller that is not in memory.
    fn recover(
        &self,
        rules: &Rules,
        number: u16,
        cfa: u64,
        encoding: gimli::Encoding,
    ) -> Result<Option<u64>, UnwindError> {
        let Some(rule) = rules.register(gimli::Register(number)) else {
            // A function may have overwritten a register that it need not save.
            return Ok(if abi::is_callee_saved(number) {
                self.registers.get(number)
            } else {
                None
            });
        };
        let value = match rule {
            RegisterRule::Undefined
            | RegisterRule::Architectural
            | RegisterRule::Offset(_)
            | RegisterRule::Expression(_) => None,
            RegisterRule::SameValue => self.registers.get(number),
            RegisterRule::ValOffset(offset) => Some(cfa.wrapping_add_signed(offset)),
            RegisterRule::Register(other) => self.registers.get(other.0),
            RegisterRule::ValExpression(expression) => {
                let expression = expression
                    .get(self.section)
                    .map_err(|error| self.damaged(error))?;
                Some(self.evaluate(expression, encoding, Some(cfa))?)
            }
            RegisterRule::Constant(value) => Some(value),
        };
        Ok(value)
    }

    fn evaluate(
        &self,
        expression: gimli::Expression<Reader>,
        encoding: gimli::Encoding,
        initial: Option<u64>,
    ) -> Result<u64, UnwindError> {
        let mut evaluation = expression.evaluation(encoding);
        evaluation.set_max_iterations(EVALUATION_STEPS_MAX);
        if let Some(initial) = initial {
            evaluation.set_initial_value(initial);
        }
        let mut result = evaluation.evaluate().map_err(|error| self.damaged(error))?;
        for _ in 0..EVALUATION_STEPS_MAX {
            result = match result {
                EvaluationResult::Complete => {
                    let pieces = evaluation.as_result();
                    return match pieces.first().map(|piece| &piece.location) {
                        Some(gimli::Location::Address { address }) => Ok(*address),
                        Some(gimli::Location::Value { value }) => {
                            value.to_u64(u64::MAX).map_err(|error| self.damaged(error))
                        }
                        Some(gimli::Location::Register { register }) => self.register(register.0),
                        _ => Err(self.unusable("a rule without a result")),
                    };
                }
                EvaluationResult::RequiresMemory { address, size, .. } => {
                    let mut bytes = [0; 8];
                    let wanted = bytes
                        .get_mut(..usize::from(size))
                        .ok_or_else(|| self.unusable("a rule's size"))?;
                    if !self.memory.read(address, wanted) {
                        return Err(UnwindError::Unreadable { address });
                    }
                    evaluation.resume_with_memory(gimli::Value::Generic(u64::from_le_bytes(bytes)))
                }
                EvaluationResult::RequiresRegister { register, .. } => evaluation
                    .resume_with_register(gimli::Value::Generic(self.register(register.0)?)),
                _ => return Err(self.unusable("a rule with an unsupported operation")),
            }
            .map_err(|error| self.damaged(error))?;
        }
        Err(self.unusable("a rule that does not terminate"))
    }

    fn register(&self, number: u16) -> Result<u64, UnwindError> {
        self.registers
            .get(number)
            .ok_or(UnwindError::RegisterUnknown { register: number })
    }

    fn damaged(&self, error: gimli::Error) -> UnwindError {
        UnwindError::Damaged {
            pc: self.pc,
            why: error.to_string(),
        }
    }

    fn unusable(&self, why: &str) -> UnwindError {
        UnwindError::Damaged {
            pc: self.pc,
            why: why.to_owned(),
        }
    }
}

/// Returns the canonical frame address of an entry as register number and offset.
pub(super) fn frame_address<S: UnwindSection<Reader>>(
    section: &S,
    bases: &BaseAddresses,
    offset: S::Offset,
    pc: u64,
) -> Option<(u16, i64)> {
    let entry = section
        .fde_from_offset(bases, offset, |section, bases, at| {
            section.cie_from_offset(bases, at)
        })
        .ok()?;
    let mut context = gimli::UnwindContext::new();
    let rules = entry.unwind_info_for_address(section, bases, &mut context, pc);
    match rules.ok()?.cfa() {
        CfaRule::RegisterAndOffset { register, offset } => Some((register.0, *offset)),
        CfaRule::Expression(_) => None,
    }
}
