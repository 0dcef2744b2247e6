//! The texts of a client that say which hits stop, and what a hit prints.

/// Which hits of a point stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hits {
    /// All after so many.
    After(u64),
    /// Only this one.
    Only(u64),
    /// Each of so many.
    Every(u64),
}

/// Parses a hit condition: `3` and `>= 3` from the third on, `> 3`, `== 3`, `% 3`.
pub(super) fn hits(text: &str) -> Option<Hits> {
    let text = text.trim();
    let end = text.find(|c: char| c.is_ascii_digit())?;
    let (operator, number) = text.split_at(end);
    let number: u64 = number.parse().ok()?;
    match operator.trim() {
        "" | ">=" => Some(Hits::After(number.saturating_sub(1))),
        ">" => Some(Hits::After(number)),
        "=" | "==" if number > 0 => Some(Hits::Only(number)),
        "%" if number > 0 => Some(Hits::Every(number)),
        _ => None,
    }
}

/// Returns the arguments of `dprintf` after the location: the format, and the values of the
/// parts in braces.
pub(crate) fn format_of(message: &str) -> Result<String, String> {
    let mut format = String::new();
    let mut values = Vec::new();
    let mut characters = message.chars();
    while let Some(c) = characters.next() {
        match c {
            '%' => format.push_str("%%"),
            '"' | '\\' => format.extend(['\\', c]),
            '\n' => format.push_str("\\n"),
            '{' => {
                let value = expression_in(&mut characters)
                    .ok_or_else(|| format!("a brace is not closed in `{message}`"))?;
                if value.trim().is_empty() {
                    return Err("there is no expression between two braces".to_owned());
                }
                format.push_str("%s");
                values.push(value.trim().to_owned());
            }
            c => format.push(c),
        }
    }
    let mut text = format!("\"{format}\\n\"");
    for value in values {
        text.push_str(", ");
        text.push_str(&value);
    }
    Ok(text)
}

/// Returns the text up to the closing brace; braces inside of it are part of it.
fn expression_in(characters: &mut std::str::Chars<'_>) -> Option<String> {
    let mut depth = 1_u32;
    let mut text = String::new();
    for c in characters {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(text);
        }
        text.push(c);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hit_conditions_count_from_one() {
        for (text, expected) in [
            ("3", Some(Hits::After(2))),
            (">= 3", Some(Hits::After(2))),
            (" > 3 ", Some(Hits::After(3))),
            ("==3", Some(Hits::Only(3))),
            ("% 10", Some(Hits::Every(10))),
            ("% 0", None),
            ("< 3", None),
            ("n", None),
            ("3 apples", None),
        ] {
            assert_eq!(hits(text), expected, "{text}");
        }
    }

    #[test]
    fn braces_become_values_of_a_format() {
        for (message, expected) in [
            ("at {n} of {p->size}", Ok(r#""at %s of %s\n", n, p->size"#)),
            ("100 % \"done\"", Ok(r#""100 %% \"done\"\n""#)),
            ("{ (struct s){1}.a }", Ok(r#""%s\n", (struct s){1}.a"#)),
            ("{n", Err("a brace is not closed in `{n`")),
            ("{}", Err("there is no expression between two braces")),
        ] {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(format_of(message), expected);
        }
    }
}
