use super::*;
use crate::offline::Offline;
use crate::property_files::PropertySource;
use juror_trace::{Batch, Decoder, Form};
use juror_view::observer::SilentObserver;

const SLICED: &str = "property p\nslice on n\nevent a = before a(n)\nevent b = before b(n)\n\
    state first accepting { on a -> second }\n\
    state second accepting { on b -> first\n on a -> wrong }\n\
    state wrong non-accepting final {}\n";

struct Run {
    offline: Offline,
    pictures: Pictures,
}

impl Run {
    fn new(source: &str) -> Run {
        let source = PropertySource::new("p.prop", source);
        let (offline, _) = Offline::load(&[source], 0).expect("the property is right");
        Run {
            offline,
            pictures: Pictures::default(),
        }
    }

    /// Takes calls of the functions, each with a value and at a time.
    fn take(&mut self, calls: &[(&str, u64, u64)]) {
        let lines = calls.iter().map(|(name, value, time)| {
            format!(
                "{{\"event\":\"before {name}\",\"values\":{{\"n\":{value}}},\
                 \"thread\":1,\"time\":{time}}}\n"
            )
        });
        let text: String = lines.collect();
        let mut batch = Batch::default();
        Decoder::new(Form::Json).decode(text.as_bytes(), true, &mut batch);
        assert_eq!(batch.faults, []);
        self.offline.learn(0, &batch);
        for event in &batch.events {
            self.offline.step(0, &batch, event, &mut SilentObserver);
        }
    }

    fn shown(&self) -> &MonitoredProperty {
        &self.offline.monitors.properties[0]
    }

    fn sample(&mut self, wanted: &SampleWanted) -> SampleView {
        let shown = &self.offline.monitors.properties;
        let places = Some(&self.offline.recorded.places);
        self.pictures.sample(shown, wanted, places)
    }
}

fn states(sample: &PropertySample) -> Vec<(&str, u64)> {
    let states = sample.states.iter();
    states.map(|it| (it.state.as_str(), it.slices)).collect()
}

fn since(next: u64) -> SampleWanted {
    SampleWanted {
        since: BTreeMap::from([("p".to_owned(), next)]),
        ..SampleWanted::default()
    }
}

#[test]
fn a_sample_counts_slices_by_state_and_lights_what_was_taken_since() {
    let mut run = Run::new(SLICED);
    run.take(&[("a", 1, 10), ("a", 2, 20), ("a", 3, 30), ("b", 2, 40)]);
    let sample = run.sample(&since(0)).properties.remove(0);
    assert_eq!(states(&sample), [("first", 1), ("second", 2)]);
    assert_eq!((sample.slice_count, sample.events), (3, 4));
    let picture = picture(run.shown());
    let lit = |sample: &PropertySample| {
        let lit = sample.lit.clone().expect("a history is kept");
        let edges = picture.transitions.iter();
        let labels = edges.filter(|it| lit.contains(&it.edge));
        labels
            .map(|it| format!("{} {} {}", it.from, it.event, it.to))
            .collect::<Vec<_>>()
    };
    assert_eq!(lit(&sample), ["first a second", "second b first"]);
    let later = run.sample(&since(sample.next)).properties.remove(0);
    assert_eq!(lit(&later), Vec::<String>::new());
    run.take(&[("a", 2, 50)]);
    let later = run.sample(&since(later.next)).properties.remove(0);
    assert_eq!(lit(&later), ["first a second"]);
}

/// Two properties of the same events, which both hold at the end.
const TWO: &str = "event a = before a(n)\nevent b = before b(n)\n\
    property one\nltl always (a implies eventually b)\n\
    property two\nstate idle accepting { on a -> open }\n\
    state open non-accepting { on b -> idle }\n";

#[test]
fn an_event_of_two_properties_is_one_and_an_open_state_is_no_violation() {
    let mut run = Run::new(TWO);
    for time in [10, 20, 30] {
        run.take(&[("a", 1, time), ("b", 1, time + 5)]);
    }
    let end = run.offline.finish(None);
    assert_eq!(end.violations, []);
    let wanted = SampleWanted {
        timeline: true,
        ..SampleWanted::default()
    };
    let sample = run.sample(&wanted);
    assert_eq!(sample.events, 6);
    let marks = sample.timeline.expect("it is wanted").marks;
    assert_eq!(marks.iter().map(|mark| mark.count).sum::<u64>(), 6);
    assert!(
        marks.iter().all(|mark| mark.violated.is_none()),
        "{marks:?}"
    );
}

#[test]
fn places_are_kept_when_the_program_goes() {
    let mut run = Run::new(SLICED);
    run.take(&[("a", 1, 10), ("a", 1, 20)]);
    let shown = &run.offline.monitors.properties;
    let before = run
        .pictures
        .sample(shown, &since(0), Some(&run.offline.recorded.places));
    run.pictures
        .keep_places(shown, &run.offline.recorded.places);
    let after = run.pictures.sample::<KeptPlaces>(shown, &since(0), None);
    let path = |sample: &SampleView| sample.properties[0].chosen.clone().expect("one").path;
    assert_eq!(path(&before), path(&after));
}

#[test]
fn a_violated_slice_is_chosen_unless_another_one_is_wanted() {
    let mut run = Run::new(SLICED);
    run.take(&[("a", 1, 10), ("a", 2, 20)]);
    let sample = run.sample(&since(0)).properties.remove(0);
    assert_eq!(sample.chosen, None);
    run.take(&[("a", 2, 30)]);
    let sample = run.sample(&since(0)).properties.remove(0);
    let chosen = sample.chosen.expect("one is violated");
    assert_eq!(chosen.slice[0].value.to_string(), "2");
    assert_eq!(chosen.path.len(), 2);
    let wanted = SampleWanted {
        chosen: BTreeMap::from([("p".to_owned(), vec!["1".to_owned()])]),
        ..SampleWanted::default()
    };
    let sample = run.sample(&wanted).properties.remove(0);
    let chosen = sample.chosen.expect("it is there");
    assert_eq!(chosen.slice[0].value.to_string(), "1");
}

#[test]
fn a_page_has_the_wanted_slices_in_order() {
    let mut run = Run::new(SLICED);
    let calls: Vec<_> = (0..50).map(|n| ("a", n, n)).collect();
    run.take(&calls);
    run.take(&[("a", 40, 100), ("a", 7, 110)]);
    let page = |filter: &str, violated_first, offset, count| {
        let wanted = SlicesWanted {
            property: "p".to_owned(),
            filter: filter.to_owned(),
            violated_first,
            offset,
            count,
        };
        let page = slices(run.shown(), &wanted);
        let values = page.rows.iter().map(|row| row.binding[0].value.to_string());
        (
            page.total,
            page.matching,
            values.collect::<Vec<_>>().join(" "),
        )
    };
    let (total, matching, all) = page("", false, 0, 200);
    assert_eq!((total, matching, all.split(' ').count()), (50, 50, 50));
    let (_, _, first) = page("", true, 0, 3);
    let mut violated: Vec<&str> = first.split(' ').take(2).collect();
    violated.sort_unstable();
    assert_eq!(violated, ["40", "7"]);
    let (_, matching, rows) = page("wrong", false, 0, 10);
    assert_eq!((matching, rows.split(' ').count()), (2, 2));
    // Pages, joined, are the whole.
    for violated_first in [false, true] {
        let whole = page("", violated_first, 0, 200).2;
        let pieces: Vec<_> = (0..5)
            .map(|n| page("", violated_first, n * 10, 10).2)
            .collect();
        assert_eq!(pieces.join(" "), whole);
    }
    assert_eq!(page("", true, 100, 10).2, "");
}

#[test]
fn a_formula_has_its_states_and_transitions() {
    let mut run = Run::new(
        "property p\nevent a = before a(n)\nevent b = before b(n)\n\
         ltl always (a implies eventually b)\n",
    );
    run.take(&[("a", 1, 1)]);
    let sample = run.sample(&since(0)).properties.remove(0);
    let picture = picture(run.shown());
    assert_eq!(sample.states.len(), 1);
    let current = &sample.states[0].id;
    assert!(picture.states.iter().any(|it| it.id == *current));
    assert!(picture.svg.contains(&format!("id=\"{current}\"")));
    assert_eq!(sample.lit.expect("a history is kept").len(), 1);
}

#[test]
fn the_time_line_counts_events_and_marks_violations() {
    let mut run = Run::new(SLICED);
    let calls: Vec<_> = (0..1000).map(|n| ("a", n, n * 1000)).collect();
    run.take(&calls);
    run.take(&[("a", 5, 1_000_000)]);
    let wanted = SampleWanted {
        timeline: true,
        ..SampleWanted::default()
    };
    let timeline = run.sample(&wanted).timeline.expect("it is wanted");
    assert!(timeline.has_times);
    let marks = timeline.marks;
    assert!(marks.len() <= MARKS_MAX, "{}", marks.len());
    assert_eq!(marks.iter().map(|it| it.count).sum::<u64>(), 1001);
    let violated: Vec<_> = marks.iter().filter(|it| it.violated.is_some()).collect();
    assert_eq!(violated.len(), 1);
    assert!(violated[0].to > 1_000_000 && violated[0].from <= 1_000_000);
}

#[test]
fn a_part_of_the_time_line_has_marks_of_its_own() {
    let mut run = Run::new(SLICED);
    let calls: Vec<_> = (0..1000).map(|n| ("a", n, (n + 1) * 1000)).collect();
    run.take(&calls);
    let mut of = |window| {
        let wanted = SampleWanted {
            timeline: true,
            window,
            ..SampleWanted::default()
        };
        run.sample(&wanted).timeline.expect("it is wanted")
    };
    let whole = of(None);
    assert_eq!((whole.from, whole.to), (1000, 1_000_000));
    let part = of(Some((10_000, 19_000)));
    assert_eq!((part.from, part.to), (1000, 1_000_000));
    // Each event has a mark here, and seven share one in the whole.
    assert_eq!(part.marks.len(), 10);
    assert!(whole.marks.len() <= 150, "{}", whole.marks.len());
    assert!(part.marks.iter().all(|it| it.count == 1));
    assert_eq!(part.marks[0].from, 10_000);
    for empty in [(2_000_000, 3_000_000), (10_500, 10_400), (0, 0)] {
        assert_eq!(of(Some(empty)).marks, []);
    }
    assert_eq!(of(Some((0, u64::MAX))).marks.len(), 1);
}

#[test]
fn without_times_the_numbers_of_events_are_the_time_line() {
    let mut run = Run::new(SLICED);
    let calls: Vec<_> = (0..10).map(|n| ("a", n, 0)).collect();
    run.take(&calls);
    let wanted = SampleWanted {
        timeline: true,
        ..SampleWanted::default()
    };
    let timeline = run.sample(&wanted).timeline.expect("it is wanted");
    assert!(!timeline.has_times);
    let marks: Vec<_> = timeline
        .marks
        .iter()
        .map(|it| (it.from, it.count))
        .collect();
    assert_eq!(marks, (1..=10).map(|n| (n, 1)).collect::<Vec<_>>());
}
