//! Formats the decimal floating-point types of C (`_Decimal32` and others), in the binary integer
//! encoding that the x86-64 ABI uses (IEEE 754, section 3.5.2).

/// The parameters of one of the three formats.
struct Format {
    exponent_bits: u32,
    bias: i32,
    /// The number of decimal digits.
    digits: u32,
}

/// Formats the number that these bytes encode.
pub(super) fn shown(bytes: &[u8]) -> String {
    let format = match bytes.len() {
        4 => Format {
            exponent_bits: 8,
            bias: 101,
            digits: 7,
        },
        8 => Format {
            exponent_bits: 10,
            bias: 398,
            digits: 16,
        },
        16 => Format {
            exponent_bits: 14,
            bias: 6176,
            digits: 34,
        },
        _ => return "?".to_owned(),
    };
    let mut wide = [0; 16];
    wide.iter_mut().zip(bytes).for_each(|(to, of)| *to = *of);
    let bits = u128::from_le_bytes(wide);
    let width = bytes.len() as u32 * 8;
    let field = |from: u32, count: u32| (bits >> from) & ((1 << count) - 1);
    let sign = if field(width - 1, 1) == 1 { "-" } else { "" };
    match field(width - 6, 5) {
        0b11110 => return format!("{sign}inf"),
        0b11111 => return format!("{sign}nan"),
        _ => {}
    }
    // A coefficient that begins with the bits 100 has one bit more.
    let is_long = field(width - 3, 2) == 0b11;
    let below = width - 1 - format.exponent_bits;
    let (exponent, digits) = if is_long {
        (
            field(below - 2, format.exponent_bits),
            field(0, below - 2) | 1 << below,
        )
    } else {
        (field(below, format.exponent_bits), field(0, below))
    };
    let digits = if digits < 10_u128.pow(format.digits) {
        digits
    } else {
        0
    };
    format!("{sign}{}", placed(digits, exponent as i32 - format.bias))
}

/// Writes an integer scaled by a power of ten, with an exponent if the plain form needs many zeros.
fn placed(number: u128, exponent: i32) -> String {
    let digits = number.to_string();
    let leading = exponent + digits.len() as i32 - 1;
    if exponent > 0 || leading < -6 {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        return format!("{first}{point}{rest}e{leading}");
    }
    let behind = exponent.unsigned_abs() as usize;
    if behind == 0 {
        return digits;
    }
    let padded = format!("{digits:0>width$}", width = behind + 1);
    let (before, after) = padded.split_at(padded.len() - behind);
    format!("{before}.{after}")
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn digits_have_their_point() {
        for (bits, expected) in [
            (0x3200_000f_u32, "1.5"),
            (0xb200_000f, "-1.5"),
            (0x3180_0001, "0.01"),
            (0x3300_0001, "1e1"),
            (0x7800_0000, "inf"),
            (0xfc00_0000, "-nan"),
        ] {
            assert_eq!(shown(&bits.to_le_bytes()), expected, "{bits:#x}");
        }
        assert_eq!(shown(&0xb180_0000_0000_04c9_u64.to_le_bytes()), "-12.25");
    }
}
