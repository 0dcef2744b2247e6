//! `juror explore`: other orders of the threads are tried; and `juror replay` of a run that failed.

use crate::arguments::{Explore, MadeBy, Points, Replay, symbol_settings};
use crate::driver::{Observer, PropertySource};
use crate::exit;
use crate::output::Output;
use crate::session;
use anyhow::{Context, anyhow, bail};
use juror_explore::{
    Agents, By, ChoiceKind, Deadlocked, Exploration, ExploreError, Failure, Files, KnownSites,
    Limits, Outcome, PointSet, Progress, Properties, RunFile, Runner, Settings, Streams, Switch,
    Waiting, Worlds, explore,
};
use juror_text::ending::signal_name;
use juror_text::standstill;
use juror_view::StandstillKind;
use signal_hook::consts::SIGINT;
use signal_hook::iterator::Signals;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The number of runs from which on it matters how fast they are.
const MANY_RUNS: u32 = 200;

/// Runs `juror explore`. Returns the exit status.
pub fn run(arguments: &Explore) -> anyhow::Result<u8> {
    let mut output = Output::open(arguments.messages.color, None, false)?;
    let properties = match load(arguments.sources()?, &mut output) {
        Ok(properties) => properties,
        Err(error) => return refused(error, &mut output),
    };
    let words = arguments.arguments().iter();
    let program = text(arguments.program().as_os_str())?;
    let words = words
        .map(|word| text(word))
        .collect::<anyhow::Result<_>>()?;
    let directory = text(std::env::current_dir()?.as_os_str())?;
    let files = files(arguments.real_files);
    let mut runner = runner((program, words, directory), files, properties);
    runner.agents = Agents::new(by(arguments.by));
    let settings = Settings {
        runs: arguments.runs,
        seed: arguments.seed,
        jobs: arguments
            .jobs
            .unwrap_or_else(|| std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)),
        points: arguments.points.map(|points| match points {
            Points::Sync => PointSet::Sync,
            Points::Atomic => PointSet::Atomic,
            Points::Memory => PointSet::Memory,
            Points::BackEdges => PointSet::BackEdges,
        }),
        limits: Limits {
            time: Duration::from_secs(arguments.run_limit),
            ..Limits::default()
        },
    };
    end_by_key()?;
    let found = match explore(&runner, settings, &mut Search(&mut output)) {
        Ok(found) => found,
        Err(error) => return refused(error, &mut output),
    };
    if found.left_out != 0 {
        let count = found.left_out;
        output.notice(&format!(
            "{count} schedule points were left out; --points sync has few"
        ));
    }
    note_world(&mut output, &runner, &found.outside);
    if arguments.by.is_some() {
        note_agents(&mut output, &runner)?;
    } else if found.runs > MANY_RUNS
        && let Some(obstacle) = runner.agents.report().obstacle()
    {
        output.notice(&format!(
            "most runs were made from outside of the process, which is slower: the program {obstacle}"
        ));
    }
    let mut page = Vec::new();
    let status = match &found.failure {
        Some(failure) => {
            let path = file_name(arguments.program(), failure.run);
            // The failure is told, too, if there is no room for its file.
            let written = failure.file.write(&path);
            let shown = written.is_ok().then_some(&*path);
            show_failure(&mut page, failure, settings.runs, shown)?;
            if let Err(error) = written {
                output.say(&String::from_utf8_lossy(&page))?;
                return Err(error.into());
            }
            exit::VIOLATED
        }
        None => {
            show_none(&mut page, &found, settings)?;
            if found.is_cancelled {
                exit::INTERRUPTED
            } else {
                exit::HOLDS
            }
        }
    };
    output.say(&String::from_utf8_lossy(&page))?;
    Ok(status)
}

/// Returns what makes a run again.
pub(crate) fn runner_of(file: &RunFile, properties: Properties) -> Runner {
    runner(file.command(), file.files(), properties)
}

fn by(by: Option<MadeBy>) -> By {
    match by {
        Some(MadeBy::Ptrace) => By::Ptrace,
        None | Some(MadeBy::Agent) => By::Agent,
        Some(MadeBy::Both) => By::Both,
    }
}

/// Says what has become of the runs that were to be made in the process.
fn note_agents(output: &mut Output, runner: &Runner) -> anyhow::Result<()> {
    let report = runner.agents.report();
    let reasons = report.refused.iter();
    let refused: String = reasons
        .map(|(reason, count)| format!(", {count} refused ({reason})"))
        .collect();
    output.notice(&format!(
        "{} runs were made in the process{refused}",
        report.made
    ));
    match report.differences.first() {
        Some(difference) if runner.agents.by() == By::Both => {
            let count = report.differences.len();
            bail!("juror is at fault: {count} runs differ: {difference}")
        }
        _ => Ok(()),
    }
}

/// Lets Ctrl-C end the search. A second one ends juror.
fn end_by_key() -> anyhow::Result<()> {
    let mut signals = Signals::new([SIGINT])?;
    let wait = move || {
        for signal in signals.forever() {
            if juror_explore::cancel() {
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        }
    };
    std::thread::Builder::new().spawn(wait)?;
    Ok(())
}

/// Says what runs do not take back, and what they cannot do.
fn note_world(output: &mut Output, runner: &Runner, outside: &BTreeSet<SocketAddr>) {
    let addresses: Vec<String> = outside.iter().map(SocketAddr::to_string).collect();
    if !addresses.is_empty() {
        let addresses = addresses.join(", ");
        output.notice(&format!(
            "the program talks to {addresses}: what it does there stays, and may differ when a run \
             is made again"
        ));
    }
    for directory in runner.worlds.read_only() {
        let directory = directory.display();
        output.notice(&format!(
            "the runs cannot write below {directory}: what they do there could not be undone \
             (--real-files lets them)"
        ));
    }
}

/// Loads properties, and tells what is remarkable in them.
pub(crate) fn load(
    sources: Vec<PropertySource>,
    output: &mut Output,
) -> Result<Properties, ExploreError> {
    let (properties, remarks) = Properties::load(sources)?;
    for remark in remarks {
        output.notice(&remark);
    }
    Ok(properties)
}

/// Shows why nothing can be explored or made again. Returns the exit status.
pub(crate) fn refused(error: ExploreError, output: &mut Output) -> anyhow::Result<u8> {
    match error {
        ExploreError::Property(error) => Ok(output.show_session_error(&error)?),
        other => Err(other.into()),
    }
}

/// Makes a run again: at the prompt, or to report how it ended. Returns the exit status.
pub fn replay(replay: &Replay) -> anyhow::Result<u8> {
    let mut file = RunFile::read(&replay.recording)?;
    if replay.real_files {
        file = file.with_real_files();
    }
    if replay.batch && !file.is_recorded() {
        return report(replay, &file);
    }
    let (program, ..) = file.command();
    let mut run = replay.run(&program)?;
    run.common.batch = replay.batch;
    let options = run.options().map(|options| options.with_run(file));
    session::run(options, &run.common, None)
}

/// Makes a run again, and reports how it ended. Returns the exit status.
fn report(replay: &Replay, file: &RunFile) -> anyhow::Result<u8> {
    let path = &*replay.recording;
    let mut output = Output::open(replay.messages.color, None, false)?;
    let properties = match load(file.properties(), &mut output) {
        Ok(properties) => properties,
        Err(error) => return refused(error, &mut output),
    };
    let runner = runner_of(file, properties);
    let ended = file
        .replay(&runner, Streams::Shown, true)
        .with_context(|| path.display().to_string())?;
    note_world(&mut output, &runner, &ended.outside);
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
    let mut page = Vec::new();
    show_outcome(&mut page, &ended.outcome)?;
    writeln!(page, "schedule {} ({})", path.display(), switches(file))?;
    show_switches(&mut page, &ended.switches)?;
    output.say(&String::from_utf8_lossy(&page))?;
    Ok(exit::VIOLATED)
}

fn files(are_real: bool) -> Files {
    if are_real { Files::Real } else { Files::Kept }
}

fn runner(command: (String, Vec<String>, String), files: Files, properties: Properties) -> Runner {
    let (program, arguments, directory) = command;
    Runner {
        worlds: Worlds::new(files, &program, &directory),
        program,
        arguments,
        directory,
        symbols: juror_explore::symbol_store(symbol_settings()),
        sites: KnownSites::default(),
        properties,
        agents: Agents::default(),
    }
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

fn show_failure(
    page: &mut dyn Write,
    failure: &Failure,
    runs: u32,
    path: Option<&Path>,
) -> io::Result<()> {
    write!(page, "run {} of {runs}: ", failure.run)?;
    show_outcome(page, &failure.outcome)?;
    let least = if failure.is_minimal && failure.file.deviation_count() != 0 {
        ", each needed"
    } else {
        ""
    };
    let switches = switches(&failure.file);
    let path = path.map_or("not written".into(), Path::to_string_lossy);
    writeln!(page, "schedule {path} ({switches}{least})")?;
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

/// Returns the number of choices that were not the usual ones, in words.
fn switches(file: &RunFile) -> String {
    match file.deviation_count() {
        0 => "in the usual order".to_owned(),
        1 => "1 switch".to_owned(),
        count => format!("{count} switches"),
    }
}

fn show_none(page: &mut dyn Write, found: &Exploration, settings: Settings) -> io::Result<()> {
    if found.has_one_thread {
        return writeln!(
            page,
            "the program made no second thread: there is nothing to schedule (one run, no failure)"
        );
    }
    let seed = settings.seed;
    let end = if found.is_cancelled {
        format!("ended by Ctrl-C, of {}; seed {seed}", settings.runs)
    } else {
        format!("not all of them; --runs, --points; seed {seed}")
    };
    let schedules = if found.runs == 1 {
        "schedule"
    } else {
        "schedules"
    };
    writeln!(page, "no failure in {} {schedules} ({end})", found.runs)
}

/// Shows what makes the run differ from the usual order, in which each thread goes on until it waits.
fn show_switches(page: &mut dyn Write, switches: &[Switch]) -> io::Result<()> {
    let width = switches.len().to_string().len();
    for (index, switch) in switches.iter().enumerate() {
        let Switch { from, to, kind } = switch;
        let number = index + 1;
        write!(page, "  {number:>width$}  ")?;
        if let Some(from) = from.as_ref().filter(|from| from.number != to.number) {
            write!(page, "{} lets others go first: ", from.words())?;
        }
        let what = what_happens(*kind, to.function.is_none());
        writeln!(page, "{} {what}", to.words())?;
    }
    Ok(())
}

/// Returns what happens to a thread that is chosen; `begins` says that it has executed nothing.
pub(crate) fn what_happens(kind: ChoiceKind, begins: bool) -> &'static str {
    match kind {
        ChoiceKind::Run if begins => "begins",
        ChoiceKind::Run => "goes on",
        ChoiceKind::Deliver => "gets its signal",
        ChoiceKind::TimeOut => "has waited long enough",
        ChoiceKind::Spurious => "wakes for no reason",
        ChoiceKind::Wake => "is the one that is woken",
    }
}

fn show_outcome(page: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    match outcome {
        Outcome::Exited { status } => writeln!(page, "EXIT {status}"),
        Outcome::Deadlock(deadlock) => show_deadlock(page, deadlock),
        Outcome::Killed { signal, place } => {
            let name = signal_name(*signal);
            write!(page, "CRASH  {name}")?;
            if let Some(place) = place {
                write!(page, "  {}", place.words())?;
            }
            writeln!(page)
        }
        Outcome::Violated {
            property,
            description,
            place,
        } => {
            write!(page, "VIOLATED {property}")?;
            if let Some(description) = description {
                write!(page, ": {description}")?;
            }
            match place {
                Some(place) => writeln!(page, "  {}", place.words()),
                None => writeln!(page, "  at the end of the run"),
            }
        }
        Outcome::Endless { threads } => {
            writeln!(
                page,
                "DOES NOT END  within the limits of a run (--run-limit)"
            )?;
            for place in threads {
                writeln!(page, "  {}", place.words())?;
            }
            Ok(())
        }
    }
}

fn show_deadlock(page: &mut dyn Write, deadlock: &Deadlocked) -> io::Result<()> {
    let kind = if deadlock.is_partial {
        StandstillKind::PartialDeadlock
    } else {
        StandstillKind::Deadlock
    };
    let title = format!("{}  {}", kind.title(), standstill::explanation(kind));
    writeln!(page, "{}", title.trim_end())?;
    let waiting: Vec<_> = deadlock.threads.iter().map(Waiting::view).collect();
    for line in standstill::lines(kind, &waiting).lines() {
        writeln!(page, "  {line}")?;
    }
    Ok(())
}

/// Shows how far a search is.
struct Search<'a>(&'a mut Output);

impl Progress for Search<'_> {
    fn begin_run(&mut self, number: u32, of: u32) -> bool {
        self.0.progress("trying orders", number.into(), of.into());
        true
    }

    fn found(&mut self, number: u32) {
        let what = format!("run {number} failed; looking for the switches that it needs");
        self.0.progress(&what, 0, 1);
    }
}
