//! The properties that are shipped: what of them is native.

use super::words_of;
use crate::lowering::{Op, Options, Why, lower};
use crate::monitor::Monitor;
use juror_language::load;
use std::collections::BTreeSet;
use std::sync::Arc;

/// By event: the reasons for gates in its operations, and their number.
fn gates(source: &str) -> Vec<(String, BTreeSet<Why>, usize)> {
    let property = Arc::new(load(source).0.remove(0));
    let monitor = Monitor::new(Arc::clone(&property)).unwrap();
    let lowered = lower(&monitor, &words_of(&property), &Options::default()).unwrap();
    let steps = property.events.iter().zip(&lowered.program().steps);
    steps
        .map(|(event, step)| {
            let gates = step.ops.iter().filter_map(|op| match op {
                Op::Gate(why) => Some(*why),
                _ => None,
            });
            (event.name.to_string(), gates.collect(), step.ops.len())
        })
        .collect()
}

#[test]
fn blocks_and_mutexes_are_native() {
    let double_free = include_str!("../../../../../properties/libc/double-free.prop");
    let mutex = include_str!("../../../../../properties/libc/mutex.prop");
    let common = BTreeSet::from([Why::Value, Why::Full, Why::Verdict, Why::Numbers]);
    for source in [double_free, mutex] {
        for (event, gates, count) in gates(source) {
            println!("{event}: {count} operations, {gates:?}");
            match &*event {
                "thread_ends" => assert_eq!(gates, BTreeSet::from([Why::Event])),
                _ => assert!(gates.is_subset(&common), "{event}: {gates:?}"),
            }
        }
    }
}
