//! Going back in a run of `juror explore`: each place was seen on the way forwards, with the same values.

use super::{explored, world};
use crate::support::juror;
use juror_testing::Fixture;

/// One thread writes a name that is too long over a pointer, which another thread uses later.
const SPOILED: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct account { char name[8]; long *balance; };
static struct account *accounts;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int named;
static int depth(int n) {
    if (n <= 1)
        return n;
    return depth(n - 1) + 1;
}
static void *clerk(void *unused) {
    pthread_mutex_lock(&lock);
    strcpy(accounts[0].name, "a longer name");
    named = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}
static void *teller(void *unused) {
    int sum = 0;
    for (int i = 0; i < 5; i++)
        sum += depth(i);
    pthread_mutex_lock(&lock);
    if (named)
        *accounts[0].balance += sum;
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void) {
    pthread_t a, b;
    accounts = malloc(sizeof *accounts);
    accounts[0].balance = malloc(sizeof(long));
    *accounts[0].balance = 5;
    printf("begin\n");
    fflush(stdout);
    pthread_create(&a, 0, teller, 0);
    pthread_create(&b, 0, clerk, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;

/// The answers of a session over a run that fails, by command.
struct Session {
    answers: Vec<(String, String)>,
    text: String,
}

impl Session {
    /// Explores a program and types commands over the run that failed. None if runs can have no world
    /// of their own here, and would change files once more on the way back.
    fn over(source: &str, is_static: bool, commands: &[String]) -> Option<Session> {
        if !world::is_possible() {
            return None;
        }
        let fixture = Fixture::c("spoiled", source).argument("-pthread");
        let fixture = if is_static {
            fixture.argument("-static")
        } else {
            fixture
        };
        let explored = explored(&fixture.compile_plain(), &[], 1);
        let file = explored.file.expect("a file").display().to_string();
        let input = commands.join("\n") + "\nkill\nquit\n";
        let output = juror(&["replay", &file]).input(input).run();
        let text = format!("{}{}", output.stdout, output.stderr);
        let answers = output.stdout.split("(juror) ").filter_map(|answer| {
            let (line, answer) = answer.split_once('\n')?;
            Some((line.to_owned(), answer.to_owned()))
        });
        Some(Session {
            answers: answers.collect(),
            text,
        })
    }

    /// Returns the answers to a command, in order.
    fn answers(&self, command: &str) -> Vec<&str> {
        let meant = self.answers.iter().filter(|(line, _)| line == command);
        meant.map(|(_, answer)| answer.as_str()).collect()
    }
}

fn lines(commands: &[&str]) -> Vec<String> {
    commands.iter().map(|line| (*line).to_owned()).collect()
}

/// Returns how often a command is given, then others.
fn repeated(command: &str, count: usize, each: &[&str]) -> Vec<String> {
    let once = [&[command], each].concat();
    lines(&once.repeat(count))
}

#[test]
fn the_last_write_to_an_object_is_found() {
    let commands = lines(&[
        "run",
        "last-write accounts[0].balance",
        "backtrace",
        "last-write accounts[0].balance",
        "print *accounts",
        "last-write accounts[0].balance",
        "print *accounts",
        "continue",
        "last-write sum",
        "print i",
    ]);
    for is_static in [false, true] {
        let Some(session) = Session::over(SPOILED, is_static, &commands) else {
            eprintln!("left out: there are no worlds here");
            return;
        };
        let text = &session.text;
        let writes = session.answers("last-write accounts[0].balance");
        let [by_clerk, by_main, before] = writes[..] else {
            panic!("{text}");
        };
        assert!(by_clerk.contains("by clerk at"), "{text}");
        assert!(by_clerk.contains(" → 0x656d616e20"), "{text}");
        assert!(by_clerk.contains("accounts[0].name"), "{text}");
        assert!(session.answers("backtrace")[0].contains("clerk"), "{text}");
        assert!(by_main.contains("by main at"), "{text}");
        // The C library writes what a block was, before it is the program's.
        assert!(
            before.contains("has not been written") || before.contains("malloc"),
            "{text}"
        );
        assert!(session.answers("continue")[0].contains("SIGSEGV"), "{text}");
        let sum = session.answers("last-write sum")[0];
        assert!(
            sum.contains("6 → 10") && sum.contains("by teller"),
            "{text}"
        );
        let turns = session.answers("print i");
        assert_eq!(
            turns.iter().map(|it| value_of(it)).collect::<Vec<_>>(),
            ["4\n"],
            "{text}"
        );
        // Three times forwards; what is written on the way back is not shown.
        assert_eq!(text.matches("begin\n").count(), 3, "{text}");
    }
}

/// The state after a command, as it is shown.
const STATE: [&str; 2] = ["x/i $pc", "print sum"];

#[test]
fn instructions_are_undone_one_by_one() {
    const COUNT: usize = 25;
    let mut commands = lines(&["break 25", "run"]);
    commands.extend(lines(&STATE));
    commands.extend(repeated("stepi", COUNT, &STATE));
    commands.extend(repeated("reverse-stepi", COUNT, &STATE));
    for is_static in [false, true] {
        let Some(session) = Session::over(SPOILED, is_static, &commands) else {
            return;
        };
        let text = &session.text;
        for command in STATE {
            let states = session.answers(command);
            let states: Vec<&str> = states.iter().map(|it| value_of(it)).collect();
            assert_eq!(states.len(), 2 * COUNT + 1, "{text}");
            let (forwards, backwards) = states.split_at(COUNT + 1);
            let mut forwards = forwards[..COUNT].to_vec();
            forwards.reverse();
            assert_eq!(forwards, backwards, "{command}: {text}");
        }
    }
}

/// Returns a value without the number that `print` gives it.
fn value_of(answer: &str) -> &str {
    match answer.split_once(" = ") {
        Some((number, value)) if number.starts_with('$') => value,
        _ => answer,
    }
}

/// What is seen at a stop: a value, and how often each point was hit.
const SEEN: [&str; 2] = ["print n", "info breakpoints"];

#[test]
fn stops_are_undone_and_counted() {
    const STOPS: usize = 7;
    let mut commands = lines(&["break depth if n > 0", "watch named", "run"]);
    commands.extend(lines(&SEEN));
    commands.extend(repeated("continue", STOPS - 1, &SEEN));
    commands.extend(repeated("reverse-continue", STOPS + 1, &SEEN));
    let Some(session) = Session::over(SPOILED, false, &commands) else {
        return;
    };
    let text = &session.text;
    for command in SEEN {
        let seen = session.answers(command);
        let seen: Vec<&str> = seen.iter().map(|it| value_of(it)).collect();
        assert_eq!(seen.len(), 2 * STOPS + 1, "{text}");
        let mut before = seen[..STOPS - 1].to_vec();
        before.reverse();
        assert_eq!(before, seen[STOPS..2 * STOPS - 1], "{command}: {text}");
    }
    let hits = session.answers("info breakpoints");
    assert_ne!(hits[0], hits[STOPS - 1], "{text}");
    let back = session.answers("reverse-continue");
    assert!(back[0].contains("Breakpoint 1"), "{text}");
    assert!(back[STOPS - 1].contains("Started"), "{text}");
    assert!(text.contains("there is no earlier stop"), "{text}");
    assert!(text.contains("\nthis is the start of the run"), "{text}");
}

#[test]
fn a_run_that_cannot_be_made_again_says_what_can() {
    let fixture = Fixture::c("plain", "int main(void) { return 0; }");
    let executable = fixture.compile_plain().display().to_string();
    let typed = "start\nreverse-continue\nreverse-stepi\nlast-write $rsp\ngoto 3\nkill\nquit\n";
    let output = juror(&["run", &executable]).input(typed).run();
    let text = format!("{}{}", output.stdout, output.stderr);
    let answer = "this run cannot be made again, so it does not go back";
    assert_eq!(text.matches(answer).count(), 4, "{text}");
    assert!(text.contains("juror explore ./program"), "{text}");
}
