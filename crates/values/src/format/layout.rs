//! Lays out a value over several lines: each named field on a line of its own, as gdb does. Lists
//! of plain values stay on one line.
//!
//! Invariant: only spaces and line breaks are inserted, and none inside quotes.

/// The indentation of each level of braces.
const INDENT: usize = 2;
/// Deeper values stay on one line: the formatter cuts them long before.
const DEPTH_MAX: usize = 64;

/// Lays out a value that was formatted on one line.
pub fn pretty(text: &str) -> String {
    let mut laid = String::with_capacity(text.len() * 2);
    lay(text, 0, &mut laid);
    laid
}

fn lay(text: &str, depth: usize, laid: &mut String) {
    let Some((before, items, after)) = split(text).filter(|_| depth < DEPTH_MAX) else {
        laid.push_str(text);
        return;
    };
    laid.push_str(before);
    laid.push('{');
    let is_broken = items.iter().any(|item| is_named(item) || has_fields(item));
    for (position, item) in items.iter().enumerate() {
        laid.push_str(if position > 0 { "," } else { "" });
        if is_broken {
            laid.push('\n');
            laid.extend(std::iter::repeat_n(' ', INDENT * (depth + 1)));
        } else if position > 0 {
            laid.push(' ');
        }
        lay(item, depth + 1, laid);
    }
    if is_broken {
        laid.push('\n');
        laid.extend(std::iter::repeat_n(' ', INDENT * depth));
    }
    laid.push('}');
    // The rest may have braces, too.
    if after.contains('{') {
        lay(after, depth, laid)
    } else {
        laid.push_str(after)
    }
}

/// Returns whether a value in braces has a named field.
fn has_fields(text: &str) -> bool {
    split(text).is_some_and(|(_, items, _)| items.iter().any(|it| is_named(it) || has_fields(it)))
}

/// Returns whether an item has a name: `x = 1`, `x: 1`, or a base class, `<Base> = {…}`.
fn is_named(item: &str) -> bool {
    let end = item.find(['{', '"', '\'']).unwrap_or(item.len());
    let head = item.get(..end).unwrap_or("");
    head.contains(" = ") || head.contains(": ")
}

/// Splits a value into the text before the first brace, the items inside, and the text after the
/// closing brace. Returns `None` if there are no items.
fn split(text: &str) -> Option<(&str, Vec<&str>, &str)> {
    let mut items = Vec::new();
    let (mut depth, mut begin, mut open) = (0_usize, 0, 0);
    let mut quote: Option<char> = None;
    let mut is_escaped = false;
    for (at, character) in text.char_indices() {
        if let Some(end) = quote {
            match character {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                _ if character == end => quote = None,
                _ => {}
            }
            continue;
        }
        match character {
            '"' => quote = Some('"'),
            // The apostrophe of a Rust lifetime or of a digit separator is not a quote.
            '\'' if text.get(..at)?.ends_with(' ') => quote = Some('\''),
            '{' => {
                depth += 1;
                if depth == 1 {
                    (open, begin) = (at, at + 1);
                }
            }
            '[' | '(' if depth > 0 => depth += 1,
            ']' | ')' if depth > 1 => depth -= 1,
            ',' if depth == 1 => {
                items.push(text.get(begin..at)?.trim());
                begin = at + 1;
            }
            '}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    let last = text.get(begin..at)?.trim();
                    if items.is_empty() && last.is_empty() {
                        return None;
                    }
                    items.push(last);
                    return Some((text.get(..open)?, items, text.get(at + 1..)?));
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_fields_stand_on_lines_of_their_own() {
        for (text, expected) in [
            ("5", "5"),
            ("{1, 2, 3}", "{1, 2, 3}"),
            ("{}", "{}"),
            ("{x = 1}", "{\n  x = 1\n}"),
            (
                "{x = 1, p = 0x8 \"a, {b\", in = {y = 'c', z = {1, 2}}}",
                "{\n  x = 1,\n  p = 0x8 \"a, {b\",\n  in = {\n    y = 'c',\n    z = {1, 2}\n  }\n}",
            ),
            (
                "{{x = 1}, {x = 2}}",
                "{\n  {\n    x = 1\n  },\n  {\n    x = 2\n  }\n}",
            ),
            (
                "(Dog) {<Animal> = {legs = 4}, name = \"rex\"}",
                "(Dog) {\n  <Animal> = {\n    legs = 4\n  },\n  name = \"rex\"\n}",
            ),
            ("Point {x: 1, y: 2}", "Point {\n  x: 1,\n  y: 2\n}"),
            (
                "@0x8: {f = (1, 2), g = [3, 4]}",
                "@0x8: {\n  f = (1, 2),\n  g = [3, 4]\n}",
            ),
            ("{x = \"cut {", "{x = \"cut {"),
        ] {
            assert_eq!(pretty(text), expected, "{text}");
        }
    }
}
