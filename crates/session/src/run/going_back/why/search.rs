//! From write to write.

use super::Asked;
use super::initial::{Initial, initial};
use super::recording::{Moment, Recorded, Recording, Until, record};
use super::window_steps::{Item, WindowSteps, is_of_stack};
use crate::run::going_back::again::Kept;
use crate::run::going_back::here::Here;
use crate::run::going_back::last_write::Call;
use crate::run::going_back::place::Place;
use crate::run::going_back::walk::{Happening, LastAccess, Walk};
use crate::run::going_back::{Notes, another_way, find};
use crate::session::Session;
use juror_fault::CommandError;
use juror_origin::{Location, Origin, Storage};
use juror_view::observer::Observer;
use juror_view::{OriginKind, OriginStepView};
use std::ops::Range;

/// The most steps that are listed.
const STEPS_MAX: usize = 12;

/// The schedule points before a write from which its thread is followed: the nearest ones first.
const DISTANCES: [u64; 8] = [0, 1, 2, 4, 8, 32, 256, u64::MAX];

/// The most instructions that are recorded: from schedule points, from the beginnings of calls, and from
/// schedule points again if nothing else leads to the end.
const NEAR: usize = 10_000;
const FAR: usize = 100_000;
const FARTHEST: usize = 200_000;

/// The steps that were found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub steps: Vec<OriginStepView>,
    pub places: Vec<Place>,
    pub is_cut: bool,
}

/// A value in memory whose last write is looked for.
pub(super) struct Wanted {
    pub range: Range<u64>,
    pub depth: u32,
    pub name: Option<String>,
    /// The bytes that were read there later, if they are known.
    pub bytes: Option<Vec<u8>>,
}

impl Wanted {
    /// Returns whether the memory has the bytes that were read later.
    fn has_bytes(&self, session: &Session) -> Result<bool, CommandError> {
        let Some(expected) = &self.bytes else {
            return Ok(true);
        };
        let mut bytes = vec![0; expected.len()];
        let debuggee = &session.running()?.debuggee;
        let is_read = debuggee.read(self.range.start, &mut bytes).is_ok();
        Ok(is_read && bytes == *expected)
    }
}

/// A search.
pub(super) struct Search<'a> {
    pub kept: &'a Kept,
    pub here: &'a Here,
    pub observer: &'a mut dyn Observer,
    pub found: Found,
}

/// The notes on the way to the place of the user.
#[derive(Clone, Default)]
struct LastWrite {
    call: Option<Call>,
    write: Option<LastAccess>,
}

impl Notes for LastWrite {
    fn note(
        &mut self,
        session: &Session,
        walk: &Walk<'_>,
        happening: &Happening,
    ) -> Result<(), CommandError> {
        if !happening.accesses.is_empty() {
            self.write = walk.last;
        }
        if let Some((call, thread)) = self.call.zip(happening.thread)
            && call.begins(session, happening, thread)?
        {
            self.write = None;
        }
        Ok(())
    }
}

impl<'a> Search<'a> {
    pub(super) fn new(kept: &'a Kept, here: &'a Here, observer: &'a mut dyn Observer) -> Self {
        Search {
            kept,
            here,
            observer,
            found: Found::default(),
        }
    }

    pub(super) fn walk(&mut self, session: &mut Session) -> Result<Walk<'_>, CommandError> {
        Walk::begin(session, self.kept, self.here, self.observer)
    }

    /// Finds the origins of what is asked for.
    pub(super) fn root(
        &mut self,
        session: &mut Session,
        asked: &Asked,
    ) -> Result<(), CommandError> {
        if asked.location.storage != Storage::Memory {
            return self.of_register(session, asked);
        }
        let wanted = Wanted {
            range: asked.location.range.clone(),
            depth: 0,
            name: Some(asked.text.clone()),
            bytes: None,
        };
        let here = self.here;
        let mut walk = self.walk(session)?;
        let mut sites: Vec<u64> = here.address().into_iter().collect();
        sites.extend(asked.call.map(|call| call.start));
        sites.dedup();
        walk.visit(sites, 0);
        walk.watch_memory(wanted.range.clone());
        let notes = LastWrite {
            call: asked.call,
            write: None,
        };
        let notes = find(session, &mut walk, here, notes)?;
        let was_watched = walk.is_watching();
        drop(walk);
        match notes.write {
            None if !was_watched => {
                let words = "its memory cannot be watched from where it is mapped";
                self.push(unknown(&wanted, words), Place::START);
                Ok(())
            }
            None if asked.call.is_some() => {
                let remark = "not written since its call began";
                self.push(unknown(&wanted, remark), Place::START);
                Ok(())
            }
            None => {
                // The walk may have gone past the place of the user.
                let program = self.kept.program().ok_or_else(another_way)?;
                let initial = initial(program, &wanted);
                self.initial(&wanted, initial);
                Ok(())
            }
            Some(write) => self.explain(session, &wanted, write),
        }
    }

    fn of_register(&mut self, session: &mut Session, asked: &Asked) -> Result<(), CommandError> {
        let here = self.here;
        let standing = here.standing().ok_or_else(another_way)?;
        let until = Until::Here(here, standing);
        let recording = self.record(session, &until, &asked.location)?;
        let Some(recording) = recording else {
            return Err(CommandError::with_help(
                format!(
                    "`{}` is in a register, and what wrote it is too far away",
                    asked.text
                ),
                "reverse-continue to a breakpoint in this function, and ask there",
            ));
        };
        self.explain_window(
            session,
            &recording,
            (&asked.location, 0, Some(asked.text.clone())),
        )
    }

    /// Explains a write.
    fn explain(
        &mut self,
        session: &mut Session,
        wanted: &Wanted,
        write: LastAccess,
    ) -> Result<(), CommandError> {
        if write.system_call.is_some() {
            return self.explain_call(session, wanted, write);
        }
        let until = Until::Write(wanted.range.clone(), write);
        let location = Location::memory(wanted.range.clone());
        let recorded = self.record(session, &until, &location)?;
        match recorded {
            Some(_) if !wanted.has_bytes(session)? => {
                self.push(
                    unknown(wanted, "its last write was not found again"),
                    Place::START,
                );
                Ok(())
            }
            Some(recording) => {
                let asked = (&location, wanted.depth, wanted.name.clone());
                self.explain_window(session, &recording, asked)
            }
            None => self.explain_place(session, wanted, write),
        }
    }

    /// Records the instructions before the end, so many that the registers from which the location
    /// comes are written among them, if that can be. The run stands at the end then.
    fn record(
        &mut self,
        session: &mut Session,
        until: &Until<'_>,
        location: &Location,
    ) -> Result<Option<Recording>, CommandError> {
        let mut best = None;
        let mut starts: Vec<Place> = Vec::new();
        for before in DISTANCES {
            let points = until.points().saturating_sub(before);
            let start = Place {
                points,
                ..Place::START
            };
            if !starts.contains(&start) {
                starts.push(start);
            }
        }
        let points = starts.clone();
        for (kind, count) in [NEAR, FAR, FARTHEST].into_iter().enumerate() {
            let starts = match kind {
                1 => self.entries(session, until)?,
                _ => points.clone(),
            };
            let is_enough =
                self.try_starts(session, until, (&starts, location, count), &mut best)?;
            if is_enough {
                return Ok(best.map(|(_, recording)| *recording));
            }
            if kind > 0 && best.is_some() {
                break;
            }
        }
        // Another start was tried since.
        let Some((start, _)) = best else {
            return Ok(None);
        };
        let mut walk = self.walk(session)?;
        match record(session, &mut walk, (start, FARTHEST), until)? {
            Recorded::Reached(recording) => Ok(Some(*recording)),
            _ => Err(another_way()),
        }
    }

    /// Records from each of these starts, until one is early enough. Returns whether one is.
    fn try_starts(
        &mut self,
        session: &mut Session,
        until: &Until<'_>,
        (starts, location, count): (&[Place], &Location, usize),
        best: &mut Option<(Place, Box<Recording>)>,
    ) -> Result<bool, CommandError> {
        for start in starts {
            let mut walk = self.walk(session)?;
            let recorded = match record(session, &mut walk, (*start, count), until) {
                Err(error) if error.message == another_way().message => Recorded::TooLate,
                recorded => recorded?,
            };
            drop(walk);
            match recorded {
                Recorded::Reached(recording) => {
                    let is_enough = !comes_from_before(&recording, location);
                    *best = Some((*start, recording));
                    if is_enough {
                        return Ok(true);
                    }
                }
                Recorded::TooLate => {}
                Recorded::TooLong => break,
            }
        }
        Ok(false)
    }

    /// Explains a location at the end of a recording, at which the run stands.
    fn explain_window(
        &mut self,
        session: &mut Session,
        recording: &Recording,
        (location, depth, name): (&Location, u32, Option<String>),
    ) -> Result<(), CommandError> {
        let left = STEPS_MAX.saturating_sub(self.found.steps.len());
        let mut steps = WindowSteps::new(session, recording, left)?;
        steps.explain((location, recording.len()), depth, name)?;
        let (items, is_cut) = steps.finish();
        for item in items {
            if self.is_full() {
                return Ok(());
            }
            match item {
                Item::Step(step, place) => self.push(*step, place),
                Item::Memory(wanted, moment) => self.explain_memory(session, &wanted, &moment)?,
            }
        }
        self.found.is_cut |= is_cut;
        Ok(())
    }

    /// Explains memory as it was at a moment.
    fn explain_memory(
        &mut self,
        session: &mut Session,
        wanted: &Wanted,
        moment: &Moment,
    ) -> Result<(), CommandError> {
        let places = [moment.place, Some(moment.counted)];
        for place in places.into_iter().flatten() {
            let mut walk = self.walk(session)?;
            walk.watch_memory(wanted.range.clone());
            let thread = match Moment::seek(place, session, &mut walk) {
                Ok(thread) => thread,
                Err(error) if error.message == another_way().message => continue,
                Err(error) => return Err(error),
            };
            if !moment.is_there(session, thread)? || !wanted.has_bytes(session)? {
                continue;
            }
            let (write, was_watched) = (walk.last, walk.is_watching());
            drop(walk);
            match write {
                Some(write) => return self.explain(session, wanted, write),
                None if was_watched => {
                    let initial = initial(session.running()?, wanted);
                    self.initial(wanted, initial);
                }
                None => {
                    let words = "its memory cannot be watched from where it is mapped";
                    self.push(unknown(wanted, words), moment.place());
                }
            }
            return Ok(());
        }
        self.push(
            unknown(wanted, "the place that reads it was not found again"),
            Place::START,
        );
        Ok(())
    }

    fn initial(&mut self, wanted: &Wanted, initial: Initial) {
        let step = OriginStepView {
            origin: initial.kind,
            value: initial.value,
            remark: Some(initial.remark),
            ..unknown(wanted, "")
        };
        self.push(step, Place::START);
    }

    pub(super) fn push(&mut self, mut step: OriginStepView, place: Place) {
        if self.is_full() {
            return;
        }
        step.number = self.found.steps.len() as u32 + 1;
        self.found.steps.push(step);
        self.found.places.push(place);
    }

    /// Returns whether no more steps are listed, and notes that there are more.
    fn is_full(&mut self) -> bool {
        let is_full = self.found.steps.len() >= STEPS_MAX;
        self.found.is_cut |= is_full;
        is_full
    }
}

/// Returns whether a location comes from registers before the first instruction.
fn comes_from_before(recording: &Recording, location: &Location) -> bool {
    let mut pending = vec![(location.clone(), recording.len())];
    let mut seen = std::collections::HashSet::new();
    while let Some((location, before)) = pending.pop() {
        for leaf in recording.window.trace(&location, before) {
            match leaf.origin {
                Origin::Register(location) if !is_of_stack(&location) => return true,
                Origin::Computed { at, inputs } if seen.insert(at) => {
                    pending.extend(inputs.into_iter().map(|input| (input, at)));
                }
                _ => {}
            }
        }
    }
    false
}

/// Returns a step of which nothing is known but these words.
pub(super) fn unknown(wanted: &Wanted, remark: &str) -> OriginStepView {
    OriginStepView {
        number: 0,
        depth: wanted.depth,
        origin: OriginKind::Unknown,
        name: wanted.name.clone(),
        value: None,
        remark: Some(remark.to_owned()),
        source: None,
        place: None,
        thread: None,
        points: None,
        call: None,
    }
}
