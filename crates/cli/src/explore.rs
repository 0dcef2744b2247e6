//! `juror explore`: other orders of the threads are tried; and `juror replay` of a run that failed.

use crate::arguments::{Explore, Points, symbol_settings};
use crate::exit;
use anyhow::{Context, anyhow, bail};
use juror_explore::{
    ChoiceKind, Deadlocked, Exploration, Failure, KnownSites, Limits, Outcome, PointSet, Progress,
    RunFile, Runner, Settings, Streams, Switch, ThreadPlace, Waiting, explore,
};
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The time after which the progress is shown again.
const SHOWN_EVERY: Duration = Duration::from_millis(200);

/// Runs `juror explore`. Returns the exit status.
pub fn run(arguments: &Explore) -> anyhow::Result<u8> {
    let program = found(&arguments.program)?;
    let words = arguments.arguments.iter();
    let runner = Runner {
        program: text(program.as_os_str())?,
        arguments: words
            .map(|word| text(word))
            .collect::<anyhow::Result<_>>()?,
        directory: text(std::env::current_dir()?.as_os_str())?,
        symbols: juror_explore::symbol_store(symbol_settings()),
        sites: KnownSites::default(),
    };
    let settings = Settings {
        runs: arguments.runs,
        seed: arguments.seed,
        points: arguments.points.map(|points| match points {
            Points::Sync => PointSet::Sync,
            Points::Atomic => PointSet::Atomic,
            Points::Memory => PointSet::Memory,
        }),
        limits: Limits {
            time: Duration::from_secs(arguments.run_limit),
            ..Limits::default()
        },
    };
    let mut line = ProgressLine::new();
    let found = explore(&runner, settings, &mut line);
    line.clear();
    let found = found?;
    let mut page = anstream::stdout();
    if found.left_out != 0 {
        let count = found.left_out;
        eprintln!("note: {count} schedule points were left out; --points sync has few");
    }
    match &found.failure {
        Some(failure) => {
            let path = file_name(&program, failure.run);
            failure.file.write(&path)?;
            show_failure(&mut page, failure, settings.runs, &path)?;
            Ok(exit::VIOLATED)
        }
        None => {
            show_none(&mut page, &found, settings)?;
            Ok(exit::HOLDS)
        }
    }
}

/// Returns whether a file is that of a run, and no recording of events.
pub fn is_run(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("run")) || begins_like_run(path)
}

fn begins_like_run(path: &Path) -> bool {
    let mut begin = [0; 12];
    let read = std::fs::File::open(path).and_then(|mut file| {
        let count = io::Read::read(&mut file, &mut begin)?;
        Ok(begin.get(..count).unwrap_or_default() == b"{\"juror_run\"")
    });
    read.unwrap_or(false)
}

/// Makes a run again, and reports how it ended. Returns the exit status.
pub fn replay(path: &Path) -> anyhow::Result<u8> {
    let file = RunFile::read(path)?;
    let (program, arguments, directory) = file.command();
    let runner = Runner {
        program,
        arguments,
        directory,
        symbols: juror_explore::symbol_store(symbol_settings()),
        sites: KnownSites::default(),
    };
    let ended = file
        .replay(&runner, Streams::Shown, true)
        .with_context(|| path.display().to_string())?;
    let mut page = anstream::stdout();
    if !file.is_same(&ended) {
        let at = match ended.diverged {
            Some(moment) => format!(" at point {} of {}", moment.point, moment.thread),
            None => String::new(),
        };
        bail!(
            "{}: the run has gone another way{at}: the program does not do the same in equal \
             orders of its threads (time, random numbers, files, other processes)",
            path.display()
        );
    }
    show_outcome(&mut page, &ended.outcome)?;
    show_switches(&mut page, &ended.switches)?;
    Ok(exit::VIOLATED)
}

/// Returns the path of a program that is named as in a shell.
fn found(program: &Path) -> anyhow::Result<PathBuf> {
    let is_path = program.as_os_str().as_encoded_bytes().contains(&b'/');
    let searched = std::env::var_os("PATH").unwrap_or_default();
    let candidates = std::env::split_paths(&searched).map(|directory| directory.join(program));
    let path = if is_path {
        program.to_owned()
    } else {
        let mut files = candidates.filter(|path| path.is_file());
        let here = format!(
            "type ./{} for a program of this directory",
            program.display()
        );
        files.next().ok_or_else(|| {
            anyhow!(
                "{}: not found in any directory of PATH ({here})",
                program.display()
            )
        })?
    };
    path.canonicalize()
        .map_err(|error| anyhow!("{}: {error}", program.display()))
}

fn text(word: &OsStr) -> anyhow::Result<String> {
    let text = word.to_str().map(str::to_owned);
    text.ok_or_else(|| anyhow!("{word:?}: the file of a run cannot hold this word: it is no UTF-8"))
}

/// Returns the name of the file of a run: of this directory.
fn file_name(program: &Path, run: u32) -> PathBuf {
    let name = program.file_name().unwrap_or(OsStr::new("program"));
    let mut name: OsString = name.to_owned();
    name.push(format!(".{run}.run"));
    name.into()
}

fn show_failure(page: &mut dyn Write, failure: &Failure, runs: u32, path: &Path) -> io::Result<()> {
    write!(page, "run {} of {runs}: ", failure.run)?;
    show_outcome(page, &failure.outcome)?;
    let switches = match failure.file.deviation_count() {
        0 => "in the usual order".to_owned(),
        1 => "1 switch".to_owned(),
        count => format!("{count} switches"),
    };
    let least = if failure.is_minimal && failure.file.deviation_count() != 0 {
        ", each needed"
    } else {
        ""
    };
    writeln!(page, "schedule {} ({switches}{least})", path.display())?;
    show_switches(page, &failure.switches)?;
    if !failure.is_repeated {
        writeln!(
            page,
            "note: the same schedule did not lead there again: the program depends on more than \
             the order of its threads"
        )?;
    }
    Ok(())
}

fn show_none(page: &mut dyn Write, found: &Exploration, settings: Settings) -> io::Result<()> {
    if found.has_one_thread {
        return writeln!(
            page,
            "the program made no second thread: there is nothing to schedule (one run, no failure)"
        );
    }
    writeln!(
        page,
        "no failure in {} schedules (not all of them; --runs, --points; seed {})",
        found.runs, settings.seed
    )
}

/// Shows what makes the run differ from the usual order, in which each thread goes on until it waits.
fn show_switches(page: &mut dyn Write, switches: &[Switch]) -> io::Result<()> {
    let width = switches.len().to_string().len();
    for (index, switch) in switches.iter().enumerate() {
        let Switch { from, to, kind } = switch;
        let number = index + 1;
        write!(page, "  {number:>width$}  ")?;
        if let Some(from) = from.as_ref().filter(|from| from.number != to.number) {
            write!(page, "{} lets others go first: ", words_of(from))?;
        }
        let what = match kind {
            ChoiceKind::Run if to.function.is_none() => "begins",
            ChoiceKind::Run => "goes on",
            ChoiceKind::Deliver => "gets its signal",
            ChoiceKind::TimeOut => "has waited long enough",
            ChoiceKind::Spurious => "wakes for no reason",
            ChoiceKind::Wake => "is the one that is woken",
        };
        writeln!(page, "{} {what}", words_of(to))?;
    }
    Ok(())
}

fn show_outcome(page: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    match outcome {
        Outcome::Exited { status } => writeln!(page, "EXIT {status}"),
        Outcome::Deadlock(deadlock) => show_deadlock(page, deadlock),
        Outcome::Killed { signal, place } => {
            let name = signal_name(*signal);
            write!(page, "CRASH  {name}")?;
            if let Some(place) = place {
                write!(page, "  {}", words_of(place))?;
            }
            writeln!(page)
        }
        Outcome::Endless { threads } => {
            writeln!(
                page,
                "DOES NOT END  within the limits of a run (--run-limit)"
            )?;
            for place in threads {
                writeln!(page, "  {}", words_of(place))?;
            }
            Ok(())
        }
    }
}

fn show_deadlock(page: &mut dyn Write, deadlock: &Deadlocked) -> io::Result<()> {
    let rest = if deadlock.is_partial {
        "  of some threads; others go on"
    } else {
        ""
    };
    writeln!(page, "DEADLOCK{rest}")?;
    for Waiting {
        place,
        object,
        holder,
    } in &deadlock.threads
    {
        write!(page, "  {} waits for {object}", words_of(place))?;
        if let Some(holder) = holder {
            write!(page, ", which thread {} has", holder.number)?;
        }
        writeln!(page)?;
    }
    Ok(())
}

fn words_of(place: &ThreadPlace) -> String {
    let mut words = format!("thread {}", place.number);
    let line = place.file.as_ref().zip(place.line);
    let at = line.map(|(file, line)| {
        let file = Path::new(file).file_name().unwrap_or_default();
        format!("{}:{line}", file.display())
    });
    match (&place.function, at) {
        (Some(function), Some(at)) => words += &format!(" ({function}, {at})"),
        (Some(function), None) => words += &format!(" ({function})"),
        (None, Some(at)) => words += &format!(" ({at})"),
        (None, None) => {}
    }
    words
}

fn signal_name(signal: i32) -> String {
    let known = nix::sys::signal::Signal::try_from(signal);
    known.map_or_else(|_| format!("signal {signal}"), |it| it.as_str().to_owned())
}

/// The line of a terminal that says how far the search is.
struct ProgressLine {
    is_shown: bool,
    last: Instant,
    has_text: bool,
}

impl ProgressLine {
    fn new() -> ProgressLine {
        ProgressLine {
            is_shown: io::stderr().is_terminal(),
            last: Instant::now(),
            has_text: false,
        }
    }

    fn show(&mut self, text: &str) {
        if self.is_shown {
            self.has_text = true;
            // Nobody reads it if it fails.
            let _ = write!(io::stderr(), "\r\x1b[K{text}");
        }
    }

    fn clear(&mut self) {
        if self.has_text {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

impl Progress for ProgressLine {
    fn begin_run(&mut self, number: u32, of: u32) -> bool {
        if self.last.elapsed() > SHOWN_EVERY {
            self.last = Instant::now();
            self.show(&format!("run {number} of {of}"));
        }
        true
    }

    fn found(&mut self, number: u32) {
        self.show(&format!(
            "run {number} failed; looking for the switches that are needed"
        ));
    }
}
