//! Jumps to places of a recorded run: each gives the state of the first time, from wherever the run goes
//! there, and whether from its start or from a checkpoint.

use super::{program, recorded};
use crate::support::juror;
use std::collections::BTreeMap;
use std::path::Path;

/// The least number of rounds of each thread: the run takes some ten milliseconds.
const ROUNDS: usize = 300;

/// The number of jumps, or that of this variable.
const JUMPS: usize = 30;
const JUMPS_VARIABLE: &str = "JUROR_JUMPS";

/// The number of places to which they lead at least.
const PLACES: usize = 10;

/// The questions at each place: the number of schedule points, registers, what the program has computed,
/// its memory.
const QUESTIONS: [&str; 5] = [
    "schedule",
    "info registers",
    "print {turns, sum}",
    "x/64xg memory",
    "x/48xg $sp",
];

/// Numbers that are the same in each test.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % limit
    }
}

/// Goes to places of a run, one after the other, and returns the state at each.
fn states(file: &Path, places: &[u64]) -> Vec<String> {
    let mut commands = String::new();
    for place in places {
        commands += &format!("goto {place}\necho =begin\\n\n");
        for question in QUESTIONS {
            commands += question;
            commands += "\n";
        }
        commands += "echo =end\\n\n";
    }
    let file = file.display().to_string();
    let output = juror(&["replay", &file])
        .input(commands + "kill\nquit\n")
        .run();
    let text = &output.stdout;
    let states: Vec<String> = text
        .split("=begin\n")
        .skip(1)
        .filter_map(|state| Some(state.split_once("=end\n")?.0.to_owned()))
        .collect();
    assert_eq!(states.len(), places.len(), "{text}{}", output.stderr);
    for (state, place) in states.iter().zip(places) {
        let is_there = state.contains(&format!("{place} schedule points so far"));
        assert!(is_there, "{place}: {state}{}", output.stderr);
    }
    states
}

/// Records a run of so many rounds, and jumps to places in it.
fn check_jumps(jumps: usize, places: usize, arguments: &[&str]) {
    let rounds = jumps.max(ROUNDS).to_string();
    let arguments = [&[&*rounds], arguments].concat();
    let run = recorded(&program("rounds.c").compile_plain(), &arguments, "", 0);
    let mut random = Random(7);
    // A round has more schedule points than this.
    let last = 10 * jumps.max(ROUNDS);
    let all: Vec<u64> = (0..places).map(|_| 1 + random.below(last) as u64).collect();
    let places: Vec<u64> = (0..jumps).map(|_| all[random.below(all.len())]).collect();
    let found = states(&run.file, &places);
    let mut first: BTreeMap<u64, String> = BTreeMap::new();
    for (place, state) in places.iter().zip(&found) {
        // A session of its own goes there from the start of the run.
        let expected = first.entry(*place).or_insert_with(|| {
            let mut alone = states(&run.file, &[*place]);
            alone.pop().unwrap_or_default()
        });
        assert_eq!(state, expected, "at {place}");
    }
}

#[test]
fn jumps_give_the_state_of_the_first_time() {
    let wanted = std::env::var(JUMPS_VARIABLE).ok();
    let jumps = wanted.and_then(|it| it.parse().ok()).unwrap_or(JUMPS);
    check_jumps(jumps, (jumps / 3).clamp(PLACES, 100), &[]);
}

/// Copies of the process would write to the same memory.
#[test]
fn a_run_whose_memory_is_shared_goes_back_from_its_start() {
    check_jumps(8, 4, &["1", "3", "shared"]);
}
