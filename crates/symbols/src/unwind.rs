//! From a frame to its caller: call frame information (DWARF 5, section 6.4)
//! from `.eh_frame` and `.debug_frame`, all registers.
//!
//! Register values and memory addresses are run-time ones; only `pc` is a
//! file address, by which the rules are found.

use crate::SymbolFile;
use crate::dwarf::Reader;
use crate::elf::ElfFile;
use crate::location::Memory;
use crate::location::register::{RBP, RIP, RSP};
use gimli::{BaseAddresses, CfaRule, CieOrFde, EvaluationResult, RegisterRule, UnwindSection};
use std::ops::Range;
use thiserror::Error;

/// How many registers a frame has: 16 general ones and the program counter.
const REGISTER_COUNT: usize = 17;
/// The most requests that one rule's expression may make.
const EVALUATION_STEPS_MAX: u32 = 1000;

/// The registers of a frame, by their DWARF numbers (see [`crate::register`]);
/// those that could not be recovered are absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Registers {
    values: [Option<u64>; REGISTER_COUNT],
}

impl Registers {
    /// The value of a register; `None` for others than the 17 of a frame.
    pub fn get(&self, number: u16) -> Option<u64> {
        self.values.get(usize::from(number)).copied().flatten()
    }

    /// Sets or forgets a register; others than the 17 of a frame are ignored.
    pub fn set(&mut self, number: u16, value: Option<u64>) {
        if let Some(place) = self.values.get_mut(usize::from(number)) {
            *place = value;
        }
    }
}

/// How a caller was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnwindMethod {
    /// By the rules that the compiler wrote for this address.
    Rules,
    /// By the chain of frame pointers, without rules: a good guess.
    FramePointer,
    /// At the first instruction of a function without rules.
    Entry,
}

/// A caller's frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unwound {
    /// The caller's registers. Its program counter is the return address:
    /// look up the address before it, unless `signal_frame`.
    pub registers: Registers,
    /// The canonical frame address of the frame that was unwound.
    pub cfa: u64,
    /// The frame that was unwound is the one that the kernel made for a signal
    /// handler: the caller was interrupted, and its program counter is exact.
    pub signal_frame: bool,
    /// How sure this is.
    pub method: UnwindMethod,
}

/// Why a caller cannot be found.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum UnwindError {
    /// There is none: the rules mark the outermost frame.
    #[error("this is the outermost frame")]
    Outermost,
    /// The file has no rules for this address and no frame pointer helps.
    #[error("no unwind information for {pc:#x}")]
    NoRules {
        /// The file address.
        pc: u64,
    },
    /// A register that a rule needs is not known.
    #[error("the value of {} is not known", crate::register_name(*register))]
    RegisterUnknown {
        /// Its DWARF number.
        register: u16,
    },
    /// Stack memory cannot be read.
    #[error("the stack at {address:#x} cannot be read")]
    Unreadable {
        /// The run-time address.
        address: u64,
    },
    /// The rules are damaged.
    #[error("the unwind information for {pc:#x} is damaged: {why}")]
    Damaged {
        /// The file address.
        pc: u64,
        /// What is wrong.
        why: String,
    },
}

/// The rules of one file, found by address.
#[derive(Debug)]
pub(crate) struct FrameRules {
    eh_frame: gimli::EhFrame<Reader>,
    debug_frame: gimli::DebugFrame<Reader>,
    bases: BaseAddresses,
    /// The code of each entry, by ascending start.
    entries: Vec<(Range<u64>, EntryOffset)>,
}

#[derive(Debug, Clone, Copy)]
enum EntryOffset {
    EhFrame(usize),
    DebugFrame(usize),
}

type Rules = gimli::UnwindTableRow<usize>;

impl FrameRules {
    pub fn load(elf: &ElfFile, debug: Option<&ElfFile>) -> FrameRules {
        let address = |name: &str| elf.section(name).map_or(0, |section| section.address);
        let reader = |data| Reader::new(data, gimli::LittleEndian);
        let bases = BaseAddresses::default()
            .set_eh_frame(address(".eh_frame"))
            .set_text(address(".text"))
            .set_got(address(".got"));
        let mut debug_frame = elf.section_data(".debug_frame");
        if let (true, Some(debug)) = (debug_frame.is_empty(), debug) {
            debug_frame = debug.section_data(".debug_frame");
        }
        let mut rules = FrameRules {
            eh_frame: gimli::EhFrame::from(reader(elf.section_data(".eh_frame"))),
            debug_frame: gimli::DebugFrame::from(reader(debug_frame)),
            bases,
            entries: Vec::new(),
        };
        rules.eh_frame.set_address_size(8);
        rules.debug_frame.set_address_size(8);
        // The sort is stable and the last entry wins: `.eh_frame`, which
        // programs themselves rely on.
        let mut entries = list(&rules.debug_frame, &rules.bases, EntryOffset::DebugFrame);
        entries.extend(list(&rules.eh_frame, &rules.bases, EntryOffset::EhFrame));
        entries.retain(|(range, _)| elf.header.is_code(range.start));
        entries.sort_by_key(|(range, _)| range.start);
        rules.entries = entries;
        rules
    }

    fn entry_at(&self, pc: u64) -> Option<EntryOffset> {
        let end = self.entries.partition_point(|(range, _)| range.start <= pc);
        self.entries
            .get(..end)?
            .iter()
            .rev()
            .take(8)
            .find(|(range, _)| range.contains(&pc))
            .map(|(_, offset)| *offset)
    }
}

/// The code ranges of all entries of a section.
fn list<S: UnwindSection<Reader>>(
    section: &S,
    bases: &BaseAddresses,
    offset: fn(usize) -> EntryOffset,
) -> Vec<(Range<u64>, EntryOffset)> {
    let mut found = Vec::new();
    let mut entries = section.entries(bases);
    // The information that entries share is parsed once per run of them.
    let mut shared: Option<(S::Offset, gimli::CommonInformationEntry<Reader>)> = None;
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(partial) = entry else {
            continue;
        };
        let parsed = partial.parse(|section, bases, at| match &shared {
            Some((known, cie)) if *known == at => Ok(cie.clone()),
            _ => {
                let cie = section.cie_from_offset(bases, at)?;
                shared = Some((at, cie.clone()));
                Ok(cie)
            }
        });
        if let Ok(entry) = parsed
            && entry.initial_address() < entry.end_address()
        {
            found.push((
                entry.initial_address()..entry.end_address(),
                offset(entry.offset()),
            ));
        }
    }
    found
}

impl SymbolFile {
    /// Finds the caller of the frame that executes at the file address `pc`.
    ///
    /// For any frame but the innermost and interrupted ones, `pc` is the
    /// address before the return address.
    ///
    /// # Errors
    /// There is no caller, no rules for `pc`, or the stack cannot be read.
    pub fn unwind(
        &self,
        pc: u64,
        registers: &Registers,
        memory: &dyn Memory,
    ) -> Result<Unwound, UnwindError> {
        let rules = self.inner.frame_rules();
        match rules.entry_at(pc) {
            Some(EntryOffset::EhFrame(offset)) => {
                let step = Step {
                    pc,
                    registers,
                    memory,
                    section: &rules.eh_frame,
                    bases: &rules.bases,
                };
                step.by_entry(gimli::EhFrameOffset(offset))
            }
            Some(EntryOffset::DebugFrame(offset)) => {
                let step = Step {
                    pc,
                    registers,
                    memory,
                    section: &rules.debug_frame,
                    bases: &rules.bases,
                };
                step.by_entry(gimli::DebugFrameOffset(offset))
            }
            None => self.unwind_without_rules(pc, registers, memory),
        }
    }

    /// Whether the file has unwind rules for a file address.
    pub fn has_unwind_rules(&self, pc: u64) -> bool {
        self.inner.frame_rules().entry_at(pc).is_some()
    }

    fn unwind_without_rules(
        &self,
        pc: u64,
        registers: &Registers,
        memory: &dyn Memory,
    ) -> Result<Unwound, UnwindError> {
        let get = |register| {
            registers
                .get(register)
                .ok_or(UnwindError::RegisterUnknown { register })
        };
        let stack = get(RSP)?;
        if self.function_with_low_pc(pc).is_some() {
            let cfa = stack.wrapping_add(8);
            let mut caller = *registers;
            caller.set(RIP, Some(read_word(memory, stack)?));
            caller.set(RSP, Some(cfa));
            return Ok(Unwound {
                registers: caller,
                cfa,
                signal_frame: false,
                method: UnwindMethod::Entry,
            });
        }
        let frame = get(RBP)?;
        // A frame pointer leads up the stack, is aligned, and leads to a
        // return address.
        let usable = frame >= stack && frame % 8 == 0 && frame - stack < 1 << 24;
        if !usable {
            return Err(UnwindError::NoRules { pc });
        }
        let return_address = read_word(memory, frame.wrapping_add(8))?;
        if return_address == 0 {
            return Err(UnwindError::Outermost);
        }
        let cfa = frame.wrapping_add(16);
        let mut caller = Registers::default();
        caller.set(RIP, Some(return_address));
        caller.set(RSP, Some(cfa));
        caller.set(RBP, Some(read_word(memory, frame)?));
        Ok(Unwound {
            registers: caller,
            cfa,
            signal_frame: false,
            method: UnwindMethod::FramePointer,
        })
    }
}

/// One application of the rules for an address.
struct Step<'a, S> {
    pc: u64,
    registers: &'a Registers,
    memory: &'a dyn Memory,
    section: &'a S,
    bases: &'a BaseAddresses,
}

impl<S: UnwindSection<Reader>> Step<'_, S> {
    fn by_entry(&self, offset: S::Offset) -> Result<Unwound, UnwindError> {
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
        // The outermost frame says that its return address has no value.
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
        let mut caller = Registers::default();
        for number in 0..REGISTER_COUNT as u16 {
            caller.set(number, self.recover(rules, number, cfa, encoding)?);
        }
        if rules.register(gimli::Register(RSP)).is_none() {
            caller.set(RSP, Some(cfa));
        }
        if return_register.0 != RIP {
            caller.set(RIP, caller.get(return_register.0));
        }
        match caller.get(RIP) {
            None | Some(0) => Err(UnwindError::Outermost),
            Some(_) => Ok(Unwound {
                registers: caller,
                cfa,
                signal_frame,
                method: UnwindMethod::Rules,
            }),
        }
    }

    fn recover(
        &self,
        rules: &Rules,
        number: u16,
        cfa: u64,
        encoding: gimli::Encoding,
    ) -> Result<Option<u64>, UnwindError> {
        let Some(rule) = rules.register(gimli::Register(number)) else {
            // What a function need not save, it may have destroyed.
            return Ok(if is_saved_by_callee(number) {
                self.registers.get(number)
            } else {
                None
            });
        };
        let value = match rule {
            RegisterRule::Undefined | RegisterRule::Architectural => None,
            RegisterRule::SameValue => self.registers.get(number),
            RegisterRule::Offset(offset) => {
                Some(read_word(self.memory, cfa.wrapping_add_signed(offset))?)
            }
            RegisterRule::ValOffset(offset) => Some(cfa.wrapping_add_signed(offset)),
            RegisterRule::Register(other) => self.registers.get(other.0),
            RegisterRule::Expression(expression) => {
                let expression = expression
                    .get(self.section)
                    .map_err(|error| self.damaged(error))?;
                let address = self.evaluate(expression, encoding, Some(cfa))?;
                Some(read_word(self.memory, address)?)
            }
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
                        _ => Err(self.unusable("a rule without a value")),
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
                _ => return Err(self.unusable("a rule that asks for what a frame does not have")),
            }
            .map_err(|error| self.damaged(error))?;
        }
        Err(self.unusable("a rule that does not end"))
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

/// Whether a function must leave a register as it was (AMD64 supplement,
/// figure 3.4).
fn is_saved_by_callee(number: u16) -> bool {
    matches!(number, 3 | 6 | 12..=15)
}

fn read_word(memory: &dyn Memory, address: u64) -> Result<u64, UnwindError> {
    let mut bytes = [0; 8];
    if !memory.read(address, &mut bytes) {
        return Err(UnwindError::Unreadable { address });
    }
    Ok(u64::from_le_bytes(bytes))
}
