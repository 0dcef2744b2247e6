//! Code that is laid out in every way, in both tiers: what compilers make of functions and
//! calls, and what cannot be patched, for which `info breakpoints` has the reason.

use crate::support::program;
use crate::support::tiers::{Tiers, Told};
use juror_testing::{Build, Compiler, Fixture, Language, Optimization};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A script that calls everything, often enough that stops for new return sites do not count.
const SCRIPT: &str = "a1,2f1,9t0,1w3,4n1,2m1,2l3zp0,1p1,2p3,1p4,3p5,1p6,2(2a1,1a2,2)<3a3,3>\
                      {a1,1(1a2,2j3a9,9)a8,8}[<2a4,4h5a9,9>a8,8]";

/// The functions of `played.cpp` that compilers make, all calls of which are events.
const FUNCTIONS: [&str; 10] = [
    "add", "flag", "touch", "wide", "narrow", "many", "tail", "twice", "recurse", "onwards",
];

/// Functions that are hard to patch, and what is said of them: that of three bytes has
/// padding behind it.
const HARD: [(&str, &str); 3] = [
    ("tiny", "trap: its code is only 1 byte"),
    ("same", "native"),
    ("counted", "leads back to its entry"),
];

struct Files(TempDir);

impl Files {
    fn new() -> Files {
        Files(TempDir::with_prefix("juror-code-").expect("a directory"))
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, text).expect("a file");
        path
    }
}

/// A property in one state about all calls of functions.
fn calls_of(functions: &[&str], moments: &[&str]) -> String {
    let mut events = String::new();
    let mut transitions = String::new();
    for (number, function) in functions.iter().enumerate() {
        for moment in moments {
            events.push_str(&format!("event {moment}_{number} = {moment} {function}\n"));
            transitions.push_str(&format!("    on {moment}_{number} {{ n = n + 1 }}\n"));
        }
    }
    format!("property calls\n{events}var n = 0\nstate init {{\n{transitions}}}\n")
}

/// Plays the script in both tiers; returns the run that may be native.
#[track_caller]
fn check(executable: &Path, moments: &[&str]) -> Told {
    let files = Files::new();
    let property = files.write("calls.prop", &calls_of(&FUNCTIONS, moments));
    let script = SCRIPT.repeat(20);
    Tiers::new()
        .watching_file(property)
        .check(executable, &[&script])
}

fn played(arguments: &[&str], compiler: Compiler, optimization: Optimization) -> Option<PathBuf> {
    let build = Build {
        compiler,
        optimization,
        pie: true,
        debug: true,
    };
    if !compiler.is_present() {
        return None;
    }
    let mut fixture = program("played.cpp").argument("-pthread");
    for argument in arguments {
        fixture = fixture.argument(argument);
    }
    Some(fixture.compile(&build))
}

/// Returns the programs that the compilers make with these arguments, optimized and not.
fn all_played(arguments: &[&str]) -> Vec<PathBuf> {
    let compilers = Compiler::of(Language::Cpp).iter();
    let both = compilers.flat_map(|compiler| {
        let levels = [Optimization::None, Optimization::Full];
        levels.map(|level| played(arguments, *compiler, level))
    });
    both.flatten().collect()
}

/// Plays the script natively in the program of each compiler, optimized and not.
#[track_caller]
fn check_flags(arguments: &[&str]) {
    for executable in all_played(arguments) {
        check(&executable, &["before"]).assert_native();
        check(&executable, &["before", "after"]).assert_native();
    }
}

#[test]
fn plain() {
    check_flags(&[]);
}

/// A function has traps if the ends of its calls by unwinding are events.
#[test]
fn calls_that_are_unwound() {
    for executable in all_played(&[]) {
        check(&executable, &["before", "after", "unwound"]);
    }
}

/// Each function begins with `endbr64`, which stays.
#[test]
fn landing_instructions() {
    check_flags(&["-fcf-protection=full"]);
}

/// Some functions are too short for a jump then.
#[test]
fn small_code() {
    for executable in all_played(&["-Os"]) {
        check(&executable, &["before", "after"]);
    }
}

/// Calls go through registers and the global offset table.
#[test]
fn without_a_procedure_linkage_table() {
    check_flags(&["-fno-plt"]);
}

#[test]
fn frame_pointers_and_stack_protectors() {
    check_flags(&["-fno-omit-frame-pointer", "-fstack-protector-all"]);
}

#[test]
fn fixed_addresses() {
    check_flags(&["-no-pie", "-fno-pie"]);
}

/// The names are those of the dynamic symbols.
#[test]
fn stripped() {
    check_flags(&["-rdynamic", "-s"]);
}

/// A static program has no dynamic linker.
#[test]
fn static_programs() {
    check_flags(&["-static"]);
}

/// Returns the tiers of events of functions, as `info breakpoints` shows them.
#[track_caller]
fn ways(executable: &Path, functions: &[&str], arguments: &[&str]) -> Vec<String> {
    let files = Files::new();
    let property = files.write("calls.prop", &calls_of(functions, &["before"]));
    let told = Tiers::new()
        .watching_file(property)
        .options(["-e", "break main", "-e", "run", "-e", "info breakpoints"])
        .run("auto", executable.as_os_str(), arguments);
    let lines = told.output.stdout.lines();
    let of_events = lines.filter(|line| line.contains("calls: before_"));
    of_events.map(str::to_owned).collect()
}

#[test]
fn functions_that_are_hard_to_patch() {
    let functions = HARD.map(|(function, _)| function);
    for &compiler in Compiler::of(Language::Cpp) {
        let Some(executable) = played(&[], compiler, Optimization::Full) else {
            continue;
        };
        let lines = ways(&executable, &functions, &["z"]);
        for ((function, why), line) in HARD.iter().zip(&lines) {
            assert!(line.contains(why), "{function}: {line}");
        }
        assert_eq!(lines.len(), HARD.len(), "{lines:?}");
        let files = Files::new();
        let moments = ["before", "after"];
        let property = files.write("calls.prop", &calls_of(&functions, &moments));
        let script = "p2,1p3,4p4,3p3,0".repeat(8);
        Tiers::new()
            .watching_file(property)
            .check(&executable, &[&script]);
    }
}

/// Nothing is free near the code of this program but what juror does not take: below it
/// is the lowest memory, behind it are its own data, as far as a jump goes.
const CROWDED: &str = r#"
#include <stdio.h>
volatile char large[3UL << 30];
__attribute__((noinline)) int add(int a, int b) {
    __asm__ volatile("" ::: "memory");
    return a * 2 + b + large[a];
}
int main(void) {
    int sum = 0;
    for (int n = 0; n < 30; n++) sum = add(n, sum & 15);
    printf("sum %d\n", sum);
}
"#;

#[test]
fn no_room_near_the_code() {
    let fixture = Fixture::c("crowded", CROWDED)
        .argument("-mcmodel=large")
        .argument("-fno-pie")
        .argument("-no-pie")
        .argument("-Wl,-Ttext-segment=0x10000");
    let build = Build {
        optimization: Optimization::Full,
        pie: false,
        ..Build::plain(Language::C)
    };
    // Linkers that cannot do that are left out.
    let Ok(executable) = fixture.try_compile(&build) else {
        eprintln!("no program of this size can be made here; it is left out");
        return;
    };
    let files = Files::new();
    let moments = ["before", "after"];
    let property = files.write("calls.prop", &calls_of(&["add"], &moments));
    Tiers::new().watching_file(property).check(&executable, &[]);
}

/// A program that reads its own code finds the changes of both tiers there; what it does with
/// the rest of its memory is the same.
const READS_ITSELF: &str = r#"
#include <stdio.h>
__attribute__((noinline)) int add(int a, int b) {
    __asm__ volatile("nop; nop; nop; nop; nop; nop" ::: "memory");
    return a + b;
}
static unsigned sum_of(const unsigned char *from, int count) {
    unsigned sum = 0;
    for (int n = 0; n < count; n++) sum = sum * 31 + from[n];
    return sum;
}
int main(void) {
    int total = 0;
    unsigned before = sum_of((const unsigned char *)add, 4);
    for (int n = 0; n < 40; n++) total = add(n, total);
    unsigned behind = sum_of((const unsigned char *)add, 4);
    printf("%s %d\n", before == behind ? "unchanged" : "changed", total);
}
"#;

#[test]
fn a_program_that_reads_its_own_code() {
    let files = Files::new();
    let property = files.write("calls.prop", &calls_of(&["add"], &["before"]));
    for compiler in Compiler::of(Language::C)
        .iter()
        .filter(|it| it.is_present())
    {
        let build = Build {
            compiler: *compiler,
            optimization: Optimization::Full,
            ..Build::plain(Language::C)
        };
        let executable = Fixture::c("reads_itself", READS_ITSELF).compile(&build);
        let tiers = Tiers::new().watching_file(&property);
        let told = tiers.check(&executable, &[]);
        told.assert_native();
        // The patch is there before the first call, and stays.
        assert!(
            told.output.stdout.starts_with("unchanged 780\n"),
            "{}",
            told.output.stdout
        );
    }
}

/// A program that maps all that is free around it, page by page, between calls from old sites
/// and calls from new ones, as the loader does with libraries.
const OCCUPIED: &str = r#"#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static int calls;

__attribute__((noinline, noclone)) int add(int by) { return calls += by; }

static void fill(uintptr_t at, uintptr_t size)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    if (mmap((void *)at, size, PROT_NONE, flags, -1, 0) == (void *)at || size <= 4096)
        return;
    fill(at, size / 2);
    fill(at + size / 2, size / 2);
}

#define TIMES4(call) call; call; call; call;
#define TIMES64(call) TIMES4(TIMES4(TIMES4(call)))

int main(void)
{
    for (int i = 0; i < 50; i++)
        add(1);
    uintptr_t here = (uintptr_t)main & ~0xffffffful;
    for (int i = -5; i <= 5; i++)
        fill(here + i * 0x10000000l, 0x10000000);
    for (int i = 0; i < 50; i++) {
        TIMES64(add(1))
    }
    printf("sum %d\n", calls);
    return 0;
}
"#;

#[test]
fn code_finds_room_when_the_program_has_taken_what_was_free() {
    let files = Files::new();
    let property = files.write("calls.prop", &calls_of(&["add"], &["before", "after"]));
    let executable = Fixture::c("occupied", OCCUPIED).compile_plain();
    let told = Tiers::new().watching_file(property).check(&executable, &[]);
    assert!(
        told.output.stdout.contains("sum 3250"),
        "{}",
        told.output.stdout
    );
    // One for each site, and a few for the first.
    assert!(told.stops < 100, "{}", told.output.stdout);
}
