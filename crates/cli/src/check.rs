//! `juror check`: properties over recorded runs.
//!
//! A thread for each trace reads ahead ([`juror_checking::source`]). The events are taken in order here:
//! one trace after the other, or all traces as one run in the order of time. Several
//! threads may evaluate the properties ([`spread`]).
//!
//! **Invariant**: the events before an error in a trace count. A violation there is the
//! verdict, whatever the error is.

mod run_files;
mod spread;
mod words;

use crate::arguments::Web;
use crate::arguments::{Check, Replay};
use crate::driver::{Observer as _, PropertySource, SessionError};
use crate::exit;
use crate::json::{Line, OtherEvents, TraceEndLine, TraceStopLine, UnneededEvents};
use crate::output::Output;
use crate::session::replay;
use juror_checking::cursor::{self, Cursor, Next};
use juror_checking::source::{self, Options, Plan, Slices, Source};
use juror_monitoring::offline::Offline;
use juror_text::recorded;
use juror_trace::{Batch, Event, Fault, How};
use juror_view::StopReason;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Runs `juror check`. Returns the exit status.
pub fn run(check: &Check) -> anyhow::Result<u8> {
    if run_files::are_among(check) {
        return run_files::check(check);
    }
    if let Some(web) = &check.web {
        return run_on_page(check, web);
    }
    let mut output = Output::open(check.messages.color, check.json.as_deref(), false)?;
    match prepare(check) {
        Ok((sources, plan)) => with_output(check, output, &sources, plan),
        Err(error) => {
            output.show_error(&format!("{error:#}"))?;
            Ok(exit::USAGE)
        }
    }
}

/// Shows the first violation of a trace on a page, at a prompt, or writes a report of it. Returns
/// the exit status.
fn run_on_page(check: &Check, web: &Web) -> anyhow::Result<u8> {
    if check.traces.len() != 1 || check.merge || check.follow {
        let mut output = Output::open(check.messages.color, check.json.as_deref(), false)?;
        output.show_error(
            "a page shows one trace: give --web with one, without --merge and --follow",
        )?;
        return Ok(exit::USAGE);
    }
    let replay = Replay::from(check);
    match web {
        Web::Page(_) => replay::run(&replay),
        Web::Report(_) => replay::report(&replay),
    }
}

/// Checks the traces with an output. Returns the exit status.
fn with_output(
    check: &Check,
    mut output: Output,
    sources: &[PropertySource],
    mut plan: Plan,
) -> anyhow::Result<u8> {
    let names: Vec<String> = check.traces.iter().map(|path| source::name(path)).collect();
    output.begin_check(sources, &names)?;
    let history = check.history.unwrap_or_default();
    let (mut offline, remarks) = match Offline::load(sources, history) {
        Ok(loaded) => loaded,
        Err(error) => return Ok(output.show_session_error(&error)?),
    };
    offline.allow_unbound = check.allow_unbound;
    for remark in remarks {
        output.notice(&remark);
    }
    plan.texts = Arc::new(offline.text_columns());
    let checking = Checking {
        check,
        offline,
        output,
        plan,
        names,
    };
    Ok(checking.all()?)
}

fn prepare(check: &Check) -> anyhow::Result<(Vec<PropertySource>, Plan)> {
    let sources = check.sources()?;
    let stop = Arc::new(AtomicBool::new(false));
    if check.follow {
        signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&stop))?;
    }
    Ok((sources, plan(check, stop)?))
}

/// Returns how the traces are read; `stop` ends following.
fn plan(check: &Check, stop: Arc<AtomicBool>) -> anyhow::Result<Plan> {
    Ok(Plan::new(Options {
        form: check.trace_format.form(),
        columns: check.columns.clone(),
        follows: check.follow,
        jobs: check.jobs,
        stop,
    })?)
}

/// A check: its traces, properties and output.
struct Checking<'a> {
    check: &'a Check,
    offline: Offline,
    output: Output,
    plan: Plan,
    names: Vec<String>,
}

/// The result of a run.
#[derive(Debug, Default)]
struct Findings {
    violated: bool,
    erred: bool,
}

/// The reason why no more events of a run are taken.
enum Left {
    /// The last result to be shown has been shown.
    Shown,
    /// The trace is invalid from here on; the text says where.
    Broken(String),
    /// All traces have ended.
    Ended(Option<How>),
    /// Ctrl-C, while waiting for more.
    Interrupted,
}

impl Checking<'_> {
    fn all(mut self) -> io::Result<u8> {
        let mut total = Findings::default();
        let runs: Vec<Vec<usize>> = if self.check.merge {
            vec![(0..self.check.traces.len()).collect()]
        } else {
            (0..self.check.traces.len()).map(|it| vec![it]).collect()
        };
        let is_one = runs.len() == 1;
        for run in runs {
            if let (false, Some(name)) = (is_one, run.first().and_then(|&it| self.names.get(it))) {
                self.output.say(&words::heading(name))?;
            }
            let result = self.one_run(&run)?;
            total.violated |= result.violated;
            total.erred |= result.erred;
        }
        Ok(match total {
            Findings { violated: true, .. } => exit::VIOLATED,
            Findings { erred: true, .. } => exit::USAGE,
            Findings { .. } => exit::HOLDS,
        })
    }

    /// Checks these traces as one run.
    fn one_run(&mut self, traces: &[usize]) -> io::Result<Findings> {
        let mut slices = self.plan.slices(self.check.keep_going);
        loop {
            let mut run = match self.begin_run(traces) {
                Ok(run) => run,
                Err(message) => {
                    self.output.show_error(&message)?;
                    return Ok(Findings {
                        erred: true,
                        ..Findings::default()
                    });
                }
            };
            let left = match self.evaluators(&run, slices == Slices::Spread) {
                0 | 1 => self.take_events(&mut run, slices)?,
                count => self.take_events_spread(&mut run, count, slices)?,
            };
            self.output.progress("checking", 1, 1);
            self.output.failure()?;
            match left {
                Some(left) => return self.conclude(run, left),
                None => slices = slices.otherwise(),
            }
        }
    }

    /// Opens the traces of a run, at their beginnings.
    fn begin_run(&mut self, traces: &[usize]) -> Result<Run, String> {
        let paths = traces.iter().filter_map(|&it| self.check.traces.get(it));
        let cursors = paths.map(|path| Source::open(path, &self.plan).map(Cursor::new));
        let cursors: Vec<Cursor> = cursors.collect::<Result<_, String>>()?;
        self.offline.begin(cursors.len());
        Ok(Run {
            cursors,
            result: Findings::default(),
            events: 0,
            faults: 0,
            has_begun: false,
            went_back: 0,
            started: Instant::now(),
        })
    }

    /// Takes the events of a run with one thread. Returns nothing if the run is to be
    /// repeated with its slices spread over threads.
    fn take_events(&mut self, run: &mut Run, slices: Slices) -> io::Result<Option<Left>> {
        let may_spread = slices == Slices::TogetherWhileFew && self.evaluators(run, true) > 1;
        loop {
            let left = match cursor::next(&mut run.cursors, self.check.merge) {
                Next::Event(trace) => {
                    if self.take_event(run, trace)? {
                        return Ok(Some(Left::Shown));
                    }
                    None
                }
                Next::Batch(_) if may_spread && self.is_better_spread(run) => return Ok(None),
                Next::Batch(trace) => {
                    let all_begun = run.cursors.iter().all(Cursor::has_batch);
                    let batch = run.cursors.get(trace).map(|it| Arc::clone(it.batch()));
                    match batch {
                        Some(batch) => self.begin_batch(run, trace, &batch, all_begun)?,
                        None => None,
                    }
                }
                other => self.take_other(run, &other)?,
            };
            if left.is_some() {
                return Ok(left);
            }
        }
    }

    /// Tells whether threads gain more than a repetition of the run costs.
    fn is_better_spread(&self, run: &Run) -> bool {
        let (done, of) = run.progress().unwrap_or_default();
        self.offline.slice_count() >= self.plan.slices_many && done <= of / 4
    }

    /// Takes the next event of a trace. Returns whether nothing more is to be shown.
    #[inline]
    fn take_event(&mut self, run: &mut Run, trace: usize) -> io::Result<bool> {
        let Some(cursor) = run.cursors.get_mut(trace) else {
            return Ok(false);
        };
        let Some((batch, event)) = cursor.take() else {
            return Ok(false);
        };
        run.events += 1;
        let reason = self.offline.step(trace, batch, event, &mut self.output);
        match reason {
            None => Ok(false),
            Some(reason) => {
                let event = event.clone();
                self.stop_at(run, trace, &event, reason)
            }
        }
    }

    /// Takes what is neither an event nor a batch. Returns why no more is taken.
    fn take_other(&mut self, run: &mut Run, next: &Next) -> io::Result<Option<Left>> {
        match next {
            Next::Event(_) | Next::Batch(_) => Ok(None),
            Next::Fault(trace, fault) => self.take_fault(run, *trace, fault),
            Next::Failed(trace, message) => {
                let name = run.name(*trace).to_owned();
                self.output
                    .show_error(&format!("{name} cannot be read: {message}"))?;
                run.result.erred = true;
                Ok(Some(Left::Broken(format!("where {name} cannot be read"))))
            }
            Next::NoTime(trace, position) => {
                let place = words::place(run.name(*trace), *position);
                let message = format!(
                    "{place}: this event has no time and cannot be merged\n\
                     help: check the traces one by one, without --merge"
                );
                self.output.show_error(&message)?;
                run.result.erred = true;
                Ok(Some(Left::Broken(format!("at {place}"))))
            }
            Next::Interrupted => Ok(Some(Left::Interrupted)),
            Next::End(how) => Ok(Some(Left::Ended(*how))),
        }
    }

    /// Takes the definitions of a new batch. When all traces have begun, the definitions
    /// show whether the events of the properties were recorded at all.
    fn begin_batch(
        &mut self,
        run: &mut Run,
        trace: usize,
        batch: &Batch,
        all_begun: bool,
    ) -> io::Result<Option<Left>> {
        self.offline.learn(trace, batch);
        run.went_back += batch.went_back;
        if run.started.elapsed() >= self.plan.progress_after
            && let Some((done, of)) = run.progress()
        {
            self.output
                .progress("checking", done.min(of.saturating_sub(1)), of);
        }
        self.output.failure()?;
        if run.has_begun || !all_begun {
            return Ok(None);
        }
        run.has_begun = true;
        let error: Option<SessionError> = self.offline.not_recorded();
        run.result.erred |= error.is_some();
        match error.filter(|_| !self.check.keep_going) {
            None => Ok(None),
            Some(error) => {
                self.output.show_session_error(&error)?;
                Ok(Some(Left::Shown))
            }
        }
    }

    fn take_fault(
        &mut self,
        run: &mut Run,
        trace: usize,
        fault: &Fault,
    ) -> io::Result<Option<Left>> {
        run.faults += 1;
        run.result.erred = true;
        let name = run.name(trace).to_owned();
        let message = words::fault_line(&name, fault);
        let rendered = words::fault(&name, fault);
        self.output
            .show_fault(&message, fault.kind.help(), &rendered)?;
        let place = words::place(&name, fault.position);
        Ok((!self.check.keep_going).then(|| Left::Broken(format!("at {place}"))))
    }

    /// Shows a stop at an event. Returns whether nothing more is to be shown.
    fn stop_at(
        &mut self,
        run: &mut Run,
        trace: usize,
        event: &Event,
        reason: StopReason,
    ) -> io::Result<bool> {
        let stop = self.offline.describe(trace, event, reason);
        let is_binary = run.cursors.get(trace).is_some_and(Cursor::is_binary);
        let position = cursor::position(is_binary, event.position);
        self.show_stop(run, trace, position, &stop)
    }

    /// Shows a stop. Returns whether nothing more is to be shown.
    fn show_stop(
        &mut self,
        run: &mut Run,
        trace: usize,
        position: juror_trace::Position,
        stop: &juror_view::TraceStop,
    ) -> io::Result<bool> {
        match stop.reason {
            StopReason::Violation { .. } => run.result.violated = true,
            _ => run.result.erred = true,
        }
        let name = run.name(trace).to_owned();
        let (line, byte) = words::line_or_byte(position);
        let json = Line::TraceStop(TraceStopLine {
            trace: &name,
            line,
            byte,
            stop,
        });
        // The end has the counts of repeated violations.
        if stop.reason.is_repetition() {
            self.output.show_line(&json, |_| {})?;
            return Ok(!self.check.keep_going);
        }
        self.output.show_line(&json, |page| {
            let position = recorded::position(&name, line, byte);
            recorded::write_trace_stop(page, &position, stop);
        })?;
        if self.check.keep_going {
            self.output.say("\n")?;
        }
        Ok(!self.check.keep_going)
    }

    fn conclude(&mut self, mut run: Run, left: Left) -> io::Result<Findings> {
        if run.went_back > 0 {
            self.output.notice(&words::went_back(run.went_back));
        }
        let (mut view, is_decided) = match &left {
            Left::Ended(how) => {
                let is_decided = how.is_none_or(How::is_final);
                (self.offline.finish(*how), is_decided)
            }
            _ => (self.offline.leave(), false),
        };
        // Of a trace that was not read on, the sentence below says so.
        if run.faults > 0 && matches!(left, Left::Ended(_)) {
            let why = words::incomplete(run.faults);
            for summary in &mut view.summaries {
                summary.undecided.push(why.clone());
            }
        }
        run.result.violated |= view.violates(is_decided);
        run.result.erred |= view.is_undecided(is_decided);
        let names: Vec<&str> = run.cursors.iter().map(Cursor::name).collect();
        let others = match &left {
            // All events have been counted.
            Left::Ended(_) => self.offline.others(),
            _ => Vec::new(),
        };
        let note = words::others(&others);
        let others = others.into_iter();
        let others = others.map(|(event, count)| OtherEvents { event, count });
        let others: Vec<OtherEvents> = others.collect();
        let unneeded = view.summaries.iter().flat_map(|summary| {
            let events = summary.events.iter().filter(|event| event.unneeded > 0);
            events.map(|event| UnneededEvents {
                property: &summary.property,
                event: &event.event,
                count: event.unneeded,
            })
        });
        let unneeded: Vec<UnneededEvents<'_>> = unneeded.collect();
        let json = Line::TraceEnd(TraceEndLine {
            traces: names.clone(),
            events: run.events,
            faults: run.faults,
            complete: matches!(left, Left::Ended(_)),
            others,
            unneeded,
            end: &view,
        });
        let (events, faults) = (run.events, run.faults);
        let sentence = match &left {
            // The last stop has said it.
            Left::Shown => None,
            Left::Broken(place) => Some(words::broken(place, events)),
            Left::Interrupted => Some(words::interrupted(events)),
            Left::Ended(how) => Some(words::ended(*how, &names, events, faults) + &note),
        };
        self.output.show_line(&json, |page| {
            if let Some(sentence) = sentence {
                words::write_end(page, &sentence, &view, is_decided);
            }
        })?;
        Ok(run.result)
    }
}

/// A run: its traces, and the result so far.
struct Run {
    cursors: Vec<Cursor>,
    result: Findings,
    events: u64,
    faults: u64,
    /// The first batches of all traces have been taken.
    has_begun: bool,
    /// The number of times that time went backwards between events in order.
    went_back: u64,
    started: Instant,
}

impl Run {
    fn name(&self, trace: usize) -> &str {
        self.cursors.get(trace).map_or("", Cursor::name)
    }

    /// Returns how many bytes of how many have been read, if that is known.
    fn progress(&self) -> Option<(u64, u64)> {
        let mut sizes = self.cursors.iter().map(Cursor::progress);
        sizes.try_fold((0, 0), |(done, of), size| {
            let (more, size) = size?;
            Some((done + more, of + size))
        })
    }
}

#[cfg(test)]
mod tests;
