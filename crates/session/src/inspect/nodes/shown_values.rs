//! Values as they are shown, read as expressions.
//!
//! A front end lets the user change the text that it shows: what the text says besides the value,
//! such as the character of a number or the name of an address, is left out.

use crate::inspect::expressions;
use crate::session::Session;
use juror_language::ExpressionKind;
use juror_symbols::{Type, TypeKind};

/// Returns the expression that a text stands for, given the type of what it is assigned to: the
/// text itself unless it is only the form in which a value is shown.
pub(super) fn meant(session: &mut Session, target: Option<Type>, text: &str) -> String {
    let of_names = target.and_then(|target| names_of(&target, text));
    if let Some(number) = of_names {
        return number;
    }
    if has_value(session, text) {
        return text.to_owned();
    }
    let meant = bare(text).map(str::to_owned);
    meant
        .filter(|meant| has_value(session, meant))
        .unwrap_or_else(|| text.to_owned())
}

fn has_value(session: &mut Session, text: &str) -> bool {
    // A call is made by the assignment, if at all.
    let read = expressions::read(session, text);
    read.is_ok_and(|it| {
        let is_text = matches!(it.kind, ExpressionKind::Text(_));
        is_text || it.has_effects() || expressions::evaluate_expression(session, &it).is_ok()
    })
}

/// Returns the number in `97 'a'`, `0x401136 <main>`, `0x402010 "ham"`, `@0x7ffe10: 5`.
fn bare(text: &str) -> Option<&str> {
    let text = text.trim();
    if let Some(referent) = text.strip_prefix('@') {
        let (_, value) = referent.split_once(": ")?;
        return Some(bare(value).unwrap_or(value));
    }
    // A pointer may have its type before it.
    let start = if text.starts_with('(') {
        text.find(") ")? + 2
    } else {
        0
    };
    let (number, remark) = text.get(start..)?.split_once(' ')?;
    let is_number = number.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    let is_remark = remark.starts_with(['\'', '"', '<', 'L', 'u', 'U', 'b']);
    let is_whole = number
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.'));
    (is_number && is_whole && is_remark).then_some(text.get(..start + number.len())?)
}

/// Returns the number that the names of enumerators stand for: `RED`, `READ | WRITE`, `[ ZF PF ]`.
fn names_of(target: &Type, text: &str) -> Option<String> {
    let target = target.strip();
    let target = match target.kind() {
        TypeKind::Reference(target) => target.strip(),
        _ => target,
    };
    let TypeKind::Enumeration { enumerators, .. } = target.kind() else {
        return None;
    };
    let text = text.trim();
    let flags = text.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let combined = text.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
    let words = match flags {
        Some(flags) => flags.split_whitespace().collect::<Vec<_>>(),
        None => combined.unwrap_or(text).split('|').map(str::trim).collect(),
    };
    let mut number = 0;
    for word in &words {
        let last = word.rsplit("::").next().unwrap_or(word);
        let known = enumerators.iter().find(|it| *it.name == **word);
        let known = known.or_else(|| enumerators.iter().find(|it| *it.name == *last));
        number |= known?.value;
    }
    Some(number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_symbols::processor_flags;

    #[test]
    fn remarks_are_left_out() {
        for (text, expected) in [
            ("97 'a'", Some("97")),
            ("-56 '\\310'", Some("-56")),
            ("8364 L'€'", Some("8364")),
            ("0x401136 <main+4>", Some("0x401136")),
            ("0x402010 \"ham\"", Some("0x402010")),
            (
                "(int (*)(int)) 0x401136 <one>",
                Some("(int (*)(int)) 0x401136"),
            ),
            ("@0x7ffe10: 97 'a'", Some("97")),
            ("97", None),
            ("a 'a'", None),
            ("1 + 2", None),
            ("<optimized out>", None),
            ("", None),
        ] {
            assert_eq!(bare(text), expected, "{text}");
        }
    }

    #[test]
    fn names_are_a_number() {
        let flags = |text| names_of(&processor_flags(), text);
        assert_eq!(flags("[ ZF PF ]").as_deref(), Some("68"));
        assert_eq!(flags("ZF | PF").as_deref(), Some("68"));
        assert_eq!(flags("(ZF | eflags::PF)").as_deref(), Some("68"));
        assert_eq!(flags("[ ]").as_deref(), Some("0"));
        assert_eq!(flags("[ XF ]"), None);
        assert_eq!(flags("3"), None);
        assert_eq!(names_of(&Type::void(), "ZF"), None);
    }
}
