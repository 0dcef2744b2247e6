//! Inline namespaces may be left out of names, as in C++.

use crate::support::dialog::{check_at_looks, dialog};
use crate::support::printed::plain_builds;
use crate::support::{Batch, property_of};
use juror_testing::{Fixture, Language};
use std::path::PathBuf;

const SOURCE: &str = "
namespace lib {
inline namespace v2 {
struct T { int a = 4; static int made; struct In { int k; } in{3}; int go(int x) { return x + a; } };
int T::made = 6;
enum Color { Red, Green };
enum class Size { Big = 3 };
typedef long Number;
template <class X> struct Box { X held; X get() { return held; } };
int total = 1;
int plain(int x) { static int calls; return x + ++calls; }
inline namespace deep { int deeper = 5; struct D { int d = 8; int m(int z) { return z; } }; int low(int q) { return q; } }
__attribute__((always_inline)) inline int small(int s) { return s * 2; }
}
namespace v1 { int old = 7; int total = 9; struct T { int b = 2; int go(int x) { return x + b; } }; }
int over(int x) { return x; }
inline namespace v2 { int over(long x) { return (int)x + 1; } }
}
namespace two { inline namespace a { int one = 1; struct A { int x = 1; }; } inline namespace b { int other = 2; } namespace c { int inner = 3; int call(int x) { return x; } } }
namespace twice { inline namespace a { int same = 1; int f(int x) { return x; } struct S { int x = 1; }; } inline namespace b { int same = 2; int f(long x) { return (int)x; } struct S { int y = 2; }; } }
namespace outer { namespace lib { int total = 70; int plain(int x) { return x; } } }
void look() {}
int main()
{
    lib::T t; lib::v1::T t1; lib::Box<int> box{7}; lib::D d; two::A a; twice::a::S s; twice::b::S s2;
    lib::Color c = lib::Green; lib::Size size = lib::Size::Big; lib::Number number = 3;
    look();
    lib::total = 2;
    int sum = t.go(1) + t1.go(1) + box.get() + d.m(1) + lib::plain(1) + lib::low(1) + lib::small(number)
        + lib::over(1) + lib::over(1L) + two::one + two::other + two::c::inner + two::c::call(1)
        + twice::a::f(1) + twice::b::f(1) + twice::a::same + twice::b::same + lib::deeper + lib::v1::old
        + outer::lib::total + outer::lib::plain(1) + (int)c + (int)size + a.x + s.x + s2.y + lib::v1::total;
    return sum > 0 ? 0 : 1;
}";

/// Each compiler, with the versions of debug information that describe inline namespaces in
/// different ways.
fn programs() -> impl Iterator<Item = (String, PathBuf)> {
    let builds = plain_builds(Language::Cpp).into_iter();
    builds.flat_map(|build| {
        ["-gdwarf-4", "-gdwarf-5"].map(|version| {
            let fixture = Fixture::cpp("inline_namespaces", SOURCE).argument(version);
            (format!("{build}, {version}"), fixture.compile(&build))
        })
    })
}

#[test]
fn expressions_and_types_leave_inline_namespaces_out() {
    let rows = &[
        (1, "print lib::total", "=1"),
        (1, "print lib::v2::total", "=1"),
        (1, "print lib::v1::total", "=9"),
        (1, "print outer::lib::total", "=70"),
        (1, "print lib::deeper", "=5"),
        (1, "print lib::v2::deeper", "=5"),
        (1, "print lib::deep::deeper", "=5"),
        (1, "print lib::T::made", "=6"),
        (1, "print ((lib::T *)&t)->a", "=4"),
        (1, "print sizeof(lib::T)", "=8"),
        (1, "print sizeof(lib::T::In)", "=4"),
        (1, "print (lib::Color)1", "=Green"),
        (1, "print lib::Green", "=Green"),
        (1, "print lib::Size::Big", "=Big"),
        (1, "print (lib::Number)3", "=3"),
        (1, "print lib::low(4)", "=4"),
        (1, "print lib::plain::calls", "=0"),
        (1, "ptype lib::T", "int go(int)"),
        (1, "whatis lib::Number", "long"),
        (1, "print two::one + two::other", "=3"),
        (
            1,
            "print two::inner",
            "there is no `two::inner` here; did you mean `two::c::inner`?",
        ),
        (1, "print twice::same", "ambiguous"),
        (1, "print sizeof(twice::S)", "there is no"),
    ];
    for (how, executable) in programs() {
        check_at_looks(&executable, &how, rows);
    }
}

#[test]
fn names_are_known_before_the_program_runs() {
    let rows = [
        ("print lib::total", "1"),
        ("print lib::deeper", "5"),
        ("print outer::lib::total", "70"),
        ("ptype lib::T", "int go(int)"),
        ("ptype lib::Box<int>", "held"),
        ("whatis lib::T", "lib::v2::T"),
        ("print sizeof(lib::D)", "4"),
        ("print twice::same", "ambiguous"),
        ("list lib::plain", "int plain(int x)"),
        ("info line lib::low", "low"),
    ];
    for (how, executable) in programs() {
        let commands = rows.map(|(command, _)| command);
        let answers = dialog(&executable, &commands);
        for ((command, expected), answer) in rows.iter().zip(&answers) {
            assert!(answer.contains(expected), "{how}: {command}: {answer}");
        }
    }
}

#[test]
fn breakpoints_leave_inline_namespaces_out() {
    for (how, executable) in programs() {
        for (written, places) in [
            ("lib::T::go", 1),
            // Also one whose name ends so.
            ("lib::plain", 2),
            ("lib::low", 1),
            ("lib::v2::low", 1),
            ("lib::D::m", 1),
            ("lib::Box<int>::get", 1),
            ("lib::Box::get", 1),
            ("lib::small", 1),
            ("lib::over", 2),
            ("lib::over(long)", 1),
            ("twice::f", 2),
            ("v1::T::go", 1),
            ("outer::lib::plain", 1),
        ] {
            let set = format!("break {written}");
            let commands = [&*set, "ignore 1 1000", "run", "info breakpoints"];
            let answers = dialog(&executable, &commands);
            let stops = answers[3].lines().nth(1).unwrap_or_default();
            assert!(
                stops.ends_with(&format!(" {places}")),
                "{how}: {set}: {answers:?}"
            );
            let commands = [&*set, "run", "frame function lib::T::go", "kill"];
            let answers = dialog(&executable, &commands);
            assert!(
                answers[1].contains("Breakpoint 1 in "),
                "{how}: {set}: {answers:?}"
            );
        }
        let answers = dialog(&executable, &["break two::call", "break lib::goo"]);
        assert!(
            answers[0].contains("there is two::c::call(int)"),
            "{how}: {answers:?}"
        );
    }
}

#[test]
fn events_leave_inline_namespaces_out() {
    for (how, executable) in programs() {
        for (event, count) in [
            ("before lib::T::go(x)", 1),
            ("after lib::D::m()", 1),
            ("before lib::plain(x)", 1),
            ("before lib::low(q)", 1),
            ("before lib::v1::T::go(x)", 1),
            ("before lib::over(x)", 2),
            ("before \"lib::Box<int>::get\"()", 1),
            ("write lib::total", 1),
            ("write lib::v2::total", 1),
            ("write lib::plain::calls", 1),
        ] {
            let property = property_of(&format!("event seen = {event}"));
            let report = Batch::watching(&property).run(&executable, &[]);
            assert_eq!(
                report.occurrences("seen"),
                count,
                "{how}: {event}: {}",
                report.all()
            );
        }
        for (event, help) in [
            ("write two::inner", "did you mean `two::c::inner`?"),
            ("write lib::totl", "did you mean `lib::v"),
            ("before two::call(x)", "did you mean `two::c::call`?"),
            ("write twice::same", "ambiguous"),
        ] {
            let property = property_of(&format!("event seen = {event}"));
            let report = Batch::watching(&property).run(&executable, &[]);
            assert_eq!(report.output.code(), Some(2), "{how}: {event}");
            assert!(
                report.all().contains(help),
                "{how}: {event}: {}",
                report.all()
            );
        }
    }
}
