//! Random calls of a thread under random filters and needs, against a thread that is always
//! resumed up to its next call.

use std::collections::BTreeSet;

use super::*;

/// Numbers from a seed (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    fn calls(&mut self) -> BTreeSet<u64> {
        (0..CALLS).filter(|_| self.one_in(2)).collect()
    }
}

const CALLS: u64 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Entry(u64),
    Exit(u64),
}

/// What upper layers need: these calls at present; of these, the exits in some state; and stops at
/// every call, for another reason.
#[derive(Debug, Clone, Default)]
struct Wanted {
    calls: BTreeSet<u64>,
    exits: BTreeSet<u64>,
    every: bool,
}

impl Wanted {
    fn needs(&self, filter: &BTreeSet<u64>, at: Option<u64>) -> CallNeeds {
        CallNeeds {
            every: self.every || !self.calls.is_subset(filter),
            exit: at.is_some_and(|number| self.exits.contains(&number)),
        }
    }

    fn sees(&self, seen: Seen) -> bool {
        match seen {
            Seen::Entry(number) => self.calls.contains(&number),
            Seen::Exit(number) => self.calls.contains(&number) && self.exits.contains(&number),
        }
    }
}

/// A thread under ptrace: the kernel's part, and juror's.
struct Simulated {
    random: Random,
    filter: BTreeSet<u64>,
    wanted: Wanted,
    state: CallState,
    /// How it was resumed.
    stops_at_calls: bool,
    seen: Vec<Seen>,
    reference: Vec<Seen>,
    stops: usize,
}

impl Simulated {
    /// The needs change as they do while a thread is stopped: monitors need some of the filter's
    /// calls, others any; the exits are fixed for a run.
    fn change_needs(&mut self) {
        if self.random.one_in(3) {
            let some = self.random.calls();
            let others = self.random.one_in(4);
            let is_meant = |it: &u64| others || self.filter.contains(it);
            self.wanted.calls = some.into_iter().filter(is_meant).collect();
            self.wanted.every = self.random.one_in(6);
        }
    }

    fn report(&mut self, seen: Seen) {
        if self.wanted.sees(seen) {
            self.seen.push(seen);
        }
    }

    /// A call that was left at its entry, if it is: then it is made again.
    fn leaves(&mut self) -> bool {
        let leaves = self.random.one_in(8);
        if leaves {
            self.state.leave();
        }
        leaves
    }

    fn go_on(&mut self, at: Option<u64>) {
        self.stops_at_calls = self.state.go_on(self.wanted.needs(&self.filter, at));
    }

    /// One call, of which the program knows nothing.
    fn call(&mut self, number: u64) {
        let mut is_first = true;
        loop {
            if !self.enter(number, is_first) {
                break;
            }
            is_first = false;
        }
        let exit = Seen::Exit(number);
        if self.stops_at_calls {
            self.stops += 1;
            self.state.exit();
            self.report(exit);
            if self.wanted.sees(exit) {
                self.reference.push(exit);
            }
            self.change_needs();
            self.go_on(None);
        } else if self.wanted.sees(exit) {
            self.reference.push(exit);
        }
    }

    /// Returns true if the call is made again.
    fn enter(&mut self, number: u64, is_first: bool) -> bool {
        let entry = Seen::Entry(number);
        if is_first && self.wanted.sees(entry) {
            self.reference.push(entry);
        }
        let reports = [
            (EntryReport::Requested, self.stops_at_calls),
            (EntryReport::Filtered, self.filter.contains(&number)),
        ];
        for (report, is_made) in reports {
            if !is_made {
                continue;
            }
            self.stops += 1;
            if self.state.enter(report) {
                self.report(entry);
                self.change_needs();
            }
            let leaves = self.leaves();
            self.go_on(Some(number));
            if leaves {
                return true;
            }
        }
        false
    }
}

#[test]
fn a_filter_hides_nothing_and_repeats_nothing() {
    let (mut filtered, mut seen) = (0, 0);
    for seed in 1..4000_u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let filter = random.calls();
        let exits = random.calls();
        let mut thread = Simulated {
            random,
            filter,
            wanted: Wanted {
                exits,
                ..Wanted::default()
            },
            state: CallState::default(),
            stops_at_calls: false,
            seen: Vec::new(),
            reference: Vec::new(),
            stops: 0,
        };
        for _ in 0..40 {
            let number = thread.random.below(CALLS);
            // The thread stops for something else.
            if thread.random.one_in(4) {
                thread.change_needs();
                thread.go_on(None);
            }
            thread.call(number);
        }
        assert_eq!(thread.seen, thread.reference, "seed {seed}");
        seen += thread.seen.len();
        filtered += usize::from(thread.stops < 80);
    }
    assert!(seen > 10_000 && filtered > 2_000, "{seen} {filtered}");
}

#[test]
fn a_named_call_stops_once_or_twice() {
    let mut state = CallState::default();
    assert!(!state.go_on(CallNeeds::default()));
    assert!(state.enter(EntryReport::Filtered));
    assert!(state.is_at_filter());
    assert!(!state.go_on(CallNeeds::default()));
    let needs = CallNeeds {
        exit: true,
        ..CallNeeds::default()
    };
    assert!(state.enter(EntryReport::Filtered));
    assert!(state.go_on(needs));
    assert!(state.exit());
    assert!(!state.go_on(CallNeeds::default()));
}

#[test]
fn an_entry_that_was_left_is_seen_again_whatever_is_needed_then() {
    let mut state = CallState::default();
    assert!(state.enter(EntryReport::Requested));
    state.leave();
    // Nothing needs the call any more, and it is not one of the filter's.
    assert!(state.go_on(CallNeeds::default()));
    assert!(!state.enter(EntryReport::Requested));
    assert!(state.go_on(CallNeeds::default()));
    assert!(state.exit());
    // The next one is new.
    assert!(state.enter(EntryReport::Filtered));
}
