//! Events after calls: a caller, a patched function and a patched return site.

use super::lab::*;
use super::*;
use crate::head::{BranchTargets, Site, Text};
use crate::lead_out::{LeadOut, Registers};
use crate::punning;
use crate::toy::Flags;
use juror_monitor::lowering::{
    EventWordsSource, Lowered, Options, Running, Source, WordMonitor, lower,
};
use juror_monitor::{Monitor, lowering::Progress};
use std::sync::Arc;

const CALLER: u64 = 0x5555_0000_3000;
const SITE: u64 = CALLER + 5;
const END: u64 = SITE + 8;
const RETURN_AT: u64 = 0x5555_1100_0000;
const CALLS: u64 = 0x6200_0000_0000;
const EVENT: u32 = 77;

/// mov eax, 7; ret
const FUNCTION: [u8; 6] = [0xb8, 7, 0, 0, 0, 0xc3];
/// mov rbx, rax; add rbx, 1; nop
const AFTER_CALL: [u8; 9] = [0x48, 0x89, 0xc3, 0x48, 0x83, 0xc3, 0x01, 0x90, 0x90];

const AFTER: &str = "property after
slice on key
event done = after f(key: address = arg 1) returns result: int
event other = before g(key: address = arg 1)
var total = 0
state start accepting {
    on done when result > 3 { total = total + result } -> start
    on other -> start
}
";

struct Calls {
    entry: Stub,
    site: Stub,
    lowered: Lowered,
    table: Vec<u64>,
}

fn head(address: u64, code: &[u8], place: Place) -> Head {
    let text = Text {
        address,
        bytes: code,
    };
    let site = Site {
        address,
        end: address + code.len() as u64,
        place,
        branches: &BranchTargets::of(text),
        shadow_stack: false,
    };
    Head::at(text, site).unwrap()
}

/// The captures that the entry keeps.
fn kept_words() -> EventWords {
    EventWords {
        captures: vec![register(7, 8, WordKind::Address), None],
    }
}

/// The captures of the event.
fn after_words() -> EventWords {
    let kept = WordCapture {
        origin: Origin::Begun,
        reads: Vec::new(),
        bytes: 8,
        kind: WordKind::Address,
    };
    EventWords {
        captures: vec![Some(kept), register(0, 4, WordKind::Signed)],
    }
}

impl Calls {
    fn new() -> Calls {
        Calls::reading(&[])
    }

    /// The calls of a function whose argument is followed at the return.
    fn reading(reads: &[i32]) -> Calls {
        let lowered = lower_after();
        let monitor = WordMonitor::new(lowered.clone(), Vec::new()).unwrap();
        let (kept, mut words) = (kept_words(), after_words());
        if let Some(Some(key)) = words.captures.first_mut() {
            key.reads = reads.to_vec();
        }
        let call = Call {
            event: EVENT,
            begun: 1,
        };
        let section = |action| Section {
            program: &lowered.program().steps[0],
            words: match action {
                Action::Begin(_) => &kept,
                _ => &words,
            },
            table: TABLE,
            journal: 32,
            action,
        };
        let region = Region {
            gate: GATE_AT,
            armed: ARMED_AT,
            pending: PENDING,
            pending_end: PENDING_END,
            attempts: 3,
        };
        let function = head(ENTRY, &FUNCTION, Place::Entry);
        let begin = [section(Action::Begin(call))];
        let entry = draft(&function, Place::Entry, &begin, region).unwrap();
        let after = head(SITE, &AFTER_CALL, Place::ReturnSite);
        let end = [section(Action::Return(call))];
        let site = draft(&after, Place::ReturnSite, &end, region).unwrap();
        Calls {
            entry: entry.place(&function, STUB).unwrap(),
            site: site.place(&after, RETURN_AT).unwrap(),
            table: monitor.memory().clone(),
            lowered,
        }
    }

    /// Returns a thread before the call, in the patched program or in the original.
    fn thread(&self, is_patched: bool) -> Machine {
        let mut machine = Machine::default();
        let distance = (ENTRY as i64 - SITE as i64) as i32;
        machine.put(CALLER, &[0xe8]);
        machine.put(CALLER + 1, &distance.to_le_bytes());
        machine.put(SITE, &AFTER_CALL);
        machine.put(ENTRY, &FUNCTION);
        if is_patched {
            machine.put(ENTRY, &punning::Form::default().code(ENTRY, STUB).unwrap());
            machine.put(
                SITE,
                &punning::Form::default().code(SITE, RETURN_AT).unwrap(),
            );
        }
        machine.put(STUB, &self.entry.bytes);
        machine.put(RETURN_AT, &self.site.bytes);
        machine.put(GATE_AT, &GATE);
        machine.map(THREAD, 4096);
        machine.map(CALLS, 4096);
        machine.map(STACK - 0x1000, 0x2000);
        machine.put(HEAP, &(HEAP + 64).to_le_bytes());
        machine.put(HEAP + 72, &HEAP.to_le_bytes());
        machine.gs = THREAD;
        machine
            .store(
                THREAD + u64::from(ARMED_AT),
                4,
                u64::from(crate::emit::ARMED),
            )
            .unwrap();
        self.set_pending(&mut machine, 0);
        machine
            .store(THREAD + u64::from(PENDING_END), 8, CALLS + 1024)
            .unwrap();
        let layout = &self.lowered.program().layout;
        let journal = TABLE + layout.journal(JOURNAL);
        machine.store(THREAD + 32, 8, journal).unwrap();
        let bytes: Vec<u8> = self
            .table
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        machine.put(TABLE, &bytes);
        for (number, place) in machine.registers.iter_mut().enumerate() {
            *place = 0x2222_2222_2222_2222u64.wrapping_mul(number as u64 + 1);
        }
        machine.registers[4] = STACK;
        machine.registers[7] = HEAP;
        machine.flags = Flags::combination(0x2b);
        machine.counter = CALLER;
        machine
    }

    /// Returns how many calls are pending.
    fn pending(&self, machine: &Machine) -> u64 {
        let end = machine.load(THREAD + u64::from(PENDING), 8).unwrap();
        (end - CALLS) / u64::from(PENDING_BYTES) - 1
    }

    fn set_pending(&self, machine: &mut Machine, calls: u64) {
        let end = CALLS + u64::from(PENDING_BYTES) * (1 + calls);
        machine.store(THREAD + u64::from(PENDING), 8, end).unwrap();
    }

    fn read_table(&self, machine: &Machine) -> Vec<u64> {
        let word = |at: usize| machine.load(TABLE + 8 * at as u64, 8).unwrap();
        (0..self.table.len()).map(word).collect()
    }

    /// Takes events as the interpreter does.
    fn expected(&self, events: usize) -> Vec<u64> {
        let mut memory = self.table.clone();
        for _ in 0..events {
            let layout = &self.lowered.program().layout;
            let mut running = Running::new(layout, JOURNAL);
            let program = &self.lowered.program().steps[0];
            while running.advance(program, &mut memory, &Values) == Progress::Goes {}
        }
        memory
    }

    fn run(&self, machine: &mut Machine) {
        for _ in 0..10_000 {
            if machine.counter == END || machine.counter == GATE_AT {
                return;
            }
            machine.step().unwrap();
        }
        panic!("the call does not end");
    }

    fn map_of(&self, counter: u64) -> Option<&StubMap> {
        [&self.entry.map, &self.site.map]
            .into_iter()
            .find(|map| map.contains(counter))
    }

    fn lead_out(&self, machine: &Machine) -> Option<LeadOut> {
        let mut registers = Registers {
            general: machine.registers,
            counter: machine.counter,
            flags: machine.flags.to_bits(),
        };
        if machine.counter == GATE_AT {
            registers = registers.before_gate();
        }
        let map = self.map_of(registers.counter)?;
        let read = |address: u64| machine.load(address, 8).ok();
        Some(map.lead_out(&registers, read).unwrap())
    }

    fn apply(&self, out: LeadOut, machine: &mut Machine) {
        for lock in out.release {
            machine.store(lock, 8, 0).unwrap();
        }
        if let Some(mut finish) = out.finish {
            let mut table = self.read_table(machine);
            let program = &self.lowered.program().steps[0];
            let ended = finish
                .running
                .lead_out(program, Phase::Committed, &mut table);
            assert!(ended.is_some());
            for (at, word) in table.iter().enumerate() {
                machine.store(TABLE + 8 * at as u64, 8, *word).unwrap();
            }
        }
        if out.ends_call {
            let pending = self.pending(machine);
            self.set_pending(machine, pending - 1);
        }
        machine.registers = out.registers.general;
        machine.counter = out.registers.counter;
        machine.flags = Flags::from_bits(out.registers.flags);
    }

    /// Checks the end of the call.
    fn check_end(&self, machine: &Machine, events: usize) {
        let mut original = self.thread(false);
        self.run(&mut original);
        assert_eq!(machine.registers, original.registers);
        assert_eq!(machine.flags, original.flags);
        assert_eq!(machine.counter, END);
        assert_eq!(self.pending(machine), 0);
        assert_eq!(self.read_table(machine), self.expected(events));
    }
}

fn lower_after() -> Lowered {
    let (mut properties, diagnostics) = juror_language::load(AFTER);
    assert_eq!(properties.len(), 1, "{diagnostics:#?}");
    let monitor = Monitor::with_history(Arc::new(properties.remove(0)), 4).unwrap();
    let key = EventWords {
        captures: vec![register(7, 8, WordKind::Address)],
    };
    let options = Options {
        stripes: 2,
        journals: 3,
        listening: 0,
    };
    let lowered = lower(&monitor, &[Ok(after_words()), Ok(key)], &options).unwrap();
    assert!(lowered.program().steps[0].why.is_none());
    lowered
}

struct Values;

impl EventWordsSource for Values {
    fn word(&self, source: Source) -> Option<u64> {
        Some(match source {
            Source::Capture(0) => HEAP,
            Source::Capture(_) => 7,
            Source::Address => SITE,
        })
    }
}

#[test]
fn an_event_after_a_call_has_arguments_and_result() {
    let calls = Calls::new();
    let mut thread = calls.thread(true);
    calls.run(&mut thread);
    calls.check_end(&thread, 1);
}

/// The entry keeps the pointer, and what it leads to is the key.
#[test]
fn an_argument_is_followed_at_the_return() {
    let calls = Calls::reading(&[0, 8]);
    let mut thread = calls.thread(true);
    // Nothing is there yet at the entry.
    thread.put(HEAP, &[0; 8]);
    while thread.counter != ENTRY {
        thread.step().unwrap();
    }
    while thread.counter != SITE {
        thread.step().unwrap();
    }
    thread.put(HEAP, &(HEAP + 64).to_le_bytes());
    calls.run(&mut thread);
    calls.check_end(&thread, 1);
    led_out_anywhere(&calls);
}

#[test]
fn a_return_site_is_known_behind_prefixes() {
    let calls = Calls::new();
    for prefixes in 1..=2 {
        let mut thread = calls.thread(true);
        let jump = SITE + prefixes;
        let code = punning::Form::default().code(jump, RETURN_AT).unwrap();
        thread.put(SITE, &[0x2e, 0x2e]);
        thread.put(jump, &code);
        calls.run(&mut thread);
        calls.check_end(&thread, 1);
    }
}

#[test]
fn led_out_anywhere_a_call_goes_on() {
    led_out_anywhere(&Calls::new());
}

fn led_out_anywhere(calls: &Calls) {
    let mut thread = calls.thread(true);
    let mut places = 0;
    while thread.counter != END {
        if let Some(out) = calls.lead_out(&thread) {
            let mut led_out = thread.clone();
            calls.apply(out, &mut led_out);
            calls.run(&mut led_out);
            calls.check_end(&led_out, 1);
            places += 1;
        }
        thread.step().unwrap();
    }
    assert!(places > 100, "{places}");
}

#[test]
fn calls_with_one_frame_end_at_one_return() {
    let calls = Calls::new();
    let mut thread = calls.thread(true);
    while thread.counter != SITE {
        thread.step().unwrap();
    }
    // As if the function had been entered by a tail call.
    let first = CALLS + u64::from(PENDING_BYTES);
    let record = thread.bytes(first, PENDING_BYTES.into());
    thread.put(first + u64::from(PENDING_BYTES), &record);
    calls.set_pending(&mut thread, 2);
    while thread.counter != END {
        let mut led_out = thread.clone();
        if let Some(out) = calls.lead_out(&thread) {
            calls.apply(out, &mut led_out);
        }
        calls.run(&mut led_out);
        calls.check_end(&led_out, 2);
        thread.step().unwrap();
    }
}

#[test]
fn a_return_without_a_pending_call_is_none() {
    let calls = Calls::new();
    let mut thread = calls.thread(true);
    while thread.counter != SITE {
        thread.step().unwrap();
    }
    calls.set_pending(&mut thread, 0);
    calls.run(&mut thread);
    calls.check_end(&thread, 0);
}

/// Runs to the gate and returns why; the thread is then led out.
fn leaves(calls: &Calls, mut thread: Machine) -> (Leave, u64) {
    calls.run(&mut thread);
    assert_eq!(thread.counter, GATE_AT);
    let from = thread.registers[0];
    let leave = calls.map_of(from).unwrap().leave(from);
    let out = calls.lead_out(&thread).unwrap();
    assert!(out.finish.is_none() && !out.ends_call);
    passes_unattended(calls, thread);
    (leave, out.registers.counter)
}

/// If juror is gone, a thread goes on behind the gate as if there were no stub.
fn passes_unattended(calls: &Calls, mut thread: Machine) {
    let mut original = thread.clone();
    let out = calls.lead_out(&thread).unwrap();
    let table = calls.read_table(&thread);
    calls.apply(out, &mut original);
    original.put(ENTRY, &FUNCTION);
    let jump = punning::Form::default().code(SITE, RETURN_AT).unwrap();
    if original.bytes(SITE, jump.len() as u64) == jump {
        original.put(SITE, &AFTER_CALL);
    }
    calls.run(&mut original);
    while thread.counter == GATE_AT {
        thread.step().unwrap();
        calls.run(&mut thread);
    }
    assert_eq!(thread.counter, END);
    assert_eq!(thread.registers, original.registers);
    assert_eq!(thread.flags, original.flags);
    assert_eq!(calls.read_table(&thread), table);
}

#[test]
fn an_unknown_return_site_is_a_gate() {
    let calls = Calls::new();
    let mut thread = calls.thread(true);
    thread.put(SITE, &AFTER_CALL);
    assert_eq!(leaves(&calls, thread.clone()), (Leave::ReturnSite, ENTRY));
    // A jump of the program to something else.
    thread.put(SITE, &[0xe9, 3, 0, 0, 0]);
    assert_eq!(leaves(&calls, thread), (Leave::ReturnSite, ENTRY));
}

#[test]
fn too_many_calls_and_other_stacks_are_gates() {
    let calls = Calls::new();
    let mut thread = calls.thread(true);
    thread
        .store(THREAD + u64::from(PENDING_END), 8, CALLS + 128)
        .unwrap();
    assert_eq!(leaves(&calls, thread), (Leave::Calls, ENTRY));
    let mut thread = calls.thread(true);
    while thread.counter != SITE {
        thread.step().unwrap();
    }
    // A fiber's call is innermost.
    thread.store(CALLS + 256, 8, STACK - 0x800).unwrap();
    calls.set_pending(&mut thread, 2);
    assert_eq!(leaves(&calls, thread.clone()), (Leave::OtherCall, SITE));
    // An event of another stub.
    calls.set_pending(&mut thread, 1);
    thread.store(CALLS + 128 + 16, 8, 5).unwrap();
    assert_eq!(leaves(&calls, thread), (Leave::OtherCall, SITE));
}

#[test]
fn arguments_that_were_not_captured_are_asked_for() {
    let calls = Calls::new();
    let mut thread = calls.thread(true);
    while thread.counter != SITE {
        thread.step().unwrap();
    }
    // As of a call that was found on the stack.
    thread.store(CALLS + 128 + 24, 8, 1).unwrap();
    assert_eq!(leaves(&calls, thread), (Leave::Gate(Why::Capture), SITE));
}

#[test]
fn a_draft_makes_the_stubs_of_all_heads_of_its_size() {
    let lowered = lower_after();
    let words = after_words();
    let section = Section {
        program: &lowered.program().steps[0],
        words: &words,
        table: TABLE,
        journal: 32,
        action: Action::Return(Call {
            event: EVENT,
            begun: 1,
        }),
    };
    let region = Region {
        gate: GATE_AT,
        armed: ARMED_AT,
        pending: PENDING,
        pending_end: PENDING_END,
        attempts: 3,
    };
    let at = |address: u64| head(address, &AFTER_CALL, Place::ReturnSite);
    let (first, other) = (at(SITE), at(SITE + 0x120));
    let of = |head: &Head| draft(head, Place::ReturnSite, &[section], region).unwrap();
    assert!(of(&first).serves(&other));
    let made = of(&first).place(&other, RETURN_AT).unwrap();
    assert_eq!(made, of(&other).place(&other, RETURN_AT).unwrap());
    assert_ne!(
        made.bytes,
        of(&first).place(&first, RETURN_AT).unwrap().bytes
    );
    let longer = head(SITE, &FUNCTION, Place::Entry);
    assert!(!of(&first).serves(&longer));
}
