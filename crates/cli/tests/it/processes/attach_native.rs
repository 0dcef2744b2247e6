//! Events in the program, of processes that run already: attaching and detaching.

use crate::support::attached::{Attached, BUSY, Running, assert_sound, busy, until, written};
use crate::support::tiers::Told;
use crate::support::{juror, program};
use juror_testing::Output;
use nix::sys::signal::Signal;

/// Everything that `attached.c` does; `wrong` is the call of `work` that violates it.
fn everything(wrong: i64) -> String {
    format!(
        "property attached
event worked   = before work(x: int = arg 1)
event returned = after work(x: int = arg 1) returns r: int
event held     = after hold(x: int = arg 1) returns r: int
event followed = before follow(pointer: address = arg 1)
event found    = after follow(pointer: address = arg 1) returns r: int
var n = 0
state init accepting {{
    on worked when x != {wrong} {{ n = n + 1 }} -> init else -> wrong
    on returned when r == x + 1 -> init else -> wrong
    on held when r > 41 -> init else -> wrong
    on followed -> init
    on found when r == 8 -> init else -> wrong
}}
state wrong non-accepting
"
    )
}

/// Attaches to `attached.c`, which ends by itself.
#[track_caller]
fn attach_in(tier: &str, property: &str) -> Output {
    let (_directory, file) = written(property);
    let executable = program("attached.c").argument("-pthread").compile_plain();
    let running = Running::start(&executable, &[]);
    let arguments = ["attach", "--batch", "--color=never", "--tier", tier];
    let output = juror(&arguments)
        .args(["--property".as_ref(), file.as_path()])
        .args([running.process()])
        .run();
    let (said, status) = running.finish();
    let expected = "work 1000 bad 0 held 42 followed 8 faults 1 interrupted 0\n";
    assert_eq!(said, expected, "{tier}");
    assert_eq!(status.code(), Some(3), "{tier}");
    output
}

/// Threads are in calls, in system calls, and in a handler that returns into the first
/// instructions of a function.
#[test]
fn both_tiers_tell_the_same_of_an_attached_process() {
    let property = everything(-1);
    let by_traps = Told::new(attach_in("trap", &property), false);
    let native = Told::new(attach_in("native", &property), false);
    by_traps.assert_same(&native);
    native.output.assert_code(0);
    native.assert_native();
    for part in [
        "HOLDS     attached",
        "worked    before work    1000 times",
        "returned  after work     1000 times",
        "held      after hold     2 times",
        "followed  before follow  1 time",
        "found     after follow   2 times",
    ] {
        let said = &native.output.stdout;
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn both_tiers_tell_of_a_violation_in_an_attached_process() {
    let property = everything(57);
    let by_traps = Told::new(attach_in("trap", &property), true);
    let native = Told::new(attach_in("native", &property), true);
    by_traps.assert_same(&native);
    native.output.assert_code(1);
    for part in [
        "VIOLATED  attached",
        "--worked(x = 57)-->",
        "continues without juror",
    ] {
        let said = &native.output.stdout;
        assert!(said.contains(part), "{part}: {said}");
    }
}

/// The second juror would not find the program's own `gs` if the first had left something.
#[test]
fn nothing_is_left_after_detaching() {
    let running = busy("50");
    let text = running.text();
    for _ in 0..3 {
        let attached = Attached::start(&running, BUSY, true);
        until("the jump is written", || text.has_jump());
        attached.end(Signal::SIGINT);
        assert!(text.is_original());
        for line in running.mappings().lines() {
            let is_code = line.contains(" r-xp ") && line.contains(" 00:00 0");
            let is_ours = is_code && !line.contains("[vdso]") || line.contains("memfd:juror");
            assert!(!is_ours, "{line}");
        }
    }
    assert_sound(running);
}

/// While the program stands the jumps are out of its text.
#[test]
fn at_the_prompt_the_text_is_the_programs_own() {
    let running = busy("50");
    let text = running.text();
    // With a property it runs on at once.
    let mut attached = Attached::start(&running, BUSY, false);
    for round in 0..3 {
        if round > 0 {
            attached.tell("continue\n");
        }
        until("the jump is written", || text.has_jump());
        attached.signal(Signal::SIGINT);
        until("the jump is taken out", || text.is_original());
    }
    attached.end(Signal::SIGKILL);
    assert!(text.is_original());
    assert_sound(running);
}
