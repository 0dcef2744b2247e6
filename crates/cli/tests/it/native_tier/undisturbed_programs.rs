//! A program with events in it behaves as without juror, and both tiers see all events of one
//! place.

use crate::support::program;
use crate::support::tiers::Tiers;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A property in a file.
struct Written {
    _directory: TempDir,
    path: PathBuf,
}

fn written(text: &str) -> Written {
    let directory = TempDir::with_prefix("juror-tiers-").expect("a directory");
    let path = directory.path().join("called.prop");
    fs::write(&path, text).expect("a file");
    Written {
        _directory: directory,
        path,
    }
}

/// Each new place to which the function returns stops all threads for a moment.
#[test]
fn system_calls_of_other_threads_are_not_interrupted() {
    let property = written(
        "property called
event returned = after work(x: int = arg 1) returns r: int
state s accepting { on returned when r == x + 1 -> s else -> wrong }
state wrong non-accepting
",
    );
    let executable = program("waiting_calls.c")
        .argument("-pthread")
        .compile_plain();
    let tiers = Tiers::new().watching_file(&property.path);
    let told = tiers.check(&executable, &[]);
    let said = &told.output.stdout;
    assert!(said.contains("sum 55 interrupted 0"), "{said}");
    // By traps no other thread would have been stopped.
    assert!(said.contains("  native"), "{said}");
}

/// Such a program has its heap where jumps could lead.
#[test]
fn the_heap_of_a_program_at_a_fixed_address_grows() {
    let called = "property called\nevent entered = before work\nstate s { on entered -> s }\n";
    let property = written(called);
    for argument in ["-no-pie", "-static"] {
        let executable = program("heap_room.c").argument(argument).compile_plain();
        let tiers = Tiers::new().watching_file(&property.path);
        let told = tiers.check(&executable, &[]);
        let said = &told.output.stdout;
        assert!(said.contains("sum 5050 heap 900 MiB"), "{argument}: {said}");
        told.assert_native();
    }
}

/// The trap of juror's that a stub executes has the same signal.
#[test]
fn a_trap_signal_that_another_thread_sends_is_the_programs() {
    let property = written(
        "property called
event entered  = before work(n: int = arg 1)
event returned = after work(n: int = arg 1)
state s { on entered -> s on returned -> s }
",
    );
    let executable = program("sent_traps.c").argument("-pthread").compile_plain();
    let tiers = Tiers::new().watching_file(&property.path);
    let told = tiers.run("native", executable.as_os_str(), &[]);
    let said = format!("{}{}", told.output.stdout, told.output.stderr);
    assert!(said.contains("handled 300 lost 0"), "{said}");
    told.assert_native();
}

/// Three events at one place, which are taken one after the other.
const SAME_CALL: &str = "property same
event first  = before work(x: int = arg 1)
event second = before work(x: int = arg 1)
event third  = before work(x: int = arg 1)
var seen = 0
state none accepting { on first { seen = x } -> one }
state one accepting { on second when x == seen -> two else -> lost on first -> lost }
state two accepting { on third when x == seen -> none else -> lost on first -> lost }
state lost non-accepting
";

/// A handler that ran between two events of a call might jump out of it, and would find a
/// counter outside of the program's code; a child that it makes does not have the stub.
#[test]
fn a_signal_comes_before_or_after_all_events_of_a_call() {
    let property = written(SAME_CALL);
    let executable = program("handler_context.c").compile_plain();
    let tiers = Tiers::new().watching_file(&property.path);
    for tier in ["native", "trap"] {
        let told = tiers.run(tier, executable.as_os_str(), &[]);
        let said = format!("{}{}", told.output.stdout, told.output.stderr);
        assert!(
            said.contains("signals 600 outside 0 crashed 0"),
            "{tier}: {said}"
        );
        assert!(told.output.status.success(), "{tier}: {said}");
        if tier == "native" {
            told.assert_native();
        }
    }
}

/// The second event of a place is not needed before the first has happened.
#[test]
fn an_event_makes_the_next_one_of_its_place_needed() {
    let executable = program("patched.c").compile_plain();
    for event in ["before work", "after work", "before work(x: int = arg 1)"] {
        let property = written(&format!(
            "property turns
event first  = {event}
event second = {event}
state none {{ on first -> one }}
state one {{ on second -> none on first -> lost }}
state lost non-accepting
"
        ));
        let tiers = Tiers::new().watching_file(&property.path);
        let told = tiers.check(&executable, &[]);
        let said = &told.output.stdout;
        assert!(said.contains("HOLDS     turns"), "{event}: {said}");
        assert_eq!(told.occurrences, 200, "{event}: {said}");
    }
}

/// So it is with accesses to memory, which only traps see.
#[test]
fn an_access_makes_the_next_event_of_its_bytes_needed() {
    let executable = program("watched.c").compile_plain();
    for (first, second, count) in [
        ("write stored", "write stored", 2 * 101),
        // The last access is a read.
        ("access left", "write left", 2 * 100 + 1),
        ("write table", "change table", 2),
        ("change left", "access left", 2 * 9),
    ] {
        let property = written(&format!(
            "property turns
event first  = {first}
event second = {second}(value = value)
state none {{ on first -> one }}
state one {{ on second when value >= 0 -> none on first -> lost }}
state lost non-accepting
"
        ));
        let tiers = Tiers::new().watching_file(&property.path);
        let told = tiers.run("auto", executable.as_os_str(), &[]);
        let said = &told.output.stdout;
        assert!(said.contains("HOLDS     turns"), "{first}: {said}");
        assert_eq!(told.occurrences, count, "{first}: {said}");
    }
}
