//! What `printf` prints.

use super::model::Names;

/// The text of a format, with its quotes, and of values.
pub(super) fn print(format: &str, values: &[i32], names: &Names) -> String {
    let inside = format.trim_start_matches('"').trim_end_matches('"');
    let mut values = values.iter();
    let mut text = String::new();
    let mut characters = inside.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(other) => text.push(other),
                None => {}
            },
            '%' => match characters.next() {
                Some('%') => text.push('%'),
                Some(conversion) => {
                    let value = values.next().copied().unwrap_or(0);
                    text += &converted(conversion, value, names);
                }
                None => {}
            },
            other => text.push(other),
        }
    }
    text
}

fn converted(conversion: char, value: i32, names: &Names) -> String {
    match conversion {
        'c' => char::from(value as u8).to_string(),
        'e' => {
            let index = usize::try_from(value)
                .ok()
                .and_then(|value| value.checked_sub(1));
            let name = index.and_then(|index| names.get(index));
            name.map_or_else(|| value.to_string(), ToString::to_string)
        }
        'o' => format!("{value:o}"),
        'u' => (value as u32).to_string(),
        'x' => format!("{value:x}"),
        _ => value.to_string(),
    }
}
