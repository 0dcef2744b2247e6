//! The slices: for each binding of the slice parameters a state and an
//! environment, in parallel arrays whose places are used again.
//!
//! State, generation and binding of a slice lie side by side, so a step
//! touches one cache line of it besides its variables. A slice of one
//! parameter takes sixteen bytes, and eight more when a history is kept.
//!
//! Invariant: place 0 is the base slice, which binds nothing and is never
//! removed.

use crate::words::{UNBOUND, Word, mask_of};
use juror_event::{Value, Verdict};
use juror_language::StateId;
use std::fmt;

/// The name of a slice, never used again for another one. The base slice,
/// which binds nothing, is number 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SliceId(pub u64);

impl fmt::Display for SliceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A slice, to be looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct SliceView<'a> {
    /// Its name.
    pub id: SliceId,
    /// The values of the slice parameters, in their order; nothing where the
    /// parameter is not bound.
    pub binding: Vec<Option<Value>>,
    /// The state it is in.
    pub state: StateId,
    /// The values of the variables, by slot.
    pub environment: &'a [Value],
    /// Its verdict.
    pub verdict: Verdict,
    /// True when it was violated in a final state and is kept for reports
    /// only: another slice may have its binding.
    pub ended: bool,
}

/// The place of a slice in the arrays.
pub(crate) type Place = u32;
/// The base slice.
pub(crate) const BASE: Place = 0;
/// The state of a place that no slice has.
const FREE: u64 = u32::MAX as u64;
/// A list gets no less room than for so many more.
const SMALL_ROOM: usize = 16;
/// Of a slice without a record.
const NO_RECORD: u64 = u64::MAX;

#[derive(Debug, Clone)]
pub(crate) struct Slices {
    parameters: usize,
    variables: usize,
    /// For each place: the state in the low half of a word and how often the
    /// place was used before in the high one, then the binding.
    cells: Vec<u64>,
    /// Empty when no history is kept.
    last_records: Vec<u64>,
    keeps_records: bool,
    environments: Vec<Value>,
    /// The place that no slice has and that is used next; the base where there is
    /// none. The others follow one another: each has the next where its slice had a
    /// binding, so what has no slice takes no memory of its own.
    next_free: Place,
    free_count: usize,
}

impl Slices {
    /// The base slice alone.
    pub(crate) fn new(
        parameters: usize,
        environment: &[Value],
        initial: StateId,
        keeps_records: bool,
    ) -> Slices {
        let mut slices = Slices {
            parameters,
            variables: environment.len(),
            cells: Vec::new(),
            last_records: Vec::new(),
            keeps_records,
            environments: Vec::new(),
            next_free: BASE,
            free_count: 0,
        };
        slices.insert(&vec![UNBOUND; parameters], initial, environment, None);
        slices
    }

    /// The number of places, live or not.
    pub(crate) fn places(&self) -> Place {
        u32::try_from(self.cells.len() / (self.parameters + 1)).unwrap_or(u32::MAX)
    }

    /// The number of live slices, the base included.
    pub(crate) fn count(&self) -> usize {
        self.places() as usize - self.free_count
    }

    /// The bytes that the arrays have taken from the system, without the
    /// variables.
    pub(crate) fn bytes(&self) -> usize {
        8 * self.cells.capacity() + 8 * self.last_records.capacity()
    }

    /// Whether slices have variables.
    #[inline]
    pub(crate) fn have_variables(&self) -> bool {
        self.variables > 0
    }

    #[inline]
    fn cell(&self, place: Place) -> usize {
        place as usize * (self.parameters + 1)
    }

    #[inline]
    fn head(&self, place: Place) -> u64 {
        self.cells.get(self.cell(place)).copied().unwrap_or(FREE)
    }

    #[inline]
    pub(crate) fn is_live(&self, place: Place) -> bool {
        self.head(place) & FREE != FREE
    }

    #[inline]
    pub(crate) fn id(&self, place: Place) -> SliceId {
        SliceId(self.head(place) >> 32 << 32 | u64::from(place))
    }

    #[inline]
    pub(crate) fn state(&self, place: Place) -> StateId {
        StateId(self.head(place) as u32)
    }

    /// Which parameters it binds; bit n is parameter n.
    pub(crate) fn mask(&self, place: Place) -> u32 {
        mask_of(self.binding(place))
    }

    #[inline]
    pub(crate) fn last_record(&self, place: Place) -> Option<u64> {
        let record = self.last_records.get(place as usize).copied();
        record.filter(|&record| record != NO_RECORD)
    }

    #[inline]
    pub(crate) fn binding(&self, place: Place) -> &[Word] {
        let start = self.cell(place) + 1;
        self.cells
            .get(start..start + self.parameters)
            .unwrap_or(&[])
    }

    /// The value of the first parameter.
    #[inline]
    pub(crate) fn first_word(&self, place: Place) -> Option<Word> {
        self.cells.get(self.cell(place) + 1).copied()
    }

    /// All words of live slices.
    pub(crate) fn words_mut(&mut self) -> impl Iterator<Item = &mut Word> {
        let cells = self.cells.chunks_mut(self.parameters + 1);
        let live = cells.filter(|cell| cell.first().is_some_and(|head| head & FREE != FREE));
        live.flat_map(|cell| cell.iter_mut().skip(1))
    }

    #[inline]
    pub(crate) fn environment(&self, place: Place) -> &[Value] {
        let start = place as usize * self.variables;
        let range = start..start + self.variables;
        self.environments.get(range).unwrap_or(&[])
    }

    /// The slice moves on, and nothing else of it changes.
    #[inline]
    pub(crate) fn set_state(&mut self, place: Place, state: StateId) {
        let cell = self.cell(place);
        if let Some(head) = self.cells.get_mut(cell) {
            *head = *head >> 32 << 32 | u64::from(state.0);
        }
    }

    /// The slice moves on; `environment` gets its old variables in exchange.
    #[inline]
    pub(crate) fn advance(
        &mut self,
        place: Place,
        state: StateId,
        environment: &mut [Value],
        record: Option<u64>,
    ) {
        let cell = self.cell(place);
        if let Some(head) = self.cells.get_mut(cell) {
            *head = *head >> 32 << 32 | u64::from(state.0);
        }
        if let Some(last) = self.last_records.get_mut(place as usize) {
            *last = record.unwrap_or(NO_RECORD);
        }
        if self.variables > 0 {
            let start = place as usize * self.variables;
            let range = start..start + self.variables;
            let variables = self.environments.get_mut(range).unwrap_or(&mut []);
            for (old, new) in variables.iter_mut().zip(environment) {
                std::mem::swap(old, new);
            }
        }
    }

    /// A new slice.
    pub(crate) fn insert(
        &mut self,
        binding: &[Word],
        state: StateId,
        environment: &[Value],
        record: Option<u64>,
    ) -> Place {
        let place = self.take_free().unwrap_or_else(|| self.push_place());
        self.fill(place, (state, binding, environment), record);
        place
    }

    /// Puts a slice into a place that is free and not among the free ones any more.
    fn fill(
        &mut self,
        place: Place,
        (state, binding, environment): (StateId, &[Word], &[Value]),
        record: Option<u64>,
    ) {
        let cell = self.cell(place);
        if let Some(head) = self.cells.get_mut(cell) {
            *head = *head >> 32 << 32 | u64::from(state.0);
        }
        let range = cell + 1..cell + 1 + self.parameters;
        let words = self.cells.get_mut(range).unwrap_or(&mut []);
        for (word, &bound) in words.iter_mut().zip(binding) {
            *word = bound;
        }
        if let Some(last) = self.last_records.get_mut(place as usize) {
            *last = record.unwrap_or(NO_RECORD);
        }
        let start = place as usize * self.variables;
        let range = start..start + self.variables;
        copy_values(
            self.environments.get_mut(range).unwrap_or(&mut []),
            environment,
        );
    }

    /// The place that was freed last.
    fn take_free(&mut self) -> Option<Place> {
        let place = self.next_free;
        if place == BASE {
            return None;
        }
        self.next_free = self.after_free(place);
        self.free_count = self.free_count.saturating_sub(1);
        Some(place)
    }

    /// The place that is used after this one, which is free.
    fn after_free(&self, place: Place) -> Place {
        let next = self.cells.get(self.cell(place) + 1);
        next.map_or(BASE, |&next| next as Place)
    }

    /// A free place is the next to be used.
    fn push_free(&mut self, place: Place) {
        let cell = self.cell(place);
        if let Some(next) = self.cells.get_mut(cell + 1) {
            *next = u64::from(self.next_free);
        }
        self.next_free = place;
        self.free_count += 1;
    }

    fn push_place(&mut self) -> Place {
        let place = self.places();
        make_room(&mut self.cells, self.parameters + 1);
        self.cells
            .resize(self.cells.len() + self.parameters + 1, UNBOUND);
        let cell = self.cell(place);
        if let Some(head) = self.cells.get_mut(cell) {
            *head = FREE;
        }
        if self.keeps_records {
            make_room(&mut self.last_records, 1);
            self.last_records.push(NO_RECORD);
        }
        make_room(&mut self.environments, self.variables);
        let environments = self.environments.len() + self.variables;
        self.environments.resize(environments, Value::Bool(false));
        place
    }

    /// Forgets a slice; the base stays.
    pub(crate) fn remove(&mut self, place: Place) {
        if place == BASE || !self.is_live(place) {
            return;
        }
        let cell = self.cell(place);
        if let Some(head) = self.cells.get_mut(cell) {
            // The next slice here has another name.
            *head = (*head >> 32).wrapping_add(1) << 32 | FREE;
        }
        self.push_free(place);
    }

    /// How often a place was used before.
    pub(crate) fn generation(&self, place: Place) -> u32 {
        (self.head(place) >> 32) as u32
    }

    /// The places that no slice has, the next to be used last.
    pub(crate) fn free(&self) -> Vec<Place> {
        let first = Some(self.next_free).filter(|&place| place != BASE);
        let after = |&place: &Place| Some(self.after_free(place)).filter(|&next| next != BASE);
        let mut free: Vec<Place> = std::iter::successors(first, after).collect();
        free.reverse();
        free
    }

    /// Makes a place, if there is none, that no slice has and that was used so
    /// often.
    pub(crate) fn restore_free(&mut self, place: Place, generation: u32) {
        while self.places() <= place {
            self.push_place();
        }
        let cell = self.cell(place);
        if let Some(head) = self.cells.get_mut(cell) {
            *head = u64::from(generation) << 32 | FREE;
        }
    }

    /// Puts a slice into a place; false when it has another shape than the
    /// others.
    pub(crate) fn restore(
        &mut self,
        place: Place,
        generation: u32,
        (state, binding, environment): (StateId, &[Word], &[Value]),
        record: Option<u64>,
    ) -> bool {
        if binding.len() != self.parameters || environment.len() != self.variables {
            return false;
        }
        self.restore_free(place, generation);
        self.fill(place, (state, binding, environment), record);
        true
    }

    /// Says which places are free; false when they are not.
    pub(crate) fn set_free(&mut self, free: &[Place]) -> bool {
        let mut sorted = free.to_vec();
        sorted.sort_unstable();
        let found = (0..self.places()).filter(|&place| !self.is_live(place));
        let is_right = found.eq(sorted);
        // Without parameters there is the base alone.
        if !is_right || self.parameters == 0 && !free.is_empty() {
            return false;
        }
        (self.next_free, self.free_count) = (BASE, 0);
        for &place in free {
            self.push_free(place);
        }
        true
    }

    /// The place of a live slice, by its name.
    pub(crate) fn place_of(&self, id: SliceId) -> Option<Place> {
        let place = id.0 as u32;
        (self.is_live(place) && self.id(place) == id).then_some(place)
    }
}

/// Room for so many more, and in a large list for a sixteenth of it: one that
/// doubles stands half empty, and nothing else of an instance takes as much.
#[inline]
pub(crate) fn make_room<T>(list: &mut Vec<T>, more: usize) {
    if list.capacity() - list.len() < more {
        list.reserve_exact(more.max(SMALL_ROOM).max(list.len() / 16));
    }
}

/// Copies values one by one, as far as both sides go.
pub(crate) fn copy_values(to: &mut [Value], from: &[Value]) {
    for (to, from) in to.iter_mut().zip(from) {
        to.clone_from(from);
    }
}
