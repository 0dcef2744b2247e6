//! Events about parameters and local variables of functions, counted by programs that know the
//! true numbers.

use crate::support::{Batch, Report, property_of};
use juror_testing::{Fixture, repository_directory};

/// Runs a program under `event store = …`, in a property with an event before the function `f`.
fn run(source: &str, event: &str) -> Report {
    let property = property_of(&format!("event call = before f\nevent store = {event}"));
    let fixture = Fixture::c("locals", source)
        .argument("-O0")
        .argument("-pthread");
    Batch::watching(&property).run(fixture.compile_plain(), &[])
}

/// Checks how often an event happens, and the values that it had.
#[track_caller]
fn check(source: &str, event: &str, values: &[i64]) {
    let report = run(source, event);
    report.assert_code(0);
    let found: Vec<i64> = report
        .values("store", "now")
        .iter()
        .map(|value| value.as_i64().unwrap_or_else(|| panic!("{value}")))
        .collect();
    assert_eq!(found, values, "{event}: {}", report.all());
}

const ONE: &str = "
    __attribute__((noinline)) int f(int n) { int s = n; s += 10; if (n > 1) s = 0; return s; }
    int main(void) { f(1); f(2); return 0; }";

#[test]
fn stores_to_a_local_variable_are_events_in_each_call() {
    check(ONE, "write s(now = value)", &[1, 11, 2, 12, 0]);
    check(ONE, "write f::s(now = value)", &[1, 11, 2, 12, 0]);
    check(ONE, "write s(now = value) in library", &[1, 11, 2, 12, 0]);
    check(ONE, "read s(now = value)", &[11, 0]);
}

#[test]
fn the_parameter_that_the_caller_gave_is_no_store() {
    let source = "
        __attribute__((noinline)) int f(int n) { n *= 2; return n; }
        int main(void) { f(1); f(2); return 0; }";
    check(source, "write n(now = value)", &[2, 4]);
    check(source, "change n(now = value, was = old)", &[2, 4]);
}

#[test]
fn each_recursive_call_has_its_own() {
    let source = "
        __attribute__((noinline)) int f(int n) { int s = n; if (n > 0) f(n - 1); s = -n; return s; }
        int main(void) { f(2); return 0; }";
    check(source, "write s(now = value)", &[2, 1, 0, 0, -1, -2]);
}

#[test]
fn a_block_has_its_own_variables() {
    let source = "
        __attribute__((noinline)) int f(int n) {
            int sum = 0;
            for (int i = 0; i < n; i++) { int s = i; sum += s; }
            { int other = 7; sum += other; }
            { int s = 9; sum += s; }
            return sum;
        }
        int main(void) { f(2); return 0; }";
    check(source, "write s(now = value)", &[0, 1, 9]);
}

#[test]
fn stores_through_pointers_and_by_other_threads_count() {
    let source = "
        #include <pthread.h>
        void *other(void *p) { *(int *)p = 5; return 0; }
        __attribute__((noinline)) void set(int *p) { *p = 4; }
        __attribute__((noinline)) int f(void) {
            int s = 3;
            set(&s);
            pthread_t thread;
            pthread_create(&thread, 0, other, &s);
            pthread_join(thread, 0);
            return s;
        }
        __attribute__((noinline)) int g(void) { volatile int t[64]; for (int i = 0; i < 64; i++) t[i] = i; return t[5]; }
        int main(void) { f(); g(); f(); g(); return 0; }";
    check(source, "write s(now = value)", &[3, 4, 5, 3, 4, 5]);
}

#[test]
fn each_thread_has_its_own() {
    let source = "
        #include <pthread.h>
        __attribute__((noinline)) int f(int n) { int s = n; s++; return s; }
        void *run(void *p) { for (int i = 0; i < 5; i++) f(*(int *)p); return 0; }
        int main(void) {
            pthread_t threads[2]; int numbers[2] = {1, 2};
            for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, run, &numbers[i]);
            for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
            return 0;
        }";
    let report = run(source, "write s(now = value)");
    report.assert_code(0);
    assert_eq!(report.occurrences("store"), 20, "{}", report.all());
}

#[test]
fn the_event_may_become_needed_in_the_middle_of_the_call() {
    let source = "
        __attribute__((noinline)) void begin(void) {}
        __attribute__((noinline)) int f(int n) { int s = n; begin(); s = n + 1; return s; }
        int main(void) { f(1); f(2); return 0; }";
    let property = "property p\nevent call = before f\nevent now_on = before begin\n\
                    event store = write s(now = value)\n\
                    state init { on now_on -> seen on call }\n\
                    state seen { on store when now == 2 -> init else -> bad }\n\
                    state bad non-accepting\n";
    let fixture = Fixture::c("locals_late", source).argument("-O0");
    let report = Batch::watching(property).run(fixture.compile_plain(), &[]);
    report.assert_code(1);
    assert_eq!(report.occurrences("store"), 2, "{}", report.all());
}

#[test]
fn what_cannot_be_seen_is_refused() {
    for (options, source, event, words) in [
        (
            &["-O2"][..],
            ONE,
            "write s",
            "not in memory in its whole scope",
        ),
        (
            &["-O0"],
            "int g(void) { int s = 1; return s; } int f(void) { int s = 2; return s; }
             int main(void) { return f() + g(); }",
            "write s",
            "`f::s` or `g::s`",
        ),
        (&["-O0"], ONE, "write t", "no global variable `t`"),
    ] {
        let property = property_of(&format!(
            "event call = before f\nevent other = before g in library\nevent store = {event}"
        ));
        let mut fixture = Fixture::c("locals_refused", source);
        for option in options {
            fixture = fixture.argument(option);
        }
        let report = Batch::watching(&property).run(fixture.compile_plain(), &[]);
        report.assert_code(2);
        assert!(report.all().contains(words), "{words}: {}", report.all());
    }
    // A hint for a local variable of a function that the property does not name.
    let property = property_of("event store = write s");
    let fixture = Fixture::c("locals_hint", ONE).argument("-O0");
    let report = Batch::watching(&property).run(fixture.compile_plain(), &[]);
    report.assert_code(2);
    assert!(
        report.all().contains("write `FUNCTION::s`"),
        "{}",
        report.all()
    );
}

#[test]
fn a_global_variable_of_the_program_comes_first() {
    let source = "
        int s;
        __attribute__((noinline)) int f(int n) { int s = n; return s; }
        int main(void) { f(1); s = 8; return 0; }";
    check(source, "write s(now = value)", &[8]);
    check(source, "write f::s(now = value)", &[1]);
}

#[test]
fn the_property_of_the_paper_finds_where_a_variable_was_nulled() {
    let directory = repository_directory().join("examples/comp_string");
    let run = |fixture: Fixture| {
        let property = directory.join("comp_string.prop");
        let fixture = fixture.argument("-O0");
        Batch::watching_file(property).run(fixture.compile_plain(), &[])
    };
    let report = run(Fixture::example("comp_string"));
    report.assert_code(1);
    let violation = &report.stop()["violations"][0];
    assert_eq!(violation["state"], "called_with_null", "{}", report.all());
    let path = violation["path"].as_array().expect("a list");
    let states: Vec<&str> = path.iter().filter_map(|step| step["to"].as_str()).collect();
    assert_eq!(
        states[states.len() - 2..],
        ["s_is_null", "called_with_null"]
    );
    let report = run(Fixture::example("comp_string").define("FIXED"));
    report.assert_code(0);
    assert_eq!(report.occurrences("store"), 7, "{}", report.all());
}

#[test]
fn a_followed_child_goes_on_with_the_calls_of_its_parent() {
    let source = "
        #include <unistd.h>
        #include <sys/wait.h>
        __attribute__((noinline)) int f(int n) {
            int s = n;
            if (n == 2) { if (fork() == 0) { s = 50; _exit(0); } wait(0); }
            s++;
            return s;
        }
        int main(void) { f(1); f(2); f(3); return 0; }";
    for (follow, expected) in [
        ("parent", &[1, 2, 2, 3, 3, 4][..]),
        ("child", &[1, 2, 2, 50]),
    ] {
        let property = property_of("event store = write f::s(now = value)");
        let fixture = Fixture::c("locals_fork", source).argument("-O0");
        let report = Batch::watching(&property)
            .command(&format!("set follow {follow}"))
            .command("run")
            .run(fixture.compile_plain(), &[]);
        report.assert_code(0);
        let values = report.values("store", "now");
        let values: Vec<i64> = values
            .iter()
            .filter_map(serde_json::Value::as_i64)
            .collect();
        assert_eq!(values, expected, "{follow}: {}", report.all());
    }
}

#[test]
fn what_a_pointer_of_an_ended_call_leads_to_is_no_event() {
    let source = "
        struct outer { int calls; };
        __attribute__((noinline)) void f(struct outer *o) { o->calls++; }
        __attribute__((noinline)) int other(int *p) { int a[20]; for (int i = 0; i < 20; i++) a[i] = *p + i; return a[3]; }
        int main(void) {
            struct outer o = {0}; volatile int t = 0;
            for (int k = 0; k < 3; k++) { f(&o); t += other(&k); }
            return 0;
        }";
    check(source, "change f::o->calls(now = value)", &[1, 2, 3]);
}
