//! Requests that a front end has while the program runs: they are served in the middle of the
//! command, which goes on with its goal, and no event of the program is lost or doubled.

use juror_session::{Options, Session};
use juror_testing::compile_c;
use juror_view::driver::Driver;
use juror_view::observer::{Observer, SilentObserver};
use juror_view::{Outcome, ProcessEnd, ScenarioLine, StateChange, StopReason};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use tempfile::TempDir;

/// Four threads call `tick` until `enough` is set, and count their calls; `main` waits for them in
/// `work`. So the speed of the program does not decide how many requests it lives to see.
const PROGRAM: &str = r#"
    #include <pthread.h>
    volatile int enough;
    int hits, calls;
    __attribute__((noinline)) void tick(void) { __atomic_add_fetch(&hits, 1, 5); }
    __attribute__((noinline)) int twice(int n) { return 2 * n; }
    static void *run(void *unused) {
        int own = 0;
        for (; !enough; own++) tick();
        __atomic_add_fetch(&calls, own, 5);
        return unused;
    }
    __attribute__((noinline)) void work(void) {
        pthread_t threads[4];
        for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, run, 0);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    }
    int main(void) {
        work();
        return hits == calls && twice(2) == 4 ? 0 : 1;
    }"#;

/// The action of each request.
type Ask = fn(&mut dyn Driver);

/// Has a request whenever its thread rings.
struct Client {
    waiting: Arc<AtomicU64>,
    served: u64,
    ask: Ask,
    /// Afterwards.
    then: Then,
}

/// The consequence of requests.
enum Then {
    /// The program may end after this many, and not before its threads have called `tick`.
    Enough(u64),
    /// The program is interrupted after this many.
    Interrupt(u64, Box<dyn Fn() + Send>),
}

/// Returns how many requests are served before the program may end; `JUROR_REQUESTS` asks for
/// more of them.
fn enough() -> Then {
    let wanted = std::env::var("JUROR_REQUESTS").ok();
    Then::Enough(wanted.map_or(30, |count| {
        count.parse().expect("JUROR_REQUESTS is a number")
    }))
}

impl Observer for Client {
    fn state_change(&mut self, _: &StateChange) {}
    fn wants_state_changes(&self) -> bool {
        false
    }
    fn process_ended(&mut self, _: &ProcessEnd) {}
    fn notice(&mut self, _: &str) {}
    fn scenario_line(&mut self, _: &ScenarioLine) {}
    fn scenario_outcome(&mut self, _: &str, _: &str, _: &Outcome) {}
    fn scenario_error(&mut self, _: &StopReason) {}
    fn progress(&mut self, _: &str, _: u64, _: u64) {}

    fn has_requests(&mut self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    fn serve(&mut self, session: &mut dyn Driver) {
        while self.waiting.swap(0, Ordering::SeqCst) > 0 {
            (self.ask)(session);
            self.served += 1;
            match &self.then {
                Then::Enough(count) if *count <= self.served => {
                    did(session, "set var enough = hits > 8");
                }
                Then::Interrupt(count, interrupt) if *count == self.served => interrupt(),
                _ => {}
            }
        }
    }
}

fn did(session: &mut dyn Driver, line: &str) -> Outcome {
    match session.execute(line, &mut SilentObserver) {
        Ok(outcome) => outcome,
        Err(error) => panic!("{line}: {}", error.message),
    }
}

/// A session, and a thread that rings.
struct Rung {
    session: Session,
    bell: Sender<Ring>,
}

/// An order to the thread that rings.
struct Ring {
    call: Box<dyn Fn() + Send>,
    waiting: Arc<AtomicU64>,
    ends: Arc<AtomicBool>,
    ended: Sender<()>,
}

impl Rung {
    fn new() -> Rung {
        let (bell, rings) = channel::<Ring>();
        std::thread::spawn(move || {
            for ring in rings {
                while !ring.ends.load(Ordering::SeqCst) {
                    if ring.waiting.fetch_add(1, Ordering::SeqCst) == 0 {
                        (ring.call)();
                    }
                    std::thread::yield_now();
                }
                let _ = ring.ended.send(());
            }
        });
        let session = session();
        Rung { session, bell }
    }

    /// Executes a line while the other thread rings all the time. Returns its outcome, and how
    /// often requests were served.
    fn run(&mut self, line: &str, ask: Ask, then: Then) -> (Outcome, u64) {
        let waiting = Arc::new(AtomicU64::new(0));
        let ends = Arc::new(AtomicBool::new(false));
        let (ended, is_over) = channel();
        let ring = Ring {
            call: Driver::caller(&self.session),
            waiting: Arc::clone(&waiting),
            ends: Arc::clone(&ends),
            ended,
        };
        self.bell.send(ring).expect("the thread lives");
        let mut client = Client {
            waiting,
            served: 0,
            ask,
            then,
        };
        let outcome = self.session.execute(line, &mut client);
        ends.store(true, Ordering::SeqCst);
        is_over.recv().expect("the thread lives");
        (outcome.expect("the command is possible"), client.served)
    }
}

fn session() -> Session {
    static BUILT: OnceLock<TempDir> = OnceLock::new();
    let directory = BUILT.get_or_init(|| {
        let directory = tempfile::tempdir().expect("a directory");
        compile_c(&directory.path().join("serving"), PROGRAM, &["-g", "-O1"]);
        directory
    });
    let options = Options {
        program: directory.path().join("serving"),
        ..Options::default()
    };
    Session::start(options, &mut SilentObserver).expect("the program starts")
}

fn hits_of(session: &mut Session, number: u32) -> u64 {
    let Outcome::Points(points) = did(session, "info breakpoints") else {
        panic!("no points");
    };
    let found = points.iter().find(|point| point.number == Some(number));
    found.expect("the point is there").hits
}

#[test]
fn requests_are_served_while_breakpoints_are_passed_and_no_pass_is_lost_or_doubled() {
    let mut rung = Rung::new();
    did(&mut rung.session, "break tick if hits < 0");
    let ask: Ask = |session| {
        did(session, "info threads");
        did(session, "tbreak twice");
        let Outcome::Points(points) = did(session, "info breakpoints") else {
            panic!("no points");
        };
        let added = points.iter().filter_map(|point| point.number).max();
        did(session, &format!("delete {}", added.unwrap_or(0)));
    };
    let (outcome, served) = rung.run("run", ask, enough());
    assert!(served > 10, "{served}");
    let Outcome::Ended(end) = outcome else {
        panic!("{outcome:?}");
    };
    assert!(
        format!("{end:?}").contains("Exited { status: 0 }"),
        "{end:?}"
    );
}

#[test]
fn a_step_goes_on_over_requests_and_ends_in_its_line() {
    let mut rung = Rung::new();
    did(&mut rung.session, "break main");
    did(&mut rung.session, "run");
    did(&mut rung.session, "next");
    // The step lasts long enough to be disturbed.
    did(&mut rung.session, "break tick if hits < 0");
    let ask: Ask = |session| {
        did(session, "print hits");
        did(session, "frame 0");
    };
    let (outcome, served) = rung.run("next", ask, enough());
    assert!(served > 10, "{served}");
    let Outcome::Stopped(stop) = outcome else {
        panic!("{outcome:?}");
    };
    assert!(matches!(stop.reason, StopReason::Step), "{:?}", stop.reason);
    assert_eq!(stop.location.function.as_deref(), Some("main"));
    assert_eq!(stop.thread, 1);
    let Outcome::Value(value) = did(&mut rung.session, "print hits == calls") else {
        panic!("no value");
    };
    assert!(value.value.ends_with("true"), "{}", value.value);
}

#[test]
fn a_breakpoint_that_is_set_while_the_program_runs_stops_it() {
    let mut rung = Rung::new();
    did(&mut rung.session, "break main");
    did(&mut rung.session, "run");
    let ask: Ask = |session| {
        let _ = session.execute("tbreak twice", &mut SilentObserver);
    };
    let (outcome, _) = rung.run("continue", ask, Then::Enough(1));
    let Outcome::Stopped(stop) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(stop.location.function.as_deref(), Some("twice"));
}

#[test]
fn commands_that_would_lose_the_running_one_are_refused() {
    let mut rung = Rung::new();
    let ask: Ask = |session| {
        for line in [
            "continue",
            "next",
            "kill",
            "run",
            "detach",
            "print twice(1)",
            "restore 1",
        ] {
            let result = session.execute(line, &mut SilentObserver);
            let error = result.expect_err(line);
            let words = format!("{} {:?}", error.message, error.help);
            assert!(words.contains("runs"), "{line}: {words}");
        }
    };
    let (outcome, served) = rung.run("run", ask, Then::Enough(1));
    assert!(served > 0);
    assert!(matches!(outcome, Outcome::Ended(_)), "{outcome:?}");
}

/// The interruption comes at any moment: while a request is served, while the program is being
/// halted for one, while it runs.
#[test]
fn an_interruption_is_not_lost_among_requests() {
    let mut rung = Rung::new();
    did(&mut rung.session, "break tick if hits < 0");
    for count in 0..40 {
        let interrupt = Driver::interrupter(&rung.session);
        let (begin, begun) = channel::<()>();
        let later = std::thread::spawn(move || {
            let _ = begun.recv();
            for _ in 0..count * 500 {
                std::hint::spin_loop();
            }
            interrupt();
        });
        let line = if count == 0 { "run" } else { "continue" };
        let ask: Ask = |session| {
            did(session, "info threads");
        };
        let start = move || {
            let _ = begin.send(());
        };
        let (outcome, _) = rung.run(line, ask, Then::Interrupt(2, Box::new(start)));
        later.join().expect("the thread ends");
        let Outcome::Stopped(stop) = outcome else {
            panic!("{outcome:?}");
        };
        let reason = stop.reason;
        assert!(matches!(reason, StopReason::Interrupted), "{reason:?}");
    }
    assert_eq!(hits_of(&mut rung.session, 1), 0);
}
