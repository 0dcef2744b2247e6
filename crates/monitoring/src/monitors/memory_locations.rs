//! The memory locations that properties watch.
//!
//! A location is watched while its event is needed, with the means of the debuggee: debug
//! registers, page protection or single-stepping. Events on the same bytes share one watch. The
//! pointers that lead to a location are watched for stores too: a store moves the location.
//!
//! **Invariant**: while a location is watched, `Sight::bytes` holds the values of its elements
//! after the last store.

use crate::monitors::local_variables::{LocalCall, LocalVariables};
use juror_debuggee::{AccessKinds, Debuggee, DebuggeeError, Owner, ThreadId, WatchId, WatchTier};
use juror_event::{EventId, EventKind};
use juror_instrument::capture_plan::CapturePlan;
use juror_instrument::memory_locations::{LocationExpression, MemoryLocation};
use juror_program::program::Program;
use smallvec::SmallVec;
use std::ops::Range;
use std::rc::Rc;

/// An event of a monitor about a memory location.
#[derive(Debug, Clone)]
pub(crate) struct PlaceWatch {
    /// The number of the monitor.
    pub monitor: u16,
    /// The event.
    pub event: EventId,
    pub kind: EventKind,
    pub place: LocationExpression,
    /// By capture slot.
    pub captures: Rc<[CapturePlan]>,
    /// The location; `None` while no module has it.
    pub sight: Option<MemoryLocation>,
    /// The local variables that the event is about; the watches of their calls are places of
    /// their own.
    pub local: Option<LocalVariables>,
    /// The call whose local variable this is.
    pub call: Option<LocalCall>,
    pub(super) is_needed: bool,
    /// The watches of its bytes, in address order.
    pub(super) parts: SmallVec<[WatchId; 4]>,
    /// The watch of the pointers that lead to it.
    pub(super) path: Option<WatchId>,
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

/// All watched locations of all monitors.
#[derive(Debug, Default, Clone)]
pub(crate) struct PlaceWatches {
    pub(super) list: Vec<PlaceWatch>,
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
            local: None,
            call: None,
            is_needed: false,
            parts: SmallVec::new(),
            path: None,
        }
    }

    /// Creates the place of a call with a local variable that an event is about.
    pub(super) fn of_call(
        of: &PlaceWatch,
        call: LocalCall,
        sight: Option<MemoryLocation>,
    ) -> PlaceWatch {
        PlaceWatch {
            captures: Rc::clone(&of.captures),
            sight,
            call: Some(call),
            is_needed: true,
            ..PlaceWatch::new(of.monitor, of.event, of.kind, of.place.clone())
        }
    }

    /// Returns whether it is watched: the place of a call that was found to have returned is not.
    pub(super) fn is_live(&self) -> bool {
        self.is_needed
    }

    /// Looks at the place as it is now.
    pub(super) fn resolve(&self, program: &Program) -> Option<MemoryLocation> {
        let root = self.call.as_ref().map(|call| &call.root);
        self.place.resolve_from(program, root).ok()
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

    /// Returns how it is watched at present.
    pub(crate) fn tier(&self, program: &Program) -> Option<WatchTier> {
        let ids = self.parts.iter().chain(&self.path);
        ids.filter_map(|&id| program.debuggee.watch_tier(id)).max()
    }

    /// Returns the address of its variable, whether or not it is watched now.
    pub(crate) fn address(&self) -> Option<u64> {
        let sight = self.sight.as_ref()?;
        sight.range.as_ref().map(|own| own.start)
    }

    /// Returns the addresses that are watched at present.
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

    /// Returns the location of an event, creating it if necessary.
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

    /// Renumbers the monitors. Locations of monitors without a new number are removed; none of them
    /// is watched any longer.
    pub(crate) fn renumber(&mut self, number: impl Fn(u16) -> Option<u16>) {
        self.list.retain_mut(|place| match number(place.monitor) {
            Some(other) => {
                place.monitor = other;
                true
            }
            None => false,
        });
    }

    /// Gives the threads of calls the numbers that they have now.
    pub(crate) fn renumber_threads(&mut self, number: impl Fn(ThreadId) -> ThreadId) {
        for call in self.list.iter_mut().filter_map(|it| it.call.as_mut()) {
            call.renumber(&number);
        }
    }

    /// Returns the locations for a forked copy of the process, none of which is watched yet.
    pub(crate) fn forked(&self) -> PlaceWatches {
        let mut list = self.list.clone();
        for place in &mut list {
            place.is_needed = false;
            place.parts.clear();
            place.path = None;
            if let Some(local) = &mut place.local {
                local.is_inserted = false;
            }
        }
        // The calls on its stack are found when they are needed.
        list.retain(|place| place.call.is_none());
        PlaceWatches {
            list,
            shared: Vec::new(),
        }
    }

    /// Forgets the memory of the process: nothing is watched.
    pub(crate) fn forget_process(&mut self) {
        self.shared.clear();
        self.list.retain(|place| place.call.is_none());
        for place in &mut self.list {
            place.parts.clear();
            place.path = None;
            place.sight = None;
            place.local = None;
        }
    }

    /// Watches the locations whose events a monitor needs, and stops watching its others.
    pub(crate) fn set_needed(
        &mut self,
        program: &mut Program,
        monitor: u16,
        is_needed: impl Fn(EventId) -> bool,
    ) -> Result<(), DebuggeeError> {
        let mut changes = SmallVec::<[usize; 8]>::new();
        let mut begun = SmallVec::<[usize; 2]>::new();
        let mut has_ended = false;
        for (number, place) in self.list.iter_mut().enumerate() {
            if place.monitor != monitor {
                continue;
            }
            let is_needed = is_needed(place.event);
            if let Some(local) = &mut place.local {
                place.is_needed = is_needed;
                if local.is_inserted != is_needed {
                    local.insert(program, is_needed)?;
                    if is_needed {
                        begun.push(number)
                    } else {
                        has_ended = true
                    }
                }
                continue;
            }
            place.is_needed = is_needed;
            if place.is_needed != place.is_armed() {
                changes.push(number);
            }
        }
        if !changes.is_empty() {
            while_halted(program, |program| {
                for number in changes {
                    self.renew(program, number)?;
                }
                Ok(())
            })?;
        }
        for number in begun {
            self.enter_active(program, number)?;
        }
        if has_ended {
            // Nothing of these is watched any longer.
            self.list
                .retain(|place| place.call.is_none() || place.is_needed);
        }
        Ok(())
    }

    /// Adds a place, and watches it. All threads are stopped.
    pub(super) fn add(
        &mut self,
        program: &mut Program,
        place: PlaceWatch,
    ) -> Result<(), DebuggeeError> {
        self.list.push(place);
        self.renew(program, self.list.len() - 1)
    }

    /// Removes a place that is watched. All threads are stopped.
    pub(super) fn remove(
        &mut self,
        program: &mut Program,
        number: usize,
    ) -> Result<(), DebuggeeError> {
        if let Some(place) = self.list.get_mut(number) {
            place.is_needed = false;
        }
        self.renew(program, number)?;
        if number < self.list.len() {
            self.list.remove(number);
        }
        Ok(())
    }

    /// Sets the local variables that an event is about.
    pub(crate) fn set_local(
        &mut self,
        program: &mut Program,
        monitor: u16,
        event: EventId,
        local: LocalVariables,
    ) -> Result<(), DebuggeeError> {
        let is_same = |it: &PlaceWatch| it.monitor == monitor && it.event == event;
        let Some(place) = self.list.iter_mut().find(|it| is_same(it)) else {
            return Ok(());
        };
        match &mut place.local {
            Some(known) if known.is_same(&local) => Ok(()),
            Some(known) => {
                // It is needed anew when the needs are applied.
                known.insert(program, false)?;
                place.local = Some(local);
                Ok(())
            }
            None => {
                place.local = Some(local);
                Ok(())
            }
        }
    }

    /// Watches the present bytes of a location, if its event is needed. All threads are stopped.
    pub(super) fn renew(
        &mut self,
        program: &mut Program,
        number: usize,
    ) -> Result<(), DebuggeeError> {
        let Some(place) = self.list.get_mut(number) else {
            return Ok(());
        };
        let before: SmallVec<[WatchId; 4]> =
            place.parts.drain(..).chain(place.path.take()).collect();
        if place.is_needed && place.sight.is_some() {
            // Its value may have changed while it was not watched.
            place.sight = place.resolve(program);
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

    /// Watches these bytes; `None` if they cannot be read.
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

    /// Handles a location that was bound again and may have moved.
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
}

/// Performs an operation that stops every thread, then resumes those that were running.
pub(crate) fn while_halted(
    program: &mut Program,
    work: impl FnOnce(&mut Program) -> Result<(), DebuggeeError>,
) -> Result<(), DebuggeeError> {
    let moving = program.debuggee.moving_threads();
    program.debuggee.halt_all()?;
    work(program)?;
    program.debuggee.resume_halted(moving)
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_event::Reach;

    fn place(monitor: u16, event: u16, kind: EventKind) -> PlaceWatch {
        let expression = LocationExpression::parse("total", Reach::Anywhere);
        PlaceWatch::new(monitor, EventId(event), kind, expression.expect("a name"))
    }

    fn watches(numbers: &[(u16, u16)]) -> PlaceWatches {
        let mut watches = PlaceWatches::default();
        for &(monitor, event) in numbers {
            watches.of(monitor, EventId(event), || {
                place(monitor, event, EventKind::Write)
            });
        }
        watches
    }

    fn numbers(watches: &PlaceWatches) -> Vec<(u16, u16)> {
        watches.iter().map(|it| (it.monitor, it.event.0)).collect()
    }

    #[test]
    fn an_event_has_one_location() {
        let watches = watches(&[(0, 0), (0, 1), (0, 0), (1, 0)]);
        assert_eq!(numbers(&watches), [(0, 0), (0, 1), (1, 0)]);
    }

    #[test]
    fn the_locations_of_a_removed_monitor_go_and_the_others_are_renumbered() {
        let mut watches = watches(&[(0, 0), (1, 0), (2, 0), (1, 1)]);
        watches.renumber(|number| match number {
            1 => None,
            number => Some(number - number / 2),
        });
        assert_eq!(numbers(&watches), [(0, 0), (1, 0)]);
    }

    #[test]
    fn accesses_are_watched_by_the_kind_of_the_event() {
        for (kind, kinds) in [
            (EventKind::Read, AccessKinds::READ),
            (EventKind::Write, AccessKinds::WRITE),
            (EventKind::Change, AccessKinds::WRITE),
            (EventKind::Access, AccessKinds::READ | AccessKinds::WRITE),
        ] {
            assert_eq!(place(0, 0, kind).kinds(), kinds, "{kind}");
        }
    }

    fn armed() -> PlaceWatches {
        let mut watches = watches(&[(0, 0)]);
        let place = &mut watches.list[0];
        place.is_needed = true;
        place.parts.push(WatchId(3));
        place.path = Some(WatchId(4));
        place.sight = Some(MemoryLocation {
            range: Some(8..12),
            path: Vec::new(),
            elements: juror_instrument::memory_locations::Elements {
                size: 4,
                count: 1,
                first: 0,
                decode: None,
            },
            bytes: vec![0; 4],
        });
        watches.shared.push(Shared {
            id: WatchId(3),
            ranges: std::iter::once(8..12).collect(),
            kinds: AccessKinds::WRITE,
            least: WatchTier::Hardware,
            users: 1,
        });
        watches
    }

    #[test]
    fn nothing_is_watched_yet_in_a_forked_process() {
        let forked = armed().forked();
        assert!(forked.shared.is_empty());
        let place = forked.get(0).expect("it is known");
        assert!(!place.is_armed() && !place.is_live());
        assert_eq!(place.address(), Some(8));
    }

    #[test]
    fn a_process_that_is_gone_leaves_no_addresses() {
        let mut watches = armed();
        let place = watches.get(0).expect("it is known");
        assert_eq!((place.address(), place.addresses()), (Some(8), vec![8]));
        watches.forget_process();
        let place = watches.get(0).expect("it is known");
        assert_eq!((place.address(), place.addresses()), (None, vec![]));
        assert!(watches.shared.is_empty() && !place.is_armed());
    }
}
