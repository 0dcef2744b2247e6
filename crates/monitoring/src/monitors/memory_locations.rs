//! The places in memory that properties watch.
//!
//! A place is watched while its event is needed, by what the debuggee has for
//! it: debug registers, pages or steps. Events at the same bytes share one
//! watch. What leads to a place is watched for stores, too: then the place is
//! another.
//!
//! Invariant: while a place is watched, `Sight::bytes` is what its elements
//! held when they were last stored to.

use juror_debuggee::{
    AccessKind, AccessKinds, Debuggee, DebuggeeError, MemoryAccess, Owner, WatchId, WatchTier,
};
use juror_event::{EventId, EventKind};
use juror_instrument::capture_plan::CapturePlan;
use juror_instrument::memory_locations::{LocationExpression, MemoryLocation};
use juror_program::program::Program;
use smallvec::SmallVec;
use std::ops::Range;
use std::rc::Rc;

/// An event of a monitor about a place.
#[derive(Debug, Clone)]
pub(crate) struct PlaceWatch {
    /// Which monitor.
    pub monitor: u16,
    /// Which of its events.
    pub event: EventId,
    pub kind: EventKind,
    pub place: LocationExpression,
    /// By capture slot.
    pub captures: Rc<[CapturePlan]>,
    /// Where it is; nothing while no module has it.
    pub sight: Option<MemoryLocation>,
    is_needed: bool,
    /// The watches of its bytes, in their order.
    parts: SmallVec<[WatchId; 4]>,
    /// The watch of what leads there.
    path: Option<WatchId>,
}

/// One element of a place that an access touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Touched {
    /// Which place.
    pub place: usize,
    /// Which of its elements.
    pub element: u64,
}

/// A watch of the debuggee that several events may share.
#[derive(Debug, Clone)]
struct Shared {
    id: WatchId,
    ranges: Vec<Range<u64>>,
    kinds: AccessKinds,
    least: WatchTier,
    users: u32,
}

/// All places of all monitors.
#[derive(Debug, Default, Clone)]
pub(crate) struct PlaceWatches {
    list: Vec<PlaceWatch>,
    shared: Vec<Shared>,
}

impl PlaceWatch {
    pub(crate) fn new(
        monitor: u16,
        event: EventId,
        kind: EventKind,
        place: LocationExpression,
    ) -> PlaceWatch {
        PlaceWatch {
            monitor,
            event,
            kind,
            place,
            captures: Rc::new([]),
            sight: None,
            is_needed: false,
            parts: SmallVec::new(),
            path: None,
        }
    }

    fn kinds(&self) -> AccessKinds {
        match self.kind {
            EventKind::Read => AccessKinds::READ,
            EventKind::Access => AccessKinds::READ | AccessKinds::WRITE,
            _ => AccessKinds::WRITE,
        }
    }

    fn is_armed(&self) -> bool {
        self.path.is_some() || !self.parts.is_empty()
    }

    /// How it is watched at present.
    pub(crate) fn tier(&self, program: &Program) -> Option<WatchTier> {
        let ids = self.parts.iter().chain(&self.path);
        ids.filter_map(|&id| program.debuggee.watch_tier(id)).max()
    }

    /// Where it is watched at present.
    pub(crate) fn addresses(&self) -> Vec<u64> {
        let sight = self.sight.as_ref().filter(|_| !self.parts.is_empty());
        sight
            .and_then(|sight| sight.range.as_ref())
            .map(|own| own.start)
            .into_iter()
            .collect()
    }
}

impl PlaceWatches {
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &PlaceWatch> {
        self.list.iter()
    }

    pub(crate) fn get(&self, place: usize) -> Option<&PlaceWatch> {
        self.list.get(place)
    }

    /// The place of an event, made when there is none yet.
    pub(crate) fn of(
        &mut self,
        monitor: u16,
        event: EventId,
        make: impl FnOnce() -> PlaceWatch,
    ) -> &mut PlaceWatch {
        let is_same = |it: &PlaceWatch| it.monitor == monitor && it.event == event;
        let position = self.list.iter().position(is_same).unwrap_or_else(|| {
            self.list.push(make());
            self.list.len() - 1
        });
        &mut self.list[position]
    }

    /// Monitors have other numbers from now on. Those that have none are gone,
    /// and none of their places is watched.
    pub(crate) fn renumber(&mut self, number: impl Fn(u16) -> Option<u16>) {
        self.list.retain_mut(|place| match number(place.monitor) {
            Some(other) => {
                place.monitor = other;
                true
            }
            None => false,
        });
    }

    /// The same in a forked copy of the process, of which nothing is watched
    /// yet.
    pub(crate) fn forked(&self) -> PlaceWatches {
        let mut list = self.list.clone();
        for place in &mut list {
            place.is_needed = false;
            place.parts.clear();
            place.path = None;
        }
        PlaceWatches {
            list,
            shared: Vec::new(),
        }
    }

    /// The process has another memory: nothing is watched.
    pub(crate) fn forget_process(&mut self) {
        self.shared.clear();
        for place in &mut self.list {
            place.parts.clear();
            place.path = None;
            place.sight = None;
        }
    }

    /// Watches the places whose events a monitor needs, and no others of its.
    pub(crate) fn set_needed(
        &mut self,
        program: &mut Program,
        monitor: u16,
        is_needed: impl Fn(EventId) -> bool,
    ) -> Result<(), DebuggeeError> {
        let mut changes = SmallVec::<[usize; 8]>::new();
        for (number, place) in self.list.iter_mut().enumerate() {
            if place.monitor != monitor {
                continue;
            }
            place.is_needed = is_needed(place.event);
            if place.is_needed != place.is_armed() {
                changes.push(number);
            }
        }
        if changes.is_empty() {
            return Ok(());
        }
        while_halted(program, |program| {
            for number in changes {
                self.renew(program, number)?;
            }
            Ok(())
        })
    }

    /// Watches the bytes that a place is in now, if its event is needed.
    /// Every thread stands.
    fn renew(&mut self, program: &mut Program, number: usize) -> Result<(), DebuggeeError> {
        let Some(place) = self.list.get_mut(number) else {
            return Ok(());
        };
        let before: SmallVec<[WatchId; 4]> =
            place.parts.drain(..).chain(place.path.take()).collect();
        if place.is_needed && place.sight.is_some() {
            // Its value may have changed while nobody looked.
            place.sight = place.place.resolve(program).ok();
        }
        let wanted = place.sight.as_ref().filter(|_| place.is_needed);
        let kinds = place.kinds();
        let (mut parts, mut path, mut least) = (SmallVec::new(), Vec::new(), WatchTier::Hardware);
        if let Some(sight) = wanted {
            parts = sight.watched_parts();
            path.clone_from(&sight.path);
            if sight.needs_exact_bytes() {
                least = WatchTier::Page;
            }
        }
        let mut armed = SmallVec::new();
        for part in parts {
            let watch = self.acquire(&mut program.debuggee, vec![part], kinds, least)?;
            armed.extend(watch);
        }
        let mut leading = None;
        if !path.is_empty() {
            let stores = AccessKinds::WRITE;
            leading = self.acquire(&mut program.debuggee, path, stores, WatchTier::Hardware)?;
        }
        for id in before {
            self.release(&mut program.debuggee, id)?;
        }
        if let Some(place) = self.list.get_mut(number) {
            place.parts = armed;
            place.path = leading;
        }
        Ok(())
    }

    /// A watch of these bytes; nothing where they cannot be read.
    fn acquire(
        &mut self,
        debuggee: &mut Debuggee,
        ranges: Vec<Range<u64>>,
        kinds: AccessKinds,
        least: WatchTier,
    ) -> Result<Option<WatchId>, DebuggeeError> {
        let is_same =
            |it: &&mut Shared| it.ranges == ranges && it.kinds == kinds && it.least == least;
        if let Some(shared) = self.shared.iter_mut().find(is_same) {
            shared.users += 1;
            return Ok(Some(shared.id));
        }
        let id = match debuggee.watch(&ranges, kinds, Owner::Monitor, least) {
            Ok(id) => id,
            Err(DebuggeeError::Memory { .. } | DebuggeeError::Gone) => return Ok(None),
            Err(error) => return Err(error),
        };
        self.shared.push(Shared {
            id,
            ranges,
            kinds,
            least,
            users: 1,
        });
        Ok(Some(id))
    }

    fn release(&mut self, debuggee: &mut Debuggee, id: WatchId) -> Result<(), DebuggeeError> {
        let Some(position) = self.shared.iter().position(|it| it.id == id) else {
            return Ok(());
        };
        let shared = &mut self.shared[position];
        shared.users -= 1;
        if shared.users > 0 {
            return Ok(());
        }
        self.shared.swap_remove(position);
        debuggee.unwatch(id)
    }

    /// A place was bound anew: it may be elsewhere.
    pub(crate) fn rebind(
        &mut self,
        program: &mut Program,
        monitor: u16,
        event: EventId,
        sight: Option<MemoryLocation>,
    ) -> Result<(), DebuggeeError> {
        let is_same = |it: &PlaceWatch| it.monitor == monitor && it.event == event;
        let Some(number) = self.list.iter().position(is_same) else {
            return Ok(());
        };
        let place = &mut self.list[number];
        let is_moved = match (&place.sight, &sight) {
            (Some(before), Some(now)) => before.range != now.range || before.path != now.path,
            (None, None) => false,
            _ => true,
        };
        if !is_moved {
            return Ok(());
        }
        place.sight = sight;
        if place.is_needed {
            while_halted(program, |program| self.renew(program, number))?;
        }
        Ok(())
    }

    /// The elements that an access touched, by the events that it is one of;
    /// `now` receives the bytes of each place. Places whose path was stored to
    /// are where it leads now.
    pub(crate) fn touched(
        &mut self,
        program: &mut Program,
        access: &MemoryAccess,
        instruction: Option<u64>,
    ) -> Result<Vec<(Touched, PlaceState)>, DebuggeeError> {
        let mut touched = Vec::new();
        for number in 0..self.list.len() {
            let place = &self.list[number];
            if place.path == Some(access.watch) {
                touched.extend(self.follow(program, number)?);
                continue;
            }
            let part = place.parts.iter().position(|&id| id == access.watch);
            let (Some(part), Some(sight)) = (part, &place.sight) else {
                continue;
            };
            let Some(own) = sight.range.clone() else {
                continue;
            };
            let mut now = vec![0; (own.end - own.start) as usize];
            if program.debuggee.read(own.start, &mut now).is_err() {
                continue;
            }
            let bytes = match (access.bytes, sight.watched_parts().get(part)) {
                (None, Some(part)) if sight.elements.count > 1 && !sight.needs_exact_bytes() => {
                    Some((part.start, part.end - part.start))
                }
                (bytes, _) => bytes,
            };
            let elements: SmallVec<[u64; 4]> = sight.touched(bytes, &now).collect();
            let may_write = match access.kind {
                AccessKind::Read => false,
                AccessKind::Write => true,
                AccessKind::Either => {
                    elements.iter().any(|&it| sight.differs(it, &now))
                        || instruction.is_some_and(|at| program.writes_memory(at))
                }
            };
            for element in elements {
                if place.kind == EventKind::Change && !sight.differs(element, &now) {
                    continue;
                }
                let value = sight.value_in(element, &now);
                let old = sight.value_in(element, &sight.bytes);
                touched.push((
                    Touched {
                        place: number,
                        element,
                    },
                    PlaceState {
                        old: if may_write { old } else { value.clone() },
                        value,
                        address: sight.address(element),
                        index: sight.index(element),
                    },
                ));
            }
            if let Some(sight) = self.list.get_mut(number).and_then(|it| it.sight.as_mut()) {
                // Other elements have accesses of their own, still to be told.
                sight.take_bytes(bytes, &now);
            }
        }
        Ok(touched)
    }

    /// What leads to a place was stored to: it may be elsewhere now, which is
    /// a change when the value there is another.
    fn follow(
        &mut self,
        program: &mut Program,
        number: usize,
    ) -> Result<Option<(Touched, PlaceState)>, DebuggeeError> {
        let Some(place) = self.list.get_mut(number) else {
            return Ok(None);
        };
        let before = place.sight.take();
        place.sight = place.place.resolve(program).ok();
        let change = match (&before, &place.sight) {
            (Some(before), Some(now))
                if place.kind == EventKind::Change
                    && before.range.is_some()
                    && now.range.is_some()
                    && before.elements.count == 1
                    && now.elements.count == 1 =>
            {
                let old = before.value_in(0, &before.bytes);
                let value = now.value_in(0, &now.bytes);
                let state = PlaceState {
                    address: now.address(0),
                    index: now.index(0),
                    old,
                    value,
                };
                let touched = Touched {
                    place: number,
                    element: 0,
                };
                (state.old != state.value).then_some((touched, state))
            }
            _ => None,
        };
        let is_moved = match (&before, &place.sight) {
            (Some(before), Some(now)) => before.range != now.range || before.path != now.path,
            _ => true,
        };
        if is_moved {
            while_halted(program, |program| self.renew(program, number))?;
        }
        Ok(change)
    }
}

/// What is known of an element when it was accessed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlaceState {
    pub value: juror_event::Value,
    pub old: juror_event::Value,
    pub address: u64,
    pub index: i64,
}

/// Does what stops every thread, and lets those run again that ran.
pub(crate) fn while_halted(
    program: &mut Program,
    work: impl FnOnce(&mut Program) -> Result<(), DebuggeeError>,
) -> Result<(), DebuggeeError> {
    let moving = program.debuggee.moving_threads();
    program.debuggee.halt_all()?;
    work(program)?;
    for thread in moving {
        program.debuggee.resume(thread)?;
    }
    Ok(())
}
