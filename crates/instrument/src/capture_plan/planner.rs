//! Plans the sources of captures: parameters, results and globals of one definition of a function.

use super::CaptureError;
use super::draft::{Draft, Part};
use juror_arch::{abi, dwarf};
use juror_event::{Conversion, EventKind, Read, SymbolicEvent};
use juror_program::modules::{Bound, Modules};
use juror_program::scope::{Place, has_field};
use juror_symbols::{
    ArgumentClass, EntryError, EntryLocation, EntryPiece, EntryPieceLocation, EntryUnavailable,
    Parameter, Type, TypeKind, argument_plan,
};
use juror_values::read_plan::Source;
use smallvec::SmallVec;
use std::rc::Rc;

/// Plans the captures of an event at one definition of its function.
pub(super) struct Planner<'a> {
    pub(super) event: &'a SymbolicEvent,
    /// The definition; `None` for an event that is not a call.
    pub(super) bound: Option<&'a Bound>,
    pub(super) modules: &'a Modules,
}

impl Planner<'_> {
    pub(super) fn draft(&self, read: &Read) -> Result<Draft, CaptureError> {
        match read {
            Read::Name(name) => self.named(name),
            Read::Argument(position) => self.argument(*position),
            Read::Return => self.returned(),
            Read::Dereference(inner) => {
                let mut draft = self.draft(inner)?;
                if self.bound.is_none() && matches!(**inner, Read::Argument(_) | Read::Return) {
                    // A word of a system call has no pointee type.
                    draft.r#type = None;
                }
                draft.dereference()
            }
            Read::AddressOf(inner) => self.draft(inner)?.address_of(),
            Read::Field(inner, name) => self.draft(inner)?.field(name, self.modules),
            Read::Index(inner, index) => self.draft(inner)?.index(*index),
            Read::Convert(inner, conversion) => {
                let mut draft = match (&**inner, conversion) {
                    (Read::Argument(position), Conversion::Float32 | Conversion::Float64)
                        if !self.has_debug_info() =>
                    {
                        self.untyped_argument(*position)
                    }
                    (Read::Return, Conversion::Float32 | Conversion::Float64)
                        if !self.has_debug_info() =>
                    {
                        let part = Part {
                            offset: 0,
                            size: 8,
                            source: Source::Vector {
                                number: 0,
                                shift: 0,
                            },
                            pointed: false,
                        };
                        Draft::new(SmallVec::from_iter([part]), None)
                    }
                    _ => self.draft(inner)?,
                };
                draft.conversion = Some(*conversion);
                Ok(draft)
            }
            Read::Caller(_) => Err(CaptureError::new("`^` is read at the stop")),
            other => Err(CaptureError::new(format!(
                "`{other}` is a value of its own, not a place"
            ))),
        }
    }

    fn has_debug_info(&self) -> bool {
        self.bound
            .is_some_and(|bound| bound.function.has_debug_info())
    }

    fn named(&self, name: &str) -> Result<Draft, CaptureError> {
        let Some(bound) = self.bound else {
            return self.global(name).ok_or_else(|| self.unknown_global(name));
        };
        let symbols = &bound.module.symbols;
        match symbols.entry_value_plan(&bound.function, Parameter::Name(name)) {
            Ok(value) => Ok(Draft::new(parts_of(&value.location)?, Some(value.r#type))),
            // A field of the implicit object is evaluated as at the prompt.
            Err(error) if self.is_of_this(bound, name) => Err(self.explain(name, &error)),
            Err(error) => match self.global(name) {
                Some(draft) => Ok(draft),
                None => Err(self.explain(name, &error)),
            },
        }
    }

    /// Returns whether a name denotes a field of the object of a C++ member function.
    fn is_of_this(&self, bound: &Bound, name: &str) -> bool {
        let symbols = &bound.module.symbols;
        let this = symbols.entry_value_plan(&bound.function, Parameter::Name("this"));
        let object = this.ok().and_then(|this| this.r#type.target());
        object.is_some_and(|object| has_field(&object, name) || object.field("this").is_some())
    }

    fn global(&self, name: &str) -> Option<Draft> {
        let absolute = |address, r#type: Option<Type>| {
            let size = r#type.as_ref().and_then(Type::size).unwrap_or(8);
            let size = u32::try_from(size).unwrap_or(u32::MAX);
            let source = Source::Absolute { address };
            let part = Part {
                offset: 0,
                size,
                source,
                pointed: false,
            };
            Draft::new(SmallVec::from_iter([part]), r#type)
        };
        let place = match self.bound {
            Some(Bound { module, function }) => Place::new(
                self.modules,
                Some(Rc::clone(module)),
                function.low_pc,
                &function.name,
            ),
            None => Place::new(self.modules, None, 0, ""),
        };
        // The evaluation reports ambiguous names, and names that only a user can mean.
        let meaning = place.find(name).ok()??;
        if self.bound.is_some() && meaning.is_variable_elsewhere() {
            return None;
        }
        let (address, r#type) = meaning.address(self.modules)?;
        Some(absolute(address, Some(r#type)))
    }

    fn unknown_global(&self, name: &str) -> CaptureError {
        let mut names: Vec<String> = Vec::new();
        for module in self.modules.iter().filter(|module| module.is_main) {
            names.extend(module.symbols.global_names());
        }
        let near = juror_language::suggest_qualified(name, names.iter().map(String::as_str));
        CaptureError {
            message: format!("there is no global variable `{name}`"),
            help: near.map(|near| format!("did you mean `{near}`?")),
            is_final: false,
            lacks_parameter: false,
        }
    }

    fn explain(&self, name: &str, error: &EntryError) -> CaptureError {
        let help = match error {
            EntryError::NoSuchParameter { known, .. } => {
                juror_language::suggest(name, known.iter().map(String::as_str))
                    .map(|near| format!("did you mean `{near}`?"))
            }
            _ => Some(format!(
                "without debug information write `{name} = arg 1` (its position)"
            )),
        };
        CaptureError {
            message: error.to_string(),
            help,
            is_final: false,
            lacks_parameter: true,
        }
    }

    fn argument(&self, position: u8) -> Result<Draft, CaptureError> {
        let Some(bound) = self.bound else {
            return self.system_call_argument(position);
        };
        let symbols = &bound.module.symbols;
        let parameter = Parameter::Position(usize::from(position));
        match symbols.entry_value_plan(&bound.function, parameter) {
            Ok(value) => Ok(Draft::new(parts_of(&value.location)?, Some(value.r#type))),
            // An argument beyond the known parameters belongs to the `...` of C.
            Err(EntryError::NoSuchParameter { known, .. })
                if usize::from(position) <= known.len() =>
            {
                Err(CaptureError::new(
                    "the debug information of this function is damaged",
                ))
            }
            Err(_) => Ok(self.untyped_argument(position)),
        }
    }

    /// Locates an argument by the calling convention alone. The conversions of the event's other
    /// captures tell which arguments are floating-point.
    fn untyped_argument(&self, position: u8) -> Draft {
        let mut classes = vec![ArgumentClass::Integer; usize::from(position)];
        for capture in &self.event.captures {
            if let Read::Convert(inner, Conversion::Float32 | Conversion::Float64) = &capture.read
                && let Read::Argument(at) = **inner
                && let Some(class) = usize::from(at)
                    .checked_sub(1)
                    .and_then(|at| classes.get_mut(at))
            {
                *class = ArgumentClass::Float;
            }
        }
        let piece = argument_plan(usize::from(position), &classes);
        let parts = part_of(&piece.location).map(|(source, pointed)| Part {
            offset: 0,
            size: 8,
            source,
            pointed,
        });
        Draft::new(parts.into_iter().collect(), None)
    }

    /// Locates an argument of a system call, for which the kernel has its own convention.
    fn system_call_argument(&self, position: u8) -> Result<Draft, CaptureError> {
        if !matches!(
            self.event.kind,
            EventKind::SystemCallEntry | EventKind::SystemCallExit
        ) {
            return Err(CaptureError::new("only calls have arguments"));
        }
        let number = usize::from(position)
            .checked_sub(1)
            .and_then(|index| abi::SYSTEM_CALL_ARGUMENTS.get(index));
        match number {
            Some(number) => Ok(whole_register(*number)),
            None => Err(CaptureError::new("system calls have arguments 1 to 6")),
        }
    }

    fn returned(&self) -> Result<Draft, CaptureError> {
        let Some(bound) = self.bound else {
            return match self.event.kind {
                EventKind::SystemCallExit => Ok(whole_register(abi::SYSTEM_CALL_RESULT)),
                EventKind::SystemCallEntry => Err(CaptureError::new(
                    "at the entry nothing has been returned yet",
                )),
                _ => Err(CaptureError::new("only calls return something")),
            };
        };
        if self.event.kind == EventKind::Unwound {
            return Err(CaptureError::new("a call that was unwound returns nothing"));
        }
        if self.event.kind == EventKind::BeforeCall {
            return Err(CaptureError::new(
                "before the call nothing has been returned yet",
            ));
        }
        match bound.module.symbols.return_value_plan(&bound.function) {
            Some(value) if matches!(value.r#type.strip().kind(), TypeKind::Void) => {
                Err(CaptureError {
                    // It may be another function of this name.
                    lacks_parameter: true,
                    ..CaptureError::new(format!("`{}` returns nothing", bound.function.name))
                })
            }
            // The evaluation keeps the address from the entry.
            Some(value) if value.address_at_entry.is_some() => Err(CaptureError::new(
                "the address of what is returned is kept from the entry of the call",
            )),
            Some(value) => Ok(Draft::new(parts_of(&value.location)?, Some(value.r#type))),
            None => {
                let source = Source::Register {
                    number: abi::INTEGER_RESULTS[0] as u8,
                    shift: 0,
                };
                let part = Part {
                    offset: 0,
                    size: 8,
                    source,
                    pointed: false,
                };
                Ok(Draft::new(SmallVec::from_iter([part]), None))
            }
        }
    }
}

/// Returns the draft of a register of a system call, as a `long`.
fn whole_register(number: u16) -> Draft {
    let part = Part {
        offset: 0,
        size: 8,
        source: Source::Register {
            number: number as u8,
            shift: 0,
        },
        pointed: false,
    };
    Draft::new(SmallVec::from_iter([part]), Type::builtin("long"))
}

fn parts_of(location: &EntryLocation) -> Result<SmallVec<[Part; 2]>, CaptureError> {
    let mut parts = SmallVec::new();
    let is_known = |it: &EntryPiece| !matches!(it.location, EntryPieceLocation::Unavailable(_));
    // Another part of the value may be asked for.
    let has_any = location.iter().any(is_known);
    for piece in location {
        if let EntryPieceLocation::Unavailable(reason) = &piece.location
            && !has_any
        {
            let help = match reason {
                EntryUnavailable::Removed
                | EntryUnavailable::Unused
                | EntryUnavailable::ConventionChanged
                | EntryUnavailable::Undescribed
                | EntryUnavailable::ResultRemoved
                | EntryUnavailable::ResultUnused => {
                    "build without optimization to see it, or leave it out"
                }
                EntryUnavailable::Undefined
                | EntryUnavailable::WideRegister
                | EntryUnavailable::Hidden => {
                    "read it at a line of the function: `event here = line FILE:N(name)`"
                }
                EntryUnavailable::AddressLost => "read it in an event `after` the call",
                EntryUnavailable::TypeUnknown => "build the file that defines it with -g",
            };
            return Err(CaptureError {
                message: reason.to_string(),
                help: Some(help.to_owned()),
                is_final: true,
                lacks_parameter: false,
            });
        }
        let Some((source, pointed)) = part_of(&piece.location) else {
            return Err(CaptureError::new(
                "this value is passed in a register that is not supported",
            ));
        };
        parts.push(Part {
            offset: piece.offset,
            size: piece.size,
            source,
            pointed,
        });
    }
    Ok(parts)
}

/// Returns the source of a location, and whether the source holds its address.
fn part_of(location: &EntryPieceLocation) -> Option<(Source, bool)> {
    let of_register = |number: u16| {
        if dwarf::is_unwound(number) {
            Some(Source::Register {
                number: number as u8,
                shift: 0,
            })
        } else {
            let index = dwarf::vector_index(number)?;
            Some(Source::Vector {
                number: index as u8,
                shift: 0,
            })
        }
    };
    Some(match location {
        EntryPieceLocation::Register(number) => (of_register(*number)?, false),
        EntryPieceLocation::RegisterPart {
            register,
            shift_bits,
        } if dwarf::is_unwound(*register) => (
            Source::Register {
                number: *register as u8,
                shift: *shift_bits,
            },
            false,
        ),
        EntryPieceLocation::RegisterPart { .. } => return None,
        EntryPieceLocation::PointedByRegister(number) => (of_register(*number)?, true),
        EntryPieceLocation::Stack(offset) => (Source::Frame { offset: *offset }, false),
        EntryPieceLocation::PointedByStack(offset) => (Source::Frame { offset: *offset }, true),
        EntryPieceLocation::Constant(bytes) => {
            let mut wide = [0; 8];
            let count = bytes.len().min(8);
            wide[..count].copy_from_slice(&bytes[..count]);
            (
                Source::Constant {
                    bits: u64::from_le_bytes(wide),
                },
                false,
            )
        }
        EntryPieceLocation::Unavailable(_) => (Source::OptimizedOut, false),
    })
}

#[cfg(test)]
mod tests;
