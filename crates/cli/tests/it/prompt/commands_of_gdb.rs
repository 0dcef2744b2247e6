//! Commands that gdb users type: juror has the same command, or names the alternative.

use crate::support::{juror, program};
use juror_testing::{Fixture, Juror, copy_executable};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The answers to lines that are typed one after the other in a directory.
fn answers_in(directory: &Path, executable: &Path, lines: &[&str]) -> Vec<String> {
    let typed: String = lines.iter().map(|line| format!("{line}\n")).collect();
    // What is said to the errors is an answer, too.
    let script = "exec \"$0\" run \"$1\" 2>&1";
    let output = Juror::new("/bin/sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_juror")])
        .args([executable])
        .directory(directory)
        .env("SHELL", "/bin/sh")
        .input(typed)
        .run();
    let mut answers = Vec::new();
    for part in output.stdout.split("(juror) ").skip(1) {
        let (line, answer) = part.split_once('\n').unwrap_or((part, ""));
        answers.push(format!("{line}\n{answer}"));
    }
    answers
}

fn executable() -> PathBuf {
    program("habits.c").compile_plain()
}

/// Each line with words that its answer has; an exclamation mark before them
/// where it has them not.
#[track_caller]
fn check(typed: &[(&str, &[&str])]) {
    let directory = TempDir::with_prefix("juror-habits-").expect("a directory");
    check_in(directory.path(), &executable(), typed);
}

#[track_caller]
fn check_in(directory: &Path, executable: &Path, typed: &[(&str, &[&str])]) {
    let lines: Vec<&str> = typed.iter().map(|(line, _)| *line).collect();
    let answers = answers_in(directory, executable, &lines);
    for ((line, expected), answer) in typed.iter().zip(&answers) {
        let said = answer.split_once('\n').map_or("", |(_, said)| said);
        for words in *expected {
            match words.strip_prefix('!') {
                Some(words) => assert!(!said.contains(words), "{line}: {words}: {answers:#?}"),
                None => assert!(said.contains(words), "{line}: {words}: {answers:#?}"),
            }
        }
    }
}

/// A line to which nothing is answered.
const NOTHING: &[&str] = &[];

#[test]
fn a_dprintf_prints_at_each_hit_and_goes_on() {
    check(&[
        (
            "dprintf work,\"work %d of %s\\n\", i, p->name",
            &["dprintf breakpoint 1 at", "work, habits.c:22"],
        ),
        (
            "info breakpoints",
            &["dprintf work", "printf \"work %d of %s\\n\", i, p->name"],
        ),
        ("condition 1 i > 1", NOTHING),
        ("ignore 1 1", &["the next hit of breakpoint 1 is ignored"]),
        (
            "run",
            &[
                "!work 2",
                "work 3 of a point\nwork 4 of a point\n",
                "exited with status 3",
            ],
        ),
        (
            "info breakpoints",
            &["dprintf work if i > 1 ", "not inserted  3\n"],
        ),
        ("enable once 1", NOTHING),
        ("run", &["work 2 of a point\n", "!work 3"]),
        ("info breakpoints", &["disabled"]),
        ("commands 1", &["1 is a dprintf"]),
    ]);
}

#[test]
fn what_a_dprintf_cannot_show_stops_and_says_why() {
    check(&[
        (
            "dprintf work,\"%d\\n\", nothing",
            &["there is no `nothing`"],
        ),
        (
            "dprintf work,\"%d\\n\", square(i)",
            &["cannot call functions"],
        ),
        ("dprintf work,\"%d\\n\"", &["takes 1 value; 0 given"]),
        ("dprintf work", &["needs a location and a quoted format"]),
        ("dprintf nowhere,\"here\\n\"", &["is pending"]),
        ("delete", NOTHING),
        (
            "dprintf work,\"%d\\n\", *(int *)(i - 2)",
            &["dprintf breakpoint"],
        ),
        (
            "run",
            &[
                "Breakpoint 2 in work (i=0,",
                "the text of breakpoint 2 cannot be printed: ",
            ],
        ),
    ]);
}

#[test]
fn a_dprintf_and_a_breakpoint_share_a_place_and_steps_end_there() {
    check(&[
        ("break work", &["breakpoint 1"]),
        ("dprintf work,\"at %d\\n\", i", &["breakpoint 2"]),
        ("dprintf 23,\"after %d\\n\", s", &["habits.c:23"]),
        ("run", &["at 0\n", "Breakpoint 1 in work"]),
        ("next", &["after 0\n", "habits.c:23"]),
        ("continue", &["!after", "at 1\n", "Breakpoint 1"]),
        (
            "info breakpoints",
            &[
                "dprintf work ",
                "inserted  2 ",
                "dprintf 23 ",
                "inserted  1 ",
            ],
        ),
    ]);
}

/// As often as the lines are passed, by several threads, at both levels.
#[test]
fn every_pass_of_a_thread_prints_once() {
    let source = "
#include <pthread.h>
static volatile int turns;
__attribute__((noinline)) static void turn(long who)
{
    __atomic_add_fetch(&turns, (int)(who > 0), __ATOMIC_RELAXED);
}
static void *run(void *who)
{
    for (int i = 0; i < 250; i++)
        turn((long)who);
    return 0;
}
int main(void)
{
    pthread_t threads[4];
    for (long i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, run, (void *)(i + 1));
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return turns != 1000;
}
";
    let directory = TempDir::with_prefix("juror-habits-").expect("a directory");
    for level in ["-O0", "-O2"] {
        let fixture = Fixture::c("turns", source);
        let executable = fixture.argument("-pthread").argument(level).compile_plain();
        let lines = [
            "dprintf turn,\"turn of %ld\\n\", who",
            "run",
            "info breakpoints",
        ];
        let answers = answers_in(directory.path(), &executable, &lines);
        for who in 1..=4 {
            let text = format!("turn of {who}\n");
            assert_eq!(answers[1].matches(&text).count(), 250, "{level} {who}");
        }
        assert!(answers[1].contains("status 0"), "{level}: {}", answers[1]);
        assert!(answers[2].contains("1000"), "{level}: {}", answers[2]);
    }
}

#[test]
fn points_are_saved_and_set_again() {
    let directory = TempDir::with_prefix("juror-habits-").expect("a directory");
    let executable = executable();
    let lines = [
        "break square if n > 1",
        "ignore 1 1",
        "commands 1",
        "silent",
        "print n",
        "end",
        "catch syscall write",
        "disable 2",
        "tbreak 22",
        "watch counter",
        "dprintf work,\"at %d\\n\", i",
        "condition 5 i == 4",
        "save breakpoints",
        "save breakpoints points",
        "save nonsense points",
    ];
    let run = |lines: &[&str]| {
        let answers = answers_in(directory.path(), &executable, lines);
        answers.join("(juror) ")
    };
    let shown = run(&["save breakpoints points"]);
    assert!(
        shown.contains("there are no breakpoints to save"),
        "{shown}"
    );
    let shown = run(&lines);
    for words in [
        "the name of a file is missing",
        "5 points in points",
        "`nonsense` cannot be saved",
    ] {
        assert!(shown.contains(words), "{shown}");
    }
    let written = fs::read_to_string(directory.path().join("points")).expect("the file");
    let source = "/habits.c:22\n";
    assert!(written.contains(source), "{written}");
    let expected = "\
break square if n > 1
ignore $bpnum 1
commands
  silent
  print n
end
catch syscall write
disable $bpnum
tbreak ";
    assert!(written.starts_with(expected), "{written}");
    assert!(
        written.ends_with("watch counter\ndprintf work,\"at %d\\n\", i\ncondition $bpnum i == 4\n"),
        "{written}"
    );
    // Other points before do not matter: the numbers are those of now.
    let shown = run(&[
        "break main",
        "source points",
        "info breakpoints",
        "delete 1 4 5",
        "run",
    ]);
    for words in [
        "2  developer  square if n > 1",
        "ignores 1",
        "3  developer  catch syscall write",
        "once",
        "5  developer  watch counter",
        "6  developer  dprintf work if i == 4",
        "$1 = 3",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
}

#[test]
fn the_process_is_shown_as_the_kernel_knows_it() {
    check(&[
        ("info proc mappings", &["/habits-", "[stack]", "r-xp"]),
        ("start 1 'a b'", &["Started in main"]),
        ("info proc", &["process ", " 1 a b\n", "directory  /"]),
        ("info proc status", &["State:"]),
        ("info proc fi", &["0    ", "1    pipe:"]),
        (
            "info proc nonsense",
            &["info proc has no subject `nonsense`"],
        ),
        (
            "info auxv",
            &["AT_PAGESZ             4096", "AT_EXECFN", "/habits-"],
        ),
        (
            "info program",
            &["was started by juror; it has 1 thread", "main, habits.c:29"],
        ),
        ("info registers rip sp", &["rip  0x", "rsp  0x", "!rax"]),
        ("info registers r99", &["there is no register `r99`"]),
        ("info address counter", &["counter is at 0x"]),
        ("info address work", &["work is a function at 0x"]),
        ("info stack", &["#0  main (argc=3"]),
        ("info inferiors", &["habits"]),
    ]);
}

#[test]
fn settings_have_the_names_of_gdb() {
    check(&[
        ("break work if i == 3", &["breakpoint 1"]),
        ("set listsize 3", NOTHING),
        ("list 20,", &["20", "22", "!23"]),
        ("set environment COLOR=blue", NOTHING),
        ("show environment COLOR", &["COLOR=blue"]),
        ("set cwd /", NOTHING),
        ("run > /dev/null 2>&1", &["Breakpoint 1 in work (i=3"]),
        ("info proc cwd", &["directory  /\n"]),
        ("print table", &["{0, 1, 2, 3, ", "199...}"]),
        ("set print elements 4", NOTHING),
        ("print table", &["= {0, 1, 2, 3...}"]),
        ("print p->name", &["\"a po\"..."]),
        ("print -elements 2 -- table", &["= {0, 1...}"]),
        ("set print elements unlimited", NOTHING),
        ("print table", &["298, 299}"]),
        ("set p pretty on", NOTHING),
        ("print *p", &["{\n  x = 6,\n"]),
        ("print -pretty off -- *p", &["{x = 6, "]),
        ("set print pretty off", NOTHING),
        ("show print elements", &["print elements: unlimited"]),
        (
            "show",
            &["listsize: 3\n", "cwd: /\n", "print pretty: off\n"],
        ),
        ("set confirm off", NOTHING),
        ("show confirm", &["off"]),
        ("set non-stop off", &["no such setting"]),
        ("set non-stop on", &["there is no setting `non-stop`"]),
        ("set print elements many", &["`many` is not a number"]),
        ("set lostsize 3", &["did you mean `listsize`?"]),
        ("show args", &["args: none"]),
        ("unset environment COLOR", &["takes effect at the next run"]),
        (
            "show environment COLOR",
            &["COLOR is not in the environment"],
        ),
        ("unset cwd", &["takes effect at the next run"]),
    ]);
}

#[test]
fn the_environment_and_the_directory_are_those_of_the_next_run() {
    let directory = TempDir::with_prefix("juror-habits-").expect("a directory");
    fs::create_dir(directory.path().join("inner")).expect("a directory");
    let executable = executable();
    // Named relative to the directory where juror begins.
    copy_executable(&executable, &directory.path().join("habits"));
    check_in(
        directory.path(),
        Path::new("./habits"),
        &[
            ("set environment COLOR red", NOTHING),
            ("cd inner", &["/inner"]),
            ("pwd", &["/inner"]),
            ("run > out 2>&1", &["exited with status 3"]),
            ("shell cat out", &["to the errors\n30 red\n"]),
            ("unset environment COLOR", NOTHING),
            ("run 2>&1 > out", &["to the errors"]),
            ("!cat out", &["30 none"]),
            ("cd nowhere", &["nowhere cannot be used"]),
        ],
    );
    assert!(directory.path().join("inner/out").is_file());
}

#[test]
fn values_have_names() {
    check(&[
        ("break work if i == 2 && $_thread == 1", &["breakpoint 1"]),
        (
            "break work if i == $nothing",
            &["no register or convenience variable is named `$nothing`"],
        ),
        ("print $bpnum", &["$1 = 1"]),
        ("run 10", &["Breakpoint 1 in work (i=2"]),
        ("print $n = 3", &["$2 = 3"]),
        ("set $n = $n + i", NOTHING),
        ("print $n * 2", &["$3 = 10"]),
        ("print $$2", &["$4 = 1"]),
        ("print counter = 7", &["= 7"]),
        ("set $kept = counter", NOTHING),
        ("print counter += 3", &["= 10"]),
        ("print counter--", &["= 10"]),
        ("output counter", &["9\n", "!$"]),
        ("output $kept", &["7\n"]),
        ("output $5", &["7\n"]),
        ("x/3dw &table[5]", &["5  6  7"]),
        ("print $__", &["= 7"]),
        ("x/dw $_", &["7"]),
        ("print $eax == (int)$rax", &["true"]),
        (
            "print $nothing",
            &["no register or convenience variable is named `$nothing`"],
        ),
        ("print $_siginfo", &["no signal has stopped this thread"]),
        ("display/2i $pc", &["→ 0x", "<work+"]),
        ("delete display", NOTHING),
        ("find table, +sizeof(table), 42", &["<table+168>"]),
        ("print $numfound", &["= 1"]),
        ("dump memory out table &table[4]", &["16 bytes in out"]),
        (
            "!od -An -td4 out",
            &["0           1           2           3"],
        ),
        ("condition 1 i == $n - 1", NOTHING),
        ("continue", &["Breakpoint 1 in work (i=4"]),
        ("delete 1", NOTHING),
        ("continue", &["SIGUSR1"]),
        ("print $_siginfo.si_signo", &["= 10"]),
        ("print $_siginfo._sifields._kill.si_pid > 1", &["true"]),
        ("queue-signal 0", &["without a signal"]),
        ("continue", &["exited with status 3"]),
        ("print $_exitcode", &["= 3"]),
        ("show convenience", &["$_exitcode = 3", "$n = 5"]),
    ]);
}

#[test]
fn commands_apply_to_frames() {
    check(&[
        ("break square if n == 2", &["breakpoint 1"]),
        ("run", &["Breakpoint 1 in square"]),
        ("backtrace -1", &["#2  main", "!#1"]),
        ("backtrace 1", &["#0  square", "!#1"]),
        (
            "frame apply all print $pc",
            &["#0  square", "<square+", "#1  work", "<work+", "#2  main"],
        ),
        ("faas print i", &["#1  work", "#2  main", "!#0"]),
        ("frame apply level 1 info locals", &["#1  work", "s = "]),
        ("frame apply -1 print argc", &["#2  main", "= 1"]),
        (
            "faas print nowhere",
            &["the command fails in every frame of this stack"],
        ),
        ("frame", &["#0  square"]),
        ("select-frame 1", NOTHING),
        ("print i", &["= 2"]),
        ("taas backtrace 1", &["Thread 1", "#0  square", "!#1"]),
        ("thread apply all -q print n", &["= 2"]),
    ]);
}

#[test]
fn what_juror_does_not_have_names_the_next_best_thing() {
    check(&[
        ("layout src", &["juror has no `layout`", "list shows more"]),
        ("reverse-continue", &["juror explore", "juror replay FILE"]),
        ("python print(1)", &["scenarios"]),
        ("target remote :1", &["attach 1234"]),
        ("info macro X", &["juror has no `info macro`"]),
        ("define look\nprint counter\nend", NOTHING),
    ]);
}

#[test]
fn other_programs_run_from_the_prompt() {
    check(&[
        ("shell echo hello", &["hello\n"]),
        ("!exit 7", &["the command ended with status 7"]),
        ("!kill -9 $$", &["the command was ended by SIGKILL"]),
        ("help !", &["shell (!)"]),
    ]);
    // Where the standard output is for a program to read, other words are not
    // among it.
    let run = juror(&["run", "--json=-"]).args([executable()]);
    let output = run.env("SHELL", "/bin/sh").input("!echo hello\n").run();
    assert!(output.stderr.contains("hello\n"), "{}", output.stderr);
    let is_json = |line: &str| serde_json::from_str::<serde_json::Value>(line).is_ok();
    assert!(output.stdout.lines().all(is_json), "{}", output.stdout);
}

#[test]
fn a_dprintf_prints_under_its_condition_in_processes_that_are_followed() {
    let printing = program("printing.c").compile_plain();
    let directory = TempDir::with_prefix("juror-habits-").expect("a directory");
    let set = "dprintf work if n > 2,\"%d of %s\\n\", n, who";
    let parent = "3 of parent\n4 of parent\n5 of parent\n";
    let check = |follow: &str, printed: &[&str]| {
        let follow = format!("set follow {follow}");
        let typed: &[(&str, &[&str])] = &[
            (&follow, NOTHING),
            (set, &["dprintf breakpoint 1 at"]),
            ("run", printed),
        ];
        check_in(directory.path(), &printing, typed);
    };
    check("parent", &[parent, "100 of parent\n", "!of child"]);
    check("child", &[parent, "3 of child\n", "!100 of parent"]);
    check("both", &[parent, "3 of child\n", "100 of parent\n"]);
    // Beside a breakpoint in a debug register at the same place.
    let beside: &[(&str, &[&str])] = &[
        ("start", NOTHING),
        ("hbreak work if n == 4", NOTHING),
        (set, NOTHING),
        ("continue", &["3 of parent\nBreakpoint 1"]),
        (
            "continue",
            &["4 of parent\n5 of parent\n", "100 of parent\n"],
        ),
    ];
    check_in(directory.path(), &printing, beside);
}
