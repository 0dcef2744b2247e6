//! The words of C's arithmetic types, of which several are one name: `long unsigned int`.

/// How often each word is written in the name of an arithmetic type of C.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ArithmeticWords {
    pub unsigned: u8,
    pub signed: u8,
    pub long: u8,
    pub short: u8,
    pub char: u8,
    pub int: u8,
    pub double: u8,
    pub int128: u8,
}

impl ArithmeticWords {
    /// Counts the words of a name; `None` if one belongs to no arithmetic type.
    pub fn of(name: &str) -> Option<ArithmeticWords> {
        let mut counts = ArithmeticWords::default();
        for word in name.split_whitespace() {
            let count = match word {
                "unsigned" => &mut counts.unsigned,
                "signed" => &mut counts.signed,
                "long" => &mut counts.long,
                "short" => &mut counts.short,
                "char" => &mut counts.char,
                "int" => &mut counts.int,
                "double" => &mut counts.double,
                "__int128" => &mut counts.int128,
                _ => return None,
            };
            *count = count.saturating_add(1);
        }
        Some(counts)
    }

    /// Returns whether C has a type with these words (ISO C, 6.7.3).
    pub fn are_one_type(&self) -> bool {
        let signs = self.unsigned.saturating_add(self.signed);
        let short_or_char = self.short.saturating_add(self.char);
        let sizes = short_or_char.saturating_add(self.int128);
        let is_long = self.long > 0;
        let is_fraction = self.double > 0;
        *self != ArithmeticWords::default()
            && signs <= 1
            && self.int <= 1
            && self.double <= 1
            && sizes <= 1
            && self.long <= 2
            && !(is_long && sizes > 0)
            // `long double` has no sign.
            && !(is_fraction && (signs + sizes + self.int > 0 || self.long > 1))
            // `int` stands beside `short` and `long` only.
            && !(self.int > 0 && self.char.saturating_add(self.int128) > 0)
    }
}

/// Returns whether a name consists of several words of arithmetic types.
pub(crate) fn is_several_words(name: &str) -> bool {
    name.contains(' ') && ArithmeticWords::of(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_words_are_one_name() {
        assert!(is_several_words("long unsigned int"));
        assert!(!is_several_words("long"));
        assert!(!is_several_words("long form"));
    }
}
