//! Computes the registers with which a thread restarts a call on its stack.
//!
//! The first instruction of the function expects the stack pointer at the return address, the
//! callee-saved registers of the caller, and the arguments by the calling convention. An argument
//! on the stack is still in the caller's frame. An argument in a register is restored to the value
//! at entry if the frame keeps it or the caller determines it; otherwise it is the parameter's
//! present value, which the function may have changed.
//!
//! **Invariant**: a call with an unknown argument cannot be restarted.

use crate::calls::is_signed;
use crate::program::Program;
use crate::stack::frames::Frame;
use crate::variables::FrameContext;
use juror_arch::dwarf;
use juror_symbols::{
    EntryPiece, EntryPieceLocation, EntryUnavailable, EntryValue, EvaluationContext, Function,
    Signature, Type,
};
use juror_values::typed::{Location, Typed};

/// The registers of a thread at the first instruction of a restarted call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reentry {
    /// The first instruction.
    pub pc: u64,
    /// The stack pointer: the address of the return address.
    pub stack: u64,
    /// General-purpose registers with arguments, by their DWARF numbers.
    pub words: Vec<(u16, u64)>,
    /// Vector registers with arguments, 0 for `xmm0`.
    pub vectors: Vec<(usize, [u8; 16])>,
    /// The arguments whose values at entry are lost, and that get the present values of their
    /// parameters: `n`, `argument 2`.
    pub present: Vec<String>,
}

/// The value of a register with an argument.
enum AtEntry {
    Word(u64),
    Vector([u8; 16]),
}

impl Program {
    /// Returns why the call of a frame can never be restarted, whatever its arguments are, or
    /// `None` if that depends on the arguments.
    pub fn reentry_obstacle(&self, frame: &Frame) -> Option<String> {
        if frame.called_by_juror.is_some() {
            return Some("this is the frame of a call that juror made".to_owned());
        }
        if frame.is_of_signal {
            return Some("the kernel made this frame for the handler of a signal".to_owned());
        }
        if frame.is_inlined() {
            return Some("the call is inlined: it has no frame to begin anew".to_owned());
        }
        if frame.is_tail_call() {
            return Some(
                "the function has ended in a jump: nothing of its frame is left".to_owned(),
            );
        }
        self.signature_of(frame).err()
    }

    /// Returns the function of a frame and its signature, or why its arguments are unknown.
    fn signature_of(&self, frame: &Frame) -> Result<(Function, Signature), String> {
        let bound = frame.module.as_ref().zip(frame.function.clone());
        let (module, function) = bound.ok_or("there are no symbols for this function")?;
        let name = &function.name;
        let signature = match module.symbols.signature(&function) {
            Err(_) => return Err(format!("the compiler changed how `{name}` is called")),
            Ok(None) => {
                return Err(format!(
                    "`{name}` has no debug information: its arguments are not known"
                ));
            }
            Ok(Some(signature)) => signature,
        };
        if signature.variadic {
            Err(format!(
                "`{name}` is variadic: not all of its arguments are known"
            ))
        } else {
            Ok((function, signature))
        }
    }

    /// Returns the registers with which the call of a frame is restarted.
    ///
    /// # Errors
    /// The call cannot be restarted; a sentence that names the unknown argument, if any.
    pub fn reentry(&self, frame: &Frame) -> Result<Reentry, String> {
        if let Some(why) = self.reentry_obstacle(frame) {
            return Err(why);
        }
        let (function, signature) = self.signature_of(frame)?;
        let module = frame.module.as_ref().ok_or("the module is not known")?;
        let cfa = frame.cfa.ok_or("the frame of this call is not known")?;
        let mut found = Reentry {
            pc: module.to_process(function.low_pc),
            stack: cfa.wrapping_sub(8),
            ..Reentry::default()
        };
        let types: Vec<Type> = signature.parameters.iter().map(|it| it.1.clone()).collect();
        let call = module
            .symbols
            .outgoing_call(&function, &types, &signature.result);
        if let Some(number) = call.result_pointer {
            let why =
                "the address for the result was in a register that is used for something else now";
            let address = self.word_at_entry(frame, number).ok_or(why)?;
            found.words.push((number, address));
        }
        for (at, plan) in module
            .symbols
            .entry_value_plans(&function)
            .iter()
            .enumerate()
        {
            let (name, words) = if plan.name.is_empty() {
                (
                    format!("argument {}", at + 1),
                    format!("argument {}", at + 1),
                )
            } else {
                (plan.name.to_string(), format!("argument `{}`", plan.name))
            };
            let is_kept = self.add_argument(frame, plan, &mut found);
            if !is_kept.map_err(|why| format!("{words} is not known any more: {why}"))? {
                found.present.push(name);
            }
        }
        Ok(found)
    }

    /// Adds an argument. Returns whether its value is certain to be that at entry.
    fn add_argument(
        &self,
        frame: &Frame,
        plan: &EntryValue,
        found: &mut Reentry,
    ) -> Result<bool, String> {
        let mut is_kept = true;
        for piece in &plan.location {
            let number = match &piece.location {
                EntryPieceLocation::Register(number)
                | EntryPieceLocation::PointedByRegister(number) => *number,
                // The argument is in the caller's frame, where the function may have changed it.
                EntryPieceLocation::Stack(_) | EntryPieceLocation::PointedByStack(_) => {
                    is_kept &= frame.is_at_entry();
                    continue;
                }
                EntryPieceLocation::Constant(_)
                | EntryPieceLocation::Unavailable(
                    EntryUnavailable::Removed | EntryUnavailable::Unused,
                ) => continue,
                EntryPieceLocation::RegisterPart { .. } => {
                    return Err("it is a part of a register".to_owned());
                }
                EntryPieceLocation::Unavailable(why) => return Err(why.to_string()),
            };
            let value = match self.register_at_entry(frame, number) {
                Some(value) => value,
                None => {
                    is_kept = false;
                    self.present_register(frame, plan, piece, number)?
                }
            };
            match value {
                AtEntry::Word(word) => found.words.push((number, word)),
                AtEntry::Vector(wide) => {
                    found
                        .vectors
                        .extend(dwarf::vector_index(number).map(|it| (it, wide)));
                }
            }
        }
        Ok(is_kept)
    }

    /// Returns a register's value at entry, if it is known.
    fn register_at_entry(&self, frame: &Frame, number: u16) -> Option<AtEntry> {
        if dwarf::is_unwound(number) {
            return self.word_at_entry(frame, number).map(AtEntry::Word);
        }
        let wide = self
            .is_in_prologue(frame)
            .then(|| self.wide_of(frame, number));
        wide.flatten().map(AtEntry::Vector)
    }

    /// Returns a register's value for the present value of the parameter.
    fn present_register(
        &self,
        frame: &Frame,
        plan: &EntryValue,
        piece: &EntryPiece,
        number: u16,
    ) -> Result<AtEntry, String> {
        if let EntryPieceLocation::PointedByRegister(_) = piece.location {
            return match self.present_value(frame, plan)?.location {
                Location::Memory(address) => Ok(AtEntry::Word(address)),
                _ => Err("its address is not known".to_owned()),
            };
        }
        let bytes = self.present_part(frame, plan, piece)?;
        if !dwarf::is_unwound(number) {
            let mut wide = [0; 16];
            wide.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
            return Ok(AtEntry::Vector(wide));
        }
        let is_negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
        // Some compilers expect a sign-extended or zero-extended argument.
        let fill = if is_negative && is_signed(&plan.r#type) {
            0xff
        } else {
            0
        };
        let mut word = [fill; 8];
        word.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
        Ok(AtEntry::Word(u64::from_le_bytes(word)))
    }

    /// Returns the value of a general-purpose register at the entry of a frame's function, if the
    /// frame keeps it or the caller determines it.
    fn word_at_entry(&self, frame: &Frame, number: u16) -> Option<u64> {
        if frame.is_at_entry() {
            return frame.registers.get(number);
        }
        let kept = self.kept_from_entry(frame, number);
        kept.or_else(|| {
            let context = FrameContext {
                program: self,
                frame,
                bias: frame.module.as_ref()?.bias,
                depth: 0,
            };
            context.entry_value(number)
        })
    }

    /// Returns whether a frame is still in the prologue of its function.
    fn is_in_prologue(&self, frame: &Frame) -> bool {
        let bound = frame.module.as_ref().zip(frame.function.as_ref());
        bound.is_some_and(|(module, function)| {
            let body = module.symbols.body_address(function);
            (function.low_pc..body.max(function.low_pc + 1)).contains(&module.to_file(frame.pc))
        })
    }

    /// Returns a part of a parameter's present value.
    fn present_part(
        &self,
        frame: &Frame,
        plan: &EntryValue,
        piece: &EntryPiece,
    ) -> Result<Vec<u8>, String> {
        let size = plan.r#type.size().ok_or("its size is not known")?;
        let value = self.present_value(frame, plan)?;
        let bytes = value.bytes(self, size).map_err(|error| error.to_string())?;
        let end = (piece.offset as usize + piece.size as usize).min(bytes.len());
        let part = bytes.get(piece.offset as usize..end);
        Ok(part.unwrap_or_default().to_vec())
    }

    fn present_value(&self, frame: &Frame, plan: &EntryValue) -> Result<Typed, String> {
        let mut all = self.variables(frame).into_iter();
        let found = all.find(|(variable, is_parameter)| {
            *is_parameter && !plan.name.is_empty() && variable.name == plan.name
        });
        let (variable, _) = found.ok_or("it has no name")?;
        Ok(self.value_of(frame, &variable))
    }
}
