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

/// Four threads call `tick` 2 000 times each; `main` waits for them in `work`.
const PROGRAM: &str = r#"
    #include <pthread.h>
    int hits;
    __attribute__((noinline)) void tick(void) { __atomic_add_fetch(&hits, 1, 5); }
    __attribute__((noinline)) int twice(int n) { return 2 * n; }
    static void *run(void *unused) {
        for (int n = 0; n < 2000; n++) tick();
        return unused;
    }
    __attribute__((noinline)) void work(void) {
        pthread_t threads[4];
        for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, run, 0);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    }
    int main(void) {
        work();
        return hits == 8000 && twice(2) == 4 ? 0 : 1;
    }"#;

/// The action of each request.
type Ask = fn(&mut dyn Driver);

/// Has a request whenever its thread rings.
struct Client {
    waiting: Arc<AtomicU64>,
    served: u64,
    ask: Ask,
    /// Interrupts the program after this many.
    interrupt: Option<(u64, Box<dyn Fn() + Send>)>,
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
            if let Some((count, interrupt)) = &self.interrupt
                && *count == self.served
            {
                interrupt();
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
    fn run(&mut self, line: &str, ask: Ask) -> (Outcome, u64) {
        self.run_interrupted(line, ask, None)
    }

    fn run_interrupted(
        &mut self,
        line: &str,
        ask: Ask,
        interrupt: Option<(u64, Box<dyn Fn() + Send>)>,
    ) -> (Outcome, u64) {
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
            interrupt,
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
    let (outcome, served) = rung.run("run", |session| {
        did(session, "info threads");
        did(session, "tbreak twice");
        let Outcome::Points(points) = did(session, "info breakpoints") else {
            panic!("no points");
        };
        let added = points.iter().filter_map(|point| point.number).max();
        did(session, &format!("delete {}", added.unwrap_or(0)));
    });
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
    let (outcome, served) = rung.run("next", |session| {
        did(session, "print hits");
        did(session, "frame 0");
    });
    assert!(served > 10, "{served}");
    let Outcome::Stopped(stop) = outcome else {
        panic!("{outcome:?}");
    };
    assert!(matches!(stop.reason, StopReason::Step), "{:?}", stop.reason);
    assert_eq!(stop.location.function.as_deref(), Some("main"));
    assert_eq!(stop.thread, 1);
    let Outcome::Value(value) = did(&mut rung.session, "print hits") else {
        panic!("no value");
    };
    assert!(value.value.ends_with("8000"), "{}", value.value);
}

#[test]
fn a_breakpoint_that_is_set_while_the_program_runs_stops_it() {
    let mut rung = Rung::new();
    did(&mut rung.session, "break main");
    did(&mut rung.session, "run");
    let (outcome, _) = rung.run("continue", |session| {
        let _ = session.execute("tbreak twice", &mut SilentObserver);
    });
    let Outcome::Stopped(stop) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(stop.location.function.as_deref(), Some("twice"));
}

#[test]
fn commands_that_would_lose_the_running_one_are_refused() {
    let mut rung = Rung::new();
    let (outcome, served) = rung.run("run", |session| {
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
    });
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
        let (outcome, _) = rung.run_interrupted(
            line,
            |session| {
                did(session, "info threads");
            },
            Some((
                2,
                Box::new(move || {
                    let _ = begin.send(());
                }),
            )),
        );
        later.join().expect("the thread ends");
        let reason = match outcome {
            Outcome::Stopped(stop) => stop.reason,
            // It was over before.
            Outcome::Ended(_) if count > 0 => return,
            other => panic!("{other:?}"),
        };
        assert!(matches!(reason, StopReason::Interrupted), "{reason:?}");
    }
    assert_eq!(hits_of(&mut rung.session, 1), 0);
}
