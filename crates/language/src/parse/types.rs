//! Parser of the types that a property can assign to a value.

use super::Parser;
use crate::suggest::suggest;
use crate::token::TokenKind;
use juror_event::Conversion;
use juror_fault::Diagnostic;

/// The first words of types, and the types without further words.
const TYPES: &[(&str, Conversion)] = &[
    ("char", Conversion::Signed { bytes: 1 }),
    ("short", Conversion::Signed { bytes: 2 }),
    ("int", Conversion::Signed { bytes: 4 }),
    ("long", Conversion::Signed { bytes: 8 }),
    ("unsigned", Conversion::Unsigned { bytes: 4 }),
    ("unsigned char", Conversion::Unsigned { bytes: 1 }),
    ("unsigned short", Conversion::Unsigned { bytes: 2 }),
    ("unsigned int", Conversion::Unsigned { bytes: 4 }),
    ("unsigned long", Conversion::Unsigned { bytes: 8 }),
    ("i8", Conversion::Signed { bytes: 1 }),
    ("i16", Conversion::Signed { bytes: 2 }),
    ("i32", Conversion::Signed { bytes: 4 }),
    ("i64", Conversion::Signed { bytes: 8 }),
    ("u8", Conversion::Unsigned { bytes: 1 }),
    ("u16", Conversion::Unsigned { bytes: 2 }),
    ("u32", Conversion::Unsigned { bytes: 4 }),
    ("u64", Conversion::Unsigned { bytes: 8 }),
    ("size", Conversion::Unsigned { bytes: 8 }),
    ("bool", Conversion::Bool),
    ("float", Conversion::Float32),
    ("f32", Conversion::Float32),
    ("double", Conversion::Float64),
    ("f64", Conversion::Float64),
    ("address", Conversion::Address),
    ("text", Conversion::String),
];

/// C names of some types; for casts, which use C syntax.
const ALIASES: &[(&str, &str)] = &[
    ("signed char", "i8"),
    ("signed", "int"),
    ("signed int", "int"),
    ("size_t", "size"),
    ("ssize_t", "i64"),
    ("usize", "size"),
    ("isize", "i64"),
    ("_Bool", "bool"),
    ("unsigned long int", "u64"),
    ("unsigned long long", "u64"),
    ("long int", "i64"),
    ("long long", "i64"),
    ("int8_t", "i8"),
    ("int16_t", "i16"),
    ("int32_t", "i32"),
    ("int64_t", "i64"),
    ("uint8_t", "u8"),
    ("uint16_t", "u16"),
    ("uint32_t", "u32"),
    ("uint64_t", "u64"),
    ("uintptr_t", "address"),
];

/// Returns the conversion that a type name denotes.
pub(crate) fn conversion(name: &str) -> Option<Conversion> {
    let name = ALIASES
        .iter()
        .find(|(alias, _)| *alias == name)
        .map_or(name, |(_, name)| name);
    TYPES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, conversion)| *conversion)
}

impl Parser<'_> {
    /// Parses the type after the colon of a capture.
    pub(super) fn capture_type(&mut self) -> Option<Conversion> {
        let start = self.start();
        if self.kind() != TokenKind::Word {
            let error = self.expected("a type");
            self.report(error.help(known_types()));
            return None;
        }
        let mut name = self.text().to_owned();
        self.advance();
        while matches!(
            name.as_str(),
            "unsigned" | "signed" | "long" | "unsigned long"
        ) && matches!(self.text(), "char" | "short" | "int" | "long")
        {
            name.push(' ');
            name.push_str(self.text());
            self.advance();
        }
        let found = conversion(&name);
        if found.is_none() {
            let error = Diagnostic::error(
                "unknown-type",
                self.span_from(start),
                format!("there is no type `{name}`"),
            );
            let error = match suggest(&name, TYPES.iter().map(|(known, _)| *known)) {
                Some(similar) => error.help(format!("did you mean `{similar}`?")),
                None => error.help(known_types()),
            };
            self.report(error);
        }
        found
    }
}

fn known_types() -> String {
    "known types: char short int long, unsigned …, i8 to i64, u8 to u64, size, bool, float, \
     double, address, text"
        .to_owned()
}
