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
