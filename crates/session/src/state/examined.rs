//! The format and the next address of `x`.

use juror_fault::CommandError;

/// The limit of elements shown at once.
pub(crate) const COUNT_MAX: u64 = 10_000;

/// The format of the last `x`, and its next address.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Examined {
    pub(crate) count: u64,
    pub(crate) letter: char,
    /// The size of an element, in bytes.
    pub(crate) size: usize,
    /// Whether the size was given, now or before.
    pub(crate) is_size_given: bool,
    /// The size of a character of a string, in bytes.
    pub(crate) character: usize,
    /// The address of the next element.
    pub(crate) next: Option<u64>,
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
    /// Parses `/8gx`: a count, a size and a letter, in any order after the count.
    pub(crate) fn with(mut self, format: &str) -> Result<Examined, CommandError> {
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
        // A format with a natural size uses it, unless another is given.
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
                "floating-point numbers have 4 or 8 bytes: w or g",
            )),
            _ => Ok(self),
        }
    }

    /// Formats an element.
    pub(crate) fn cell(self, bytes: &[u8]) -> String {
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

pub(crate) fn character(number: u64, signed: i64) -> String {
    match u8::try_from(number) {
        Ok(byte) if byte.is_ascii() => format!("{signed} '{}'", byte.escape_ascii()),
        Ok(byte) => format!("{signed} '\\x{byte:02x}'"),
        Err(_) => signed.to_string(),
    }
}
