//! The C types that the conversions of captures denote.

use juror_event::Conversion;
use juror_symbols::Type;

/// Returns the type that an event gives to bytes.
pub(super) fn converted_type(conversion: Conversion) -> Type {
    match type_word(conversion) {
        Some(word) => Type::builtin(word).unwrap_or(Type::void()),
        None => Type::void().pointer_to(),
    }
}

/// Returns the name of a number's type for casts, or `None` for an address or text.
pub(super) fn type_word(conversion: Conversion) -> Option<&'static str> {
    Some(match conversion {
        Conversion::Signed { bytes: 1 } => "i8",
        Conversion::Signed { bytes: 2 } => "i16",
        Conversion::Signed { bytes: 4 } => "i32",
        Conversion::Signed { .. } => "i64",
        Conversion::Unsigned { bytes: 1 } => "u8",
        Conversion::Unsigned { bytes: 2 } => "u16",
        Conversion::Unsigned { bytes: 4 } => "u32",
        Conversion::Unsigned { .. } => "u64",
        Conversion::Bool => "_Bool",
        Conversion::Float32 => "float",
        Conversion::Float64 => "double",
        Conversion::Address | Conversion::String => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversion_has_the_type_of_its_size_and_sign() {
        let signed = |bytes| Conversion::Signed { bytes };
        let unsigned = |bytes| Conversion::Unsigned { bytes };
        for (conversion, size, word) in [
            (signed(1), 1, Some("i8")),
            (signed(2), 2, Some("i16")),
            (signed(4), 4, Some("i32")),
            (signed(8), 8, Some("i64")),
            (unsigned(1), 1, Some("u8")),
            (unsigned(2), 2, Some("u16")),
            (unsigned(4), 4, Some("u32")),
            (unsigned(8), 8, Some("u64")),
            (Conversion::Bool, 1, Some("_Bool")),
            (Conversion::Float32, 4, Some("float")),
            (Conversion::Float64, 8, Some("double")),
            (Conversion::Address, 8, None),
            (Conversion::String, 8, None),
        ] {
            assert_eq!(type_word(conversion), word);
            let r#type = converted_type(conversion);
            assert_eq!(r#type.size(), Some(size), "{conversion:?}");
            assert_eq!(r#type.is_pointer(), word.is_none(), "{conversion:?}");
        }
    }
}
