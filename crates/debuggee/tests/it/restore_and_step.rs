//! The algorithm that juror does not use, so that one sees why: put the
//! original byte back, step, plant the trap again, and let the other threads
//! run meanwhile. They run through the place without a trap, and most of their
//! passes are never seen (N. Ramsey, *Correctness of Trap-Based Breakpoint
//! Implementations*, section 3).
//!
//! The debugger here is a few lines of `ptrace` with nothing of juror in it.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::support::{Program, compile, file_address};
use nix::sys::ptrace;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

const THREADS: usize = 4;
const PASSES: usize = 2000;

/// The threads pass through `work` and count it.
const SOURCE: &str = r#"
    #include <pthread.h>
    #include <stdio.h>
    #include <stdlib.h>
    static long sum;
    static pthread_barrier_t start;
    __attribute__((noinline)) void work(long n) { __atomic_add_fetch(&sum, n, 5); }
    static void *run(void *passes) {
        pthread_barrier_wait(&start);
        for (long i = 0; i < (long)passes; i++) work(1);
        return NULL;
    }
    int main(int argc, char **argv) {
        int threads = atoi(argv[1]);
        pthread_t ids[64];
        pthread_barrier_init(&start, NULL, threads);
        for (int i = 0; i < threads; i++)
            pthread_create(&ids[i], 0, run, (void *)atol(argv[2]));
        for (int i = 0; i < threads; i++) pthread_join(ids[i], 0);
        printf("%ld\n", sum);
        return 0;
    }"#;

/// A breakpoint of the wrong kind.
struct Breakpoint {
    memory: File,
    address: u64,
    original: u8,
}

impl Breakpoint {
    fn set(process: Pid, address: u64) -> Breakpoint {
        let memory = OpenOptions::new()
            .read(true)
            .write(true)
            .open(format!("/proc/{process}/mem"))
            .unwrap();
        let mut original = [0];
        memory.read_exact_at(&mut original, address).unwrap();
        let breakpoint = Breakpoint {
            memory,
            address,
            original: original[0],
        };
        breakpoint.write(0xcc);
        breakpoint
    }

    fn write(&self, byte: u8) {
        self.memory.write_all_at(&[byte], self.address).unwrap();
    }

    /// Whether the thread has executed the trap.
    fn is_hit(&self, thread: Pid) -> bool {
        ptrace::getregs(thread).is_ok_and(|registers| registers.rip == self.address + 1)
    }

    /// Restore, step, plant; nobody is held.
    fn pass(&self, thread: Pid) {
        self.write(self.original);
        let mut registers = ptrace::getregs(thread).unwrap();
        registers.rip = self.address;
        ptrace::setregs(thread, registers).unwrap();
        ptrace::step(thread, None).unwrap();
        waitpid(thread, Some(WaitPidFlag::__WALL)).unwrap();
        self.write(0xcc);
    }
}

/// Runs the program under the wrong debugger; the hits that it saw.
fn hits_seen(program: &Program) -> usize {
    let mut command = Command::new(&program.path);
    command
        .args([THREADS.to_string(), PASSES.to_string()])
        .stdout(File::create(program.output_path()).unwrap());
    // SAFETY: the closure makes one system call and touches no memory of the
    // process that it was forked from.
    unsafe { command.pre_exec(|| Ok(ptrace::traceme()?)) };
    let mut child = command.spawn().unwrap();
    let process = Pid::from_raw(child.id() as i32);
    waitpid(process, Some(WaitPidFlag::__WALL)).unwrap();
    let options = ptrace::Options::PTRACE_O_TRACECLONE | ptrace::Options::PTRACE_O_EXITKILL;
    ptrace::setoptions(process, options).unwrap();
    let breakpoint = Breakpoint::set(process, file_address(&program.path, "work"));
    ptrace::cont(process, None).unwrap();
    let mut hits = 0;
    // Of this thread's children only: other tests have theirs.
    let flags = WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD;
    loop {
        match waitpid(None, Some(flags)).unwrap() {
            WaitStatus::Exited(pid, status) if pid == process => {
                assert_eq!(status, 0);
                break;
            }
            WaitStatus::Stopped(thread, Signal::SIGTRAP) if breakpoint.is_hit(thread) => {
                hits += 1;
                breakpoint.pass(thread);
                ptrace::cont(thread, None).unwrap();
            }
            status => {
                // A new thread, or the stop at its birth.
                if let Some(thread) = status.pid() {
                    let _ = ptrace::cont(thread, None);
                }
            }
        }
    }
    let _ = child.wait();
    hits
}

#[test]
fn restoring_without_holding_loses_passes() {
    let program = compile(SOURCE, &["-O1", "-no-pie", "-fno-pie"]);
    let hits = hits_seen(&program);
    let passes = THREADS * PASSES;
    assert_eq!(program.output(), format!("{passes}\n"));
    println!("restore and step without holding: {hits} of {passes} passes seen");
    assert!(hits < passes, "{hits}");
}
