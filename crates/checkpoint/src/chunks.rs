//! Kept bytes in parts, which several checkpoints share as long as they are
//! equal.
//!
//! Invariant: a part that is all zeroes takes no memory.

use std::sync::Arc;

/// Length of a part in bytes.
pub(crate) const LENGTH: usize = 64 << 10;

/// Bytes, in parts of [`LENGTH`]; the last may be shorter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Chunks {
    length: usize,
    /// None for zeroes.
    parts: Vec<Option<Arc<[u8]>>>,
}

impl Chunks {
    /// Appends bytes, given in order, part for part. A part that is equal to
    /// that of `before` is shared with it.
    pub(crate) fn push(&mut self, bytes: &[u8], before: Option<&Chunks>) {
        for part in bytes.chunks(LENGTH) {
            let is_zero = part.iter().all(|&byte| byte == 0);
            let known = before
                .and_then(|before| before.parts.get(self.parts.len())?.as_ref())
                .filter(|known| ***known == *part);
            self.parts.push(match known {
                _ if is_zero => None,
                Some(known) => Some(Arc::clone(known)),
                None => Some(part.into()),
            });
            self.length += part.len();
        }
    }

    /// Returns the parts, each with its offset.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, std::borrow::Cow<'_, [u8]>)> {
        self.parts.iter().enumerate().map(|(index, part)| {
            let offset = index * LENGTH;
            let bytes = match part {
                Some(part) => std::borrow::Cow::Borrowed(&**part),
                None => vec![0; LENGTH.min(self.length - offset)].into(),
            };
            (offset, bytes)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn save(bytes: &[u8], before: Option<&Chunks>) -> Chunks {
        let mut chunks = Chunks::default();
        chunks.push(bytes, before);
        chunks
    }

    fn all(chunks: &Chunks) -> Vec<u8> {
        chunks
            .iter()
            .flat_map(|(_, part)| part.into_owned())
            .collect()
    }

    proptest! {
        #[test]
        fn what_is_kept_comes_back(
            blocks in proptest::collection::vec((0_u8..3, 1_usize..LENGTH), 0..6),
            changed in 0_usize..6,
        ) {
            let bytes: Vec<u8> = blocks
                .iter()
                .flat_map(|&(byte, count)| std::iter::repeat_n(byte, count))
                .collect();
            let before = save(&bytes, None);
            prop_assert_eq!(all(&before), bytes.clone());
            prop_assert_eq!(before.length, bytes.len());
            let mut bytes = bytes;
            if let Some(byte) = bytes.get_mut(changed * LENGTH / 2) {
                *byte ^= 1;
            }
            let after = save(&bytes, Some(&before));
            prop_assert_eq!(all(&after), bytes);
        }
    }

    #[test]
    fn equal_parts_are_shared() {
        let mut bytes = vec![1; 3 * LENGTH];
        let before = save(&bytes, None);
        bytes[LENGTH] = 2;
        let after = save(&bytes, Some(&before));
        let shared = before
            .parts
            .iter()
            .zip(&after.parts)
            .map(|(one, other)| Arc::ptr_eq(one.as_ref().unwrap(), other.as_ref().unwrap()));
        assert_eq!(shared.collect::<Vec<_>>(), [true, false, true]);
        assert_eq!(save(&[0; 10], None).parts, [None]);
    }
}
