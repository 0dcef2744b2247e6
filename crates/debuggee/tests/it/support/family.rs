//! A program and the processes that it makes, all of them debugged, run to their
//! ends.

use std::collections::BTreeMap;

use juror_debuggee::{Debuggee, FairWaiter, ForkKind, StopEvent};

/// What all processes of a run did.
#[derive(Debug, Default)]
pub struct Family {
    /// By process: its hits.
    pub hits: BTreeMap<u32, usize>,
    /// By process: its exit status.
    pub ends: BTreeMap<u32, i32>,
    pub joined: Vec<ForkKind>,
}

impl Family {
    pub fn total(&self) -> usize {
        self.hits.values().sum()
    }

    pub fn statuses(&self) -> Vec<i32> {
        let mut statuses: Vec<i32> = self.ends.values().copied().collect();
        statuses.sort_unstable();
        statuses
    }
}

/// Runs all processes to their ends; `look` sees each stop event before its thread
/// is resumed.
#[track_caller]
pub fn run_family(root: Debuggee, mut look: impl FnMut(&mut Debuggee, &StopEvent)) -> Family {
    let mut family = Family::default();
    let mut debuggees = vec![root];
    let mut fair_waiter = FairWaiter::default();
    debuggees[0].resume_all().unwrap();
    while !debuggees.is_empty() {
        let mut all: Vec<&mut Debuggee> = debuggees.iter_mut().collect();
        let (position, event) = fair_waiter.wait(&mut all).unwrap();
        let debuggee = &mut debuggees[position];
        look(debuggee, &event);
        let pid = debuggee.pid();
        match event {
            StopEvent::Hit { .. } => *family.hits.entry(pid).or_default() += 1,
            StopEvent::ChildAttached { process, kind, .. } => {
                family.joined.push(kind);
                let mut child = debuggee.adopt(process).unwrap().expect("it lives");
                look(&mut child, &event);
                child.resume_all().unwrap();
                debuggees.push(child);
                continue;
            }
            StopEvent::Exited { status } => {
                family.ends.insert(pid, status);
                let mut gone = debuggees.remove(position);
                if let Some(other) = debuggees.first_mut() {
                    gone.transfer_to(other);
                }
                continue;
            }
            StopEvent::Killed { signal, .. } => panic!("{pid} was killed by signal {signal}"),
            _ => {}
        }
        if let Some(thread) = event.waiting_thread() {
            debuggee.resume(thread).unwrap();
        }
    }
    family
}
