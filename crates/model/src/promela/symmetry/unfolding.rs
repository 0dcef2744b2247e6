//! Reconstruction of a real run from a run of representatives.
//!
//! In the real run, every process keeps its identity. A finished process terminates when
//! it is the youngest, which may be at another time than among the representatives. So
//! states are compared without finished processes, and these terminate when the run is
//! otherwise stuck.

use super::Symmetric;
use crate::promela::machine::Scratch;
use crate::promela::program::GLOBALS_START;
use crate::report::{Finding, Report};
use crate::system::{Fault, Participants, System, Visitor};
use crate::trail::{Trail, fault_number};

/// A state without the order of its processes, and without finished ones.
#[derive(Debug, PartialEq, Eq)]
struct Canonical {
    /// Global variables and channels.
    globals: Vec<u8>,
    /// The type and the variables of each process.
    processes: Vec<(u16, Vec<u8>)>,
}

impl Symmetric<'_> {
    /// Returns a report with its trail as a run of the original model, in which every
    /// process keeps its identity.
    #[must_use]
    pub fn unfolded(&self, report: Report) -> Report {
        let finding = report.finding.map(|(finding, trail)| {
            let unfolded = self.unfold(&trail, &finding);
            (finding, unfolded.unwrap_or(trail))
        });
        Report { finding, ..report }
    }

    fn unfold(&self, trail: &Trail, finding: &Finding) -> Option<Trail> {
        let mut wanted = trail
            .moves
            .iter()
            .map(|it| &*it.from)
            .chain(trail.end.as_deref());
        let first = self.canonical_form(wanted.next()?)?;
        let mut run = Run {
            symmetric: self,
            scratch: self.model.scratch(),
            here: Vec::new(),
            trail: Trail::default(),
        };
        let mut finder = Finder::new(self, first);
        self.model.initial(&mut run.scratch, &mut finder);
        (run.here, _) = finder.found?;
        for next in wanted {
            run.extend_to(next)?;
        }
        match finding {
            Finding::Fault(fault) if trail.end.is_none() => {
                run.extend_by_fault(fault)?;
                return Some(run.trail);
            }
            Finding::Deadlock => while run.terminate_youngest().is_some() {},
            _ => {}
        }
        run.trail.end = Some(run.here);
        Some(run.trail)
    }

    fn canonical_form(&self, state: &[u8]) -> Option<Canonical> {
        let program = &self.model.machine.program;
        let shape = self.model.machine.shape(state)?;
        let globals_end = shape.frames.first().map_or(shape.size, |frame| frame.base);
        let globals = state.get(GLOBALS_START as usize..globals_end as usize)?;
        let frames = shape
            .frames
            .iter()
            .filter(|frame| !self.is_over(state, frame));
        let processes = frames.map(|frame| {
            let size = program.kinds.get(frame.kind as usize)?.frame_size;
            let variables = state.get(frame.base as usize..(frame.base + size) as usize)?;
            Some((frame.kind, variables.to_vec()))
        });
        let mut processes = processes.collect::<Option<Vec<_>>>()?;
        processes.sort_unstable();
        Some(Canonical {
            globals: globals.to_vec(),
            processes,
        })
    }
}

/// The run so far.
struct Run<'a> {
    symmetric: &'a Symmetric<'a>,
    scratch: Scratch,
    here: Vec<u8>,
    trail: Trail,
}

impl Run<'_> {
    /// Extends the run to a state with the given representative.
    fn extend_to(&mut self, folded: &[u8]) -> Option<()> {
        loop {
            let wanted = self.symmetric.canonical_form(folded)?;
            if self.symmetric.canonical_form(&self.here)? == wanted {
                return Some(());
            }
            if let Some((state, number)) = self.find(wanted) {
                self.step(state, number);
                return Some(());
            }
            self.terminate_youngest()?;
        }
    }

    /// Extends the run by a faulty step.
    fn extend_by_fault(&mut self, fault: &Fault) -> Option<()> {
        let model = self.symmetric.model;
        loop {
            if let Some(number) = fault_number(model, &self.here, fault) {
                self.trail.push(model, &self.here, number);
                return Some(());
            }
            self.terminate_youngest()?;
        }
    }

    /// Terminates the youngest process, if it is finished.
    fn terminate_youngest(&mut self) -> Option<()> {
        let wanted = self.symmetric.canonical_form(&self.here)?;
        let (state, number) = self.find(wanted)?;
        let is_terminated = state.len() < self.here.len();
        is_terminated.then(|| self.step(state, number))
    }

    /// Returns the first equivalent successor and its number.
    fn find(&mut self, wanted: Canonical) -> Option<(Vec<u8>, usize)> {
        let mut finder = Finder::new(self.symmetric, wanted);
        let model = self.symmetric.model;
        model.successors(&mut self.scratch, &self.here, &mut finder);
        finder.found
    }

    fn step(&mut self, state: Vec<u8>, number: usize) {
        self.trail.push(self.symmetric.model, &self.here, number);
        self.here = state;
    }
}

/// Searches for an equivalent successor.
struct Finder<'a> {
    symmetric: &'a Symmetric<'a>,
    wanted: Canonical,
    number: usize,
    found: Option<(Vec<u8>, usize)>,
}

impl<'a> Finder<'a> {
    fn new(symmetric: &'a Symmetric<'a>, wanted: Canonical) -> Finder<'a> {
        Finder {
            symmetric,
            wanted,
            number: 0,
            found: None,
        }
    }
}

impl Visitor for Finder<'_> {
    fn next(&mut self, state: &[u8], _participants: Participants) -> bool {
        if self.symmetric.canonical_form(state).as_ref() == Some(&self.wanted) {
            self.found = Some((state.to_vec(), self.number));
        }
        self.number += 1;
        self.found.is_none()
    }

    fn fault(&mut self, _fault: Fault) -> bool {
        self.number += 1;
        true
    }
}
