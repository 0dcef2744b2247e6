//! The layout of `std::basic_string` of libstdc++ where the program only declares it.
//!
//! Until C++17 the library's header declares the strings of `char` and `wchar_t` as
//! instantiated elsewhere (`extern template`), and clang leaves their debug information to
//! the library (`-fno-standalone-debug`, its default), which is installed without any.
//!
//! **Invariant**: the layout is part of the library's ABI, but nothing in the file says that
//! an object has it. [`Composite::by_abi`] marks such types, and their values are checked
//! before they are shown.
//!
//! Source: `bits/basic_string.h` and `bits/cow_string.h` of GCC.

use super::system::made;
use super::{Composite, CompositeKind, Encoding, Source, Type, TypeKind};
use crate::dwarf::{DebugInfo, DieRef};
use std::sync::Arc;

/// The layout that a library's ABI gives a class that the program only declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AbiLayout {
    /// A pointer, the length, and a buffer of 16 bytes for short strings
    /// (`std::__cxx11::basic_string`).
    StringWithBuffer,
    /// A pointer behind the length, the capacity and a count of owners
    /// (`std::basic_string` with `_GLIBCXX_USE_CXX11_ABI=0`).
    SharedString,
}

/// The size in bytes of the buffer for short strings.
const BUFFER_SIZE: u64 = 16;

/// Returns the layout of a class that is only declared, by its whole name.
pub(super) fn layout(name: &str) -> Option<Composite> {
    let plain: String = name.split_whitespace().collect();
    let (by_abi, arguments) = match plain.strip_prefix("std::__cxx11::basic_string<") {
        Some(arguments) => (AbiLayout::StringWithBuffer, arguments),
        None => (
            AbiLayout::SharedString,
            plain.strip_prefix("std::basic_string<")?,
        ),
    };
    let (character, others) = arguments.split_once(',')?;
    let is_standard =
        format!("std::char_traits<{character}>,std::allocator<{character}>>") == others;
    let character = is_standard.then(|| character_type(character)).flatten()?;
    let pointer = character.pointer_to();
    let pointer = [("_M_p", 0, &pointer)];
    let holder = made("_Alloc_hider", CompositeKind::Struct, 8, pointer);
    let length = Type::builtin("unsigned long")?;
    let count = BUFFER_SIZE.checked_div(character.size()?)?;
    let buffer = character.array_of(count);
    let parts = [
        ("_M_local_buf", 0, &buffer),
        ("_M_allocated_capacity", 0, &length),
    ];
    let rest = made("{...}", CompositeKind::Union, BUFFER_SIZE, parts);
    let fields: &[(&str, u64, &Type)] = match by_abi {
        AbiLayout::StringWithBuffer => &[
            ("_M_dataplus", 0, &holder),
            ("_M_string_length", 8, &length),
            ("", 16, &rest),
        ],
        AbiLayout::SharedString => &[("_M_dataplus", 0, &holder)],
    };
    let whole = made("", CompositeKind::Class, 0, fields.iter().copied());
    let mut composite = Composite::clone(&*whole.composite()?);
    for field in &mut composite.fields {
        // The buffer and the capacity are members of an anonymous union.
        field.name.take_if(|name| name.is_empty());
    }
    composite.by_abi = Some(by_abi);
    composite.by_reference = Some(true);
    Some(composite)
}

/// Returns a character type of C++ on this machine.
fn character_type(name: &str) -> Option<Type> {
    let (name, encoding, size) = match name {
        "char" => return Type::builtin(name),
        "wchar_t" => ("wchar_t", Encoding::Signed, 4),
        "char8_t" => ("char8_t", Encoding::Unicode, 1),
        "char16_t" => ("char16_t", Encoding::Unicode, 2),
        "char32_t" => ("char32_t", Encoding::Unicode, 4),
        _ => return None,
    };
    let source = Source::Builtin {
        name,
        encoding,
        size,
    };
    Some(Type { source })
}

/// Returns the size in bytes of a class with a layout by the ABI.
pub(super) fn size(composite: &Composite) -> Option<u64> {
    composite.by_abi.map(|layout| match layout {
        AbiLayout::StringWithBuffer => 16 + BUFFER_SIZE,
        AbiLayout::SharedString => 8,
    })
}

/// Returns the layout by the ABI of a class that is only declared at `die`.
pub(super) fn declared(info: &Arc<DebugInfo>, die: DieRef) -> Option<TypeKind> {
    let record = info.facts(die.unit)?.type_at(die)?;
    layout(&record.name).map(|composite| TypeKind::Composite(Arc::new(composite)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The size of the type, and the size of its characters.
    fn sizes(name: &str) -> Option<(u64, u64)> {
        let composite = layout(name)?;
        let holder = composite.fields.first()?.r#type.composite()?;
        let characters = holder.fields.first()?.r#type.target()?;
        Some((size(&composite)?, characters.size()?))
    }

    #[test]
    fn strings_of_the_library_alone_have_a_layout() {
        for (character, size) in [("char", 1), ("wchar_t", 4), ("char16_t", 2)] {
            let arguments = format!(
                "<{character}, std::char_traits<{character}>, std::allocator<{character}> >"
            );
            for (head, whole) in [("std::__cxx11::basic_string", 32), ("std::basic_string", 8)] {
                assert_eq!(sizes(&format!("{head}{arguments}")), Some((whole, size)));
            }
            for head in [
                "std::__1::basic_string",
                "mine::basic_string",
                "basic_string",
            ] {
                assert_eq!(sizes(&format!("{head}{arguments}")), None, "{head}");
            }
        }
        for name in [
            "std::__cxx11::basic_string",
            "std::__cxx11::basic_string<char>",
            "std::__cxx11::basic_string<char, mine::traits, std::allocator<char> >",
            "std::__cxx11::basic_string<char, std::char_traits<char>, mine::allocator<char> >",
            "std::__cxx11::basic_string<int, std::char_traits<int>, std::allocator<int> >",
            "std::__cxx11::basic_stringbuf<char, std::char_traits<char>, std::allocator<char> >",
        ] {
            assert_eq!(sizes(name), None, "{name}");
        }
    }
}
