//! The programs and properties of the other tests say the same in both tiers: output, status,
//! verdicts, paths and counts. How often the program is stopped differs.
//!
//! Each run that can be native is seen to be: the events stop the program much less often than
//! they happen.

use crate::support::tiers::Tiers;
use crate::support::{program, property_file};
use juror_testing::{Build, Fixture, Language, repository_directory};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// The reports up to the first violation, and of the whole run.
const MODES: [&[&str]; 2] = [&[], &["--keep-going"]];

/// The least and the most optimized of the builds, of the first and the last compiler.
fn two_builds(language: Language) -> [Build; 2] {
    let builds = Build::all_of(language);
    let first = builds.first().copied().expect("a compiler");
    [first, builds.last().copied().unwrap_or(first)]
}

/// An example of the repository, and whether its events are taken in the program often
/// enough to tell.
#[track_caller]
fn check_example(name: &str, is_native: bool) {
    let directory = repository_directory().join("examples").join(name);
    let property = directory.join(format!("{name}.prop"));
    for is_fixed in [false, true] {
        let fixture = Fixture::example(name);
        let fixture = if is_fixed {
            fixture.define("FIXED")
        } else {
            fixture
        };
        for build in two_builds(fixture.language()) {
            let executable = fixture.compile(&build);
            for mode in MODES {
                let tiers = Tiers::new()
                    .options(mode)
                    .watching_file(&property)
                    .directory(&directory);
                let told = tiers.check(&executable, &[]);
                if is_native && is_fixed {
                    told.assert_native();
                }
            }
        }
    }
}

#[test]
fn examples_of_one_object() {
    for (name, is_native) in [("queue", false), ("stack", true)] {
        check_example(name, is_native);
    }
}

#[test]
fn examples_of_several_objects() {
    for (name, is_native) in [("iterator", false), ("file", false), ("completion", false)] {
        check_example(name, is_native);
    }
}

#[test]
fn examples_with_values() {
    for (name, is_native) in [("rows", false), ("comp_string", false), ("choices", false)] {
        check_example(name, is_native);
    }
}

/// Threads take turns in any order there, so that only the corrected programs say the same
/// each time.
#[test]
fn examples_with_threads() {
    for name in ["counter", "locks", "producers", "workers"] {
        let directory = repository_directory().join("examples").join(name);
        let property = directory.join(format!("{name}.prop"));
        let fixture = Fixture::example(name).define("FIXED");
        for build in two_builds(fixture.language()) {
            let told = Tiers::new()
                .watching_file(&property)
                .directory(&directory)
                .verdicts()
                .check(fixture.compile(&build), &[]);
            assert!(told.output.status.success(), "{}", told.output.stdout);
            if ["counter", "producers"].contains(&name) {
                told.assert_native();
            }
        }
    }
}

/// Writes a property of events before, after and instead of the end of calls of functions:
/// all are needed in all states, and change them.
fn calls_of(functions: &[&str]) -> String {
    let mut events = String::new();
    let mut transitions = String::new();
    for (number, function) in functions.iter().enumerate() {
        for kind in ["before", "after", "unwound"] {
            events.push_str(&format!("event {kind}_{number} = {kind} {function}\n"));
            let to = match kind {
                "before" => "inside",
                "after" => "outside",
                _ => "gone",
            };
            let change = match kind {
                "before" => "deep += 1",
                _ => "deep -= 1",
            };
            transitions.push_str(&format!("    on {kind}_{number} {{ {change} }} -> {to}\n"));
        }
    }
    format!(
        "property calls\n{events}var deep = 0\nstate outside {{\n{transitions}}}\nstate inside \
         non-accepting {{\n{transitions}}}\nstate gone non-accepting {{\n{transitions}}}\n"
    )
}

/// Runs a program of `tests/programs` with all calls of functions of its own.
#[track_caller]
fn check_calls(file: &str, functions: &[&str], arguments: &[&str]) {
    let fixture = program(file);
    let directory = TempDir::with_prefix("juror-tiers-").expect("a directory");
    let property = directory.path().join("calls.prop");
    fs::write(&property, calls_of(functions)).expect("a file");
    for build in two_builds(fixture.language()) {
        let executable = fixture.compile(&build);
        for mode in MODES {
            let tiers = Tiers::new().options(mode).watching_file(&property);
            tiers.check(&executable, arguments);
        }
    }
}

#[test]
fn calls_that_return_in_every_way() {
    check_calls("returns.c", &["work", "escape", "leaf", "tail"], &[]);
    check_calls("jumps.c", &["inner", "jump"], &[]);
    check_calls("at_entry.c", &["first", "second"], &[]);
}

#[test]
fn calls_at_the_end_of_functions() {
    let functions = [
        "start", "middle", "last", "either", "left", "right", "only", "even", "odd", "through",
        "local",
    ];
    check_calls("tails.c", &functions, &[]);
}

#[test]
fn calls_that_exceptions_leave() {
    check_calls("exceptions.cpp", &["work", "outer"], &[]);
    check_calls("throws.cpp", &["tried", "checked"], &[]);
    check_calls("ends.cpp", &["left", "deeper", "jumps", "catches"], &[]);
}

#[test]
fn calls_in_fibers_and_handlers() {
    check_calls("fibers.cpp", &["work", "pause_here", "run_fiber"], &[]);
    check_calls("handlers_stack.c", &["deep", "work", "handle"], &[]);
    check_calls("handler_jumps.c", &["poke", "on_fault"], &[]);
    check_calls("signals.c", &["send", "on_signal"], &[]);
}

/// The property of each test, with values.
#[test]
fn values_of_calls() {
    let property = "
        property works
        event enter = before work(n)
        event leave = after work(n) returns result
        event leaf  = after leaf(n) returns result
        event tail  = before tail(n)
        var last = 0
        var sum = 0
        state init {
            on enter when n > last { last = n } -> init
            on enter { sum = sum + n }
            on leave when result == n { sum = sum + result }
            on leaf  when result == n + 1 -> seen else -> wrong
            on tail { sum = sum * 2 + last }
        }
        state seen {
            on leaf when result == n + 1 else -> wrong
            on enter -> init
            on leave -> init
        }
        state wrong non-accepting";
    let directory = TempDir::with_prefix("juror-tiers-").expect("a directory");
    let path = directory.path().join("works.prop");
    fs::write(&path, property).expect("a file");
    for build in two_builds(Language::C) {
        let tiers = Tiers::new().watching_file(&path);
        tiers.check(program("returns.c").compile(&build), &[]);
    }
}

/// What a call stores behind its argument is read when it returns.
#[test]
fn values_behind_arguments_after_the_call() {
    let property = "
        property boxes
        event filled = after fill(number = box->number, next = box->next->number,
                                  level = box->level, flag = box->flag, asked = number)
                       returns result
        event allocated = after allocate(number = (*out)->number, same = (*out)->next,
                                         asked = number)
        state init accepting {
            on filled when number == asked and next == asked and level == 0 - asked
                and flag == asked % 2 and result == asked % 7 -> filled
            on filled -> wrong
            on allocated -> wrong
        }
        state filled accepting {
            on allocated when number == asked and same != null -> init else -> wrong
            on filled -> wrong
        }
        state wrong non-accepting";
    let directory = TempDir::with_prefix("juror-tiers-").expect("a directory");
    let path = directory.path().join("boxes.prop");
    fs::write(&path, property).expect("a file");
    for build in two_builds(Language::C) {
        let tiers = Tiers::new().watching_file(&path);
        let executable = program("filled.c").compile(&build);
        let told = tiers.check(&executable, &[]);
        assert!(
            told.output.stdout.contains("HOLDS"),
            "{}",
            told.output.stdout
        );
        assert_eq!(told.occurrences, 2 * 400, "{}", told.output.stdout);
        told.assert_native();
        // A pointer that cannot be followed.
        let told = tiers.check(&executable, &["bad"]);
        assert!(
            !told.output.stdout.contains("HOLDS"),
            "{}",
            told.output.stdout
        );
        assert!(told.stops < 100, "{}", told.output.stdout);
    }
}

/// Eight threads; which of them comes first is never the same.
#[test]
fn threads_that_take_turns() {
    let property = "
        property turns
        slice on thread
        event first  = before first(n)
        event second = before second(n)
        event third  = after second(n)
        var taken = 0
        state init {
            on first when n == taken + 1 { taken = n } -> begun else -> wrong
            on second -> wrong
            on third -> wrong
        }
        state begun non-accepting {
            on second when n == taken -> done else -> wrong
            on first -> wrong
            on third -> wrong
        }
        state done {
            on third -> init
            on first -> wrong
            on second -> wrong
        }
        state wrong non-accepting";
    let directory = TempDir::with_prefix("juror-tiers-").expect("a directory");
    let path = directory.path().join("turns.prop");
    fs::write(&path, property).expect("a file");
    for build in two_builds(Language::C) {
        let tiers = Tiers::new().watching_file(&path).verdicts();
        let told = tiers.check(program("turns.c").compile(&build), &[]);
        assert_eq!(told.occurrences, 3 * 480, "{}", told.output.stdout);
        told.assert_native();
    }
}

/// A program of the system in a directory with files.
struct Real {
    program: &'static str,
    arguments: Vec<String>,
    /// Several threads make calls.
    has_threads: bool,
}

impl Real {
    fn new(program: &'static str, arguments: &[&str]) -> Real {
        Real {
            program,
            arguments: arguments.iter().map(|&word| word.to_owned()).collect(),
            has_threads: false,
        }
    }

    fn threads(mut self) -> Real {
        self.has_threads = true;
        self
    }

    #[track_caller]
    fn check(&self) {
        let path = Path::new("/usr/bin").join(self.program);
        if !path.is_file() {
            eprintln!("there is no {} here; it is left out", self.program);
            return;
        }
        let directory = TempDir::with_prefix("juror-tiers-").expect("a directory");
        let lines = |count: u32| -> String {
            let numbers = (0..count).map(|n| n.wrapping_mul(2_654_435_761) % 10_007);
            numbers.map(|number| format!("line {number}\n")).collect()
        };
        fs::write(directory.path().join("words"), lines(1500)).expect("a file");
        fs::write(directory.path().join("many"), lines(15_000)).expect("a file");
        let words: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        for name in ["double-free", "streams", "mutex"] {
            let mut tiers = Tiers::new()
                .options(["--env", "LC_ALL=C.UTF-8"])
                .watching_file(property_file(&format!("properties/libc/{name}.prop")))
                .directory(directory.path());
            if self.has_threads {
                tiers = tiers.verdicts();
            }
            let told = tiers.check(&path, &words);
            if name == "double-free" {
                told.assert_native();
            }
        }
    }
}

#[test]
fn sort_sorts() {
    Real::new("sort", &["--parallel=2", "-k2,2n", "words"]).check();
}

#[test]
fn xz_compresses_with_threads() {
    Real::new("xz", &["-T2", "-0", "-c", "--block-size=65536", "many"])
        .threads()
        .check();
}

#[test]
fn python_computes() {
    let script = "import json\nprint(json.dumps({str(n): n * n for n in range(40)}))";
    Real::new("python3", &["-S", "-c", script]).check();
}

#[test]
fn sqlite_selects() {
    let script = "create table t(a, b); insert into t values (1, 2), (3, 4); \
                  select sum(a * b) from t group by a order by a;";
    Real::new("sqlite3", &[":memory:", script]).check();
}

#[test]
fn git_and_small_programs() {
    Real::new("git", &["hash-object", "words"]).check();
    Real::new("ls", &["-la", "/usr/share"]).check();
    Real::new("grep", &["-c", "7", "words"]).check();
}

#[test]
fn programs_with_the_properties_of_the_library() {
    let seeded = Fixture::program("double-free.c");
    // The threads of the last take locks in any order, and with that in other states.
    let fixtures = [
        (seeded.clone(), false),
        (seeded.define("FIXED"), false),
        (Fixture::program("correct.c"), true),
    ];
    for (fixture, has_threads) in fixtures {
        for build in two_builds(Language::C) {
            let executable = fixture.compile(&build);
            for name in ["double-free", "streams", "mutex"] {
                let property = property_file(&format!("properties/libc/{name}.prop"));
                for mode in MODES {
                    let tiers = Tiers::new().options(mode).watching_file(&property);
                    let tiers = if has_threads { tiers.verdicts() } else { tiers };
                    tiers.check(&executable, &[]);
                }
            }
        }
    }
}
