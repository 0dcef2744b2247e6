//! A patched program on the toy processor, and its monitor's table.

use super::super::*;
use crate::head::{BranchTargets, Site, Text};
use crate::lead_out::{LeadOut, Registers};
use crate::toy::{Flags, Machine, Stop};
use juror_language::load;
use juror_monitor::Monitor;
use juror_monitor::lowering::{
    EventWordsSource, Lowered, Options, Origin, Progress, Running, Source, Why, WordCapture,
    WordKind, WordMonitor, lower,
};
use std::sync::Arc;

pub const ENTRY: u64 = 0x5555_0000_1000;
pub const STUB: u64 = 0x5555_1000_0000;
pub const GATE_AT: u64 = 0x5555_0fff_0000;
pub const TABLE: u64 = 0x7000_0000_0000;
pub const THREAD: u64 = 0x6000_0000_0000;
pub const STACK: u64 = 0x7fff_0000_8000;
/// Where captured pointers lead.
pub const HEAP: u64 = 0x6100_0000_0000;
/// The distance between the tables of two sections.
pub const APART: u64 = 0x100_0000;
/// The journal of the thread.
pub const JOURNAL: u32 = 1;
pub const ARMED_AT: u32 = 24;
pub const PENDING: u32 = 8;
pub const PENDING_END: u32 = 16;

/// push rbp; mov rbp, rsp; push r15; cmp rdi, rsi; ret
pub const CODE: [u8; 10] = [0x55, 0x48, 0x89, 0xe5, 0x41, 0x57, 0x48, 0x39, 0xf7, 0xc3];

/// A patched program with one table for each section.
pub struct Lab {
    pub head: Head,
    pub stub: Stub,
    pub lowered: Vec<Lowered>,
    pub programs: Vec<StepProgram>,
    pub words: EventWords,
    pub region: Region,
    /// The tables before any event.
    pub tables: Vec<Vec<u64>>,
}

/// A register as a capture of `bytes` bytes.
pub fn register(number: u8, bytes: u8, kind: WordKind) -> Option<WordCapture> {
    Some(WordCapture {
        origin: Origin::Register(number),
        reads: Vec::new(),
        bytes,
        kind,
    })
}

/// Lowers a property all of whose events have the same captures.
pub fn lower_source(source: &str, words: &EventWords, records: usize) -> Lowered {
    let (mut properties, diagnostics) = load(source);
    assert_eq!(properties.len(), 1, "{diagnostics:#?}");
    let property = properties.remove(0);
    let events = property.events.iter().map(|event| {
        let captures = words.captures.iter().take(event.captures.len());
        Ok(EventWords {
            captures: captures.cloned().collect(),
        })
    });
    let events = events.collect::<Vec<_>>();
    let monitor = Monitor::with_history(Arc::new(property), records).unwrap();
    let options = Options {
        stripes: 2,
        journals: 3,
        listening: 0,
    };
    lower(&monitor, &events, &options).unwrap()
}

impl Lab {
    /// Patches the program for an event of some properties.
    pub fn new(sources: &[&str], event: usize, words: EventWords) -> Lab {
        let lowered: Vec<Lowered> = sources
            .iter()
            .map(|source| lower_source(source, &words, 4))
            .collect();
        for lowered in &lowered {
            let why = &lowered.program().steps[event].why;
            assert!(why.is_none(), "{}", why.as_ref().unwrap());
        }
        let programs = lowered.iter();
        let programs = programs.map(|lowered| lowered.program().steps[event].clone());
        Lab::with_programs(lowered.clone(), programs.collect(), words)
    }

    /// Patches the program with these steps over tables of lowered properties.
    pub fn with_programs(
        lowered: Vec<Lowered>,
        programs: Vec<StepProgram>,
        words: EventWords,
    ) -> Lab {
        let tables = lowered.iter().map(|lowered| {
            let monitor = WordMonitor::new(lowered.clone(), Vec::new()).unwrap();
            monitor.memory().clone()
        });
        let tables: Vec<Vec<u64>> = tables.collect();
        let text = Text {
            address: ENTRY,
            bytes: &CODE,
        };
        let site = Site {
            address: ENTRY,
            end: ENTRY + CODE.len() as u64,
            place: Place::Entry,
            branches: &BranchTargets::of(text),
            shadow_stack: false,
        };
        let head = Head::at(text, site).unwrap();
        let sections: Vec<Section<'_>> = programs
            .iter()
            .enumerate()
            .map(|(number, program)| Section {
                program,
                words: &words,
                table: TABLE + APART * number as u64,
                journal: 32 + 8 * number as u32,
                action: Action::Step,
            })
            .collect();
        let region = Region {
            gate: GATE_AT,
            armed: ARMED_AT,
            pending: PENDING,
            pending_end: PENDING_END,
            attempts: 3,
        };
        let draft = draft(&head, Place::Entry, &sections, region).unwrap();
        let stub = draft.place(&head, STUB).unwrap();
        assert_eq!(stub.bytes.len() as u64, draft.size());
        Lab {
            head,
            stub,
            lowered,
            programs,
            region,
            words,
            tables,
        }
    }

    pub fn program(&self, section: usize) -> &StepProgram {
        &self.programs[section]
    }

    /// Returns a thread at the entry.
    pub fn thread(&self, tables: &[Vec<u64>], flags: u8) -> Machine {
        let mut machine = Machine::default();
        machine.put(ENTRY, &CODE);
        machine.put(STUB, &self.stub.bytes);
        machine.put(GATE_AT, &GATE);
        machine.map(THREAD, 4096);
        machine.map(HEAP, 4096);
        machine.map(STACK - 0x1000, 0x2000);
        machine.gs = THREAD;
        machine
            .store(
                THREAD + u64::from(ARMED_AT),
                4,
                u64::from(crate::emit::ARMED),
            )
            .unwrap();
        for (number, words) in tables.iter().enumerate() {
            let table = TABLE + APART * number as u64;
            let layout = &self.lowered[number].program().layout;
            let journal = table + layout.journal(JOURNAL);
            machine
                .store(THREAD + 32 + 8 * number as u64, 8, journal)
                .unwrap();
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            machine.put(table, &bytes);
        }
        for (number, place) in machine.registers.iter_mut().enumerate() {
            *place = 0x1111_1111_1111_1111u64.wrapping_mul(number as u64 + 1);
        }
        machine.registers[4] = STACK;
        machine.store(STACK, 8, ENTRY + 0x500).unwrap();
        machine.flags = Flags::combination(flags);
        machine.counter = STUB;
        machine
    }

    /// Returns the tables as the machine has them.
    pub fn read_tables(&self, machine: &Machine) -> Vec<Vec<u64>> {
        let sizes = self.tables.iter().map(Vec::len).enumerate();
        sizes
            .map(|(number, size)| {
                let table = TABLE + APART * number as u64;
                let word = |at: usize| machine.load(table + 8 * at as u64, 8).unwrap();
                (0..size).map(word).collect()
            })
            .collect()
    }

    /// Runs the thread until it is behind the head, at the gate, or cannot go on.
    pub fn run(&self, machine: &mut Machine) -> Result<(), Stop> {
        for _ in 0..10_000 {
            if machine.counter == self.head.end() || machine.counter == GATE_AT {
                return Ok(());
            }
            if machine.counter == ENTRY {
                machine.counter = STUB;
            }
            machine.step()?;
        }
        panic!("the stub does not end");
    }

    /// Runs the head as it is without the patch.
    pub fn run_original(&self, machine: &mut Machine) {
        machine.counter = ENTRY;
        while machine.counter != self.head.end() {
            machine.step().unwrap();
        }
    }

    /// Takes the events of all sections by the interpreter; the first gate ends it.
    pub fn interpret(&self, start: &Machine, tables: &mut [Vec<u64>]) -> Option<Why> {
        self.interpret_as(start, tables, JOURNAL)
    }

    /// Does the same as the thread with another journal.
    pub fn interpret_as(
        &self,
        start: &Machine,
        tables: &mut [Vec<u64>],
        journal: u32,
    ) -> Option<Why> {
        let values = Values {
            start,
            words: &self.words,
        };
        for (number, memory) in tables.iter_mut().enumerate() {
            let layout = &self.lowered[number].program().layout;
            let mut running = Running::new(layout, journal);
            loop {
                match running.advance(self.program(number), memory, &values) {
                    Progress::Goes => {}
                    Progress::Ends(_) => break,
                    Progress::Waits => return Some(Why::Busy),
                    Progress::Gates(why) => return Some(why),
                }
            }
        }
        None
    }

    /// Returns the way out of a thread.
    pub fn lead_out(&self, machine: &Machine) -> LeadOut {
        let read = |address: u64| machine.load(address, 8).ok();
        let mut registers = Registers {
            general: machine.registers,
            counter: machine.counter,
            flags: machine.flags.to_bits(),
        };
        if machine.counter == GATE_AT {
            registers = registers.before_gate();
        }
        let led_out = self.stub.map.lead_out(&registers, read);
        led_out.unwrap_or_else(|| panic!("no way out of {:#x}", machine.counter))
    }

    /// Does what the way out says.
    pub fn apply(&self, out: LeadOut, machine: &mut Machine) {
        for lock in out.release {
            machine.store(lock, 8, 0).unwrap();
        }
        if let Some(mut finish) = out.finish {
            let mut tables = self.read_tables(machine);
            let memory = &mut tables[finish.section];
            let program = self.program(finish.section);
            let ended = finish.running.lead_out(program, Phase::Committed, memory);
            assert!(ended.is_some());
            self.write_tables(machine, &tables);
        }
        machine.registers = out.registers.general;
        machine.counter = out.registers.counter;
        machine.flags = Flags::from_bits(out.registers.flags);
    }

    pub fn write_tables(&self, machine: &mut Machine, tables: &[Vec<u64>]) {
        for (number, words) in tables.iter().enumerate() {
            for (at, word) in words.iter().enumerate() {
                let address = TABLE + APART * number as u64 + 8 * at as u64;
                machine.store(address, 8, *word).unwrap();
            }
        }
    }
}

/// The values of an event, by the definition of captures.
struct Values<'a> {
    start: &'a Machine,
    words: &'a EventWords,
}

impl EventWordsSource for Values<'_> {
    fn word(&self, source: Source) -> Option<u64> {
        let top = self.start.registers[4];
        let Source::Capture(slot) = source else {
            return self.start.load(top, 8).ok();
        };
        let capture = self.words.captures[usize::from(slot)].as_ref()?;
        let mut word = match capture.origin {
            Origin::Register(number) => self.start.registers[usize::from(number)],
            Origin::Stack(offset) => top.wrapping_add_signed(offset.into()),
            Origin::Constant(word) => word,
            Origin::Thread => 0,
            Origin::ReturnAddress => self.start.load(top, 8).ok()?,
            Origin::Begun => unreachable!("no call has begun"),
        };
        for (at, offset) in capture.reads.iter().enumerate() {
            let is_last = at + 1 == capture.reads.len();
            let size = if is_last { capture.bytes } else { 8 };
            let address = word.wrapping_add_signed((*offset).into());
            word = self.start.load(address, size.into()).ok()?;
        }
        let unused = 64 - 8 * u32::from(capture.bytes);
        Some(match capture.kind {
            WordKind::Signed => ((word << unused) as i64 >> unused) as u64,
            WordKind::Boolean => u64::from(word << unused != 0),
            _ => word << unused >> unused,
        })
    }
}
