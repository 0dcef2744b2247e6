//! Assignments inside of expressions: what `print` says and changes is what the compiled
//! expression gives and changes, and what gdb says, if it is installed.

mod oracle;
mod random;

use crate::support::dialog::{check_at_looks, dialog};
use crate::support::printed::plain_builds;
use juror_testing::{Fixture, Language};
use oracle::{check, check_gdb, compare_with_gdb};

/// Expressions of C whose value and effects are defined, over the variables of the oracle.
const FORMS: &[&str] = &[
    // Plain ones.
    "x = 5",
    "(x = 5)",
    "(x = 5) + 1",
    "x = n = 7",
    "x = y ? 4 : 5",
    "x = n == 3",
    "x = 3, n",
    "(x = 3, n = 4, y)",
    "n > 0 ? x = 4 : 3",
    "n < 0 ? (x = 4) : (y = 3)",
    "n < 0 && (x = 9)",
    "n > 0 && (x = 9)",
    "n > 0 || (x = 9)",
    "!(x = 0)",
    "-(x = 4) * 2",
    "x = -1",
    "d = 5",
    "f = x",
    "b = x == 2",
    "l = x = 6",
    "o.a = o.b = 9",
    "q->a = 8",
    "table[x] = 5",
    "table[x = 3] = 5",
    "*p = 9",
    "*(p + 2) = 9",
    "p = &table[3]",
    "p = table + 2",
    "*(p = table + 2) = 1",
    "name[1] = 'x'",
    // Compound ones.
    "x += 3",
    "x -= 3",
    "x *= 3",
    "n /= 2",
    "n %= 2",
    "x <<= 2",
    "n >>= 1",
    "n &= 6",
    "n |= 12",
    "n ^= 5",
    "uc += 250",
    "uc -= 10",
    "uc *= 100",
    "uc <<= 6",
    "c += 100",
    "c *= 3",
    "s += 32767",
    "us -= 10",
    "u -= 10",
    "u *= 4000000000u",
    "ul -= 100",
    "u += -1",
    "x += 1.5",
    "x *= 2.5",
    "uc += 1.75",
    "f += 0.25",
    "f *= x",
    "d -= x",
    "d /= 4",
    "b += 2",
    "b ^= 1",
    "b |= 4",
    "p += 2",
    "p -= -1",
    "bits.low += 3",
    "bits.low -= 1",
    "bits.high -= 30",
    "bits.high *= 3",
    "x += n += y",
    "x = n += 2",
    "table[1] += table[2]",
    "o.b <<= 3",
    "l += u",
    // Steps.
    "x++",
    "++x",
    "x--",
    "--x",
    "++x * 2",
    "x++ + n",
    "n + x++",
    "-x++",
    "- --x",
    "x+++n",
    "x++, x++, x",
    "*p++",
    "*p++ = 7",
    "*++p",
    "(*p)++",
    "++*p",
    "*p--",
    "*p++ += 5",
    "table[x++]",
    "table[x++] = y",
    "uc--",
    "c++",
    "b++",
    "b--",
    "f++",
    "d--",
    "bits.low++",
    "bits.high--",
    "q->a++",
    "o.b--",
    "ul--",
    "!x--",
    "x-- > 0 ? x : -1",
    "sizeof(x++)",
    "sizeof(uc = 3)",
    "(char)(x = 65)",
    "e = BLUE",
    "e++",
    // Calls, each once.
    "table[next()] = 5",
    "table[next()] += 5",
    "table[next()]++",
    "x = next() + 1",
    "(x = twice(4)) + 1",
    "x = twice(y = 3)",
    "next(), next(), calls",
    "x += twice(n)",
    // The order of two calls in one assignment is open in C: see `IN_ORDER`.
    "*(p + next()) = 4",
    "*(p + 1) = twice(2)",
    "next() ? x = 1 : (x = 2)",
    "n > 0 && next()",
];

#[test]
fn an_assignment_in_an_expression_does_what_the_compiler_does() {
    assert!(FORMS.len() >= 60);
    let forms: Vec<String> = FORMS.iter().map(|it| (*it).to_owned()).collect();
    for build in plain_builds(Language::C) {
        check(&forms, &build);
    }
}

#[test]
fn gdb_assigns_the_same() {
    // gdb refuses `++` of truth values, and cannot call functions on every machine.
    let is_shared = |it: &&&str| !it.contains("next()") && !it.contains("twice(");
    let shared = FORMS.iter().filter(is_shared);
    let shared = shared.filter(|it| !matches!(**it, "b++" | "b--"));
    let forms: Vec<String> = shared.map(|it| (*it).to_owned()).collect();
    assert!(forms.len() >= 60);
    check_gdb(&forms);
}

/// Expressions whose values depend on an order that C leaves open: gdb finds the place before it
/// evaluates the value, and reads the place afterwards.
const IN_ORDER: &[&str] = &[
    "table[x] = (x = 3)",
    "table[x] += (x = 3)",
    "table[x] += x++",
    "table[x++] = x",
    "table[x++] -= x--",
    "*p++ = *p",
    "*(p + x) = (x = 5) + x",
    "*p = (p = table + 3, 4)",
    "(x = 1, q)->a = x",
    "x += (x = 10)",
    "x -= x++",
    "table[x] = table[x = 1] = x + 5",
];

#[test]
fn the_place_is_found_before_the_value_as_in_gdb() {
    let forms: Vec<String> = IN_ORDER.iter().map(|it| (*it).to_owned()).collect();
    compare_with_gdb(&forms);
}

const CALLS: &str = "
int order[9], made, data[8], *p = data;
int next(void) { order[made++] = 1; return 1; }
int twice(int n) { order[made++] = 2; return 2 * n; }
int *where(void) { order[made++] = 3; return data; }
void look(void) {}
int main(void) { look(); return *p + data[next()] + twice(1) + *where() < 0; }";

#[test]
fn the_calls_of_a_place_precede_those_of_the_value() {
    let order = "print order[0] * 1000 + order[1] * 100 + order[2] * 10 + made";
    let rows = &[
        (1, "print *(p + next()) = twice(2)", "=4"),
        (1, order, "=1202"),
        (1, "print data[1]", "=4"),
        (1, "print made = 0", "=0"),
        (1, "print where()[next()] += twice(3)", "=10"),
        (1, order, "=3123"),
        (1, "print data[1]", "=10"),
        (1, "print made = 0", "=0"),
        (1, "print *where() = *(p + next()) = twice(1)", "=2"),
        (1, order, "=3123"),
        (1, "print data[0] * 10 + data[1]", "=22"),
        // A place that a call leads to is the one that it led to.
        (1, "print data[made] = twice(next())", "=2"),
        (1, "print data[3]", "=2"),
        (1, "print made", "=5"),
    ];
    for language in [Language::C, Language::Cpp] {
        for build in plain_builds(language) {
            let fixture = match language {
                Language::Cpp => Fixture::cpp("ordered", CALLS),
                _ => Fixture::c("ordered", CALLS),
            };
            check_at_looks(&fixture.compile(&build), &build.to_string(), rows);
        }
    }
}

const REFUSED: &str = "
int x = 2, a[4] = {1, 2, 3, 4}; unsigned char c = 250; double d = 1.5;
const int limit = 5;
void nothing(void) {}
void look(void) {}
int main(void) { look(); nothing(); return x + a[0] + c + (int)d + limit == 0; }";

#[test]
fn what_cannot_be_assigned_changes_nothing() {
    let rows = &[
        (1, "print 5 = x", "cannot be assigned to"),
        (1, "print x + 1 = 5", "cannot be assigned to"),
        (1, "print x++ = 5", "cannot be assigned to"),
        (1, "print &x = 5", "cannot be assigned to"),
        (1, "print x ? x : x = 5", "needs parentheses"),
        (1, "print x =", "expected a value"),
        (1, "print x = nobody", "nobody"),
        (1, "print nobody = 5", "nobody"),
        (1, "print x = nothing()", "no value"),
        (1, "print c = 300", "does not fit"),
        (1, "print x = 1.5", "not a whole number"),
        (1, "print x = 2147483648", "does not fit"),
        (1, "print x += 2147483647", "does not fit"),
        (1, "print x /= 0", "division by zero"),
        (1, "print x <<= 40", "does not fit"),
        (1, "print d <<= 1", "whole numbers"),
        (1, "print a = 5", "takes a value of its own type"),
        (1, "print a++", "takes a value of its own type"),
        (1, "print look = 5", "assigned"),
        (1, "print $nobody++", "nobody"),
        (1, "print x", "=2"),
        (1, "print c", "=250 '\\372'"),
        (1, "display x++", "a display cannot change variables"),
        (1, "watch x++", "changes a variable"),
        (1, "set var x", "a variable and a value are missing"),
        (1, "set var", "a variable and a value are missing"),
        (1, "print x", "=2"),
        // What is before the wrong part is done, once.
        (1, "print x = 7, nobody", "nobody"),
        (1, "print x", "=7"),
        // Types are known without an effect.
        (1, "whatis x++", "=int"),
        (1, "whatis c = 3", "=unsigned char"),
        (1, "print x", "=7"),
    ];
    for build in plain_builds(Language::C) {
        let executable = Fixture::c("refused", REFUSED).compile(&build);
        check_at_looks(&executable, &build.to_string(), rows);
    }
}

#[test]
fn commands_assign_wherever_they_evaluate() {
    let rows = &[
        (1, "set var x = 3, a[1] = 9", "=a[1] = 9"),
        (1, "print a[1]", "=9"),
        (1, "set x <<= 2", "=x = 12"),
        (1, "set var x++", "=x = 13"),
        (1, "call x = 4", "=4"),
        (1, "output x++", "4"),
        (1, "print x", "=5"),
        (1, "printf \"%d %d\\n\", x++, a[0] = 6", "=5 6"),
        (1, "print x", "=6"),
        (1, "set $i = 1", "="),
        (1, "print $i++", "=1"),
        (1, "print ++$i", "=3"),
        (1, "print $i += 4", "=7"),
        (1, "print x = $i--", "=7"),
        (1, "print $i", "=6"),
        (1, "print $j = $k = 2", "=2"),
        (1, "print $j + $k", "=4"),
        (1, "frame 0", ""),
        (1, "print (x = 5, $rax = 77) + 1", "=78"),
        (1, "print $rax = 77", "=77"),
        (1, "print $rax++", "=77"),
        (1, "print $rax", "=78"),
        (1, "print $eax <<= 1", "=156"),
        (1, "x/1dw &(x = 21)", "21"),
    ];
    for build in plain_builds(Language::C) {
        let executable = Fixture::c("refused", REFUSED).compile(&build);
        check_at_looks(&executable, &build.to_string(), rows);
    }
}

#[test]
fn convenience_variables_need_no_program() {
    let executable = Fixture::c("refused", REFUSED).compile(&plain_builds(Language::C)[0]);
    let commands = ["set $i = 1", "print $i++ + 1", "print $i", "print x = 1"];
    let answers = dialog(&executable, &commands);
    assert_eq!(answers[..3], ["", "2", "2"], "{answers:?}");
    assert!(answers[3].contains("not running"), "{answers:?}");
}

const LOOP: &str = "
int seen, total;
void look(int i) { total += i; }
int main(void) { for (int i = 0; i < 10; i++) look(i); return 0; }";

#[test]
fn a_condition_of_a_breakpoint_assigns_once_for_each_hit() {
    for build in plain_builds(Language::C) {
        let how = build.to_string();
        let executable = Fixture::c("loop", LOOP).compile(&build);
        let commands = [
            "set $hits = 0",
            "break look if $hits++ == 4",
            "run",
            "print $hits",
            "print total",
            "condition 1 ++seen > 2 && i == 9",
            "continue",
            "print seen",
            "print i",
            "hbreak look if seen++",
            "watch total if seen++",
        ];
        let answers = dialog(&executable, &commands);
        assert!(answers[2].contains("Breakpoint 1"), "{how}: {answers:?}");
        assert_eq!(answers[3], "5", "{how}: {answers:?}");
        assert_eq!(answers[4], "6", "{how}: {answers:?}");
        assert_eq!(answers[7], "5", "{how}: {answers:?}");
        assert_eq!(answers[8], "9", "{how}: {answers:?}");
        for refused in &answers[9..11] {
            assert!(refused.contains("nor assign"), "{how}: {answers:?}");
        }
    }
}

const RUST: &str = "
static mut TOTAL: u8 = 250;
#[inline(never)]
fn look(x: &mut i32, p: &mut (u8, i64)) { *x += p.0 as i32; }
fn main() {
    let mut x = 5_i32;
    let mut p = (250_u8, 7_i64);
    look(&mut x, &mut p);
    unsafe { TOTAL += 1; std::process::exit(x - 255 + (TOTAL as i32 - 251) + p.1 as i32 - 7); }
}";

#[test]
fn rust_assigns_in_its_own_types() {
    let rows = &[
        (1, "print x = 6", "=6"),
        (1, "print x += 4", "=10"),
        (1, "print (x -= 1) * 2", "=18"),
        (1, "print p.0 += 5", "=255"),
        // Rust's whole numbers do not wrap.
        (1, "print p.0 += 1", "does not fit"),
        (1, "print p.1 = x = 3", "=3"),
        (1, "print p.1 <<= 2", "=12"),
        (1, "print x", "=3"),
    ];
    for build in plain_builds(Language::Rust) {
        let executable = Fixture::rust("assigning", RUST).compile(&build);
        check_at_looks(&executable, &build.to_string(), rows);
    }
}
