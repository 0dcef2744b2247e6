//! Stacks of any depth, and stacks that begin or end in an unusual way.

use crate::support::Batch;
use juror_testing::{Build, Fixture, Language};
use serde_json::Value;
use std::path::PathBuf;

const DEEP: &str = "int bottom(int n)
{
    return n + 1;
}
int odd(int n);
int even(int n)
{
    return n == 0 ? bottom(n) : odd(n - 1) + 1;
}
int odd(int n)
{
    return even(n - 1) + 1;
}
int main(void)
{
    return even(20000) == 0;
}
";

fn deep() -> PathBuf {
    Fixture::c("deep", DEEP).compile(&Build::plain(Language::C))
}

fn name(frame: &Value) -> String {
    let function = &frame["location"]["function"];
    format!("#{} {}", frame["level"], function.as_str().unwrap_or("?"))
}

fn names(frames: &Value) -> Vec<String> {
    frames
        .as_array()
        .expect("a list")
        .iter()
        .map(name)
        .collect()
}

#[test]
fn the_end_of_a_deep_stack_is_its_end() {
    let report = Batch::new()
        .command("break bottom")
        .command("run")
        .command("backtrace 2")
        .command("backtrace -3")
        .command("frame 20001")
        .command("print n")
        .command("up")
        .command("frame 30000")
        .command("frame function main")
        .run(deep(), &[]);
    let innermost = report.outcome("backtrace 2");
    assert_eq!(names(&innermost["frames"]), ["#0 bottom", "#1 even"]);
    assert_eq!(innermost["more"], true);
    let outermost = report.outcome("backtrace -3");
    let expected = ["#20000 odd", "#20001 even", "#20002 main"];
    assert_eq!(names(&outermost["frames"]), expected);
    assert_eq!(outermost["more"], false);
    assert_eq!(report.outcome("print n")["value"], "20000");
    let all = report.all();
    assert!(all.contains("the outermost frame is number 2000"), "{all}");
    assert!(all.contains("#20002 main"), "{all}");
}

#[test]
fn a_call_of_a_null_pointer_has_a_caller() {
    let source = "#include <signal.h>
#include <stdlib.h>
static int caught;
static void on(int s)
{
    caught = s;
    exit(3);
}
static void (*volatile nothing)(void);
static int calls(void (*f)(void))
{
    f();
    return 1;
}
int main(void)
{
    signal(SIGSEGV, on);
    return calls(nothing);
}
";
    for build in Build::all() {
        let program = Fixture::c("null", source).compile(&build);
        let report = Batch::new()
            .command("break on")
            .command("run")
            .command("backtrace")
            .run(&program, &[]);
        let in_handler = names(&report.outcome("backtrace")["frames"]);
        // The handler, the frame of the signal, and the place that the null pointer leads to.
        assert_eq!(
            in_handler[..3],
            ["#0 on", "#1 ?", "#2 ?"],
            "{build:?}: {in_handler:?}"
        );
        let last = in_handler.last().expect("a frame");
        assert!(last.ends_with(" main"), "{build:?}: {in_handler:?}");
    }
}

#[test]
fn a_thread_in_vfork_has_a_whole_stack() {
    let source = "#include <unistd.h>
#include <sys/wait.h>
int makes(void)
{
    int pid = vfork();
    if (pid == 0)
        _exit(0);
    wait(0);
    return pid;
}
int main(void)
{
    return makes() < 0;
}
";
    let program = Fixture::c("makes", source).compile(&Build::plain(Language::C));
    let report = Batch::new()
        .command("catch vfork")
        .command("run")
        .command("backtrace")
        .run(&program, &[]);
    let frames = names(&report.outcome("backtrace")["frames"]);
    let functions: Vec<&str> = frames
        .iter()
        .filter_map(|it| it.split(' ').nth(1))
        .collect();
    let expected = ["makes", "main"];
    assert_eq!(functions[functions.len() - 2..], expected, "{frames:?}");
}

#[test]
fn a_fault_at_an_address_that_is_not_canonical_names_it() {
    let source = "#include <stdlib.h>
#include <string.h>
struct node { struct node *next; int value; };
static volatile int sink;
int main(int argc, char **argv)
{
    struct node node = { 0, 1 };
    memset(&node.next, 0x41, sizeof node.next);
    void (*function)(void);
    memcpy(&function, &node.next, sizeof function);
    char *end = (char *)0xffff000000000000 + 8;
    if (argc == 1)
        sink = node.next->value;
    else if (argv[1][0] == 'w')
        *end = 1;
    else
        function();
    return sink;
}
";
    for build in Build::all() {
        let program = Fixture::c("wild", source).compile(&build);
        for (arguments, address) in [
            (&[][..], 0x4141_4141_4141_4149_u64),
            (&["write"], 0xffff_0000_0000_0008),
            (&["call"], 0x4141_4141_4141_4141),
        ] {
            let report = Batch::new().run(&program, arguments);
            let stop = report.stop();
            assert_eq!(stop["fault_address"], address, "{build:?}: {stop}");
        }
    }
}

#[test]
fn threads_are_numbered_in_the_order_of_their_creation() {
    let source = "#include <pthread.h>
static pthread_barrier_t all;
static void stop(void) { }
static void *run(void *number)
{
    pthread_barrier_wait(&all);
    pthread_barrier_wait(&all);
    return number;
}
int main(void)
{
    pthread_t threads[40];
    pthread_barrier_init(&all, 0, 41);
    for (long i = 0; i < 40; i++)
        pthread_create(&threads[i], 0, run, (void *)i);
    pthread_barrier_wait(&all);
    stop();
    pthread_barrier_wait(&all);
    for (int i = 0; i < 40; i++)
        pthread_join(threads[i], 0);
    return 0;
}
";
    let program = Fixture::c("numbers", source).compile(&Build::plain(Language::C));
    let report = Batch::new()
        .command("break stop")
        .command("run")
        .command("info threads")
        .run(&program, &[]);
    let threads = report.outcome("info threads").as_array().expect("a list");
    let pairs = threads
        .iter()
        .map(|it| (it["number"].as_u64(), it["id"].as_u64()));
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort_by_key(|(number, _)| *number);
    assert_eq!(pairs.len(), 41, "{pairs:?}");
    assert!(pairs.is_sorted_by_key(|(_, id)| *id), "{pairs:?}");
}

#[test]
fn threads_in_a_library_are_shown_with_their_callers() {
    let source = "#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int arrived;
static void stop(void) { }
static void *take(void *unused)
{
    __atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_lock(&lock);
    return unused;
}
int main(void)
{
    pthread_t threads[2];
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, take, 0);
    while (arrived < 2)
        usleep(1000);
    stop();
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
";
    let program = Fixture::c("waits", source).compile(&Build::plain(Language::C));
    let report = Batch::new()
        .command("break stop")
        .command("run")
        .command("info threads")
        .run(&program, &[]);
    let threads = report.outcome("info threads").as_array().expect("a list");
    let place = |thread: &Value| {
        let source = [&thread["caller"], &thread["location"]];
        let of_program = source
            .into_iter()
            .find(|it| it["function"] == "take" || it["function"] == "stop");
        of_program.map(|it| it["function"].clone())
    };
    let places: Vec<_> = threads.iter().filter_map(place).collect();
    assert_eq!(places, ["stop", "take", "take"], "{}", report.all());
}

const ENDLESS: &str = "#include <pthread.h>
volatile int depth;
int even(int n);
__attribute__((noinline)) int odd(int n)
{
    depth++;
    return even(n + 1) + depth;
}
__attribute__((noinline)) int even(int n)
{
    return odd(n + 1) + depth;
}
static void *run(void *unused)
{
    even(0);
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t thread;
    pthread_attr_t attributes;
    if (argc == 1)
        return even(0);
    if (argv[1][0] == 'n')
        return *(volatile int *)8;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 2 << 20);
    pthread_create(&thread, &attributes, run, 0);
    pthread_join(thread, 0);
    return 0;
}
";

#[track_caller]
fn check_overflow(arguments: &[&str]) {
    for build in Build::all() {
        let program = Fixture::c("endless", ENDLESS).compile(&build);
        let report = Batch::new().run(&program, arguments);
        let stop = report.stop();
        let overflow = &stop["stack_overflow"];
        let mut cycle: Vec<&str> = overflow["cycle"]
            .as_array()
            .unwrap_or_else(|| panic!("{build:?}: {stop}"))
            .iter()
            .filter_map(Value::as_str)
            .collect();
        cycle.sort_unstable();
        assert_eq!(cycle, ["even", "odd"], "{build:?}: {overflow}");
        assert!(
            overflow["frame_count"].as_u64() > Some(20_000),
            "{overflow}"
        );
    }
}

#[test]
fn a_stack_overflow_is_recognized() {
    check_overflow(&[]);
}

#[test]
fn a_stack_overflow_of_a_thread_is_recognized() {
    check_overflow(&["thread"]);
}

#[test]
fn a_null_pointer_is_no_stack_overflow() {
    for build in Build::all() {
        let program = Fixture::c("endless", ENDLESS).compile(&build);
        let report = Batch::new().run(&program, &["null"]);
        assert_eq!(report.stop()["stack_overflow"], Value::Null, "{build:?}");
    }
}

#[test]
fn the_escapes_of_c_are_those_of_a_format() {
    let program = Fixture::c(
        "plain",
        "char wild[] = \"a\\033b\";\nint main(void) { return 0; }\n",
    )
    .compile(&Build::plain(Language::C));
    let report = Batch::new()
        .command("start")
        .command("printf \"a\\tb\\fc\\vd\\be\\rf\\ag\\x41\\101\\\\h\\n\"")
        .command("echo \\f\\v\\b\\r\\a.\\n")
        .command("printf \"%s %c\\n\", wild, 27")
        .run(&program, &[]);
    let printed = |command: &str| report.outcome(command).as_str().unwrap_or_default();
    assert_eq!(
        printed("printf \"a\\tb\\fc\\vd\\be\\rf\\ag\\x41\\101\\\\h\\n\""),
        "a       b\u{c}c\u{b}d\u{8}e\rf\u{7}gAA\\h"
    );
    let echoed = printed("echo \\f\\v\\b\\r\\a.\\n");
    assert_eq!(echoed, "\u{c}\u{b}\u{8}\r\u{7}.");
    // A string of the program cannot act on the terminal.
    assert_eq!(printed("printf \"%s %c\\n\", wild, 27"), "a\\033b \\033");
}
