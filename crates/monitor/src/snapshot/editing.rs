//! Manual changes of a snapshot before it is restored.

use super::{SavedStates, Snapshot, SnapshotError};
use crate::monitor::Monitor;
use crate::saved::SavedValue;
use crate::slices::SliceId;
use juror_event::Value;
use juror_language::StateId;

/// A change of a slice.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// Sets the variable in this slot to this value.
    Variable(u16, Value),
    /// Sets the state.
    State(StateId),
}

impl Monitor {
    /// Returns a copy of the monitor with one slice changed.
    ///
    /// # Errors
    /// If there is no such slice, variable or state, or if its states are those of a
    /// formula, which cannot be set by hand.
    pub fn edited(&self, slice: SliceId, edit: &Edit) -> Result<Monitor, SnapshotError> {
        let mut snapshot = self.snapshot();
        snapshot.edit(slice, edit)?;
        Monitor::restore(std::sync::Arc::clone(self.property()), &snapshot)
    }
}

impl Snapshot {
    fn edit(&mut self, slice: SliceId, edit: &Edit) -> Result<(), SnapshotError> {
        let missing = SnapshotError::Damaged("there is no such slice");
        let (place, generation) = (slice.0 as u32, (slice.0 >> 32) as u32);
        let saved = self.body.slices.get_mut(place as usize);
        let saved = saved.filter(|it| it.generation == generation && it.state.is_some());
        let saved = saved.ok_or(missing)?;
        match edit {
            Edit::Variable(slot, value) => {
                let known = saved.environment.get_mut(usize::from(*slot));
                let known = known.ok_or(SnapshotError::Damaged("there is no such variable"))?;
                *known = SavedValue::of(value);
            }
            Edit::State(state) if self.states == SavedStates::Automaton => {
                saved.state = Some(state.0);
            }
            Edit::State(_) => {
                return Err(SnapshotError::Damaged("a formula has no states to choose"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::Occurrence;
    use juror_event::EventId;
    use std::sync::Arc;

    const SOURCE: &str = "property p slice on x event e = before f(x)
        var count = 0
        state init accepting { on e { count += 1 } -> init }
        state full non-accepting";

    #[test]
    fn a_slice_is_changed_and_no_other() {
        let (mut properties, _) = juror_language::load(SOURCE);
        let property = Arc::new(properties.remove(0));
        let mut monitor = Monitor::new(property).expect("a property");
        for x in [1, 2, 1] {
            let happened = Occurrence {
                thread: 1,
                address: 0,
                time: 0,
                values: &[Value::Int(x)],
            };
            monitor.step(EventId(0), &happened).expect("a step");
        }
        let slice_of = |monitor: &Monitor, x: i128| {
            let mut slices = monitor.slices();
            let found = slices
                .find(|it| it.binding == [Some(Value::Int(x))])
                .expect("a slice");
            (found.id, found.state, found.environment.to_vec())
        };
        let (id, state, before) = slice_of(&monitor, 1);
        assert_eq!(before, [Value::Int(2)]);
        let edited = monitor
            .edited(id, &Edit::Variable(0, Value::Int(9)))
            .expect("a monitor");
        assert_eq!(slice_of(&edited, 1), (id, state, vec![Value::Int(9)]));
        assert_eq!(slice_of(&edited, 2), slice_of(&monitor, 2));
        let edited = monitor
            .edited(id, &Edit::State(StateId(1)))
            .expect("a monitor");
        assert_eq!(slice_of(&edited, 1).1, StateId(1));
        assert!(
            monitor
                .edited(SliceId(77), &Edit::State(StateId(1)))
                .is_err()
        );
        assert!(monitor.edited(id, &Edit::State(StateId(7))).is_err());
        assert!(
            monitor
                .edited(id, &Edit::Variable(7, Value::Int(1)))
                .is_err()
        );
    }
}
