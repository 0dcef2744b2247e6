//! The beginning of a step: is the event needed, what are its values, which slot has its
//! keys, and what does the event do in the slot's state.

use super::assembler::{Assembler, Label, R, element};
use super::tail::{finish_ignored, finish_taken};
use super::terms::{self, Scope, Variables};
use super::{Event, Lowering};
use crate::behaviour::Behaviour;
use crate::lowering::{
    Alu, Base, Condition, EndKind, HeaderWord, JournalWord, Journaled, Layout, Op, SlotWord,
    Source, StripeWord, Why,
};
use juror_event::EventId;
use juror_language::StateId;
use std::ops::Range;

/// Lowers an event that binds all parameters.
pub(super) fn lower(
    lowering: &Lowering<'_>,
    event: &Event<'_>,
) -> Option<(Vec<Op>, Vec<Range<u32>>)> {
    let mut code = Assembler::default();
    let step = Step {
        lowering,
        event,
        layout: lowering.layout,
        ignored: code.label(),
    };
    step.test_needs(&mut code);
    test_numbers(&mut code);
    step.capture(&mut code);
    step.combine_guards(&mut code)?;
    step.lock(&mut code);
    step.find(&mut code);
    step.decide(&mut code)?;
    code.bind(step.ignored);
    finish_ignored(&mut code, lowering, event.id);
    code.finish()
}

/// Goes to a gate if the last numbers that the thread drew are near the end of their range.
/// They are in the thread's own journal: the word that is shared is not read before the
/// step changes it.
fn test_numbers(code: &mut Assembler) {
    code.load_journal(R[0], JournalWord::Drawn);
    code.gate_if(Condition::Less, R[0], 0, Why::Numbers);
}

/// An event that is being lowered.
pub(super) struct Step<'a> {
    pub lowering: &'a Lowering<'a>,
    pub event: &'a Event<'a>,
    pub layout: &'a Layout,
    /// The end of an event that does nothing.
    pub ignored: Label,
}

impl Step<'_> {
    /// Ends the step if no occupied state needs the event.
    fn test_needs(&self, code: &mut Assembler) {
        let needed = code.label();
        self.branch_occupied(code, &self.event.needing, needed);
        let unneeded = code.mark();
        code.push(Op::End(EndKind::Unneeded));
        code.unlikely_since(unneeded);
        code.bind(needed);
    }

    /// Goes to the label if one of the states, one bit each, is occupied.
    fn branch_occupied(&self, code: &mut Assembler, states: &[u64], label: Label) {
        for (offset, mask) in super::occupied_words(self.layout, states) {
            code.load(R[0], Base::Table, offset);
            match i32::try_from(mask) {
                Ok(mask) => code.branch(Condition::AnySet, R[0], mask, label),
                Err(_) => {
                    code.set(R[1], mask);
                    code.branch(Condition::AnySet, R[0], R[1], label);
                }
            }
        }
    }

    /// Writes the values of the event to the journal.
    fn capture(&self, code: &mut Assembler) {
        let absent = (0..)
            .zip(self.event.captures)
            .filter(|(_, it)| it.is_none());
        let absent = absent.fold(0_u64, |mask, (slot, _): (u32, _)| mask | 1 << (slot & 63));
        if !self.event.is_complete() {
            code.set(R[2], absent);
        }
        for (slot, _) in (0..)
            .zip(self.event.captures)
            .filter(|(_, it)| it.is_some())
        {
            self.capture_one(code, slot);
        }
        if !self.event.is_complete() {
            code.store_journal(R[2], JournalWord::Absent);
        }
        let source = Source::Address;
        code.push(Op::Capture { to: R[0], source });
        code.store_journal(R[0], JournalWord::Address);
    }

    /// Captures one value, if it is needed; register 2 has the absent ones.
    fn capture_one(&self, code: &mut Assembler, slot: u32) {
        let (made, end) = (code.label(), code.label());
        let hoisted = self.event.hoisted >> (slot & 63) & 1 == 1;
        if hoisted {
            let needing = self.event.needing_capture(slot);
            self.branch_occupied(code, needing, made);
            code.set(R[0], 1 << (slot & 63));
            code.alu(Alu::Or, R[2], R[0]);
            code.jump(end);
            code.bind(made);
        }
        let source = Source::Capture(slot as u8);
        code.push(Op::Capture { to: R[0], source });
        code.store(R[0], Base::Journal, self.layout.journal_value(slot));
        code.bind(end);
    }

    /// Computes which effects of a formula take place: the offset of the row, in states,
    /// is kept in [`JournalWord::Transition`].
    fn combine_guards(&self, code: &mut Assembler) -> Option<()> {
        let Behaviour::Logic(states) = self.lowering.behaviour else {
            return Some(());
        };
        let scope = Scope {
            layout: self.layout,
            captures: self.event.captures,
            hoisted: self.event.hoisted,
            variables: Variables::Constant(states.effects.variables()),
        };
        code.store_journal(0, JournalWord::Transition);
        for (number, (_, guard)) in (0_u32..).zip(states.effects.guards(self.event.id)) {
            let over = code.label();
            terms::condition(code, scope, guard?, over)?;
            let rows = i32::try_from(self.layout.sizes.states << number).ok()?;
            let row = (Base::Journal, JournalWord::Transition.offset(), None);
            code.add_at(row, rows, R[1]);
            code.bind(over);
        }
        Some(())
    }

    /// Locks the stripe of the keys, whose hash is then in register 1.
    fn lock(&self, code: &mut Assembler) {
        if self.event.keys.is_empty() {
            code.set(R[2], u64::from(self.layout.stripes));
        } else {
            code.set(R[1], 0);
            for slot in self.event.keys {
                code.load(
                    R[0],
                    Base::Journal,
                    self.layout.journal_value((*slot).into()),
                );
                // Keys from 2^63 on, and negative numbers, are not their own words.
                code.gate_if(Condition::Less, R[0], 0, Why::Value);
                code.push(Op::Hash {
                    to: R[1],
                    word: R[0],
                });
            }
            code.alu(Alu::Move, R[2], R[1]);
            code.alu(Alu::ShiftRight, R[2], 32);
            code.alu(Alu::And, R[2], self.layout.sizes.stripes as i32 - 1);
            let (shift, start) = (self.layout.stripe_shift, self.layout.stripes);
            element(code, R[2], shift, start);
        }
        code.push(Op::Point {
            base: Base::Stripe,
            at: R[2],
        });
        code.push(Op::Lock {
            base: Base::Stripe,
            offset: StripeWord::Lock.offset(),
        });
    }

    /// Finds the slot of the keys, or writes what a new slice inherits to an empty slot.
    fn find(&self, code: &mut Assembler) {
        if self.event.keys.is_empty() {
            code.set(R[2], u64::from(self.layout.base));
            self.point_at_slot(code);
            return;
        }
        let (found, empty) = (code.label(), code.label());
        self.search(code, found, empty);
        let birth = code.mark();
        code.bind(empty);
        self.prepare_birth(code);
        code.unlikely_since(birth);
        code.bind(found);
    }

    /// Sets the slot, whose offset is in register 2.
    fn point_at_slot(&self, code: &mut Assembler) {
        code.push(Op::Point {
            base: Base::Slot,
            at: R[2],
        });
        code.store_journal(R[2], JournalWord::Slot);
    }

    /// Searches the stripe from the hash in register 1 on.
    fn search(&self, code: &mut Assembler, found: Label, empty: Label) {
        let (next, each) = (code.label(), code.label());
        let mask = StripeWord::Mask.offset();
        code.load(R[3], Base::Stripe, mask);
        code.alu(Alu::And, R[1], R[3]);
        code.bind(each);
        code.alu(Alu::Move, R[2], R[1]);
        code.alu(Alu::ShiftLeft, R[2], i32::from(self.layout.slot_shift));
        code.load(R[3], Base::Stripe, StripeWord::Slots.offset());
        code.alu(Alu::Add, R[2], R[3]);
        self.point_at_slot(code);
        code.load_slot(R[2], SlotWord::Id);
        code.branch(Condition::Equal, R[2], 0, empty);
        // `Layout::GONE`.
        code.branch(Condition::Equal, R[2], -1, next);
        for (parameter, slot) in (0..).zip(self.event.keys) {
            code.load(R[2], Base::Slot, self.layout.key(parameter));
            code.load(
                R[3],
                Base::Journal,
                self.layout.journal_value((*slot).into()),
            );
            code.branch(Condition::NotEqual, R[2], R[3], next);
        }
        code.jump(found);
        let collision = code.mark();
        code.bind(next);
        code.alu(Alu::Add, R[1], 1);
        code.load(R[3], Base::Stripe, mask);
        code.alu(Alu::And, R[1], R[3]);
        code.again(each);
        code.unlikely_since(collision);
    }

    /// Copies the base to the empty slot, whose `Id` stays 0.
    fn prepare_birth(&self, code: &mut Assembler) {
        let layout = self.layout;
        let constraint = &self.lowering.plan.constraint;
        for (a, b) in constraint.differing() {
            let key = |parameter: usize| self.event.keys.get(parameter).copied().unwrap_or(0);
            code.load(R[2], Base::Journal, layout.journal_value(key(a).into()));
            code.load(R[3], Base::Journal, layout.journal_value(key(b).into()));
            code.branch(Condition::Equal, R[2], R[3], self.ignored);
        }
        if !constraint.only_differs() {
            code.push(Op::Gate(Why::Constraint));
            return;
        }
        code.load(R[2], Base::Stripe, StripeWord::Used.offset());
        code.load(R[3], Base::Stripe, StripeWord::Limit.offset());
        code.gate_if(Condition::AboveEqual, R[2], R[3], Why::Full);
        let variables = (0..layout.sizes.variables).map(|it| layout.variable(it));
        for offset in [SlotWord::Last.offset()].into_iter().chain(variables) {
            code.load(R[2], Base::Table, layout.base + offset);
            code.store(R[2], Base::Slot, offset);
        }
        for (parameter, slot) in (0..).zip(self.event.keys) {
            code.load(R[2], Base::Journal, layout.journal_value((*slot).into()));
            code.store(R[2], Base::Slot, layout.key(parameter));
        }
    }

    /// Looks up what the event does in the slot's state, and goes on accordingly.
    fn decide(&self, code: &mut Assembler) -> Option<()> {
        let row = self.layout.row(self.event.id.0, 0)?;
        let guarded = code.label();
        code.load_slot(R[0], SlotWord::Last);
        if self.layout.sizes.variables > 0 {
            // Updates leave no value that is not a word.
            code.gate_if(
                Condition::AnySet,
                R[0],
                Layout::HAS_OTHERS as i32,
                Why::Value,
            );
        }
        code.alu(Alu::And, R[0], Layout::STATE as i32);
        code.alu(Alu::Move, R[2], R[0]);
        if matches!(self.lowering.behaviour, Behaviour::Logic(_)) {
            code.load_journal(R[3], JournalWord::Transition);
            code.alu(Alu::Add, R[2], R[3]);
        }
        code.load_at(R[1], Base::Table, row, Some(R[2]));
        let flag = |flag: u64| flag as i32;
        code.branch(Condition::AnySet, R[1], flag(Layout::IGNORED), self.ignored);
        if !self.event.guarded.is_empty() {
            code.branch(Condition::AnySet, R[1], flag(Layout::GUARDED), guarded);
        }
        for why in &self.event.gates {
            let word = flag(Layout::GATE | *why as u64);
            code.gate_if(Condition::Equal, R[1], word, *why);
        }
        self.drop_gate(code);
        finish_taken(code, self.lowering, self.event, Journaled::State);
        if !self.event.guarded.is_empty() {
            code.bind(guarded);
            self.guarded(code)?;
        }
        Some(())
    }

    /// Gates if a formula's slice has come to equal the base; its next state is in
    /// register 1.
    fn drop_gate(&self, code: &mut Assembler) {
        if self.lowering.behaviour.drops() && !self.event.keys.is_empty() {
            let last = self.layout.base + SlotWord::Last.offset();
            code.load(R[2], Base::Table, last);
            code.alu(Alu::And, R[2], Layout::STATE as i32);
            code.gate_if(Condition::Equal, R[1], R[2], Why::Drop);
        }
    }
}

/// Returns the word of a row.
pub(super) fn row_word(lowering: &Lowering<'_>, event: EventId, row: u32, state: StateId) -> u64 {
    let gate = |why: Why| Layout::GATE | why as u64;
    let quiet = |target: StateId| {
        if lowering.is_quiet(state, target) {
            u64::from(target.0)
        } else {
            gate(Why::Verdict)
        }
    };
    let word = match lowering.behaviour {
        Behaviour::Automaton(automaton) => {
            use crate::automaton::Taken;
            match automaton.direct(state, event) {
                Some(Taken::Ignored) => Layout::IGNORED,
                _ if automaton.has_twins(state, event) => gate(Why::Twin),
                Some(Taken::Goes(target) | Taken::Updates(target)) => quiet(target),
                None => Layout::GUARDED,
            }
        }
        Behaviour::Logic(states) => {
            let guards = (0_u32..).zip(states.effects.guards(event));
            let held = guards.filter(|(number, _)| row >> number & 1 == 1);
            let effects = held.fold(states.effects.unguarded(event), |all, (_, (bit, _))| {
                all | bit
            });
            let action = states.known_action(event, effects).filter(|_| effects != 0);
            match action.and_then(|action| states.known_step(state, action)) {
                Some(next) if next != state => quiet(next),
                Some(_) => Layout::IGNORED,
                None if effects == 0 => Layout::IGNORED,
                None => gate(Why::Term),
            }
        }
        Behaviour::Timed(_) => gate(Why::Term),
    };
    let is_heard = lowering.listening >> (event.0 & 63) & 1 == 1;
    if is_heard && word != Layout::IGNORED {
        gate(Why::Scenario)
    } else {
        word
    }
}

/// Returns the word of the header.
pub(super) fn header(code: &mut Assembler, to: crate::lowering::Register, word: HeaderWord) {
    code.load(to, Base::Table, word.offset());
}
