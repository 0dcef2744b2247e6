//! Accesses to the memory locations that properties watch, as events.

use crate::monitors::Monitors;
use crate::monitors::handlers::Scene;
use crate::monitors::memory_locations::{PlaceWatch, PlaceWatches, while_halted};
use juror_debuggee::{AccessKind, DebuggeeError, MemoryAccess, ThreadId};
use juror_event::{EventId, EventKind, Unavailability, Value};
use juror_instrument::capture_plan::CapturePlan;
use juror_instrument::context_values::{Details, EventContext};
use juror_instrument::memory_locations::{Elements, MemoryLocation};
use juror_program::program::Program;
use smallvec::SmallVec;
use std::rc::Rc;

/// An element of a location that an access touched: an event.
struct Touched {
    monitor: u16,
    event: EventId,
    captures: Rc<[CapturePlan]>,
    /// The division of its location.
    elements: Elements,
    address: u64,
    index: i64,
    value: Value,
    old: Value,
    may_write: bool,
    /// True if no access to the element itself was made: a pointer to its location was stored to.
    is_moved: bool,
    /// The accessing instruction.
    instruction: u64,
}

impl Touched {
    /// Creates the event of an element; nothing is known of the access yet.
    fn of(place: &PlaceWatch, sight: &MemoryLocation, element: u64) -> Touched {
        Touched {
            monitor: place.monitor,
            event: place.event,
            captures: Rc::clone(&place.captures),
            elements: sight.elements,
            address: sight.address(element),
            index: sight.index(element),
            value: Value::Unavailable(Unavailability::NotCaptured),
            old: Value::Unavailable(Unavailability::NotCaptured),
            may_write: false,
            is_moved: false,
            instruction: 0,
        }
    }

    /// Returns this access as the event of another place; `None` if it is no event there.
    fn at(&self, place: &PlaceWatch) -> Option<Touched> {
        let occurs = match place.kind {
            EventKind::Change => self.old != self.value,
            _ if self.is_moved => false,
            EventKind::Read => !self.may_write,
            EventKind::Write => self.may_write,
            _ => true,
        };
        let sight = place.sight.as_ref()?;
        let start = sight.range.as_ref()?.start;
        if !occurs || sight.elements != self.elements {
            return None;
        }
        let offset_bytes = self.address.checked_sub(start)?;
        let element = offset_bytes / self.elements.size.max(1);
        let is_same = element < self.elements.count && offset_bytes == element * self.elements.size;
        is_same.then(|| Touched {
            value: self.value.clone(),
            old: self.old.clone(),
            may_write: self.may_write,
            is_moved: self.is_moved,
            instruction: self.instruction,
            ..Touched::of(place, sight, element)
        })
    }

    /// Returns whether this one comes after another of the same access.
    fn is_after(&self, other: &Touched) -> bool {
        (self.monitor, self.event.0) > (other.monitor, other.event.0)
    }
}

impl Monitors {
    /// Handles a thread's access to watched memory. Events on the same bytes occur in the order of
    /// declaration, whatever the order in which they were first watched; one may make the next one
    /// needed.
    pub fn on_accesses<'a>(
        &mut self,
        scene: &mut Scene<'_>,
        accesses: impl Iterator<Item = &'a MemoryAccess>,
    ) -> Result<(), DebuggeeError> {
        if self.places.is_empty() {
            return Ok(());
        }
        let mut all = Vec::new();
        for access in accesses {
            self.add_touched(scene, access, &mut all)?;
        }
        if all.len() > 1 {
            put_in_order(&mut all);
        }
        let mut next = 0;
        while let Some(touched) = all.get(next) {
            let later = self.places.not_needed_after(touched);
            self.happen_there(scene, touched)?;
            if !later.is_empty() {
                for new in self.places.needed_now(touched, &later) {
                    insert_in_order(&mut all, next + 1, new);
                }
            }
            next += 1;
        }
        Ok(())
    }

    /// Adds the elements that an access touched.
    fn add_touched(
        &mut self,
        scene: &mut Scene<'_>,
        access: &MemoryAccess,
        all: &mut Vec<Touched>,
    ) -> Result<(), DebuggeeError> {
        let thread = scene.thread;
        let instruction = access
            .instruction
            .or_else(|| scene.program.previous_instruction(thread));
        let touched = self
            .places
            .touched(scene.program, access, (thread, instruction))?;
        if touched.is_empty() {
            return Ok(());
        }
        let instruction = match access.system_call {
            // Report the program's call, not the instruction in the library.
            Some(_) => scene.program.innermost_own_call(thread).or(instruction),
            None => instruction,
        };
        let instruction = match instruction {
            Some(instruction) => instruction,
            None => scene.program.registers(thread)?.instruction_pointer(),
        };
        all.extend(touched.into_iter().map(|it| Touched { instruction, ..it }));
        Ok(())
    }

    /// Processes the event of an access to a location.
    fn happen_there(
        &mut self,
        scene: &mut Scene<'_>,
        touched: &Touched,
    ) -> Result<(), DebuggeeError> {
        let details = Details::Access {
            value: &touched.value,
            old: &touched.old,
            address: touched.address,
            index: touched.index,
        };
        self.happen(
            scene,
            touched.monitor,
            touched.event.0,
            touched.instruction,
            &touched.captures,
            &EventContext::of(details),
        )
    }

    /// Ignores an access made by a function that juror called: later accesses are compared with the
    /// value it left.
    pub fn overlook(
        &mut self,
        program: &mut Program,
        thread: ThreadId,
        access: &MemoryAccess,
    ) -> Result<(), DebuggeeError> {
        let touched = self.places.touched(program, access, (thread, None));
        touched.map(|_| ())
    }
}

/// Sorts the events of one moment: by the first access to their bytes, then as declared.
fn put_in_order(all: &mut [Touched]) {
    let addresses: Vec<u64> = all.iter().map(|it| it.address).collect();
    all.sort_by_key(|it| {
        let first = addresses.iter().position(|at| *at == it.address);
        (first, it.monitor, it.event.0)
    });
}

/// Adds an event to those of its access that have not been processed.
fn insert_in_order(all: &mut Vec<Touched>, next: usize, new: Touched) {
    let rest = all.get(next..).unwrap_or_default();
    let comes_first = |it: &Touched| it.address == new.address && new.is_after(it);
    let position = rest.iter().take_while(|it| comes_first(it)).count();
    all.insert(next + position, new);
}

impl PlaceWatches {
    /// Returns the events of the same monitor that come after this one and are not needed.
    fn not_needed_after(&self, touched: &Touched) -> SmallVec<[EventId; 4]> {
        let later = self.list.iter().filter(|place| {
            let is_later = place.monitor == touched.monitor && place.event.0 > touched.event.0;
            is_later && !place.is_live() && place.call.is_none()
        });
        later.map(|place| place.event).collect()
    }

    /// Returns the events of an access that an earlier one of it has made needed.
    fn needed_now(&self, touched: &Touched, later: &[EventId]) -> SmallVec<[Touched; 1]> {
        let now = self.list.iter().filter(|place| {
            let is_new = place.monitor == touched.monitor && later.contains(&place.event);
            is_new && place.is_live()
        });
        now.filter_map(|place| touched.at(place)).collect()
    }

    /// Returns the elements that an access touched, by their events. If the path of a location was
    /// stored to, the location is moved to where it leads now.
    fn touched(
        &mut self,
        program: &mut Program,
        access: &MemoryAccess,
        (thread, instruction): (ThreadId, Option<u64>),
    ) -> Result<Vec<Touched>, DebuggeeError> {
        let mut touched = Vec::new();
        for number in 0..self.list.len() {
            if !self.is_in_scope(program, access, number, (thread, instruction))? {
                continue;
            }
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
                touched.push(Touched {
                    may_write,
                    old: if may_write { old } else { value.clone() },
                    value,
                    ..Touched::of(place, sight, element)
                });
            }
            if let Some(sight) = self.list.get_mut(number).and_then(|it| it.sight.as_mut()) {
                // Other elements have accesses of their own, still to be processed.
                sight.take_bytes(bytes, &now);
            }
        }
        Ok(touched)
    }

    /// Returns whether an access to a local variable is one of its call; true for other places.
    fn is_in_scope(
        &mut self,
        program: &mut Program,
        access: &MemoryAccess,
        number: usize,
        accessing: (ThreadId, Option<u64>),
    ) -> Result<bool, DebuggeeError> {
        let Some(place) = self.list.get(number) else {
            return Ok(false);
        };
        // The variable may be a pointer to the place.
        let is_path = place.path == Some(access.watch);
        let is_own = is_path || place.parts.contains(&access.watch);
        let Some(call) = place.call.as_ref().filter(|_| is_own) else {
            return Ok(true);
        };
        // The accessing instruction of a system call is in the library.
        let instruction = accessing.1.filter(|_| access.system_call.is_none());
        let mut is_in_scope = None;
        if call.is_of(accessing.0) {
            is_in_scope = call.is_in_scope(program, (accessing.0, instruction));
        } else {
            while_halted(program, |program| {
                is_in_scope = call.is_in_scope(program, (accessing.0, instruction));
                Ok(())
            })?;
        }
        if is_in_scope == Some(true) {
            return Ok(true);
        }
        if is_in_scope.is_none() {
            // Other numbers stay as they are until the access has been taken.
            if let Some(place) = self.list.get_mut(number) {
                place.is_needed = false;
            }
            while_halted(program, |program| self.renew(program, number))?;
            return Ok(false);
        }
        // A store before the scope begins leaves the value that the first store in it replaces.
        if let Some(place) = self.list.get_mut(number) {
            place.sight = place.resolve(program);
        }
        if is_path {
            while_halted(program, |program| self.renew(program, number))?;
        }
        Ok(false)
    }

    /// Follows a location whose path was stored to: it may have moved, which is a change if the
    /// value there differs.
    fn follow(
        &mut self,
        program: &mut Program,
        number: usize,
    ) -> Result<Option<Touched>, DebuggeeError> {
        let Some(place) = self.list.get_mut(number) else {
            return Ok(None);
        };
        let before = place.sight.take();
        place.sight = place.resolve(program);
        let change = match (&before, &place.sight) {
            (Some(before), Some(now))
                if place.kind == EventKind::Change
                    && before.range.is_some()
                    && now.range.is_some()
                    && before.elements.count == 1
                    && now.elements.count == 1 =>
            {
                let touched = Touched {
                    is_moved: true,
                    old: before.value_in(0, &before.bytes),
                    value: now.value_in(0, &now.bytes),
                    ..Touched::of(place, now, 0)
                };
                (touched.old != touched.value).then_some(touched)
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

#[cfg(test)]
mod tests {
    use super::*;
    use juror_event::Reach;
    use juror_instrument::memory_locations::LocationExpression;
    use juror_values::read_plan::Decode;

    /// Four integers of 4 bytes each at `start`.
    fn cells(start: u64) -> MemoryLocation {
        MemoryLocation {
            range: Some(start..start + 16),
            path: Vec::new(),
            elements: Elements {
                size: 4,
                count: 4,
                first: 1,
                decode: None::<Decode>,
            },
            bytes: vec![0; 16],
        }
    }

    /// An event of monitor 0 about the integers.
    fn place(event: u16, kind: EventKind) -> PlaceWatch {
        let expression = LocationExpression::parse("cells", Reach::Anywhere);
        let expression = expression.expect("it is a name");
        PlaceWatch {
            sight: Some(cells(0x1000)),
            is_needed: true,
            ..PlaceWatch::new(0, EventId(event), kind, expression)
        }
    }

    /// An access to the element, which it may write, with the values before and after.
    fn touched(element: u64, may_write: bool, values: [i128; 2]) -> Touched {
        let [old, value] = values.map(Value::Int);
        Touched {
            may_write,
            old,
            value,
            instruction: 7,
            ..Touched::of(&place(0, EventKind::Access), &cells(0x1000), element)
        }
    }

    #[test]
    fn an_access_is_an_event_of_the_kinds_that_it_is() {
        let store = touched(2, true, [1, 5]);
        let same = touched(2, true, [5, 5]);
        let load = touched(2, false, [5, 5]);
        let moved = Touched {
            is_moved: true,
            ..touched(2, false, [1, 5])
        };
        for (kind, of) in [
            (EventKind::Write, [true, true, false, false]),
            (EventKind::Read, [false, false, true, false]),
            (EventKind::Access, [true, true, true, false]),
            (EventKind::Change, [true, false, false, true]),
        ] {
            let is_event = |it: &Touched| it.at(&place(1, kind)).is_some();
            assert_eq!([&store, &same, &load, &moved].map(is_event), of, "{kind}");
        }
    }

    #[test]
    fn an_access_is_an_event_of_places_with_that_element() {
        let store = touched(2, true, [1, 5]);
        let found = store
            .at(&place(3, EventKind::Write))
            .expect("the same bytes");
        assert_eq!(
            (found.event, found.address, found.index),
            (EventId(3), 0x1008, 3)
        );
        assert_eq!((found.value, found.instruction), (Value::Int(5), 7));
        let at = |start| PlaceWatch {
            sight: Some(cells(start)),
            ..place(3, EventKind::Write)
        };
        // The same bytes, as the first element of a longer range.
        assert_eq!(store.at(&at(0x1008)).map(|it| it.index), Some(1));
        for start in [0x1009, 0x100a, 0x100c, 0xff0] {
            assert!(store.at(&at(start)).is_none(), "{start:#x}");
        }
        let mut other = place(3, EventKind::Write);
        if let Some(sight) = &mut other.sight {
            sight.elements.size = 2;
        }
        assert!(store.at(&other).is_none());
        other.sight = None;
        assert!(store.at(&other).is_none());
    }

    fn order(all: &[Touched]) -> Vec<(u64, u16, u16)> {
        let key = |it: &Touched| (it.address, it.monitor, it.event.0);
        all.iter().map(key).collect()
    }

    fn of(address: u64, monitor: u16, event: u16) -> Touched {
        Touched {
            address,
            monitor,
            event: EventId(event),
            ..touched(0, true, [0, 1])
        }
    }

    #[test]
    fn events_of_one_moment_are_in_the_order_of_accesses_and_declarations() {
        let mut all = [
            of(8, 1, 0),
            of(4, 0, 1),
            of(8, 0, 2),
            of(8, 0, 1),
            of(4, 0, 0),
        ];
        put_in_order(&mut all);
        assert_eq!(
            order(&all),
            [(8, 0, 1), (8, 0, 2), (8, 1, 0), (4, 0, 0), (4, 0, 1)]
        );
    }

    #[test]
    fn an_event_that_is_needed_now_comes_behind_those_before_it() {
        let mut all = vec![of(8, 0, 0), of(8, 0, 1), of(8, 1, 0), of(4, 0, 0)];
        insert_in_order(&mut all, 1, of(8, 0, 2));
        assert_eq!(
            order(&all),
            [(8, 0, 0), (8, 0, 1), (8, 0, 2), (8, 1, 0), (4, 0, 0)]
        );
        // What has been processed stays in front of it.
        let mut all = vec![of(8, 0, 3), of(8, 1, 0)];
        insert_in_order(&mut all, 1, of(8, 0, 2));
        assert_eq!(order(&all), [(8, 0, 3), (8, 0, 2), (8, 1, 0)]);
    }

    #[test]
    fn an_event_may_make_later_ones_of_its_monitor_needed() {
        let mut watches = PlaceWatches::default();
        for (event, is_needed) in [(0, true), (1, false), (2, true), (3, false)] {
            watches.list.push(PlaceWatch {
                is_needed,
                ..place(event, EventKind::Write)
            });
        }
        watches.list.push(PlaceWatch {
            monitor: 1,
            is_needed: false,
            ..place(5, EventKind::Write)
        });
        let taken = Touched {
            event: EventId(1),
            ..touched(2, true, [1, 5])
        };
        let later = watches.not_needed_after(&taken);
        assert_eq!(later.as_slice(), [EventId(3)]);
        assert!(watches.needed_now(&taken, &later).is_empty());
        watches.list[3].is_needed = true;
        let now = watches.needed_now(&taken, &later);
        assert_eq!(
            now.iter().map(|it| it.event).collect::<Vec<_>>(),
            [EventId(3)]
        );
    }
}
