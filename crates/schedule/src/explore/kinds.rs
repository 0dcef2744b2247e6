//! Small programs of the kinds that benchmarks of schedule exploration have.

use super::library::Writer;
use super::program::{Instruction as I, Operand, Program};
use Operand::{Constant, Register};
use std::vec;
use std::vec::Vec;

fn written(write: impl FnOnce(&mut Writer)) -> Vec<I> {
    let mut writer = Writer::new();
    write(&mut writer);
    writer.code()
}

/// Returns the program in which the first thread starts the others, joins them, and then does
/// what is written.
fn program(threads: Vec<Vec<I>>, behind: impl FnOnce(&mut Writer)) -> Program {
    let main = written(|writer| {
        for thread in 1..=threads.len() {
            writer.put(I::Spawn(thread));
        }
        for thread in 1..=threads.len() {
            writer.join(thread);
        }
        behind(writer);
    });
    let mut code = vec![main];
    code.extend(threads);
    Program {
        code,
        ..Program::default()
    }
}

fn crossing_locks(locks: &[usize]) -> Vec<I> {
    written(|writer| {
        for lock in locks {
            writer.lock(*lock);
        }
        for lock in locks.iter().rev() {
            writer.unlock(*lock);
        }
    })
}

/// Two threads take two locks in different orders.
pub(super) fn ab_ba() -> Program {
    program(
        vec![crossing_locks(&[0, 1]), crossing_locks(&[1, 0])],
        |_| {},
    )
}

/// The same under a gate: no fault.
pub(super) fn gate() -> Program {
    program(
        vec![crossing_locks(&[2, 0, 1]), crossing_locks(&[2, 1, 0])],
        |_| {},
    )
}

/// The same by one thread, and by two of which one starts after the other has ended: no fault.
pub(super) fn one_after_the_other() -> Program {
    let main = written(|writer| {
        for lock in [1, 0] {
            writer.lock(lock);
        }
        writer.unlock(0).unlock(1);
        writer.put(I::Spawn(1)).join(1);
        writer.put(I::Spawn(2)).join(2);
    });
    Program {
        code: vec![main, crossing_locks(&[0, 1]), crossing_locks(&[1, 0])],
        ..Program::default()
    }
}

/// Three philosophers.
pub(super) fn philosophers() -> Program {
    let philosopher = |number: usize| crossing_locks(&[number, (number + 1) % 3]);
    program((0..3).map(philosopher).collect(), |_| {})
}

/// A thread looks whether it is ready, and then waits without looking again.
pub(super) fn lost_wake_up() -> Program {
    let waiter = written(|writer| {
        writer.put(I::Load(0, 3));
        let ready = writer.jump_if_different(0, 0);
        writer.lock(0).wait_condition(2, 0).unlock(0);
        writer.land(ready);
    });
    let signaller = written(|writer| {
        writer.lock(0).put(I::Store(3, Constant(1)));
        writer.signal(2).unlock(0);
    });
    program(vec![waiter, signaller], |_| {})
}

/// A wait without a loop, which a spurious wake-up ends.
pub(super) fn wait_without_loop() -> Program {
    let waiter = written(|writer| {
        writer.lock(0);
        writer.put(I::Load(0, 3));
        let ready = writer.jump_if_different(0, 0);
        writer.wait_condition(2, 0);
        writer.put(I::Load(0, 3)).put(I::Assert(0, Constant(1)));
        writer.land(ready);
        writer.unlock(0);
    });
    let signaller = written(|writer| {
        writer.lock(0).put(I::Store(3, Constant(1)));
        writer.signal(2).unlock(0);
    });
    program(vec![waiter, signaller], |_| {})
}

/// A wait that takes a time-out for a signal.
pub(super) fn time_out_first() -> Program {
    let waiter = written(|writer| {
        writer.wait_until(0, 3, Constant(0), Some(1_000));
        writer.put(I::Load(0, 3)).put(I::Assert(0, Constant(1)));
    });
    let signaller = written(|writer| {
        writer.put(I::Store(3, Constant(1)));
        writer.wake(3, 1);
    });
    program(vec![waiter, signaller], |_| {})
}

/// Money is read under a lock, and written under the lock again.
pub(super) fn bank() -> Program {
    let clerk = written(|writer| {
        writer.lock(0).put(I::Load(0, 3)).unlock(0);
        writer.put(I::Sum(0, 1));
        writer.lock(0).put(I::Store(3, Register(0))).unlock(0);
    });
    program(vec![clerk.clone(), clerk], |writer| {
        writer.put(I::Load(0, 3)).put(I::Assert(0, Constant(2)));
    })
}

/// What is published is not complete.
pub(super) fn double_checked() -> Program {
    let thread = written(|writer| {
        writer.put(I::Load(0, 3));
        let known = writer.jump_if_different(0, 0);
        writer.lock(0).put(I::Load(0, 3));
        let made = writer.jump_if_different(0, 0);
        writer.put(I::Store(3, Constant(1)));
        writer.put(I::Store(4, Constant(1)));
        writer.land(made);
        writer.unlock(0);
        writer.land(known);
        writer.put(I::Load(0, 4)).put(I::Assert(0, Constant(1)));
    });
    program(vec![thread.clone(), thread], |_| {})
}

/// Two producers look for room, and take it later.
pub(super) fn queue() -> Program {
    let producer = written(|writer| {
        writer.lock(0).put(I::Load(0, 3)).unlock(0);
        let full = writer.jump_if_different(0, 0);
        writer.lock(0).put(I::Add(0, 3, 1));
        writer.put(I::Assert(0, Constant(0))).unlock(0);
        writer.land(full);
    });
    let consumer = written(|writer| {
        writer.lock(0).put(I::Load(0, 3));
        let empty = writer.jump_if_equal(0, 0);
        writer.put(I::Store(3, Constant(0)));
        writer.land(empty);
        writer.unlock(0);
    });
    program(vec![producer.clone(), producer, consumer], |_| {})
}

/// Three of five threads wait for one another, the other two go on.
pub(super) fn partial_deadlock() -> Program {
    let mut threads: Vec<Vec<I>> = (0..3)
        .map(|number: usize| crossing_locks(&[number, (number + 1) % 3]))
        .collect();
    let worker = written(|writer| {
        for _ in 0..10 {
            writer.put(I::Add(0, 4, 1));
        }
    });
    threads.extend([worker.clone(), worker]);
    program(threads, |_| {})
}

/// Two threads that spin for what nobody does.
pub(super) fn endless_spin() -> Program {
    let spinner = vec![I::Turn, I::Load(0, 3), I::JumpIfEqual(0, Constant(0), 0)];
    let other = written(|writer| {
        writer.put(I::Load(0, 4));
        let too_late = writer.jump_if_different(0, 0);
        writer.put(I::Store(3, Constant(1)));
        writer.land(too_late);
    });
    let late = written(|writer| {
        writer.put(I::Store(4, Constant(1)));
    });
    program(vec![spinner, other, late], |_| {})
}
