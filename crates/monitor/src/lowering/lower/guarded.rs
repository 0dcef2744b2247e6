//! States in which guards or updates are evaluated.

use super::assembler::{Assembler, Label, R};
use super::events::Step;
use super::tail::finish_taken;
use super::terms::{self, Scope, Variables};
use crate::behaviour::Behaviour;
use crate::lowering::{Condition, Journaled, Op, Why};
use juror_language::{Branch, FlatUpdates, StateId};

impl Step<'_> {
    /// Evaluates guards and updates of the state in register 0.
    pub(super) fn guarded(&self, code: &mut Assembler) -> Option<()> {
        let (state_end, update_end) = (code.label(), code.label());
        let mut ends = Ends {
            state: (state_end, false),
            update: (update_end, false),
        };
        // The row says that the state is in the list, so the last one is not compared.
        if let Some((last, others)) = self.event.guarded.split_last() {
            for &state in others {
                let next = code.label();
                let number = i32::try_from(state.0).ok()?;
                code.branch(Condition::NotEqual, R[0], number, next);
                self.alternatives(code, state, &mut ends)?;
                code.bind(next);
            }
            self.alternatives(code, *last, &mut ends)?;
        }
        if ends.state.1 {
            code.bind(state_end);
            finish_taken(code, self.lowering, self.event, Journaled::State);
        }
        if ends.update.1 {
            code.bind(update_end);
            finish_taken(code, self.lowering, self.event, Journaled::Variables);
        }
        Some(())
    }

    /// Tries the transitions of a state in order.
    fn alternatives(&self, code: &mut Assembler, state: StateId, ends: &mut Ends) -> Option<()> {
        let Behaviour::Automaton(automaton) = self.lowering.behaviour else {
            return None;
        };
        let scope = self.scope();
        for it in automaton.alternatives(state, self.event.id) {
            let Some(_) = &it.transition.guard else {
                let branch = (&it.transition.success, it.success);
                self.take(code, state, branch, ends);
                return Some(());
            };
            let mark = code.mark();
            let has_failed = code.label();
            let guard = terms::flat_guard(&it);
            let of_guard =
                guard.and_then(|guard| terms::condition(code, scope, &guard, has_failed));
            if of_guard.is_none() {
                code.reset(mark);
                code.push(Op::Gate(Why::Term));
                return Some(());
            }
            self.take(code, state, (&it.transition.success, it.success), ends);
            code.bind(has_failed);
            if let Some(failure) = &it.transition.failure {
                self.take(code, state, (failure, it.failure), ends);
                return Some(());
            }
        }
        code.jump(self.ignored);
        Some(())
    }

    fn scope(&self) -> Scope<'_> {
        Scope {
            layout: self.layout,
            captures: self.event.captures,
            hoisted: self.event.hoisted,
            variables: Variables::OfSlot(self.lowering.kinds),
        }
    }

    /// Takes a branch from a state: never falls through.
    fn take(
        &self,
        code: &mut Assembler,
        state: StateId,
        (branch, flat): (&Branch, Option<&FlatUpdates>),
        ends: &mut Ends,
    ) {
        let target = branch.target;
        if !self.lowering.is_quiet(state, target) {
            let gate = code.mark();
            code.push(Op::Gate(Why::Verdict));
            code.unlikely_since(gate);
            return;
        }
        let end = if branch.updates.is_empty() {
            &mut ends.state
        } else {
            let mark = code.mark();
            let flat = terms::flat_updates(branch, flat);
            let done = flat.and_then(|flat| terms::updates(code, self.scope(), &flat));
            if done.is_none() {
                code.reset(mark);
                code.push(Op::Gate(Why::Term));
                return;
            }
            &mut ends.update
        };
        end.1 = true;
        let label = end.0;
        code.set(R[0], state.0.into());
        code.set(R[1], target.0.into());
        code.jump(label);
    }
}

/// The ends of guarded steps, and whether they are used.
struct Ends {
    state: (Label, bool),
    update: (Label, bool),
}
