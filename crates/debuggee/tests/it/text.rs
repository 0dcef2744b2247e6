//! Every byte of executable memory is the file's again after the last point
//! was removed, while the program runs, and after juror has let it go: on our
//! own program and on large ones of the system, where they are installed.
//!
//! Relocations do not touch text on x86-64, so it is compared whole.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use crate::support::compile;
use crate::support::text::differences;
use juror_debuggee::{Debuggee, Launch, Owner, Redirection, StopEvent};
use juror_testing::find_program;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;
use object::{Object, ObjectSymbol, SymbolKind};

/// Points in each of the first modules.
const POINTS_MAX: usize = 300;
/// Hits before the points are removed, and after they were set again.
const HITS: usize = 300;

/// Threads run through functions; the first one answers each line of input.
const WORKERS: &str = r#"
    #include <pthread.h>
    #include <stdio.h>
    static volatile int done;
    static volatile long sum;
    __attribute__((noinline)) void work(long n) { __atomic_add_fetch(&sum, n, 5); }
    static void *run(void *unused) { while (!done) work(1); return unused; }
    int main(void) {
        pthread_t ids[4];
        char line[4096];
        for (int i = 0; i < 4; i++) pthread_create(&ids[i], 0, run, 0);
        while (fgets(line, sizeof line, stdin)) puts("answer");
        done = 1;
        for (int i = 0; i < 4; i++) pthread_join(ids[i], 0);
        return 0;
    }"#;

/// Writes lines until it is told to stop; then the reader sees the end.
struct Feeder {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<usize>,
}

impl Feeder {
    /// Begins; gives the end from which to read.
    fn begin(line: String) -> (Feeder, Redirection) {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut written = 0;
            while !stopped.load(Ordering::Relaxed) && writer.write_all(line.as_bytes()).is_ok() {
                written += 1;
            }
            written
        });
        let input = Redirection::Descriptor(Arc::new(reader.into()));
        (Feeder { stop, thread }, input)
    }

    /// Ends the input; how many lines there were.
    fn end(self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// Functions of the program and of the C library, spread over each.
fn functions(debuggee: &Debuggee) -> Vec<u64> {
    let mut found = Vec::new();
    for module in debuggee.modules() {
        let is_wanted = module.is_main || module.path.to_string_lossy().contains("/libc.");
        let Some(data) = is_wanted.then(|| fs::read(&module.path).unwrap()) else {
            continue;
        };
        let file = object::File::parse(&*data).unwrap();
        let mut addresses: Vec<u64> = file
            .symbols()
            .chain(file.dynamic_symbols())
            .filter(|it| it.kind() == SymbolKind::Text && it.size() > 0 && it.is_definition())
            .map(|it| module.bias + it.address())
            .collect();
        addresses.sort_unstable();
        addresses.dedup();
        let step = addresses.len().div_ceil(POINTS_MAX).max(1);
        found.extend(addresses.into_iter().step_by(step));
    }
    found
}

/// Runs until so many hits were told; threads that wait are resumed.
fn run_through(debuggee: &mut Debuggee, hits: usize) {
    let mut seen = 0;
    while seen < hits {
        let event = debuggee.wait().unwrap();
        assert!(
            !matches!(event, StopEvent::Exited { .. } | StopEvent::Killed { .. }),
            "{event:?}"
        );
        seen += usize::from(matches!(event, StopEvent::Hit { .. }));
        if let Some(thread) = event.waiting_thread() {
            debuggee.resume(thread).unwrap();
        }
    }
}

/// Runs the program, which answers each line of its input with a line.
#[track_caller]
fn check(program: &Path, arguments: &[&str], answer: &str) {
    let directory = tempfile::tempdir().unwrap();
    let subject = directory.path().join("subject");
    fs::write(&subject, "").unwrap();
    let (feeder, input) = Feeder::begin(format!("{}\n", subject.display()));
    let output = directory.path().join("output");
    let mut debuggee = Debuggee::launch(&Launch {
        arguments: arguments.iter().map(Into::into).collect(),
        input,
        output: Redirection::File(output.clone()),
        ..Launch::new(program)
    })
    .unwrap();
    let process = debuggee.pid();
    let memory = File::open(format!("/proc/{process}/mem")).unwrap();
    debuggee.resume_all().unwrap();
    // The libraries are there when the linker says so.
    loop {
        let event = debuggee.wait().unwrap();
        if let StopEvent::ModulesChanged { .. } = event {
            break;
        }
        debuggee.resume(event.waiting_thread().unwrap()).unwrap();
    }
    let points = functions(&debuggee);
    assert!(points.len() > 100, "{} points", points.len());
    for &point in &points {
        debuggee.insert(point, Owner::Monitor).unwrap();
    }
    let inserted = differences(process, &memory);
    assert!(points.iter().all(|point| inserted.contains(point)));
    debuggee.resume_all().unwrap();
    run_through(&mut debuggee, HITS);

    // While the program runs.
    for &point in &points {
        debuggee.remove(point, Owner::Monitor).unwrap();
    }
    let own: Vec<u64> = debuggee.engine().sites().map(|(site, ..)| site).collect();
    assert_eq!(own.len(), 1, "the linker's announcements alone are watched");
    assert_eq!(differences(process, &memory), own);

    for &point in &points {
        debuggee.insert(point, Owner::Monitor).unwrap();
    }
    run_through(&mut debuggee, HITS);
    debuggee.detach().unwrap();
    assert_eq!(differences(process, &memory), [0_u64; 0]);

    let lines = feeder.end();
    let status = waitpid(Pid::from_raw(process as i32), None).unwrap();
    assert!(matches!(status, WaitStatus::Exited(_, 0)), "{status:?}");
    let answers = fs::read_to_string(&output).unwrap();
    assert!(answers.lines().all(|line| line == answer));
    assert_eq!(answers.lines().count(), lines);
}

#[test]
fn our_own_threads() {
    for flags in [&["-O0"][..], &["-O2", "-no-pie", "-fno-pie"]] {
        check(&compile(WORKERS, flags).path, &[], "answer");
    }
}

#[test]
fn python() {
    if let Some(program) = find_program("python3") {
        let script = "import sys\nfor line in sys.stdin: print('answer')";
        check(&program, &["-c", script], "answer");
    }
}

#[test]
fn git() {
    if let Some(program) = find_program("git") {
        // The name of an empty file's contents.
        let answer = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
        check(&program, &["hash-object", "--stdin-paths"], answer);
    }
}
