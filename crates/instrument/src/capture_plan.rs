//! From what a property wants to read (`queue->count`, `*arg 1`) to how it is
//! read at the stop, decided once per function.
//!
//! A draft walks the expression from the inside out. It is a *source* (where
//! the first word is), pointers to *follow* from there, and the type of what
//! has been reached; fields and elements move the place without reading it.

use crate::modules::{Bound, Modules};
use crate::read_plan::{Decode, ReadPlan, Source};
use juror_event::{Capture, Conversion, EventKind, Read, SymbolicEvent};
use juror_symbols::{
    ArgumentClass, BitField, Encoding, EntryError, EntryLocation, EntryPlace, Parameter, Type,
    TypeKind, argument_plan, register,
};
use smallvec::SmallVec;

/// How one capture is read.
#[derive(Debug, Clone, PartialEq)]
pub enum CapturePlan {
    /// By a plan that begins at the call's entry.
    Entry(ReadPlan),
    /// By a plan that begins at the return: the result, or a global variable
    /// in an event after the call.
    Return(ReadPlan),
    /// By evaluating it at the stop, because it needs the caller's frame.
    Evaluate(Read),
}

/// Why a capture cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureError {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl CaptureError {
    fn new(message: impl Into<String>) -> CaptureError {
        CaptureError {
            message: message.into(),
            help: None,
        }
    }
}

/// Plans a capture of an event at one definition of its function.
pub fn plan_capture(
    event: &SymbolicEvent,
    capture: &Capture,
    bound: &Bound,
    modules: &Modules,
) -> Result<CapturePlan, CaptureError> {
    if needs_caller(&capture.read) {
        return Ok(CapturePlan::Evaluate(capture.read.clone()));
    }
    let planner = Planner {
        event,
        bound,
        modules,
    };
    let draft = planner.draft(&capture.read)?;
    let plan = draft.finish()?;
    let is_late = event.kind == EventKind::AfterCall
        && (root_is_return(&capture.read) || matches!(plan.source, Source::Absolute { .. }));
    Ok(if is_late {
        CapturePlan::Return(plan)
    } else {
        CapturePlan::Entry(plan)
    })
}

fn needs_caller(read: &Read) -> bool {
    match read {
        Read::Caller(_) => true,
        Read::Dereference(inner)
        | Read::AddressOf(inner)
        | Read::Field(inner, _)
        | Read::Index(inner, _)
        | Read::Convert(inner, _) => needs_caller(inner),
        Read::Name(_) | Read::Argument(_) | Read::Return => false,
    }
}

fn root_is_return(read: &Read) -> bool {
    match read {
        Read::Return => true,
        Read::Caller(inner)
        | Read::Dereference(inner)
        | Read::AddressOf(inner)
        | Read::Field(inner, _)
        | Read::Index(inner, _)
        | Read::Convert(inner, _) => root_is_return(inner),
        Read::Name(_) | Read::Argument(_) => false,
    }
}

/// A part of a value and where a plan finds it.
#[derive(Debug, Clone, PartialEq)]
struct Part {
    offset: u32,
    size: u32,
    source: Source,
    /// The source holds the address of the part, not the part.
    pointed: bool,
}

/// What has been reached so far.
#[derive(Debug, Clone, PartialEq)]
struct Draft {
    parts: SmallVec<[Part; 2]>,
    /// Pointers followed from the part; the place reached is this far behind
    /// the last one.
    follow: SmallVec<[i64; 2]>,
    /// How far into the value the place is, while nothing has been followed.
    offset: i64,
    bits: Option<BitField>,
    r#type: Option<Type>,
    conversion: Option<Conversion>,
    /// The address of the place is meant, not what it holds.
    address: bool,
}

impl Draft {
    fn new(parts: SmallVec<[Part; 2]>, r#type: Option<Type>) -> Draft {
        Draft {
            parts,
            follow: SmallVec::new(),
            offset: 0,
            bits: None,
            r#type,
            conversion: None,
            address: false,
        }
    }

    fn shift(&mut self, bytes: i64) {
        match self.follow.last_mut() {
            Some(last) => *last = last.wrapping_add(bytes),
            None => self.offset = self.offset.wrapping_add(bytes),
        }
    }

    fn type_name(&self) -> String {
        self.r#type
            .as_ref()
            .map_or_else(|| "a word without a type".to_owned(), Type::name)
    }

    fn dereference(mut self) -> Result<Draft, CaptureError> {
        if self.address {
            self.address = false;
            self.r#type = self.r#type.as_ref().and_then(Type::target);
            return Ok(self);
        }
        match &self.r#type {
            None => self.r#type = None,
            Some(r#type) => match r#type.strip().kind() {
                TypeKind::Pointer(target) | TypeKind::Reference(target) => {
                    self.r#type = Some(target);
                }
                TypeKind::Array { .. } => {
                    self.r#type = r#type.target();
                    return Ok(self);
                }
                _ => {
                    return Err(CaptureError::new(format!(
                        "`{}` is not a pointer",
                        r#type.name()
                    )));
                }
            },
        }
        if self.follow.is_empty() {
            // The pointer itself is what the source holds, or it lies in what
            // the source points to.
            let offset = self.offset;
            self.parts = self.part_at_offset()?;
            self.offset = 0;
            if let Some(part) = self.parts.first_mut()
                && std::mem::take(&mut part.pointed)
            {
                self.follow.push(offset);
            }
        }
        self.follow.push(0);
        self.bits = None;
        Ok(self)
    }

    fn field(mut self, name: &str) -> Result<Draft, CaptureError> {
        let Some(r#type) = self.r#type.clone() else {
            return Err(CaptureError {
                message: format!("the type of what holds `{name}` is not known"),
                help: Some("fields need debug information: build with -g".to_owned()),
            });
        };
        if r#type.is_pointer() {
            return self.dereference()?.field(name);
        }
        let Some(field) = r#type.field(name) else {
            let names: Vec<_> = r#type.field_names();
            let near = juror_language::suggest(name, names.iter().map(|name| &**name));
            return Err(CaptureError {
                message: format!("`{}` has no field `{name}`", r#type.name()),
                help: near.map(|near| format!("did you mean `{near}`?")),
            });
        };
        match field.bits {
            Some(bits) => {
                self.shift((bits.offset_bits / 8) as i64);
                self.bits = Some(BitField {
                    offset_bits: bits.offset_bits % 8,
                    ..bits
                });
            }
            None => self.shift(field.offset as i64),
        }
        self.r#type = Some(field.r#type);
        Ok(self)
    }

    fn index(mut self, index: i64) -> Result<Draft, CaptureError> {
        if self.r#type.as_ref().is_some_and(Type::is_pointer) {
            self = self.dereference()?;
        } else {
            match self.r#type.as_ref().and_then(Type::target) {
                Some(element) => self.r#type = Some(element),
                None => {
                    return Err(CaptureError::new(format!(
                        "`{}` has no elements",
                        self.type_name()
                    )));
                }
            }
        }
        let size = self
            .r#type
            .as_ref()
            .and_then(Type::size)
            .ok_or_else(|| CaptureError::new("the size of an element is not known"))?;
        self.shift(index.wrapping_mul(size as i64));
        Ok(self)
    }

    fn address_of(mut self) -> Result<Draft, CaptureError> {
        let in_memory = !self.follow.is_empty()
            || self.parts.iter().all(|part| {
                part.pointed
                    || matches!(part.source, Source::Frame { .. } | Source::Absolute { .. })
            });
        if !in_memory {
            return Err(CaptureError::new(
                "this value is in a register at that moment, so it has no address",
            ));
        }
        self.address = true;
        self.r#type = self.r#type.as_ref().map(Type::pointer_to);
        Ok(self)
    }

    /// The single part that holds the place, with the place at its start.
    fn part_at_offset(&self) -> Result<SmallVec<[Part; 2]>, CaptureError> {
        let offset = u32::try_from(self.offset)
            .map_err(|_| CaptureError::new("this lies before the start of the value"))?;
        let found = self.parts.iter().find(|part| {
            (part.offset..part.offset.saturating_add(part.size.max(1))).contains(&offset)
        });
        let Some(part) = found else {
            return Err(CaptureError::new(
                "this part of the value is not passed to the function",
            ));
        };
        let inside = offset - part.offset;
        let mut part = part.clone();
        part.offset = 0;
        if !part.pointed {
            part.source = moved(part.source, inside);
        }
        Ok(SmallVec::from_iter([part]))
    }

    fn finish(self) -> Result<ReadPlan, CaptureError> {
        let decode = self.decode()?;
        if !self.follow.is_empty() {
            let [part] = self.parts.as_slice() else {
                return Err(CaptureError::new("this value stands in several places"));
            };
            return Ok(ReadPlan {
                source: part.source,
                follow: self.follow,
                decode,
            });
        }
        let parts = self.part_at_offset()?;
        let [part] = parts.as_slice() else {
            return Err(CaptureError::new("this value stands in several places"));
        };
        if part.pointed {
            // Composites in memory: the source is their address.
            let follow = SmallVec::from_slice(&[self.offset]);
            return Ok(ReadPlan {
                source: part.source,
                follow,
                decode,
            });
        }
        Ok(ReadPlan {
            source: part.source,
            follow: SmallVec::new(),
            decode,
        })
    }

    fn decode(&self) -> Result<Decode, CaptureError> {
        if self.address {
            return Ok(Decode::AddressOf);
        }
        if let Some(conversion) = self.conversion {
            return Ok(match conversion {
                Conversion::Signed { bytes } => Decode::Signed(bytes),
                Conversion::Unsigned { bytes } => Decode::Unsigned(bytes),
                Conversion::Bool => Decode::Bool(1),
                Conversion::Float32 => Decode::Float32,
                Conversion::Float64 => Decode::Float64,
                Conversion::Address => Decode::Address,
                Conversion::Text => match &self.r#type {
                    Some(r#type) if matches!(r#type.strip().kind(), TypeKind::Array { .. }) => {
                        let bytes = r#type.size().and_then(|size| u32::try_from(size).ok());
                        Decode::TextInPlace {
                            bytes: bytes.unwrap_or(256),
                        }
                    }
                    _ => Decode::TextPointer,
                },
            });
        }
        let Some(r#type) = &self.r#type else {
            return Ok(Decode::Unsigned(8));
        };
        decode_type(r#type, self.bits)
    }
}

fn moved(source: Source, bytes: u32) -> Source {
    match source {
        Source::Register { number, shift } => Source::Register {
            number,
            shift: shift.saturating_add((bytes * 8).min(63) as u8),
        },
        Source::Frame { offset } => Source::Frame {
            offset: offset.wrapping_add(i64::from(bytes)),
        },
        Source::Absolute { address } => Source::Absolute {
            address: address.wrapping_add(u64::from(bytes)),
        },
        Source::Constant { bits } => Source::Constant {
            bits: bits.checked_shr(bytes.saturating_mul(8)).unwrap_or(0),
        },
        same @ (Source::Vector { .. } | Source::OptimizedOut) => same,
    }
}

fn decode_type(r#type: &Type, bits: Option<BitField>) -> Result<Decode, CaptureError> {
    let stripped = r#type.strip();
    let size = stripped.size().unwrap_or(8);
    let bytes = size.min(8) as u8;
    let integer = |signed: bool| match bits {
        Some(bits) => {
            let (shift, width) = (bits.offset_bits as u8, bits.size_bits.min(64) as u8);
            let bytes = (bits.offset_bits + bits.size_bits).div_ceil(8).min(8) as u8;
            if signed {
                Decode::SignedBits {
                    bytes,
                    shift,
                    bits: width,
                }
            } else {
                Decode::UnsignedBits {
                    bytes,
                    shift,
                    bits: width,
                }
            }
        }
        None if signed => Decode::Signed(bytes),
        None => Decode::Unsigned(bytes),
    };
    let unreadable = || CaptureError {
        message: format!(
            "a value of type `{}` cannot be used as a whole",
            r#type.name()
        ),
        help: Some("read one of its fields, or its address with `&`".to_owned()),
    };
    Ok(match stripped.kind() {
        TypeKind::Pointer(_) | TypeKind::Reference(_) => Decode::Address,
        TypeKind::Base(Encoding::Boolean) => Decode::Bool(bytes),
        TypeKind::Base(Encoding::Float) if size == 4 => Decode::Float32,
        TypeKind::Base(Encoding::Float) if size == 8 => Decode::Float64,
        TypeKind::Base(Encoding::Float | Encoding::ComplexFloat | Encoding::Other) => {
            return Err(unreadable());
        }
        TypeKind::Base(_) if size > 8 => return Err(unreadable()),
        TypeKind::Base(encoding) => integer(encoding.is_signed()),
        TypeKind::Enumeration { underlying, .. } => integer(underlying.is_none_or(|inner| {
            matches!(inner.strip().kind(), TypeKind::Base(encoding) if encoding.is_signed())
        })),
        TypeKind::Array { element, .. }
            if matches!(element.strip().kind(), TypeKind::Base(e) if e.is_character()) =>
        {
            Decode::TextInPlace { bytes: u32::try_from(size).unwrap_or(256) }
        }
        TypeKind::Function { .. } => Decode::AddressOf,
        _ => return Err(unreadable()),
    })
}

struct Planner<'a> {
    event: &'a SymbolicEvent,
    bound: &'a Bound,
    modules: &'a Modules,
}

impl Planner<'_> {
    fn draft(&self, read: &Read) -> Result<Draft, CaptureError> {
        match read {
            Read::Name(name) => self.named(name),
            Read::Argument(position) => self.argument(*position),
            Read::Return => self.returned(),
            Read::Dereference(inner) => self.draft(inner)?.dereference(),
            Read::AddressOf(inner) => self.draft(inner)?.address_of(),
            Read::Field(inner, name) => self.draft(inner)?.field(name),
            Read::Index(inner, index) => self.draft(inner)?.index(*index),
            Read::Convert(inner, conversion) => {
                let mut draft = match (&**inner, conversion) {
                    (Read::Argument(position), Conversion::Float32 | Conversion::Float64)
                        if !self.bound.function.has_debug_info() =>
                    {
                        self.untyped_argument(*position)
                    }
                    (Read::Return, Conversion::Float32 | Conversion::Float64)
                        if !self.bound.function.has_debug_info() =>
                    {
                        let part = Part {
                            offset: 0,
                            size: 8,
                            source: Source::Vector { number: 0 },
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
        }
    }

    fn named(&self, name: &str) -> Result<Draft, CaptureError> {
        let symbols = &self.bound.module.symbols;
        match symbols.entry_value_plan(&self.bound.function, Parameter::Name(name)) {
            Ok(value) => Ok(Draft::new(parts_of(&value.location)?, Some(value.r#type))),
            Err(error) => match self.global(name) {
                Some(draft) => Ok(draft),
                None => Err(self.explain(name, &error)),
            },
        }
    }

    fn global(&self, name: &str) -> Option<Draft> {
        let own = std::iter::once(&self.bound.module);
        own.chain(self.modules.iter()).find_map(|module| {
            let whole = |source, r#type: Option<Type>| {
                let size = r#type.as_ref().and_then(Type::size).unwrap_or(8);
                let size = u32::try_from(size).unwrap_or(u32::MAX);
                Draft::new(
                    SmallVec::from_iter([Part {
                        offset: 0,
                        size,
                        source,
                        pointed: false,
                    }]),
                    r#type,
                )
            };
            let variable = module
                .symbols
                .globals_named(name)
                .into_iter()
                .find_map(|variable| {
                    let address = crate::frames::static_address(&variable, module)?;
                    Some(whole(Source::Absolute { address }, Some(variable.r#type)))
                });
            variable.or_else(|| {
                let (address, size) = module.symbols.data_symbol(name)?;
                let source = Source::Absolute {
                    address: module.to_process(address),
                };
                let name = match size {
                    1 => "u8",
                    2 => "u16",
                    4 => "u32",
                    _ => "u64",
                };
                Some(whole(source, Type::builtin(name)))
            })
        })
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
        }
    }

    fn argument(&self, position: u8) -> Result<Draft, CaptureError> {
        let symbols = &self.bound.module.symbols;
        let parameter = Parameter::Position(usize::from(position));
        match symbols.entry_value_plan(&self.bound.function, parameter) {
            Ok(value) => Ok(Draft::new(parts_of(&value.location)?, Some(value.r#type))),
            // More arguments than the debug information knows: `...` of C.
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

    /// By the calling convention alone; which arguments are floats, the
    /// event's other captures tell.
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
        let parts = part_of(&piece.place).map(|(source, pointed)| Part {
            offset: 0,
            size: 8,
            source,
            pointed,
        });
        Draft::new(parts.into_iter().collect(), None)
    }

    fn returned(&self) -> Result<Draft, CaptureError> {
        if self.event.kind == EventKind::BeforeCall {
            return Err(CaptureError::new(
                "before the call nothing has been returned yet",
            ));
        }
        match self
            .bound
            .module
            .symbols
            .return_value_plan(&self.bound.function)
        {
            Some(value) if matches!(value.r#type.strip().kind(), TypeKind::Void) => Err(
                CaptureError::new(format!("`{}` returns nothing", self.bound.function.name)),
            ),
            Some(value) => Ok(Draft::new(parts_of(&value.location)?, Some(value.r#type))),
            None => {
                let source = Source::Register {
                    number: register::RAX as u8,
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

fn parts_of(location: &EntryLocation) -> Result<SmallVec<[Part; 2]>, CaptureError> {
    let mut parts = SmallVec::new();
    for piece in location {
        if let EntryPlace::Unavailable(reason) = &piece.place {
            return Err(CaptureError {
                message: reason.to_string(),
                help: Some("build without optimization to see it, or leave it out".to_owned()),
            });
        }
        let Some((source, pointed)) = part_of(&piece.place) else {
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

/// The source of a place, and whether the source holds only its address.
fn part_of(place: &EntryPlace) -> Option<(Source, bool)> {
    let of_register = |number: u16| match number {
        0..=16 => Some(Source::Register {
            number: number as u8,
            shift: 0,
        }),
        register::XMM0..=32 => Some(Source::Vector {
            number: (number - register::XMM0) as u8,
        }),
        _ => None,
    };
    Some(match place {
        EntryPlace::Register(number) => (of_register(*number)?, false),
        EntryPlace::PointedByRegister(number) => (of_register(*number)?, true),
        EntryPlace::Stack(offset) => (Source::Frame { offset: *offset }, false),
        EntryPlace::PointedByStack(offset) => (Source::Frame { offset: *offset }, true),
        EntryPlace::Constant(bytes) => {
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
        EntryPlace::Unavailable(_) => (Source::OptimizedOut, false),
    })
}
