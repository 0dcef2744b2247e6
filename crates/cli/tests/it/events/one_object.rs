//! One event for one object and one function: variants of destructors and constructors,
//! lambdas of one function, methods of Rust by their trait.

use crate::support::{Batch, Report, property_of};
use juror_testing::{Build, Fixture, Language, Optimization};
use std::path::Path;

const DISKS: &str = "
#include <cstdio>
#include <memory>
static int destroyed, constructed, plain, mixed;
struct File { virtual ~File() {} };
struct Disk : File { int fd; explicit Disk(int f) : fd(f) { constructed++; } ~Disk() override { destroyed++; fd = -1; } };
struct Plain { int fd; explicit Plain(int f) : fd(f) {} ~Plain() { plain++; } };
struct Virtual : virtual File { int k; explicit Virtual(int n) : k(n) {} ~Virtual() override { mixed++; } };
struct Derived : Virtual { Derived() : Virtual(2) {} };
struct Second { virtual ~Second() {} int s = 0; };
struct Both : Second, Disk { Both() : Disk(9) {} ~Both() override { s = 1; } };
int main()
{
    { std::unique_ptr<File> a(new Disk(3)); }
    { Disk onstack(4); }
    { std::unique_ptr<Disk> b(new Disk(5)); }
    { std::unique_ptr<File> c(new Both); }
    { std::unique_ptr<Plain> p(new Plain(5)); }
    { std::unique_ptr<File> v(new Virtual(1)); }
    { std::unique_ptr<File> d(new Derived); }
    printf(\"destroyed %d constructed %d plain %d mixed %d\\n\", destroyed, constructed, plain, mixed);
}";

const DESTRUCTORS: &str = "
    event destroyed = before \"Disk::~Disk\"(this)
    event ended = after \"Disk::~Disk\"(this)
    event constructed = before Disk::Disk(this)
    event plain = before \"Plain::~Plain\"(this)
    event mixed = before \"Virtual::~Virtual\"(this)";

fn at_calls(executable: &Path, events: &str, is_optimized: bool) -> Report {
    let batch = Batch::watching(&property_of(events));
    let batch = if is_optimized {
        batch
            .option("--at-inlined=likely")
            .option("--ignore-inlined")
    } else {
        batch
    };
    batch.run(executable, &[])
}

#[test]
fn a_destructor_is_one_event_for_one_object() {
    let mut builds = Build::all_of(Language::Cpp);
    builds.retain(|build| build.pie && build.optimization == Optimization::None);
    for build in builds {
        let executable = Fixture::cpp("disks", DISKS).compile(&build);
        let report = at_calls(&executable, DESTRUCTORS, false);
        for event in ["destroyed", "constructed", "plain", "mixed"] {
            assert_eq!(
                report.occurrences(event),
                report.printed(event),
                "{event}, {build}"
            );
        }
        assert_eq!(
            report.occurrences("ended"),
            report.printed("destroyed"),
            "{build}"
        );
    }
}

const LAMBDAS: &str = "
#include <cstdio>
static int a, b;
int main()
{
    auto add = [](int x) { a++; return x + 1; };
    auto log = [](const char *s) { b++; puts(s); };
    add(1); add(2); add(3);
    log(\"one\");
    printf(\"add %d log %d\\n\", a, b);
}";

#[test]
fn the_name_of_a_lambda_is_one_of_that_lambda() {
    for build in crate::support::printed::plain_builds(Language::Cpp) {
        if build.compiler != juror_testing::Compiler::Gpp {
            continue;
        }
        let executable = Fixture::cpp("lambdas", LAMBDAS).compile(&build);
        let events = "
            event log = before \"main::{lambda(char const*)#2}::operator() const\"
            event add = before \"main::{lambda(int)#1}::operator()\"";
        let report = Batch::watching(&property_of(events)).run(&executable, &[]);
        assert_eq!(report.occurrences("log"), report.printed("log"), "{build}");
        assert_eq!(report.occurrences("add"), report.printed("add"), "{build}");
        let wrong = "event none = before \"main::{lambda(int)#77}::operator()\"";
        let report = Batch::watching(&property_of(wrong)).run(&executable, &[]);
        report.assert_code(2);
    }
}

const TRAIT: &str = "
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
pub static AREAS: AtomicUsize = AtomicUsize::new(0);
pub trait Shape { fn area(&self) -> usize; }
pub struct Circle { pub r: usize }
impl Shape for Circle { fn area(&self) -> usize { AREAS.fetch_add(1, Relaxed); self.r * 3 } }
fn main() {
    let c = black_box(Circle { r: 2 });
    let direct = c.area();
    let d: &dyn Shape = black_box(&c as &dyn Shape);
    let virt = d.area();
    println!(\"areas {} {direct} {virt}\", AREAS.load(Relaxed));
}";

#[test]
fn no_name_of_a_method_finds_fewer_calls_than_another() {
    let names = [
        "<i::Circle as i::Shape>::area",
        "i::Shape::area",
        "i::Circle::area",
        "i::{impl#0}::area",
        "area",
    ];
    let mut builds = Build::all_of(Language::Rust);
    builds.retain(|build| build.pie);
    for build in builds {
        let executable = Fixture::rust("i", TRAIT).compile(&build);
        let found = names.map(|name| {
            let event = format!("event area = before \"{name}\"");
            let report = Batch::watching(&property_of(&event)).run(&executable, &[]);
            let is_refused = report.all().contains("inlined");
            let count = (!is_refused).then(|| report.occurrences("area"));
            assert!(
                count.is_none_or(|count| count == report.printed("areas")),
                "{name}, {build}: {}",
                report.all()
            );
            count
        });
        assert!(
            found.windows(2).all(|pair| pair[0] == pair[1]),
            "{build}: {found:?}"
        );
    }
}

const PARSE: &str = "
#include <stdio.h>
int parse(const char *s) { int n = 0; while (s[n]) n++; return n; }
int main(void) { printf(\"parsed %d\\n\", parse(\"abc\") - 3 + (parse(\"de\") - 2) + 2); return 0; }";

#[test]
fn the_programs_own_function_is_meant_and_not_one_inlined_in_a_library() {
    let mut builds = Build::all_of(Language::C);
    builds.retain(|build| build.pie && build.optimization == Optimization::None);
    for build in builds {
        let executable = Fixture::c("parse", PARSE).compile(&build);
        let report = Batch::watching(&property_of("event parsed = before parse(s)"));
        let report = report.run(&executable, &[]);
        assert_eq!(
            report.occurrences("parsed"),
            report.printed("parsed"),
            "{build}"
        );
    }
}

/// With libc's debug information its linker has inlined functions of these names, which are
/// wrappers of its own.
#[test]
fn functions_of_libc_are_meant_and_not_those_of_the_dynamic_linker() {
    let source = "#include <stdlib.h>
        int main(void) { void *p = malloc(10); free(p); p = calloc(2, 4); p = realloc(p, 100); free(p); return 0; }";
    let executable = Fixture::c("allocates", source).compile_plain();
    for (event, least) in [
        ("after malloc(n = arg 1) returns p", 1),
        ("before malloc(n = arg 1)", 1),
        ("before free(p = arg 1)", 2),
        ("after free", 2),
        ("after calloc(n = arg 1) returns p", 1),
        ("after realloc(p = arg 1) returns q", 1),
        ("after malloc(n = arg 1) returns p in library", 1),
    ] {
        let property = property_of(&format!("event seen = {event}"));
        let report = Batch::watching(&property).run(&executable, &[]);
        let shown = report.all();
        assert_eq!(report.output.code(), Some(0), "{event}: {shown}");
        assert!(report.occurrences("seen") >= least, "{event}: {shown}");
    }
}

/// An event that leaves out copies says so, and says how to name the function of one module.
#[test]
fn the_help_names_the_module_whose_calls_can_be_seen() {
    let directory = tempfile::TempDir::with_prefix("juror-copies-").expect("a directory");
    let path = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
    let compile = |source: &str, output: &str, others: &[&str]| {
        let file = path(&format!("{output}.c"));
        std::fs::write(&file, source).expect("a file");
        let mut command = std::process::Command::new("cc");
        command.args(["-g", "-O2", "-fPIC", "-o", &path(output), &file]);
        let status = command.args(others).status().expect("a compiler");
        assert!(status.success(), "{output}");
    };
    let own = "__attribute__((noinline)) int measure(int x) { return x * 3; }";
    let copied = "static inline __attribute__((always_inline)) int measure(int x)
        { volatile int y = x; return y + 1; } int other(int x) { return measure(x); }";
    let main =
        "int measure(int); int other(int); int main(void) { return measure(1) + other(2) - 6; }";
    compile(own, "libown.so", &["-shared"]);
    compile(copied, "libcopied.so", &["-shared"]);
    let (first, second) = (path("libown.so"), path("libcopied.so"));
    compile(main, "main", &[&first, &second]);
    let executable = directory.path().join("main");
    let watch = |event: &str| {
        let property = property_of(&format!("event seen = {event}"));
        Batch::watching(&property).run(&executable, &[])
    };
    let report = watch("after measure(x)");
    let shown = report.all();
    assert_eq!(report.output.code(), Some(2), "{shown}");
    let help = "if the function of libown.so is meant, write `in \"libown.so\"` after the event";
    assert!(shown.contains(help), "{shown}");
    let report = watch("after measure(x) in \"libown.so\"");
    assert_eq!(report.occurrences("seen"), 1, "{}", report.all());
}
