//! Does a model only what an abstract one does?
//!
//! The claim is an *abstraction*: functions of the abstract model, each as an
//! expression over this one. Every run of this model must be one of the
//! abstract model, as far as these functions show; either may make steps that
//! do not show. Both are searched together: a state of this model with all
//! states in which the abstract one can be after showing the same. Where none
//! is left, the two part, on a shortest way.

use super::environment::{Possibilities, Stop};
use super::program::{Abstraction, Model};
use super::state::State;
use crate::{Cut, Fault, Options, Trail};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::rc::Rc;

/// What a state shows: the values of the functions of the claim.
pub type Shown = Vec<String>;

/// Where two models part.
#[derive(Debug)]
pub struct Divergence {
    /// The way of the refined model, its last step being the one that the
    /// abstract model does not make.
    pub trail: Trail,
    /// What the functions are called.
    pub names: Vec<String>,
    /// What both show before that step.
    pub before: Shown,
    /// What the refined model shows after it.
    pub after: Shown,
    /// What the abstract model can show next instead.
    pub possible: BTreeSet<Shown>,
}

/// What a search for a divergence has come to.
#[derive(Debug)]
pub struct Refinement {
    /// Where the models part.
    pub divergence: Option<Divergence>,
    /// What is wrong in one of the models.
    pub fault: Option<Fault>,
    /// Why not everything was searched.
    pub cut: Option<Cut>,
    /// Pairs of a state and what the abstract model may be in.
    pub states: u64,
}

/// The numbers of abstract states.
type Belief = Rc<BTreeSet<u32>>;

impl Model {
    /// The file of the abstract model, if there is a claim.
    pub fn abstract_name(&self) -> Option<&str> {
        let abstraction = self.abstraction.as_deref()?;
        abstraction
            .model
            .texts
            .first()
            .map(|text| text.name.as_str())
    }

    /// Searches for a step that the abstract model does not make; nothing if
    /// there is no claim.
    pub fn refinement(
        &self,
        options: &Options,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Option<Refinement> {
        let abstraction = self.abstraction.as_deref()?;
        let mut search = Search {
            model: self,
            above: Above {
                abstraction,
                states: Vec::new(),
                numbers: FxHashMap::default(),
                shown: Vec::new(),
                successors: Vec::new(),
                after: FxHashMap::default(),
            },
            nodes: Vec::new(),
            known: FxHashMap::default(),
            steps: FxHashMap::default(),
        };
        let result = search.run(options, go_on);
        let states = search.nodes.len() as u64;
        let refinement = Refinement {
            divergence: None,
            fault: None,
            cut: None,
            states,
        };
        Some(match result {
            Ok(End::Divergence(divergence)) => Refinement {
                divergence: Some(*divergence),
                ..refinement
            },
            Ok(End::Cut(cut)) => Refinement {
                cut: Some(cut),
                ..refinement
            },
            Ok(End::All) => refinement,
            Err(fault) => Refinement {
                fault: Some(fault),
                ..refinement
            },
        })
    }

    fn next_states(&self, state: Option<&State>) -> Result<Vec<State>, Fault> {
        let mut states = BTreeSet::new();
        let mut fault = None;
        let step = |possibilities: &mut Possibilities| match state {
            Some(state) => self.step(state, possibilities).map(|step| step.state),
            None => self.begin(possibilities),
        };
        self.all(&mut Possibilities::default(), step, |result| {
            match result {
                Ok(state) => {
                    states.insert(state);
                }
                Err(wrong) => fault = Some(wrong),
            }
            fault.is_none()
        });
        match fault {
            Some(fault) => Err(fault),
            None => Ok(states.into_iter().collect()),
        }
    }
}

enum End {
    All,
    Cut(Cut),
    Divergence(Box<Divergence>),
}

/// The abstract model: its states by number, as they are needed.
struct Above<'a> {
    abstraction: &'a Abstraction,
    states: Vec<State>,
    numbers: FxHashMap<State, u32>,
    /// By state: what it shows.
    shown: Vec<Rc<Shown>>,
    /// By state: those after it, once they are known.
    successors: Vec<Option<Rc<[u32]>>>,
    /// What is left of a belief after something was shown.
    after: FxHashMap<(Belief, Rc<Shown>), Belief>,
}

impl Above<'_> {
    fn number(&mut self, state: State) -> Result<u32, Fault> {
        if let Some(number) = self.numbers.get(&state) {
            return Ok(*number);
        }
        let model = &self.abstraction.model;
        let pairs = self.abstraction.pairs.iter();
        let shown: Result<Shown, Fault> = pairs
            .map(|(id, _)| {
                let value = model.value_at(&state, *id, &[]).map_err(Stop::fault)?;
                Ok(model.show(&value))
            })
            .collect();
        let number = self.states.len() as u32;
        self.shown.push(Rc::new(shown?));
        self.successors.push(None);
        self.numbers.insert(state.clone(), number);
        self.states.push(state);
        Ok(number)
    }

    fn numbered(&mut self, states: Vec<State>) -> Result<Vec<u32>, Fault> {
        states.into_iter().map(|state| self.number(state)).collect()
    }

    fn successors(&mut self, number: u32) -> Result<Rc<[u32]>, Fault> {
        let position = number as usize;
        if let Some(known) = self.successors.get(position).and_then(Option::as_ref) {
            return Ok(Rc::clone(known));
        }
        let states = match self.states.get(position) {
            Some(state) => self.abstraction.model.next_states(Some(state))?,
            None => Vec::new(),
        };
        let numbers: Rc<[u32]> = self.numbered(states)?.into();
        if let Some(entry) = self.successors.get_mut(position) {
            *entry = Some(Rc::clone(&numbers));
        }
        Ok(numbers)
    }

    fn shows(&self, number: u32) -> Option<&Rc<Shown>> {
        self.shown.get(number as usize)
    }

    /// These states, and those that steps which do not show lead to.
    fn closed(&mut self, from: BTreeSet<u32>) -> Result<Belief, Fault> {
        let mut all = from.clone();
        let mut left: Vec<u32> = from.into_iter().collect();
        while let Some(number) = left.pop() {
            for next in self.successors(number)?.iter() {
                if self.shows(*next) == self.shows(number) && all.insert(*next) {
                    left.push(*next);
                }
            }
        }
        Ok(Rc::new(all))
    }

    /// Where the abstract model begins, as far as it shows this.
    fn begin(&mut self, shown: &Rc<Shown>) -> Result<Belief, Fault> {
        let states = self.abstraction.model.next_states(None)?;
        let numbers = self.numbered(states)?;
        let alike = numbers
            .into_iter()
            .filter(|number| self.shows(*number) == Some(shown));
        let alike = alike.collect();
        self.closed(alike)
    }

    /// What is left of a belief when something else is shown.
    fn step(&mut self, belief: &Belief, shown: &Rc<Shown>) -> Result<Belief, Fault> {
        let key = (Rc::clone(belief), Rc::clone(shown));
        if let Some(known) = self.after.get(&key) {
            return Ok(Rc::clone(known));
        }
        let mut next = BTreeSet::new();
        for number in belief.iter() {
            for after in self.successors(*number)?.iter() {
                if self.shows(*after) == Some(shown) {
                    next.insert(*after);
                }
            }
        }
        let next = self.closed(next)?;
        self.after.insert(key, Rc::clone(&next));
        Ok(next)
    }

    fn possible(&mut self, belief: &Belief) -> Result<BTreeSet<Shown>, Fault> {
        let mut possible = BTreeSet::new();
        for number in belief.iter() {
            for after in self.successors(*number)?.iter() {
                possible.extend(self.shows(*after).map(|shown| Shown::clone(shown)));
            }
        }
        Ok(possible)
    }
}

struct Node {
    state: State,
    belief: Belief,
    shown: Rc<Shown>,
    parent: Option<usize>,
}

/// States, with what they show.
type Steps = Rc<[(State, Rc<Shown>)]>;

struct Search<'a> {
    model: &'a Model,
    above: Above<'a>,
    /// In the order of discovery.
    nodes: Vec<Node>,
    known: FxHashMap<(State, Belief), usize>,
    /// By state: those after it, with what they show.
    steps: FxHashMap<State, Steps>,
}

impl Search<'_> {
    fn run(&mut self, options: &Options, go_on: &mut dyn FnMut(u64) -> bool) -> Result<End, Fault> {
        for state in self.model.next_states(None)? {
            let shown = self.shown(&state)?;
            let belief = self.above.begin(&shown)?;
            if belief.is_empty() {
                let states = self.above.abstraction.model.next_states(None)?;
                let numbers = self.above.numbered(states)?;
                let possible = numbers
                    .into_iter()
                    .filter_map(|number| self.above.shows(number));
                return Ok(End::Divergence(Box::new(Divergence {
                    trail: Trail::through(self.model, &[self.model.bytes(&state)], None),
                    names: self.names(),
                    before: Shown::new(),
                    after: Shown::clone(&shown),
                    possible: possible.map(|shown| Shown::clone(shown)).collect(),
                })));
            }
            self.push(state, belief, shown, None);
        }
        let mut next = 0;
        while next < self.nodes.len() {
            if self.nodes.len() > options.states_max as usize {
                let limit = options.states_max;
                return Ok(End::Cut(Cut::States { limit }));
            }
            if next % 1024 == 0 && !go_on(self.nodes.len() as u64) {
                return Ok(End::Cut(Cut::Interrupted));
            }
            if let Some(divergence) = self.expand(next)? {
                return Ok(End::Divergence(Box::new(divergence)));
            }
            next += 1;
        }
        Ok(End::All)
    }

    fn shown(&self, state: &State) -> Result<Rc<Shown>, Fault> {
        let pairs = self.above.abstraction.pairs.iter();
        let shown: Result<Shown, Fault> = pairs
            .map(|(_, term)| {
                let value = self.model.evaluate(state, term).map_err(Stop::fault)?;
                Ok(self.model.show(&value))
            })
            .collect();
        shown.map(Rc::new)
    }

    fn push(&mut self, state: State, belief: Belief, shown: Rc<Shown>, parent: Option<usize>) {
        let number = self.nodes.len();
        let key = (state.clone(), Rc::clone(&belief));
        if let std::collections::hash_map::Entry::Vacant(entry) = self.known.entry(key) {
            entry.insert(number);
            self.nodes.push(Node {
                state,
                belief,
                shown,
                parent,
            });
        }
    }

    /// The states after one, with what they show.
    fn steps(&mut self, state: State) -> Result<Steps, Fault> {
        if let Some(known) = self.steps.get(&state) {
            return Ok(Rc::clone(known));
        }
        let mut steps = Vec::new();
        for next in self.model.next_states(Some(&state))? {
            let shown = self.shown(&next)?;
            steps.push((next, shown));
        }
        let steps: Steps = steps.into();
        self.steps.insert(state, Rc::clone(&steps));
        Ok(steps)
    }

    fn expand(&mut self, number: usize) -> Result<Option<Divergence>, Fault> {
        let Some(node) = self.nodes.get(number) else {
            return Ok(None);
        };
        let (belief, before) = (Rc::clone(&node.belief), Rc::clone(&node.shown));
        let here = node.state.clone();
        for (state, shown) in self.steps(here)?.iter() {
            let belief = match *shown == before {
                true => Rc::clone(&belief),
                false => self.above.step(&belief, shown)?,
            };
            if belief.is_empty() {
                return self.divergence(number, state, &before, shown).map(Some);
            }
            self.push(state.clone(), belief, Rc::clone(shown), Some(number));
        }
        Ok(None)
    }

    fn names(&self) -> Vec<String> {
        let abstraction = self.above.abstraction;
        let pairs = abstraction.pairs.iter();
        pairs
            .map(|(id, _)| abstraction.model.show_location(*id, &[]))
            .collect()
    }

    fn divergence(
        &mut self,
        number: usize,
        state: &State,
        before: &Rc<Shown>,
        shown: &Rc<Shown>,
    ) -> Result<Divergence, Fault> {
        let mut states = vec![self.model.bytes(state)];
        let mut here = Some(number);
        let mut belief = None;
        while let Some(node) = here.and_then(|here| self.nodes.get(here)) {
            belief.get_or_insert_with(|| Rc::clone(&node.belief));
            states.push(self.model.bytes(&node.state));
            here = node.parent;
        }
        states.reverse();
        let possible = match belief {
            Some(belief) => self.above.possible(&belief)?,
            None => BTreeSet::new(),
        };
        Ok(Divergence {
            trail: Trail::through(self.model, &states, None),
            names: self.names(),
            before: Shown::clone(before),
            after: Shown::clone(shown),
            possible,
        })
    }
}
