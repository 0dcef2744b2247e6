//! The costs of a checkpoint and a restore: juror, and gdb's `checkpoint` if applicable
//! (one thread), in the same run.
//!
//! ```text
//! cargo bench -p juror-testing --bench checkpoint [-- --quick]
//! ```
//!
//! The program touches some memory and starts some threads, which sleep. The table
//! (Markdown) has medians of several checkpoints of one process, and of as many restores.
//! gdb measures its own, per command. The floor is the time of a bare `fork` of the same
//! process, the cheapest possible copy, and of its exit.
//!
//! A second table has the times of commands that go back in a recorded run.
//!
//! `--quick` takes some seconds and shows only that everything works.

mod checkpoint {
    pub mod going_back;
}

use checkpoint::going_back;
use juror_checkpoint::{Checkpoint, Settings};
use juror_debuggee::{Debuggee, Launch, Owner, Redirection, StopEvent};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

const SOURCE: &str = r#"
    #include <pthread.h>
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/wait.h>
    #include <time.h>
    #include <unistd.h>
    volatile int made;
    static long now_ns(void) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return now.tv_sec * 1000000000L + now.tv_nsec;
    }
    /* Copies and ends, in turn. */
    static void measure_forks(int rounds) {
        for (int round = 0; round < rounds; round++) {
            long start = now_ns();
            int copy = fork();
            if (!copy) for (;;) pause();
            long forked = now_ns();
            kill(copy, SIGKILL);
            waitpid(copy, 0, 0);
            printf("%ld %ld\n", forked - start, now_ns() - forked);
        }
    }
    __attribute__((noinline)) void reached(void) { __asm__ volatile(""); }
    static void *sleep_on(void *unused) {
        __sync_fetch_and_add(&made, 1);
        for (;;) pause();
        return unused;
    }
    int main(int argc, char **argv) {
        size_t length = (size_t)atol(argv[1]) << 20;
        char *memory = malloc(length);
        memset(memory, 1, length);
        int threads = atoi(argv[2]) - 1;
        for (int i = 0; i < threads; i++) {
            pthread_t thread;
            pthread_create(&thread, 0, sleep_on, 0);
        }
        while (made < threads) usleep(100);
        if (argc > 3) {
            measure_forks(atoi(argv[3]));
            return 0;
        }
        for (;;) reached();
    }
"#;

/// Pairs of megabytes and threads.
const CASES: [(u32, u32); 6] = [(10, 1), (100, 1), (1024, 1), (10, 8), (100, 8), (1024, 8)];

/// An upper bound for the exit of two processes of this size.
const END_PER_GIGABYTE: Duration = Duration::from_millis(400);

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let is_quick = std::env::args().any(|argument| argument == "--quick");
    match measure(is_quick) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the benchmark failed: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(is_quick: bool) -> Result<(), Failure> {
    let directory = tempfile::tempdir()?;
    let program = compile(directory.path(), "program", SOURCE)?;
    let rounds = if is_quick { 3 } else { 15 };
    println!(
        "| memory | threads | checkpoint | restore | bare fork | its end | gdb checkpoint \
         | gdb restart | times |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (megabytes, threads) in CASES {
        if is_quick && megabytes > 100 {
            continue;
        }
        let (forked, ended) = floor(&program, megabytes, threads, rounds)?;
        let (checkpoint, restore) = juror(&program, megabytes, threads, rounds)?;
        let gdb = match threads {
            1 => gdb(&program, megabytes, rounds)?,
            _ => None,
        };
        let (taken, back) = match gdb {
            Some((taken, back)) => (milliseconds(taken), milliseconds(back)),
            None => ("–".to_owned(), "–".to_owned()),
        };
        let times = gdb.map_or("–".to_owned(), |(taken, _)| {
            format!("{:.1}", taken.as_secs_f64() / checkpoint.as_secs_f64())
        });
        println!(
            "| {megabytes} MB | {threads} | {} | {} | {} | {} | {taken} | {back} | {times} |",
            milliseconds(checkpoint),
            milliseconds(restore),
            milliseconds(forked),
            milliseconds(ended),
        );
    }
    let program = compile(directory.path(), "rounds", going_back::SOURCE)?;
    going_back::measure(&program, directory.path(), is_quick)
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

fn compile(directory: &Path, name: &str, text: &str) -> Result<PathBuf, Failure> {
    let (source, program) = (directory.join(format!("{name}.c")), directory.join(name));
    std::fs::write(&source, text)?;
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-g", "-pthread", "-o"]);
    if compiler.arg(&program).arg(&source).status()?.success() {
        Ok(program)
    } else {
        Err("cc failed".into())
    }
}

fn juror(
    program: &Path,
    megabytes: u32,
    threads: u32,
    rounds: usize,
) -> Result<(Duration, Duration), Failure> {
    let mut launch = Launch::new(program);
    launch.arguments = vec![megabytes.to_string().into(), threads.to_string().into()];
    launch.input = Redirection::File("/dev/null".into());
    let mut debuggee = Debuggee::launch(&launch)?;
    let address = symbol(program)? + debuggee.modules().first().map_or(0, |it| it.bias);
    debuggee.insert(address, Owner::Developer)?;
    run_to_hit(&mut debuggee)?;
    let settings = Settings::default();
    let (mut taken, mut back) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        // The processes discarded by the previous round exit in the background.
        std::thread::sleep(END_PER_GIGABYTE * megabytes / 1024);
        run_to_hit(&mut debuggee)?;
        let start = Instant::now();
        let checkpoint = Checkpoint::take(&mut debuggee, &settings, None)?;
        taken.push(start.elapsed());
        run_to_hit(&mut debuggee)?;
        let points = checkpoint.process().points().to_vec();
        let start = Instant::now();
        let restored = checkpoint.restore(Some(&mut debuggee), &points)?;
        back.push(start.elapsed());
        debuggee = restored.thawed.debuggee;
    }
    Ok((median(taken), median(back)))
}

/// Returns the time of a `fork` by the program itself, and of the copy's exit.
fn floor(
    program: &Path,
    megabytes: u32,
    threads: u32,
    rounds: usize,
) -> Result<(Duration, Duration), Failure> {
    let mut command = Command::new(program);
    command.args([
        megabytes.to_string(),
        threads.to_string(),
        rounds.to_string(),
    ]);
    let text = String::from_utf8(command.output()?.stdout)?;
    let (mut forked, mut ended) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let (fork_ns, end_ns) = line.split_once(' ').ok_or("no two numbers")?;
        forked.push(Duration::from_nanos(fork_ns.parse()?));
        ended.push(Duration::from_nanos(end_ns.parse()?));
    }
    Ok((median(forked), median(ended)))
}

fn run_to_hit(debuggee: &mut Debuggee) -> Result<(), Failure> {
    debuggee.resume_all()?;
    loop {
        match debuggee.wait()? {
            StopEvent::Hit { .. } => return Ok(debuggee.halt_all()?),
            StopEvent::Exited { .. } | StopEvent::Killed { .. } => {
                return Err("it has ended".into());
            }
            stop_event => {
                if let Some(thread) = stop_event.waiting_thread() {
                    debuggee.resume(thread)?;
                }
            }
        }
    }
}

fn symbol(program: &Path) -> Result<u64, Failure> {
    let output = Command::new("nm").arg(program).output()?;
    let text = String::from_utf8(output.stdout)?;
    let line = text.lines().find(|line| line.ends_with(" reached"));
    let address = line.and_then(|line| line.split(' ').next());
    Ok(u64::from_str_radix(address.ok_or("no symbol")?, 16)?)
}

/// Returns gdb's times; `None` without gdb, or if it has no Python.
fn gdb(
    program: &Path,
    megabytes: u32,
    rounds: usize,
) -> Result<Option<(Duration, Duration)>, Failure> {
    let begin = "python begin = time.monotonic()";
    let end = |what: &str| format!("python print('{what}', time.monotonic() - begin)");
    let mut command = Command::new("gdb");
    command.args(["-batch", "-nx", "-ex", "set breakpoint pending on"]);
    let mut lines = vec![
        "python import time".to_owned(),
        "break reached".to_owned(),
        "run".to_owned(),
    ];
    for round in 1..=rounds {
        lines.extend([
            "continue".to_owned(),
            begin.to_owned(),
            "checkpoint".to_owned(),
        ]);
        lines.extend([end("taken"), begin.to_owned(), format!("restart {round}")]);
        lines.push(end("back"));
    }
    for line in &lines {
        command.args(["-ex", line]);
    }
    command.arg("--args").arg(program);
    let Ok(output) = command.arg(megabytes.to_string()).arg("1").output() else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let of = |what: &str| -> Vec<Duration> {
        let times = text
            .lines()
            .filter_map(|line| line.strip_prefix(what)?.trim().parse().ok());
        times.map(Duration::from_secs_f64).collect()
    };
    let (taken, back) = (of("taken"), of("back"));
    Ok((!taken.is_empty() && !back.is_empty()).then(|| (median(taken), median(back))))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
