//! Checkpoints of a program that takes its events itself: after a restore, verdicts, states and values are
//! those that traps give.

use crate::support::juror;
use juror_testing::Fixture;

/// Numbers that rise, until the last one.
const TICKS: &str = r#"
#include <stdio.h>
static long total;
__attribute__((noinline)) void tick(long number) {
    __asm__ volatile("" : : "r"(number));
    total += number;
}
__attribute__((noinline)) void pause_here(void) { __asm__ volatile(""); }
int main(void) {
    for (long i = 0; i < 4000; i++) {
        tick(i);
        if (i % 1000 == 999)
            pause_here();
    }
    tick(3);
    printf("%ld\n", total);
    return 0;
}
"#;

const RISING: &str = "property rising
event tick = before tick(number)
var last = 0
state counting accepting {
    on tick when number >= last { last = number } -> counting
           else -> broken
}
state broken non-accepting
";

/// Returns what a session says in a tier. The program runs to its violation first.
fn session(tier: &str, checkpoints: &str, commands: &[&str]) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let property = directory.path().join("rising.prop");
    std::fs::write(&property, RISING).expect("it is written");
    let program = Fixture::c("ticks", TICKS).compile_plain();
    let words = ["run", "--color=never", "--tier", tier, checkpoints];
    let output = juror(&words)
        .args(["--property".as_ref(), property.as_os_str()])
        .args([program.as_os_str()])
        .input(commands.join("\n") + "\nkill\nquit\n")
        .run();
    let text = format!("{}{}", output.stdout, output.stderr);
    // The number of stops of the program differs.
    let lines = text.lines().filter(|line| !line.contains(" times  "));
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[test]
fn a_restore_gives_native_monitors_the_state_of_the_checkpoint() {
    let commands = [
        "break pause_here",
        "run",
        "monitor",
        "checkpoint",
        "continue",
        "monitor",
        "continue",
        "restore 3",
        "monitor",
        "continue",
        "monitor",
        "restore 2",
        "monitor",
        "delete",
        "continue",
        "monitor",
        "restore 3",
        "monitor",
        "continue",
        "monitor",
    ];
    let by_trap = session("trap", "--checkpoint=start", &commands);
    let native = session("native", "--checkpoint=start", &commands);
    for value in ["999", "1999", "3999"] {
        let words = format!("last = {value}");
        assert!(by_trap.contains(&words), "{words}: {by_trap}");
    }
    assert!(by_trap.matches("VIOLATED").count() >= 3, "{by_trap}");
    assert_eq!(native, by_trap);
}

#[test]
fn checkpoints_after_events_leave_them_to_the_program() {
    let commands = ["restore", "continue", "monitor"];
    let by_trap = session("trap", "--checkpoint=1000", &commands);
    let native = session("native", "--checkpoint=1000", &commands);
    for text in [&by_trap, &native] {
        assert!(text.matches("VIOLATED").count() >= 2, "{text}");
        assert!(text.contains("is from before this"), "{text}");
        assert!(text.contains("last = 3999"), "{text}");
    }
    assert!(by_trap.contains("checkpoint 5 is from before"), "{by_trap}");
}
