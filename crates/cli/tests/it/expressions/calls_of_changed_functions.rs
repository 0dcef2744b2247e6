//! Calls of functions whose arguments an optimizer has removed, replaced or moved: the result is
//! that of the source, or the call is refused with the reason.

use crate::support::dialog::check_at_looks;
use juror_testing::{Build, Compiler, Fixture, Language};

const C: &str = r#"
#include <stdio.h>
#define NI __attribute__((noinline))
struct item { long value, weight; };
volatile long sink;
struct item item = {5, 7};
NI void look(void) { __asm__ volatile(""); }
static NI long pick(long a, long b, long c, long d) { sink = b; return d + sink; }
static NI long value_of(struct item *p, long n) { sink = n; return p->value + n; }
static NI long kept(long n) { sink = n; return 3; }
static NI long taken(long unused, long n) { sink = n; return n * 2; }
static NI long scaled(long n, long by) { sink = n; return n * by + sink; }
NI long exported(long unused, long n) { sink = n; return n; }
NI long wide_late(int a, int b, int c, int d, int e, __int128 w, int f)
{
    return a + b + c + d + e + (long)w + f;
}
long (*volatile table)(long, long) = taken;
int main(int argc, char **argv)
{
    look();
    kept(argc);
    printf("%ld %ld\n", pick(1, argc, 3, argc + 1), value_of(&item, argc));
    printf("%ld %ld\n", table(argc, 3), scaled(argc, 3) + scaled(argc + 1, 3));
    printf("%ld %ld\n", exported(argc, 4), wide_late(1, 2, 3, 4, 5, argc, 7));
    return 0;
}
"#;

const UNCHANGED: &[(usize, &str, &str)] = &[
    (1, "print pick(1, 2, 3, 4)", "=6"),
    (1, "print value_of(&item, 5)", "=10"),
    (1, "print kept(3)", "=3"),
    (1, "print taken(1, 2)", "=4"),
    (1, "print scaled(2, 4)", "=10"),
    (1, "print exported(1, 5)", "=5"),
    (1, "print wide_late(1, 2, 3, 4, 5, 6, 7)", "=28"),
];

const BY_CLANG: &[(usize, &str, &str)] = &[
    (
        1,
        "print pick(1, 2, 3, 4)",
        "argument 1 of `pick`: optimized out",
    ),
    (
        1,
        "print value_of(&item, 5)",
        "argument 1 of `value_of`: optimized out",
    ),
    (1, "print kept(3)", "no caller uses the result"),
    (1, "print sink", "=3"),
    (1, "print taken(1, 2)", "=4"),
    (1, "print scaled(2, 3)", "=8"),
    (
        1,
        "print scaled(2, 4)",
        "the compiler has made this function for 3 alone",
    ),
    (1, "print exported(1, 5)", "=5"),
];

#[test]
fn what_the_optimizer_changed_is_not_called_by_the_convention() {
    for build in Build::light_of(Language::C) {
        let of = |level: &str| {
            let fixture = Fixture::c("changed-calls", C).argument(level);
            fixture.compile(&build)
        };
        check_at_looks(&of("-O0"), &format!("{build} -O0"), UNCHANGED);
        if build.compiler == Compiler::Clang {
            for level in ["-O1", "-O2", "-O3"] {
                check_at_looks(&of(level), &format!("{build} {level}"), BY_CLANG);
            }
        }
    }
}

const RUST: &str = "
use std::hint::black_box;
#[inline(never)] fn look() { black_box(0); }
#[inline(never)] fn third(_a: u64, _b: u64, c: u64) -> u64 { black_box(c) * 3 }
#[inline(never)] fn plain(a: u64, b: u64) -> u64 { black_box(a) * 10 + black_box(b) }
#[inline(never)] fn by(f: &dyn Fn(u64) -> u64, n: u64) -> u64 { f(n) }
fn main() {
    let n = std::env::args().count() as u64;
    look();
    let scale = black_box(n + 4);
    let f = |x: u64| x * scale;
    println!(\"{} {} {}\", third(1, n, n + 2), plain(n, n + 1), by(&f, n));
}
";

#[test]
fn what_rustc_changed_is_not_called_by_the_convention() {
    for build in Build::all_of(Language::Rust) {
        if !build.pie {
            continue;
        }
        let executable = Fixture::rust("changed_calls", RUST).compile(&build);
        let is_plain = build.optimization == juror_testing::Optimization::None;
        let third = if is_plain { "=9" } else { "optimized out" };
        let rows = &[
            (1, "print third(1, 2, 3)", third),
            (1, "print plain(1, 2)", "=12"),
        ];
        check_at_looks(&executable, &build.to_string(), rows);
    }
}
