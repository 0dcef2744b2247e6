//! juror ends at a random moment, by a signal: what becomes of the program.
//!
//! The program checks itself: an instruction that was skipped, a register that was lost
//! and a child that did not end as it should are counted. `JUROR_ENDINGS` is the number of
//! trials; there are few without it.

use crate::support::juror;
use juror_testing::{Fixture, Numbers};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Threads that call `tick` and `tock`, whose first instructions are one byte long and
/// matter. `asked` is called by juror alone.
const VICTIM: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
volatile long beats[4], damage;
static long pause_us;
static int makes_children;
__attribute__((naked, noinline, noclone, used)) long tick(long id, long i) {
    __asm__("clc\n setc %al\n movzbl %al, %eax\n ret");
}
__attribute__((naked, noinline, noclone, used)) long tock(long id) {
    __asm__("stc\n ret");
}
__attribute__((noinline, noclone, used)) long asked(long x) {
    volatile long y = x;
    double z = y * 1.5;
    __asm__ volatile("movq %0, %%xmm15" : : "r"(y) : "xmm15");
    return y + (long)z + tick(7, y);
}
static void *work(void *number) {
    long id = (long)number, result, kept;
    for (;;) {
        __asm__ volatile("sub $128, %%rsp\n stc\n movq %2, %%xmm15\n call tick\n"
                         "movq %%xmm15, %1\n add $128, %%rsp"
                         : "=a"(result), "=c"(kept) : "D"(id), "S"(0L)
                         : "memory", "cc", "rdx", "r8", "r9", "r10", "r11", "xmm15");
        damage += result != 0;
        damage += kept != id;
        __asm__ volatile("sub $128, %%rsp\n call tock\n clc\n setc %%al\n"
                         "movzbl %%al, %%eax\n lea 128(%%rsp), %%rsp"
                         : "=a"(result) : "D"(id) : "memory", "cc");
        damage += result != 0;
        if (makes_children && id == 0) {
            int status = 0;
            pid_t child = vfork();
            if (child == 0) _exit(7);
            damage += waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7;
        }
        beats[id]++;
        if (pause_us >= 0) {
            struct timespec pause = {0, pause_us * 1000};
            nanosleep(&pause, 0);
        }
    }
    return 0;
}
int main(int argc, char **argv) {
    pthread_t thread;
    pause_us = atol(argv[1]);
    makes_children = atoi(argv[2]);
    FILE *file = argc > 3 ? fopen(argv[3], "w") : stdout;
    for (long i = 1; i < 3; i++) pthread_create(&thread, 0, work, (void *)i);
    fprintf(file, "%d %lx %lx %lx\n", getpid(), (long)tick, (long)beats, (long)&damage);
    fflush(file);
    work(0);
}
"#;

/// Both functions, so that events come in pairs.
const PROPERTY: &str = "property p
event t = before tick(id, i)
event a = after tock(id)
var n = 0
state run accepting { on t { n += 1 } -> run on a -> run }
";

/// The way in which juror ends.
#[derive(Debug, Clone, Copy)]
enum Mode {
    /// It is at the prompt, or runs on, after these commands.
    Prompt(&'static str),
    /// It monitors a property.
    Batch,
    /// It monitors a property by traps.
    Traps,
}

const MODES: [Mode; 11] = [
    Mode::Prompt(""),
    Mode::Prompt("break tick\ncontinue\n"),
    Mode::Prompt("break tick\ncontinue\nfinish\nstep\nnext\nnext\n"),
    Mode::Prompt("break tick if i == 1\nbreak tock if id == 9\ncontinue\n"),
    Mode::Prompt("break tick\nbreak tock\ncontinue\ncontinue\ndelete 1\ncontinue\n"),
    Mode::Prompt("break asked\ncall asked(5)\n"),
    Mode::Prompt("break tick\ncontinue\nbreak asked\ncall asked(5)\nbacktrace\ncall asked(6)\n"),
    Mode::Prompt("watch beats[1]\ncontinue 500\ncontinue 500\ncontinue 500\ncontinue 500\n"),
    Mode::Prompt(CALLS),
    Mode::Batch,
    Mode::Traps,
];

/// Short functions, one after the other.
const CALLS: &str = "break tick\ncontinue\ndelete\ncall asked(1)\ncall asked(2)\ncall asked(3)\n\
     call asked(4)\ncall asked(5)\ncall asked(6)\ncall asked(7)\ncall asked(8)\ncall asked(9)\n\
     call asked(10)\ncall asked(11)\ncall asked(12)\n";

/// The limits with which juror starts, as options of prlimit(1). The program is started with
/// them, too, if juror starts it.
const LIMITS: [&str; 4] = ["--core=0", "--core=0", "--stack=65536", "--nofile=48"];

/// The pauses of the program between its calls, in microseconds; none for -1.
const PAUSES_US: [&str; 4] = ["-1", "200", "1000", "50000"];

/// How many trials are made at a time: most of one is waiting for its signal.
const AT_A_TIME: usize = 4;

/// The longest wait for something that must come.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Copy)]
struct Trial {
    is_attached: bool,
    mode: Mode,
    pause_us: &'static str,
    makes_children: bool,
    limits: &'static str,
    /// juror has no descriptor left at the end.
    lacks_descriptors: bool,
    signal: Signal,
    delay: Duration,
}

/// The result of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Found {
    /// The program goes on unharmed, or is gone if juror had started it.
    Right,
    /// It was ended by the signal of a trap, which `kill -9` may do.
    Trapped,
    Wrong(String),
}

impl Trial {
    fn any(numbers: &mut Numbers) -> Trial {
        let mut one_of = |count: usize| numbers.below(count as u64) as usize;
        let signals = [
            Signal::SIGKILL,
            Signal::SIGKILL,
            Signal::SIGTERM,
            Signal::SIGHUP,
        ];
        let mode = MODES[one_of(MODES.len())];
        // At a prompt Ctrl-C ends nothing.
        let is_batch = matches!(mode, Mode::Batch | Mode::Traps);
        let signal = match one_of(signals.len() + 1) {
            number if number < signals.len() => signals[number],
            _ if is_batch => Signal::SIGINT,
            _ => Signal::SIGTERM,
        };
        Trial {
            is_attached: one_of(6) != 0,
            mode,
            pause_us: PAUSES_US[one_of(PAUSES_US.len())],
            makes_children: one_of(4) == 0,
            limits: LIMITS[one_of(LIMITS.len())],
            lacks_descriptors: one_of(8) == 0,
            signal,
            delay: Duration::from_micros(numbers.below(900_000)),
        }
    }

    fn perform(&self, victim: &Path) -> Found {
        let directory = tempfile::tempdir().expect("a directory");
        let found = if self.is_attached {
            self.attach(victim, directory.path())
        } else {
            self.run(victim, directory.path())
        };
        let mut left = Vec::new();
        let is_alone = until(|| {
            left = processes_of(directory.path());
            left.is_empty()
        });
        match found {
            Found::Right | Found::Trapped if !is_alone => {
                Found::Wrong(format!("processes of juror's are left: {left:?}"))
            }
            found => found,
        }
    }

    fn arguments(&self) -> [&'static str; 2] {
        [self.pause_us, if self.makes_children { "1" } else { "0" }]
    }

    fn attach(&self, victim: &Path, directory: &Path) -> Found {
        let mut program = Command::new(victim)
            .args(self.arguments())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        let output = program.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut line).expect("a line");
        let places = Places::parse(&line).expect("its places");
        let memory = File::open(format!("/proc/{}/mem", program.id())).expect("its memory");
        let text = places.text(&memory);
        let process = program.id().to_string();
        let ended = self.end_juror(&["attach"], &[&process], directory);
        let found = match ended {
            Err(why) => Found::Wrong(why),
            Ok(_) => self.judge(&mut program, &memory, &places, &text),
        };
        let _ = program.kill();
        let _ = program.wait();
        found
    }

    fn run(&self, victim: &Path, directory: &Path) -> Found {
        let file = directory.join("process");
        let program = victim.display().to_string();
        let [pause, children] = self.arguments();
        let shown = file.display().to_string();
        let ended = self.end_juror(&["run"], &[&program, pause, children, &shown], directory);
        if let Err(why) = ended {
            return Found::Wrong(why);
        }
        let line = std::fs::read_to_string(&file).unwrap_or_default();
        let Some(process) = line.split(' ').next().filter(|it| !it.is_empty()) else {
            return Found::Right;
        };
        let is_gone = || {
            let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
            stat.map_or(true, |stat| stat.contains(") Z ") || stat.contains(") X "))
        };
        if until(is_gone) {
            Found::Right
        } else {
            Found::Wrong("the program that juror started is still there".to_owned())
        }
    }

    /// Starts juror, sends the signal after the delay, and waits for its end.
    fn end_juror(
        &self,
        command: &[&str],
        program: &[&str],
        directory: &Path,
    ) -> Result<ExitStatus, String> {
        let property = directory.join("p.prop");
        std::fs::write(&property, PROPERTY).expect("it is written");
        let mut started = Command::new("prlimit");
        started.args([self.limits, "env", "--default-signal=HUP,INT"]);
        started.arg(env!("CARGO_BIN_EXE_juror")).args(command);
        match self.mode {
            Mode::Prompt(_) => {}
            Mode::Batch => {
                started.args(["--batch", "--property"]).arg(&property);
            }
            Mode::Traps => {
                started.args(["--batch", "--tier", "trap", "--property"]);
                started.arg(&property);
            }
        }
        started
            .args(program)
            .current_dir(directory)
            .env("XDG_STATE_HOME", directory)
            .env("XDG_CACHE_HOME", directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut juror = started.spawn().expect("juror starts");
        let mut input = juror.stdin.take().expect("a pipe");
        if let Mode::Prompt(commands) = self.mode {
            let begin = if self.is_attached { "" } else { "run\n" };
            // It may have ended already.
            let _ = write!(
                input,
                "{}{begin}",
                if self.is_attached { "" } else { "break tick\n" }
            );
            let _ = input.write_all(commands.as_bytes());
        }
        std::thread::sleep(self.delay);
        if self.lacks_descriptors {
            let process = juror.id().to_string();
            let mut limiting = Command::new("prlimit");
            let _ = limiting.args(["--pid", &process, "--nofile=0:"]).status();
            std::thread::sleep(self.delay / 4);
        }
        let _ = kill(Pid::from_raw(juror.id() as i32), self.signal);
        let mut end = None;
        until(|| {
            end = juror.try_wait().expect("it can be waited for");
            end.is_some()
        });
        drop(input);
        end.ok_or_else(|| {
            let _ = juror.kill();
            let _ = juror.wait();
            "juror does not end".to_owned()
        })
    }

    fn judge(&self, program: &mut Child, memory: &File, places: &Places, text: &[u8]) -> Found {
        let before = places.beats(memory);
        let mut end = None;
        let mut now = before;
        let goes_on = until(|| {
            end = program.try_wait().expect("it can be waited for");
            now = places.beats(memory);
            end.is_some()
                || places.text(memory) == text
                    && before.iter().zip(now).all(|(before, now)| now > before + 1)
                    // The watchdog takes jumps out while it has stopped the program.
                    && line_of(program.id(), "TracerPid").ends_with("\t0")
        });
        if let Some(end) = end {
            let is_promised = self.signal == Signal::SIGKILL && end.signal() == Some(5);
            return if is_promised {
                Found::Trapped
            } else {
                Found::Wrong(format!("the program has ended: {end}"))
            };
        }
        let line = |name: &str| line_of(program.id(), name);
        let damage = places.damage(memory);
        if !goes_on {
            let state = line("State");
            return Found::Wrong(format!("it does not go on: {before:?}, {now:?}, {state}"));
        }
        if damage != 0 {
            return Found::Wrong(format!("it has been damaged {damage} times"));
        }
        if line("TracerPid").ends_with("\t0") {
            Found::Right
        } else {
            Found::Wrong("it is still traced".to_owned())
        }
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// Returns a line of what the kernel says about a process.
fn line_of(process: u32, name: &str) -> String {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"));
    let status = status.unwrap_or_default();
    let found = status.lines().find(|line| line.starts_with(name));
    found.unwrap_or_default().to_owned()
}

/// Returns the processes whose environment names a directory: juror's and its children.
fn processes_of(directory: &Path) -> Vec<u32> {
    let name = directory.as_os_str().as_encoded_bytes();
    let entries = std::fs::read_dir("/proc").expect("it can be read");
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_meant = |process: &u32| {
        let environment = std::fs::read(format!("/proc/{process}/environ"));
        environment.is_ok_and(|it| it.windows(name.len()).any(|part| part == name))
    };
    numbers.filter(is_meant).collect()
}

/// Waits until something holds; returns false if it does not for long.
fn until(mut holds: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    while !holds() {
        if begin.elapsed() > PATIENCE {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// The addresses of what is looked at in the program.
struct Places {
    tick: u64,
    beats: u64,
    damage: u64,
}

impl Places {
    fn parse(line: &str) -> Option<Places> {
        let mut words = line.split_whitespace().skip(1);
        let mut address = || u64::from_str_radix(words.next()?, 16).ok();
        Some(Places {
            tick: address()?,
            beats: address()?,
            damage: address()?,
        })
    }

    /// The code around the functions; nothing of a process that is gone.
    fn text(&self, memory: &File) -> Vec<u8> {
        let mut bytes = vec![0; 256];
        let count = memory.read_at(&mut bytes, self.tick & !15).unwrap_or(0);
        bytes.truncate(count);
        bytes
    }

    fn beats(&self, memory: &File) -> [u64; 3] {
        let mut bytes = [0; 24];
        let _ = memory.read_exact_at(&mut bytes, self.beats);
        let mut words = bytes.chunks_exact(8);
        std::array::from_fn(|_| {
            let word = words.next().and_then(|it| it.try_into().ok());
            u64::from_le_bytes(word.unwrap_or_default())
        })
    }

    fn damage(&self, memory: &File) -> u64 {
        let mut bytes = [0; 8];
        let _ = memory.read_exact_at(&mut bytes, self.damage);
        u64::from_le_bytes(bytes)
    }
}

fn victim() -> PathBuf {
    Fixture::c("victim.c", VICTIM).compile_plain()
}

/// Performs one half of the trials, and checks that none was wrong. `JUROR_ENDINGS` is the number of
/// all trials, `JUROR_ENDINGS_FIRST` that of the first one.
fn check_half(half: u64) {
    let number = |name, usual| {
        let asked = std::env::var(name).ok();
        asked.and_then(|asked| asked.parse().ok()).unwrap_or(usual)
    };
    let count: u64 = number("JUROR_ENDINGS", 100);
    let first = number("JUROR_ENDINGS_FIRST", 1);
    let middle = first + count / 2;
    let (begin, end) = match half {
        0 => (first, middle),
        _ => (middle, first + count),
    };
    let victim = victim();
    let next = AtomicU64::new(begin);
    let found: Vec<(u64, Found)> = std::thread::scope(|scope| {
        let begin = |_| scope.spawn(|| performed(&victim, &next, end));
        let workers: Vec<_> = (0..AT_A_TIME).map(begin).collect();
        let ended = workers.into_iter().map(|worker| worker.join());
        ended.flat_map(|it| it.expect("no panic")).collect()
    });
    let count = end - begin;
    assert_eq!(found.len() as u64, count);
    let trapped = found.iter().filter(|(_, it)| *it == Found::Trapped).count();
    let wrong: Vec<u64> = found
        .iter()
        .filter(|(_, it)| matches!(it, Found::Wrong(_)))
        .map(|(number, _)| *number)
        .collect();
    eprintln!(
        "{count} endings: {trapped} by a trap's signal, {} wrong",
        wrong.len()
    );
    assert!(wrong.is_empty(), "trials {wrong:?} of {count}");
}

#[test]
fn no_program_is_damaged_or_lost_however_juror_ends() {
    check_half(0);
}

#[test]
fn no_program_is_damaged_or_lost_however_juror_ends_second_half() {
    check_half(1);
}

/// Performs the trials that nobody has performed yet, up to a number.
fn performed(victim: &Path, next: &AtomicU64, end: u64) -> Vec<(u64, Found)> {
    let mut found = Vec::new();
    loop {
        let number = next.fetch_add(1, Ordering::SeqCst);
        if number >= end {
            return found;
        }
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(number));
        let trial = Trial::any(&mut numbers);
        let result = trial.perform(victim);
        if let Found::Wrong(why) = &result {
            eprintln!("trial {number}: {why}\n  {trial}");
        }
        found.push((number, result));
    }
}

/// A program that waits in `vfork` for a child that sleeps.
const IN_VFORK: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int status = 0;
    printf("%d\n", getpid());
    fflush(stdout);
    pid_t child = vfork();
    if (child == 0) { usleep(atoi(argv[1]) * 1000); _exit(4); }
    wait(&status);
    return WEXITSTATUS(status) + 1;
}
"#;

struct Ended {
    status: ExitStatus,
    output: String,
}

/// Returns a command that starts juror with other dispositions of signals than the test has,
/// as an option of `env` names them.
fn juror_with(dispositions: &str) -> Command {
    let mut command = Command::new("env");
    command.args([dispositions, env!("CARGO_BIN_EXE_juror")]);
    command
}

/// Starts juror, sends it a signal once it has written a text (or at once, for none), and
/// waits for its end.
#[track_caller]
fn end_at(arguments: &[&str], commands: &str, text: &str, signal: Option<Signal>) -> Ended {
    let juror = juror_with("--default-signal=HUP,INT");
    end_of(juror, arguments, commands, text, signal)
}

/// As [`end_at`], for a command that starts juror.
#[track_caller]
fn end_of(
    mut juror: Command,
    arguments: &[&str],
    commands: &str,
    text: &str,
    signal: Option<Signal>,
) -> Ended {
    let directory = tempfile::tempdir().expect("a directory");
    let mut juror = juror
        .args(arguments)
        .env("XDG_STATE_HOME", directory.path())
        .env("XDG_CACHE_HOME", directory.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("juror starts");
    let mut input = juror.stdin.take().expect("a pipe");
    let _ = input.write_all(commands.as_bytes());
    let mut output = BufReader::new(juror.stdout.take().expect("a pipe"));
    let mut said = String::new();
    // A prompt is no whole line.
    while !said.contains(text) {
        let bytes = output.fill_buf().expect("text");
        let count = bytes.len();
        assert_ne!(count, 0, "no {text:?} in {said}");
        said += &String::from_utf8_lossy(bytes);
        output.consume(count);
    }
    if let Some(signal) = signal {
        let _ = kill(Pid::from_raw(juror.id() as i32), signal);
    }
    let reader = std::thread::spawn(move || {
        let mut rest = String::new();
        let _ = std::io::Read::read_to_string(&mut output, &mut rest);
        rest
    });
    let mut end = None;
    until(|| {
        end = juror.try_wait().expect("it can be waited for");
        end.is_some()
    });
    if end.is_none() {
        let _ = juror.kill();
        let _ = juror.wait();
    }
    drop(input);
    said += &reader.join().expect("it is read");
    match end {
        Some(status) => Ended {
            status,
            output: said,
        },
        None => panic!("juror does not end: {said}"),
    }
}

#[test]
fn an_ending_does_not_wait_for_a_program_in_vfork() {
    let program = Fixture::c("in-vfork", IN_VFORK).compile_plain();
    let program = program.display().to_string();
    for follow in ["parent", "child", "both"] {
        for signal in [Signal::SIGTERM, Signal::SIGHUP] {
            let arguments = ["run", "--batch", "--follow", follow, &program, "1000000"];
            let ended = end_at(&arguments, "", "\n", Some(signal));
            assert_eq!(ended.status.signal(), Some(signal as i32), "{follow}");
            let process = ended.output.lines().next().expect("its number").to_owned();
            let is_gone = || !Path::new(&format!("/proc/{process}")).exists();
            assert!(until(is_gone), "{follow}: {process} is still there");
        }
    }
}

#[test]
fn a_program_in_vfork_can_be_attached_to_when_its_child_has_ended() {
    let path = Fixture::c("in-vfork", IN_VFORK).compile_plain();
    for (pause_ms, signal) in [("2000", None), ("4000", Some(Signal::SIGTERM))] {
        let mut program = Command::new(&path)
            .arg(pause_ms)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        let output = program.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut line).expect("a line");
        let process = program.id().to_string();
        let text = if signal.is_some() { "" } else { "Attached to" };
        let ended = end_at(&["attach", &process], "quit\n", text, signal);
        match signal {
            None => assert_eq!(ended.status.code(), Some(0), "{}", ended.output),
            Some(_) => assert!(!ended.output.contains("Attached to"), "{}", ended.output),
        }
        let end = program.wait().expect("its end");
        assert_eq!(end.code(), Some(5), "{pause_ms}");
    }
}

#[test]
fn an_ending_does_not_depend_on_scenarios() {
    let directory = tempfile::tempdir().expect("a directory");
    for reaction in [
        "on exit { command \"run\" }",
        "on exit { command \"start\" command \"continue\" }",
        "on stop { command \"continue\" } on exit { command \"run\" }",
    ] {
        let file = directory.path().join("s.scn");
        std::fs::write(&file, format!("scenario s {reaction}\n")).expect("it is written");
        let file = file.display().to_string();
        for signal in [Signal::SIGTERM, Signal::SIGHUP] {
            let arguments = ["run", "--batch", "--scenario", &file, "/bin/echo", "again"];
            let ended = end_at(&arguments, "", "again\nThe program exited", Some(signal));
            assert_eq!(ended.status.signal(), Some(signal as i32), "{reaction}");
        }
    }
}

#[test]
fn a_hangup_that_is_ignored_ends_nothing() {
    let script = "echo begun; sleep 1; echo done";
    let arguments = ["run", "--batch", "--", "/bin/sh", "-c", script];
    let juror = juror_with("--ignore-signal=HUP");
    let ended = end_of(juror, &arguments, "", "begun\n", Some(Signal::SIGHUP));
    assert_eq!(ended.status.code(), Some(0), "{}", ended.output);
    assert!(ended.output.contains("done\n"), "{}", ended.output);
}

/// Begins twice, and ends once.
const HANGS: &str = r#"
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) static void begin(int id) { printf("begin %d\n", id); }
__attribute__((noinline)) static void end(int id) { printf("end %d\n", id); }
int main(void) { begin(1); end(1); begin(2); fflush(stdout); for (;;) pause(); }
"#;

/// As [`HANGS`], but it cannot be stopped: it waits in the kernel for a child that nobody traces
/// (clone(2), `CLONE_VFORK`).
const UNSTOPPABLE: &str = r#"
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
__attribute__((noinline)) static void begin(int id) { printf("begin %d\n", id); }
__attribute__((noinline)) static void end(int id) { printf("end %d\n", id); }
int main(void) {
    begin(1); end(1); begin(2); fflush(stdout);
    syscall(SYS_clone, CLONE_VFORK | CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0);
    for (;;) pause();
}
"#;

const ENDED: &str = "property ended \"what has begun ends\"
slice on id
event b = before begin(id)
event e = before end(id)
state init accepting { on b -> open }
state open non-accepting { on e -> init }
";

#[test]
fn a_batch_run_that_is_ended_tells_its_verdicts() {
    let directory = tempfile::tempdir().expect("a directory");
    let property = directory.path().join("ended.prop");
    std::fs::write(&property, ENDED).expect("a file");
    let property = property.display().to_string();
    for (name, source) in [("hangs", HANGS), ("unstoppable", UNSTOPPABLE)] {
        let program = Fixture::c(name, source).compile_plain();
        let program = program.display().to_string();
        for (options, signal, code) in [
            (&["--timeout", "1"][..], None, Some(124)),
            (&[][..], Some(Signal::SIGTERM), None),
            (&[][..], Some(Signal::SIGHUP), None),
        ] {
            let mut arguments = vec!["run", "--batch", "--property", &property];
            arguments.extend(options);
            arguments.push(&program);
            let ended = end_at(&arguments, "", "begin 2", signal);
            assert_eq!(ended.status.code(), code, "{}", ended.output);
            for expected in [
                "OPEN      ended: presumably violated",
                "before begin",
                "2 times",
            ] {
                let output = &ended.output;
                assert!(
                    output.contains(expected),
                    "{name}: {signal:?}: {expected}: {output}"
                );
            }
        }
    }
}

/// The page is served while a line is awaited, by another thread.
#[test]
fn a_prompt_with_a_page_is_ended_by_a_signal() {
    for signal in [Signal::SIGTERM, Signal::SIGHUP] {
        let arguments = ["run", "--no-init", "--web", "/bin/echo"];
        let ended = end_at(&arguments, "", "(juror) ", Some(signal));
        assert_eq!(
            ended.status.signal(),
            Some(signal as i32),
            "{}",
            ended.output
        );
    }
}

/// A stack that is too small for juror is not a reason to end.
#[test]
fn a_small_stack_is_enough() {
    let mut juror = Command::new("prlimit");
    juror.args(["--stack=65536", env!("CARGO_BIN_EXE_juror")]);
    let ended = end_of(
        juror,
        &["run", "--batch", "/bin/echo", "said"],
        "",
        "said\n",
        None,
    );
    assert_eq!(ended.status.code(), Some(0), "{}", ended.output);
}

/// The entry point is not executable: the first instruction faults.
#[test]
fn a_program_that_faults_at_its_entry_is_ended_by_that() {
    let path = Fixture::c("entry", "int main(void) { return 0; }").argument("-static-pie");
    let path = path.compile_plain();
    let mut bytes = std::fs::read(&path).expect("the program");
    bytes[24..32].fill(0);
    let damaged = path.with_file_name("no-entry");
    std::fs::write(&damaged, bytes).expect("a file");
    let permissions = std::fs::metadata(&path).expect("the program").permissions();
    std::fs::set_permissions(&damaged, permissions).expect("a file");
    let output = juror(&["run", "--batch"]).args([&damaged]).run();
    let said = format!("{}{}", output.stdout, output.stderr);
    assert!(said.contains("SIGSEGV"), "{said}");
}

/// The linker's list leads back to its beginning, or to an entry of its own.
const CYCLE: &str = r#"
#include <link.h>
#include <stdio.h>
extern struct r_debug _r_debug;
__attribute__((noinline)) void after(void) { __asm__ volatile(""); }
int main(int argc, char **argv) {
    struct link_map *last = _r_debug.r_map;
    while (last->l_next) last = last->l_next;
    last->l_next = argc > 1 ? last : _r_debug.r_map;
    ((void (*)(void))_r_debug.r_brk)();
    after();
    last->l_next = 0;
    puts("done");
    fflush(stdout);
    _Exit(0);
}
"#;

#[test]
fn a_cycle_in_the_list_of_libraries_is_bounded() {
    let program = Fixture::c("cycle", CYCLE).compile_plain();
    for arguments in [&[][..], &["own"]] {
        let output = juror(&["run", "--batch", "-e", "break after", "-e", "run"])
            .args(["-e", "info sharedlibrary", "-e", "continue"])
            .args([&program])
            .args(arguments)
            .run();
        output.assert_code(0);
        assert!(output.stdout.contains("done\n"), "{}", output.stdout);
        assert_eq!(
            output.stdout.matches("/libc.so").count(),
            1,
            "{}",
            output.stdout
        );
    }
}

#[test]
fn a_program_is_brought_back_from_an_open_evaluation() {
    let victim = victim();
    let commands = "break asked\ncall asked(5)\ncall asked(6)\necho here\\n\n";
    for (signal, pause_us) in [
        (Signal::SIGTERM, "1000"),
        (Signal::SIGHUP, "-1"),
        (Signal::SIGKILL, "1000"),
        (Signal::SIGKILL, "-1"),
        (Signal::SIGINT, "1000"),
    ] {
        let mut program = Command::new(&victim)
            .args([pause_us, "0"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        let output = program.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut line).expect("a line");
        let places = Places::parse(&line).expect("its places");
        let memory = File::open(format!("/proc/{}/mem", program.id())).expect("its memory");
        let text = places.text(&memory);
        let process = program.id().to_string();
        // Before the next prompt, SIGINT would interrupt the command `echo`.
        let shown = "\nhere\n(juror) ";
        let ended = end_at(&["attach", &process], commands, shown, Some(signal));
        assert_eq!(
            ended.output.matches("asked (x=").count(),
            2,
            "{}",
            ended.output
        );
        let trial = Trial {
            is_attached: true,
            mode: MODES[0],
            pause_us,
            makes_children: false,
            limits: LIMITS[0],
            lacks_descriptors: false,
            signal: Signal::SIGTERM,
            delay: Duration::ZERO,
        };
        let found = trial.judge(&mut program, &memory, &places, &text);
        let _ = program.kill();
        let _ = program.wait();
        assert_eq!(found, Found::Right, "{signal}");
    }
}

/// Without descriptors juror cannot make the way by which the program goes on where it was.
#[test]
fn a_call_without_a_way_back_is_refused() {
    let victim = victim();
    let mut program = Command::new(&victim)
        .args(["1000", "0"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    let output = program.stdout.take().expect("a pipe");
    BufReader::new(output).read_line(&mut line).expect("a line");
    let process = program.id().to_string();
    let limit = "shell prlimit --pid $PPID --nofile=0:";
    let output = juror(&["attach", "--batch", &process, "-e", "print asked"])
        .args(["-e", limit, "-e", "call asked(5)"])
        .run();
    let goes_on = program.try_wait().expect("its state").is_none();
    let _ = program.kill();
    let _ = program.wait();
    let said = format!("{}{}", output.stdout, output.stderr);
    assert!(
        said.contains("would not go on where it was if juror were killed"),
        "{said}"
    );
    assert!(goes_on, "{said}");
}
