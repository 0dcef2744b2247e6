//! Checks values against a layout that only the ABI of a library gives, for a class that the
//! program declares and no debug information defines.

use super::printers::PrettyPrinters;
use super::rule::PrettyPrinter;
use crate::typed::{Memory, Typed};
use juror_symbols::{AbiLayout, Composite};
use std::sync::Arc;

/// The largest string of libstdc++, in bytes.
const STRING_SIZE_MAX: u64 = i64::MAX as u64;

impl PrettyPrinters {
    /// Returns the views that fit a value, best first; none for a value that its type rules out.
    pub(super) fn fitting(
        &self,
        value: &Typed,
        memory: &dyn Memory,
    ) -> impl Iterator<Item = &Arc<PrettyPrinter>> {
        let is_possible = is_plausible(value, memory);
        self.of(&value.r#type).filter(move |_| is_possible)
    }
}

/// Returns whether a value can be an object of its type; true for every type with a definition.
pub(crate) fn is_plausible(value: &Typed, memory: &dyn Memory) -> bool {
    let Some(composite) = value.r#type.composite() else {
        return true;
    };
    match composite.by_abi {
        None => true,
        Some(layout) => is_string(value, layout, &composite, memory).unwrap_or(false),
    }
}

/// Returns whether a value is a string: either it points to its own buffer, or its capacity exceeds
/// the buffer's. Returns `None` if the value cannot be read.
fn is_string(
    value: &Typed,
    layout: AbiLayout,
    composite: &Composite,
    memory: &dyn Memory,
) -> Option<bool> {
    let holder = composite.fields.first()?.r#type.composite()?;
    let character = holder.fields.first()?.r#type.target()?.size()?;
    let longest = STRING_SIZE_MAX.checked_div(character)?;
    match layout {
        AbiLayout::StringWithBuffer => {
            let [pointer, length, capacity] = words(&value.bytes(memory, 24).ok()?)?;
            let buffer = value.address()?.checked_add(16)?;
            // One character of the buffer is the terminator.
            let short = 16u64.checked_div(character)?.checked_sub(1)?;
            Some(if pointer == buffer {
                length <= short
            } else {
                pointer != 0 && length <= capacity && short < capacity && capacity < longest
            })
        }
        AbiLayout::SharedString => {
            let pointer = value.bytes(memory, 8).ok()?;
            let pointer = u64::from_le_bytes(pointer.try_into().ok()?);
            let mut head = [0; 24];
            let start = pointer.checked_sub(24)?;
            if !memory.read(start, &mut head) {
                return None;
            }
            let [length, capacity, owners] = words(&head)?;
            // -1 marks a string that must not be shared.
            let owners = owners as u32 as i32;
            Some(length <= capacity && capacity < longest && owners >= -1)
        }
    }
}

/// Returns three words of memory.
fn words(bytes: &[u8]) -> Option<[u64; 3]> {
    let mut words = bytes.chunks_exact(8).map(|word| {
        let word = word.iter().rev();
        word.fold(0, |number, &byte| number << 8 | u64::from(byte))
    });
    Some([words.next()?, words.next()?, words.next()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_from_the_lowest_byte() {
        let mut bytes = [0; 24];
        bytes[1] = 2;
        bytes[8] = 3;
        bytes[23] = 1;
        assert_eq!(words(&bytes), Some([512, 3, 1 << 56]));
        assert_eq!(words(&bytes[1..]), None);
    }
}
