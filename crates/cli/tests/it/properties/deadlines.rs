//! A deadline decides when it has passed, without another event.

use crate::support::Batch;
use juror_testing::Fixture;

const ANSWERED: &str = "property answered \"an answer comes\"
    slice on id
    event ask = before ask(id)
    event answer = before answer(id)
    ltl always (ask implies eventually within 50 ms answer)\n";

const PRELUDE: &str = "
    #include <unistd.h>
    #include <pthread.h>
    __attribute__((noinline)) void ask(int id) { (void)id; }
    __attribute__((noinline)) void answer(int id) { (void)id; }
    volatile int tick;
    __attribute__((noinline)) void hang(void) { for (;;) tick++; }
    __attribute__((noinline)) void wait_long(void) { for (;;) pause(); }
    __attribute__((noinline)) void *work(void *p) { ask(*(int *)p); wait_long(); return 0; }";

/// Runs a program that would not end.
#[track_caller]
fn check(name: &str, main: &str, properties: &[&str], expected: &[&str]) {
    let source = format!("{PRELUDE}\n{main}");
    let fixture = Fixture::c(name, &source)
        .argument("-O0")
        .argument("-pthread");
    let mut batch = Batch::new();
    for property in properties {
        batch = batch.property(property);
    }
    let report = batch.run(fixture.compile_plain(), &[]);
    report.assert_code(1);
    let stop = report.stop();
    assert_eq!(stop["reason"], "violation", "{}", report.all());
    let deadline = &stop["violations"][0]["deadline"];
    let times = [&deadline["time_ns"], &deadline["asked_ns"]];
    let [time, asked] = times.map(|time| time.as_u64().expect("a time"));
    assert_eq!(time - asked, 50_000_000, "{deadline}");
    assert_eq!(deadline["asked"]["event"], "ask", "{deadline}");
    for words in expected {
        assert!(report.all().contains(words), "{words}: {}", report.all());
    }
}

#[test]
fn a_program_that_sleeps_is_stopped() {
    check(
        "sleeps",
        "int main(void) { ask(1); answer(1); ask(2); wait_long(); return 0; }",
        &[ANSWERED],
        &[
            "slice   id = 2",
            "because 50 ms had passed since ask(id = 2)",
            "wait_long",
        ],
    );
}

#[test]
fn a_program_that_computes_is_stopped() {
    let unsliced = ANSWERED.replace("slice on id\n", "");
    check(
        "computes",
        "int main(void) { ask(1); hang(); return 0; }",
        &[&unsliced],
        &["because 50 ms had passed since ask(id = 1)", " hang "],
    );
}

#[test]
fn the_thread_that_asked_is_shown() {
    check(
        "threads",
        "int main(void) { int id = 3; pthread_t thread; pthread_create(&thread, 0, work, &id); hang(); }",
        &[ANSWERED],
        &[
            "because 50 ms had passed since ask(id = 3)",
            "thread 2, one of 2",
            "wait_long",
        ],
    );
}

#[test]
fn an_earlier_question_is_not_hidden_by_a_later_one() {
    let unsliced = ANSWERED.replace("slice on id\n", "");
    check(
        "two_questions",
        "int main(void) { ask(1); usleep(20000); ask(2); wait_long(); }",
        &[&unsliced],
        &["because 50 ms had passed since ask(id = 1)"],
    );
}

#[test]
fn a_deadline_that_changes_nothing_stops_nothing() {
    let property = "property once_ \"nothing comes for a while\"
        event ask = before ask(id)
        event answer = before answer(id)
        ltl always (ask implies always for 20 ms not answer)\n";
    let source = format!(
        "{PRELUDE}\nint main(void) {{ ask(1); usleep(60000); answer(1); ask(2); usleep(60000); return 0; }}"
    );
    let fixture = Fixture::c("passes", &source)
        .argument("-O0")
        .argument("-pthread");
    let report = Batch::watching(property).run(fixture.compile_plain(), &[]);
    report.assert_code(0);
    assert_eq!(report.occurrences("answer"), 1, "{}", report.all());
}
