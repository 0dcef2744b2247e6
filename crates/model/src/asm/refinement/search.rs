//! The search for a step that the abstract machine does not make.
//!
//! Breadth first, over pairs of a state of the refined system and a belief. Nodes are
//! in the order of discovery, so the first divergence is one of the shortest.

use super::above::{Above, Belief, Shown, bytes_of};
use super::room::{GoOn, Halt, Room};
use super::{Divergence, Refinement};
use crate::asm::program::Model;
use crate::system::{Participants, System, Visitor};
use crate::{Cut, Fault, Options, Trail};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// A state of the refined system, and where the abstract machine can be.
struct Node {
    state: Arc<[u8]>,
    belief: Belief,
    shown: Arc<Shown>,
    parent: Option<usize>,
    /// How many steps lead here.
    depth: u32,
}

/// States, with what they show.
type Steps = Arc<[(Arc<[u8]>, Arc<Shown>)]>;

/// Both systems, and what is known of them.
pub(super) struct Search<'a, S, F> {
    system: &'a S,
    show: F,
    above: Above<&'a Model>,
    /// In the order of discovery.
    nodes: Vec<Node>,
    known: FxHashMap<(Arc<[u8]>, Belief), usize>,
    /// By state: those after it, with what they show.
    steps: FxHashMap<Arc<[u8]>, Steps>,
    /// There are longer runs than asked for.
    is_deep: bool,
}

impl<'a, S: System, F: Fn(&[u8]) -> Result<Shown, Fault>> Search<'a, S, F> {
    pub fn new(system: &'a S, show: F, above: Above<&'a Model>) -> Search<'a, S, F> {
        Search {
            system,
            show,
            above,
            nodes: Vec::new(),
            known: FxHashMap::default(),
            steps: FxHashMap::default(),
            is_deep: false,
        }
    }

    pub fn refinement(&mut self, options: &Options, go_on: GoOn<'_>) -> Refinement {
        let result = self.run(options, &mut Room::new(options, go_on));
        let mut refinement = Refinement {
            divergence: None,
            fault: None,
            is_abstract: self.above.failed,
            cut: None,
            states: self.nodes.len() as u64,
            depth: self.nodes.last().map_or(0, |node| node.depth),
        };
        match result {
            Ok(divergence) => refinement.divergence = divergence,
            Err(Halt::Cut(cut)) => refinement.cut = Some(cut),
            Err(Halt::Fault(fault)) => refinement.fault = Some(*fault),
        }
        refinement
    }

    fn run(&mut self, options: &Options, room: &mut Room<'_>) -> Result<Option<Divergence>, Halt> {
        for state in next_states(self.system, None)? {
            let shown = Arc::new((self.show)(&state)?);
            let belief = self.above.begin(&shown, room)?;
            if belief.is_empty() {
                return Ok(Some(Divergence {
                    trail: Trail::through(self.system, &[state.to_vec()], None),
                    names: self.above.names(),
                    before: Shown::new(),
                    after: Shown::clone(&shown),
                    possible: self.above.possible_first(room)?,
                }));
            }
            self.push(state, belief, shown, None, room)?;
        }
        let mut next = 0;
        while let Some(node) = self.nodes.get(next) {
            let is_last = node.depth >= options.depth_max;
            if let Some(divergence) = self.expand(next, is_last, room)? {
                return Ok(Some(divergence));
            }
            next += 1;
        }
        match self.is_deep {
            true => Err(Halt::Cut(Cut::Depth {
                limit: options.depth_max,
            })),
            false => Ok(None),
        }
    }

    /// One more node, unless it is known.
    fn push(
        &mut self,
        state: Arc<[u8]>,
        belief: Belief,
        shown: Arc<Shown>,
        parent: Option<usize>,
        room: &mut Room<'_>,
    ) -> Result<(), Halt> {
        let number = self.nodes.len();
        let before = parent.and_then(|parent| self.nodes.get(parent));
        let depth = before.map_or(0, |before| before.depth + 1);
        let key = (Arc::clone(&state), Arc::clone(&belief));
        if let Entry::Vacant(entry) = self.known.entry(key) {
            room.keep_pair(number, size_of::<Node>())?;
            entry.insert(number);
            self.nodes.push(Node {
                state,
                belief,
                shown,
                parent,
                depth,
            });
        }
        Ok(())
    }

    /// The states after one, with what they show.
    fn steps(&mut self, state: &Arc<[u8]>, room: &mut Room<'_>) -> Result<Steps, Halt> {
        if let Some(known) = self.steps.get(state) {
            return Ok(Arc::clone(known));
        }
        let mut steps = Vec::new();
        for next in next_states(self.system, Some(state))? {
            let shown = Arc::new((self.show)(&next)?);
            room.keep(next.len() + bytes_of(&shown))?;
            steps.push((next, shown));
        }
        let steps: Steps = steps.into();
        self.steps.insert(Arc::clone(state), Arc::clone(&steps));
        Ok(steps)
    }

    /// Takes all steps from a node. Where that is as far as the search goes, it is only
    /// noted whether there is more.
    fn expand(
        &mut self,
        number: usize,
        is_last: bool,
        room: &mut Room<'_>,
    ) -> Result<Option<Divergence>, Halt> {
        let Some(node) = self.nodes.get(number) else {
            return Ok(None);
        };
        let (belief, before) = (Arc::clone(&node.belief), Arc::clone(&node.shown));
        let here = Arc::clone(&node.state);
        for (state, shown) in self.steps(&here, room)?.iter() {
            let belief = match *shown == before {
                true => Arc::clone(&belief),
                false => self.above.step(&belief, shown, room)?,
            };
            if belief.is_empty() {
                let parted = self.divergence(number, state, &before, shown, room);
                return parted.map(Some);
            }
            if is_last {
                let key = (Arc::clone(state), belief);
                self.is_deep |= !self.known.contains_key(&key);
                continue;
            }
            let (state, shown) = (Arc::clone(state), Arc::clone(shown));
            self.push(state, belief, shown, Some(number), room)?;
        }
        Ok(None)
    }

    fn divergence(
        &mut self,
        number: usize,
        state: &[u8],
        before: &Arc<Shown>,
        shown: &Arc<Shown>,
        room: &mut Room<'_>,
    ) -> Result<Divergence, Halt> {
        let mut states = vec![state.to_vec()];
        let mut here = Some(number);
        let mut belief = None;
        while let Some(node) = here.and_then(|here| self.nodes.get(here)) {
            belief.get_or_insert_with(|| Arc::clone(&node.belief));
            states.push(node.state.to_vec());
            here = node.parent;
        }
        states.reverse();
        let possible = match belief {
            Some(belief) => self.above.possible(&belief, room)?,
            None => BTreeSet::new(),
        };
        Ok(Divergence {
            trail: Trail::through(self.system, &states, None),
            names: self.above.names(),
            before: Shown::clone(before),
            after: Shown::clone(shown),
            possible,
        })
    }
}

/// The states after one, or the initial ones, each once and in one order.
fn next_states<S: System>(system: &S, state: Option<&[u8]>) -> Result<Vec<Arc<[u8]>>, Fault> {
    struct Found(BTreeSet<Arc<[u8]>>, Option<Fault>);
    impl Visitor for Found {
        fn next(&mut self, state: &[u8], _participants: Participants) -> bool {
            self.0.insert(state.into());
            true
        }
        fn fault(&mut self, fault: Fault) -> bool {
            self.1 = Some(fault);
            false
        }
    }
    let mut found = Found(BTreeSet::new(), None);
    let mut scratch = system.scratch();
    match state {
        Some(state) => system.successors(&mut scratch, state, &mut found),
        None => system.initial(&mut scratch, &mut found),
    }
    match found.1 {
        Some(fault) => Err(fault),
        None => Ok(found.0.into_iter().collect()),
    }
}
