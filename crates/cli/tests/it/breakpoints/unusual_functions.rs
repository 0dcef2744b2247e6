//! Breakpoints on functions whose names say more than a name, or whose bodies lie elsewhere:
//! qualifiers of members, labels of assembly, coroutines.

use crate::support::dialog::dialog;
use crate::support::printed::plain_builds;
use juror_testing::{Fixture, Language};

const QUALIFIED: &str = "
struct X {
    int v;
    int get() { return 1; }
    int get() const { return 2; }
    int get() volatile { return 3; }
    int where() & { return 4; }
    int where() && { return 5; }
    int where() const & { return 6; }
    int only(int) const { return 7; }
};
int main()
{
    X x{3}; const X &cx = x; volatile X &vx = x;
    return x.get() + cx.get() + vx.get() + x.where() + X{1}.where() + cx.where() + x.only(1) == 28 ? 0 : 1;
}";

#[test]
fn the_qualifiers_of_a_member_choose_an_overload() {
    for build in plain_builds(Language::Cpp) {
        let executable = Fixture::cpp("qualified", QUALIFIED).compile(&build);
        for (name, value) in [
            ("X::get()", Some("1")),
            ("X::get() const", Some("2")),
            ("X::get() volatile", Some("3")),
            ("X::where() &", Some("4")),
            ("X::where() &&", Some("5")),
            ("X::where() const &", Some("6")),
            ("X::only(int)", Some("7")),
            ("X::only(int) const", Some("7")),
            ("X::only(int) volatile", None),
            ("X::only(char) const", None),
        ] {
            let stop = format!("break {name}");
            let answers = dialog(&executable, &[&stop, "run", "finish", "continue"]);
            let Some(value) = value else {
                assert!(
                    answers[1].contains("exited"),
                    "{name}, {build}: {answers:?}"
                );
                continue;
            };
            assert!(
                !answers[0].contains("places"),
                "{name}, {build}: {answers:?}"
            );
            let returned = format!("returned (int) {value}");
            assert!(
                answers[2].contains(&returned),
                "{name}, {build}: {answers:?}"
            );
            assert!(
                answers[3].contains("exited"),
                "{name}, {build}: {answers:?}"
            );
        }
    }
}

const LABELS: &str = "
int counter;
void count(void) { counter++; __asm__ volatile (\"here: nop\\n there: nop\"); counter++; }
int main(void) { count(); count(); return counter - 4; }";

#[test]
fn a_label_of_assembly_is_an_address() {
    for build in plain_builds(Language::C) {
        let executable = Fixture::c("labels", LABELS)
            .argument("-fno-inline")
            .compile(&build);
        let commands = [
            "break main",
            "run",
            "break *here",
            "break there",
            "print &there - &here == 1 or (long)&there - (long)&here == 1",
            "continue",
            "print $rip == (long)&here",
            "print counter",
            "continue",
            "print $rip == (long)&there",
            "continue",
            "print counter",
        ];
        let answers = dialog(&executable, &commands);
        assert!(answers[5].contains("Breakpoint 2"), "{build}: {answers:?}");
        assert_eq!(answers[6], "true", "{build}: {answers:?}");
        assert_eq!(answers[7], "1", "{build}: {answers:?}");
        assert!(answers[8].contains("Breakpoint 3"), "{build}: {answers:?}");
        assert_eq!(answers[9], "true", "{build}: {answers:?}");
        assert!(answers[10].contains("Breakpoint 2"), "{build}: {answers:?}");
        assert_eq!(answers[11], "3", "{build}: {answers:?}");
        // Data of a library without debug information.
        let answers = dialog(
            &executable,
            &["break main", "run", "print (long)environ != 0"],
        );
        assert_eq!(answers[2], "true", "{build}: {answers:?}");
    }
}

const COROUTINE: &str = "
#include <coroutine>
#include <exception>
struct Gen {
    struct promise_type {
        int current = 0;
        Gen get_return_object() { return Gen{std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int v) { current = v; return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
    std::coroutine_handle<promise_type> h;
    ~Gen() { if (h) h.destroy(); }
    int next() { h.resume(); return h.promise().current; }
};
Gen count(int from, int step)
{
    int local = from * 10;
    for (int i = 0; i < 3; i++) { co_yield local; local += step; }
}
int main()
{
    Gen g = count(4, 2);
    int sum = 0;
    for (int k = 0; k < 3; k++) sum += g.next();
    return sum == 126 ? 0 : 1;
}";

#[test]
fn a_coroutine_stops_where_its_body_begins() {
    for build in plain_builds(Language::Cpp) {
        let option = if build.to_string().contains("clang") {
            "-fcoroutines-ts"
        } else {
            "-fcoroutines"
        };
        let fixture = Fixture::cpp("coroutine", COROUTINE)
            .argument("-std=c++20")
            .argument(option);
        let executable = fixture.compile(&build);
        let commands = [
            "break count if from == 4",
            "run",
            "print step",
            "continue",
            "print step",
        ];
        let answers = dialog(&executable, &commands);
        for at in [1, 3] {
            assert!(answers[at].contains("in count"), "{build}: {answers:?}");
            assert_eq!(answers[at + 1], "2", "{build}: {answers:?}");
        }
    }
}
