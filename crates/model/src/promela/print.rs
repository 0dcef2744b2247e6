//! Formatting of `printf`.
//!
//! A format is checked when the model is read, so that at run time all its conversions
//! are known and have values.

use super::program::Names;
use std::iter::Peekable;
use std::ops::Range;
use std::str::CharIndices;

/// The conversions of Spin's `printf`, and `i` as in C.
const CONVERSIONS: &str = "dicoeux";
/// Maximum width to which a value is padded.
const WIDTH_MAX: usize = 1000;

/// A part of a format.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Character(char),
    Conversion(Conversion),
    /// An invalid conversion.
    Unknown,
}

/// A conversion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Conversion {
    letter: char,
    /// Minimum width,
    width: usize,
    /// padded on the right,
    is_left: bool,
    /// or with zeros on the left.
    has_zeros: bool,
}

/// Iterator over the parts of a format, with their positions.
struct Pieces<'a> {
    characters: Peekable<CharIndices<'a>>,
    length: usize,
}

/// Returns the text between the quotes of a format.
fn inside(format: &str) -> &str {
    let format = format.strip_prefix('"').unwrap_or(format);
    format.strip_suffix('"').unwrap_or(format)
}

impl<'a> Pieces<'a> {
    /// Returns the parts of a text without quotes.
    fn of(text: &'a str) -> Pieces<'a> {
        Pieces {
            characters: text.char_indices().peekable(),
            length: text.len(),
        }
    }

    fn next_if(&mut self, is_wanted: impl Fn(char) -> bool) -> Option<char> {
        let next = self.characters.next_if(|(_, it)| is_wanted(*it));
        next.map(|(_, it)| it)
    }

    fn escaped(&mut self) -> Piece {
        Piece::Character(match self.characters.next() {
            Some((_, 'n')) => '\n',
            Some((_, 't')) => '\t',
            Some((_, other)) => other,
            None => '\\',
        })
    }

    fn conversion(&mut self) -> Piece {
        if self.next_if(|it| it == '%').is_some() {
            return Piece::Character('%');
        }
        let mut conversion = Conversion::default();
        while let Some(flag) = self.next_if(|it| it == '-' || it == '0') {
            conversion.is_left |= flag == '-';
            conversion.has_zeros |= flag == '0';
        }
        while let Some(digit) = self.next_if(|it| it.is_ascii_digit()) {
            let digit = digit.to_digit(10).unwrap_or(0) as usize;
            conversion.width = (conversion.width * 10 + digit).min(WIDTH_MAX);
        }
        match self.next_if(|it| CONVERSIONS.contains(it)) {
            Some(letter) => Piece::Conversion(Conversion {
                letter,
                ..conversion
            }),
            None => {
                self.next_if(char::is_alphabetic);
                Piece::Unknown
            }
        }
    }
}

impl Iterator for Pieces<'_> {
    type Item = (Range<usize>, Piece);

    fn next(&mut self) -> Option<Self::Item> {
        let (start, first) = self.characters.next()?;
        let piece = match first {
            '\\' => self.escaped(),
            '%' => self.conversion(),
            other => Piece::Character(other),
        };
        let end = self.characters.peek().map_or(self.length, |(at, _)| *at);
        Some((start..end, piece))
    }
}

/// Returns the error of a quoted format with a number of values, if there is one.
pub(super) fn wrong(format: &str, values: usize) -> Option<String> {
    let (text, mut conversions) = (inside(format), 0);
    for (place, piece) in Pieces::of(text) {
        let shown = text.get(place).unwrap_or("%");
        match piece {
            Piece::Conversion(_) if conversions == values => {
                return Some(match values {
                    0 => format!("there is no value for `{shown}`"),
                    _ => format!("there are too few values: none for `{shown}`"),
                });
            }
            Piece::Conversion(_) => conversions += 1,
            Piece::Unknown => {
                return Some(format!(
                    "`{shown}` is not a conversion: write %d, %u, %x, %o, %c, or %e for a name, \
                     and %% for a percent sign"
                ));
            }
            Piece::Character(_) => {}
        }
    }
    None
}

/// Returns the output of a quoted format with values and the names of their types.
pub(super) fn print(format: &str, values: &[(i32, &Names)]) -> String {
    let mut values = values.iter();
    let mut text = String::new();
    for (_, piece) in Pieces::of(inside(format)) {
        match piece {
            Piece::Character(character) => text.push(character),
            Piece::Conversion(conversion) => {
                let (value, names) = values.next().copied().unwrap_or((0, &[]));
                text += &conversion.text(value, names);
            }
            Piece::Unknown => {}
        }
    }
    text
}

impl Conversion {
    fn text(&self, value: i32, names: &Names) -> String {
        let text = match self.letter {
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
            _ if self.has_zeros && !self.is_left => {
                return format!("{value:0width$}", width = self.width);
            }
            _ => value.to_string(),
        };
        if self.is_left {
            format!("{text:<width$}", width = self.width)
        } else {
            format!("{text:>width$}", width = self.width)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_printed_as_in_c() {
        let names: &Names = &["ready".into(), "busy".into()];
        let check = |format: &str, values: &[i32], expected: &str| {
            let quoted = format!("\"{format}\"");
            assert_eq!(wrong(&quoted, values.len()), None, "{format}");
            let values: Vec<_> = values.iter().map(|value| (*value, names)).collect();
            assert_eq!(print(&quoted, &values), expected, "{format}");
        };
        check("a\\tb\\n\\\"%%\\\\", &[], "a\tb\n\"%\\");
        check("%d,%i,%u", &[-1, 2, -1], "-1,2,4294967295");
        check("%x %o %c %e %e", &[255, 8, 65, 2, 7], "ff 10 A busy 7");
        check("%3d|%-3d|%03d|%-03d|", &[7, 7, -7, 7], "  7|7  |-07|7  |");
        check("%6e|%2d", &[1, 1234], " ready|1234");
        check("%d", &[1, 2], "1");
    }

    #[test]
    fn invalid_formats_are_reported() {
        let check = |format: &str, values: usize, words: &str| {
            let message = wrong(&format!("\"{format}\""), values).unwrap_or_default();
            assert!(message.starts_with(words), "{format}: {message}");
        };
        check("%5d", 0, "there is no value for `%5d`");
        let few = "there are too few values: none for ";
        check("%d %d!", 1, &format!("{few}`%d`"));
        check("%d%d%e", 2, &format!("{few}`%e`"));
        check("%s", 1, "`%s` is not a conversion");
        check("100%", 0, "`%` is not a conversion");
        check("100% sure", 0, "`%` is not a conversion");
        check("%5ä", 0, "`%5ä` is not a conversion");
    }
}
