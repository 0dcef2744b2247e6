//! Runs that are made in the process: they must be those that ptrace makes.

use super::explored;
use juror_testing::Fixture;
use std::path::Path;

/// Two threads that take two locks in the same order.
const LOCKS: &str = r"
#include <pthread.h>
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
long sum;
void *work(void *argument) {
    pthread_mutex_lock(&a);
    sum++;
    pthread_mutex_lock(&b);
    sum++;
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return argument;
}
int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, work, 0);
    pthread_create(&other, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
";

/// The same with a lost update.
const UPDATE: &str = r"
#include <pthread.h>
#include <stdlib.h>
volatile long sum;
void *work(void *argument) {
    sum = sum + 1;
    return argument;
}
int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, work, 0);
    pthread_create(&other, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    if (sum != 2)
        abort();
    return 0;
}
";

#[test]
fn runs_in_the_process_are_those_by_ptrace() {
    let fixture = Fixture::c("by-agent-locks", LOCKS).argument("-pthread");
    let executable = fixture.compile_plain();
    for points in ["sync", "atomic", "memory"] {
        let options = ["--by", "both", "--points", points, "--runs", "25"];
        let explored = explored(&executable, &options, 0);
        let said = "24 runs were made in the process]";
        assert!(explored.text.contains(said), "{points}: {}", explored.text);
    }
}

/// Right programs that use conditions, barriers, several locks and atomic flags.
const KINDS: [&str; 4] = [
    "bounded_buffer.c",
    "barriers.c",
    "philosophers.c",
    "seqlock.c",
];

#[test]
fn right_programs_run_in_the_process_as_by_ptrace() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/kinds/right");
    for (file, argument) in KINDS
        .into_iter()
        .zip(["-static", "-pthread", "-no-pie", "-O2"])
    {
        let source = std::fs::read_to_string(directory.join(file)).expect("its source");
        let fixture = Fixture::c(&format!("by-agent-{}", file.replace('.', "-")), &source);
        let fixture = fixture.argument("-pthread").argument(argument);
        let executable = fixture.compile_plain();
        for points in ["sync", "memory"] {
            let options = ["--by", "both", "--points", points, "--runs", "15"];
            let explored = explored(&executable, &options, 0);
            let said = "runs were made in the process]";
            let text = &explored.text;
            assert!(text.contains(said), "{file} {points}: {text}");
        }
    }
}

#[test]
fn a_failure_in_the_process_is_told_as_that_by_ptrace() {
    let fixture = Fixture::c("by-agent-update", UPDATE).argument("-pthread");
    let executable = fixture.compile_plain();
    let options = |by| ["--by", by, "--points", "memory"];
    let by_ptrace = explored(&executable, &options("ptrace"), 1);
    let by_agent = explored(&executable, &options("agent"), 1);
    let first = |text: &str| text.lines().next().map(str::to_owned);
    assert!(
        by_agent.text.contains("CRASH  SIGABRT"),
        "{}",
        by_agent.text
    );
    assert_eq!(first(&by_ptrace.text), first(&by_agent.text));
}

#[test]
fn the_first_failure_does_not_depend_on_the_workers() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/kinds/faulty/answers.c");
    let source = std::fs::read_to_string(path).expect("its source");
    let fixture = Fixture::c("by-agent-answers", &source).argument("-pthread");
    let executable = fixture.compile_plain();
    let told = ["1", "3"].map(|jobs| explored(&executable, &["--jobs", jobs], 1).text);
    let [alone, shared] = &told;
    assert!(alone.contains("CRASH  SIGABRT"), "{alone}");
    let first = |text: &str| text.lines().next().map(str::to_owned);
    assert_eq!(first(alone), first(shared));
}
