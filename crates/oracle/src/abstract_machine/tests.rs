use super::*;
use Instruction::{Call, Compute, Jump, JumpIf, Load, Return, Set, Stop, Store};

/// `main` from 0 and `f` from `at`.
fn program(code: Vec<Instruction>, at: u64) -> AbstractMachine {
    let functions = [("main".to_owned(), 0), ("f".to_owned(), at)];
    AbstractMachine::new(Arc::new(Program {
        code,
        functions: functions.into(),
    }))
}

fn run(machine: &mut AbstractMachine) {
    while machine.execute() == Ok(Executed::Instruction) {}
}

#[test]
fn an_instruction_is_in_the_last_function_that_begins_before_it() {
    let machine = program(vec![Stop, Return, Return, Stop, Return], 2);
    let found = (0..5).map(|at| machine.program().function_at(at));
    let expected = [Some("main"), Some("main"), Some("f"), Some("f"), Some("f")];
    assert_eq!(found.collect::<Vec<_>>(), expected);
    assert_eq!(machine.returns_of("main"), [1]);
    assert_eq!(machine.returns_of("f"), [2, 4]);
    let nameless = Program {
        code: vec![Stop],
        functions: [("f".to_owned(), 1)].into(),
    };
    assert_eq!(nameless.function_at(0), None);
}

#[test]
fn operations_are_computed_and_wrap() {
    let of = |operation, left: i64, right: i64| {
        let compute = Compute {
            operation,
            to: 2,
            left: 0,
            right: 1,
        };
        let set = |to, value| Set { to, value };
        let mut machine = program(vec![set(0, left), set(1, right), compute, Stop], 4);
        run(&mut machine);
        machine.data()[2]
    };
    assert_eq!(of(Operation::Add, 7, 5), 12);
    assert_eq!(of(Operation::Subtract, 7, 5), 2);
    assert_eq!(of(Operation::Multiply, 7, 5), 35);
    assert_eq!(of(Operation::Add, i64::MAX, 1), i64::MIN);
    assert_eq!(of(Operation::Subtract, i64::MIN, 1), i64::MAX);
    assert_eq!(of(Operation::Multiply, i64::MAX, 2), -2);
}

#[test]
fn pointers_and_stores_reach_variables() {
    let set = |to, value| Set { to, value };
    let mut machine = program(
        vec![
            set(0, 3),
            set(1, 9),
            Store {
                pointer: 0,
                from: 1,
            },
            // One variable beyond the last is the first.
            set(2, VARIABLES as i64 + 3),
            Load { to: 4, pointer: 2 },
            Stop,
        ],
        6,
    );
    run(&mut machine);
    assert_eq!(machine.data()[..5], [3, 9, 11, 9, 9]);
    assert_eq!(machine.executed(), 5);
}

#[test]
fn accesses_say_what_is_read_and_written() {
    let set = |to, value| Set { to, value };
    let compute = Compute {
        operation: Operation::Subtract,
        to: 2,
        left: 0,
        right: 1,
    };
    let mut machine = program(vec![set(0, 7), set(1, 5), compute, Stop], 4);
    machine.execute().unwrap();
    machine.execute().unwrap();
    let access = |number, mode, old, new| Access {
        address: variable(number),
        mode,
        old,
        new,
    };
    let expected = [
        access(0, AccessMode::Read, 7, 7),
        access(1, AccessMode::Read, 5, 5),
        access(2, AccessMode::Write, 0, 2),
    ];
    assert_eq!(machine.accesses().unwrap(), expected);
}

#[test]
fn calls_return_behind_themselves_and_jumps_ask() {
    let jump = |to| JumpIf { variable: 0, to };
    let code = vec![
        jump(3),
        Call { to: 4 },
        jump(0),
        Stop,
        Set { to: 0, value: 1 },
        Return,
    ];
    let mut machine = program(code, 4);
    let mut places = Vec::new();
    loop {
        places.push(machine.program_counter().unwrap());
        if machine.execute() != Ok(Executed::Instruction) {
            break;
        }
    }
    assert_eq!(places, [0, 1, 4, 5, 2, 0, 3]);
}

#[test]
fn open_calls_keep_their_return_addresses_beside_the_variables() {
    let code = vec![
        Call { to: 3 },
        Jump { to: 6 },
        Stop,
        Call { to: 5 },
        Return,
        Return,
        // No call is open here, so this is the end.
        Return,
    ];
    let mut machine = program(code, 3);
    let mut found = Vec::new();
    loop {
        let accesses = machine.accesses().unwrap();
        let accesses = accesses.iter().map(|it| (it.address, it.mode, it.new));
        found.push((machine.program_counter().unwrap(), accesses.collect()));
        if machine.execute() != Ok(Executed::Instruction) {
            break;
        }
    }
    let stack = DATA + VARIABLES;
    let expected = [
        (0, vec![(stack, AccessMode::Write, 1)]),
        (3, vec![(stack + 1, AccessMode::Write, 4)]),
        (5, vec![(stack + 1, AccessMode::Read, 4)]),
        (4, vec![(stack, AccessMode::Read, 1)]),
        (1, Vec::new()),
        (6, Vec::new()),
    ];
    assert_eq!(found, expected);
    let (variables, stack) = machine.data().split_at(VARIABLES as usize);
    assert!(variables.iter().all(|&value| value == 0), "{variables:?}");
    assert_eq!(stack[..3], [1, 4, 0]);
}

#[test]
fn what_a_program_does_not_have_is_a_fault() {
    let mut machine = program(vec![Stop, Stop], 1);
    let beyond = DATA + VARIABLES + STACK;
    assert_eq!(machine.read(beyond), Err(Fault::NoValue(beyond)));
    assert_eq!(machine.read(DATA - 1), Err(Fault::NoValue(DATA - 1)));
    assert_eq!(machine.write(beyond, 1), Err(Fault::NoValue(beyond)));
    assert_eq!(machine.set_program_counter(1), Ok(()));
    assert_eq!(machine.program_counter(), Ok(1));
    let at_2 = Err(Fault::NoInstruction(2));
    assert_eq!(machine.set_program_counter(2), at_2);
    assert_eq!(machine.insert_breakpoint(2), at_2);
    assert_eq!(machine.remove_breakpoint(2), at_2);
    assert_eq!(machine.address_of("f"), Some(1));
    assert_eq!(machine.address_of("v1"), Some(DATA + 1));
    assert_eq!(machine.address_of("elsewhere"), None);
    machine
        .write(machine.address_of("argument2").unwrap(), 6)
        .unwrap();
    machine
        .write(machine.address_of("result").unwrap(), 8)
        .unwrap();
    assert_eq!((machine.argument(2), machine.result()), (Ok(6), Ok(8)));
    let none = Err(Fault::NoSymbol("arg 3".to_owned()));
    assert_eq!(machine.argument(3), none);
}
