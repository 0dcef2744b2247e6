//! The draft of a capture, built from its innermost part outwards.
//!
//! A draft is a *source* (the location of the first word), pointers to *follow* from there, and the
//! type that has been reached. Fields and elements move the location without reading it.

use super::CaptureError;
use super::conversion::converted_type;
use juror_event::Conversion;
use juror_program::modules::Modules;
use juror_symbols::{
    BitField, Character, Encoding, EntryUnavailable, Field, Type, TypeKind, VirtualStep,
};
use juror_values::read_plan::{Decode, ReadPlan, Source, Step, VirtualPart};
use juror_values::types::untyped::{other_size, unknown_type};
use smallvec::SmallVec;

/// A part of a value, and its source.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    pub(super) offset: u32,
    pub(super) size: u32,
    pub(super) source: Source,
    /// Whether the source holds the address of the part.
    pub(super) pointed: bool,
}

/// A partially planned capture.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Draft {
    pub(super) parts: SmallVec<[Part; 2]>,
    /// The pointers to follow from the part. The location is at this distance from the last one.
    pub(super) follow: SmallVec<[Step; 2]>,
    /// The offset into the value while no pointer has been followed.
    pub(super) offset: i64,
    pub(super) bits: Option<BitField>,
    pub(super) r#type: Option<Type>,
    pub(super) conversion: Option<Conversion>,
    /// Whether the address of the location is captured instead of its contents.
    pub(super) address: bool,
}

impl Draft {
    pub(super) fn new(parts: SmallVec<[Part; 2]>, r#type: Option<Type>) -> Draft {
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
            Some(Step::Behind(last)) => *last = last.wrapping_add(bytes),
            Some(Step::Part(..)) => self.follow.push(Step::Behind(bytes)),
            None => self.offset = self.offset.wrapping_add(bytes),
        }
    }

    /// Returns whether the draft has reached an array.
    pub(super) fn is_array(&self) -> bool {
        let own = self.r#type.as_ref().filter(|_| !self.address);
        own.is_some_and(|own| matches!(own.strip().kind(), TypeKind::Array { .. }))
    }

    fn type_name(&self) -> String {
        self.r#type
            .as_ref()
            .map_or_else(|| "a word without a type".to_owned(), Type::name)
    }

    /// Follows a C++ reference. Other drafts are returned unchanged.
    fn referent(self) -> Result<Draft, CaptureError> {
        let is_reference = self
            .r#type
            .as_ref()
            .is_some_and(|of| matches!(of.strip().kind(), TypeKind::Reference(_)) && !of.is_rust());
        if is_reference && !self.address {
            self.followed()
        } else {
            Ok(self)
        }
    }

    /// Applies the operator `*`. A reference to a pointer is followed twice.
    pub(super) fn dereference(self) -> Result<Draft, CaptureError> {
        let is_reference = self
            .r#type
            .as_ref()
            .is_some_and(|of| matches!(of.strip().kind(), TypeKind::Reference(_)) && !of.is_rust());
        if !is_reference || self.address {
            return self.followed();
        }
        let referent = self.referent()?;
        let leads_on = referent.r#type.as_ref().is_some_and(|of| {
            of.is_pointer() || matches!(of.strip().kind(), TypeKind::Array { .. })
        });
        if leads_on {
            referent.followed()
        } else {
            Ok(referent)
        }
    }

    fn followed(mut self) -> Result<Draft, CaptureError> {
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
                    return Err(CaptureError {
                        message: format!("`{}` is not a pointer", r#type.name()),
                        help: None,
                        // The prompt dereferences an integer as an address.
                        is_final: matches!(r#type.strip().kind(), TypeKind::Base(_)),
                        lacks_parameter: false,
                    });
                }
            },
        }
        if self.follow.is_empty() {
            // The source holds the pointer, or the address of the value that contains it.
            let offset = self.offset;
            self.parts = self.part_at_offset()?;
            self.offset = 0;
            if let Some(part) = self.parts.first_mut()
                && std::mem::take(&mut part.pointed)
            {
                self.follow.push(Step::Behind(offset));
            }
        }
        self.follow.push(Step::Behind(0));
        self.bits = None;
        Ok(self)
    }

    pub(super) fn field(mut self, name: &str, modules: &Modules) -> Result<Draft, CaptureError> {
        let Some(r#type) = self.r#type.clone() else {
            return Err(CaptureError {
                message: format!("the type of what holds `{name}` is not known"),
                help: Some("fields need debug information: build with -g".to_owned()),
                is_final: false,
                lacks_parameter: false,
            });
        };
        if r#type.is_pointer() {
            return self.followed()?.field(name, modules);
        }
        let Some(field) = r#type.field(name) else {
            if let Some((steps, field)) = r#type.virtual_field(name) {
                self.enter(&steps, name, modules)?;
                self.go_to(field);
                return Ok(self);
            }
            let names: Vec<_> = r#type.field_names();
            let near = juror_language::suggest(name, names.iter().map(|name| &**name));
            return Err(CaptureError {
                message: format!("`{}` has no field `{name}`", r#type.name()),
                help: near.map(|near| format!("did you mean `{near}`?")),
                is_final: false,
                lacks_parameter: false,
            });
        };
        self.go_to(field);
        Ok(self)
    }

    fn go_to(&mut self, field: Field) {
        self.bits = None;
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
    }

    /// Steps to virtual base classes, whose offsets are in the object's virtual table.
    fn enter(
        &mut self,
        steps: &[VirtualStep],
        name: &str,
        modules: &Modules,
    ) -> Result<(), CaptureError> {
        for step in steps {
            let entry = step.base.vtable_entry();
            let offset = i64::try_from(step.offset).ok();
            let (Some(entry), Some(offset)) = (entry, offset) else {
                return Err(CaptureError::new(format!(
                    "`{name}` is of the virtual base class `{}`, and the debug information does \
                     not say where that is",
                    step.base.r#type.name()
                )));
            };
            self.point_to_location()?;
            self.shift(offset);
            let part = VirtualPart {
                class: modules.number_of(&step.class),
                entry,
            };
            if let Some(last) = self.follow.last_mut()
                && let Step::Behind(offset) = *last
            {
                *last = Step::Part(offset, part);
            }
        }
        Ok(())
    }

    /// Turns the location into the target of the last pointer that is followed.
    fn point_to_location(&mut self) -> Result<(), CaptureError> {
        match self.follow.last() {
            Some(Step::Behind(_)) => return Ok(()),
            Some(Step::Part(..)) => {
                self.follow.push(Step::Behind(0));
                return Ok(());
            }
            None => {}
        }
        let offset = self.offset;
        let mut parts = self.part_at_offset()?;
        let Some(part) = parts.first_mut() else {
            return Ok(());
        };
        if std::mem::take(&mut part.pointed) {
            self.follow.push(Step::Behind(offset));
        } else if let Source::Absolute { address } = part.source {
            // `part_at_offset` has added the offset.
            part.source = Source::Constant { bits: address };
            self.follow.push(Step::Behind(0));
        } else {
            return Err(CaptureError {
                message: "a virtual base class can only be located in an object in memory"
                    .to_owned(),
                help: Some(
                    "capture it where a pointer or a reference leads to the object".to_owned(),
                ),
                is_final: false,
                lacks_parameter: false,
            });
        }
        (self.parts, self.offset) = (parts, 0);
        Ok(())
    }

    pub(super) fn index(self, index: i64) -> Result<Draft, CaptureError> {
        let mut draft = self.referent()?;
        // In Rust an index on a reference to an array applies to the array.
        let to_array = draft.r#type.as_ref().is_some_and(|of| {
            let is_array = |target: Type| matches!(target.strip().kind(), TypeKind::Array { .. });
            of.is_rust() && of.is_pointer() && of.target().is_some_and(is_array)
        });
        if to_array {
            draft = draft.followed()?;
        }
        draft.element(index)
    }

    fn element(mut self, index: i64) -> Result<Draft, CaptureError> {
        let position = self.r#type.as_ref().map(|of| of.position_of(index.into()));
        let index = match position.transpose() {
            Ok(None) => index,
            Ok(Some(position)) => i64::try_from(position).unwrap_or(i64::MAX),
            Err(why) => {
                return Err(CaptureError {
                    is_final: true,
                    ..CaptureError::new(why)
                });
            }
        };
        if let Some(of) = &self.r#type
            && let TypeKind::Array { dimensions, .. } = of.strip().kind()
            && let Some(Some(count)) = dimensions.first()
            && of.is_rust()
            && u64::try_from(index).is_ok_and(|index| index >= *count)
        {
            return Err(CaptureError {
                is_final: true,
                ..CaptureError::new(format!("the array has {count} elements"))
            });
        }
        if self.r#type.as_ref().is_some_and(Type::is_pointer) {
            self = self.followed()?;
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
        let distance = i64::try_from(size)
            .ok()
            .and_then(|size| index.checked_mul(size));
        let distance = distance.ok_or_else(|| CaptureError::new("the index is too large"))?;
        self.shift(distance);
        Ok(self)
    }

    pub(super) fn address_of(mut self) -> Result<Draft, CaptureError> {
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

    /// Returns the part that contains the location, with the location at its start.
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
        if part.source == Source::OptimizedOut {
            return Err(CaptureError {
                is_final: true,
                ..CaptureError::new(EntryUnavailable::Unused.to_string())
            });
        }
        if !part.pointed {
            part.source = moved(part.source, inside)
                .ok_or_else(|| CaptureError::new("it is in the upper half of a register"))?;
        }
        Ok(SmallVec::from_iter([part]))
    }

    /// Follows a C++ reference to a number or pointer. A reference to an object stands for the
    /// object's address.
    fn referred_to(self) -> Result<Draft, CaptureError> {
        let Some(own) = self.r#type.as_ref().filter(|_| !self.address) else {
            return Ok(self);
        };
        let target = match own.strip().kind() {
            TypeKind::Reference(target) if !target.is_rust() => Some(target),
            _ => None,
        };
        let value = target.as_ref().unwrap_or(own).strip();
        match (value.kind(), self.conversion) {
            (TypeKind::Composite(_), Some(Conversion::String)) => Err(CaptureError::new(format!(
                "a value of type `{}` is not text",
                value.name()
            ))),
            _ if target.is_none() => Ok(self),
            (TypeKind::Composite(_), _) | (_, Some(Conversion::Address)) => Ok(self),
            _ => self.dereference(),
        }
    }

    /// Checks that the type of a variable is known, from its declaration or as the event says.
    fn check_type(&self) -> Result<(), CaptureError> {
        let Some(r#type) = self.r#type.as_ref().filter(|_| !self.address) else {
            return Ok(());
        };
        let Some(unknown) = unknown_type(r#type) else {
            return Ok(());
        };
        let why = match self.conversion {
            None => Some(unknown),
            Some(Conversion::String) => None,
            Some(conversion) => {
                let converted = converted_type(conversion);
                let size = converted.size().unwrap_or(0);
                other_size(r#type, size, &converted.name())
            }
        };
        match why {
            Some(message) => Err(CaptureError {
                is_final: true,
                ..CaptureError::new(message)
            }),
            None => Ok(()),
        }
    }

    pub(super) fn finish(self) -> Result<ReadPlan, CaptureError> {
        self.check_type()?;
        let draft = self.referred_to()?;
        let decode = draft.decode()?;
        if !draft.follow.is_empty() {
            let [part] = draft.parts.as_slice() else {
                return Err(CaptureError::new("this value stands in several places"));
            };
            return Ok(ReadPlan {
                source: part.source,
                follow: draft.follow,
                decode,
            });
        }
        let parts = draft.part_at_offset()?;
        let [part] = parts.as_slice() else {
            return Err(CaptureError::new("this value stands in several places"));
        };
        if part.pointed {
            // The source is the address of a composite in memory.
            let follow = SmallVec::from_slice(&[Step::Behind(draft.offset)]);
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

    /// Returns whether a conversion is between an integer and a floating-point number.
    pub(super) fn is_of_other_kind(&self) -> bool {
        let Some((conversion, r#type)) = self.conversion.zip(self.r#type.as_ref()) else {
            return false;
        };
        let to_float = match conversion {
            Conversion::Float32 | Conversion::Float64 => true,
            Conversion::Signed { .. } | Conversion::Unsigned { .. } | Conversion::Bool => false,
            Conversion::Address | Conversion::String => return false,
        };
        let stripped = match r#type.strip().kind() {
            TypeKind::Reference(target) => target.strip(),
            _ => r#type.strip(),
        };
        let is_float = matches!(stripped.kind(), TypeKind::Base(Encoding::Float));
        match (to_float, is_float) {
            (true, true) => {
                let size = if conversion == Conversion::Float32 {
                    4
                } else {
                    8
                };
                stripped.size() != Some(size)
            }
            (to_float, is_float) => to_float != is_float,
        }
    }

    fn decode(&self) -> Result<Decode, CaptureError> {
        if self.address {
            return Ok(Decode::AddressOf);
        }
        if self.r#type.as_ref().is_some_and(Type::is_big_endian) {
            return Err(other_order());
        }
        if let Some(conversion) = self.conversion {
            return Ok(match conversion {
                Conversion::Signed { bytes } => Decode::Signed(bytes),
                Conversion::Unsigned { bytes } => Decode::Unsigned(bytes),
                Conversion::Bool => Decode::Bool(1),
                Conversion::Float32 => Decode::Float32,
                Conversion::Float64 => Decode::Float64,
                Conversion::Address => Decode::Address,
                Conversion::String => {
                    let own = self.r#type.as_ref();
                    let character = own.and_then(|own| own.target()?.character());
                    // Without a character type, text consists of bytes.
                    let character = character.unwrap_or(Character::Byte);
                    match own {
                        Some(own) if matches!(own.strip().kind(), TypeKind::Array { .. }) => {
                            let bytes = own.size().and_then(|size| u32::try_from(size).ok());
                            Decode::StringInPlace {
                                bytes: bytes.unwrap_or(256),
                                character,
                            }
                        }
                        _ => Decode::StringPointer(character),
                    }
                }
            });
        }
        let Some(r#type) = &self.r#type else {
            return Ok(Decode::Unsigned(8));
        };
        decode_type(r#type, self.bits)
    }
}

/// Returns the source of what is `bytes` behind the start of another one; `None` if a plan cannot
/// read it.
fn moved(source: Source, bytes: u32) -> Option<Source> {
    /// The number of bytes of a register that plans read.
    const WORD: u32 = 8;
    let further = |shift: u8| {
        let bits = u8::try_from(bytes.checked_mul(8)?).ok()?;
        (bytes < WORD).then(|| shift.saturating_add(bits))
    };
    Some(match source {
        Source::Register { number, shift } => Source::Register {
            number,
            shift: further(shift)?,
        },
        Source::Vector { number, shift } => Source::Vector {
            number,
            shift: further(shift)?,
        },
        Source::Frame { offset } => Source::Frame {
            offset: offset.wrapping_add(i64::from(bytes)),
        },
        Source::Absolute { address } => Source::Absolute {
            address: address.wrapping_add(u64::from(bytes)),
        },
        Source::Constant { bits } => Source::Constant {
            bits: bits.checked_shr(u32::from(further(0)?))?,
        },
        Source::OptimizedOut => Source::OptimizedOut,
    })
}

fn other_order() -> CaptureError {
    CaptureError {
        message: "its highest byte comes first, which events do not read".to_owned(),
        help: None,
        is_final: true,
        lacks_parameter: false,
    }
}

/// Returns how the bytes of a type are decoded, or an error if they are not a single value.
pub(crate) fn decode_type(r#type: &Type, bits: Option<BitField>) -> Result<Decode, CaptureError> {
    let stripped = r#type.strip();
    if stripped.is_big_endian() {
        return Err(other_order());
    }
    let size = stripped.size().unwrap_or(8);
    let bytes = size.min(8) as u8;
    let bits = bits.or_else(|| stripped.value_bits());
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
        is_final: false,
        lacks_parameter: false,
    };
    Ok(match stripped.kind() {
        TypeKind::Pointer(_) | TypeKind::Reference(_) => Decode::Address,
        TypeKind::Base(Encoding::Boolean) => match integer(false) {
            Decode::UnsignedBits { bytes, shift, bits } => Decode::BoolBits { bytes, shift, bits },
            _ => Decode::Bool(bytes),
        },
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
        TypeKind::Array {
            element,
            dimensions,
            ..
        } if dimensions.len() == 1
            && let Some(character) = element.character() =>
        {
            Decode::StringInPlace {
                bytes: u32::try_from(size).unwrap_or(256),
                character,
            }
        }
        TypeKind::Function { .. } => Decode::AddressOf,
        _ => return Err(unreadable()),
    })
}

#[cfg(test)]
mod tests;
