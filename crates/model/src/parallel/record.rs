//! Encoding of a state as words that all threads read.
//!
//! The first word holds the note of the state in its low half, then the length in one
//! byte, then the first bytes of the state; the other bytes follow in further words. A
//! length that does not fit in a byte has a word of its own.
//!
//! Invariant: apart from the note, two states are the same exactly if their words are.

/// Value of the length byte if the length has a word of its own.
const LONG: u64 = 0xff;
/// Size of the note, before the length, in bits.
const NOTE_BITS: u32 = u32::BITS;
/// Number of bytes of a state in the first word.
const FIRST_BYTES: usize = 3;
const WORD: usize = size_of::<u64>();
/// Number of bits before these bytes: the note and the length.
const FIRST_SHIFT: u32 = NOTE_BITS + u8::BITS;

/// Calls a function with each word of a state with the note 0, until it returns false.
/// Returns whether it never did.
#[inline]
pub(super) fn pack(state: &[u8], mut each: impl FnMut(u64) -> bool) -> bool {
    let length = state.len() as u64;
    let rest = if length < LONG {
        let (first, rest) = state.split_at(state.len().min(FIRST_BYTES));
        let first = match state.first_chunk::<WORD>() {
            Some(bytes) => u64::from_le_bytes(*bytes) << FIRST_SHIFT,
            None => word(first) << FIRST_SHIFT,
        };
        if !each(first | length << NOTE_BITS) {
            return false;
        }
        rest
    } else {
        if !(each(LONG << NOTE_BITS) && each(length)) {
            return false;
        }
        state
    };
    let (whole, rest) = rest.as_chunks::<WORD>();
    for bytes in whole {
        if !each(u64::from_le_bytes(*bytes)) {
            return false;
        }
    }
    let unused = (WORD - rest.len()) as u32 * u8::BITS;
    match state.last_chunk::<WORD>() {
        _ if rest.is_empty() => true,
        Some(bytes) => each(u64::from_le_bytes(*bytes) >> unused),
        None => each(word(rest)),
    }
}

/// Returns the number of words of a state of a length in bytes.
pub(super) fn words_of(length: usize) -> usize {
    if length < LONG as usize {
        1 + length.saturating_sub(FIRST_BYTES).div_ceil(WORD)
    } else {
        2 + length.div_ceil(WORD)
    }
}

/// Returns up to 8 bytes as one word.
fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; WORD];
    if let Some(place) = word.get_mut(..bytes.len()) {
        place.copy_from_slice(bytes);
    }
    u64::from_le_bytes(word)
}

/// Returns the number of words of a state, from its first two words.
pub(super) fn words(first: u64, second: u64) -> usize {
    match first >> NOTE_BITS & LONG {
        LONG => words_of(second as usize),
        length => words_of(length as usize),
    }
}

/// Decodes a state from its words, which may be followed by others.
pub(super) fn unpack(mut words: impl Iterator<Item = u64>, state: &mut Vec<u8>) {
    state.clear();
    let mut next = || words.next().unwrap_or(0);
    let first = next();
    let mut length = (first >> NOTE_BITS & LONG) as usize;
    if length as u64 == LONG {
        length = next() as usize;
    } else {
        let [.., one, two, three] = first.to_le_bytes();
        state.extend_from_slice(&[one, two, three]);
    }
    while state.len() < length {
        state.extend_from_slice(&next().to_le_bytes());
    }
    state.truncate(length);
}

/// Returns the note in the first word.
pub(super) fn note(first: u64) -> u32 {
    first as u32
}

/// Returns the first word with the note set; its note must be 0.
pub(super) fn with_note(first: u64, note: u32) -> u64 {
    first | u64::from(note)
}

/// Returns whether two first words are equal apart from their notes.
pub(super) fn same(one: u64, other: u64) -> bool {
    one >> NOTE_BITS == other >> NOTE_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_the_state_they_are_of() {
        let mut all = Vec::new();
        let lengths = [0, 1, 2, 3, 4, 10, 11, 12, 37, 253, 254, 255, 256, 1000];
        let states: Vec<Vec<u8>> = lengths
            .iter()
            .map(|length| (0..*length).map(|at| at as u8 | 1).collect())
            .collect();
        let mut counts = Vec::new();
        for state in &states {
            let before = all.len();
            assert!(pack(state, |word| {
                all.push(word);
                true
            }));
            counts.push(all.len() - before);
            assert_eq!(all.len() - before, words_of(state.len()));
        }
        let mut rest = &all[..];
        for (state, count) in states.iter().zip(counts) {
            let second = rest.get(1).copied().unwrap_or(0);
            let first = with_note(rest[0], 0x8000_0007);
            assert_eq!(words(first, second), count);
            assert!(same(first, rest[0]));
            assert_eq!(note(first), 0x8000_0007);
            let mut found = vec![1, 2, 3];
            let rests = rest[1..].iter().copied();
            unpack(std::iter::once(first).chain(rests), &mut found);
            assert_eq!(found, *state);
            rest = &rest[count..];
        }
        assert!(rest.is_empty());
    }

    #[test]
    fn states_that_differ_have_words_that_differ() {
        let mut seen = std::collections::HashSet::new();
        for length in [0_usize, 1, 2, 3, 4, 5, 255, 256] {
            for filled in [0, 1] {
                let mut words = Vec::new();
                pack(&vec![filled; length], |word| {
                    words.push(word);
                    true
                });
                let is_new = seen.insert(words);
                assert_eq!(is_new, length > 0 || filled == 0, "{length} {filled}");
            }
        }
    }
}
