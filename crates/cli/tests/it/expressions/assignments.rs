//! Assignments: increments, registers that inner frames have saved, and results of calls.

use crate::support::dialog::{check_at_looks, dialog};
use crate::support::printed::plain_builds;
use juror_testing::{Fixture, Language};

const STEPS: &str = "
struct bits { unsigned low : 3; int high : 5; };
int i = 5, a[4] = {1, 2, 3, 4}, *p = &a[1], **pp = &p;
unsigned u = 7; double d = 1.5; float f = 2.5; long double e = 3.5; char c = 'a'; struct bits b = {7, -2};
void look(void) {}
int main(void) { look(); return i + *p + **pp + (int)u + (int)d + c + b.low + b.high == 0; }";

#[test]
fn an_increment_binds_more_tightly_than_what_stands_before_it() {
    let rows = &[
        (1, "print --i", "=4"),
        (1, "print ++i", "=5"),
        (1, "print i++", "=5"),
        (1, "print -i++", "=-6"),
        (1, "print i", "=7"),
        (1, "print - -i", "=7"),
        (1, "print i - -1", "=8"),
        (1, "print *++p", "=3"),
        (1, "print *p", "=3"),
        // All bits of the type, as C converts them.
        (1, "print u = -1", "=4294967295"),
        (1, "print u = ~7", "=4294967288"),
        (1, "print b.low = ~1", "=6"),
        (1, "print b.low = 7", "=7"),
        (1, "print b.low = -5", "does not fit"),
        (1, "print u = 7", "=7"),
        (1, "print *p--", "=3"),
        (1, "print *p++", "=2"),
        (1, "print a[1]", "=2"),
        (1, "print a[2]", "=3"),
        (1, "print (*p)++", "=3"),
        (1, "print ++*p", "=5"),
        (1, "print a[2]", "=5"),
        (1, "print *--*pp", "=2"),
        (1, "print p == &a[1]", "=true"),
        (1, "print u--", "=7"),
        (1, "print d++", "=1.5"),
        (1, "print d", "=2.5"),
        (1, "print c++", "97 'a'"),
        (1, "print b.high--", "=-2"),
        (1, "print b.high", "=-3"),
        (1, "set var *p++", ""),
        (1, "print p == &a[2]", "=true"),
        (1, "set var f = 1e300", "1e300 does not fit into `float`"),
        (1, "print f", "=2.5"),
        (1, "set var f = 1e38", ""),
        (1, "set var e = 1e300", ""),
        (1, "set var e = e * 1e300", ""),
        (1, "set var d = e", "does not fit into `double`"),
        (1, "print d", "=2.5"),
        (1, "set var d = 1e300", ""),
        // The quotient is infinite, and is meant.
        (1, "set var f = 1.0 / 0", ""),
        (1, "print f", "=inf"),
        // Each is one part of a larger expression, and is made once.
        (1, "print 1 + --i", "=7"),
        (1, "print --i == 5", "=true"),
        (1, "print i++ + 1", "=6"),
        (1, "print a[i++ - 5]", "=2"),
        (1, "print i", "=7"),
        (1, "break look if --i == 6", "breakpoint 2"),
        (1, "break look if i == 6 && ++u", "breakpoint 3"),
        (1, "print i", "=7"),
        // A question changes nothing.
        (1, "watch a[i--]", "changes a variable"),
        (1, "print i", "=7"),
    ];
    for build in plain_builds(Language::C) {
        let executable = Fixture::c("steps", STEPS).compile(&build);
        check_at_looks(&executable, &build.to_string(), rows);
    }
}

const SAVED: &str = "
#include <stdio.h>
int __attribute__((noinline)) saving(int x)
{
    register int own asm (\"rbx\") = x;
    asm volatile (\"\" : \"+r\" (own));
    return own + 1;
}
int __attribute__((noinline)) plain(int x) { return saving(x); }
int __attribute__((noinline)) caller(void)
{
    register long kept asm (\"rbx\") = 5;
    asm volatile (\"\" : \"+r\" (kept));
    int r = plain(1);
    asm volatile (\"\" : \"+r\" (kept));
    return kept + r;
}
int main(void) { printf(\"kept %d\\n\", caller()); return 0; }";

#[test]
fn a_register_that_an_inner_frame_has_saved_is_assigned_there() {
    for build in plain_builds(Language::C) {
        let how = build.to_string();
        // clang keeps such a variable on the stack.
        if how.contains("clang") {
            continue;
        }
        let executable = Fixture::c("saved", SAVED).compile(&build);
        // The register still has the value until `saving` saves it.
        for place in ["saving", "*saving", "plain"] {
            let stop = format!("break {place}");
            let frame = "frame function caller";
            let commands = [
                &*stop,
                "run",
                frame,
                "print kept",
                "set var kept = 40",
                "print kept",
                "print $rbx",
                "frame 0",
                "continue",
            ];
            let answers = dialog(&executable, &commands);
            assert_eq!(answers[3], "5", "{how}, {place}");
            assert_eq!(answers[5], "40", "{how}, {place}");
            assert_eq!(answers[6], "40", "{how}, {place}");
            assert!(
                answers[8].contains("kept 42"),
                "{how}, {place}: {answers:?}"
            );
            let commands = [
                &*stop,
                "run",
                frame,
                "set $rbx = 100",
                "set $rip = 0",
                "continue",
            ];
            let answers = dialog(&executable, &commands);
            assert!(answers[4].contains("innermost"), "{how}: {answers:?}");
            assert!(
                answers[5].contains("kept 102"),
                "{how}, {place}: {answers:?}"
            );
        }
    }
}

const RESULTS: &str = "
struct large { int v[20]; };
int calls;
struct large large(int n) { calls++; struct large it = {{n, n + 1, n + 2}}; return it; }
int twice(int n) { calls++; return 2 * n; }
double half(int n) { return n / 2.0; }
const char *word(void) { return \"word\"; }
void nothing(void) { calls += 10; }
int x = 1; double d; struct large l;
void look(void) {}
int main(void) { struct large it = large(1); look(); return it.v[0] + twice(x) + (int)(half(3) + d) + *word() + l.v[0] == 0; }";

#[test]
fn the_result_of_a_call_is_assigned() {
    let rows = &[
        (1, "set $l = large(9)", "="),
        (1, "print $l.v[1]", "=10"),
        (1, "set $t = twice(4) + 1", "="),
        (1, "print $t", "=9"),
        (1, "print large(3).v[2]", "=5"),
        (1, "print $l.v[2]", "=11"),
        (1, "set var x = twice(21)", "42"),
        (1, "print x", "=42"),
        (1, "set var x += twice(1)", "44"),
        (1, "print x", "=44"),
        (1, "print d = half(5)", "=2.5"),
        (1, "print d", "=2.5"),
        (1, "set var l = large(7)", "7"),
        (1, "print l.v[2]", "=9"),
        (1, "set $w = word()", "="),
        (1, "print $w", "\"word\""),
        (1, "set var x = nothing()", "no value"),
        (1, "print x", "=44"),
        (1, "set var calls = 0", ""),
        (1, "set var x = twice(2)", "4"),
        (1, "print calls", "=1"),
    ];
    for build in plain_builds(Language::C) {
        let executable = Fixture::c("results", RESULTS).compile(&build);
        check_at_looks(&executable, &build.to_string(), rows);
        let commands = [
            "break twice",
            "break look",
            "run",
            "set var x = twice(5)",
            "print x",
        ];
        let answers = dialog(&executable, &commands);
        assert!(answers[3].contains("Breakpoint 1"), "{build}: {answers:?}");
        assert_eq!(answers[4], "1", "{build}: {answers:?}");
    }
}

const THROUGH_NULL: &str = "
#include <stdlib.h>
struct node { int v; struct node *next; } *head;
int main(void)
{
    struct node *own = 0;
    head = malloc(sizeof *head);
    head->v = 1;
    head->next = 0;
    head->next = calloc(1, sizeof *head);
    head->next->v = 2;
    own = head;
    own->v = 3;
    head = 0;
    own = 0;
    return 0;
}";

#[test]
fn a_watchpoint_waits_behind_a_null_pointer() {
    for build in plain_builds(Language::C) {
        let executable = Fixture::c("through_null", THROUGH_NULL).compile(&build);
        for (what, values) in [
            ("head->v", &["1", "3", "cannot be read"][..]),
            ("head->next->v", &["0", "2", "cannot be read"]),
            ("own->v", &["1", "3", "cannot be read"]),
        ] {
            let change = format!("change {what}");
            let mut commands = vec!["break main", "run", "next", &change];
            commands.extend(["continue"; 8]);
            let answers = dialog(&executable, &commands);
            assert!(
                answers[3].contains("watchpoint 2"),
                "{what}, {build}: {answers:?}"
            );
            let mut stops = answers[4..].iter();
            for value in values {
                let is_there = stops.any(|it| it.contains(what) && it.contains(value));
                assert!(is_there, "{what} {value}, {build}: {answers:#?}");
            }
            assert!(
                answers.iter().any(|it| it.contains("exited")),
                "{what}, {build}: {answers:?}"
            );
        }
        // An expression that has no value for another reason is refused.
        for wrong in ["head->w", "nobody->v", "*head"] {
            let change = format!("change {wrong} + \"x\"");
            let answers = dialog(&executable, &["break main", "run", &change]);
            assert!(
                !answers[2].contains("watchpoint"),
                "{wrong}, {build}: {answers:?}"
            );
        }
    }
}
