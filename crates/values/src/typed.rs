//! Values of the debuggee with their types, before they are formatted or computed with.
//!
//! A value remains an address in memory as long as possible, so that a huge array costs nothing
//! until its elements are read.

pub mod pieces;
pub mod snapshot;
pub mod wide;

use crate::classes::upcast::{through, virtual_part};
use crate::error::ValueError;
use crate::typed::snapshot::Snapshot;
use crate::typed::wide::{Wide, half, is_quad};
use juror_event::Value;
use juror_symbols::{Base, BitField, Encoding, Type, TypeKind};

pub use juror_symbols::Memory;

/// Memory of which no byte can be read.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoMemory;

impl Memory for NoMemory {
    fn read(&self, _: u64, _: &mut [u8]) -> bool {
        false
    }
}

/// The largest size of a value that is read at once, in bytes.
pub const VALUE_SIZE_MAX: u64 = 1 << 20;

/// The location of the bytes of a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Location {
    /// At this address.
    Memory(u64),
    /// Held here: the value was in registers, is a constant, or was computed.
    Bytes(Vec<u8>),
    /// Held here in part: the compiler kept only some of the bits.
    Partial(Partial),
    /// The value has no location; the reason.
    Missing(ValueError),
}

/// Bytes of which some bits are unknown.
#[derive(Debug, Clone, PartialEq)]
pub struct Partial {
    /// The bytes; unknown bits are 0.
    pub bytes: Vec<u8>,
    /// A mask of the known bits.
    pub known: Vec<u8>,
}

impl Partial {
    /// Copies `size_bits` bits of `source`, from its bit `from` on, to the bit `start`. Bits beyond
    /// the end of `source` stay unknown.
    pub(crate) fn put(&mut self, start: u64, size_bits: u64, source: &[u8], from: u64) {
        for bit in 0..size_bits {
            let (to, from) = (start + bit, from + bit);
            let Some(taken) = source.get((from / 8) as usize) else {
                return;
            };
            let location = self.bytes.get_mut((to / 8) as usize);
            if let (Some(byte), Some(known)) = (location, self.known.get_mut((to / 8) as usize)) {
                *byte |= ((taken >> (from % 8)) & 1) << (to % 8);
                *known |= 1 << (to % 8);
            }
        }
    }

    /// Returns the location of the part at `offset`, of `size` bytes, or of the bit field in it.
    fn part(&self, offset: u64, size: Option<u64>, bits: Option<BitField>) -> Location {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let part = |all: &[u8]| {
            let rest = all.get(start..).unwrap_or(&[]);
            let end = size.and_then(|size| usize::try_from(size).ok());
            let end = end.unwrap_or(rest.len()).min(rest.len());
            rest.get(..end).unwrap_or(&[]).to_vec()
        };
        let part = Partial {
            bytes: part(&self.bytes),
            known: part(&self.known),
        };
        part.into_location(bits)
    }

    /// Returns the number of known bits, and of all bits, of the bytes or of the bit field.
    fn count(&self, bits: Option<BitField>) -> (u64, u64) {
        let all = self.known.len() as u64 * 8;
        let range = match bits {
            Some(bits) => bits.offset_bits..(bits.offset_bits + bits.size_bits).min(all),
            None => 0..all,
        };
        let total = range.end.saturating_sub(range.start);
        let is_known = |bit: &u64| {
            let byte = self.known.get((bit / 8) as usize);
            byte.is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
        };
        (range.filter(is_known).count() as u64, total)
    }

    /// Returns the location of a value with these bits: complete, partial, or optimized out.
    pub fn into_location(self, bits: Option<BitField>) -> Location {
        match self.count(bits) {
            (known, total) if known == total => Location::Bytes(self.bytes),
            (0, _) => Location::Missing(ValueError::OptimizedOut),
            _ => Location::Partial(self),
        }
    }
}

/// A value with its type.
#[derive(Debug, Clone, PartialEq)]
pub struct Typed {
    /// Its type.
    pub r#type: Type,
    /// The location of its bytes.
    pub location: Location,
    /// The bits of the location that a bit field consists of.
    pub bits: Option<BitField>,
    /// The memory at the location as it was, for a value of an earlier time.
    pub snapshot: Option<Snapshot>,
}

/// A number, with the properties that C's rules depend on.
#[derive(Debug, Clone, PartialEq)]
pub enum Number {
    /// An integer.
    Int(i128),
    /// A floating-point number.
    Float(f64),
    /// A floating-point number wider than `double`.
    Wide(Wide),
    /// An address, with the type of its target.
    Pointer(u64, Type),
    /// A boolean.
    Bool(bool),
}

impl Typed {
    /// Returns a value that is in memory.
    pub fn in_memory(r#type: Type, address: u64) -> Typed {
        Typed {
            r#type,
            location: Location::Memory(address),
            bits: None,
            snapshot: None,
        }
    }

    /// Returns a computed value.
    pub fn of_bytes(r#type: Type, bytes: Vec<u8>) -> Typed {
        Typed {
            r#type,
            location: Location::Bytes(bytes),
            bits: None,
            snapshot: None,
        }
    }

    /// Returns a value without a location, and the reason.
    pub fn missing(r#type: Type, why: impl Into<ValueError>) -> Typed {
        Typed {
            r#type,
            location: Location::Missing(why.into()),
            bits: None,
            snapshot: None,
        }
    }

    /// Returns an integer as a C value: `long`, or `unsigned long` if it does not fit. Returns
    /// `None` if it fits in neither.
    pub fn of_integer(number: i128) -> Option<Typed> {
        if let Ok(number) = i64::try_from(number) {
            return Some(Typed::of_bytes(
                Type::builtin("long")?,
                number.to_le_bytes().to_vec(),
            ));
        }
        let number = u64::try_from(number).ok()?;
        Some(Typed::of_bytes(
            Type::builtin("unsigned long")?,
            number.to_le_bytes().to_vec(),
        ))
    }

    /// Returns the address of a value that is in memory.
    pub fn address(&self) -> Option<u64> {
        match self.location {
            Location::Memory(address) => Some(address),
            Location::Bytes(_) | Location::Partial(_) | Location::Missing(_) => None,
        }
    }

    /// Returns a number as a C value, or `None` if no built-in C type represents it.
    pub fn of_number(number: &Number) -> Option<Typed> {
        match number {
            Number::Int(number) => Typed::of_integer(*number),
            Number::Float(number) => Some(Typed::of_bytes(
                Type::builtin("double")?,
                number.to_le_bytes().to_vec(),
            )),
            Number::Wide(number @ Wide::Extended(_)) => Some(Typed::of_bytes(
                Type::builtin("long double")?,
                number.bytes(),
            )),
            // The program's name of the type is not known here.
            Number::Wide(Wide::Quad(_)) => None,
            Number::Pointer(address, target) => Some(Typed::of_bytes(
                target.pointer_to(),
                address.to_le_bytes().to_vec(),
            )),
            Number::Bool(truth) => Some(Typed::of_bytes(
                Type::builtin("bool")?,
                vec![u8::from(*truth)],
            )),
        }
    }

    /// Returns the first `size` bytes of the value; bytes beyond the end of a computed value are 0.
    pub fn bytes(&self, memory: &dyn Memory, size: u64) -> Result<Vec<u8>, ValueError> {
        if size > VALUE_SIZE_MAX {
            return Err(format!("{size} bytes are too many to show at once").into());
        }
        match &self.location {
            Location::Missing(why) => Err(why.clone()),
            Location::Partial(_) => Err(ValueError::PartlyOptimizedOut),
            Location::Bytes(bytes) => {
                let mut bytes = bytes.clone();
                bytes.resize(size as usize, 0);
                Ok(bytes)
            }
            Location::Memory(address) => {
                let mut bytes = vec![0; size as usize];
                if self.memory(memory).read(*address, &mut bytes) {
                    Ok(bytes)
                } else {
                    Err(ValueError::Unreadable(*address))
                }
            }
        }
    }

    /// Returns the part of the value at `offset` bytes.
    pub fn part(&self, offset: u64, r#type: Type, bits: Option<BitField>) -> Typed {
        let location = match &self.location {
            Location::Memory(address) => Location::Memory(address.wrapping_add(offset)),
            Location::Bytes(bytes) => {
                Location::Bytes(bytes.get(offset as usize..).unwrap_or(&[]).to_vec())
            }
            Location::Partial(partial) => partial.part(offset, r#type.size(), bits),
            Location::Missing(why) => Location::Missing(why.clone()),
        };
        Typed {
            r#type,
            location,
            bits,
            snapshot: self.snapshot.clone(),
        }
    }

    /// Returns a member by name, also of a virtual base class, and of the current variant of a Rust
    /// enumeration.
    pub fn field(&self, name: &str, memory: &dyn Memory) -> Result<Typed, ValueError> {
        if let Some(field) = self.r#type.field(name) {
            return Ok(self.member(&field));
        }
        if let Some(found) = self.field_of_variant(name, memory) {
            return found;
        }
        if let [first, .., last] = &*self.r#type.ambiguous_field(name) {
            let class = self.r#type.strip().name();
            return Err(format!(
                "`{name}` is ambiguous in `{class}`: it is `{first}::{name}` or `{last}::{name}`"
            )
            .into());
        }
        let found = self.r#type.virtual_field(name);
        let (steps, field) = found.ok_or_else(|| self.no_field(name))?;
        match &self.location {
            Location::Memory(address) => {
                let start = through(&steps, *address, &self.memory(memory))?;
                Ok(self.related(self.r#type.clone(), start).member(&field))
            }
            Location::Missing(why) => Err(why.clone()),
            Location::Bytes(_) | Location::Partial(_) => Err(format!(
                "`{name}` is a member of a virtual base class, which can only be located in an \
                 object in memory"
            )
            .into()),
        }
    }

    /// Returns the part that is a direct base class of its class.
    pub fn base(&self, base: &Base, memory: &dyn Memory) -> Result<Typed, ValueError> {
        match (base.offset, &self.location) {
            (Some(offset), _) => Ok(self.part(offset, base.r#type.clone(), None)),
            (None, Location::Memory(address)) => {
                let start = virtual_part(*address, &self.r#type, base, &self.memory(memory))?;
                Ok(self.related(base.r#type.clone(), start))
            }
            (None, Location::Missing(why)) => Err(why.clone()),
            (None, Location::Bytes(_) | Location::Partial(_)) => Err(format!(
                "its virtual base class `{}` can only be located in an object in memory",
                base.r#type.name()
            )
            .into()),
        }
    }

    /// Returns the value of a member.
    pub fn member(&self, field: &juror_symbols::Field) -> Typed {
        match field.bits {
            // The bits count from the start of the structure: take the bytes
            // that hold them.
            Some(bits) => {
                let byte = bits.offset_bits / 8;
                let inside = BitField {
                    offset_bits: bits.offset_bits % 8,
                    ..bits
                };
                self.part(byte, field.r#type.clone(), Some(inside))
            }
            None => self.part(field.offset, field.r#type.clone(), None),
        }
    }

    /// Returns the message that the type has no field of this name.
    pub fn no_field(&self, name: &str) -> String {
        let names = self.r#type.field_names();
        if names.is_empty() {
            return format!("`{}` has no fields", self.r#type.name());
        }
        let names: Vec<&str> = names.iter().map(|name| &**name).collect();
        let list = names
            .iter()
            .take(12)
            .copied()
            .collect::<Vec<_>>()
            .join(", ");
        format!(
            "`{}` has no field `{name}`; it has: {list}",
            self.r#type.name()
        )
    }

    /// Returns the value as a number, or an error if its type is not numeric or it cannot be read.
    pub fn number(&self, memory: &dyn Memory) -> Result<Number, ValueError> {
        let stripped = self.r#type.strip();
        match stripped.kind() {
            TypeKind::Base(encoding) => self.base_number(memory, encoding, &stripped),
            TypeKind::Enumeration { underlying, .. } => {
                let signed = underlying.is_none_or(
                    |inner| matches!(inner.strip().kind(), TypeKind::Base(e) if e.is_signed()),
                );
                let encoding = if signed {
                    Encoding::Signed
                } else {
                    Encoding::Unsigned
                };
                self.base_number(memory, encoding, &stripped)
            }
            TypeKind::Pointer(target) | TypeKind::Reference(target) => {
                Ok(Number::Pointer(word(&self.bytes(memory, 8)?), target))
            }
            // An array stands for the address of its first element.
            TypeKind::Array { .. } => match (&self.location, self.r#type.target()) {
                (Location::Memory(address), Some(target)) => Ok(Number::Pointer(*address, target)),
                _ => Err("this array is not in memory, so it has no address".into()),
            },
            TypeKind::Function { .. } => match &self.location {
                Location::Memory(address) => Ok(Number::Pointer(*address, stripped)),
                _ => Err("this function has no address".into()),
            },
            TypeKind::MemberPointer { .. } => Err(format!(
                "`{}` is a pointer to a member and no number: object.*m is the member, and m == \
                 &Class::member compares",
                self.r#type.name()
            )
            .into()),
            _ => Err(format!("a value of type `{}` is not a number", self.r#type.name()).into()),
        }
    }

    fn base_number(
        &self,
        memory: &dyn Memory,
        encoding: Encoding,
        r#type: &Type,
    ) -> Result<Number, ValueError> {
        let size = r#type.size().unwrap_or(8).min(16);
        let bits = self.bits.or_else(|| r#type.value_bits());
        let whole = match bits {
            Some(bits) => (bits.offset_bits + bits.size_bits).div_ceil(8).min(16),
            None => size,
        };
        let bytes = self.bytes(memory, whole)?;
        let mut wide = [0; 16];
        wide[..bytes.len()].copy_from_slice(&bytes);
        let is_big = r#type.is_big_endian();
        if is_big {
            wide[..bytes.len()].reverse();
        }
        let raw = u128::from_le_bytes(wide);
        let (raw, width) = match bits {
            Some(bits) => (
                raw >> bits.shift(is_big).min(127),
                bits.size_bits.clamp(1, 128) as u32,
            ),
            None => (raw, (size * 8).clamp(8, 128) as u32),
        };
        let unused = 128 - width;
        let unsigned = (raw << unused) >> unused;
        let signed = ((raw << unused) as i128) >> unused;
        match encoding {
            Encoding::Boolean => Ok(Number::Bool(unsigned != 0)),
            Encoding::Float if size == 4 => {
                Ok(Number::Float(f64::from(f32::from_bits(unsigned as u32))))
            }
            Encoding::Float if size == 8 => Ok(Number::Float(f64::from_bits(unsigned as u64))),
            Encoding::Float if size == 16 => Ok(Number::Wide(Wide::read(unsigned, r#type))),
            Encoding::Float if size == 2 => Ok(Number::Float(half(unsigned as u16, r#type))),
            Encoding::Float => {
                Err(format!("the format of a fraction of {size} bytes is not known").into())
            }
            Encoding::ComplexFloat => Err("a complex number is not a single number".into()),
            Encoding::Other if is_decimal(r#type) => {
                Err("decimal fractions are shown, and not computed with".into())
            }
            Encoding::Other if r#type.name() == "complex" => Err(
                "a complex number, and its parts are whole numbers of which the compiler does \
                 not say more; `*(int *)&z@2` shows them as `int`"
                    .into(),
            ),
            Encoding::Other if is_complex_integer(r#type) => {
                Err("a complex number is not a single number".into())
            }
            encoding if encoding.is_signed() => Ok(Number::Int(signed)),
            _ => i128::try_from(unsigned)
                .map(Number::Int)
                .map_err(|_| "the number is larger than can be computed with".into()),
        }
    }

    /// Returns the value as monitors represent it.
    pub fn to_value(&self, memory: &dyn Memory) -> Result<Value, ValueError> {
        Ok(match self.number(memory)? {
            Number::Int(number) => Value::Int(number),
            Number::Float(number) => Value::Float(number),
            Number::Wide(number) => Value::Float(number.double()),
            Number::Pointer(address, _) => Value::Address(address),
            Number::Bool(truth) => Value::Bool(truth),
        })
    }
}

/// Returns the type of the parts of a complex number, or `None` if no built-in type describes them.
pub fn complex_part(r#type: &Type) -> Option<Type> {
    Type::builtin(match r#type.size()? {
        8 => "float",
        16 => "double",
        32 if !is_quad(r#type) => "long double",
        _ => return None,
    })
}

/// Returns whether a type is one of C's decimal floating-point types.
pub(crate) fn is_decimal(r#type: &Type) -> bool {
    r#type.name().starts_with("_Decimal")
}

/// Returns whether a type is a complex integer (`int _Complex`).
pub(crate) fn is_complex_integer(r#type: &Type) -> bool {
    r#type.name().starts_with("complex ")
}

fn word(bytes: &[u8]) -> u64 {
    let mut wide = [0; 8];
    let count = bytes.len().min(8);
    wide[..count].copy_from_slice(&bytes[..count]);
    u64::from_le_bytes(wide)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(type_name: &str, bytes: &[u8], expected: Number) {
        let typed = Typed::of_bytes(Type::builtin(type_name).unwrap(), bytes.to_vec());
        assert_eq!(typed.number(&NoMemory), Ok(expected), "{type_name}");
    }

    #[test]
    fn numbers_are_read_with_their_types() {
        check("int", &[0xff, 0xff, 0xff, 0xff], Number::Int(-1));
        check(
            "unsigned int",
            &[0xff, 0xff, 0xff, 0xff],
            Number::Int(0xffff_ffff),
        );
        check("char", &[0x80], Number::Int(-128));
        check("bool", &[2], Number::Bool(true));
        check("double", &1.5f64.to_le_bytes(), Number::Float(1.5));
        check("float", &0.25f32.to_le_bytes(), Number::Float(0.25));
        let mut long_double = [0; 16];
        long_double[7] = 0xc0; // 1.5
        long_double[8..10].copy_from_slice(&16383u16.to_le_bytes());
        let wide = Wide::of(&Number::Float(1.5), false).expect("a number");
        check("long double", &long_double, Number::Wide(wide));
    }

    #[test]
    fn bit_fields_are_cut_out() {
        let bits = Some(BitField {
            offset_bits: 3,
            size_bits: 5,
        });
        let mut typed = Typed::of_bytes(Type::builtin("int").unwrap(), vec![0b1110_1000]);
        typed.bits = bits;
        assert_eq!(typed.number(&NoMemory), Ok(Number::Int(-3)));
        typed.r#type = Type::builtin("unsigned").unwrap();
        assert_eq!(typed.number(&NoMemory), Ok(Number::Int(29)));
    }

    #[test]
    fn a_missing_value_gives_its_reason() {
        let typed = Typed::missing(Type::builtin("int").unwrap(), ValueError::OptimizedOut);
        assert_eq!(typed.number(&NoMemory), Err(ValueError::OptimizedOut));
        let typed = Typed::in_memory(Type::builtin("int").unwrap(), 16);
        assert_eq!(typed.number(&NoMemory), Err(ValueError::Unreadable(16)));
    }
}
