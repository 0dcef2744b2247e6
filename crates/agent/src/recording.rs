//! Calls that a program records itself.
//!
//! A stub leads from a `syscall` instruction to this image, which makes the call if it never waits and if
//! it is known what the kernel writes for it, and appends an entry to a ring that juror reads. All other
//! calls go on at their own instruction.
//!
//! Invariant: the program is not trusted. Whatever is in the ring, it is decoded without a panic, or
//! refused.

pub mod layout;
mod table;

pub use table::{REFUSED, is_recorded, table};

use layout::{CAPACITY, HEADER};

mod built {
    include!(concat!(env!("OUT_DIR"), "/record_image.rs"));
}

/// Returns the image: it is entered from stubs, with the address behind a call in `rcx`.
pub fn image() -> crate::Image {
    crate::Image {
        address: built::BASE,
        bytes: include_bytes!(concat!(env!("OUT_DIR"), "/record_image.bin")),
        size: built::SIZE,
        entry: built::ENTRY,
        site_entry: built::ENTRY,
    }
}

/// A call that a program has recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnCall {
    /// Its number.
    pub number: u32,
    /// The address behind its instruction.
    pub behind: u64,
    /// The first of its arguments.
    pub arguments: [u64; 3],
    /// The result of the call.
    pub result: i64,
    /// The bytes that the kernel has written for it, and their address.
    pub writes: Vec<(u64, Vec<u8>)>,
}

/// Takes the first call from the bytes of entries, and leaves those behind it. Returns nothing if there is
/// none, or it is not whole.
pub fn take_call(bytes: &mut &[u8]) -> Option<OwnCall> {
    let word = |at: usize| {
        let word = bytes.get(at..)?.first_chunk()?;
        Some(u64::from_le_bytes(*word))
    };
    let head = word(0)?;
    let (length, number) = (head as u32 as usize, (head >> 32) as u32);
    let lengths = word(56)?;
    let ranges = [
        (word(48)?, lengths as u32 as usize),
        (word(64)?, (lengths >> 32) as usize),
    ];
    let header = HEADER as usize;
    let sizes = ranges.map(|(_, length)| length.next_multiple_of(8));
    let is_whole = length == header + sizes.iter().sum::<usize>() && length <= bytes.len();
    if !is_whole || u64::try_from(length).is_ok_and(|length| length > CAPACITY) {
        return None;
    }
    let mut at = header;
    let mut writes = Vec::new();
    for ((address, length), size) in ranges.into_iter().zip(sizes) {
        if length > 0 {
            writes.push((address, bytes.get(at..at + length)?.to_vec()));
        }
        at += size;
    }
    let call = OwnCall {
        number,
        behind: word(8)?,
        arguments: [word(16)?, word(24)?, word(32)?],
        result: word(40)? as i64,
        writes,
    };
    *bytes = bytes.get(length..)?;
    Some(call)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random.
    struct Numbers(u64);

    impl Numbers {
        fn next(&mut self) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0
        }

        fn bytes(&mut self, count: u64) -> Vec<u8> {
            (0..count).map(|_| self.next() as u8).collect()
        }
    }

    /// Appends a call as the image does.
    fn append(bytes: &mut Vec<u8>, call: &OwnCall) {
        let start = bytes.len();
        let of = |at: usize| call.writes.get(at).cloned().unwrap_or_default();
        let (first, second) = (of(0), of(1));
        bytes.extend([0; 4]);
        bytes.extend(call.number.to_le_bytes());
        let words = [call.behind, call.arguments[0], call.arguments[1]];
        let words = words.into_iter().chain([call.arguments[2]]);
        for word in words.chain([call.result as u64, first.0]) {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend((first.1.len() as u32).to_le_bytes());
        bytes.extend((second.1.len() as u32).to_le_bytes());
        bytes.extend(second.0.to_le_bytes());
        for written in [first.1, second.1] {
            bytes.extend(written);
            bytes.resize(bytes.len().next_multiple_of(8), 0);
        }
        let length = (bytes.len() - start) as u32;
        bytes[start..start + 4].copy_from_slice(&length.to_le_bytes());
    }

    #[test]
    fn calls_are_taken_as_they_were_appended() {
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
        let mut calls = Vec::new();
        let mut bytes = Vec::new();
        for _ in 0..300 {
            let count = numbers.next() % 3;
            let writes = (0..count).map(|_| {
                let length = 1 + numbers.next() % 40;
                (numbers.next(), numbers.bytes(length))
            });
            let writes = writes.collect();
            let call = OwnCall {
                number: numbers.next() as u32,
                behind: numbers.next(),
                arguments: [numbers.next(), numbers.next(), numbers.next()],
                result: numbers.next() as i64,
                writes,
            };
            append(&mut bytes, &call);
            calls.push(call);
        }
        let mut rest = &*bytes;
        let taken: Vec<_> = std::iter::from_fn(|| take_call(&mut rest)).collect();
        assert_eq!(taken, calls);
        assert!(rest.is_empty());
        // One that is cut off is none.
        let mut rest = &bytes[..bytes.len() - 1];
        assert_eq!(std::iter::from_fn(|| take_call(&mut rest)).count(), 299);
    }

    #[test]
    fn no_contents_make_a_panic() {
        let mut numbers = Numbers(77);
        for round in 0..20_000 {
            let length = numbers.next() % 300;
            let mut bytes = numbers.bytes(length);
            // Lengths that are nearly right.
            if let Some(first) = bytes.get_mut(..4) {
                let length = (round % 300) as u32;
                first.copy_from_slice(&length.to_le_bytes());
            }
            if let Some(lengths) = bytes.get_mut(56..64) {
                let pair = [numbers.next() % 90, (numbers.next() % 90) << 32];
                lengths.copy_from_slice(&(pair[0] | pair[1]).to_le_bytes());
            }
            let mut rest = &*bytes;
            while let Some(call) = take_call(&mut rest) {
                assert!(call.writes.len() <= 2);
            }
            assert!(rest.len() <= bytes.len());
        }
    }

    #[test]
    fn the_image_has_its_call_where_the_filter_expects_it() {
        let image = image();
        let entry = usize::try_from(image.entry - image.address).unwrap();
        let behind = entry + layout::BEHIND_CALL as usize;
        assert_eq!(image.bytes[behind - 2..behind], [0x0f, 0x05]);
        let own = &image.bytes[entry..][..layout::SIZE as usize];
        let data = layout::CODE_END as usize;
        assert!(own[data..].iter().all(|byte| *byte == 0));
        const { assert!(layout::FILES + layout::DESCRIPTORS / 8 <= layout::ENTRIES) };
        assert_eq!(image.entry % 4096, 0);
    }
}
