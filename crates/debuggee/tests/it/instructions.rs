//! Points on instructions that are hard to get past.

use crate::support::{compile, run, run_with, start_with_points};
use juror_debuggee::{Owner, StopEvent};

/// A program whose `main` runs `test`, written in assembly, and prints what it
/// returns; there is a point at the label `point`.
#[track_caller]
fn check_assembly(assembly: &str, main: &str, output: &str, hits: usize) {
    let lines: Vec<String> = assembly
        .lines()
        .map(|line| format!("\"{}\\n\"", line.trim()))
        .collect();
    let source = format!(
        r#"
        #define _GNU_SOURCE
        #include <pthread.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        extern long test(long a, long b, long c);
        __asm__(".globl test\n.globl point\n.type test,@function\n" {});
        {main}"#,
        lines.join("\n")
    );
    let program = compile(&source, &["-O1"]);
    let mut debuggee = start_with_points(&program, &["point"]);
    let run = run(&mut debuggee);
    run.assert_exited(0);
    assert_eq!(program.output(), output);
    assert_eq!(run.hits, hits, "{assembly}");
}

const PRINT_ONCE: &str = r#"int main(void) { printf("%ld\n", test(50, 2, 3)); return 0; }"#;

#[test]
fn an_instruction_that_branches_to_itself() {
    check_assembly(
        "test: mov %rdi, %rcx
         point: loop point
         mov %rcx, %rax
         ret",
        PRINT_ONCE,
        "0\n",
        50,
    );
}

#[test]
fn a_repeated_string_instruction_is_one_event() {
    check_assembly(
        "test: lea -128(%rsp), %rdi
         mov $50, %ecx
         mov $7, %eax
         point: rep stosb
         movzbl -1(%rdi), %eax
         ret",
        PRINT_ONCE,
        "7\n",
        1,
    );
}

#[test]
fn calls_returns_and_jumps() {
    check_assembly(
        "helper: lea (%rdi, %rsi), %rax
         ret
         test: sub $8, %rsp
         point: call helper
         add $8, %rsp
         ret",
        PRINT_ONCE,
        "52\n",
        1,
    );
    check_assembly(
        "helper: lea (%rdi, %rsi), %rax
         ret
         test: sub $8, %rsp
         lea helper(%rip), %rcx
         point: call *%rcx
         add $8, %rsp
         ret",
        PRINT_ONCE,
        "52\n",
        1,
    );
    check_assembly(
        "test: lea (%rdi, %rsi), %rax
         point: ret",
        PRINT_ONCE,
        "52\n",
        1,
    );
    check_assembly(
        "helper: lea (%rdi, %rsi), %rax
         ret
         test: nop
         point: jmp helper",
        PRINT_ONCE,
        "52\n",
        1,
    );
    check_assembly(
        "value: .quad 11
         test: nop
         point: mov value(%rip), %rax
         ret",
        PRINT_ONCE,
        "11\n",
        1,
    );
    check_assembly(
        "test: xor %eax, %eax
         cmp $50, %rdi
         point: jne 1f
         inc %rax
         1: ret",
        PRINT_ONCE,
        "1\n",
        1,
    );
}

/// The emulated push reaches below the pages that the stack has so far: they
/// are made by the processor's own access alone.
#[test]
fn a_call_that_grows_the_stack() {
    check_assembly(
        "test: push %rbx
         mov %rsp, %rbx
         sub $4000000, %rsp
         and $-4096, %rsp
         point: call helper
         mov %rbx, %rsp
         pop %rbx
         ret
         helper: mov $5, %eax
         ret",
        PRINT_ONCE,
        "5\n",
        1,
    );
}

/// One thread blocks in the system call under the point; another one, which
/// must not be held meanwhile, wakes it.
#[test]
fn a_blocking_system_call_that_another_thread_ends() {
    check_assembly(
        "test: mov %rdi, %rax
         mov %rsi, %rdi
         mov %rdx, %rsi
         mov $0, %edx
         xor %r10d, %r10d
         point: syscall
         ret",
        r#"
        static int word;
        static volatile int woken;
        static void *wake(void *unused) {
            while (!woken)
                if (syscall(SYS_futex, &word, 1 /* wake */, 1) > 0) woken = 1;
            return unused;
        }
        int main(void) {
            for (int i = 0; i < 20; i++) {
                pthread_t thread;
                woken = 0;
                pthread_create(&thread, 0, wake, 0);
                if (test(SYS_futex, (long)&word, 0 /* wait */) != 0) return 1;
                pthread_join(thread, 0);
            }
            puts("woken");
            return 0;
        }"#,
        "woken\n",
        20,
    );
}

#[test]
fn adjacent_points_are_each_told() {
    let program = compile(
        r#"
        extern void test(void);
        __asm__(".globl test\n.globl second\n.globl third\n.type test,@function\n"
                "test: nop\nsecond: push %rbx\nthird: pop %rbx\nret\n");
        int main(void) { for (int i = 0; i < 100; i++) test(); return 0; }"#,
        &["-O1"],
    );
    let mut debuggee = start_with_points(&program, &["test", "second", "third"]);
    let addresses = ["test", "second", "third"].map(|symbol| program.address(&debuggee, symbol));
    let mut path = Vec::new();
    run_with(&mut debuggee, |_, event| {
        if let StopEvent::Hit { address, .. } = event {
            path.push(*address);
        }
    })
    .assert_exited(0);
    assert_eq!(path, addresses.repeat(100));
}

#[test]
fn a_step_past_a_point_ends_behind_it() {
    let program = compile(
        r#"
        extern void test(void);
        __asm__(".globl test\n.type test,@function\ntest: nop\npush %rbx\npop %rbx\nret\n");
        int main(void) { test(); return 0; }"#,
        &["-O1"],
    );
    let mut debuggee = start_with_points(&program, &[]);
    let start = program.address(&debuggee, "test");
    for offset in 0..4 {
        debuggee.insert(start + offset, Owner::Developer).unwrap();
    }
    debuggee.resume_all().unwrap();
    let mut path = Vec::new();
    let mut hits = 0;
    loop {
        let event = debuggee.wait().unwrap();
        match event {
            StopEvent::Exited { status } => {
                assert_eq!(status, 0);
                break;
            }
            StopEvent::Hit {
                thread, address, ..
            } => {
                hits += 1;
                path.push(address);
                debuggee.step(thread).unwrap();
            }
            StopEvent::Stepped { thread, address } if address < start + 4 && address >= start => {
                path.push(address);
                // The arrival at the next point comes when the thread goes on.
                debuggee.resume(thread).unwrap();
            }
            event => {
                if let Some(thread) = event.waiting_thread() {
                    debuggee.resume(thread).unwrap();
                }
            }
        }
    }
    assert_eq!(hits, 4);
    let expected: Vec<u64> = [0, 1, 1, 2, 2, 3, 3].iter().map(|it| start + it).collect();
    assert_eq!(path, expected);
}
