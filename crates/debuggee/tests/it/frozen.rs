//! Processes that are kept and brought back: threads, registers, points. What
//! they have open is the business of the room above.

use crate::support::{Program, compile, is_running, run, start_with_points};
use juror_debuggee::{Debuggee, FreezeError, FrozenProcess, Owner, StopEvent, ThawError};
use juror_testing::may_choose_thread_numbers;

/// Brings a process back with all points that it had, and with its old numbers if the user may
/// choose them.
#[track_caller]
fn thaw(frozen: &FrozenProcess, present: Debuggee) -> Debuggee {
    assert_eq!(frozen.keeps_pids(), may_choose_thread_numbers());
    if frozen.keeps_pids() {
        thaw_with_numbers(frozen, present)
    } else {
        thaw_with_another_number(frozen, present)
    }
}

#[track_caller]
fn thaw_with_numbers(frozen: &FrozenProcess, present: Debuggee) -> Debuggee {
    let mut present = present;
    let points = frozen.points().to_vec();
    let thawed = frozen.thaw(Some(&mut present), &points).unwrap();
    assert!(!present.is_alive());
    for (then, now) in thawed.threads {
        assert_eq!(then, now);
    }
    assert_eq!(thawed.debuggee.pid(), frozen.pid());
    thawed.debuggee
}

/// The kernel gives numbers in a row: the old one is not given again at once.
#[track_caller]
pub fn thaw_with_another_number(frozen: &FrozenProcess, present: Debuggee) -> Debuggee {
    let mut present = present;
    let points = frozen.points().to_vec();
    let thawed = frozen.thaw(Some(&mut present), &points).unwrap();
    assert!(!present.is_alive());
    let [(then, now)] = thawed.threads[..] else {
        panic!("{:?}", thawed.threads);
    };
    assert_eq!(then.0, frozen.pid());
    assert_ne!(now, then);
    assert_eq!(thawed.debuggee.pid(), now.0);
    thawed.debuggee
}

/// Counts to ten in a global, and says so.
fn counter() -> Program {
    compile(
        r#"
        #include <stdio.h>
        volatile int count;
        __attribute__((noinline)) void step(void) { count++; }
        int main(void) {
            for (int i = 0; i < 10; i++) step();
            printf("%d\n", count);
            fflush(stdout);
            return count;
        }"#,
        &["-O1"],
    )
}

#[track_caller]
fn count_of(program: &Program, debuggee: &Debuggee) -> u64 {
    let address = program.address(debuggee, "count");
    let mut bytes = [0; 4];
    debuggee.read(address, &mut bytes).unwrap();
    u64::from(u32::from_le_bytes(bytes))
}

/// Runs to the next hit.
#[track_caller]
pub fn run_to_hit(debuggee: &mut Debuggee) {
    debuggee.resume_all().unwrap();
    loop {
        match debuggee.wait().unwrap() {
            StopEvent::Hit { .. } => return,
            event => {
                let thread = event.waiting_thread().unwrap();
                debuggee.resume(thread).unwrap();
            }
        }
    }
}

#[test]
fn a_process_comes_back_as_often_as_one_likes() {
    let program = counter();
    let mut debuggee = start_with_points(&program, &["step"]);
    for _ in 0..4 {
        run_to_hit(&mut debuggee);
    }
    let frozen = debuggee.freeze().unwrap();
    assert_eq!(frozen.thread_count(), 1);
    for hits in [1, 3, 7] {
        assert_eq!(count_of(&program, &debuggee), 3);
        // The arrival at which it stands was told before.
        for more in 0..hits - 1 {
            run_to_hit(&mut debuggee);
            assert_eq!(count_of(&program, &debuggee), 4 + more);
        }
        debuggee = thaw(&frozen, debuggee);
    }
    let run = run(&mut debuggee);
    run.assert_exited(10);
    assert_eq!(run.hits, 6);
    // It can be brought back when it has ended, too.
    debuggee = thaw(&frozen, debuggee);
    assert_eq!(count_of(&program, &debuggee), 3);
}

#[test]
fn a_point_that_was_not_there_then_is_hit() {
    let program = counter();
    let mut debuggee = start_with_points(&program, &["main"]);
    run_to_hit(&mut debuggee);
    let frozen = debuggee.freeze().unwrap();
    let step = program.address(&debuggee, "step");
    let mut points = frozen.points().to_vec();
    points.push((step, Owner::Developer, 1));
    let mut debuggee = {
        let mut present = debuggee;
        frozen.thaw(Some(&mut present), &points).unwrap().debuggee
    };
    let run = run(&mut debuggee);
    run.assert_exited(10);
    assert_eq!(run.hits, 10);
}

/// Without its first byte the instruction of this point moves half as much.
#[test]
fn a_thread_comes_back_before_the_instruction_of_a_point_that_was_taken_away() {
    let source = r#"
        long wide(void);
        __asm__(".globl wide\nwide: mov $-1, %rax\nret");
        int main(void) { return wide() == -1 ? 7 : 1; }"#;
    let program = compile(source, &["-O1"]);
    let mut debuggee = start_with_points(&program, &["wide"]);
    run_to_hit(&mut debuggee);
    let wide = program.address(&debuggee, "wide");
    debuggee.remove(wide, Owner::Monitor).unwrap();
    let frozen = debuggee.freeze().unwrap();
    for _ in 0..2 {
        let thread = debuggee.threads().next().unwrap().id;
        assert_eq!(
            debuggee.registers(thread).unwrap().instruction_pointer(),
            wide
        );
        debuggee = thaw(&frozen, debuggee);
    }
    run(&mut debuggee).assert_exited(7);
}

/// The handler of a fault returns to the instruction, or jumps away and the program comes
/// there anew.
#[test]
fn a_handler_comes_back_to_the_arrival_that_it_interrupted() {
    let program = compile(
        r#"
        #define _GNU_SOURCE
        #include <setjmp.h>
        #include <signal.h>
        #include <ucontext.h>
        int load(int *from);
        __asm__(".globl load\n.type load,@function\nload: movl (%rdi), %eax\nret\n");
        static sigjmp_buf back;
        static int jumps, room;
        __attribute__((noinline)) void inside(void) { room++; }
        static void on_fault(int number, siginfo_t *information, void *context) {
            ucontext_t *interrupted = context;
            inside();
            if (jumps) siglongjmp(back, 1);
            interrupted->uc_mcontext.gregs[REG_RDI] = (greg_t)&room;
        }
        int main(void) {
            struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
            sigaction(SIGSEGV, &action, 0);
            for (volatile int round = 0; round < 8; round++) {
                jumps = round & 1;
                if (!sigsetjmp(back, 1)) load(0);
            }
            return room;
        }"#,
        &["-O1"],
    );
    for round in 1..=8 {
        let mut debuggee = start_with_points(&program, &["load", "inside"]);
        for _ in 0..2 * round {
            run_to_hit(&mut debuggee);
        }
        let frozen = debuggee.freeze().unwrap();
        for _ in 0..2 {
            let mut again = thaw(&frozen, debuggee);
            let ran = run(&mut again);
            ran.assert_exited(8);
            assert_eq!(ran.hits, 16 - 2 * round, "{round}");
            debuggee = again;
        }
    }
}

/// Somebody kills the copy.
#[track_caller]
fn kill_copy(frozen: &FrozenProcess) {
    assert!(frozen.is_alive());
    let killed = std::process::Command::new("kill")
        .args(["-KILL", &frozen.template().to_string()])
        .status();
    assert!(killed.unwrap().success());
    while frozen.is_alive() {
        std::thread::yield_now();
    }
}

#[test]
fn a_copy_that_was_killed_is_noticed() {
    let program = counter();
    let mut debuggee = start_with_points(&program, &["step"]);
    run_to_hit(&mut debuggee);
    let frozen = debuggee.freeze().unwrap();
    kill_copy(&frozen);
    let refused = frozen.thaw(Some(&mut debuggee), &[]);
    assert!(matches!(refused, Err(ThawError::TemplateGone(_))));
    assert!(debuggee.is_alive());
    drop(frozen);
    let run = run(&mut debuggee);
    run.assert_exited(10);
}

/// That it is on its way out is told once, while others are waited for.
#[test]
fn a_copy_that_was_killed_can_be_given_up_later() {
    let program = counter();
    let mut debuggee = start_with_points(&program, &["step"]);
    run_to_hit(&mut debuggee);
    let frozen = debuggee.freeze().unwrap();
    let template = frozen.template();
    kill_copy(&frozen);
    for _ in 0..3 {
        run_to_hit(&mut debuggee);
    }
    assert!(!frozen.is_alive());
    drop(frozen);
    assert!(!is_running(template));
    let run = run(&mut debuggee);
    run.assert_exited(10);
}

#[test]
fn a_copy_goes_with_its_checkpoint_and_leaves_no_process() {
    let program = counter();
    let mut debuggee = start_with_points(&program, &["step"]);
    run_to_hit(&mut debuggee);
    let first = debuggee.freeze().unwrap();
    let second = debuggee.freeze().unwrap();
    let (one, other) = (first.template(), second.template());
    drop(first);
    assert!(!is_running(one) && is_running(other));
    let process = debuggee.pid();
    drop(debuggee);
    drop(second);
    assert!(!is_running(other) && !is_running(process));
}

#[test]
fn an_ended_program_is_not_kept() {
    let program = counter();
    let mut debuggee = program.start();
    run(&mut debuggee).assert_exited(10);
    assert!(matches!(debuggee.freeze(), Err(FreezeError::Debuggee(_))));
}

/// The processes that the thread of this test has made and not waited for.
fn children() -> String {
    std::fs::read_to_string("/proc/thread-self/children").unwrap()
}

#[test]
fn a_large_process_leaves_nothing_behind() {
    let program = compile(
        r#"
        #include <stdlib.h>
        #include <string.h>
        volatile int count;
        __attribute__((noinline)) void step(void) { count++; }
        int main(void) {
            const size_t length = 64 << 20;
            char *memory = malloc(length);
            memset(memory, 1, length);
            for (int i = 0; i < 10; i++) {
                step();
                memory[i * (length / 10)] += i;
            }
            int sum = 0;
            for (int i = 0; i < 10; i++) sum += memory[i * (length / 10)];
            return sum;
        }"#,
        &["-O1"],
    );
    let mut debuggee = start_with_points(&program, &["step"]);
    for _ in 0..4 {
        run_to_hit(&mut debuggee);
    }
    let frozen = debuggee.freeze().unwrap();
    for hits in [1, 3, 6] {
        for _ in 0..hits {
            run_to_hit(&mut debuggee);
        }
        debuggee = thaw(&frozen, debuggee);
        assert_eq!(count_of(&program, &debuggee), 3);
    }
    let run = run(&mut debuggee);
    run.assert_exited(55);
    debuggee = thaw(&frozen, debuggee);
    drop(frozen);
    drop(debuggee);
    assert_eq!(children(), "");
}
