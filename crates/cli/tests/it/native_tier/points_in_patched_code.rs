//! Breakpoints, steps and calls of the user's in and around the instructions that a jump
//! replaces: what is shown is the same as by traps, and the engine's decisions are checked.

use crate::support::program;
use crate::support::tiers::{Tiers, Told};
use juror_testing::Fixture;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// Counts the calls and the returns of `work`.
const COUNTED: &str = "property counted
event entered  = before work(x: int = arg 1)
event returned = after work(x: int = arg 1) returns r: int
state s accepting {
    on entered -> s
    on returned when r == x + 1 -> s
    on returned when r != x + 1 -> wrong
}
state wrong non-accepting
";

/// The instructions of `work`; the jump replaces the first three.
const PLACES: [&str; 4] = ["work", "work+3", "work+4", "work+7"];

/// The instructions around the places to which calls return in `shared_jump.c`: the jump
/// replaces the first of each, and ends in one to which a loop goes back, or in a call.
const SHARED: [&str; 6] = [
    "loops+17",
    "loops+20",
    "loops+23",
    "calls_twice+6",
    "calls_twice+10",
    "calls_twice+15",
];

/// The instructions of `pushed.c` in a function and at the place to which its call returns, and
/// those with `LAST`.
const PUSHED: [[&str; 7]; 2] = [
    [
        "work", "work+1", "work+2", "work+4", "pass+9", "pass+11", "pass+12",
    ],
    [
        "work", "work+2", "work+4", "work+5", "pass+10", "pass+11", "pass+13",
    ],
];

/// A program whose function begins with short instructions, and its property.
struct Patched {
    directory: TempDir,
    executable: PathBuf,
    /// The program's own count of the calls, and how it prints the counts.
    calls: u64,
    counts: &'static str,
}

impl Patched {
    fn new() -> Patched {
        Patched::of("patched.c", 100, "truth 100 100 sum 5050")
    }

    /// The program behind whose calls the jump has bytes of instructions that stay.
    fn shared() -> Patched {
        Patched::of("shared_jump.c", 600, "truth 600 sum 124050")
    }

    fn of(file: &str, calls: u64, counts: &'static str) -> Patched {
        Patched::built(program(file), calls, counts)
    }

    fn built(fixture: Fixture, calls: u64, counts: &'static str) -> Patched {
        let directory = TempDir::with_prefix("juror-patched-").expect("a directory");
        fs::write(directory.path().join("counted.prop"), COUNTED).expect("a file");
        Patched {
            directory,
            executable: fixture.compile_plain(),
            calls,
            counts,
        }
    }

    fn tiers(&self, commands: &[String]) -> Tiers {
        let commands = commands.iter().flat_map(|it| ["-e", it.as_str()]);
        Tiers::new()
            .watching_file(self.directory.path().join("counted.prop"))
            .options(commands)
    }

    /// Checks that the commands show the same in both tiers, and that the program's own counts
    /// are those of the report.
    #[track_caller]
    fn check(&self, commands: &[String]) -> Told {
        let ends = ["delete", "continue", "continue"].map(str::to_owned);
        let commands = [commands, &ends].concat();
        let native = self.tiers(&commands).check(&self.executable, &[]);
        let checked = self.tiers(&commands).options(["--self-check"]);
        let checked = checked.run("native", self.executable.as_os_str(), &[]);
        for told in [&native, &checked] {
            let said = format!("{}{}", told.output.stdout, told.output.stderr);
            assert!(said.contains(self.counts), "{commands:?}\n{said}");
            let events = 2 * self.calls;
            assert!(told.occurrences >= events, "{commands:?}\n{said}");
        }
        let said = &checked.output.stderr;
        assert!(said.contains("path of its model"), "{commands:?}\n{said}");
        native
    }
}

fn all(commands: &[&str]) -> Vec<String> {
    let all = commands.iter().map(|command| (*command).to_owned());
    all.collect()
}

#[test]
fn a_breakpoint_in_replaced_instructions_is_hit_and_leaves() {
    let patched = Patched::new();
    for place in PLACES {
        let insert = format!("break *{place}");
        let commands = ["tbreak mark", "run", &insert, "continue", "continue"];
        let told = patched.check(&all(&commands));
        // Few events stop the program: after the breakpoint the jump is back.
        told.assert_native();
    }
}

#[test]
fn steps_pass_a_patched_function_by_its_instructions() {
    let patched = Patched::new();
    let steps = ["stepi"; 24].map(str::to_owned);
    let begin = all(&["tbreak mark", "run", "finish"]);
    patched.check(&[&begin[..], &steps].concat());
    patched.check(&all(&[
        "tbreak mark",
        "run",
        "finish",
        "stepi 200",
        "next",
        "step",
    ]));
}

/// An instruction that is executed twice, or not at all, leaves the stack as it should not be.
#[test]
fn each_replaced_instruction_is_stepped_once() {
    let steps = ["stepi"; 60].map(str::to_owned);
    let lines = ["next"; 12].map(str::to_owned);
    let begin = all(&["break mark", "run", "continue"]);
    let fixtures = [program("pushed.c"), program("pushed.c").define("LAST")];
    for (fixture, places) in fixtures.into_iter().zip(&PUSHED) {
        let pushed = Patched::built(fixture, 100, "truth 100 100 sum 5050");
        pushed.check(&[&begin[..], &steps].concat());
        pushed.check(&[&begin[..], &all(&["finish"]), &lines].concat());
        for seed in 0..8 {
            let commands = Numbers(seed).commands(places);
            pushed.check(&commands);
        }
    }
}

#[test]
fn calls_of_a_patched_function_at_its_instructions() {
    let patched = Patched::new();
    for place in PLACES {
        let insert = format!("break *{place}");
        let commands = ["tbreak mark", "run", &insert, "continue", "delete"];
        let calls = ["print work(3)", "stepi", "print work(4)", "stepi"];
        patched.check(&all(&[&commands[..], &calls].concat()));
    }
}

/// Numbers that look random, and are the same in each run.
struct Numbers(u64);

impl Numbers {
    /// Returns a number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (self.0 >> 33) as usize % end
    }

    /// Returns commands of which none fails: the program stops at the latest where it is
    /// marked, ten times.
    fn commands(&mut self, places: &[&str]) -> Vec<String> {
        let mut commands = all(&["break mark", "run"]);
        let mut present = Vec::new();
        let (mut points, mut runs) = (1, 0);
        for _ in 0..8 + self.below(8) {
            commands.push(match self.below(8) {
                0 | 1 => {
                    points += 1;
                    present.push(points);
                    format!("break *{}", places[self.below(places.len())])
                }
                2 | 3 if !present.is_empty() => {
                    format!("delete {}", present.remove(self.below(present.len())))
                }
                4 | 5 if runs < 6 => {
                    runs += 1;
                    "continue".to_owned()
                }
                _ => format!("stepi {}", 1 + self.below(9)),
            });
        }
        commands
    }
}

#[test]
fn commands_in_any_order() {
    let patched = Patched::new();
    for seed in 0..12 {
        let commands = Numbers(seed).commands(&PLACES);
        patched.check(&commands);
    }
}

/// Each pass of the loop would trap in a jump that replaced its first instruction.
#[test]
fn a_loop_goes_back_into_a_jump_that_it_shares() {
    let told = Patched::shared().check(&all(&["run"]));
    // Three places are returned to; the rest is taken in the program.
    assert!(told.stops <= 20, "{} stops", told.stops);
}

#[test]
fn a_breakpoint_in_shared_bytes_is_hit_and_leaves() {
    let patched = Patched::shared();
    for place in SHARED {
        let insert = format!("break *{place}");
        let commands = [
            "tbreak mark",
            "run",
            &insert,
            "continue",
            "continue",
            "x/4i $pc",
        ];
        let told = patched.check(&all(&commands));
        told.assert_native();
    }
}

#[test]
fn steps_and_commands_in_any_order_around_shared_bytes() {
    let patched = Patched::shared();
    let steps = ["stepi"; 40].map(str::to_owned);
    let begin = all(&["break mark", "run", "continue", "finish"]);
    patched.check(&[&begin[..], &steps].concat());
    for seed in 0..8 {
        let commands = Numbers(seed).commands(&SHARED);
        patched.check(&commands);
    }
}
