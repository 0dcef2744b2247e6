//! Events other than calls, in running programs: each is counted once, has its values, and is
//! shown by `info`.

use crate::support::{Batch, Report, named, program, property_of};
use juror_testing::{Build, Fixture, Language};
use serde_json::{Value, json};

/// The arguments of `occasions.c`: threads and rounds.
const CASES: [[&str; 2]; 2] = [["1", "24"], ["4", "12"]];

/// A line of a program of `tests/programs` by what stands in it.
fn line_with(source: &str, text: &str) -> usize {
    let path = format!("{}/tests/programs/{source}", env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(path).expect("the program is there");
    let position = source.lines().position(|line| line.contains(text));
    position.expect("the line is there") + 1
}

/// Runs `occasions.c` in every build, with one thread and with four.
#[track_caller]
fn in_all_builds(events: &str, check: impl Fn(&Report, &str)) {
    let property = property_of(events);
    for build in Build::all() {
        let executable = program("occasions.c").compile(&build);
        for arguments in CASES {
            let report = Batch::watching(&property).run(&executable, &arguments);
            let case = format!("{build} {arguments:?}: {}", report.all());
            assert_eq!(report.output.status.code(), Some(0), "{case}");
            check(&report, &case);
        }
    }
}

#[test]
fn stores_reads_and_changes_are_counted() {
    in_all_builds(
        "event w = write total
         event c = change total
         event s = write same
         event t = change same
         event r = read limit
         event h = write occasions.c::hidden(now = value, was = old)",
        |report, case| {
            let rounds = report.printed("rounds");
            for (event, expected) in [
                ("w", rounds),
                ("c", rounds),
                ("s", rounds),
                ("t", 1),
                ("r", rounds),
                ("h", rounds),
            ] {
                assert_eq!(report.occurrences(event), expected, "{event} {case}");
            }
            assert_eq!(report.printed("total"), 2 * rounds);
            // Each store adds 2 to what was there.
            for (change, number) in report.changes("w").iter().zip(0..) {
                let stored = &change["stored"];
                assert_eq!(stored["before"], json!(2 * number), "{change}");
                assert_eq!(stored["after"], json!(2 * number + 2), "{change}");
                assert_eq!(change["location"]["function"], "store", "{change}");
            }
            let now = report.values("h", "now");
            let was = report.values("h", "was");
            assert_eq!(now[..now.len() - 1], was[1..], "{case}");
            assert!(now.iter().all(|value| value.as_i64() < Some(0)), "{case}");
        },
    );
}

#[test]
fn the_elements_of_an_array_are_told_apart() {
    let line = line_with("occasions.c", "board[round % 16] = round");
    in_all_builds(
        "event w = write board[2..16](at = address, which = index, now = value)",
        |report, case| {
            let changes = report.changes("w");
            let (threads, rounds) = (report.printed("threads"), report.printed("rounds"));
            let each = rounds / threads;
            let in_range = (0..each).filter(|round| round % 16 >= 2).count() as u64;
            assert_eq!(changes.len() as u64, threads * in_range, "{case}");
            let mut base = None;
            for change in changes {
                let value = |name| named(&change["values"], name);
                let which = value("which").as_u64().expect("an index");
                let now = value("now").as_u64().expect("a number");
                assert_eq!(now % 16, which, "{change}");
                let at = value("at").as_str().map(str::to_owned).expect("an address");
                let at = u64::from_str_radix(at.trim_start_matches("0x"), 16).expect("hex");
                let first = at - 4 * which;
                assert_eq!(*base.get_or_insert(first), first, "{change}");
                assert_eq!(change["location"]["line"], json!(line), "{change}");
            }
        },
    );
}

#[test]
fn a_place_behind_a_pointer_moves_with_it() {
    in_all_builds(
        "event w = write where->second
         event c = change where->second
         event p = write where
         event d = write ratio",
        |report, case| {
            let rounds = report.printed("rounds");
            assert_eq!(report.occurrences("w"), rounds + 1, "{case}");
            assert_eq!(report.occurrences("p"), 1, "{case}");
            assert_eq!(report.occurrences("d"), rounds, "{case}");
            let last = report.changes("w");
            let last = &last.last().expect("a store")["stored"];
            assert_eq!(*last, json!({"before": 0, "after": -5}), "{case}");
            // The pointer's move to another pair is a change, too.
            let changes = report.changes("c");
            let move_of = &changes[changes.len() - 2]["stored"];
            assert_eq!(move_of["after"], json!(0), "{case}");
        },
    );
}

#[test]
fn a_system_call_that_stores_is_a_store() {
    in_all_builds(
        "event w = write filled\nevent c = change filled",
        |report, case| {
            let rounds = report.printed("rounds");
            assert_eq!(report.occurrences("w"), 2 * rounds, "{case}");
            assert_eq!(report.occurrences("c"), 2 * rounds, "{case}");
        },
    );
}

#[test]
fn a_bit_field_changes_by_itself() {
    in_all_builds("event c = change flags.high", |report, case| {
        for change in report.changes("c") {
            let stored = &change["stored"];
            assert_ne!(stored["before"], stored["after"], "{case}");
        }
        let (threads, rounds) = (report.printed("threads"), report.printed("rounds"));
        if threads == 1 {
            assert_eq!(report.occurrences("c"), rounds - 1, "{case}");
        }
    });
}

#[test]
fn what_the_kernel_is_asked_for_and_what_it_sends() {
    in_all_builds(
        "event asks = entry getppid
         event asked = exit getppid returns parent
         event reads = entry read(fd: i32 = arg 1, size = arg 3)
         event has_read = exit read(size = arg 3) returns count
         event usr = signal SIGUSR1(number, sender, code)
         event any = signal
         event counted = write occasions.c::handled
         event born = thread start(start_routine, start_function)
         event gone = thread end",
        |report, case| {
            let (threads, rounds) = (report.printed("threads"), report.printed("rounds"));
            let parents = report.values("asked", "parent");
            assert_eq!(parents.len() as u64, rounds, "{case}");
            assert!(parents.iter().all(|parent| *parent == parents[0]), "{case}");
            assert_eq!(report.occurrences("asks"), rounds, "{case}");
            // The dynamic linker has read before the program began.
            assert_eq!(report.occurrences("reads"), rounds, "{case}");
            assert_eq!(report.occurrences("has_read"), rounds, "{case}");
            let is_four = |values: Vec<Value>| values.iter().all(|value| *value == json!(4));
            assert!(is_four(report.values("reads", "size")), "{case}");
            assert!(is_four(report.values("has_read", "size")), "{case}");
            assert!(is_four(report.values("has_read", "count")), "{case}");
            assert_eq!(report.printed("handled"), rounds, "{case}");
            assert_eq!(report.occurrences("usr"), rounds, "{case}");
            assert_eq!(report.occurrences("any"), rounds, "{case}");
            let numbers = report.values("usr", "number");
            assert!(numbers.iter().all(|number| *number == json!(10)), "{case}");
            let senders = report.values("usr", "sender");
            assert!(senders.iter().all(|sender| *sender == senders[0]), "{case}");
            assert!(senders[0].as_u64() > Some(1), "{case}");
            // `SI_TKILL`
            let codes = report.values("usr", "code");
            assert!(codes.iter().all(|code| *code == json!(-6)), "{case}");
            // No lock keeps these stores apart.
            assert_eq!(report.occurrences("counted"), rounds, "{case}");
            assert_eq!(report.occurrences("born"), threads, "{case}");
            let functions = report.values("born", "start_function");
            assert!(functions.iter().all(|it| *it == json!("work")), "{case}");
            let routines = report.values("born", "start_routine");
            assert!(routines.iter().all(|it| *it == routines[0]), "{case}");
            assert_eq!(report.occurrences("gone"), threads, "{case}");
        },
    );
}

/// In `weigh` nothing is left of the line but what was inlined.
#[test]
fn a_line_of_which_only_inlined_calls_are_left_is_an_event() {
    let line = line_with("called.cpp", "        sum(");
    // At the function's entry `sink` is what the call before has left: 0 or 3.
    let event = format!("event here = line \"called.cpp:{line}\"(weight = box.weight, sink)");
    let property = property_of(&event);
    for build in Build::all_of(Language::Cpp) {
        let executable = program("called.cpp").compile(&build);
        let report = Batch::watching(&property).run(&executable, &[]);
        let case = format!("{build}: {}", report.all());
        assert_eq!(report.output.status.code(), Some(0), "{case}");
        assert_eq!(report.values("here", "weight"), [3, 3, 3, 3], "{case}");
        assert_eq!(report.values("here", "sink"), [2, 2, 2, 2], "{case}");
    }
}

#[test]
fn a_line_is_counted_in_every_copy() {
    let line = line_with("occasions.c", "/* the line */");
    let events = format!(
        "event here = line \"occasions.c:{line}\"(thread, by = step, seen = lines)
         event start = program start
         event exit = program exit(status)"
    );
    in_all_builds(&events, |report, case| {
        let lines = report.printed("lines");
        assert_eq!(report.occurrences("here"), lines, "{case}");
        assert_eq!(report.occurrences("start"), 1, "{case}");
        assert_eq!(report.values("exit", "status"), [json!(3)], "{case}");
        let seen = report.values("here", "seen");
        let expected: Vec<Value> = (0..lines).map(|line| json!(line)).collect();
        assert_eq!(seen, expected, "{case}");
    });
}

#[test]
fn modules_come_and_go() {
    let plugin = program("plugin.c").argument("-shared").argument("-fPIC");
    let plugin = plugin.compile_plain();
    let loader = program("loader.c").compile_plain();
    let property = property_of(
        "event came = module load \"plugin\"(name, base)
         event went = module unload \"plugin\"(name)
         event libc = module load \"libc.\"
         event w = write plugin_value in library",
    );
    let report = Batch::watching(&property).run(loader, &[&plugin.display().to_string()]);
    report.assert_code(0);
    assert_eq!(report.occurrences("came"), 2, "{}", report.all());
    assert_eq!(report.occurrences("went"), 2, "{}", report.all());
    assert_eq!(report.occurrences("libc"), 1, "{}", report.all());
    // The constructor and three calls, each time that it is loaded.
    assert_eq!(report.occurrences("w"), 8, "{}", report.all());
}

#[test]
fn what_happened_is_known_by_thread_time_and_caller() {
    let property = "property known
        event w = write total(thread, time, caller, back = return_address)
        event p = before store(thread = thread, caller = caller, time = time)
        state init accepting { on w on p }";
    let report = Batch::watching(property).run(program("occasions.c").compile_plain(), &["2", "5"]);
    report.assert_code(0);
    assert_eq!(report.occurrences("w"), 10);
    for event in ["w", "p"] {
        for caller in report.values(event, "caller") {
            assert_eq!(caller, json!("work"), "{event}");
        }
        let times: Vec<u64> = report
            .values(event, "time")
            .iter()
            .map(|time| time.as_u64().expect("a number"))
            .collect();
        assert!(times.is_sorted(), "{times:?}");
        for change in report.changes(event) {
            assert_eq!(named(&change["values"], "thread"), change["thread"]);
        }
    }
}

#[test]
fn kinds_of_events_join_in_a_property() {
    let property = "property order
        event locked = entry getppid
        event stored = change total(now = value)
        event read = exit read returns count
        state idle accepting { on stored when now > 0 -> stored_once on locked -> wrong on read -> wrong }
        state stored_once accepting { on locked -> asked on stored -> wrong on read -> wrong }
        state asked accepting { on read when count == 4 -> idle on stored -> wrong on locked -> wrong }
        state wrong non-accepting";
    let report =
        Batch::watching(property).run(program("occasions.c").compile_plain(), &["4", "10"]);
    report.assert_code(0);
    assert_eq!(report.occurrences("stored"), 40, "{}", report.all());
    // A place is watched only while a state needs it.
    let violated = property.replace("now > 0", "now != 20");
    let report =
        Batch::watching(&violated).run(program("occasions.c").compile_plain(), &["4", "10"]);
    report.assert_code(1);
    let path = report.stop()["violations"][0]["path"].clone();
    let last = path
        .as_array()
        .and_then(|path| path.last().cloned())
        .expect("a path");
    assert_eq!(last["event"], "locked", "{last}");
    assert!(
        report.output.stdout.contains("total: 16 → 18"),
        "{}",
        report.all()
    );
}

#[test]
fn points_of_properties_say_how_they_are_watched() {
    let property = property_of(
        "event w = write total
         event b = write board[0..16]
         event s = entry getppid
         event x = program exit",
    );
    let report = Batch::watching(&property)
        .command("break store")
        .command("run")
        .command("info breakpoints")
        .command("info watchpoints")
        .command("delete 1")
        .command("continue")
        .run(program("occasions.c").compile_plain(), &["1", "3"]);
    let watchpoints = report.outcome("info watchpoints").as_array();
    assert_eq!(watchpoints.map(Vec::len), Some(2), "{}", report.all());
    let points = report
        .outcome("info breakpoints")
        .as_array()
        .cloned()
        .expect("a list");
    let of = |event: &str| {
        let mut points = points.iter();
        let words = format!("watched: {event} = ");
        let is_meant = |it: &&Value| {
            it["for_what"]
                .as_str()
                .is_some_and(|it| it.starts_with(&words))
        };
        points.find(is_meant).cloned().expect("the event")
    };
    for (event, passage) in [
        ("w", "hardware"),
        ("b", "page"),
        ("s", "every call stops: memory is watched"),
        ("x", "kernel"),
    ] {
        let point = of(event);
        assert_eq!(point["passage"], passage, "{point}");
        assert_eq!(point["enabled"], true, "{point}");
    }
}

/// What is said of an event that cannot be watched.
#[track_caller]
fn refused(event: &str, words: &[&str]) {
    let executable = program("occasions.c").compile_plain();
    let report = Batch::watching(&property_of(event)).run(executable, &["1", "1"]);
    assert_eq!(
        report.output.status.code(),
        Some(2),
        "{event} {}",
        report.all()
    );
    for words in words {
        assert!(
            report.output.stderr.contains(words),
            "{event} {}",
            report.all()
        );
    }
}

#[test]
fn what_cannot_be_watched_is_refused_with_the_reason() {
    for (event, words) in [
        (
            "event w = write totl",
            &["no global variable `totl`", "did you mean `total`?"][..],
        ),
        ("event w = write round", &["no global variable `round`"]),
        ("event w = write pairs[0].third", &["third"]),
        (
            "event w = write pairs[0](now = value)",
            &["no single value"],
        ),
        (
            "event s = entry getpppid",
            &["no system call `getpppid`", "did you mean `getppid`?"],
        ),
        ("event s = signal SIGUSR3", &["no signal `SIGUSR3`"]),
        ("event s = signal SIGKILL", &["before juror can stop it"]),
        (
            "event l = line \"occasion.c:3\"",
            &["no line 3", "did you mean `occasions.c`?"],
        ),
        (
            "event l = line \"occasions.c:2\"",
            &["has no code", "the next line that has is"],
        ),
        ("event t = thread start(n = totl)", &["totl"]),
    ] {
        refused(event, words);
    }
}

#[test]
fn a_variable_of_a_library_to_come_is_no_error() {
    let property = property_of("event w = write never_there in library");
    let executable = program("occasions.c").compile_plain();
    let report = Batch::watching(&property).run(executable, &["1", "1"]);
    report.assert_code(2);
    let remarks = report.remarks("watched").join("\n");
    assert!(
        remarks.contains("no loaded module had `never_there`"),
        "{remarks}"
    );
}

#[test]
fn stores_of_several_elements_at_once_are_one_event_each() {
    let fixture = Fixture::c(
        "blocks",
        "#include <string.h>
         __attribute__((aligned(4096))) volatile int cells[12];
         __attribute__((aligned(4096))) volatile short few[3];
         __attribute__((aligned(4096))) int after;
         int main(void) {
             __asm__ volatile(\"rep stosl\" : : \"D\"(cells), \"a\"(3), \"c\"(10L) : \"memory\");
             *(volatile long *)&cells[4] = 1;
             few[0] = 1; few[2] = 2; few[1] = 3;
             return 0;
         }",
    );
    let property = property_of(
        "event c = write cells[1..12](which = index, now = value)
         event d = change cells[1..12](which = index)
         event f = write few[0..3](which = index)",
    );
    let report = Batch::watching(&property).run(fixture.compile_plain(), &[]);
    report.assert_code(0);
    let which: Vec<Value> = report.values("c", "which");
    let expected: Vec<Value> = [1, 2, 3, 4, 5, 6, 7, 8, 9, 4, 5].map(|it| json!(it)).into();
    assert_eq!(which, expected, "{}", report.all());
    assert_eq!(report.values("d", "which"), expected, "{}", report.all());
    let few: Vec<Value> = [0, 2, 1].map(|it| json!(it)).into();
    assert_eq!(report.values("f", "which"), few, "{}", report.all());
}

#[test]
fn the_exit_is_judged() {
    let property = "property exits
        event exit = program exit(status)
        state running accepting { on exit when status == STATUS -> wrong }
        state wrong non-accepting";
    let killed = Fixture::c("killed", "int main(void) { __builtin_trap(); }");
    for (program, status) in [(program("occasions.c"), "3"), (killed, "132")] {
        let executable = program.compile_plain();
        let report = Batch::watching(&property.replace("STATUS", status)).run(&executable, &[]);
        assert_eq!(report.summary("exits")["violations"], 1, "{}", report.all());
        let violation = &report.end()["violations"][0];
        assert_eq!(violation["path"][0]["what"], "program exit", "{violation}");
        let report = Batch::watching(&property.replace("STATUS", "77")).run(&executable, &[]);
        assert_eq!(report.summary("exits")["violations"], 0, "{}", report.all());
    }
}

#[test]
fn ranges_are_read_as_sequences() {
    let property = property_of(
        "event x = program start(all = board[0..3])
         event w = change total(all = board[1..3])
         event p = after store(all = board[0..2])",
    );
    let report =
        Batch::watching(&property).run(program("occasions.c").compile_plain(), &["1", "3"]);
    report.assert_code(0);
    let texts = |event: &str| -> Vec<String> {
        let values = report.values(event, "all").into_iter();
        values
            .map(|value| value.as_str().expect("a sequence").to_owned())
            .collect()
    };
    assert_eq!(texts("x"), ["[0, 0, 0]"]);
    assert_eq!(texts("w"), ["[0, 0]", "[0, 0]", "[1, 0]"]);
    assert_eq!(texts("p"), ["[0, 0]", "[0, 1]", "[0, 1]"]);
}

#[test]
fn a_step_over_a_system_call_is_a_step() {
    let property = property_of("event s = entry getppid\nevent e = exit getppid\nevent g = signal");
    let mut run = Batch::watching(&property)
        .command("break ask")
        .command("run")
        .command("delete 1");
    for _ in 0..4 {
        run = run.command("next");
    }
    let report = run
        .command("info breakpoints")
        .command("continue")
        .run(program("occasions.c").compile_plain(), &["1", "1"]);
    assert_eq!(report.occurrences("s"), 1, "{}", report.all());
    assert_eq!(report.occurrences("e"), 1, "{}", report.all());
    assert_eq!(report.occurrences("g"), 1, "{}", report.all());
}

#[test]
fn a_whole_structure_is_watched_without_its_value() {
    let property = "property structures
        event w = write pairs[1]
        event n = write pairs[1].second
        var last = 0
        state init accepting { on w on n { last = value } }";
    let report = Batch::watching(property).run(program("occasions.c").compile_plain(), &["1", "1"]);
    report.assert_code(0);
    assert_eq!(report.occurrences("w"), 1, "{}", report.all());
    assert_eq!(
        report.changes("n")[0]["stored"]["after"],
        json!(-5),
        "{}",
        report.all()
    );
    assert_eq!(report.changes("w")[0]["stored"], Value::Null);
}

#[test]
fn a_forked_copy_is_watched_as_well() {
    let fixture = Fixture::c(
        "copied",
        "#include <signal.h>
         #include <stdio.h>
         #include <sys/syscall.h>
         #include <sys/wait.h>
         #include <unistd.h>
         volatile int total, cells[9];
         static void on_signal(int number) { (void)number; }
         static void act(int times) {
             for (int i = 0; i < times; i++) {
                 total++;
                 cells[i] = i;
                 syscall(SYS_getppid);
                 raise(SIGUSR1);
             }
         }
         int main(void) {
             signal(SIGUSR1, on_signal);
             act(2);
             if (fork() == 0) { act(5); return 0; }
             wait(NULL);
             act(3);
             return 0;
         }",
    );
    let property = property_of(
        "event w = write total(now = value)
         event c = write cells[0..9]
         event s = entry getppid
         event g = signal SIGUSR1",
    );
    let report = Batch::watching(&property)
        .option("--follow")
        .option("both")
        .run(fixture.compile_plain(), &[]);
    report.assert_code(0);
    for event in ["w", "c", "s", "g"] {
        assert_eq!(report.changes(event).len(), 10, "{event} {}", report.all());
    }
    let last: Vec<Value> = report.values("w", "now");
    assert!(last.contains(&json!(7)), "{last:?}");
}
