//! The names of inlined calls and lambdas, of which the compilers describe less than of others: a
//! name never means what it hides.

use crate::support::dialog::dialog;
use juror_testing::{Build, Compiler, Fixture, Optimization};

/// The reasons why the value of a name is not known.
const REFUSALS: &[&str] = &[
    "optimized out",
    "does not say which block",
    "is not known in this frame",
    "there is no type",
];

/// Rows of the stop, the expression, and its value.
type Rows<'a> = &'a [(usize, &'a str, &'a str)];

/// Checks that each expression has its value where `look` is called, or is refused.
#[track_caller]
fn check(
    name: &str,
    source: &str,
    compilers: &[Compiler],
    levels: &[Optimization],
    rows: Rows<'_>,
) {
    let fixture = Fixture::cpp(name, source);
    for compiler in compilers.iter().filter(|it| it.is_present()) {
        for optimization in levels {
            let build = Build {
                compiler: *compiler,
                optimization: *optimization,
                pie: true,
                debug: true,
            };
            let executable = fixture.compile(&build);
            let mut commands = vec!["break look".to_owned()];
            let mut asked = Vec::new();
            let last = rows.iter().map(|row| row.0).max().unwrap_or(0);
            for stop in 1..=last {
                commands.push(if stop == 1 { "run" } else { "continue" }.into());
                commands.push("up".into());
                for row in rows.iter().filter(|row| row.0 == stop) {
                    asked.push((commands.len(), row));
                    commands.push(format!("print {}", row.1));
                }
            }
            let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
            let answers = dialog(&executable, &commands);
            for (at, (stop, expression, expected)) in asked {
                let answer = answers.get(at).map_or("nothing", String::as_str);
                // A reference is shown with its address.
                let value = answer.rsplit_once(": ").map_or(answer, |(_, value)| value);
                let is_refused = REFUSALS.iter().any(|it| answer.contains(it));
                assert!(
                    value == *expected || is_refused,
                    "{build}, stop {stop}: {expression}: {answer}; expected {expected}"
                );
            }
        }
    }
}

const INLINED: &str = "
volatile int zero; volatile long sink;
__attribute__((noinline)) void look() { asm volatile (\"\" ::: \"memory\"); }
int a = 101, b = 102, c = 103, d = 104;
static inline __attribute__((always_inline)) int f(int p)
{
    { int a = 5 + zero; { const int b = 7; look(); asm volatile (\"\"); } sink += a; }
    { static int c = 9; look(); asm volatile (\"\"); sink += c++; }
    { int a = 11 + zero; look(); asm volatile (\"\"); sink += a; }
    [&](int c) { long b = 44; look(); asm volatile (\"\"); sink += b; }(6);
    int d = 12 + zero;
    look();
    asm volatile (\"\");
    sink += d;
    return p;
}
int main() { int r = f(3) == 9; look(); asm volatile (\"\"); return r; }
";

#[test]
fn names_of_inlined_calls_hide_those_outside() {
    let rows = &[
        (1, "a", "5"),
        (1, "b", "7"),
        (1, "c", "103"),
        (1, "p", "3"),
        (2, "c", "9"),
        (3, "a", "11"),
        (4, "b", "44"),
        (4, "c", "6"),
        (5, "d", "12"),
        (6, "a", "101"),
        (6, "c", "103"),
        (6, "d", "104"),
    ];
    let compilers = &[Compiler::Gpp, Compiler::Clangpp];
    let levels = &[Optimization::None, Optimization::Light, Optimization::Full];
    check("inlined_names", INLINED, compilers, levels, rows);
}

const LAMBDAS: &str = "
struct S { char c[3]; } of_s; struct T { char c[7]; } of_t;
int d = 8, e = 9, g = 10, k = 60; volatile long sink;
__attribute__((noinline)) void look() { asm volatile (\"\" ::: \"memory\"); }
struct Base { static int k; struct T { char c[5]; } t; }; int Base::k = 6;
struct C : Base { int m(int p); };
int C::m(int p)
{
    int d = 20;
    const int g = 21;
    look();
    for (int i = 0; i < 1; i++) { static int d = 30; sink += d; }
    auto first = [&](int x) { look(); sink += sizeof(T) + k + g + d; return x; };
    first(1);
    try { throw 4; }
    catch (int e) {
        look();
        sink += e;
    }
    look();
    { struct S { char c[11]; }; S s; s.c[0] = 1; sink += s.c[0];
      auto second = [](int x) { look(); sink += sizeof(S); return x; };
      second(2);
    }
    look();
    return p;
}
int main() { C c; return c.m(1) == 9; }
";

#[test]
fn names_of_lambdas_and_handlers_are_those_of_their_place() {
    let rows = &[
        (1, "d", "20"),
        (1, "e", "9"),
        (2, "sizeof(T)", "5"),
        (2, "k", "6"),
        (2, "::k", "60"),
        (2, "g", "21"),
        (2, "d", "20"),
        (3, "e", "4"),
        (4, "e", "9"),
        (4, "d", "20"),
        (5, "sizeof(struct S)", "11"),
        (6, "sizeof(T)", "5"),
    ];
    let compilers = &[Compiler::Gpp, Compiler::Clangpp];
    let levels = &[Optimization::None, Optimization::Light];
    check("lambda_names", LAMBDAS, compilers, levels, rows);
}
