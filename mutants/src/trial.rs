//! Runs the tests of a crate with each of its edits.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::tree::TestProgram;

/// One test, and what it reaches.
struct Test {
    program: usize,
    name: String,
    time: Duration,
    reached: Vec<usize>,
}

/// The tests of the crates.
pub struct Tests {
    programs: Vec<TestProgram>,
    tests: Vec<Test>,
    /// The tests that reach an edit, in the order in which they are tried.
    by_edit: BTreeMap<usize, Vec<usize>>,
    /// How long the tests of one edit may take together, without any edit.
    pub limit: Option<Duration>,
}

/// What the tests say of an edit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A test failed, or did not end.
    Noticed,
    /// All tests that reach it passed.
    Survived,
    /// No test reaches it.
    NotReached,
}

impl Tests {
    /// Runs each test alone and records the edits that it reaches. `crates` gives the crate of
    /// each edit; the tests of other crates than it and `with` are not tried.
    ///
    /// # Errors
    ///
    /// A test of an edited crate fails without any edit.
    pub fn record(
        programs: Vec<TestProgram>,
        crates: &[String],
        with: &[String],
        scratch: &Path,
    ) -> Result<Self> {
        let mut names = Vec::new();
        for (number, program) in programs.iter().enumerate() {
            let output = command(program, &["--list", "--format", "terse"]).output()?;
            for line in String::from_utf8_lossy(&output.stdout).lines() {
                if let Some(name) = line.strip_suffix(": test") {
                    names.push((number, name.to_owned()));
                }
            }
        }
        let tests = in_parallel(&names, |(program, name)| {
            one(&programs[*program], *program, name, crates, with, scratch)
        })?;
        let tests: Vec<Test> = tests.into_iter().flatten().collect();
        let mut by_edit: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (number, test) in tests.iter().enumerate() {
            for edit in &test.reached {
                by_edit.entry(*edit).or_default().push(number);
            }
        }
        // Its own tests first, then short ones, and among those of one length the ones of
        // little code.
        for order in by_edit.values_mut() {
            order.sort_by_key(|test| {
                let test = &tests[*test];
                let is_of_another = with.contains(&programs[test.program].of);
                let length = test.time.as_millis().max(1).ilog2();
                (is_of_another, length, test.reached.len())
            });
        }
        Ok(Self {
            programs,
            tests,
            by_edit,
            limit: None,
        })
    }

    /// Tries edits, and calls `told` with each and its outcome as they are known.
    ///
    /// # Errors
    ///
    /// A test cannot be started.
    pub fn run(
        &self,
        edits: &[usize],
        told: impl Fn(usize, Outcome) -> Result<()> + Sync,
    ) -> Result<()> {
        in_parallel(edits, |edit| told(*edit, self.outcome(*edit)?))?;
        Ok(())
    }

    /// Returns how many tests there are, and how long one after the other takes.
    pub fn size(&self) -> (usize, Duration) {
        (
            self.tests.len(),
            self.tests.iter().map(|test| test.time).sum(),
        )
    }

    fn outcome(&self, edit: usize) -> Result<Outcome> {
        let Some(order) = self.by_edit.get(&edit) else {
            return Ok(Outcome::NotReached);
        };
        let mut rest = self.within_limit(order);
        let mut size = 1;
        while !rest.is_empty() {
            let (batch, later) = rest.split_at(size.min(rest.len()));
            let mut by_program: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for test in batch {
                by_program
                    .entry(self.tests[*test].program)
                    .or_default()
                    .push(*test);
            }
            for (program, tests) in by_program {
                if !self.passes(edit, program, &tests)? {
                    return Ok(Outcome::Noticed);
                }
            }
            rest = later;
            size *= 2;
        }
        Ok(Outcome::Survived)
    }

    fn within_limit<'a>(&self, order: &'a [usize]) -> &'a [usize] {
        let Some(limit) = self.limit else {
            return order;
        };
        let mut time = Duration::ZERO;
        let count = order.iter().take_while(|test| {
            time += self.tests[**test].time;
            time <= limit
        });
        &order[..count.count().max(1)]
    }

    fn passes(&self, edit: usize, program: usize, tests: &[usize]) -> Result<bool> {
        let mut command = command(&self.programs[program], &["--exact", "--test-threads=1"]);
        let usual: Duration = tests.iter().map(|test| self.tests[*test].time).sum();
        command.args(tests.iter().map(|test| &self.tests[*test].name));
        command.env("JUROR_EDIT", edit.to_string());
        let child = command.spawn().context("a test cannot be started")?;
        ends_well(child, usual * 10 + Duration::from_secs(10))
    }
}

/// Runs one test without an edit. A test of `with` that fails is left out.
fn one(
    program: &TestProgram,
    number: usize,
    name: &str,
    crates: &[String],
    with: &[String],
    scratch: &Path,
) -> Result<Option<Test>> {
    let file: PathBuf = scratch.join(format!("{number}-{}", name.replace("::", "-")));
    let mut command = command(program, &["--exact", name]);
    command.env("JUROR_EDITS_REACHED", &file);
    let start = Instant::now();
    let child = command.spawn().context("a test cannot be started")?;
    let is_of_another = with.contains(&program.of);
    if !ends_well(child, Duration::from_secs(1800))? {
        if is_of_another {
            eprintln!("   left out, for it fails without an edit: {name}");
            return Ok(None);
        }
        bail!("{name} of {} fails without an edit", program.path.display());
    }
    let time = start.elapsed();
    let bytes = fs::read(&file).unwrap_or_default();
    let _ = fs::remove_file(&file);
    let is_own = |edit: &usize| is_of_another || crates.get(*edit) == Some(&program.of);
    let reached = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == 1)
        .map(|(edit, _)| edit);
    let reached = reached.filter(is_own).collect();
    Ok(Some(Test {
        program: number,
        name: name.to_owned(),
        time,
        reached,
    }))
}

fn command(program: &TestProgram, arguments: &[&str]) -> Command {
    let mut command = Command::new(&program.path);
    command.current_dir(&program.directory).args(arguments);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if arguments.contains(&"--list") {
        command.stdout(Stdio::piped());
    }
    command
        .env("CARGO_MANIFEST_DIR", &program.directory)
        .process_group(0);
    command
}

/// Waits for a program, and ends it with all that it started when its time is over.
fn ends_well(mut child: Child, limit: Duration) -> Result<bool> {
    let start = Instant::now();
    let mut pause = Duration::from_micros(300);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if start.elapsed() > limit {
            if let Some(group) = i32::try_from(child.id())
                .ok()
                .and_then(rustix::process::Pid::from_raw)
            {
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            }
            child.wait()?;
            return Ok(false);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Calls a function for each item, on as many threads as there are processors.
fn in_parallel<I: Sync, O: Send>(
    items: &[I],
    work: impl Fn(&I) -> Result<O> + Sync,
) -> Result<Vec<O>> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Result<O>)>> = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(number) else {
                        return;
                    };
                    let result = work(item);
                    if let Ok(mut done) = done.lock() {
                        done.push((number, result));
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Returns the edits that are not dropped.
pub fn kept(count: usize, dropped: &BTreeSet<usize>) -> Vec<usize> {
    (0..count).filter(|edit| !dropped.contains(edit)).collect()
}
