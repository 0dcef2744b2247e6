//! The rights that the user of the tests has, as the kernel grants them.

use crate::compile_c;
use std::process::Command;
use std::sync::LazyLock;

/// Asks for a child whose number has just become free. Exits with 0 if the kernel gives it, or
/// finds it taken again, and with 1 if it forbids the choice.
const CHOOSES_A_NUMBER: &str = r#"
    #define _GNU_SOURCE
    #include <errno.h>
    #include <linux/sched.h>
    #include <signal.h>
    #include <stdint.h>
    #include <sys/syscall.h>
    #include <sys/wait.h>
    #include <unistd.h>
    int main(void) {
        pid_t number = fork();
        if (!number) _exit(0);
        if (number < 0 || waitpid(number, 0, 0) != number) return 2;
        struct clone_args arguments = {
            .exit_signal = SIGCHLD, .set_tid = (uintptr_t)&number, .set_tid_size = 1};
        long child = syscall(SYS_clone3, &arguments, sizeof arguments);
        if (!child) _exit(0);
        if (child > 0) return waitpid(child, 0, 0) != child;
        return errno != EEXIST;
    }
"#;

/// Tells whether this user may choose the numbers of new threads, by a program that tries it.
/// Without that right a process with one thread is restored with another number, and one with
/// several threads cannot be kept.
///
/// # Panics
///
/// The program does not compile or run.
pub fn may_choose_thread_numbers() -> bool {
    static ANSWER: LazyLock<bool> = LazyLock::new(|| {
        let directory = match tempfile::tempdir() {
            Ok(directory) => directory,
            Err(error) => panic!("there is no temporary directory: {error}"),
        };
        let path = directory.path().join("chooses");
        compile_c(&path, CHOOSES_A_NUMBER, &[]);
        match Command::new(&path).status() {
            Ok(status) => status.success(),
            Err(error) => panic!("{} does not run: {error}", path.display()),
        }
    });
    *ANSWER
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `CAP_SYS_ADMIN` and `CAP_CHECKPOINT_RESTORE` of the kernel.
    const ALLOWING: u64 = 1 << 21 | 1 << 40;

    #[test]
    fn nobody_without_a_capability_may_choose() {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
        let effective = u64::from_str_radix(line.unwrap().trim(), 16).unwrap();
        assert!(effective & ALLOWING != 0 || !may_choose_thread_numbers());
    }
}
