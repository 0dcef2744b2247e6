//! Conversion of digits to numbers, eight at a time.
//!
//! Eight bytes are one word, and each step of the arithmetic combines neighbours:
//! digits to pairs, pairs to fours, fours to the number (a well-known use of subword
//! parallelism). So the cost is independent of the digits, and no branch depends on
//! them.

/// The maximum number of digits that always fit in 64 bits.
const DIGITS_MAX: usize = 19;
const EIGHT: usize = 8;
const POWERS: [u64; EIGHT + 1] = [
    1,
    10,
    100,
    1_000,
    10_000,
    100_000,
    1_000_000,
    10_000_000,
    100_000_000,
];

/// Returns the number that the leading digits denote, and their count; `None` if there
/// are none, or more than 19.
#[inline]
pub(crate) fn natural(bytes: &[u8]) -> Option<(u64, usize)> {
    let (mut number, mut length) = eight_at_most(bytes);
    if length < EIGHT {
        return (length > 0).then_some((number, length));
    }
    loop {
        let (more, count) = eight_at_most(bytes.get(length..)?);
        length += count;
        if length > DIGITS_MAX {
            return None;
        }
        number = number * POWERS.get(count)? + more;
        if count < EIGHT {
            return Some((number, length));
        }
    }
}

/// Returns the same for the first eight bytes.
#[inline]
fn eight_at_most(bytes: &[u8]) -> (u64, usize) {
    let word = match bytes.first_chunk::<EIGHT>() {
        Some(eight) => u64::from_le_bytes(*eight),
        None => bytes
            .iter()
            .rev()
            .fold(0, |word, &byte| word << 8 | u64::from(byte)),
    };
    let values = word ^ 0x3030_3030_3030_3030;
    // The high bit of each byte that is not a digit; a carry comes only out of such a
    // byte, and only the first one matters.
    let others = (values.wrapping_add(0x7676_7676_7676_7676) | values) & 0x8080_8080_8080_8080;
    let length = (others.trailing_zeros() / 8) as usize;
    if length == 0 {
        return (0, 0);
    }
    // Zeros in front instead of what follows.
    let digits = values << (8 * (EIGHT - length));
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let low = 0x0000_00ff_0000_00ff;
    let upper = (pairs & low).wrapping_mul(0x000f_4240_0000_0064);
    let lower = (pairs >> 16 & low).wrapping_mul(0x0000_2710_0000_0001);
    (upper.wrapping_add(lower) >> 32, length)
}

/// Marks bytes that are not lower-case hexadecimal digits.
const NO_DIGIT: u8 = 0x80;
/// The value of each byte as a hexadecimal digit.
const HEXADECIMAL: [u8; 256] = hexadecimal_values();

const fn hexadecimal_values() -> [u8; 256] {
    let mut values = [NO_DIGIT; 256];
    let digits = b"0123456789abcdef";
    let mut value = 0;
    while value < digits.len() {
        values[digits[value] as usize] = value as u8;
        value += 1;
    }
    values
}

/// Returns the number that up to sixteen lower-case hexadecimal digits denote.
#[inline]
pub(crate) fn hexadecimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    let (mut number, mut wrong) = (0_u64, 0);
    for &digit in digits {
        let value = HEXADECIMAL
            .get(usize::from(digit))
            .copied()
            .unwrap_or(NO_DIGIT);
        wrong |= value;
        number = number << 4 | u64::from(value & 15);
    }
    (wrong & NO_DIGIT == 0).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Converts digit by digit.
    fn natural_by_digits(bytes: &[u8]) -> Option<(u64, usize)> {
        let length = bytes.iter().take_while(|it| it.is_ascii_digit()).count();
        let digits = std::str::from_utf8(&bytes[..length]).expect("digits");
        let number = digits.parse().ok().filter(|_| length <= 19)?;
        Some((number, length))
    }

    fn check(bytes: &[u8]) {
        let shown = String::from_utf8_lossy(bytes);
        assert_eq!(natural(bytes), natural_by_digits(bytes), "{shown}");
    }

    #[test]
    fn what_stands_beside_digits_ends_them() {
        for byte in 0..=u8::MAX {
            for length in 0..21 {
                let mut bytes = vec![b'9'; length];
                bytes.push(byte);
                check(&bytes);
                bytes.extend(b"00");
                check(&bytes);
                bytes.extend(b"123456789");
                check(&bytes);
            }
        }
    }

    proptest! {
        #[test]
        fn numbers_are_read_as_digit_by_digit(
            digits in "[0-9]{0,21}",
            after in proptest::collection::vec(any::<u8>(), 0..12),
        ) {
            let mut bytes = digits.into_bytes();
            bytes.extend(after);
            check(&bytes);
        }

        #[test]
        fn hexadecimal_is_what_the_library_reads(text in "[0-9a-f]{0,17}[g-zA-F:/`@]?[0-9a-f]{0,2}") {
            let is_lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
            let expected = u64::from_str_radix(&text, 16).ok();
            let expected = expected.filter(|_| is_lower && text.len() <= 16);
            prop_assert_eq!(hexadecimal(text.as_bytes()), expected);
        }
    }
}
