//! The end of a step: the commit, and what follows it.
//!
//! The state before is in register 0, the state after in register 1. Registers 2 and 3
//! hold the identifier of the slice and what is locked and born; 4 and 5 are scratch.
//!
//! A slice is counted in its new state before it leaves the count of the old one. A
//! thread that asks meanwhile which events are needed, without a lock, finds what one of
//! the two states needs; in the other order it might find an event unneeded that is
//! needed before and after.

use super::assembler::{Assembler, R, element, stripe_state};
use super::events::header;
use super::{Event, Lowering};
use crate::lowering::{
    Alu, Base, Condition, EndKind, HeaderWord, JournalWord, Journaled, Layout, Op, RecordWord,
    Register, SlotWord, StripeWord,
};
use juror_event::EventId;

/// Register 3: the lock of the table is held.
const LOCKED: i32 = 1;
/// Register 3: it is held, and the slice is new.
const BORN: i32 = 3;

/// Ends an event that changes nothing.
pub(super) fn finish_ignored(code: &mut Assembler, lowering: &Lowering<'_>, event: EventId) {
    code.push(Op::Commit(Journaled::Nothing));
    draw(code, lowering.layout, Layout::EVENT_DRAWN);
    let count = (Base::Stripe, lowering.layout.occurrences(event.0), None);
    code.add_at(count, 1, R[4]);
    code.push(Op::Done);
    unlock_stripe(code);
    code.push(Op::End(EndKind::Ignored));
}

/// Ends an event that takes a slice from the state in register 0 to that in register 1.
pub(super) fn finish_taken(
    code: &mut Assembler,
    lowering: &Lowering<'_>,
    event: &Event<'_>,
    journaled: Journaled,
) {
    let layout = lowering.layout;
    code.load_slot(R[2], SlotWord::Id);
    code.set(R[3], 0);
    code.store_journal(0, JournalWord::Born);
    if layout.sizes.parameters > 0 {
        lock_table(code, layout);
    }
    write_journal(code, layout, event.id);
    code.push(Op::Commit(journaled));
    if layout.sizes.records > 0 {
        draw(code, layout, Layout::RECORD_DRAWN);
        write_record(code, layout, event);
    } else {
        draw(code, layout, Layout::EVENT_DRAWN);
    }
    write_slot(code, layout, journaled);
    // The sum is in the journal, so that a redo does not count twice.
    code.load_journal(R[4], JournalWord::Occurrences);
    code.store(R[4], Base::Stripe, layout.occurrences(event.id.0));
    match layout.sizes.parameters {
        0 => count_base(code, layout),
        _ => count_slice(code, layout),
    }
    code.push(Op::Done);
    if layout.sizes.parameters > 0 {
        let held = code.label();
        code.branch(Condition::Equal, R[3], 0, held);
        let unlock = code.mark();
        code.push(Op::Unlock {
            base: Base::Table,
            offset: HeaderWord::Lock.offset(),
        });
        code.unlikely_since(unlock);
        code.bind(held);
    }
    unlock_stripe(code);
    code.push(Op::End(EndKind::Taken));
}

fn unlock_stripe(code: &mut Assembler) {
    code.push(Op::Unlock {
        base: Base::Stripe,
        offset: StripeWord::Lock.offset(),
    });
}

/// Locks the table if the slice is new, or a count of the stripe leaves or reaches 0.
fn lock_table(code: &mut Assembler, layout: &Layout) {
    let (lock, end, born) = (code.label(), code.label(), code.label());
    let (base, offset, _) = stripe_state(layout, R[0]);
    code.branch(Condition::Equal, R[2], 0, lock);
    code.branch(Condition::Equal, R[0], R[1], end);
    code.load_at(R[4], base, offset, Some(R[0]));
    code.branch(Condition::Equal, R[4], 1, lock);
    code.load_at(R[4], base, offset, Some(R[1]));
    code.branch(Condition::NotEqual, R[4], 0, end);
    let locking = code.mark();
    code.bind(lock);
    code.push(Op::Lock {
        base: Base::Table,
        offset: HeaderWord::Lock.offset(),
    });
    code.set(R[3], LOCKED as u64);
    code.branch(Condition::NotEqual, R[2], 0, end);
    code.set(R[3], BORN as u64);
    code.store_journal(1, JournalWord::Born);
    // The identifier of the next slice.
    header(code, R[4], HeaderWord::FreeCount);
    header(code, R[2], HeaderWord::Places);
    code.branch(Condition::Equal, R[4], 0, born);
    header(code, R[2], HeaderWord::Free);
    code.alu(Alu::Subtract, R[4], 1);
    code.alu(Alu::ShiftLeft, R[4], 3);
    code.alu(Alu::Add, R[2], R[4]);
    code.push(Op::Point {
        base: Base::Record,
        at: R[2],
    });
    code.load(R[2], Base::Record, 0);
    code.bind(born);
    code.unlikely_since(locking);
    code.bind(end);
}

/// Writes what a redo needs, except for variables and values, which are there.
fn write_journal(code: &mut Assembler, layout: &Layout, event: EventId) {
    code.store_journal(R[2], JournalWord::Id);
    code.load_slot(R[4], SlotWord::Last);
    code.store_journal(R[4], JournalWord::Previous);
    code.alu(Alu::Move, R[4], R[0]);
    code.alu(Alu::ShiftLeft, R[4], 16);
    code.alu(Alu::Or, R[4], R[1]);
    if event.0 > 0 {
        code.set(R[5], JournalWord::transition(event.0, 0, 0));
        code.alu(Alu::Or, R[4], R[5]);
    }
    code.store_journal(R[4], JournalWord::Transition);
    code.load(R[4], Base::Stripe, layout.occurrences(event.0));
    code.alu(Alu::Add, R[4], 1);
    code.store_journal(R[4], JournalWord::Occurrences);
    code.store_journal(0, JournalWord::Drawn);
}

/// Draws the number of the event, or those of the event and its record: the word with them
/// is in register 4. It is atomic only where a step of another stripe may do the same.
fn draw(code: &mut Assembler, layout: &Layout, add: u64) {
    let offset = HeaderWord::Drawn.offset();
    if layout.has_one_lock() {
        code.load(R[4], Base::Table, offset);
    } else {
        code.push(Op::Xadd {
            to: R[4],
            base: Base::Table,
            offset,
            add: add as i64,
        });
    }
    code.set(R[5], add);
    code.alu(Alu::Add, R[4], R[5]);
    if layout.has_one_lock() {
        code.store(R[4], Base::Table, offset);
    }
    code.store_journal(R[4], JournalWord::Drawn);
}

/// Writes the record whose numbers are in register 4. The slot has its number, and the
/// state, from now on.
fn write_record(code: &mut Assembler, layout: &Layout, event: &Event<'_>) {
    // The lower half counts the record itself.
    code.alu(Alu::ShiftLeft, R[4], 32);
    code.alu(Alu::ShiftRight, R[4], 32);
    header(code, R[5], HeaderWord::RecordsBefore);
    code.alu(Alu::Add, R[4], R[5]);
    code.alu(Alu::Subtract, R[4], 1);
    code.alu(Alu::Move, R[5], R[4]);
    code.alu(Alu::ShiftLeft, R[5], Layout::RECORD_SHIFT as i32);
    code.alu(Alu::Or, R[5], R[1]);
    code.store(R[5], Base::Slot, SlotWord::Last.offset());
    code.alu(Alu::And, R[4], layout.ring_mask as i32);
    element(code, R[4], layout.record_shift, layout.ring);
    code.push(Op::Point {
        base: Base::Record,
        at: R[4],
    });
    let store = |code: &mut Assembler, from: Register, word: RecordWord| {
        code.store(from, Base::Record, word.offset());
    };
    code.load_journal(R[4], JournalWord::Drawn);
    code.alu(Alu::ShiftRight, R[4], 32);
    header(code, R[5], HeaderWord::EventsBefore);
    code.alu(Alu::Add, R[4], R[5]);
    store(code, R[4], RecordWord::Sequence);
    write_transition(code, layout, event);
    for (from, to) in [
        (JournalWord::Previous, RecordWord::Previous),
        (JournalWord::Address, RecordWord::Address),
    ] {
        code.load_journal(R[4], from);
        store(code, R[4], to);
    }
    let captured = (0..).zip(event.captures).filter(|(_, it)| it.is_some());
    for (slot, _) in captured {
        code.load(R[4], Base::Journal, layout.journal_value(slot));
        code.store(R[4], Base::Record, layout.record_value(slot));
    }
    code.load_slot(R[4], SlotWord::Last);
    code.alu(Alu::ShiftRight, R[4], Layout::RECORD_SHIFT as i32);
    code.alu(Alu::Add, R[4], 1);
    code.alu(Alu::ShiftLeft, R[4], 32);
    code.load_journal(R[5], JournalWord::Thread);
    code.alu(Alu::Or, R[4], R[5]);
    store(code, R[4], RecordWord::Owner);
}

/// Writes the transition of a record, and which of its values were not captured.
fn write_transition(code: &mut Assembler, layout: &Layout, event: &Event<'_>) {
    let store = |code: &mut Assembler, from: Register, word: RecordWord| {
        code.store(from, Base::Record, word.offset());
    };
    code.load_journal(R[4], JournalWord::Transition);
    if !layout.has_packed_masks() {
        store(code, R[4], RecordWord::Transition);
        code.set(R[4], 0);
        if !event.is_complete() {
            code.load_journal(R[4], JournalWord::Absent);
        }
        store(code, R[4], RecordWord::Absent);
        code.store(0, Base::Record, RecordWord::Others.offset());
        return;
    }
    if !event.is_complete() {
        code.load_journal(R[5], JournalWord::Absent);
        code.alu(Alu::ShiftLeft, R[5], Layout::ABSENT_SHIFT as i32);
        code.alu(Alu::Or, R[4], R[5]);
    }
    store(code, R[4], RecordWord::Transition);
}

fn write_slot(code: &mut Assembler, layout: &Layout, journaled: Journaled) {
    if layout.sizes.records == 0 {
        // No number of a record.
        code.alu(Alu::Move, R[4], R[1]);
        code.alu(Alu::Or, R[4], -1 << Layout::RECORD_SHIFT);
        code.store(R[4], Base::Slot, SlotWord::Last.offset());
    }
    if journaled == Journaled::Variables {
        for variable in 0..layout.sizes.variables {
            code.load(R[4], Base::Journal, layout.journal_variable(variable));
            code.store(R[4], Base::Slot, layout.variable(variable));
        }
    }
}

/// Changes the bit of the only slice.
fn count_base(code: &mut Assembler, layout: &Layout) {
    let end = code.label();
    code.branch(Condition::Equal, R[0], R[1], end);
    flip(code, layout, R[1]);
    flip(code, layout, R[0]);
    code.bind(end);
}

/// Inverts the bit of a state. The identifier in register 2 is stored by now.
fn flip(code: &mut Assembler, layout: &Layout, state: Register) {
    code.load_at(R[4], Base::Table, layout.state_bit, Some(state));
    let word = (layout.sizes.states > 64).then(|| {
        code.alu(Alu::Move, R[5], state);
        code.alu(Alu::ShiftRight, R[5], 6);
        R[5]
    });
    code.load_at(R[2], Base::Table, layout.bits, word);
    code.alu(Alu::Xor, R[2], R[4]);
    code.store_at(R[2], Base::Table, layout.bits, word);
}

/// Counts the slice in its new state, and no longer in the old one.
fn count_slice(code: &mut Assembler, layout: &Layout) {
    let (end, moves) = (code.label(), code.label());
    code.branch(Condition::NotEqual, R[3], BORN, moves);
    let birth = code.mark();
    // The store that makes the slot one of a slice.
    code.store(R[2], Base::Slot, SlotWord::Id.offset());
    count_birth(code);
    count(code, layout, R[1], (1, 1));
    code.jump(end);
    code.unlikely_since(birth);
    code.bind(moves);
    code.branch(Condition::Equal, R[0], R[1], end);
    count(code, layout, R[1], (1, 1));
    count(code, layout, R[0], (-1, 0));
    code.bind(end);
}

/// Adds `step` to the count of a state in the stripe; if the sum is `edge`, does the
/// same in the table, whose lock is then held.
fn count(code: &mut Assembler, layout: &Layout, state: Register, (step, edge): (i32, i32)) {
    let end = code.label();
    code.add_at(stripe_state(layout, state), step, R[4]);
    code.branch(Condition::NotEqual, R[4], edge, end);
    let at_edge = code.mark();
    code.add_at((Base::Table, layout.occupied, Some(state)), step, R[4]);
    code.branch(Condition::NotEqual, R[4], edge, end);
    flip(code, layout, state);
    code.unlikely_since(at_edge);
    code.bind(end);
}

/// Counts a new slice, and takes its place.
fn count_birth(code: &mut Assembler) {
    let at = |word: HeaderWord| (Base::Table, word.offset(), None);
    let (fresh, peak, end) = (code.label(), code.label(), code.label());
    let used = (Base::Stripe, StripeWord::Used.offset(), None);
    code.add_at(used, 1, R[4]);
    header(code, R[4], HeaderWord::FreeCount);
    code.branch(Condition::Equal, R[4], 0, fresh);
    code.add_at(at(HeaderWord::FreeCount), -1, R[4]);
    code.jump(peak);
    code.bind(fresh);
    code.add_at(at(HeaderWord::Places), 1, R[4]);
    code.bind(peak);
    code.add_at(at(HeaderWord::Live), 1, R[4]);
    header(code, R[5], HeaderWord::Peak);
    code.branch(Condition::AboveEqual, R[5], R[4], end);
    code.store(R[4], Base::Table, HeaderWord::Peak.offset());
    code.bind(end);
}
