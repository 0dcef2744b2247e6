//! Parses the numbers that commands on breakpoints take: `2`, `1-3`, `1.2`, `1.2-4`.

/// The limit of numbers in a range.
const RANGE_LENGTH_MAX: u32 = 10_000;

/// A breakpoint, or one of its locations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// The breakpoint.
    pub number: u32,
    /// One of its locations; `None` means all.
    pub location: Option<u32>,
}

/// Parses numbers and ranges.
///
/// # Errors
/// A word is neither; a sentence for the user.
pub fn targets(text: &str) -> Result<Vec<Target>, String> {
    let mut targets = Vec::new();
    for word in text.split([' ', '\t', ',']).filter(|word| !word.is_empty()) {
        let wrong = || format!("`{word}` is not the number of a breakpoint");
        match word.split_once('.') {
            None => targets.extend(range(word).ok_or_else(wrong)?.map(|number| Target {
                number,
                location: None,
            })),
            Some((number, locations)) => {
                let number = positive(number).ok_or_else(wrong)?;
                let locations = range(locations).ok_or_else(wrong)?;
                targets.extend(locations.map(|location| Target {
                    number,
                    location: Some(location),
                }));
            }
        }
    }
    Ok(targets)
}

fn positive(word: &str) -> Option<u32> {
    word.parse().ok().filter(|&number| number > 0)
}

fn range(word: &str) -> Option<std::ops::RangeInclusive<u32>> {
    let (first, last) = match word.split_once('-') {
        Some((first, last)) => (positive(first)?, positive(last)?),
        None => (positive(word)?, positive(word)?),
    };
    (first <= last && last - first < RANGE_LENGTH_MAX).then_some(first..=last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(u32, Option<u32>)]) {
        let found = targets(text).map(|targets| {
            let pairs = targets.iter().map(|it| (it.number, it.location));
            pairs.collect::<Vec<_>>()
        });
        assert_eq!(found.as_deref(), Ok(expected), "{text:?}");
    }

    #[test]
    fn numbers_and_ranges() {
        check("", &[]);
        check("2", &[(2, None)]);
        check("1 3", &[(1, None), (3, None)]);
        check("1-3, 5", &[(1, None), (2, None), (3, None), (5, None)]);
        check("1.2", &[(1, Some(2))]);
        check("4.1-2", &[(4, Some(1)), (4, Some(2))]);
    }

    #[test]
    fn mistakes_are_sentences() {
        for text in [
            "x",
            "0",
            "-1",
            "3-1",
            "1.",
            ".1",
            "1-2.3",
            "1-4000000000",
            "1.0",
        ] {
            assert!(targets(text).is_err(), "{text:?}");
        }
    }
}
