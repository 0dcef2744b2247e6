//! Inputs that are made of others.

/// The longest piece that is inserted, removed or repeated.
const PIECE_MAX: usize = 16;

/// A source of random numbers (SplitMix64).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Returns a source whose numbers are the same for the same seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`; 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    fn byte(&mut self) -> u8 {
        self.next() as u8
    }
}

/// Changes an input at one to four places. `others` are inputs and words that pieces are taken from.
pub fn mutate(input: &mut Vec<u8>, others: &[Vec<u8>], length_max: usize, random: &mut Random) {
    for _ in 0..=random.below(4) {
        change(input, others, random);
    }
    input.truncate(length_max);
}

fn change(input: &mut Vec<u8>, others: &[Vec<u8>], random: &mut Random) {
    let at = random.below(input.len() + 1);
    let end = (at + 1 + random.below(PIECE_MAX)).min(input.len());
    match random.below(7) {
        0 => {
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        1 => {
            if let Some(byte) = input.get_mut(at) {
                *byte = random.byte();
            }
        }
        2 => input.insert(at, random.byte()),
        3 => drop(input.drain(at..end)),
        4 => {
            let piece = input[at..end].to_vec();
            let to = random.below(input.len() + 1);
            input.splice(to..to, piece);
        }
        // A word, or the beginning of another input.
        5 => {
            if let Some(other) = others.get(random.below(others.len())) {
                let piece = &other[..other.len().min(PIECE_MAX)];
                input.splice(at..at, piece.iter().copied());
            }
        }
        // The rest of another input.
        _ => {
            if let Some(other) = others.get(random.below(others.len())) {
                input.truncate(at);
                input.extend_from_slice(&other[random.below(other.len() + 1)..]);
            }
        }
    }
}
