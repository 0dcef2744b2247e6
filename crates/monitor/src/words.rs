//! Parameter values as machine words.
//!
//! Nearly every parameter is an address, a handle or a small number, and is stored as
//! the number itself. Other values (strings, negative numbers, floating-point numbers)
//! are numbered by a table, which is accessed only for them. So bindings are compared
//! and hashed word by word.
//!
//! **Invariant:** two words are equal exactly if the values are.

use crate::hashing;
use hashbrown::HashTable;
use juror_event::Value;
use std::hash::BuildHasher;

/// A value of a parameter.
pub(crate) type Word = u64;
/// No value: the parameter is not bound.
pub(crate) const UNBOUND: Word = u64::MAX;
/// The bit that marks words for values in the table.
pub(crate) const OTHER: Word = 1 << 63;

/// The minimum number of values in a table that is searched for unused ones.
const CROWDED_MIN: usize = 1_024;

/// The values that are not their own words, and the display of words.
#[derive(Debug, Clone, Default)]
pub(crate) struct Words {
    others: Vec<Value>,
    numbers: HashTable<u32>,
    /// The number of values above which the table is searched for unused ones.
    crowded_at: usize,
    /// The parameters that have been seen as addresses and are displayed as such; bit n
    /// is parameter n.
    addresses: u32,
}

impl Words {
    /// Returns the word of a value of a parameter.
    pub(crate) fn word(&mut self, parameter: usize, value: &Value) -> Word {
        match value {
            Value::Address(address) if *address < OTHER => {
                let bit = 1 << (parameter & 31);
                if self.addresses & bit == 0 {
                    self.addresses |= bit;
                }
                *address
            }
            Value::Int(number) if (0..i128::from(OTHER)).contains(number) => *number as u64,
            _ => self.other(value),
        }
    }

    #[cold]
    fn other(&mut self, value: &Value) -> Word {
        let hash = hash_of(value);
        let others = &self.others;
        let known = |&number: &u32| others.get(number as usize) == Some(value);
        if let Some(&number) = self.numbers.find(hash, known) {
            return OTHER | Word::from(number);
        }
        let number = u32::try_from(self.others.len()).unwrap_or(u32::MAX);
        self.others.push(value.clone());
        let others = &self.others;
        self.numbers.insert_unique(hash, number, |&number| {
            others.get(number as usize).map_or(0, hash_of)
        });
        OTHER | Word::from(number)
    }

    /// Returns true if more than half of the table may be unused.
    #[inline]
    pub(crate) fn is_crowded(&self) -> bool {
        self.others.len() > self.crowded_at.max(CROWDED_MIN)
    }

    /// Keeps only the values that these words denote, and updates the words.
    pub(crate) fn retain<'a>(&mut self, words: impl Iterator<Item = &'a mut Word>) {
        let before = std::mem::take(&mut self.others);
        self.numbers.clear();
        for word in words.filter(|word| is_other(**word)) {
            if let Some(value) = before.get((*word & !OTHER) as usize) {
                *word = self.other(value);
            }
        }
        self.crowded_at = self.others.len() * 2;
    }

    /// Returns the value of a parameter that a word denotes.
    pub(crate) fn value(&self, parameter: usize, word: Word) -> Option<Value> {
        self.value_as(self.addresses, parameter, word)
    }

    fn value_as(&self, addresses: u32, parameter: usize, word: Word) -> Option<Value> {
        if word == UNBOUND {
            return None;
        }
        if is_other(word) {
            return self.others.get((word & !OTHER) as usize).cloned();
        }
        Some(match addresses >> (parameter & 31) & 1 {
            0 => Value::Int(i128::from(word)),
            _ => Value::Address(word),
        })
    }

    /// Returns the number of values that are not their own words.
    pub(crate) fn other_count(&self) -> usize {
        self.others.len()
    }

    /// Adds the values from this number on of a table that begins with those of this one.
    pub(crate) fn add_from(&mut self, number: usize, table: &Words) {
        for value in table.others.iter().skip(number) {
            self.other(value);
        }
        self.crowded_at = table.crowded_at;
    }

    /// Returns the parameters that have been seen as addresses; bit n is parameter n.
    pub(crate) fn addresses(&self) -> u32 {
        self.addresses
    }

    /// Has these parameters displayed as addresses.
    pub(crate) fn set_addresses(&mut self, addresses: u32) {
        self.addresses = addresses;
    }

    /// Returns a binding as values, with these parameters as addresses.
    pub(crate) fn binding_as(&self, addresses: u32, words: &[Word]) -> Vec<Option<Value>> {
        let words = words.iter().enumerate();
        words
            .map(|(p, &word)| self.value_as(addresses, p, word))
            .collect()
    }

    /// Returns a binding as values.
    pub(crate) fn binding(&self, words: &[Word]) -> Vec<Option<Value>> {
        let words = words.iter().enumerate();
        words.map(|(p, &word)| self.value(p, word)).collect()
    }
}

fn is_other(word: Word) -> bool {
    word & OTHER != 0 && word != UNBOUND
}

fn hash_of(value: &Value) -> u64 {
    hashing::Mixed.hash_one(value)
}

/// Returns the bound parameters; bit n is parameter n.
#[inline]
pub(crate) fn mask_of(words: &[Word]) -> u32 {
    let bound = (0..32_u32).zip(words);
    // Branch-free: the bound parameters follow no pattern.
    bound.fold(0, |mask, (parameter, &word)| {
        mask | u32::from(word != UNBOUND) << parameter
    })
}

/// Returns true if two bindings agree on the parameters of a mask.
#[inline]
pub(crate) fn agree(a: &[Word], b: &[Word], mask: u32) -> bool {
    let both = (0..32_u32).zip(a.iter().zip(b));
    let differing = both.fold(0, |differing, (parameter, (a, b))| {
        let chosen = Word::from(mask >> parameter & 1).wrapping_neg();
        differing | (a ^ b) & chosen
    });
    differing == 0
}

/// Joins two bindings; returns false if they contradict each other.
pub(crate) fn join(a: &[Word], b: &[Word], joined: &mut [Word]) -> bool {
    let mut agrees = true;
    for (joined, (&a, &b)) in joined.iter_mut().zip(a.iter().zip(b)) {
        agrees &= a == b || a == UNBOUND || b == UNBOUND;
        *joined = if a == UNBOUND { b } else { a };
    }
    agrees
}

/// Returns a hash of the words of the parameters of a mask.
#[inline]
pub(crate) fn hash_words(words: &[Word], mask: u32) -> u64 {
    let chosen = (0..32_u32).zip(words).filter(|(p, _)| mask >> p & 1 != 0);
    chosen.fold(0, |hash, (_, &word)| hashing::mix(hash, word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_value() -> impl Strategy<Value = Value> {
        prop_oneof![
            any::<i64>().prop_map(|n| Value::Int(i128::from(n))),
            any::<u64>().prop_map(|n| Value::Int(i128::from(n))),
            (0..3_i128).prop_map(Value::Int),
            any::<u64>().prop_map(Value::Address),
            any::<bool>().prop_map(Value::Bool),
            any::<f64>().prop_map(Value::Float),
            "[ab]?".prop_map(|t: String| Value::String(t.into())),
        ]
    }

    proptest! {
        #[test]
        fn words_are_equal_when_values_are(values in prop::collection::vec(any_value(), 1..20)) {
            let mut words = Words::default();
            let mut of: Vec<Word> = values.iter().map(|v| words.word(0, v)).collect();
            words.retain(of.iter_mut().rev());
            for (a, word) in values.iter().zip(&of) {
                prop_assert_eq!(words.value(0, *word), Some(a.clone()));
                for (b, other) in values.iter().zip(&of) {
                    prop_assert_eq!(word == other, a == b);
                }
            }
        }
    }

    #[test]
    fn a_table_keeps_what_is_named() {
        let mut words = Words::default();
        let mut kept = words.word(0, &Value::Int(-1));
        words.word(0, &Value::String("gone".into()));
        words.retain([&mut kept].into_iter());
        assert_eq!(words.others.len(), 1);
        assert_eq!(words.value(0, kept), Some(Value::Int(-1)));
        assert_eq!(words.value(0, UNBOUND), None);
    }
}
