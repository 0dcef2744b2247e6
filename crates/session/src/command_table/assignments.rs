//! Assignments, as a user writes them.

/// Splits `PLACE = VALUE` at the sign that is not part of another operator.
pub(crate) fn split(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let mut quote = None;
    let mut position = 0;
    while let Some(&byte) = bytes.get(position) {
        match (quote, byte) {
            (Some(_), b'\\') => position += 1,
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'=') => {
                let before = position.checked_sub(1).and_then(|at| bytes.get(at));
                let is_part = matches!(before, Some(b'=' | b'!' | b'<' | b'>'));
                let is_comparison = bytes.get(position + 1) == Some(&b'=');
                if !is_part && !is_comparison {
                    let (place, value) = (text.get(..position)?, text.get(position + 1..)?);
                    return Some((place.trim(), value.trim()));
                }
                position += usize::from(is_comparison);
            }
            (None, _) => {}
        }
        position += 1;
    }
    None
}

/// Operators that may precede the sign: `+=`.
const OPERATORS: [char; 8] = ['+', '-', '*', '/', '%', '&', '|', '^'];

/// A variable that is increased or decreased by one: `*p++`, `-(--i)`.
pub(crate) struct IncrementOrDecrement<'a> {
    /// The operators that are applied to its value: `*`.
    pub before: &'a str,
    /// The variable.
    pub place: &'a str,
    /// The operator between the variable and the 1.
    pub operator: char,
    /// Whether its value is the old one.
    pub is_postfix: bool,
}

/// Splits `++PLACE`, `PLACE--`, `*PLACE++`: as in C, `++` binds more tightly than an operator
/// before it.
pub(crate) fn split_step(text: &str) -> Option<IncrementOrDecrement<'_>> {
    let text = text.trim();
    let mut rest = text;
    loop {
        for (sign, operator) in [("++", '+'), ("--", '-')] {
            let prefixed = rest.strip_prefix(sign).map(|place| (place, false));
            let found = prefixed.or_else(|| Some((rest.strip_suffix(sign)?, true)));
            let Some((place, is_postfix)) = found.map(|(it, is)| (it.trim(), is)) else {
                continue;
            };
            let is_prefix = |it: char| "*&!~-+".contains(it);
            if is_postfix && place.starts_with(is_prefix) {
                continue;
            }
            return (!place.is_empty()).then(|| IncrementOrDecrement {
                before: text.strip_suffix(rest).unwrap_or(""),
                place,
                operator,
                is_postfix,
            });
        }
        rest = rest
            .strip_prefix(['*', '&', '!', '~', '-', '+'])?
            .trim_start();
    }
}

/// Splits `PLACE += VALUE`, `PLACE++` and `PLACE--`, with the whole value.
pub(crate) fn split_any(text: &str) -> Option<(String, String)> {
    if let Some(step) = split_step(text) {
        let (place, operator) = (step.place, step.operator);
        return Some((place.to_owned(), format!("({place}) {operator} 1")));
    }
    let (place, value) = split(text)?;
    Some(match place.strip_suffix(OPERATORS) {
        Some(shorter) => {
            let operator = &place[shorter.len()..];
            let shorter = shorter.trim();
            (
                shorter.to_owned(),
                format!("({shorter}) {operator} ({value})"),
            )
        }
        None => (place.to_owned(), value.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(&str, &str)>) {
        assert_eq!(split(text), expected, "{text}");
    }

    #[test]
    fn an_assignment_is_split_at_its_sign() {
        check("x = 1", Some(("x", "1")));
        check("x=y==z", Some(("x", "y==z")));
        check("a[i == 2] = 3", Some(("a[i == 2]", "3")));
        check("a[i <= 2] = b >= 3", Some(("a[i <= 2]", "b >= 3")));
        check("c = '='", Some(("c", "'='")));
        check("m['='] = 1", Some(("m['=']", "1")));
        check("a == b", None);
        check("a != b", None);
        check("", None);
    }

    #[track_caller]
    fn check_step(text: &str, expected: Option<(&str, &str, char, bool)>) {
        let found = split_step(text);
        let found = found.map(|it| (it.before, it.place, it.operator, it.is_postfix));
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn an_increment_binds_more_tightly_than_an_operator_before_it() {
        check_step("i++", Some(("", "i", '+', true)));
        check_step("--i", Some(("", "i", '-', false)));
        check_step("*p++", Some(("*", "p", '+', true)));
        check_step("* *p--", Some(("* *", "p", '-', true)));
        check_step("*++p", Some(("*", "p", '+', false)));
        check_step("++*p", Some(("", "*p", '+', false)));
        check_step("(*p)++", Some(("", "(*p)", '+', true)));
        check_step("-a[2]--", Some(("-", "a[2]", '-', true)));
        check_step("- --i", Some(("- ", "i", '-', false)));
        check_step("- -i", None);
        check_step("++", None);
        check_step("i + 1", None);
        check_step("", None);
    }
}
