//! `x`: memory as numbers, texts or instructions.
//!
//! The formats are gdb's. What is not given is as in the last `x`; without an
//! address it goes on behind what was shown last.

use crate::evaluations::Purpose;
use crate::options::{CommandError, Observer};
use crate::session::Session;
use crate::view::{AssemblyView, MemoryRow, MemoryView, Outcome};
use juror_program::program::Program;
use juror_symbols::{Character, Encoding, Type, TypeKind};
use juror_values::format::{Names as _, Radix, quoted};
use juror_values::typed::{Number, Typed};

/// Elements that are shown at once.
const COUNT_MAX: u64 = 10_000;
/// Bytes of a text that are shown.
const TEXT_MAX: usize = 400;
/// Bytes in a row of numbers.
const ROW_BYTES: usize = 16;
/// The longest instruction.
const INSTRUCTION_MAX: usize = 15;

/// How memory is shown, and where it goes on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Examined {
    count: u64,
    letter: char,
    /// Bytes of an element.
    size: usize,
    /// The size has been written, now or before.
    is_size_given: bool,
    /// Bytes of a character of a text.
    character: usize,
    /// Where the next one begins.
    next: Option<u64>,
}

impl Default for Examined {
    fn default() -> Self {
        Examined {
            count: 1,
            letter: 'x',
            size: 4,
            is_size_given: false,
            character: 1,
            next: None,
        }
    }
}

impl Examined {
    /// `/8gx`: a count, a size and a letter, in any order after the count.
    fn with(mut self, format: &str) -> Result<Examined, CommandError> {
        let digits = format.len()
            - format
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .len();
        let (count, letters) = format.split_at(digits);
        self.count = match count {
            "" => 1,
            count => count
                .parse()
                .ok()
                .filter(|&count| count <= COUNT_MAX)
                .ok_or_else(|| CommandError::new(format!("at most {COUNT_MAX} elements")))?,
        };
        let mut size = None;
        for letter in letters.chars() {
            match letter {
                'b' => size = Some(1),
                'h' => size = Some(2),
                'w' => size = Some(4),
                'g' => size = Some(8),
                'x' | 'd' | 'u' | 'o' | 't' | 'c' | 'a' | 'f' | 's' | 'i' => self.letter = letter,
                other => {
                    return Err(CommandError::with_help(
                        format!("there is no format or size `{other}`"),
                        "formats: x d u o t c a f s i; sizes: b h w g, for 1, 2, 4, 8 bytes",
                    ));
                }
            }
        }
        // What has one natural size takes it, unless another is written.
        let natural = match self.letter {
            'a' => Some(8),
            'c' => Some(1),
            'f' if !self.is_size_given || !matches!(self.size, 4 | 8) => Some(8),
            _ => None,
        };
        if self.letter == 's' {
            self.character = size.filter(|size| *size <= 4).unwrap_or(1);
            return Ok(self);
        }
        self.is_size_given |= size.is_some();
        self.size = size.or(natural).unwrap_or(self.size);
        match (self.letter, self.size) {
            ('f', 1 | 2) => Err(CommandError::new(
                "floating numbers have 4 or 8 bytes: w or g",
            )),
            _ => Ok(self),
        }
    }

    /// An element in its format.
    fn cell(self, bytes: &[u8]) -> String {
        let mut wide = [0; 8];
        for (to, from) in wide.iter_mut().zip(bytes) {
            *to = *from;
        }
        let number = u64::from_le_bytes(wide);
        let bits = 8 * self.size as u32;
        let unused = 64 - bits;
        let signed = ((number << unused) as i64) >> unused;
        let digits = 2 * self.size;
        match self.letter {
            'd' => signed.to_string(),
            'u' => number.to_string(),
            'o' => format!("0{number:o}"),
            't' => format!("{number:0width$b}", width = bits as usize),
            'c' => character(number, signed),
            'a' => format!("{number:#x}"),
            'f' if self.size == 4 => f32::from_bits(number as u32).to_string(),
            'f' => f64::from_bits(number).to_string(),
            _ => format!("{number:#0width$x}", width = digits + 2),
        }
    }
}

fn character(number: u64, signed: i64) -> String {
    match u8::try_from(number) {
        Ok(byte) if byte.is_ascii() => format!("{signed} '{}'", byte.escape_ascii()),
        Ok(byte) => format!("{signed} '\\x{byte:02x}'"),
        Err(_) => signed.to_string(),
    }
}

impl Session {
    /// `x`, `x/8gx ADDRESS`
    pub(crate) fn examine(
        &mut self,
        text: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let mut how = self.examined;
        let mut rest = text;
        if let Some(formatted) = text.strip_prefix('/') {
            let end = formatted
                .find(char::is_whitespace)
                .unwrap_or(formatted.len());
            how = how.with(&formatted[..end])?;
            rest = formatted[end..].trim();
        } else {
            how.count = 1;
        }
        let address = match rest {
            "" => how.next.ok_or_else(|| {
                CommandError::with_help("x needs an address", "for example: x/8gx $rsp")
            })?,
            expression => match self.after_calls(expression, observer)? {
                Ok(expression) => {
                    self.fit_fraction(&mut how, &expression)?;
                    self.address_of(&expression)?
                }
                Err(outcome) => return Ok(outcome),
            },
        };
        let program = self.running()?;
        let (outcome, next) = match how.letter {
            'i' => self.examine_code(address, how.count)?,
            's' => texts(program, address, how),
            _ => numbers(program, address, how),
        };
        how.next = Some(next);
        self.examined = how;
        self.note_last_examined(address, how);
        Ok(outcome)
    }

    /// A fraction has the size of what the expression leads to, unless one was written.
    fn fit_fraction(&mut self, how: &mut Examined, text: &str) -> Result<(), CommandError> {
        if how.letter != 'f' || how.is_size_given {
            return Ok(());
        }
        let target = self.evaluate(text)?.r#type.target();
        let is_float = |of: &Type| matches!(of.strip().kind(), TypeKind::Base(Encoding::Float));
        let size = target.filter(is_float).and_then(|of| of.size());
        if let Some(size @ (4 | 8)) = size {
            how.size = size as usize;
        }
        Ok(())
    }

    /// An expression without calls that has the value of one with them; or what was shown
    /// where a call has not come to its end.
    fn after_calls(
        &mut self,
        text: &str,
        observer: &mut dyn Observer,
    ) -> Result<Result<String, Outcome>, CommandError> {
        let expression = self.read(text)?;
        if !expression.calls_functions() {
            return Ok(Ok(text.to_owned()));
        }
        let purpose = Purpose::Print(Radix::Natural);
        Ok(
            match self.evaluate_with_calls(text, expression, purpose, observer)? {
                Outcome::Value(view) if view.number > 0 => Ok(format!("${}", view.number)),
                other => Err(other),
            },
        )
    }

    /// `$_` is the last address that was shown, `$__` what is there.
    fn note_last_examined(&mut self, address: u64, how: Examined) {
        let (Some(next), Ok(program)) = (how.next, self.running()) else {
            return;
        };
        if next == address || matches!(how.letter, 's' | 'i') {
            return self.note_examined(address, None);
        }
        let last = next.wrapping_sub(how.size as u64);
        let mut bytes = vec![0; how.size];
        let is_read = program.debuggee.read(last, &mut bytes).is_ok();
        let name = match how.size {
            1 => "char",
            2 => "short",
            4 => "int",
            _ => "long",
        };
        let r#type = Type::builtin(name).filter(|_| is_read);
        self.note_examined(last, r#type.map(|of| Typed::of_bytes(of, bytes)));
    }

    /// What an expression points to, or is as a number; of a variable that is
    /// neither, where it is.
    pub(crate) fn address_of(&mut self, expression: &str) -> Result<u64, CommandError> {
        let value = self.evaluate(expression)?;
        let program = self.running()?;
        let no_address = || CommandError::new(format!("`{expression}` is not an address"));
        match value.number(program) {
            Ok(Number::Pointer(address, _)) => Ok(address),
            Ok(Number::Int(number)) => u64::try_from(number).map_err(|_| no_address()),
            Ok(_) => Err(no_address()),
            Err(why) => value.address().ok_or_else(|| CommandError::new(why)),
        }
    }

    fn examine_code(&self, address: u64, count: u64) -> Result<(Outcome, u64), CommandError> {
        let size = (count as usize).saturating_mul(INSTRUCTION_MAX);
        let mut view = self.assembly(address..address.saturating_add(size as u64))?;
        view.lines.truncate(count as usize);
        if view.lines.len() as u64 == count {
            view.unreadable = None;
        }
        let next = match view.lines.last() {
            Some(last) => last.address + last.bytes.len() as u64 / 2,
            None => address,
        };
        for line in &mut view.lines {
            line.bytes.clear();
        }
        let view = AssemblyView {
            function: None,
            ..view
        };
        Ok((Outcome::Assembly(view), next))
    }
}

fn numbers(program: &Program, address: u64, how: Examined) -> (Outcome, u64) {
    let in_row = (ROW_BYTES / how.size).max(1) as u64;
    let mut view = MemoryView {
        rows: Vec::new(),
        unreadable: None,
    };
    let mut at = address;
    for index in 0..how.count {
        let mut bytes = vec![0; how.size];
        if program.debuggee.read(at, &mut bytes).is_err() {
            view.unreadable = Some(format!("the memory at {at:#x} cannot be read"));
            break;
        }
        let cell = how.cell(&bytes);
        let name = match (how.letter, <[u8; 8]>::try_from(bytes.as_slice())) {
            ('a', Ok(word)) => program.name_of(u64::from_le_bytes(word)),
            _ => None,
        };
        let cell = match name {
            Some(name) => format!("{cell} <{name}>"),
            None => cell,
        };
        match view.rows.last_mut() {
            Some(row) if index % in_row != 0 => row.cells.push(cell),
            _ => view.rows.push(MemoryRow {
                address: at,
                name: program.name_of(at),
                cells: vec![cell],
            }),
        }
        at = at.wrapping_add(how.size as u64);
    }
    (Outcome::Memory(view), at)
}

/// Texts that end in a zero, one after the other.
fn texts(program: &Program, address: u64, how: Examined) -> (Outcome, u64) {
    let wide = match how.character {
        2 => Some(Character::Utf16),
        4 => Some(Character::Utf32),
        _ => None,
    };
    let size = how.character;
    let mut view = MemoryView {
        rows: Vec::new(),
        unreadable: None,
    };
    let mut at = address;
    for _ in 0..how.count {
        let mut bytes = vec![0; TEXT_MAX * size];
        let read = program.debuggee.read_up_to(at, &mut bytes);
        let bytes = bytes.get(..read).unwrap_or(&[]);
        if bytes.is_empty() {
            view.unreadable = Some(format!("the memory at {at:#x} cannot be read"));
            break;
        }
        let mut units = bytes.chunks_exact(size);
        let end = units.position(|unit| unit.iter().all(|&byte| byte == 0));
        let end = end.map(|count| count * size);
        let shown = bytes.get(..end.unwrap_or(read)).unwrap_or(bytes);
        let dots = if end.is_some() { "" } else { "..." };
        let text = match wide {
            Some(wide) => {
                let characters = wide.decoded(shown).into_iter();
                let text = characters.map(|it| it.unwrap_or(char::REPLACEMENT_CHARACTER));
                format!("{}{:?}", wide.prefix(), text.collect::<String>())
            }
            None => quoted(shown),
        };
        view.rows.push(MemoryRow {
            address: at,
            name: program.name_of(at),
            cells: vec![format!("{text}{dots}")],
        });
        at = at.wrapping_add(end.map_or(read, |end| end + size) as u64);
    }
    (Outcome::Memory(view), at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_those_of_gdb() {
        for (format, bytes, expected) in [
            ("x", &[0x36, 0x11, 0x40, 0][..], "0x00401136"),
            ("wx", &[1, 0, 0, 0], "0x00000001"),
            ("bd", &[0xff], "-1"),
            ("bu", &[0xff], "255"),
            ("hd", &[0x00, 0x80], "-32768"),
            ("bt", &[5], "00000101"),
            ("bo", &[8], "010"),
            ("c", b"A", "65 'A'"),
            ("c", b"\n", "10 '\\n'"),
            ("c", &[0xe9], "-23 '\\xe9'"),
            ("a", &[0x10, 0, 0, 0, 0, 0, 0, 0], "0x10"),
            ("fw", &[0, 0, 0x80, 0x3f], "1"),
            ("f", &[0, 0, 0, 0, 0, 0, 0xf8, 0x3f], "1.5"),
        ] {
            let how = Examined::default().with(format).expect("a format");
            assert_eq!(how.size, bytes.len(), "{format}");
            assert_eq!(how.cell(bytes), expected, "{format}");
        }
    }

    #[test]
    fn counts_sizes_and_letters_are_read() {
        let how = Examined::default().with("3wd").expect("a format");
        assert_eq!((how.count, how.size, how.letter), (3, 4, 'd'));
        // The rest stays as it was.
        let next = how.with("2").expect("a format");
        assert_eq!((next.count, next.size, next.letter), (2, 4, 'd'));
        for wrong in ["k", "3xq", "99999x", "bf"] {
            assert!(Examined::default().with(wrong).is_err(), "{wrong}");
        }
    }
}
