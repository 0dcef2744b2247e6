//! An event that changes no verdict allocates nothing, from the stop to the
//! resume; points that come and go with the states included. Nor does a hit of
//! a breakpoint that stops nothing.

use juror_monitoring::property_files::PropertySource;
use juror_session::{Options, Session, Tier};
use juror_testing::{CountingAllocator, compile_c};
use juror_view::observer::{Observer, SilentObserver};
use juror_view::{Outcome, ProcessEnd, ScenarioLine, StateChange, StopReason};
use std::cell::Cell;
use std::path::{Path, PathBuf};

/// How often each thread calls `tick`.
const CALLS: u64 = 3_000;
/// Transitions after which every buffer has its size.
const WARM: u64 = 1_000;

/// Every thread has called `tick` once before any of them calls it often, and
/// none of them ends before all have called it often enough.
const PROGRAM: &str = r#"
    #include <pthread.h>
    #include <stdlib.h>
    static int calls;
    static pthread_barrier_t begin, end;
    __attribute__((noinline)) int tick(int n, int *cell) {
        __asm__ volatile("" : : "r"(n), "r"(cell) : "memory");
        return n + *cell;
    }
    static void *run(void *unused) {
        int cell = 1;
        tick(0, &cell);
        pthread_barrier_wait(&begin);
        for (int n = 1; n < calls; n++) tick(n, &cell);
        pthread_barrier_wait(&end);
        return unused;
    }
    int main(int argc, char **argv) {
        int threads = atoi(argv[1]);
        calls = atoi(argv[argc - 1]);
        pthread_t others[8];
        pthread_barrier_init(&begin, 0, threads);
        pthread_barrier_init(&end, 0, threads);
        for (int i = 1; i < threads; i++) pthread_create(&others[i], 0, run, 0);
        run(0);
        for (int i = 1; i < threads; i++) pthread_join(others[i], 0);
        return 0;
    }"#;

/// Is asked at every transition, and looks at the counter then.
#[derive(Default)]
struct Lookout {
    transitions: Cell<u64>,
    /// Allocations when everything was warm.
    warm: Cell<u64>,
    /// Allocations at the last transition.
    last: Cell<u64>,
}

impl Observer for Lookout {
    fn state_change(&mut self, _: &StateChange) {}

    fn wants_state_changes(&self) -> bool {
        let now = CountingAllocator::allocations();
        self.transitions.set(self.transitions.get() + 1);
        if self.transitions.get() == WARM {
            self.warm.set(now);
        }
        self.last.set(now);
        false
    }

    fn process_ended(&mut self, _: &ProcessEnd) {}
    fn notice(&mut self, _: &str) {}
    fn scenario_line(&mut self, _: &ScenarioLine) {}
    fn scenario_outcome(&mut self, _: &str, _: &str, _: &Outcome) {}
    fn scenario_error(&mut self, _: &StopReason) {}

    fn progress(&mut self, _: &str, _: u64, _: u64) {}
}

fn compile(directory: &Path) -> PathBuf {
    let program = directory.join("calls");
    compile_c(&program, PROGRAM, &["-O1", "-g"]);
    program
}

/// Runs the program under the property, of which each call takes so many
/// transitions.
#[track_caller]
fn check(property: &str, threads: u64, transitions_per_call: u64) {
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        tier: Tier::Trap,
        program: compile(directory.path()),
        arguments: [threads, CALLS].map(|n| n.to_string().into()).to_vec(),
        properties: vec![PropertySource::new("ticks.prop", property)],
        batch: true,
        ..Options::default()
    };
    let mut lookout = Lookout::default();
    let mut session = Session::start(options, &mut lookout).unwrap();
    let outcome = session.execute("run", &mut lookout).unwrap();
    assert!(matches!(outcome, Outcome::Ended(_)), "{outcome:?}");
    let transitions = threads * CALLS * transitions_per_call;
    assert_eq!(lookout.transitions.get(), transitions);
    assert!(lookout.warm.get() > 0);
    assert_eq!(lookout.last.get() - lookout.warm.get(), 0, "allocations");
}

#[test]
fn an_event_before_a_call() {
    let property = "property p event e = before tick(n)
        var seen = 0
        state a accepting { on e when n >= 0 { seen += 1 } -> a else -> b }
        state b non-accepting";
    check(property, 1, 1);
    check(property, 2, 1);
}

#[test]
fn an_event_after_a_call() {
    let property = "property p event e = after tick(n, cell) returns sum
        var seen = 0
        state a accepting { on e when sum == n + 1 { seen += 1 } -> a else -> b }
        state b non-accepting";
    check(property, 1, 1);
    check(property, 2, 1);
}

#[test]
fn points_that_come_and_go() {
    let property = "property p event begin = before tick event end = after tick
        state outside accepting { on begin -> inside }
        state inside accepting { on end -> outside }";
    check(property, 1, 2);
}

#[test]
fn a_slice_for_each_thread() {
    let property = "property p slice on cell event e = before tick(n, cell)
        var seen = 0
        state a accepting { on e when n >= 0 { seen += 1 } -> a else -> b }
        state b non-accepting";
    check(property, 1, 1);
    check(property, 2, 1);
}

/// Two threads call `tick` in rounds, of a thousand calls and of three thousand by turns; the
/// first thread calls `round_begins` before each.
const ROUNDS: &str = r#"
    #include <pthread.h>
    static int calls;
    static pthread_barrier_t barrier;
    __attribute__((noinline)) int tick(int n, int *cell) {
        __asm__ volatile("" : : "r"(n), "r"(cell) : "memory");
        return n + *cell;
    }
    __attribute__((noinline)) void round_begins(void) { __asm__ volatile("" : : : "memory"); }
    static void *run(void *is_first) {
        int cell = 1;
        for (int round = 0; round < 7; round++) {
            if (is_first) {
                calls = round % 2 ? 3000 : 1000;
                round_begins();
            }
            pthread_barrier_wait(&barrier);
            for (int n = 1; n < calls; n++) tick(n, &cell);
            pthread_barrier_wait(&barrier);
        }
        return 0;
    }
    int main(void) {
        pthread_t other;
        pthread_barrier_init(&barrier, 0, 2);
        pthread_create(&other, 0, run, 0);
        run(&other);
        pthread_join(other, 0);
        return 0;
    }"#;

/// Checks that the hits of a breakpoint that stops nothing allocate nothing. A round of three
/// times as many hits allocates what a round of few does, which is what the stop at its end
/// takes; the first rounds have read all symbols that such a stop needs, of which there may be
/// many (debug information of the C library).
#[track_caller]
fn check_breakpoint(commands: &[&str]) {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("rounds");
    compile_c(&program, ROUNDS, &["-O1", "-g"]);
    let options = Options {
        tier: Tier::Trap,
        program,
        ..Options::default()
    };
    let mut session = Session::start(options, &mut SilentObserver).unwrap();
    for command in commands {
        session.execute(command, &mut SilentObserver).unwrap();
    }
    session
        .execute("break round_begins", &mut SilentObserver)
        .unwrap();
    let first = if commands.contains(&"start") {
        "continue"
    } else {
        "run"
    };
    let mut allocations = Vec::new();
    for command in [
        first, "continue", "continue", "continue", "continue", "continue",
    ] {
        let before = CountingAllocator::allocations();
        let outcome = session.execute(command, &mut SilentObserver).unwrap();
        allocations.push(CountingAllocator::allocations() - before);
        let Outcome::Stopped(stop) = &outcome else {
            panic!("{command}: {outcome:?}");
        };
        assert_eq!(stop.location.function.as_deref(), Some("round_begins"));
    }
    let [.., few, many] = allocations[..] else {
        unreachable!();
    };
    assert!(few.abs_diff(many) < 100, "{allocations:?}");
}

#[test]
fn a_breakpoint_that_is_only_counted() {
    check_breakpoint(&["break tick", "ignore 1 1000000"]);
}

#[test]
fn a_condition_that_is_false() {
    check_breakpoint(&["break tick if 1 == 2"]);
    check_breakpoint(&["break *tick if n < 0"]);
    check_breakpoint(&["break tick if *cell == 7 && n > 3 || cell == null"]);
    check_breakpoint(&["break tick if calls < 0"]);
}

#[test]
fn a_breakpoint_of_another_thread() {
    check_breakpoint(&["start", "break tick thread 1", "ignore 1 1000000"]);
}
