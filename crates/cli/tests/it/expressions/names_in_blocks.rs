//! The names of blocks: of blocks that were removed, of `using` in a block, of what is declared
//! behind the place, and of types and files that share a name.

use crate::support::dialog::{check_at_looks, dialog};
use crate::support::{Batch, property_of};
use juror_testing::{Build, Compiler, Fixture, Language, Optimization};

/// Blocks that can never run, with constants, static variables and enumerators of the same names.
const REMOVED: &str = "
#include <stdio.h>
static int calls = 3; volatile int sink;
static const int debug_level = 0;
__attribute__((noinline)) void look(void) { __asm__ volatile (\"\"); }
__attribute__((noinline)) int use(int x) { sink = x; return x + 1; }
__attribute__((noinline)) int limit_of(int limit, int mode)
{
    int step = limit + mode;
    if (0) {
        static const int limit = 99; static int calls = 55; const int step = 12;
        enum { mode = 44 };
        printf(\"%d %d %d %d\\n\", limit, calls++, step, mode);
    }
    look();
    calls += step;
    return limit * step;
}
__attribute__((noinline)) int sum(int count)
{
    int i, total = 0;
    for (i = 0; i < count; i++) {
        total += use(i);
        if (debug_level > 2) { int i, total = 100; for (i = 0; i < 9; i++) total += use(i * 2); use(total); }
    }
    look();
    use(total + count);
    if (debug_level > 1) { int total = 7, count = 8; use(total + count); }
    return total;
}
int main(void) { int r = limit_of(4, 2); r += sum(4); printf(\"%d %d\\n\", r, calls); return 0; }
";

fn builds_of(compilers: &[Compiler], levels: &[Optimization]) -> Vec<Build> {
    let builds = compilers.iter().flat_map(|compiler| {
        let compiler = *compiler;
        levels.iter().map(move |optimization| Build {
            compiler,
            optimization: *optimization,
            pie: true,
            debug: true,
        })
    });
    builds.filter(|build| build.compiler.is_present()).collect()
}

#[test]
fn names_of_removed_blocks_hide_none() {
    let fixture = Fixture::c("removed_blocks", REMOVED);
    let levels = [Optimization::None, Optimization::Light];
    for build in builds_of(&[Compiler::Gcc, Compiler::Clang], &levels) {
        let executable = fixture.compile(&build);
        let rows = &[
            (1, "print limit", "=4"),
            (1, "print step", "=6"),
            (1, "print mode", "=2"),
            (1, "print calls", "=3"),
            (1, "print limit + step", "=10"),
            (2, "print total", "=10"),
            (2, "print count", "=4"),
        ];
        // clang's light code keeps less.
        if build.compiler == Compiler::Gcc || build.optimization == Optimization::None {
            check_at_looks(&executable, &build.to_string(), rows);
        }
        let conditions = ["break limit_of if limit == 4 && calls == 3", "run", "kill"];
        let answers = dialog(&executable, &conditions);
        assert!(answers[1].contains("Breakpoint 1"), "{build}: {answers:?}");
        let property = property_of("event e = before limit_of(limit, c = calls, s = limit + mode)");
        let report = Batch::watching(&property).run(&executable, &[]);
        let values = ["limit", "c", "s"].map(|name| report.values("e", name));
        assert_eq!(values, [[4], [3], [6]], "{build}");
    }
}

const USING: &str = "
namespace n { int v = 10; int w = 11; struct T { char c[3]; } of_t; inline namespace i { int z = 12; } }
namespace m { int v = 20; struct T { char c[5]; } of_t; }
int v = 30; struct T { char c[7]; } of_t; int later = 31;
void look() { asm volatile (\"\"); }
int f(int p)
{
    look();
    {
        using n::v;
        look();
        { int v = 50; look(); p += v; }
        p += v;
        { using m::v; using m::T; look(); p += v + sizeof(T); }
        look();
    }
    { using namespace n; look(); p += w + z; }
    {
        int v = 60;
        look();
        { using n::v; look(); p += v; }
        { look(); p += v; }
        look();
        int later = 61;
        look();
        p += v + later;
    }
    look();
    return p;
}
struct S { int v = 70; int m() { int r = 0; { using n::v; look(); r += v; } look(); return r; } };
int main() { S s; return f(1) + s.m() == 0; }
";

#[test]
fn using_in_a_block_hides_what_is_outside_of_it() {
    let rows = &[
        (1, "print v", "=30"),
        (1, "print sizeof(T)", "=7"),
        (2, "print v", "=10"),
        (2, "print ::v", "=30"),
        (3, "print v", "=50"),
        (4, "print v", "=20"),
        (4, "print sizeof(T)", "=5"),
        (5, "print v", "=10"),
        (5, "print sizeof(T)", "=7"),
        (6, "print w", "=11"),
        (6, "print z", "=12"),
        (7, "print v", "=60"),
        (8, "print v", "=10"),
        (9, "print v", "=60"),
        (10, "print later", "=31"),
        (11, "print later", "=61"),
        (12, "print v", "=30"),
        (12, "print later", "=31"),
        (13, "print v", "=10"),
        (14, "print v", "=70"),
    ];
    let fixture = Fixture::cpp("using_in_blocks", USING);
    for build in builds_of(&[Compiler::Gpp, Compiler::Clangpp], &[Optimization::None]) {
        check_at_looks(&fixture.compile(&build), &build.to_string(), rows);
    }
}

const LOCAL_TYPES: &str = "
struct S { char c[3]; } of_s; struct U { char c[4]; } of_u;
void look(void) { __asm__ volatile (\"\"); }
int f(void)
{
    look();
    struct S { char c[5]; } s = {{1}};
    look();
    { struct U { char c[7]; } u = {{1}}; look(); s.c[0] += u.c[0]; }
    look();
    return s.c[0];
}
int main(void) { return f() == 9; }
";

#[test]
fn types_of_a_function_hide_those_of_the_file() {
    let fixture = Fixture::c("local_types", LOCAL_TYPES);
    for build in builds_of(&[Compiler::Gcc, Compiler::Clang], &[Optimization::None]) {
        // clang does not say which block has a type, so neither is chosen.
        let is_gcc = build.compiler == Compiler::Gcc;
        let either = |expected: &'static str| if is_gcc { expected } else { "no" };
        let rows = &[
            (1, "print sizeof(struct S)", "=3"),
            (2, "print sizeof(struct S)", either("=5")),
            (3, "print sizeof(struct U)", either("=7")),
            (4, "print sizeof(struct U)", either("=4")),
        ];
        check_at_looks(&fixture.compile(&build), &build.to_string(), rows);
    }
}

#[test]
fn types_and_variables_are_those_of_the_frames_file_first() {
    let fixture = Fixture::files(
        "same_names",
        &[
            (
                "a.c",
                "struct node { int kind; long weight; }; typedef struct { int w; } box; \
                 static box own = {1}; static struct node here = {1, -100}; static int level = 10; \
                 void look(void) {} void b(void *p); \
                 long a(void *p) { struct node *n = p; look(); return n->weight + level + own.w; } \
                 int main(void) { long r = a(&here); b(0); return r == 0; }",
            ),
            (
                "b.c",
                "struct node { char name[8]; struct node *next; short weight; }; \
                 typedef struct { double w, h; } box; void look(void); \
                 static struct node here = {\"bee\", 0, -7}; static int level = 20; \
                 static box size = {1.5, 2.5}; \
                 void b(void *p) { struct node *n = p ? p : &here; look(); level += n->weight + size.w; }",
            ),
        ],
    );
    for build in builds_of(&[Compiler::Gcc, Compiler::Clang], &[Optimization::None]) {
        let executable = fixture.compile(&build);
        let rows = &[
            (1, "ptype struct node", "kind"),
            (1, "print sizeof(struct node)", "=16"),
            (1, "print ((struct node *)&here)->weight", "=-100"),
            (1, "print sizeof(box)", "=4"),
            (2, "ptype struct node", "name[8]"),
            (2, "whatis (struct node *)p", "struct node *"),
            (2, "print sizeof(struct node)", "=24"),
            (2, "print ((struct node *)&here)->weight", "=-7"),
            (2, "print sizeof(box)", "=16"),
            (2, "ptype box", "double h"),
            (2, "print level", "=20"),
        ];
        check_at_looks(&executable, &build.to_string(), rows);
    }
}

#[test]
fn names_before_the_program_runs_are_its_own() {
    let source = "
struct link_map { int mine; } lm = { 5 };
enum mode { normal = 7, trace = 8 } md = trace;
static long relocate_time = 42; static const char *buffer = \"own\";
static int process_envvars(int k) { return k + 1; }
int main(void) { return process_envvars((int)relocate_time) + lm.mine + md + buffer[0] == 0; }";
    let build = Build::plain(Language::C);
    let executable = Fixture::c("before_run", source).compile(&build);
    let rows = [
        ("print sizeof(struct link_map)", "4"),
        ("ptype struct link_map", "mine"),
        ("print relocate_time", "42"),
        ("print process_envvars", "process_envvars"),
        ("print trace", "trace"),
        ("print lm", "{mine = 5}"),
        ("print buffer", "own"),
        ("print _start", "0x5"),
        ("info address _start", "0x5"),
    ];
    let commands = rows.map(|(command, _)| command);
    for ((command, expected), answer) in rows.iter().zip(dialog(&executable, &commands)) {
        assert!(answer.contains(expected), "{command}: {answer}");
    }
}

/// Blocks with `extern` in one in which `using` takes a variable of the same name from elsewhere.
const EXTERN_IN_USING: &str = "
#include <stdio.h>
static int a = 101; int b = 102;
namespace m { int a = 201, b = 202; }
struct C { int a = 301; int get(int p) const; };
__attribute__((noinline)) void look(void) { __asm__ volatile (\"\"); }
int C::get(int p) const
{
    using m::a;
    using namespace m;
    look();
    {
        extern int a; extern int b;
        p += a + b;
        look();
    }
    look();
    return p + a;
}
int main() { C c; printf(\"%d\\n\", c.get(1)); return 0; }
";

#[test]
fn extern_in_a_block_means_the_variable_around_the_function() {
    let fixture = Fixture::cpp("extern_in_using", EXTERN_IN_USING);
    for build in builds_of(&[Compiler::Gpp], &[Optimization::None]) {
        let rows = &[
            (1, "print a", "=201"),
            (2, "print a", "=101"),
            (2, "print b", "=102"),
            (2, "print a + b == 203", "=true"),
            (3, "print a", "=201"),
        ];
        check_at_looks(&fixture.compile(&build), &build.to_string(), rows);
    }
}

/// A handler whose variable has the name of the function's parameter: clang describes both in the
/// function, and the variable of an inlined copy without a place.
const HANDLER: &str = "
volatile int sink;
__attribute__((noinline)) void look(void) { __asm__ volatile (\"\"); }
static int caught(int b)
{
    int before = b;
    try { if (sink == 0) throw 191; } catch (int b) { look(); sink = b; look(); }
    look();
    return before + sink;
}
int main() { return caught(903) != 1094; }
";

#[test]
fn the_variable_of_a_handler_is_not_the_parameter() {
    let fixture = Fixture::cpp("handler_and_parameter", HANDLER);
    let levels = [Optimization::None, Optimization::Light];
    for build in builds_of(&[Compiler::Gpp, Compiler::Clangpp], &levels) {
        let executable = fixture.compile(&build);
        let commands = ["break look", "run", "up", "print b", "kill"];
        let answers = dialog(&executable, &commands);
        let answer = answers.get(3).map_or("nothing", String::as_str);
        assert!(!answer.contains("903"), "{build}: {answer}");
    }
}
