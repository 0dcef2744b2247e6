use super::*;
use crate::view::{Outcome, ProcessEnd, ScenarioLine, StateChange, StopReason};
use juror_trace::{Decoder, Form};

/// Takes nothing.
struct Nobody;

impl Observer for Nobody {
    fn state_change(&mut self, _: &StateChange) {}
    fn wants_state_changes(&self) -> bool {
        true
    }
    fn process_ended(&mut self, _: &ProcessEnd) {}
    fn notice(&mut self, _: &str) {}
    fn scenario_line(&mut self, _: &ScenarioLine) {}
    fn scenario_outcome(&mut self, _: &str, _: &str, _: &Outcome) {}
    fn scenario_error(&mut self, _: &StopReason) {}
    fn progress(&mut self, _: &str, _: u64, _: u64) {}
}

fn offline(source: &str) -> Offline {
    let source = PropertySource::new("p.prop", source);
    let (offline, _) = Offline::load(&[source], 0).expect("the property is right");
    offline
}

fn batch(text: &str) -> Batch {
    let mut batch = Batch::default();
    let mut decoder = Decoder::new(Form::Json);
    decoder.decode(text.as_bytes(), true, &mut batch);
    assert_eq!(batch.faults, []);
    batch
}

/// Which events of the traces, counted over all, are stops.
fn stops(offline: &mut Offline, traces: &[&str]) -> Vec<usize> {
    let mut stops = Vec::new();
    let mut count = 0;
    for (trace, text) in traces.iter().enumerate() {
        let batch = batch(text);
        offline.learn(trace, &batch);
        for event in &batch.events {
            if offline.step(trace, &batch, event, &mut Nobody).is_some() {
                stops.push(count);
            }
            count += 1;
        }
    }
    stops
}

/// An event that another one of the same moment makes needed has begun before.
#[test]
fn what_becomes_needed_at_an_event_waits_for_the_next() {
    let mut offline = offline(
        "property p\nevent a = before f()\nevent b = before f()\n\
         state s accepting { on a -> t }\nstate t accepting { on b -> u }\n\
         state u non-accepting\n",
    );
    let event = "{\"event\":\"before f\"}\n";
    assert_eq!(stops(&mut offline, &[&event.repeat(3)]), [1]);
    let view = offline.finish(None);
    let events = &view.summaries[0].events;
    assert_eq!((events[0].occurrences, events[1].occurrences), (1, 1));
}

/// Two runs may have different places at the same address.
#[test]
fn places_belong_to_their_trace() {
    let mut offline = offline(
        "property p\nevent a = before f()\nstate s accepting { on a -> t }\n\
         state t accepting { on a -> u }\nstate u non-accepting\n",
    );
    offline.begin(2);
    let trace = |file: &str| {
        format!(
            "{{\"define\":0,\"address\":4096,\"file\":\"{file}\",\"line\":7}}\n\
             {{\"event\":\"before f\",\"place\":0}}\n"
        )
    };
    let (one, two) = (trace("one.c"), trace("two.c"));
    let (first, second) = (batch(&one), batch(&two));
    offline.learn(0, &first);
    offline.learn(1, &second);
    assert_eq!(offline.step(0, &first, &first.events[0], &mut Nobody), None);
    let reason = offline.step(1, &second, &second.events[0], &mut Nobody);
    let Some(StopReason::Violation { violations }) = reason else {
        panic!("{reason:?}");
    };
    let places = violations[0].path.iter().map(|step| {
        assert_eq!(step.location.address, 4096);
        step.location.file.as_deref().unwrap_or_default()
    });
    assert_eq!(places.collect::<Vec<_>>(), ["one.c", "two.c"]);
}

#[test]
fn a_run_that_was_stopped_decides_nothing() {
    let source = "property p\nevent a = before f()\nstate s non-accepting { on a -> t }\n\
                  state t accepting\n";
    for (how, violations) in [
        (None, 1),
        (Some(How::Exited(0)), 1),
        (Some(How::Killed(9)), 1),
        (Some(How::Stopped), 0),
        (Some(How::Detached), 0),
    ] {
        let mut offline = offline(source);
        assert_eq!(offline.finish(how).violations.len(), violations, "{how:?}");
    }
}
