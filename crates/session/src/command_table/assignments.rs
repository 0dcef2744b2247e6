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

/// Splits `PLACE += VALUE`, `PLACE++` and `PLACE--`, with the whole value.
pub(crate) fn split_any(text: &str) -> Option<(String, String)> {
    let text = text.trim();
    for (suffix, operator) in [("++", '+'), ("--", '-')] {
        let inner = text
            .strip_suffix(suffix)
            .or_else(|| text.strip_prefix(suffix));
        if let Some(place) = inner.map(str::trim).filter(|it| !it.is_empty()) {
            return Some((place.to_owned(), format!("({place}) {operator} 1")));
        }
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
}
