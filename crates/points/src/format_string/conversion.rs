//! The conversions of `printf`: parses them, and formats values; pure.

use std::iter::Peekable;
use std::str::Chars;

/// The limit of a width, and of the digits after the decimal point.
const WIDTH_MAX: usize = 1000;

/// A part of a format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    Value(Conversion),
}

/// A conversion such as `%-8.3f`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Conversion {
    left: bool,
    zeros: bool,
    sign: Option<char>,
    prefix: bool,
    width: usize,
    precision: Option<usize>,
    pub(crate) letter: char,
}

/// An argument of a conversion.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Given {
    /// An integer, with the number of bits of its type.
    Whole(i128, u32),
    Fraction(f64),
    Text(String),
}

/// Replaces the escapes of C.
pub fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            plain.push(c);
            continue;
        }
        match rest.next() {
            Some('n') => plain.push('\n'),
            Some('t') => plain.push('\t'),
            Some('r') => plain.push('\r'),
            Some('a') => plain.push('\u{7}'),
            Some('b') => plain.push('\u{8}'),
            Some('v') => plain.push('\u{b}'),
            Some('f') => plain.push('\u{c}'),
            Some('e') => plain.push('\u{1b}'),
            Some(digit @ '0'..='7') => {
                let mut code = digit.to_digit(8).unwrap_or(0);
                for _ in 0..2 {
                    let Some(digit) = rest.peek().and_then(|c| c.to_digit(8)) else {
                        break;
                    };
                    rest.next();
                    code = code * 8 + digit;
                }
                plain.extend(char::from_u32(code));
            }
            Some('x') => {
                let mut code = None;
                while let Some(digit) = rest.peek().and_then(|c| c.to_digit(16)) {
                    rest.next();
                    code = Some(code.unwrap_or(0_u32).wrapping_shl(4) | digit);
                }
                match code {
                    Some(code) => plain.extend(char::from_u32(code & 0xff)),
                    None => plain.push('x'),
                }
            }
            Some(other) => plain.push(other),
            // A trailing space before the newline is kept.
            None => {}
        }
    }
    plain
}

/// Splits `"FORMAT", A, B` into the format, without quotes, and the arguments.
pub(crate) fn split(text: &str) -> Option<(&str, Vec<&str>)> {
    let inside = text.trim().strip_prefix('"')?;
    let mut is_escaped = false;
    let end = inside.find(|c| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    })?;
    let (format, rest) = (inside.get(..end)?, inside.get(end + 1..)?.trim());
    if rest.is_empty() {
        return Some((format, Vec::new()));
    }
    Some((format, arguments(rest.strip_prefix(',')?)))
}

/// Splits at the commas outside brackets and quotes.
pub fn arguments(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let mut quote = None;
    let mut is_escaped = false;
    let is_comma = |c: char| {
        let was_escaped = std::mem::take(&mut is_escaped);
        match (quote, c) {
            (Some(_), '\\') => is_escaped = !was_escaped,
            (Some(open), c) if c == open && !was_escaped => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, ',') => return depth == 0,
            (None, _) => {}
        }
        false
    };
    text.split(is_comma).map(str::trim).collect()
}

fn number(rest: &mut Peekable<Chars<'_>>) -> usize {
    let mut number = 0usize;
    while let Some(digit) = rest.peek().and_then(|c| c.to_digit(10)) {
        rest.next();
        number = number.saturating_mul(10).saturating_add(digit as usize);
    }
    number.min(WIDTH_MAX)
}

/// Parses a format whose escapes have been replaced.
pub(crate) fn pieces(text: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '%' {
            plain.push(c);
            continue;
        }
        let mut conversion = Conversion::default();
        while let Some(&flag) = rest.peek() {
            match flag {
                '-' => conversion.left = true,
                '0' => conversion.zeros = true,
                '+' | ' ' => conversion.sign = Some(flag),
                '#' => conversion.prefix = true,
                _ => break,
            }
            rest.next();
        }
        conversion.width = number(&mut rest);
        if rest.next_if_eq(&'.').is_some() {
            conversion.precision = Some(number(&mut rest));
        }
        while rest.next_if(|c| "hlqjztL".contains(*c)).is_some() {}
        match rest.next() {
            Some('%') => plain.push('%'),
            Some(letter) if "diuxXocspfFeEgG".contains(letter) => {
                conversion.letter = letter;
                if !plain.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut plain)));
                }
                pieces.push(Piece::Value(conversion));
            }
            Some(letter) => return Err(format!("`%{letter}` is not a conversion")),
            None => return Err("the format ends in a `%`".to_owned()),
        }
    }
    if !plain.is_empty() {
        pieces.push(Piece::Text(plain));
    }
    Ok(pieces)
}

impl Conversion {
    /// Formats a value.
    pub(crate) fn write(&self, given: &Given) -> Result<String, String> {
        let (sign, digits) = match (self.letter, given) {
            ('s', Given::Text(text)) => {
                let kept = self.precision.unwrap_or(usize::MAX);
                ("", text.chars().take(kept).collect())
            }
            ('s', _) => return Err("`%s` needs a string".to_owned()),
            ('c', Given::Whole(code, _)) => {
                let c = u32::try_from(*code).ok().and_then(char::from_u32);
                ("", c.unwrap_or('?').to_string())
            }
            ('f' | 'F' | 'e' | 'E' | 'g' | 'G', Given::Whole(whole, _)) => {
                return self.write(&Given::Fraction(*whole as f64));
            }
            ('f' | 'F' | 'e' | 'E' | 'g' | 'G', Given::Fraction(value)) => {
                let text = fraction(*value, self.letter, self.precision);
                match text.strip_prefix('-') {
                    Some(digits) => ("-", digits.to_owned()),
                    None => (self.plus(), text),
                }
            }
            (_, Given::Whole(value, bits)) => self.whole(*value, *bits),
            (_, Given::Fraction(value)) => self.whole(value.trunc() as i128, 64),
            (letter, Given::Text(_)) => return Err(format!("`%{letter}` needs a number")),
        };
        Ok(self.padded(sign, digits))
    }

    fn plus(&self) -> &'static str {
        match self.sign {
            Some('+') => "+",
            Some(_) => " ",
            None => "",
        }
    }

    fn whole(&self, value: i128, bits: u32) -> (&'static str, String) {
        let mask = u128::MAX >> (128 - bits.clamp(1, 128));
        let raw = value as u128 & mask;
        let (sign, digits) = match self.letter {
            'x' if self.prefix && raw != 0 => ("0x", format!("{raw:x}")),
            'x' => ("", format!("{raw:x}")),
            'X' if self.prefix && raw != 0 => ("0X", format!("{raw:X}")),
            'X' => ("", format!("{raw:X}")),
            'o' => (if self.prefix { "0" } else { "" }, format!("{raw:o}")),
            'p' => ("0x", format!("{raw:x}")),
            'u' => ("", raw.to_string()),
            _ if value < 0 => ("-", value.unsigned_abs().to_string()),
            _ => (self.plus(), value.to_string()),
        };
        let missing = self.precision.unwrap_or(0).saturating_sub(digits.len());
        (sign, "0".repeat(missing) + &digits)
    }

    /// Pads the sign and the digits to the width.
    fn padded(&self, sign: &str, digits: String) -> String {
        let length = sign.len() + digits.chars().count();
        let missing = self.width.saturating_sub(length);
        let is_whole = "diuxXop".contains(self.letter);
        let with_zeros =
            self.zeros && self.letter != 's' && !(is_whole && self.precision.is_some());
        if self.left {
            format!("{sign}{digits}{}", " ".repeat(missing))
        } else if with_zeros {
            format!("{sign}{}{digits}", "0".repeat(missing))
        } else {
            format!("{}{sign}{digits}", " ".repeat(missing))
        }
    }
}

/// Formats a floating-point number as C does for `f`, `e` or `g`.
fn fraction(value: f64, letter: char, precision: Option<usize>) -> String {
    let precision = precision.unwrap_or(6);
    let text = match letter {
        _ if !value.is_finite() => {
            let word = if value.is_nan() { "nan" } else { "inf" };
            let sign = if value < 0.0 { "-" } else { "" };
            format!("{sign}{word}")
        }
        'f' | 'F' => format!("{value:.precision$}"),
        'e' | 'E' => with_exponent(value, precision),
        _ => shorter(value, precision.max(1)),
    };
    if letter.is_uppercase() {
        text.to_uppercase()
    } else {
        text
    }
}

/// Formats as `1.5e+03`.
fn with_exponent(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let Some((digits, exponent)) = text.split_once('e') else {
        return text;
    };
    match exponent.strip_prefix('-') {
        Some(exponent) => format!("{digits}e-{exponent:0>2}"),
        None => format!("{digits}e+{exponent:0>2}"),
    }
}

/// Formats as `g`: this number of digits, with an exponent if the number is far from one, and no
/// trailing zeros.
fn shorter(value: f64, digits: usize) -> String {
    let rounded = with_exponent(value, digits - 1);
    let exponent = rounded
        .split_once('e')
        .and_then(|(_, exponent)| exponent.parse::<i64>().ok())
        .unwrap_or(0);
    let without_zeros = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if exponent < -4 || exponent >= digits as i64 {
        return match rounded.split_once('e') {
            Some((digits, exponent)) => format!("{}e{exponent}", without_zeros(digits)),
            None => rounded,
        };
    }
    let behind = usize::try_from(digits as i64 - 1 - exponent).unwrap_or(0);
    without_zeros(&format!("{value:.behind$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: &str, given: Given, expected: &str) {
        let pieces = pieces(format).expect("a format");
        let [Piece::Value(conversion)] = pieces.as_slice() else {
            panic!("{format} is one conversion");
        };
        assert_eq!(
            conversion.write(&given).as_deref(),
            Ok(expected),
            "{format}"
        );
    }

    #[test]
    fn values_are_written_as_c_does() {
        let whole = |value| Given::Whole(value, 32);
        check("%d", whole(-5), "-5");
        check("%5d", whole(-5), "   -5");
        check("%-5i", whole(42), "42   ");
        check("%05d", whole(-5), "-0005");
        check("%+d", whole(5), "+5");
        check("% d", whole(5), " 5");
        check("%.4d", whole(5), "0005");
        check("%08.3d", whole(5), "     005");
        check("%u", whole(-1), "4294967295");
        check("%x", whole(-1), "ffffffff");
        check("%#X", whole(255), "0XFF");
        check("%#x", whole(0), "0");
        check("%#o", whole(8), "010");
        check("%lld", whole(7), "7");
        check("%p", Given::Whole(0x40_1136, 64), "0x401136");
        check("%c", whole(113), "q");
        check("%3c", whole(113), "  q");
        check("%s", Given::Text("ham".into()), "ham");
        check("%5s", Given::Text("ham".into()), "  ham");
        check("%-5.2s", Given::Text("ham".into()), "ha   ");
        check("%f", Given::Fraction(0.5), "0.500000");
        check("%8.2f", Given::Fraction(-2.345), "   -2.35");
        check("%e", Given::Fraction(1500.0), "1.500000e+03");
        check("%.1E", Given::Fraction(0.00012), "1.2E-04");
        check("%g", Given::Fraction(0.0001), "0.0001");
        check("%g", Given::Fraction(0.00001), "1e-05");
        check("%g", Given::Fraction(123_456.0), "123456");
        check("%g", Given::Fraction(1_234_567.0), "1.23457e+06");
        check("%g", Given::Fraction(0.1), "0.1");
        check("%g", Given::Fraction(0.0), "0");
        check("%f", Given::Fraction(f64::NEG_INFINITY), "-inf");
        check("%G", Given::Fraction(f64::NAN), "NAN");
        check("%.1f", whole(3), "3.0");
        check("%d", Given::Fraction(2.9), "2");
    }

    #[test]
    fn formats_and_arguments_are_split() {
        assert_eq!(split(r#""a", b"#), Some(("a", vec!["b"])));
        assert_eq!(split(r#""a\"b""#), Some((r#"a\"b"#, vec![])));
        let call = r#""%d %s", f(a, b[1, 2]), "x,y""#;
        let expected = vec!["f(a, b[1, 2])", "\"x,y\""];
        assert_eq!(split(call), Some(("%d %s", expected)));
        assert_eq!(split(r#""a" b"#), None);
        assert_eq!(split("a"), None);
        assert_eq!(split(r#""a"#), None);
        assert_eq!(unescaped(r"a\tb\n\\\101\"), "a\tb\n\\A");
        let text = |text: &str| Ok(vec![Piece::Text(text.into())]);
        assert_eq!(pieces("100%%"), text("100%"));
        for format in ["%", "%y", "%-"] {
            assert!(pieces(format).is_err(), "{format}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".*", value: i128, real: f64) {
            let _ = split(&text);
            let _ = unescaped(&text);
            for piece in pieces(&text).into_iter().flatten() {
                if let Piece::Value(conversion) = piece {
                    let _ = conversion.write(&Given::Whole(value, 64));
                    let _ = conversion.write(&Given::Fraction(real));
                }
            }
        }
    }
}
