//! Programs that end while one of their threads makes a process: what both sides
//! of the tests need, in the program and beside it.

use std::io::{PipeReader, Read};
use std::os::fd::AsRawFd;

use juror_debuggee::{Debuggee, Launch, Owner, Redirection, ThreadId};

use super::{Program, compile};

/// The beginning of such a program. Its thread sets `maker` and waits for
/// `may_fork`; another goes on when `await_maker` returns: until then the debugger
/// could not be told of the fork.
const BEGINNING: &str = r#"
    #define _GNU_SOURCE
    #include <fcntl.h>
    #include <pthread.h>
    #include <sched.h>
    #include <signal.h>
    #include <stdio.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <sys/wait.h>
    #include <unistd.h>
    static volatile int may_fork, sum;
    static volatile pid_t maker;
    __attribute__((noinline)) void work(int n) { sum += n; }
    static void await_maker(void) {
        char path[64], text[256];
        sprintf(path, "/proc/self/task/%d/stat", maker);
        for (;;) {
            int file = open(path, O_RDONLY);
            long length = read(file, text, sizeof text - 1);
            close(file);
            text[length > 0 ? length : 0] = 0;
            char *state = strstr(text, ") ");
            if (state && state[2] == 't') return;
            sched_yield();
        }
    }"#;

/// What becomes of the program, which has `END` where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It waits for its child.
    Waits,
    Exits,
    IsKilled,
    IsReplaced,
}

impl End {
    /// Compiles the rest of a program; `flag` such as `-DEARLIER=1`.
    #[track_caller]
    pub fn program(self, rest: &str, flag: &str) -> Program {
        let end = match self {
            End::Waits => "while (wait(0) < 0) sched_yield()",
            End::Exits => "_exit(0)",
            End::IsKilled => "kill(getpid(), SIGKILL)",
            End::IsReplaced => "execl(argv[0], argv[0], \"again\", (char *)0)",
        };
        let source = [BEGINNING, rest].concat();
        compile(&source, &["-O1", &format!("-DEND={end}"), flag])
    }

    /// The state in which the first thread waits then for what the debugger does:
    /// at the stop before its end, or for the end of the other thread.
    fn state(self) -> Option<char> {
        match self {
            End::Waits => None,
            End::Exits | End::IsKilled => Some('t'),
            End::IsReplaced => Some('D'),
        }
    }

    /// Lets the first thread run, and looks away until the program is at its end.
    pub fn look_away(self, debuggee: &mut Debuggee, thread: ThreadId) {
        let Some(awaited) = self.state() else {
            return;
        };
        debuggee.resume(thread).unwrap();
        let path = format!("/proc/{}/stat", debuggee.pid());
        loop {
            let text = std::fs::read_to_string(&path).unwrap();
            let state = text
                .rsplit_once(") ")
                .and_then(|(_, rest)| rest.chars().next());
            // A thread may be in this state for a moment while it opens a file, too.
            let is_replacing = || {
                let call = std::fs::read_to_string(format!("/proc/{}/syscall", debuggee.pid()));
                call.is_ok_and(|call| call.starts_with(&format!("{} ", libc::SYS_execve)))
            };
            if state == Some(awaited) && (self != End::IsReplaced || is_replacing()) {
                return;
            }
            std::thread::yield_now();
        }
    }
}

/// Starts it with points, and a pipe of which every process has the end that is
/// written to.
#[track_caller]
pub fn start(program: &Program, launch: Launch, symbols: [&str; 2]) -> (Debuggee, PipeReader) {
    let (reader, writer) = std::io::pipe().unwrap();
    let output = format!("/dev/fd/{}", writer.as_raw_fd());
    let launch = Launch {
        output: Redirection::File(output.into()),
        ..launch
    };
    let mut debuggee = Debuggee::launch(&launch).unwrap();
    for symbol in symbols {
        let address = program.address(&debuggee, symbol);
        debuggee.insert(address, Owner::Monitor).unwrap();
    }
    (debuggee, reader)
}

/// What the children said. It ends with the last process that has the pipe: none
/// may be left standing.
pub fn said(mut reader: PipeReader) -> String {
    let mut said = String::new();
    reader.read_to_string(&mut said).unwrap();
    said
}
