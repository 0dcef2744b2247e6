//! The slices: for each binding of the slice parameters a state and an environment, in
//! parallel arrays of reusable cells.
//!
//! State, generation and binding of a slice are adjacent in its cell, so a step touches
//! one cache line of it besides its variables. A slice with one parameter takes 16
//! bytes, and 8 more if a history is kept.
//!
//! **Invariant:** cell 0 is the base slice, which binds nothing and is never removed.

use crate::words::{UNBOUND, Word, mask_of};
use juror_event::{Value, Verdict};
use juror_language::StateId;
use std::fmt;

/// The identifier of a slice, which is never reused. The base slice, which binds
/// nothing, is number 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SliceId(pub u64);

impl fmt::Display for SliceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A view of a slice.
#[derive(Debug, Clone, PartialEq)]
pub struct SliceView<'a> {
    /// The identifier.
    pub id: SliceId,
    /// The values of the slice parameters, in their order; `None` for an unbound
    /// parameter.
    pub binding: Vec<Option<Value>>,
    /// The current state.
    pub state: StateId,
    /// The values of the variables, by slot.
    pub environment: &'a [Value],
    /// The verdict of the slice.
    pub verdict: Verdict,
    /// True if the slice was violated in a final state and is kept only for reports:
    /// another slice may have its binding.
    pub ended: bool,
}

/// The number of a slice's cell in the arrays.
pub(crate) type Place = u32;
/// The base slice.
pub(crate) const BASE: Place = 0;
/// The state of a free cell.
const FREE: u64 = u32::MAX as u64;
/// The minimum number of elements by which a list grows.
const SMALL_ROOM: usize = 16;
/// Stands for no record.
const NO_RECORD: u64 = u64::MAX;

#[derive(Debug, Clone)]
pub(crate) struct Slices {
    parameters: usize,
    variables: usize,
    /// For each cell: a word with the state in the low half and the number of earlier
    /// uses (the generation) in the high half, then the binding.
    cells: Vec<u64>,
    /// Empty if no history is kept.
    last_records: Vec<u64>,
    keeps_records: bool,
    environments: Vec<Value>,
    /// The head of the list of free cells; the base if it is empty. Each free cell
    /// stores the next one in place of a binding, so the list takes no memory of its
    /// own.
    next_free: Place,
    free_count: usize,
}

impl Slices {
    /// Creates the base slice only.
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

    /// Returns the number of cells, used or free.
    pub(crate) fn places(&self) -> Place {
        u32::try_from(self.cells.len() / (self.parameters + 1)).unwrap_or(u32::MAX)
    }

    /// Returns the number of live slices, including the base.
    pub(crate) fn count(&self) -> usize {
        self.places() as usize - self.free_count
    }

    /// Returns the number of bytes allocated for the arrays, without the variables.
    pub(crate) fn bytes(&self) -> usize {
        8 * self.cells.capacity() + 8 * self.last_records.capacity()
    }

    /// Returns true if slices have variables.
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

    /// Returns the parameters that the slice binds; bit n is parameter n.
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

    /// Returns the value of the first parameter.
    #[inline]
    pub(crate) fn first_word(&self, place: Place) -> Option<Word> {
        self.cells.get(self.cell(place) + 1).copied()
    }

    /// Iterates over all words of live slices.
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

    /// Changes the state of a slice and nothing else.
    #[inline]
    pub(crate) fn set_state(&mut self, place: Place, state: StateId) {
        let cell = self.cell(place);
        if let Some(head) = self.cells.get_mut(cell) {
            *head = *head >> 32 << 32 | u64::from(state.0);
        }
    }

    /// Changes the state of a slice and swaps its variables with `environment`.
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

    /// Makes room for as many slices.
    pub(crate) fn reserve(&mut self, count: usize) {
        self.cells.reserve_exact(count * (self.parameters + 1));
        if self.keeps_records {
            self.last_records.reserve_exact(count);
        }
        self.environments.reserve_exact(count * self.variables);
    }

    /// Adds a slice.
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

    /// Writes a slice to a cell that has been taken off the free list.
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

    /// Takes the most recently freed cell.
    fn take_free(&mut self) -> Option<Place> {
        let place = self.next_free;
        if place == BASE {
            return None;
        }
        self.next_free = self.after_free(place);
        self.free_count = self.free_count.saturating_sub(1);
        Some(place)
    }

    /// Returns the free cell after this one in the free list.
    fn after_free(&self, place: Place) -> Place {
        let next = self.cells.get(self.cell(place) + 1);
        next.map_or(BASE, |&next| next as Place)
    }

    /// Puts a cell at the head of the free list.
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

    /// Removes a slice, except the base.
    pub(crate) fn remove(&mut self, place: Place) {
        if place == BASE || !self.is_live(place) {
            return;
        }
        let cell = self.cell(place);
        if let Some(head) = self.cells.get_mut(cell) {
            // The next slice in this cell gets another identifier.
            *head = (*head >> 32).wrapping_add(1) << 32 | FREE;
        }
        self.push_free(place);
    }

    /// Returns the number of earlier uses of a cell.
    pub(crate) fn generation(&self, place: Place) -> u32 {
        (self.head(place) >> 32) as u32
    }

    /// Returns the free cells, the next to be used last.
    pub(crate) fn free(&self) -> Vec<Place> {
        let first = Some(self.next_free).filter(|&place| place != BASE);
        let after = |&place: &Place| Some(self.after_free(place)).filter(|&next| next != BASE);
        let mut free: Vec<Place> = std::iter::successors(first, after).collect();
        free.reverse();
        free
    }

    /// Makes the cell exist, free and with the given number of earlier uses.
    pub(crate) fn restore_free(&mut self, place: Place, generation: u32) {
        while self.places() <= place {
            self.push_place();
        }
        let cell = self.cell(place);
        if let Some(head) = self.cells.get_mut(cell) {
            *head = u64::from(generation) << 32 | FREE;
        }
    }

    /// Writes a slice to a cell; returns false if its shape differs from that of the
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

    /// Sets the free list; returns false if exactly these cells are not free.
    pub(crate) fn set_free(&mut self, free: &[Place]) -> bool {
        let mut sorted = free.to_vec();
        sorted.sort_unstable();
        let found = (0..self.places()).filter(|&place| !self.is_live(place));
        let is_right = found.eq(sorted);
        // Without parameters there is only the base slice.
        if !is_right || self.parameters == 0 && !free.is_empty() {
            return false;
        }
        (self.next_free, self.free_count) = (BASE, 0);
        for &place in free {
            self.push_free(place);
        }
        true
    }

    /// Compares the free list with another one: `count` identifiers of the slices that
    /// would be next in the cells, the next to be used last. Returns the number of
    /// elements that are the same in both, from the one that is used last on, and the cell
    /// of the last of them.
    ///
    /// A cell that was used and freed has another number of earlier uses, so if two
    /// elements are the same, those before them are.
    pub(crate) fn common_free(&self, count: usize, id_at: impl Fn(usize) -> u64) -> (usize, Place) {
        let (mut place, mut common) = (self.next_free, self.free_count);
        while common > 0 {
            let is_same =
                |id: u64| id == u64::from(self.generation(place)) << 32 | u64::from(place);
            if common <= count && is_same(id_at(common - 1)) {
                return (common, place);
            }
            place = self.after_free(place);
            common -= 1;
        }
        (0, BASE)
    }

    /// Cuts the free list to the elements that [`Slices::common_free`] returned, and adds
    /// cells by the identifiers of their next slices.
    pub(crate) fn replace_free(
        &mut self,
        (common, place): (usize, Place),
        added: impl Iterator<Item = u64>,
    ) {
        (self.next_free, self.free_count) = (place, common);
        for id in added {
            self.restore_free(id as Place, (id >> 32) as u32);
            self.push_free(id as Place);
        }
    }

    /// Returns the cell of a live slice.
    pub(crate) fn place_of(&self, id: SliceId) -> Option<Place> {
        let place = id.0 as u32;
        (self.is_live(place) && self.id(place) == id).then_some(place)
    }
}

/// Reserves room for more elements. A large list grows by a sixteenth: one that doubles
/// would be half empty, and slices take the most memory of all.
#[inline]
pub(crate) fn make_room<T>(list: &mut Vec<T>, more: usize) {
    if list.capacity() - list.len() < more {
        list.reserve_exact(more.max(SMALL_ROOM).max(list.len() / 16));
    }
}

/// Copies values one by one, up to the length of the shorter side.
pub(crate) fn copy_values(to: &mut [Value], from: &[Value]) {
    for (to, from) in to.iter_mut().zip(from) {
        to.clone_from(from);
    }
}
