//! The state at an event does not depend on how it was reached.

use crate::replay::*;
use crate::run::control::tests::shadowed;
use juror_monitoring::report;
use juror_view::observer::SilentObserver;
use juror_view::{ContextPart, Outcome};
use proptest::prelude::*;

/// A job that ends before it has begun violates the property.
const JOBS: &str = "property jobs\nslice on job\n\
    event begin = before begin(job)\nevent end = before end(job)\nvar rounds = 0\n\
    state idle accepting { on begin -> busy  on end -> wrong }\n\
    state busy accepting { on end { rounds += 1 } -> idle }\n\
    state wrong non-accepting\n";

/// One event: begin or end, job, thread.
type Recorded = (bool, u8, u8);

fn recording(events: &[Recorded]) -> String {
    let lines = events.iter().map(|(begins, job, thread)| {
        let event = if *begins { "begin" } else { "end" };
        format!(
            "{{\"event\":\"before {event}\",\"thread\":{thread},\"values\":{{\"job\":{job}}}}}\n"
        )
    });
    lines.collect()
}

fn open(text: &str, properties: &[&str]) -> RecordedRun {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("run.jsonl");
    std::fs::write(&file, text).expect("it is written");
    let properties = properties
        .iter()
        .map(|text| PropertySource::new("p.prop", *text));
    let options = RecordedRunOptions {
        file,
        properties: properties.collect(),
        ..RecordedRunOptions::default()
    };
    RecordedRun::open(&options, &mut SilentObserver).expect("it is right")
}

/// Returns the shown state of all properties.
fn monitors(run: &RecordedRun) -> String {
    let places = Some(&run.offline.recorded.places);
    let shown = run.shown_properties().iter();
    let views = shown.map(|it| {
        let ids: Vec<_> = it.monitor.slices().map(|slice| slice.id).collect();
        let paths: Vec<_> = ids
            .into_iter()
            .map(|id| report::violation(it, id, places, false, false))
            .collect();
        format!(
            "{:?}\n{paths:?}\n{:?}",
            report::monitor(it, places),
            it.occurrences
        )
    });
    views.collect()
}

/// Executes a line; returns the event and the reason of the stop.
fn perform(run: &mut RecordedRun, line: &str) -> (u64, String) {
    match run.execute(line, &mut SilentObserver) {
        Ok(Outcome::RecordedStop(stop)) => {
            let numbers = format!("{:?}", stop.breakpoints);
            (stop.event, format!("{} {numbers}", stop.reason))
        }
        Ok(Outcome::RecordedEnd(end)) => (end.events + 1, "end".to_owned()),
        Ok(other) => (run.position, format!("{other:?}")),
        Err(error) => (run.position, error.message),
    }
}

/// Returns the expected result of a line, given all stops of the recording.
fn expected(stops: &[(u64, String)], thread: &[u8], at: u64, line: &str) -> (u64, String) {
    let count = thread.len() as u64;
    let (word, times) = line.split_once(' ').unwrap_or((line, "1"));
    let times: usize = times.parse().expect("a number");
    let of_thread = |event: &u64| {
        let thread_of = |event: u64| thread.get(usize::try_from(event).ok()?.checked_sub(1)?);
        at == 0 || at > count || thread_of(*event) == thread_of(at)
    };
    let all = match word {
        "step" => (at + 1..=count).nth(times - 1),
        "next" => (at + 1..=count).filter(of_thread).nth(times - 1),
        "reverse-step" => (1..at).rev().nth(times - 1),
        "reverse-next" => (1..at).rev().filter(of_thread).nth(times - 1),
        _ => None,
    };
    let goal = all.map(|event| (event, "step []".to_owned()));
    let is_back = word.starts_with("reverse");
    let stop = if is_back {
        stops.iter().rev().find(|(event, _)| *event < at).cloned()
    } else {
        stops.iter().find(|(event, _)| *event > at).cloned()
    };
    match (goal, stop) {
        (Some(goal), Some(stop)) => {
            let stops_first = if is_back {
                stop.0 >= goal.0
            } else {
                stop.0 <= goal.0
            };
            if stops_first { stop } else { goal }
        }
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) if is_back => (0, "started []".to_owned()),
        (None, None) => (count + 1, "end".to_owned()),
    }
}

proptest! {
    #![proptest_config(juror_testing::with_cases(200))]
    #[test]
    fn any_way_to_an_event_leads_to_the_same(
        events in prop::collection::vec((any::<bool>(), 0_u8..3, 1_u8..3), 0..40),
        lines in prop::collection::vec((0_usize..6, 1_u64..4, 0_u64..40), 1..20),
        broken_at in prop::option::of(0_u8..3),
    ) {
        let text = recording(&events);
        let threads: Vec<u8> = events.iter().map(|(_, _, thread)| *thread).collect();
        let count = events.len() as u64;
        let mut run = open(&text, &[JOBS]);
        // Many snapshots, so that going back starts from each of them.
        run.stride = 4;
        run.control = run.control.clone().with_history();
        let mut check = shadowed().expect("the model is right");
        if let Some(job) = broken_at {
            let set = run.execute(&format!("break begin if job == {job}"), &mut SilentObserver);
            prop_assert_eq!(set.is_ok(), events.iter().any(|it| it.0), "{:?}", set);
        }
        // The stops of the whole recording, in order.
        let mut stops = Vec::new();
        let mut straight = open(&text, &[JOBS]);
        let mut states = vec![monitors(&straight)];
        for (number, event) in (1_u64..).zip(&events) {
            let (at, why) = perform(&mut straight, "step");
            prop_assert_eq!(at, number);
            states.push(monitors(&straight));
            let is_break = event.0 && broken_at == Some(event.1);
            match (why.starts_with("violation"), is_break) {
                (true, _) => stops.push((number, "violation []".to_owned())),
                (false, true) => stops.push((number, "breakpoint [1]".to_owned())),
                (false, false) => {}
            }
        }
        let mut at = 0;
        for (which, times, wanted) in lines {
            let words = ["step", "next", "reverse-step", "reverse-next", "continue", "reverse-continue"];
            let line = match which {
                4 | 5 if wanted % 4 == 0 => format!("goto {}", wanted.min(count)),
                4 => "continue".to_owned(),
                5 => "reverse-continue".to_owned(),
                _ => format!("{} {times}", words[which]),
            };
            let given = perform(&mut run, &line);
            if let Some(rest) = line.strip_prefix("goto ") {
                at = rest.parse().expect("a number");
                prop_assert_eq!(given.0, at);
            } else if at > count && !line.starts_with("reverse") {
                prop_assert_eq!(given.1, "this is the end of the recording");
            } else {
                let wanted = expected(&stops, &threads, at, &line);
                prop_assert_eq!(&given, &wanted, "{} from {}", line, at);
                at = wanted.0;
            }
            prop_assert_eq!(&monitors(&run), &states[at.min(count) as usize]);
            prop_assert_eq!(check.follow(&mut run.control), Ok(()));
        }
    }
}

#[test]
fn what_is_wrong_with_a_line_is_said() {
    let text = recording(&[(true, 1, 1), (false, 1, 1)]);
    let mut run = open(&text, &[JOBS]);
    for (line, expected) in [
        (
            "finish",
            "`finish` needs the program, and this is a recording",
        ),
        (
            "info registers",
            "`info registers` needs the program, and this is a recording",
        ),
        ("frob", "there is no command `frob`"),
        (
            "reverse",
            "`reverse` may be reverse-continue, reverse-next, reverse-step",
        ),
        ("goto 3", "the recording has 2 events"),
        ("goto", "`goto` needs the number of an event"),
        ("step 0", "the number of steps must not be 0"),
        ("break", "`break` needs an event or a line"),
        (
            "break beginn",
            "there is no event `before beginn` in the recording",
        ),
        (
            "break begin if jo == 1",
            "`begin if jo == 1`: there is no variable or parameter `jo`",
        ),
        (
            "break begin if job ==",
            "`job ==`: expected a value, found the end of the text",
        ),
        ("break a.c:3", "no event of the recording came from a.c:3"),
        (
            "break a.c:3 if job > 1",
            "the events of this line are of several kinds, and cannot share a condition",
        ),
        ("delete 4", "there is no breakpoint 4"),
        ("restore 1", "there is no checkpoint 1"),
        ("print job", "`job` was not recorded for this event"),
        ("list", "the location of this event was not recorded"),
        ("property remove nothing", "no property is named `nothing`"),
        ("set job = 3", "a recording cannot be changed"),
    ] {
        let error = run.execute(line, &mut SilentObserver).expect_err(line);
        assert_eq!(error.message, expected, "{line}");
    }
}

#[test]
fn a_condition_that_cannot_be_evaluated_stops_and_says_why() {
    let text = "{\"event\":\"before f\",\"values\":{\"n\":1}}\n\
                {\"event\":\"before f\",\"values\":{\"n\":null}}\n\
                {\"event\":\"before f\",\"values\":{\"n\":0}}\n";
    let mut run = open(text, &[]);
    run.execute("break f if 10 / n > 20", &mut SilentObserver)
        .expect("it is set");
    for event in [2, 3] {
        let Ok(Outcome::RecordedStop(stop)) = run.execute("continue", &mut SilentObserver) else {
            panic!("it stops");
        };
        assert_eq!(
            (stop.event, stop.reason, stop.errors.len()),
            (event, "breakpoint", 1)
        );
    }
    assert_eq!(perform(&mut run, "continue"), (4, "end".to_owned()));
}

#[test]
fn events_of_other_programs_have_names_of_their_own() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("jobs.csv");
    std::fs::write(&file, "1,1,begin,7\n2,1,begin,8\n3,1,end,8\n").expect("it is written");
    let options = RecordedRunOptions {
        file,
        columns: vec!["begin=job".to_owned()],
        ..RecordedRunOptions::default()
    };
    let mut run = RecordedRun::open(&options, &mut SilentObserver).expect("it is right");
    run.execute("break begin if job == 8", &mut SilentObserver)
        .expect("it is set");
    run.execute("break end", &mut SilentObserver)
        .expect("it is set");
    assert_eq!(
        perform(&mut run, "continue"),
        (2, "breakpoint [1]".to_owned())
    );
    let given = run
        .execute("print job", &mut SilentObserver)
        .expect("it was recorded");
    assert!(matches!(given, Outcome::Value(value) if value.value == "8"));
    assert_eq!(
        perform(&mut run, "continue"),
        (3, "breakpoint [2]".to_owned())
    );
}

#[test]
fn continue_passes_breakpoints_and_nothing_else() {
    // A violation at the third event, and a condition without a value at the fifth.
    let text = format!(
        "{}{{\"event\":\"before f\",\"values\":{{\"n\":1}}}}\n\
         {{\"event\":\"before f\",\"values\":{{\"n\":0}}}}\n",
        recording(&[(true, 1, 1), (true, 2, 1), (false, 3, 1)])
    );
    let mut run = open(&text, &[JOBS]);
    run.execute("break begin", &mut SilentObserver)
        .expect("it is set");
    assert_eq!(
        perform(&mut run, "continue 2"),
        (2, "breakpoint [1]".to_owned())
    );
    assert_eq!(perform(&mut run, "run").0, 1);
    assert_eq!(
        perform(&mut run, "continue 9"),
        (3, "violation []".to_owned())
    );
    run.execute("break f if 1 / n > 5", &mut SilentObserver)
        .expect("it is set");
    assert_eq!(
        perform(&mut run, "continue 9"),
        (5, "breakpoint [2]".to_owned())
    );
}

#[test]
fn what_is_before_a_mistake_counts() {
    let text =
        "{\"event\":\"before f\"}\n{\"event\":\"before f\"}\nfalse\n{\"event\":\"before f\"}\n";
    let mut run = open(text, &[]);
    let Ok(Outcome::RecordedEnd(end)) = run.execute("continue", &mut SilentObserver) else {
        panic!("it ends");
    };
    assert_eq!((end.events, end.decided), (2, false));
    assert!(end.fault.is_some_and(|it| it.contains("run.jsonl:3")));
}

#[test]
fn properties_come_and_go_where_one_stands() {
    let text = recording(&[(true, 1, 1), (false, 1, 1), (false, 1, 1)]);
    let mut run = open(&text, &[]);
    assert_eq!(perform(&mut run, "step 2").0, 2);
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), JOBS).expect("it is written");
    let add = format!("property add {}", file.path().display());
    assert!(matches!(
        run.execute(&add, &mut SilentObserver),
        Ok(Outcome::Properties(_))
    ));
    assert_eq!(run.position, 2);
    assert!(
        monitors(&run).contains("\"rounds\", value: Int(1)"),
        "{}",
        monitors(&run)
    );
    assert!(run.execute(&add, &mut SilentObserver).is_err());
    assert_eq!(
        perform(&mut run, "continue"),
        (3, "violation []".to_owned())
    );
    run.execute("property remove jobs", &mut SilentObserver)
        .expect("it goes");
    assert_eq!(perform(&mut run, "run"), (4, "end".to_owned()));
}

#[test]
fn a_stop_shows_its_context() {
    let mut run = open(&recording(&[(true, 1, 1), (true, 2, 1)]), &[JOBS]);
    let mut parts = |setting: &str, line: &str| {
        let said = run.execute(setting, &mut SilentObserver);
        assert_eq!(said, Ok(Outcome::Done), "{setting}");
        let Ok(Outcome::RecordedStop(stop)) = run.execute(line, &mut SilentObserver) else {
            panic!("it stops: {line}");
        };
        let shown = stop.context.into_iter();
        shown.map(|it| (it.part, it.shown)).collect::<Vec<_>>()
    };
    let shown = parts("set context monitors, locals", "step");
    let [(ContextPart::Monitors, Outcome::Monitors(_)), (_, locals)] = shown.as_slice() else {
        panic!("{shown:?}");
    };
    assert!(matches!(locals, Outcome::Variables(values) if values[0].value == "1"));
    // The location was not recorded, and so there is no source.
    let shown = parts("set context on", "step");
    assert!(
        matches!(shown.as_slice(), [(ContextPart::Locals, _)]),
        "{shown:?}"
    );
    assert_eq!(parts("set context off", "reverse-step"), []);
    // Before the first event there are no values.
    assert_eq!(parts("set context locals", "start"), []);
    for (line, expected) in [
        ("set context backtrace", "a recording has no backtrace"),
        ("set context stack", "there is no context `stack`"),
    ] {
        let error = run.execute(line, &mut SilentObserver).expect_err(line);
        assert_eq!(error.message, expected);
    }
}

#[test]
fn what_a_terminal_shows_can_be_set() {
    let mut run = open(&recording(&[(true, 1, 1)]), &[JOBS]);
    for line in [
        "set width 80",
        "set pagination off",
        "set style sources off",
    ] {
        let said = run.execute(line, &mut SilentObserver);
        assert!(matches!(said, Ok(Outcome::Done)), "{line}");
    }
    let settings = run.terminal_settings();
    assert_eq!(settings.width, juror_view::Extent::Fixed(80));
    assert!(!settings.paginates && run.sources.is_plain);
    assert!(run.execute("set width wide", &mut SilentObserver).is_err());
}
