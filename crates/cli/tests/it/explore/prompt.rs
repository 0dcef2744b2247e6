//! `juror replay` of a run of `juror explore` at the prompt: the user stops, steps and selects
//! threads, and the run is the same.

use super::explored;
use super::programs::{FAULTY, in_c};
use crate::support::juror;
use juror_testing::Numbers;

/// The number of random sessions with each program; more by the environment.
const SESSIONS: u64 = 1;

/// The variable with the number of sessions.
const SESSIONS_VARIABLE: &str = "JUROR_REPLAYS";

/// The number of commands of a session before the program goes on to its end.
const COMMANDS: usize = 25;

/// The words for a run that does not end.
const ENDLESS: &str = "DOES NOT END";

/// The commands of a session.
const WORDS: [&str; 16] = [
    "step",
    "next",
    "stepi",
    "stepi 9",
    "nexti",
    "finish",
    "continue",
    "thread 1",
    "thread 2",
    "thread 3",
    "break one",
    "tbreak two",
    "break pthread_mutex_lock",
    "watch shared",
    "delete",
    "info threads",
];

/// Returns the words by which the prompt tells the end that a report tells by `report`.
fn said_at_the_prompt(report: &str) -> String {
    let first = report.lines().next().unwrap_or_default();
    let mut words = first.split_whitespace();
    match (words.next(), words.next()) {
        (Some("CRASH"), Some(signal)) => signal.to_owned(),
        (Some("EXIT"), Some(status)) => format!("status {status}"),
        (Some("DOES"), _) => ENDLESS.to_owned(),
        _ => "DEADLOCK".to_owned(),
    }
}

/// Makes a run again in random sessions, and checks that each comes to its end.
#[track_caller]
fn check_sessions(index: usize, sessions: u64) {
    let row = &FAULTY[index];
    let explored = explored(&in_c(row).compile_plain(), &[], 1);
    let file = explored.file.expect("a file").display().to_string();
    let report = juror(&["replay", "--batch", &file]).run().stdout;
    let end = said_at_the_prompt(&report);
    if end == ENDLESS {
        // Its commands do not end either.
        return;
    }
    for seed in 0..sessions {
        let mut numbers = Numbers((seed << 8) + index as u64 + 1);
        let mut lines: Vec<&str> = Vec::new();
        for _ in 0..COMMANDS {
            let word = numbers.below(WORDS.len() as u64) as usize;
            lines.push(WORDS[word]);
        }
        lines.push("delete");
        lines.extend(["continue"; 4]);
        lines.push("kill");
        let input = lines.join("\n") + "\n";
        let arguments = ["replay", "-e", "tbreak main", &file];
        let output = juror(&arguments).input(input.clone()).run();
        let text = format!("{}{}", output.stdout, output.stderr);
        let name = row.name;
        assert!(text.contains(&end), "{name}, {seed}, {end}: {input}{text}");
        assert!(
            !text.contains("ANOTHER WAY"),
            "{name}, {seed}: {input}{text}"
        );
        assert!(
            !text.contains("juror is at fault"),
            "{name}, {seed}: {text}"
        );
    }
}

fn sessions() -> u64 {
    let asked = std::env::var(SESSIONS_VARIABLE).ok();
    asked
        .and_then(|asked| asked.parse().ok())
        .unwrap_or(SESSIONS)
}

#[test]
fn a_run_is_the_same_whatever_the_user_does_at_the_prompt() {
    for index in (0..FAULTY.len()).step_by(2) {
        check_sessions(index, sessions());
    }
}

#[test]
fn a_run_is_the_same_whatever_the_user_does_at_the_prompt_second_part() {
    for index in (1..FAULTY.len()).step_by(2) {
        check_sessions(index, sessions());
    }
}

/// The report of the page holds the stop as the prompt tells it.
#[test]
fn the_page_shows_how_a_run_that_is_made_again_ends() {
    let row = FAULTY.first().expect("a row");
    let explored = explored(&in_c(row).compile_plain(), &[], 1);
    let file = explored.file.expect("a file").display().to_string();
    let directory = tempfile::tempdir().expect("a directory");
    let page = directory.path().join("page.html");
    let web = format!("--web={}", page.display());
    let arguments = ["replay", &web, "-e", "run", "-e", "quit", &file];
    let output = juror(&arguments).run();
    let text = format!("{}{}", output.stdout, output.stderr);
    let page = std::fs::read_to_string(page).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert!(page.contains("\"stop_text\":\"DEADLOCK"), "{text}");
    assert!(page.contains("which thread 3 has"), "{text}");
}

#[test]
fn the_user_chooses_the_thread_that_goes_on() {
    let row = FAULTY.first().expect("a row");
    assert_eq!(row.name, "opposite-locks");
    let explored = explored(&in_c(row).compile_plain(), &[], 1);
    let file = explored.file.expect("a file").display().to_string();
    // The second thread has its lock when the third one begins. The second goes on first, and
    // nobody waits for ever.
    let typed = "break two\nrun\nschedule\nschedule 1\nschedule 2\nschedule 9\ndelete\ncontinue\nrun\nkill\n";
    let output = juror(&["replay", &file]).input(typed).run();
    let text = format!("{}{}", output.stdout, output.stderr);
    let answers: Vec<&str> = output.stdout.split("(juror) ").collect();
    let answer = |line: &str| {
        let answers = answers
            .iter()
            .filter(|it| it.starts_with(&format!("{line}\n")));
        answers.copied().collect::<Vec<_>>()
    };
    let [shown] = answer("schedule")[..] else {
        panic!("{text}");
    };
    assert!(shown.contains("3       runs"), "{text}");
    assert!(!shown.contains("has left its order"), "{text}");
    let [chosen] = answer("schedule 2")[..] else {
        panic!("{text}");
    };
    assert!(chosen.contains("2       runs"), "{text}");
    assert!(chosen.contains("has left its order"), "{text}");
    assert!(text.contains("`9` is no thread"), "{text}");
    let [ended] = answer("continue")[..] else {
        panic!("{text}");
    };
    assert!(ended.contains("exited with status 0"), "{text}");
    // The first run, and the last one.
    assert_eq!(answer("run").len(), 2, "{text}");
    assert!(answer("run")[1].contains("DEADLOCK"), "{text}");
}

#[test]
fn what_would_make_it_another_run_is_refused() {
    let row = FAULTY.first().expect("a row");
    let explored = explored(&in_c(row).compile_plain(), &[], 1);
    let file = explored.file.expect("a file").display().to_string();
    let typed = "checkpoint\nprint getpid()\nbacktrace\nkill\n";
    let output = juror(&["replay", &file]).input(typed).run();
    let text = format!("{}{}", output.stdout, output.stderr);
    assert!(
        text.contains("a checkpoint is not possible while a run is made again"),
        "{text}"
    );
    assert!(
        text.contains("a call of a function is not possible"),
        "{text}"
    );
    assert!(output.stdout.contains("pthread_mutex_lock"), "{text}");
}

#[test]
fn the_steps_of_the_threads_are_shown_side_by_side() {
    let row = FAULTY.first().expect("a row");
    assert_eq!(row.name, "opposite-locks");
    let explored = explored(&in_c(row).compile_plain(), &[], 1);
    let file = explored.file.expect("a file").display().to_string();
    let directory = tempfile::tempdir().expect("a directory");
    let picture = directory.path().join("steps.svg");
    let typed = format!(
        "info communication\ninfo communication 2\ninfo communication {}\n\
         info communication 0\nkill\ninfo communication\n",
        picture.display()
    );
    let output = juror(&["replay", &file]).input(typed).run();
    let text = format!("{}{}", output.stdout, output.stderr);
    let answers: Vec<&str> = output.stdout.split("(juror) ").skip(1).collect();
    let [all, last, drawn, ..] = answers[..] else {
        panic!("{text}");
    };
    let heading = all.lines().nth(1).unwrap_or_default();
    for thread in 1..=3 {
        assert!(heading.contains(&format!("thread {thread}")), "{text}");
    }
    // The last steps are those by which the two threads wait for each other.
    let waits: Vec<&str> = all.lines().filter(|it| it.contains("waits for")).collect();
    assert_eq!(waits.len(), 2, "{text}");
    assert!(all.contains("pthread_mutex_lock("), "{text}");
    assert!(!all.contains("_rtld_"), "{text}");
    assert!(last.contains("older steps left out"), "{text}");
    assert!(drawn.contains("shows it"), "{text}");
    let picture = std::fs::read_to_string(picture).expect("the picture");
    assert!(picture.starts_with("<svg "), "{picture}");
    assert!(picture.contains(">thread 3</text>"), "{picture}");
    assert!(text.contains("unexpected `0`"), "{text}");
    assert!(text.contains("the program is not running"), "{text}");
}
