//! Storage of the states: all threads read it, and each writes to chunks of its own.
//!
//! A thread takes chunks of the arena and fills them. A state is published by entering
//! its position in the [`Table`](super::table::Table), and is immutable from then on.

use super::record;
use crate::store::StateId;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Size of a chunk in words: 1 MiB.
const CHUNK_WORDS: usize = 1 << CHUNK_BITS;
const CHUNK_BITS: u32 = 17;
/// Maximum number of chunks: all words and ends have numbers of 32 bits.
const CHUNKS: usize = (1 << (u32::BITS - CHUNK_BITS)) - 1;
/// Maximum number of states of a segment, which a thread expands at a time.
const SEGMENT: u32 = 32;

/// The states, with their notes.
pub(super) struct Arena {
    chunks: Box<[OnceLock<Box<[AtomicU64]>>]>,
    /// The first chunk that no thread has taken.
    free: AtomicUsize,
}

impl Arena {
    /// Returns an empty arena.
    pub fn new() -> Arena {
        Arena {
            chunks: (0..CHUNKS).map(|_| OnceLock::new()).collect(),
            free: AtomicUsize::new(0),
        }
    }

    /// Returns the words of a state and the rest of its chunk.
    fn at(&self, state: StateId) -> &[AtomicU64] {
        let (chunk, position) = (state.0 >> CHUNK_BITS, state.0 as usize % CHUNK_WORDS);
        let chunk = self.chunks.get(chunk as usize).and_then(OnceLock::get);
        chunk.and_then(|chunk| chunk.get(position..)).unwrap_or(&[])
    }

    /// Returns the first word of a state.
    pub fn first(&self, state: StateId) -> u64 {
        load(self.at(state).first())
    }

    /// Returns the note of a state.
    pub fn note(&self, state: StateId) -> u32 {
        record::note(self.first(state))
    }

    /// Returns whether a stored state has these bytes.
    pub fn is(&self, id: StateId, state: &[u8]) -> bool {
        let mut own = self.at(id).iter().map(|word| word.load(Ordering::Relaxed));
        let Some(first) = own.next() else {
            return false;
        };
        let mut is_first = true;
        // States of different lengths differ in their first words.
        record::pack(state, |word| {
            if std::mem::take(&mut is_first) {
                record::same(first, word)
            } else {
                own.next() == Some(word)
            }
        })
    }

    /// Reads the bytes of a state.
    pub fn get(&self, state: StateId, bytes: &mut Vec<u8>) {
        let words = self.at(state).iter();
        record::unpack(words.map(|word| word.load(Ordering::Relaxed)), bytes);
    }

    /// Returns the position after a state.
    fn after(&self, state: StateId) -> StateId {
        let words = self.at(state);
        StateId(state.0 + record::words(load(words.first()), load(words.get(1))) as u32)
    }

    /// Takes another chunk for a thread; `None` if there are no numbers left.
    fn take(&self) -> Option<u32> {
        let number = self.free.fetch_add(1, Ordering::Relaxed);
        let chunk = self.chunks.get(number)?;
        // The thread that takes a chunk is the first to write to it, so its pages are
        // allocated all at once.
        chunk.get_or_init(|| (0..CHUNK_WORDS).map(|_| AtomicU64::new(0)).collect());
        Some((number as u32) << CHUNK_BITS)
    }
}

fn load(word: Option<&AtomicU64>) -> u64 {
    word.map_or(0, |word| word.load(Ordering::Relaxed))
}

/// Consecutive states of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    start: u32,
    end: u32,
}

impl Segment {
    /// Removes and returns the first state; `None` at the end.
    pub fn next(&mut self, arena: &Arena) -> Option<StateId> {
        let state = StateId(self.start);
        if self.start >= self.end {
            return None;
        }
        self.start = arena.after(state).0;
        Some(state)
    }
}

/// The write position of a thread.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    /// The next word, and the end of the chunk.
    position: u32,
    left: usize,
    /// Start of the last segment, and its number of states.
    start: u32,
    count: u32,
    segments: Vec<Segment>,
    /// Number of states that this thread has kept, and their words.
    pub states: u64,
    pub words: u64,
}

impl Cursor {
    /// Writes a state, which is overwritten by the next one unless it is kept. Returns
    /// `None` if there is no room.
    pub fn write(&mut self, arena: &Arena, state: &[u8], note: u32) -> Option<StateId> {
        let words = record::words_of(state.len());
        if words > self.left {
            self.next_chunk(arena, words)?;
        }
        let mut places = arena.at(StateId(self.position)).iter();
        let mut note = Some(note);
        let fits = record::pack(state, |word| {
            let word = record::with_note(word, note.take().unwrap_or(0));
            let place = places.next();
            place
                .map(|place| place.store(word, Ordering::Relaxed))
                .is_some()
        });
        fits.then_some(StateId(self.position))
    }

    /// Moves to another chunk.
    fn next_chunk(&mut self, arena: &Arena, words: usize) -> Option<()> {
        if words >= CHUNK_WORDS {
            return None;
        }
        self.close();
        let start = arena.take()?;
        // Number 0 is no state; as a note it means none.
        let skipped = u32::from(start == 0);
        self.position = start + skipped;
        self.left = CHUNK_WORDS - skipped as usize;
        self.start = self.position;
        Some(())
    }

    /// Keeps the state written last, of a length in bytes.
    pub fn keep(&mut self, length: usize) {
        let words = record::words_of(length);
        self.position = self.position.wrapping_add(words as u32);
        self.left -= words.min(self.left);
        self.states += 1;
        self.words += words as u64;
        self.count += 1;
        if self.count == SEGMENT {
            self.close();
        }
    }

    fn close(&mut self) {
        if self.count > 0 {
            self.segments.push(Segment {
                start: self.start,
                end: self.position,
            });
        }
        (self.start, self.count) = (self.position, 0);
    }

    /// Returns the segments completed since the last call.
    pub fn segments(&mut self) -> Vec<Segment> {
        self.close();
        std::mem::take(&mut self.segments)
    }
}
