//! The end of a run: how it ended, and the verdict of each property.

use crate::columns::{self, Cell};
use crate::escape::safe;
use crate::page::{BAD, GOOD, NAME, OPEN, Page, QUIET, STRONG};
use crate::stops::write_violations;
use crate::violation_counts;
use anstyle::Style;
use juror_event::Verdict;
use juror_view::{EndView, Ending, ProcessEnd, PropertySummary};

/// Writes how a run ended, the violations by its end, and the verdicts.
pub fn write(page: &mut Page, view: &EndView) {
    let who = match &view.process {
        None => "The program".to_owned(),
        Some(last) => format!("Process {} ({}), the last one,", last.number, last.id),
    };
    match view.ending {
        Some(Ending::Detached { process }) => {
            writeln!(page, "Process {process} continues without juror.");
        }
        Some(ending) => writeln!(page, "{who} {}.", words(ending)),
        None => writeln!(page, "The program is gone."),
    }
    if let Some(function) = &view.called {
        let function = safe(function);
        writeln!(
            page,
            "It ended in {NAME}{function}{NAME:#}, which was called from juror: no verdict is final."
        );
    }
    let is_over = view.ending.is_some_and(Ending::is_final);
    write_verdicts(page, view, is_over && view.called.is_none());
}

/// Writes how a program ended.
pub fn write_sentence(page: &mut Page, ending: Ending) {
    writeln!(page, "The program {}.", words(ending));
}

/// Writes the violations by the end of a run, and the verdicts. `is_decided`: the end
/// decides undecided verdicts.
pub fn write_verdicts(page: &mut Page, view: &EndView, is_decided: bool) {
    write_violations(page, &view.violations);
    for summary in &view.summaries {
        page.gap();
        write_summary(page, summary, is_decided);
    }
}

/// Writes that one of several processes has ended, and the violations by its end.
pub fn write_process_end(page: &mut Page, end: &ProcessEnd) {
    writeln!(page, "{STRONG}[{}]{STRONG:#}", process_end(end));
    write_violations(page, &end.violations);
    page.gap();
}

/// Returns `process 2 (4711) exited with status 0`.
pub fn process_end(end: &ProcessEnd) -> String {
    let how = end.ending.map_or_else(|| "is gone".to_owned(), words);
    format!("process {} ({}) {how}", end.number, end.id)
}

fn words(ending: Ending) -> String {
    match ending {
        Ending::Exited { status } => format!("exited with status {status}"),
        Ending::Killed { signal } => format!("was ended by {}", signal_name(signal)),
        Ending::Detached { .. } => "continues without juror".to_owned(),
    }
}

/// Returns the word and style that announce a verdict, after the end of the run or
/// before.
fn announce(verdict: Verdict, ended: bool) -> (&'static str, Style) {
    match (verdict, ended) {
        (Verdict::Violated, _) | (Verdict::PresumablyViolated, true) => ("VIOLATED", BAD),
        (Verdict::Satisfied, _) | (Verdict::PresumablySatisfied, true) => ("HOLDS", GOOD),
        _ => ("OPEN", OPEN),
    }
}

fn write_summary(page: &mut Page, summary: &PropertySummary, ended: bool) {
    // A reported violation counts, although the run continued.
    let verdict = match summary.violations {
        0 => summary.verdict,
        _ => Verdict::Violated,
    };
    let ended = ended && summary.enabled;
    let is_undecided = summary.is_undecided(ended);
    let (word, style) = if is_undecided {
        ("UNDECIDED", OPEN)
    } else {
        announce(verdict, ended)
    };
    write!(
        page,
        "{style}{word:<8}{style:#}  {STRONG}{}{STRONG:#}",
        safe(&summary.property)
    );
    let mut facts: Vec<String> = Vec::new();
    if is_undecided {
        facts.extend(summary.undecided.iter().map(|why| safe(why).into_owned()));
    } else if summary.violations > 0 {
        let counts = &summary.violation_counts;
        facts.push(violation_counts::words(summary.violations, counts));
    } else if !ended {
        facts.push(if summary.enabled {
            format!("{verdict} when the run was left")
        } else {
            format!("{verdict} when it was disabled")
        });
    }
    let is_silent = summary.events.iter().all(|event| event.occurrences == 0);
    if is_silent && word == "HOLDS" {
        facts.push("not one of its events was seen".to_owned());
    }
    if summary.slices > 0 {
        facts.push(count(summary.slices, "slice", "slices"));
    }
    if !facts.is_empty() {
        write!(page, ": {}", facts.join(", "));
    }
    page.push("\n");
    violation_counts::write(page, 10, &summary.violation_counts);
    let (seen, unseen): (Vec<_>, Vec<_>) = summary
        .events
        .iter()
        .partition(|event| event.occurrences > 0 || event.unneeded > 0);
    let rows: Vec<Vec<Cell>> = seen
        .into_iter()
        .map(|event| {
            vec![
                Cell::new(safe(&event.event), NAME),
                safe(&event.what).as_ref().into(),
                match event.occurrences {
                    0 => {
                        let times = count(event.unneeded, "time", "times");
                        format!("{times}, while no state needed it").into()
                    }
                    occurrences => count(occurrences, "time", "times").into(),
                },
                // The events of a trace have no stops.
                match event.stops {
                    0 => Cell::new("", QUIET),
                    stops => Cell::new(count(stops, "stop", "stops"), QUIET),
                },
                Cell::new(safe(event.tier.as_deref().unwrap_or("")), QUIET),
            ]
        })
        .collect();
    columns::write(page, 10, &[], &rows);
    if !unseen.is_empty() {
        let names: Vec<_> = unseen.iter().map(|event| safe(&event.event)).collect();
        writeln!(
            page,
            "          {QUIET}not seen: {}{QUIET:#}",
            names.join(", ")
        );
    }
    let unsaid = summary.undecided.iter().filter(|_| !is_undecided);
    let remarks = summary.remarks.iter();
    // The headline has said it, or another note.
    let is_said = |remark: &str| {
        let mut reasons = summary.undecided.iter();
        reasons.any(|why| remark.starts_with(&**why))
    };
    let remarks = remarks.filter(|remark| !is_said(remark));
    for remark in unsaid.chain(remarks) {
        writeln!(page, "          {OPEN}note{OPEN:#}  {}", safe(remark));
    }
}

fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Returns the name of a signal on Linux x86-64.
pub fn signal_name(signal: i32) -> String {
    match signal_hook::low_level::signal_name(signal) {
        Some(name) => name.to_owned(),
        None => format!("signal {signal}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::plain;
    use crate::stops::samples::{end, push, summary, violation};

    fn check(view: &EndView, expected: &str) {
        assert_eq!(plain(|page| write(page, view)), expected);
    }

    #[test]
    fn a_run_that_holds() {
        check(
            &end(
                Some(Ending::Exited { status: 0 }),
                summary(Verdict::PresumablySatisfied, 0),
            ),
            "The program exited with status 0.

HOLDS     queue_bounds: 2 slices
          new   after queue_new    1 time   2 stops
          push  before queue_push  9 times  9 stops
          note  queue_pop never ran
",
        );
    }

    #[test]
    fn a_reported_violation_counts() {
        let mut summary = summary(Verdict::PresumablySatisfied, 1);
        summary.events.clear();
        summary.remarks.clear();
        check(
            &end(Some(Ending::Killed { signal: 11 }), summary),
            "The program was ended by SIGSEGV.\n\nVIOLATED  queue_bounds: 1 violation, 2 slices\n",
        );
    }

    #[test]
    fn the_end_of_a_run_may_violate_a_property() {
        let mut wrong = violation();
        wrong.state = "open".into();
        wrong.path = vec![push(17, "open", 1)];
        wrong.variables.clear();
        wrong.at_end = true;
        let mut view = end(
            Some(Ending::Exited { status: 3 }),
            summary(Verdict::Violated, 1),
        );
        view.violations.push(wrong);
        view.summaries.clear();
        check(
            &view,
            "The program exited with status 3.

VIOLATED  queue_bounds: a queue never holds more than it was made for
  slice   queue = 0x4052a0
  path    ready  --push(queue = 0x4052a0)-->  open  main.c:17  thread 4711
  because the run ended in state open
",
        );
    }

    #[test]
    fn the_end_of_one_of_several_processes_is_shown() {
        let mut one = ProcessEnd {
            number: 2,
            id: 4711,
            ending: Some(Ending::Exited { status: 3 }),
            violations: vec![],
        };
        assert_eq!(process_end(&one), "process 2 (4711) exited with status 3");
        one.ending = Some(Ending::Killed { signal: 9 });
        assert_eq!(process_end(&one), "process 2 (4711) was ended by SIGKILL");
        one.ending = None;
        one.violations.push(violation());
        let text = plain(|page| write_process_end(page, &one));
        assert!(
            text.starts_with("[process 2 (4711) is gone]\n\nVIOLATED  queue_bounds"),
            "{text}"
        );
        let mut view = end(
            Some(Ending::Exited { status: 0 }),
            summary(Verdict::PresumablySatisfied, 0),
        );
        view.summaries.clear();
        view.process = Some(juror_view::ProcessName {
            number: 2,
            id: 4711,
            count: 1,
        });
        check(
            &view,
            "Process 2 (4711), the last one, exited with status 0.\n",
        );
    }

    #[test]
    fn a_run_that_was_left_is_open() {
        let mut summary = summary(Verdict::PresumablyViolated, 0);
        summary.events.clear();
        summary.remarks.clear();
        check(
            &end(None, summary),
            "The program is gone.\n\n\
             OPEN      queue_bounds: presumably violated when the run was left, 2 slices\n",
        );
    }
}
