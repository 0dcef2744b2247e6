//! Arguments and results of functions that do not follow the calling convention, or have
//! arguments that are no parameters: what is not certain is not guessed.
//!
//! The oracle is the code of the function: the register that it uses for the parameter.

use crate::calls::show;
use crate::support::compile;
use juror_symbols::Parameter;

const C_SOURCE: &str = r#"
#include <stdio.h>
#define NI __attribute__((noinline))
volatile long sink;
struct item { long value, weight; };
struct two { float x, y; };
struct big { long a[4]; };
static NI long pick(long a, long b, long c, long d) { sink = b; return d + sink; }
static NI long store(struct item *p, long n) { sink = p->value + n; return n; }
static NI long half(struct item s, long n) { sink = s.weight; return n; }
static NI long kept(long n) { sink = n; return 3; }
static NI long unread(struct big b, long n) { sink = n; return n; }
NI float floats(struct two t, long n) { sink = n; return t.y; }
int main(int argc, char **argv) {
    struct item i = { argc, 7 }; struct two t = { argc, 2 }; struct big b = { { argc } };
    for (long n = 0; n < 3; n++) {
        store(&i, n); kept(n);
        sink = pick(1, n, 3, n + argc) + half(i, n) + unread(b, n);
    }
    return floats(t, argc) > 5;
}
"#;

#[test]
fn what_optimizers_change_is_where_the_debug_information_says() {
    let missing = "<optimized out: the function may not use this parameter, and then callers need not pass it>";
    let result = "<not known: no caller uses the result, and the compiler may have removed it from the function>";
    check(
        "clang",
        "-O0",
        C_SOURCE,
        &[
            ("pick", "a", "rdi:8"),
            ("pick", "d", "rcx:8"),
            ("kept", "ret", "rax:8"),
            ("unread", "b", "[cfa+0]:32"),
        ],
    );
    check(
        "clang",
        "-O2",
        C_SOURCE,
        &[
            ("pick", "a", &format!("{missing}:8")),
            ("pick", "b", "rdi:8"),
            ("pick", "d", "rsi:8"),
            ("pick", "ret", "rax:8"),
            ("half", "s", &format!("{missing}:8+rdi:8")),
            ("half", "n", "rsi:8"),
            ("kept", "ret", &format!("{result}:8")),
            ("unread", "b", &format!("{missing}:32")),
            ("floats", "t", &format!("{missing}:8")),
        ],
    );
    let cut = "<not known: the compiler made a copy of this function, which may return nothing>";
    check(
        "gcc",
        "-O2",
        C_SOURCE,
        &[("store", "ret", &format!("{cut}:8"))],
    );
}

const WIDE_LATE: &str = "
int wide_late(int a, int b, int c, int d, int e, __int128 w, int f)
{
    return a + b + c + d + e + (int)w + f;
}
int main(void) { return wide_late(1, 2, 3, 4, 5, 6, 7); }
";

#[test]
fn a_wide_argument_without_two_registers_is_on_the_stack() {
    // clang puts half of it into r9 before its version 18, against the convention.
    let table = [("wide_late", "w", "[cfa+0]:16"), ("wide_late", "f", "r9:4")];
    check("gcc", "-O0", WIDE_LATE, &table);
}

/// What a call to be made passes for each parameter, and where its result is.
#[track_caller]
fn outgoing(compiler: &str, level: &str, source: &str, table: &[(&str, &[&str])]) {
    let Some(program) = compile(compiler, "program.c", source, &[level, "-g"]) else {
        return;
    };
    for (name, expected) in table {
        let function = program.function(name);
        let signature = program.file.signature(&function).unwrap().unwrap();
        let types: Vec<_> = signature.parameters.iter().map(|it| it.1.clone()).collect();
        let call = program
            .file
            .outgoing_call(&function, &types, &signature.result);
        let results = std::iter::once(&call.result.location);
        let found: Vec<String> = call.arguments.iter().chain(results).map(show).collect();
        let places = found.iter().zip(*expected);
        assert_eq!(found.len(), expected.len(), "{name}: {found:?}");
        for (found, expected) in places {
            assert!(found.starts_with(expected), "{name}: {found}, {expected}");
        }
    }
}

#[test]
fn calls_to_be_made_pass_what_the_function_expects() {
    let plain: &[(&str, &[&str])] = &[
        ("pick", &["rdi:8", "rsi:8", "rdx:8", "rcx:8", "rax:8"]),
        ("half", &["rdi:8+rsi:8", "rdx:8", "rax:8"]),
        ("kept", &["rdi:8", "rax:8"]),
    ];
    outgoing("gcc", "-O0", C_SOURCE, plain);
    outgoing("clang", "-O0", C_SOURCE, plain);
    let changed = "<optimized out: ";
    outgoing(
        "clang",
        "-O2",
        C_SOURCE,
        &[
            ("pick", &[changed, "rdi:8", changed, "rsi:8", "rax:8"]),
            // It returns an argument, which its caller has.
            (
                "half",
                &[changed, changed, "<not known: no caller uses the result"],
            ),
            ("kept", &["rdi:8", "<not known: no caller uses the result"]),
            ("floats", &["xmm0:8", "rdi:8", "xmm0:4"]),
        ],
    );
}

const CPP_SOURCE: &str = r#"
#include <cstddef>
#define NI __attribute__((noinline))
struct Base { long z = 5; virtual ~Base() {} };
struct Stream : virtual Base { long n; NI explicit Stream(long n) : n(n) {} };
struct File : Stream { NI explicit File(long n) : Stream(n + 1) {} };
struct Copied { long a[3]; Copied() {} Copied(const Copied &o) : a{o.a[0]} {} };
NI long reset(std::nullptr_t, long n) { return n; }
NI long ignores(Copied, long n) { return n; }
int main(int argc, char **) { File f(argc); Stream s(argc); Copied c; return f.n + s.n + reset(nullptr, argc) + ignores(c, argc); }
"#;

#[test]
fn hidden_arguments_of_cpp_are_counted() {
    for compiler in ["g++", "clang++"] {
        check(
            compiler,
            "-O0",
            CPP_SOURCE,
            &[
                ("_ZN6StreamC1El", "n", "rsi:8"),
                ("_ZN6StreamC2El", "n", "rdx:8"),
                ("_Z5resetDnl", "n", "rsi:8"),
                ("_Z7ignores6Copiedl", "n", "rsi:8"),
            ],
        );
    }
}

const RUST_SOURCE: &str = "
#[inline(never)] fn call(f: &mut dyn FnMut(u64, bool) -> u64, a: u64) -> u64 { f(a, true) }
#[inline(never)] pub fn st(s: &str, n: u64) -> u64 { s.len() as u64 + n }
fn main() {
    let (scale, mut sum) = (std::hint::black_box(10u64), 0u64);
    let mut add = |n: u64, b: bool| { sum += n * scale + b as u64; sum };
    std::process::exit((call(&mut add, 1) + st(std::hint::black_box(\"abc\"), scale)) as i32);
}
";

#[test]
fn the_environment_of_a_closure_is_an_argument() {
    check(
        "rustc",
        "-Copt-level=0",
        RUST_SOURCE,
        &[
            ("program::main::{closure#0}", "n", "rsi:8"),
            ("program::main::{closure#0}", "b", "rdx:1"),
            ("program::st", "n", "rdx:8"),
        ],
    );
    let level = "-Copt-level=3";
    check(
        "rustc",
        level,
        RUST_SOURCE,
        &[("program::st", "n", "rsi:8")],
    );
}

/// Checks parameters of functions, and their results as `ret`.
#[track_caller]
fn check(compiler: &str, level: &str, source: &str, table: &[(&str, &str, &str)]) {
    let file = match compiler {
        "rustc" => "program.rs",
        "g++" | "clang++" => "program.cc",
        _ => "program.c",
    };
    let Some(program) = compile(compiler, file, source, &[level, "-g"]) else {
        return;
    };
    for (function, name, expected) in table {
        let found = program.function(function);
        let location = match *name {
            "ret" => program.file.return_value_plan(&found).unwrap().location,
            name => {
                let plan = program.file.entry_value_plan(&found, Parameter::Name(name));
                plan.unwrap().location
            }
        };
        let how = &program.how;
        assert_eq!(show(&location), *expected, "{function} {name} in {how}");
    }
}
