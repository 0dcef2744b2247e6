//! Wrapper types, and numbers wider than registers, are shown and used as their values.

use crate::support::printed::{check, plain_builds};
use crate::support::{Batch, program};
use juror_testing::{Compiler, Language};

const RUST: &[(&str, &str)] = &[
    ("counted", "[1, 2, 3]"),
    ("shared", "[4, 5]"),
    ("wide", "[Wide(1), Wide(2)]"),
    ("weak_slice", "[1, 2, 3]"),
    ("text", r#""text""#),
    ("weak_text", r#""text""#),
    ("never", "expired"),
    ("in_cell", "@0x?: 6"),
    ("wide_in_cell", "@0x?: Wide(61)"),
    ("small_in_cell", "@0x?: Small {side: 9}"),
    ("locked", "@0x?: Wide(7)"),
    ("small_locked", "@0x?: Small {side: 8}"),
    ("guarded", "@0x?: 10"),
    ("object", "@0x?: 5"),
    ("weak_object", "@0x?: 5"),
    ("pinned", "@0x?: 11"),
    ("once", "None"),
    ("set_once", "Some(12)"),
    ("lock_once", "uninitialized"),
    ("locked_once", r#""set""#),
    ("lazy", "uninitialized"),
    ("forced", "14"),
    ("pointer", "0x?"),
    ("mutex", "16"),
    ("guard", "16"),
    ("cell", "17"),
    ("borrowed", "@0x?: 17"),
    ("iterator", "[20, 30, 40]"),
    ("owned", "[10, 20, 30, 40]"),
    ("nothings", "[(), ()]"),
    ("characters", r#""abc""#),
    ("linked", "[1, 2, 3, 4]"),
    ("ends", "[3, 4, 1, 2]"),
    ("large", "340282366920938463463374607431768211454"),
    ("*guard + 1", "17"),
    ("*object + 1", "6"),
    ("linked[1..3]", "[2, 3]"),
    ("ends[1..4]", "[4, 1, 2]"),
    ("counted[1..3]", "[2, 3]"),
    ("large > 5", "true"),
    ("small_in_cell.side", "9"),
    ("wide_in_cell.0", "61"),
    ("iterator[1]", "30"),
    (r#"locked_once == "set""#, "true"),
    ("len(counted)", "3"),
];

#[test]
fn what_is_behind_pointers_and_cells_of_rust_is_shown() {
    for build in plain_builds(Language::Rust) {
        let executable = program("wrappers.rs").compile(&build);
        check(&executable, &build, RUST);
    }
}

const CPP: &[(&str, &str)] = &[
    ("with_deleter", "@0x?: {x = 3, y = 4}"),
    ("shared_array", "@0x?: {1, 2, 3}"),
    ("nothing", "empty"),
    (
        "bits",
        "{true, false, true, false, true, false, true, false, true, false}",
    ),
    (
        "many",
        "{false <repeats 70 times>, true, false <repeats 29 times>}",
    ),
    ("array", "{1, 2, 3}"),
    ("none", "empty"),
    ("path", r#""/usr/lib""#),
    ("milliseconds", "1500ms"),
    ("hours", "2h"),
    ("fraction", "1.5s"),
    ("thirds", "4[1/3]s"),
    ("instant", "6000000000ns"),
    ("complex", "1 + -2i"),
    ("truth", "true"),
    ("pointer", "0x?"),
    ("flag", "false"),
    ("bit", "true"),
    ("truth_at", "false"),
    ("number_at", "@0x?: 20"),
    ("last", "@0x?: 40"),
    ("age", r#"@0x?: ("ann", 1)"#),
    ("sorted_at", "@0x?: 5"),
    ("link", "@0x?: 2"),
    ("forward_at", "@0x?: 1"),
    ("forward_end", "end"),
    ("entry", "@0x?: (1, 2)"),
    ("no_entry", "end"),
    ("end_at", "@0x?: 3"),
    ("either", "monostate"),
    ("chosen", r#""text""#),
    ("time", "1s"),
    ("one_of(1)", "1"),
    ("one_of(0)", "2.5"),
    ("listed(1)", "{1, 2, 3}"),
    ("named(1)", r#""short""#),
    ("waited(1)", "1s"),
    ("linked[1..3]", "{2, 3}"),
    ("truths[1..4]", "{false, true, true}"),
    ("ends[1..3]", "{2, 3}"),
    ("sorted[0..2]", "{5, 6}"),
    ("age->second", "1"),
    ("*link", "2"),
    ("bits[2]", "true"),
];

#[test]
fn what_is_around_values_of_cpp_is_shown_by_them() {
    for build in plain_builds(Language::Cpp) {
        let fixture = program("wrappers.cpp").argument("-std=c++17");
        check(&fixture.compile(&build), &build, CPP);
        if build.compiler != Compiler::Clang {
            continue;
        }
        match fixture.argument("-stdlib=libc++").try_compile(&build) {
            Ok(executable) => check(&executable, &build, CPP),
            Err(error) => {
                let message = error.to_string();
                assert!(message.contains("file not found"), "{message}");
                eprintln!("libc++ is not installed: left out");
            }
        }
    }
}

const WIDE: &[(&str, &str)] = &[
    ("z * 2", "2 + 4i"),
    ("2 * z", "2 + 4i"),
    ("z + w", "4 + 1i"),
    ("1 - z", "0 + -2i"),
    ("-z", "-1 + -2i"),
    ("z * w == product", "true"),
    ("z / w == quotient", "true"),
    ("z == w", "false"),
    ("__real__ z", "1"),
    ("__imag__ z + 1", "3"),
    ("narrow * 2", "3 + 1i"),
    ("narrow + z", "2.5 + 2.5i"),
    ("extended * z", "-3 + 4i"),
    ("large", "340282366920938463463374607431768211454"),
    ("/o large", "03777777777777777777777777777777777777777776"),
    ("large - 1", "340282366920938463463374607431768211453"),
    ("large > 5", "true"),
    ("5 < large", "true"),
    ("-1 < large", "false"),
    ("large + 2", "0"),
    ("-large", "2"),
    ("large == large", "true"),
    ("large / 2 == half", "true"),
    ("large % 10", "4"),
    ("large & 255", "254"),
    ("large >> 100", "268435455"),
    ("~large", "1"),
    ("(unsigned long)large", "18446744073709551614"),
    ("(double)large", "3.402823669209385e38"),
    (
        "(unsigned __int128)-1",
        "340282366920938463463374607431768211455",
    ),
    ("large && true", "true"),
    ("!large", "false"),
    (r#"record.name == "abcd""#, "true"),
    (r#"record.name == "abc""#, "false"),
    (r#"record.name == "abcdef""#, "false"),
    (r#"record.rest == "ef""#, "true"),
    ("mixed", r#""hé\377\033[31m""#),
];

#[test]
fn complex_numbers_and_the_largest_ones_are_computed_with() {
    for build in plain_builds(Language::C) {
        let executable = program("wide.c").argument("-lm").compile(&build);
        check(&executable, &build, WIDE);
    }
}

/// Each expression that has no value, and a part of the reason.
const REFUSED: &[(&str, &str)] = &[
    ("z < w", "`<` does not apply to complex numbers"),
    ("z / (z - z)", "the result is infinite, or one side is"),
    ("narrow * 2.5", "cast the real number: `(float)x`"),
    ("__real__ n", "`int` is no complex number"),
];

#[test]
fn what_cannot_be_computed_says_why() {
    for build in plain_builds(Language::C) {
        let executable = program("wide.c").argument("-lm").compile(&build);
        for (expression, why) in REFUSED {
            let report = Batch::new()
                .command("break look")
                .command("run")
                .command("up")
                .command(&format!("print {expression}"))
                .run(&executable, &[]);
            let shown = report.all();
            assert!(shown.contains(why), "{expression}, {build}: {shown}");
        }
    }
}

/// Conditions are compiled where they can be; all of these must be true there, too.
#[test]
fn conditions_compare_them_as_print_does() {
    for build in plain_builds(Language::C) {
        let executable = program("wide.c").argument("-lm").compile(&build);
        let condition = "^record.name == \"abcd\" and ^large > 5 and __real__ ^z == 1";
        let report = Batch::new()
            .command(&format!("break look if {condition}"))
            .command("run")
            .command("print n")
            .command("printf \"%s\", ^mixed")
            .command("x/s ^mixed")
            .run(&executable, &[]);
        let shown = report.all();
        assert_eq!(report.outcome("print n")["value"], "1", "{build}: {shown}");
        let said = report.outcome("printf \"%s\", ^mixed").to_string();
        assert!(said.contains("h\u{e9}\\\\377"), "{build}: {said}");
        let examined = report.outcome("x/s ^mixed").to_string();
        assert!(examined.contains("377\\\\033[31m"), "{build}: {examined}");
    }
}

const BEHIND_LOCKS: &str = r#"
use std::collections::{BTreeMap, HashMap}; use std::rc::Rc; use std::sync::{Arc, Mutex, RwLock};
pub struct State { pub entries: HashMap<String, u64>, pub ordered: BTreeMap<String, Item>, pub next: u64 }
pub struct Item { pub id: u32 }
pub struct Shared { pub state: Mutex<State>, pub names: RwLock<Vec<String>> }
pub struct Db { pub shared: Arc<Shared>, pub local: Rc<HashMap<u32, u8>> }
impl Db { #[inline(never)] pub fn get(&self) -> u64 { self.shared.state.lock().unwrap().next } }
fn main() {
    let state = State {
        entries: [("ann".to_string(), 41)].into(),
        ordered: [("bob".to_string(), Item { id: 7 })].into(),
        next: 1,
    };
    let names = RwLock::new(vec!["zoe".to_string()]);
    let shared = Arc::new(Shared { state: Mutex::new(state), names });
    let d = Db { shared, local: Rc::new([(5, 9)].into()) };
    println!("{}", d.get() + d.shared.names.read().unwrap().len() as u64 + d.local[&5] as u64);
}"#;

#[test]
fn a_key_behind_locks_is_read_at_an_event() {
    let event = r#"
        event seen = before Db::get(
            ann = self.shared.state.entries["ann"],
            bob = self.shared.state.ordered["bob"].id,
            five = self.local[5],
            next = self.shared.state.next)"#;
    let event = event.replace('\n', " ").replace("   ", "");
    for build in plain_builds(Language::Rust) {
        let executable = juror_testing::Fixture::rust("behind_locks", BEHIND_LOCKS).compile(&build);
        let property = crate::support::property_of(event.trim());
        let report = Batch::watching(&property).run(&executable, &[]);
        for (name, value) in [("ann", 41), ("bob", 7), ("five", 9), ("next", 1)] {
            assert_eq!(report.values("seen", name), [value], "{name}, {build}");
        }
    }
}
