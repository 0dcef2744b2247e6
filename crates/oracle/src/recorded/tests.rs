use super::*;
use crate::abstract_machine::{AbstractMachine, Instruction, Program, variable};

/// Sets `v0`, calls `f`, which sets the result and returns, and ends.
fn machine() -> AbstractMachine {
    let set = |to, value| Instruction::Set { to, value };
    AbstractMachine::new(Arc::new(Program {
        code: vec![
            set(0, 7),
            Instruction::Call { to: 3 },
            Instruction::Stop,
            set(7, 5),
            Instruction::Return,
        ],
        functions: [("main".to_owned(), 0), ("f".to_owned(), 3)].into(),
    }))
}

fn recorded(instructions_max: usize) -> Recorded {
    Recorded::record(&mut machine(), &["f"], &["v0"], instructions_max).unwrap()
}

#[test]
fn it_takes_the_states_of_the_run() {
    let (mut live, mut recorded) = (machine(), recorded(100));
    assert!(recorded.is_whole());
    loop {
        assert_eq!(recorded.program_counter(), live.program_counter());
        assert_eq!(recorded.read(variable(0)), live.read(variable(0)));
        assert_eq!(recorded.accesses(), live.accesses());
        assert_eq!(recorded.result(), live.result());
        assert_eq!(recorded.argument(2), live.argument(2));
        let executed = live.execute();
        assert_eq!(recorded.execute(), executed);
        if executed == Ok(Executed::End) {
            break;
        }
    }
    assert_eq!(recorded.result(), Ok(5));
    assert_eq!(recorded.read(variable(0)), Ok(7));
}

#[test]
fn it_cannot_be_changed() {
    let mut recorded = recorded(100);
    assert_eq!(recorded.set_program_counter(2), Err(Fault::Recorded));
    assert_eq!(recorded.write(variable(0), 1), Err(Fault::Recorded));
    assert_eq!(recorded.program_counter(), Ok(0));
    assert_eq!(recorded.read(variable(0)), Ok(0));
}

#[test]
fn it_knows_what_was_recorded_and_nothing_else() {
    let recorded = recorded(100);
    assert_eq!(recorded.address_of("f"), Some(3));
    assert_eq!(recorded.address_of("v0"), Some(variable(0)));
    assert_eq!(recorded.address_of("v1"), None);
    assert_eq!(recorded.returns_of("f"), [4]);
    assert!(recorded.returns_of("main").is_empty());
    let v1 = variable(1);
    assert_eq!(recorded.read(v1), Err(Fault::NoValue(v1)));
    for position in [0, 3] {
        let none = Err(Fault::NoSymbol(format!("arg {position}")));
        assert_eq!(recorded.argument(position), none);
    }
    let missing = Recorded::record(&mut machine(), &["g"], &[], 100);
    assert_eq!(missing, Err(Fault::NoSymbol("g".to_owned())));
}

#[test]
fn a_recording_that_was_cut_short_is_not_whole() {
    for (instructions_max, count, is_whole) in [(0, 0, false), (4, 4, false), (5, 4, true)] {
        let mut recorded = recorded(instructions_max);
        let mut executed = 0;
        while recorded.execute() == Ok(Executed::Instruction) {
            executed += 1;
        }
        assert_eq!((executed, recorded.is_whole()), (count, is_whole));
    }
}

#[test]
fn breakpoints_trap_until_they_are_removed() {
    let mut recorded = recorded(100);
    recorded.execute().unwrap();
    let before = recorded.checkpoint().unwrap();
    recorded.insert_breakpoint(1).unwrap();
    assert_eq!(recorded.execute(), Ok(Executed::Trap));
    assert_eq!(recorded.accesses(), Ok(Vec::new()));
    recorded.remove_breakpoint(1).unwrap();
    assert_eq!(recorded.accesses().unwrap().len(), 1);
    assert_eq!(recorded.execute(), Ok(Executed::Instruction));
    // Breakpoints are not part of a checkpoint.
    recorded.insert_breakpoint(1).unwrap();
    recorded.restore(&before).unwrap();
    assert_eq!(recorded.program_counter(), Ok(1));
    assert_eq!(recorded.execute(), Ok(Executed::Instruction));
}

#[test]
fn each_state_is_restored_from_its_checkpoint() {
    let mut recorded = recorded(100);
    let mut kept = Vec::new();
    loop {
        kept.push((recorded.checkpoint().unwrap(), recorded.clone()));
        if recorded.execute() != Ok(Executed::Instruction) {
            break;
        }
    }
    assert_eq!(kept.len(), 5);
    for (checkpoint, expected) in &kept {
        recorded.restore(checkpoint).unwrap();
        assert_eq!(recorded, *expected);
    }
}
