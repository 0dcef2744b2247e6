//! Parser of numbers, strings and characters.

use super::{Dialect, Parser};
use crate::syntax::{Expression, ExpressionKind, TypeName};
use juror_fault::Diagnostic;
use std::ops::Range;

impl Parser<'_> {
    /// Parses the current token as an integer.
    pub(super) fn integer(&mut self) -> ExpressionKind {
        let text = self.text();
        let span = self.span();
        self.advance();
        let digits: String = text.chars().filter(|&c| c != '_').collect();
        if is_octal_of_c(&digits) {
            let message = format!("`{text}` is octal in C, and decimal in Rust");
            let error = Diagnostic::error("ambiguous-number", span, message);
            self.report(error.help("octal numbers begin with `0o`, decimal ones with no zero"));
            return ExpressionKind::Error;
        }
        let (radix, digits) = match digits.get(..2).map(str::to_ascii_lowercase).as_deref() {
            Some("0x") => (16, digits.get(2..).unwrap_or("")),
            Some("0b") => (2, digits.get(2..).unwrap_or("")),
            Some("0o") => (8, digits.get(2..).unwrap_or("")),
            _ => (10, digits.as_str()),
        };
        if let Some((digits, name)) = with_type_of_rust(digits, radix)
            && let Ok(number) = i128::from_str_radix(digits, radix)
        {
            return self.of_rust(number, name, span);
        }
        let (digits, suffix) = match radix {
            10 | 16 => {
                let length = digits.trim_end_matches(['u', 'U', 'l', 'L']).len();
                digits.split_at(length)
            }
            _ => (digits, ""),
        };
        if let Ok(number) = i128::from_str_radix(digits, radix) {
            return self.with_suffix(number, suffix, radix, span);
        }
        let known = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
        let message = if known {
            "this number is too large"
        } else {
            "this is not a number"
        };
        self.report(Diagnostic::error("bad-number", span, message));
        ExpressionKind::Error
    }

    /// Applies the type suffix of an integer, as in C: the number has the first of the
    /// types that can represent it; only hexadecimal, octal and binary numbers have unsigned
    /// types without a suffix (ISO C, 6.4.4.1). Guards and updates have no suffixes: their
    /// integers are exact.
    fn with_suffix(
        &self,
        number: i128,
        suffix: &str,
        radix: u32,
        span: Range<usize>,
    ) -> ExpressionKind {
        let is_unsigned = suffix.contains(['u', 'U']);
        let longs = suffix.chars().filter(|it| matches!(it, 'l' | 'L')).count();
        let fits = |bits: u32| number >> bits == 0;
        let name = match (is_unsigned, longs) {
            (true, 0) if fits(32) => "unsigned int",
            (true, 0 | 1) if fits(64) => "unsigned long",
            (false, 1) if fits(63) => "long",
            (true, 2) if fits(64) => "unsigned long long",
            (false, 2) if fits(63) => "long long",
            (false, 0) if radix != 10 && !fits(31) && fits(32) => "unsigned int",
            (false, 1) if radix != 10 && fits(64) => "unsigned long",
            (false, 2) if radix != 10 && fits(64) => "unsigned long long",
            _ => return ExpressionKind::Integer(number),
        };
        self.literal_of_type(ExpressionKind::Integer(number), name, span)
    }

    /// Returns a number with a type suffix of Rust, which has to represent it.
    fn of_rust(&mut self, number: i128, name: &str, span: Range<usize>) -> ExpressionKind {
        if name.starts_with('f') {
            let literal = ExpressionKind::Float(number as f64);
            return self.literal_of_type(literal, name, span);
        }
        let bits = match name.get(1..) {
            Some("size") => 64,
            bits => bits.and_then(|bits| bits.parse().ok()).unwrap_or(128u32),
        };
        let value_bits = bits - u32::from(name.starts_with('i'));
        if value_bits < 127 && number >> value_bits != 0 {
            let message = format!("this number is too large for `{name}`");
            self.report(Diagnostic::error("bad-number", span, message));
            return ExpressionKind::Error;
        }
        self.literal_of_type(ExpressionKind::Integer(number), name, span)
    }

    fn literal_of_type(
        &self,
        literal: ExpressionKind,
        name: &str,
        span: Range<usize>,
    ) -> ExpressionKind {
        if self.dialect == Dialect::Property {
            return literal;
        }
        ExpressionKind::Cast {
            type_name: TypeName {
                name: name.into(),
                derivations: Vec::new(),
                span: span.clone(),
            },
            operand: Box::new(Expression {
                kind: literal,
                span,
            }),
        }
    }

    /// Parses the current token as a floating-point number.
    pub(super) fn float(&mut self) -> ExpressionKind {
        let text = self.text();
        let span = self.span();
        self.advance();
        let digits: String = text.chars().filter(|&c| c != '_').collect();
        let suffixes = [
            ("f32", "f32"),
            ("f64", "f64"),
            ("f", "float"),
            ("F", "float"),
            ("l", "long double"),
            ("L", "long double"),
        ];
        let suffix = suffixes
            .into_iter()
            .find_map(|(suffix, name)| Some((digits.strip_suffix(suffix)?, name)));
        let number = match suffix {
            Some((digits, "f64" | "long double")) => digits.parse::<f64>(),
            // A short one, so that it can equal a variable of that type.
            Some((digits, _)) => digits.parse::<f32>().map(f64::from),
            None => digits.parse::<f64>(),
        };
        match number {
            Ok(number)
                if suffix.is_some_and(|(digits, of)| {
                    of == "long double" && !is_exact(number, digits)
                }) =>
            {
                self.report(
                    Diagnostic::error(
                        "bad-number",
                        span,
                        "this number is more exact as `long double` than numbers are here",
                    )
                    .help("without the suffix it is a `double`"),
                );
                ExpressionKind::Error
            }
            Ok(number) if number.is_finite() => {
                let literal = ExpressionKind::Float(number);
                match suffix {
                    Some((_, name)) => self.literal_of_type(literal, name, span),
                    None => literal,
                }
            }
            _ => {
                self.report(Diagnostic::error(
                    "bad-number",
                    span,
                    "this is not a number",
                ));
                ExpressionKind::Error
            }
        }
    }

    /// Parses the current token as a string with escapes resolved.
    pub(super) fn quoted_text(&mut self) -> String {
        let span = self.span();
        let text = self.text();
        self.advance();
        // `L"…"` is as wide as the string that it is compared with.
        let start = text.find(['"', '\'']).unwrap_or(0);
        let quote = text.get(start..).and_then(|text| text.chars().next());
        let quote = quote.unwrap_or('"');
        let inner = text.get(start + 1..).unwrap_or("");
        let inner = inner.strip_suffix(quote).unwrap_or(inner);
        let mut result = String::with_capacity(inner.len());
        let mut rest = inner.chars();
        while let Some(character) = rest.next() {
            if character != '\\' {
                result.push(character);
                continue;
            }
            match escape(&mut rest) {
                Some(escaped) => result.push(escaped),
                None => self.report(
                    Diagnostic::error("bad-escape", span.clone(), "unknown escape in this text")
                        .help(
                            r#"known: \n \t \r \a \b \f \v \\ \" \', up to three octal digits (\0), and \x with two hexadecimal digits"#,
                        ),
                ),
            }
        }
        result
    }

    /// Parses the current token as the number of a character.
    pub(super) fn character(&mut self) -> ExpressionKind {
        let span = self.span();
        let text = self.quoted_text();
        let mut characters = text.chars();
        match (characters.next(), characters.next()) {
            (Some(one), None) => ExpressionKind::Integer(i128::from(u32::from(one))),
            _ => {
                self.report(
                    Diagnostic::error("bad-character", span, "this is not one character")
                        .help("write text in double quotes"),
                );
                ExpressionKind::Error
            }
        }
    }
}

/// Splits a number with a type suffix of Rust: `5u8`, `0xffi64`, `2f32`. Hexadecimal digits
/// are no suffix of a float.
fn with_type_of_rust(digits: &str, radix: u32) -> Option<(&str, &'static str)> {
    const INTEGERS: [&str; 12] = [
        "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize",
    ];
    let floats: &[&str] = match radix {
        10 => &["f32", "f64"],
        _ => &[],
    };
    let mut names = INTEGERS.iter().chain(floats);
    names.find_map(|name| Some((digits.strip_suffix(name)?, *name)))
}

/// Returns true for a number with a leading zero, which C and Rust interpret
/// differently.
fn is_octal_of_c(digits: &str) -> bool {
    let digits = digits.trim_end_matches(['u', 'U', 'l', 'L']);
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number && digits.starts_with('0') && digits.bytes().any(|byte| byte != b'0')
}

/// Returns the character that the escape after a backslash denotes. `\x` and octal
/// digits are limited to 7f: strings are UTF-8, not bytes.
fn escape(rest: &mut std::str::Chars<'_>) -> Option<char> {
    if rest.as_str().starts_with(|c: char| c.is_digit(8)) {
        let mut code = 0;
        for _ in 0..3 {
            let Some(digit) = rest.clone().next().and_then(|c| c.to_digit(8)) else {
                break;
            };
            rest.next();
            code = code * 8 + digit;
        }
        return char::from_u32(code).filter(char::is_ascii);
    }
    match rest.next()? {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        'a' => Some('\x07'),
        'b' => Some('\x08'),
        'f' => Some('\x0c'),
        'v' => Some('\x0b'),
        same @ ('\\' | '"' | '\'') => Some(same),
        'x' => {
            let high = rest.next()?.to_digit(16)?;
            let low = rest.next()?.to_digit(16)?;
            char::from_u32(high * 16 + low).filter(char::is_ascii)
        }
        _ => None,
    }
}

/// Returns whether a number is the one that its decimal digits say.
fn is_exact(number: f64, digits: &str) -> bool {
    if digits.contains(['e', 'E']) {
        // `5e3` is a whole number that is written shorter.
        return number.fract() == 0.0 && number.abs() < 1e15 && !digits.contains(['.', '-']);
    }
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    // No number has more decimals.
    let exact = format!("{number:.1074}");
    let (exact_whole, exact_decimals) = exact.split_once('.').unwrap_or((&exact, ""));
    exact_whole.trim_start_matches('0') == whole.trim_start_matches('0')
        && exact_decimals.trim_end_matches('0') == decimals.trim_end_matches('0')
}
