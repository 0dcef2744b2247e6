//! Where the states stand: all threads read it, and each writes where no other does.
//!
//! A thread takes pieces of the arena and fills them. A state is published by its place in
//! the [`Table`](super::table::Table), and does not change any more.

use super::record;
use crate::store::StateId;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// A piece has so many words: a megabyte.
const PIECE_WORDS: usize = 1 << PIECE_BITS;
const PIECE_BITS: u32 = 17;
/// So many pieces have numbers for all their words and their ends.
const PIECES: usize = (1 << (u32::BITS - PIECE_BITS)) - 1;
/// So many states are taken at a time by a thread that expands them.
const SEGMENT: u32 = 32;

/// The states, with their notes.
pub(super) struct Arena {
    pieces: Box<[OnceLock<Box<[AtomicU64]>>]>,
    /// The first piece that no thread has taken.
    free: AtomicUsize,
}

impl Arena {
    /// An empty arena.
    pub fn new() -> Arena {
        Arena {
            pieces: (0..PIECES).map(|_| OnceLock::new()).collect(),
            free: AtomicUsize::new(0),
        }
    }

    /// The words of a state, and what follows it in its piece.
    fn at(&self, state: StateId) -> &[AtomicU64] {
        let (piece, position) = (state.0 >> PIECE_BITS, state.0 as usize % PIECE_WORDS);
        let piece = self.pieces.get(piece as usize).and_then(OnceLock::get);
        piece.and_then(|piece| piece.get(position..)).unwrap_or(&[])
    }

    /// The first word of a state.
    pub fn first(&self, state: StateId) -> u64 {
        load(self.at(state).first())
    }

    /// The note of a state.
    pub fn note(&self, state: StateId) -> u32 {
        record::note(self.first(state))
    }

    /// Whether a state is this one.
    pub fn is(&self, id: StateId, state: &[u8]) -> bool {
        let mut own = self.at(id).iter().map(|word| word.load(Ordering::Relaxed));
        let Some(first) = own.next() else {
            return false;
        };
        let mut is_first = true;
        // States of different lengths differ in the first words.
        record::pack(state, |word| match std::mem::take(&mut is_first) {
            true => record::same(first, word),
            false => own.next() == Some(word),
        })
    }

    /// The bytes of a state.
    pub fn get(&self, state: StateId, bytes: &mut Vec<u8>) {
        let words = self.at(state).iter();
        record::unpack(words.map(|word| word.load(Ordering::Relaxed)), bytes);
    }

    /// The state that stands after one.
    fn after(&self, state: StateId) -> StateId {
        let words = self.at(state);
        StateId(state.0 + record::words(load(words.first()), load(words.get(1))) as u32)
    }

    /// Another piece for a thread; nothing if there are no numbers for it.
    fn take(&self) -> Option<u32> {
        let number = self.free.fetch_add(1, Ordering::Relaxed);
        let piece = self.pieces.get(number)?;
        // Whoever takes a piece is the first who writes there, and not by one page at a time.
        piece.get_or_init(|| (0..PIECE_WORDS).map(|_| AtomicU64::new(0)).collect());
        Some((number as u32) << PIECE_BITS)
    }
}

fn load(word: Option<&AtomicU64>) -> u64 {
    word.map_or(0, |word| word.load(Ordering::Relaxed))
}

/// States that stand one after the other in a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    start: u32,
    end: u32,
}

impl Segment {
    /// The first of the states, which is taken out; nothing when there are no more.
    pub fn next(&mut self, arena: &Arena) -> Option<StateId> {
        let state = StateId(self.start);
        if self.start >= self.end {
            return None;
        }
        self.start = arena.after(state).0;
        Some(state)
    }
}

/// Where a thread writes.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    /// The next word, and the end of the piece.
    position: u32,
    left: usize,
    /// Where the last segment begins, and how many states it has.
    start: u32,
    count: u32,
    segments: Vec<Segment>,
    /// How many states this thread has kept, in how many words.
    pub states: u64,
    pub words: u64,
}

impl Cursor {
    /// Writes a state, which stands there until the next is written, or for ever if it is
    /// kept. Nothing if there is no room.
    pub fn write(&mut self, arena: &Arena, state: &[u8], note: u32) -> Option<StateId> {
        let words = record::words_of(state.len());
        if words > self.left {
            self.turn(arena, words)?;
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

    /// Goes to another piece.
    fn turn(&mut self, arena: &Arena, words: usize) -> Option<()> {
        if words >= PIECE_WORDS {
            return None;
        }
        self.close();
        let start = arena.take()?;
        // No state has the number 0, which is no note.
        let skipped = u32::from(start == 0);
        self.position = start + skipped;
        self.left = PIECE_WORDS - skipped as usize;
        self.start = self.position;
        Some(())
    }

    /// Keeps the state of so many bytes that was written last.
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

    /// What was kept since this was asked last.
    pub fn segments(&mut self) -> Vec<Segment> {
        self.close();
        std::mem::take(&mut self.segments)
    }
}
