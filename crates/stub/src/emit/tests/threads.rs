//! Two threads in stubs on one table, instruction by instruction, led out at random:
//! the outcome is that of some order.

use super::lab::*;
use super::*;
use crate::stub_map::Leave;

/// The distance between what the threads have of their own.
const OTHER: u64 = 0x10_0000;

/// The part of a machine that belongs to a thread.
#[derive(Clone)]
struct Context {
    registers: [u64; 16],
    counter: u64,
    flags: crate::toy::Flags,
    gs: u64,
}

impl Context {
    fn of(machine: &Machine) -> Context {
        Context {
            registers: machine.registers,
            counter: machine.counter,
            flags: machine.flags,
            gs: machine.gs,
        }
    }

    fn enter(&self, machine: &mut Machine) {
        machine.registers = self.registers;
        machine.counter = self.counter;
        machine.flags = self.flags;
        machine.gs = self.gs;
    }
}

/// Prepares the second thread in the machine of the first.
fn second(lab: &Lab, machine: &mut Machine, key: u64, number: i64) -> Context {
    let layout = &lab.lowered[0].program().layout;
    let gs = THREAD + OTHER;
    machine.map(gs, 4096);
    machine
        .store(gs + u64::from(ARMED_AT), 4, u64::from(crate::emit::ARMED))
        .unwrap();
    machine
        .store(gs + 32, 8, TABLE + layout.journal(2))
        .unwrap();
    let stack = STACK - OTHER;
    machine.map(stack - 0x1000, 0x2000);
    machine.store(stack, 8, ENTRY + 0x500).unwrap();
    let mut context = Context::of(machine);
    context.gs = gs;
    context.registers[4] = stack;
    context.registers[7] = key;
    context.registers[6] = number as u64;
    context
}

/// Tells whether the thread is in the stub or at its gate.
fn is_inside(lab: &Lab, machine: &Machine) -> bool {
    machine.counter == GATE_AT || lab.stub.map.contains(machine.counter)
}

/// Returns the table without journals.
fn without_journals(lab: &Lab, tables: &[Vec<u64>]) -> Vec<u64> {
    let layout = &lab.lowered[0].program().layout;
    let start = (layout.journal(0) / 8) as usize;
    let end = (layout.journal(3) / 8) as usize;
    let mut table = tables[0].clone();
    table[start..end].fill(0);
    table
}

/// Returns what two events in this order lead to.
fn in_order(lab: &Lab, events: [(u64, i64, u32); 2]) -> Vec<u64> {
    let mut tables = lab.tables.clone();
    for (key, number, journal) in events {
        let start = with_arguments(lab.thread(&tables, 0), key, number);
        assert_eq!(lab.interpret_as(&start, &mut tables, journal), None);
    }
    without_journals(lab, &tables)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn two_threads_have_the_effect_of_some_order(
        keys in (0u64..2, 0u64..2),
        numbers in (1i64..4, 1i64..4),
        schedule in prop::collection::vec((any::<bool>(), 0u8..24, 1u8..20), 60),
    ) {
        let lab = Lab::new(&[GUARDED], 0, words());
        let (first, other) = (HEAP + 8 * keys.0, HEAP + 8 * keys.1);
        let mut machine = with_arguments(lab.thread(&lab.tables, 3), first, numbers.0);
        let second = second(&lab, &mut machine, other, numbers.1);
        let mut threads = [Context::of(&machine), second];
        let ends = schedule.iter().cycle().take(60 * 4);
        for (which, lead_out, steps) in ends {
            let thread = &mut threads[usize::from(*which)];
            thread.enter(&mut machine);
            for _ in 0..*steps {
                if machine.counter == lab.head.end() {
                    break;
                }
                if machine.counter == GATE_AT {
                    prop_assert_eq!(lab.stub.map.leave(machine.registers[0]), Leave::Gate(Why::Busy));
                    lab.apply(lab.lead_out(&machine), &mut machine);
                }
                if machine.counter == ENTRY {
                    machine.counter = STUB;
                }
                machine.step().unwrap();
            }
            if *lead_out == 0 && is_inside(&lab, &machine) {
                lab.apply(lab.lead_out(&machine), &mut machine);
            }
            *thread = Context::of(&machine);
        }
        // No thread that stands holds a lock: both are led out before one runs on.
        for thread in &mut threads {
            thread.enter(&mut machine);
            if is_inside(&lab, &machine) {
                lab.apply(lab.lead_out(&machine), &mut machine);
            }
            *thread = Context::of(&machine);
        }
        for thread in &threads {
            thread.enter(&mut machine);
            lab.run(&mut machine).unwrap();
            prop_assert_eq!(machine.counter, lab.head.end());
        }
        let found = without_journals(&lab, &lab.read_tables(&machine));
        let one = (first, numbers.0, 1);
        let two = (other, numbers.1, 2);
        let orders = [in_order(&lab, [one, two]), in_order(&lab, [two, one])];
        prop_assert!(orders.contains(&found), "{:?}\n{:?}", found, orders);
    }
}
