//! The types of registers that hold more than a number: vectors, viewed as elements of
//! several types, and flags, whose bits have names.
//!
//! Sources: *Intel 64 and IA-32 Architectures Software Developer's Manual*, volume 1,
//! sections 3.4.3 and 10.2; the names of the parts are those of gdb.

use super::system::made;
use super::{CompositeKind, Enumerator, Source, Type};
use juror_arch::{flags, names};

/// Returns the type of a vector register of 16 or 32 bytes.
pub fn vector_register(bytes: u64) -> Option<Type> {
    let (name, names) = match bytes {
        16 => (
            "vec128",
            [
                "v4_float",
                "v2_double",
                "v16_int8",
                "v8_int16",
                "v4_int32",
                "v2_int64",
                "uint128",
            ],
        ),
        32 => (
            "vec256",
            [
                "v8_float",
                "v4_double",
                "v32_int8",
                "v16_int16",
                "v8_int32",
                "v4_int64",
                "v2_int128",
            ],
        ),
        _ => return None,
    };
    let elements = [
        "float",
        "double",
        "i8",
        "i16",
        "i32",
        "i64",
        "unsigned __int128",
    ];
    let mut fields = Vec::with_capacity(names.len());
    for (name, element) in names.into_iter().zip(elements) {
        let element = Type::builtin(element)?;
        let of = match bytes / element.size()? {
            1 => element,
            count => element.array_of(count),
        };
        fields.push((name, of));
    }
    let fields = fields.iter().map(|(name, of)| (*name, 0, of));
    Some(made(name, CompositeKind::Union, bytes, fields))
}

/// Returns the type of the flags register.
pub fn processor_flags() -> Type {
    Type {
        source: Source::Flags {
            name: names::FLAGS,
            bits: flags::NAMES,
        },
    }
}

/// Returns the type of the control and status register of vector instructions (MXCSR).
pub fn vector_control() -> Type {
    Type {
        source: Source::Flags {
            name: names::VECTOR_CONTROL,
            bits: flags::VECTOR_CONTROL_NAMES,
        },
    }
}

/// Returns named bits as enumerators.
pub(super) fn enumerators(bits: &[(u8, &str)]) -> Vec<Enumerator> {
    let enumerator = |(bit, name): &(u8, &str)| Enumerator {
        name: (*name).into(),
        value: 1 << bit,
    };
    bits.iter().map(enumerator).collect()
}

impl Type {
    /// Returns the named bits of a flags type.
    pub fn flag_names(&self) -> Option<&'static [(u8, &'static str)]> {
        match &self.source {
            Source::Flags { bits, .. } => Some(*bits),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_vectors_fill_them() {
        for bytes in [16, 32] {
            let vector = vector_register(bytes).expect("a type");
            assert_eq!(vector.size(), Some(bytes));
            let fields = &vector.composite().expect("a union").fields;
            assert_eq!(fields.len(), 7);
            for field in fields {
                assert_eq!(field.r#type.size(), Some(bytes), "{:?}", field.name);
            }
        }
        assert!(vector_register(64).is_none());
    }

    #[test]
    fn flags_are_numbers_of_four_bytes() {
        let flags = processor_flags();
        assert_eq!((flags.name().as_str(), flags.size()), ("eflags", Some(4)));
        assert_eq!(
            flags.flag_names().and_then(|it| it.first()),
            Some(&(0, "CF"))
        );
        assert_ne!(flags, vector_control());
    }
}
