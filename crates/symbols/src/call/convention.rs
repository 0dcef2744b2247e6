//! Assignment of arguments to registers and the stack, one after the other (AMD64
//! supplement, section 3.2.3).

use super::classify::{Class, classify};
use super::classify_rust::classify_rust;
use super::{EntryLocation, EntryPiece, EntryPieceLocation, EntryUnavailable, unavailable};
use crate::Type;
use crate::dwarf::{DebugInfo, DieRef, Language};
use crate::types::TypeKind;
use juror_arch::abi::{self, INTEGER_ARGUMENTS, VECTOR_ARGUMENT_COUNT};
use smallvec::SmallVec;

/// A part of a value that is passed in one register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    pub class: Class,
    pub offset: u32,
    pub size: u32,
}

/// How a value of a type is passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Passing {
    /// In registers; no parts for a zero-sized type.
    Parts(SmallVec<[Part; 2]>),
    /// In registers, but never split between registers and the stack: the halves of a wide
    /// Rust integer.
    Together(SmallVec<[Part; 2]>),
    /// In memory: an argument on the stack, a result where the caller chooses.
    Memory { size: u64, alignment: u64 },
    /// By the address of a copy.
    Indirect { size: u64 },
    /// Unknown, for this reason; with the size in bytes.
    Unknown(EntryUnavailable, u64),
}

/// The convention that a function follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rules {
    C,
    Rust,
    /// A Rust function with an unmangled name, which may follow either convention.
    Either,
    /// A function of Go, whose convention the language does not define.
    Unknown,
}

/// The registers left during the assignment of arguments.
pub(super) struct Convention {
    rules: Rules,
    integers_used: usize,
    vectors_used: usize,
    stack_used: u64,
}

impl Convention {
    pub fn new(info: &DebugInfo, function: DieRef) -> Convention {
        let unit = info.unit(function.unit);
        let language = unit.map(|unit| unit.language);
        let is_mangled = || {
            let named = info.inherited(function, |_, _, entry| {
                entry.attr_value(gimli::DW_AT_linkage_name)
            });
            named.is_some()
        };
        let rules = match language {
            Some(Language::Rust) if is_mangled() => Rules::Rust,
            Some(Language::Rust) => Rules::Either,
            Some(Language::Go) => Rules::Unknown,
            _ => Rules::C,
        };
        Convention {
            rules,
            ..Convention::of_c()
        }
    }

    /// Returns the convention of C and C++.
    pub fn of_c() -> Convention {
        Convention {
            rules: Rules::C,
            integers_used: 0,
            vectors_used: 0,
            stack_used: 0,
        }
    }

    /// Returns whether the function follows the convention of C for certain.
    pub fn is_of_c(&self) -> bool {
        self.rules == Rules::C
    }

    /// Returns whether a value is passed by the address of a copy.
    pub fn passes_address(&self, of: &Type) -> bool {
        matches!(self.passing(of), Passing::Indirect { .. })
    }

    /// Returns the number of stack bytes in use.
    pub fn stack_size(&self) -> u64 {
        self.stack_used
    }

    /// Returns the number of vector registers in use.
    pub fn vector_count(&self) -> u8 {
        self.vectors_used as u8
    }

    fn passing(&self, of: &Type) -> Passing {
        match self.rules {
            Rules::C => classify(of),
            Rules::Rust => classify_rust(of),
            Rules::Unknown => Passing::Unknown(EntryUnavailable::Undefined, of.size().unwrap_or(0)),
            Rules::Either => {
                let (c, rust) = (classify(of), classify_rust(of));
                if agree(&c, &rust) {
                    c
                } else {
                    let size = of.size().unwrap_or(0);
                    Passing::Unknown(EntryUnavailable::Undefined, size)
                }
            }
        }
    }

    /// Returns how a result is returned; all conventions return in memory of the caller
    /// alike.
    fn passing_of_result(&self, of: &Type) -> Passing {
        let (c, rust) = match self.rules {
            Rules::Either => (classify(of), classify_rust(of)),
            _ => return self.passing(of),
        };
        match (&c, rust) {
            (Passing::Memory { .. } | Passing::Indirect { .. }, Passing::Indirect { .. }) => c,
            _ => self.passing(of),
        }
    }

    /// Takes the register of the hidden first argument that holds the address of a result
    /// in memory.
    ///
    /// # Errors
    /// It is unknown whether there is one.
    pub fn take_result_pointer(
        &mut self,
        of: &Type,
    ) -> Result<Option<EntryPieceLocation>, EntryUnavailable> {
        match self.passing_of_result(of) {
            Passing::Memory { .. } | Passing::Indirect { .. } => Ok(Some(self.take_integer())),
            Passing::Parts(_) | Passing::Together(_) => Ok(None),
            // One or two registers.
            Passing::Unknown(_, 1..=8) => Ok(None),
            Passing::Unknown(reason, _) => Err(reason),
        }
    }

    /// Takes the next integer register, or the next eightbyte of the stack.
    pub fn take_integer(&mut self) -> EntryPieceLocation {
        match INTEGER_ARGUMENTS.get(self.integers_used) {
            Some(register) => {
                self.integers_used += 1;
                EntryPieceLocation::Register(*register)
            }
            None => EntryPieceLocation::Stack(self.take_stack(8, 8)),
        }
    }

    fn take_stack(&mut self, size: u64, alignment: u64) -> i64 {
        let alignment = alignment.clamp(8, 64);
        let start = self.stack_used.next_multiple_of(alignment);
        self.stack_used = start
            .saturating_add(size.max(1))
            .checked_next_multiple_of(8)
            .unwrap_or(u64::MAX / 2);
        i64::try_from(start).unwrap_or(i64::MAX)
    }

    /// Returns the location of the next argument.
    pub fn next_location(&mut self, of: &Type) -> EntryLocation {
        if is_null_pointer(of) {
            return single(self.take_integer(), 8);
        }
        match self.passing(of) {
            Passing::Parts(parts) => self.assign_parts(of, &parts, self.rules == Rules::Rust),
            Passing::Together(parts) => self.assign_parts(of, &parts, false),
            Passing::Memory { size, alignment } => {
                let at = EntryPieceLocation::Stack(self.take_stack(size, alignment));
                single(at, size)
            }
            Passing::Indirect { size } => {
                let location = match self.take_integer() {
                    EntryPieceLocation::Register(register) => {
                        EntryPieceLocation::PointedByRegister(register)
                    }
                    EntryPieceLocation::Stack(offset) => EntryPieceLocation::PointedByStack(offset),
                    other => other,
                };
                single(location, size)
            }
            Passing::Unknown(reason, size) => unavailable(reason, size),
        }
    }

    /// Assigns locations to the parts; if `splits`, some may be in registers and others on
    /// the stack.
    fn assign_parts(&mut self, of: &Type, parts: &[Part], splits: bool) -> EntryLocation {
        let of_class = |class: Class| parts.iter().filter(|part| part.class == class).count();
        let fits = self.integers_used + of_class(Class::Integer) <= INTEGER_ARGUMENTS.len()
            && self.vectors_used + of_class(Class::Vector) <= VECTOR_ARGUMENT_COUNT;
        let x87 = of_class(Class::X87) > 0;
        if !fits && parts.len() > 1 && self.rules == Rules::Either {
            return unavailable(EntryUnavailable::Undefined, of.size().unwrap_or(8));
        }
        if x87 || !fits && !splits {
            // Either all parts go into registers or none.
            let size = of.size().unwrap_or(8);
            let alignment = super::classify::alignment(of);
            return single(
                EntryPieceLocation::Stack(self.take_stack(size, alignment)),
                size,
            );
        }
        parts
            .iter()
            .map(|part| {
                let location = match part.class {
                    Class::Vector => match abi::vector_argument(self.vectors_used) {
                        Some(register) => {
                            self.vectors_used += 1;
                            EntryPieceLocation::Register(register)
                        }
                        None => EntryPieceLocation::Stack(self.take_stack(part.size.into(), 8)),
                    },
                    Class::Integer | Class::X87 => self.take_integer(),
                };
                EntryPiece {
                    offset: part.offset,
                    size: part.size,
                    location,
                }
            })
            .collect()
    }

    /// Returns the location of a result after the return.
    pub fn location_of_result(&self, of: &Type) -> EntryLocation {
        match self.passing_of_result(of) {
            Passing::Parts(parts) | Passing::Together(parts) => {
                let mut integers = abi::INTEGER_RESULTS.into_iter();
                let mut vectors = abi::VECTOR_RESULTS.into_iter();
                let mut x87 = abi::X87_RESULTS.into_iter();
                parts
                    .iter()
                    .filter_map(|part| {
                        let register = match part.class {
                            Class::Integer => integers.next(),
                            Class::Vector => vectors.next(),
                            Class::X87 => x87.next(),
                        }?;
                        let location = EntryPieceLocation::Register(register);
                        Some(EntryPiece {
                            offset: part.offset,
                            size: part.size,
                            location,
                        })
                    })
                    .collect()
            }
            Passing::Memory { size, .. } | Passing::Indirect { size } => single(
                EntryPieceLocation::PointedByRegister(abi::RESULT_ADDRESS),
                size,
            ),
            Passing::Unknown(reason, size) => unavailable(reason, size),
        }
    }
}

/// Returns whether a type is `std::nullptr_t`, which has no size in the debug information.
fn is_null_pointer(of: &Type) -> bool {
    let stripped = of.strip();
    matches!(stripped.kind(), TypeKind::Void) && stripped.name().contains("nullptr")
}

/// Returns whether two ways to pass a value are the same while registers are available.
fn agree(c: &Passing, rust: &Passing) -> bool {
    use Passing::{Indirect, Memory, Parts, Together};
    match (c, rust) {
        (Parts(a), Parts(b) | Together(b)) => {
            let position = |part: &Part| (part.class, part.offset);
            a.iter().map(position).eq(b.iter().map(position))
        }
        (Indirect { .. }, Indirect { .. }) => true,
        (Memory { .. } | Indirect { .. }, _) | (_, _) => false,
    }
}

fn single(location: EntryPieceLocation, size: u64) -> EntryLocation {
    let size = u32::try_from(size).unwrap_or(u32::MAX);
    std::iter::once(EntryPiece {
        offset: 0,
        size,
        location,
    })
    .collect()
}
