//! The slices: for each binding of the slice parameters a state and an
//! environment, in parallel arrays whose places are used again.
//!
//! Invariant: place 0 is the base slice, which binds nothing and is never
//! removed.

use juror_event::{Value, Verdict};
use juror_language::{Property, StateId};
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
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SliceView<'a> {
    /// Its name.
    pub id: SliceId,
    /// The values of the slice parameters, in their order; nothing where the
    /// parameter is not bound.
    pub binding: &'a [Option<Value>],
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

#[derive(Debug, Clone)]
pub(crate) struct Slices {
    parameters: usize,
    variables: usize,
    ids: Vec<SliceId>,
    states: Vec<StateId>,
    masks: Vec<u32>,
    live: Vec<bool>,
    last_records: Vec<Option<u64>>,
    bindings: Vec<Option<Value>>,
    environments: Vec<Value>,
    free: Vec<Place>,
    next_id: u64,
}

impl Slices {
    /// The base slice alone.
    pub(crate) fn new(property: &Property) -> Slices {
        let variables = property.variables.iter();
        let environment: Vec<Value> = variables.map(|v| v.initial.clone()).collect();
        let mut slices = Slices {
            parameters: property.slice.len(),
            variables: environment.len(),
            ids: Vec::new(),
            states: Vec::new(),
            masks: Vec::new(),
            live: Vec::new(),
            last_records: Vec::new(),
            bindings: Vec::new(),
            environments: Vec::new(),
            free: Vec::new(),
            next_id: 0,
        };
        let binding = vec![None; slices.parameters];
        slices.insert(&binding, property.initial(), &environment, None);
        slices
    }

    /// The number of places, live or not.
    pub(crate) fn places(&self) -> Place {
        u32::try_from(self.ids.len()).unwrap_or(u32::MAX)
    }

    /// The number of live slices, the base included.
    pub(crate) fn count(&self) -> usize {
        self.ids.len() - self.free.len()
    }

    pub(crate) fn is_live(&self, place: Place) -> bool {
        self.live.get(place as usize).copied().unwrap_or(false)
    }

    pub(crate) fn id(&self, place: Place) -> SliceId {
        self.ids.get(place as usize).copied().unwrap_or(SliceId(0))
    }

    pub(crate) fn state(&self, place: Place) -> StateId {
        let state = self.states.get(place as usize).copied();
        state.unwrap_or(StateId(0))
    }

    /// Which parameters it binds; bit n is parameter n.
    pub(crate) fn mask(&self, place: Place) -> u32 {
        self.masks.get(place as usize).copied().unwrap_or(0)
    }

    pub(crate) fn last_record(&self, place: Place) -> Option<u64> {
        self.last_records.get(place as usize).copied().flatten()
    }

    pub(crate) fn binding(&self, place: Place) -> &[Option<Value>] {
        let start = place as usize * self.parameters;
        let range = start..start + self.parameters;
        self.bindings.get(range).unwrap_or(&[])
    }

    pub(crate) fn environment(&self, place: Place) -> &[Value] {
        let start = place as usize * self.variables;
        let range = start..start + self.variables;
        self.environments.get(range).unwrap_or(&[])
    }

    /// The slice moves on; `environment` gets its old variables in exchange.
    pub(crate) fn advance(
        &mut self,
        place: Place,
        state: StateId,
        environment: &mut [Value],
        record: Option<u64>,
    ) {
        let position = place as usize;
        if let Some(current) = self.states.get_mut(position) {
            *current = state;
        }
        if let Some(last) = self.last_records.get_mut(position) {
            *last = record;
        }
        let start = position * self.variables;
        let range = start..start + self.variables;
        let variables = self.environments.get_mut(range).unwrap_or(&mut []);
        for (old, new) in variables.iter_mut().zip(environment) {
            std::mem::swap(old, new);
        }
    }

    /// A new slice.
    pub(crate) fn insert(
        &mut self,
        binding: &[Option<Value>],
        state: StateId,
        environment: &[Value],
        record: Option<u64>,
    ) -> Place {
        let place = self.free.pop().unwrap_or_else(|| self.push_place());
        let position = place as usize;
        let bound = (0..32_u32)
            .zip(binding)
            .filter(|(_, value)| value.is_some());
        let mask = bound.fold(0, |mask, (parameter, _)| mask | 1 << parameter);
        set(&mut self.ids, position, SliceId(self.next_id));
        set(&mut self.states, position, state);
        set(&mut self.masks, position, mask);
        set(&mut self.live, position, true);
        set(&mut self.last_records, position, record);
        for (offset, value) in binding.iter().enumerate().take(self.parameters) {
            let position = position * self.parameters + offset;
            set(&mut self.bindings, position, value.clone());
        }
        for (offset, value) in environment.iter().enumerate().take(self.variables) {
            let position = position * self.variables + offset;
            set(&mut self.environments, position, value.clone());
        }
        self.next_id += 1;
        place
    }

    fn push_place(&mut self) -> Place {
        let unbound = Value::Bool(false);
        let place = self.places();
        self.ids.push(SliceId(0));
        self.states.push(StateId(0));
        self.masks.push(0);
        self.live.push(false);
        self.last_records.push(None);
        let bindings = self.bindings.len() + self.parameters;
        self.bindings.resize(bindings, None);
        let environments = self.environments.len() + self.variables;
        self.environments.resize(environments, unbound);
        place
    }

    /// Forgets a slice; the base stays.
    pub(crate) fn remove(&mut self, place: Place) {
        if place != BASE && self.is_live(place) {
            set(&mut self.live, place as usize, false);
            self.free.push(place);
        }
    }

    /// The place of a live slice, by its name: a search, for reports.
    pub(crate) fn place_of(&self, id: SliceId) -> Option<Place> {
        let place = self.ids.iter().position(|&other| other == id)?;
        let place = u32::try_from(place).ok()?;
        self.is_live(place).then_some(place)
    }
}

/// Copies values one by one, as far as both sides go.
pub(crate) fn copy_values(to: &mut [Value], from: &[Value]) {
    for (to, from) in to.iter_mut().zip(from) {
        to.clone_from(from);
    }
}

fn set<T>(values: &mut [T], position: usize, value: T) {
    if let Some(place) = values.get_mut(position) {
        *place = value;
    }
}
