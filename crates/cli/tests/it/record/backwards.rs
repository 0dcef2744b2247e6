//! Steps backwards in recorded runs: they come to the places of the steps forwards, in reverse order.

use super::recorded;
use crate::support::juror;
use juror_testing::{Build, Compiler, Fixture, Language, Numbers, Optimization};
use std::fmt::Write;
use std::path::Path;

/// The most steps of a walk.
const STEPS: usize = 30;

/// The questions at each place.
const SEEN: [&str; 3] = ["print $pc", "print $sp", "backtrace 1"];

/// Types commands over a run. Returns the answers to each, in order.
fn answers(file: &Path, commands: &[&str]) -> Vec<(String, String)> {
    let input = commands.join("\n") + "\nkill\nquit\n";
    let output = juror(&["replay", &file.display().to_string()])
        .input(input)
        .run();
    let answers = output.stdout.split("(juror) ").skip(1);
    let answers = answers.filter_map(|answer| {
        let (line, answer) = answer.split_once('\n')?;
        Some((line.to_owned(), answer.to_owned()))
    });
    answers.collect()
}

/// Returns the places that a run comes to by a command, and those that it stands at before. They end
/// where the thread leaves the program's own functions.
fn places(file: &Path, before: &[&str], command: &str, count: usize) -> Vec<String> {
    let mut commands = before.to_vec();
    commands.extend(SEEN);
    for _ in 0..count {
        commands.push(command);
        commands.extend(SEEN);
    }
    let all = answers(file, &commands);
    let shown = all.get(before.len()..).unwrap_or_default();
    let groups = shown.chunks(SEEN.len() + 1).map(|group| {
        let seen = group.iter().filter(|(line, _)| line != command);
        let values = seen.map(|(_, answer)| answer.split_once(" = ").map_or(&**answer, |it| it.1));
        // The session ends by `kill`.
        values
            .collect::<String>()
            .replace("The program is gone.\n", "")
    });
    let mut groups: Vec<String> = groups.collect();
    let is_own =
        |place: &String| place.contains("+") && place.contains(".c:") || place.contains(">\n");
    let own = groups
        .iter()
        .take_while(|it| is_own(it) && !it.contains("__libc"));
    let count = own.count();
    groups.truncate(count);
    groups
}

/// Checks that a command backwards comes to the places of the one forwards.
#[track_caller]
fn check(file: &Path, forwards: &str, backwards: &str) {
    let seen = places(file, &["tbreak main", "run"], forwards, STEPS);
    assert!(seen.len() > 2, "{forwards}: {seen:?}");
    let steps = seen.len() - 1;
    let mut before = vec!["tbreak main", "run"];
    before.extend(vec![forwards; steps]);
    let mut back = places(file, &before, backwards, steps);
    // A walk that begins within an inlined call leaves it, and does not come back into it.
    let is_within = |place: &&String| place.contains("[inlined]");
    let within = seen.iter().take_while(is_within).count();
    back.truncate(seen.len() - within);
    back.reverse();
    assert_eq!(back, seen[within..], "{backwards}");
}

/// Checks that a command backwards comes to all places of the one forwards, in reverse order, and
/// perhaps to others in between: before an inlined call at whose first instruction a call returns.
#[track_caller]
fn check_within(file: &Path, forwards: &str, backwards: &str) {
    let seen = places(file, &["tbreak main", "run"], forwards, STEPS);
    let steps = seen.len() - 1;
    let mut before = vec!["tbreak main", "run"];
    before.extend(vec![forwards; steps]);
    let back = places(file, &before, backwards, 2 * steps);
    let mut rest = back.iter();
    let is_there = seen.iter().rev().all(|place| rest.any(|it| it == place));
    assert!(is_there, "{backwards}: {back:?} without {seen:?}");
}

/// Each command forwards, and the one that undoes it.
const PAIRS: [(&str, &str); 4] = [
    ("step", "reverse-step"),
    ("next", "reverse-next"),
    ("stepi", "reverse-stepi"),
    ("nexti", "reverse-nexti"),
];

/// Random programs: statements in functions that call each other.
struct Generator(Numbers);

impl Generator {
    fn choose(&mut self, count: u64) -> u64 {
        self.0.below(count)
    }

    /// Returns an expression in the function with a number: it calls those before it.
    fn expression(&mut self, function: u64, depth: u64) -> String {
        match self.choose(5) {
            1 if function > 0 && depth < 3 => {
                let callee = self.choose(function);
                format!("f{callee}({})", self.expression(function, depth + 1))
            }
            2 if depth < 3 => format!("abs({})", self.expression(function, depth + 1)),
            3 if depth < 3 => {
                let left = self.expression(function, depth + 1);
                format!("({left} ^ {})", self.expression(function, depth + 1))
            }
            4 => self.choose(9).to_string(),
            _ => "a".to_owned(),
        }
    }

    fn statement(&mut self, text: &mut String, function: u64, depth: usize) {
        let value = self.expression(function, 0);
        let by = "    ".repeat(depth);
        let _ = match self.choose(8) {
            0 if depth < 3 => {
                let _ = writeln!(text, "{by}if (({value}) & 1) {{");
                self.statement(text, function, depth + 1);
                let _ = writeln!(text, "{by}}} else {{");
                self.statement(text, function, depth + 1);
                writeln!(text, "{by}}}")
            }
            1 if depth < 3 => {
                let _ = writeln!(text, "{by}for (int i = 0; i < 2; i++) {{");
                self.statement(text, function, depth + 1);
                writeln!(text, "{by}}}")
            }
            2 => writeln!(text, "{by}for (int k = 0; k < 2; k++) b += {value};"),
            3 => writeln!(text, "{by}b = {value}\n{by}    + a;"),
            4 => writeln!(
                text,
                "{by}switch (a & 3) {{\n{by}case 0: a++; break;\n{by}default:\n{by}    b--;\n{by}}}"
            ),
            5 => writeln!(text, "{by}sorted(&a, {value});"),
            _ => writeln!(text, "{by}a += {value};"),
        };
    }

    fn program(&mut self) -> String {
        let mut text = "#include <stdlib.h>\n\
             static int order(const void *a, const void *b) {\n    \
             return *(const int *)a - *(const int *)b;\n}\n\
             static void sorted(int *a, int b) {\n    int all[3] = {*a, b, 3};\n    \
             qsort(all, 3, sizeof *all, order);\n    *a ^= all[1];\n}\n"
            .to_owned();
        let kinds = [
            "",
            "inline __attribute__((always_inline)) ",
            "__attribute__((noinline)) ",
        ];
        for function in 0..3 {
            let kind = kinds[self.choose(3) as usize];
            let _ = writeln!(
                text,
                "static {kind}int f{function}(int a) {{\n    int b = 1;"
            );
            if !kind.contains("always") {
                let _ = writeln!(
                    text,
                    "    if (a > 0 && a < 3)\n        return f{function}(a - 1);"
                );
            }
            self.statement(&mut text, function, 1);
            self.statement(&mut text, function, 1);
            text += "    return a + b;\n}\n";
        }
        text += "int main(int argc, char **argv) {\n    int a = argc, b = 0;\n";
        for _ in 0..4 {
            self.statement(&mut text, 3, 1);
        }
        text + "    return (a ^ b) & 1;\n}\n"
    }
}

/// Records random programs, and walks through each.
#[track_caller]
fn check_random(seed: u64, optimization: Optimization) {
    let source = Generator(Numbers(seed)).program();
    for compiler in Compiler::of(Language::C)
        .iter()
        .filter(|it| it.is_present())
    {
        let build = Build {
            compiler: *compiler,
            optimization,
            ..Build::plain(Language::C)
        };
        let executable = Fixture::c(&format!("backwards{seed}"), &source).compile(&build);
        let run = recorded(&executable, &[], "", 0);
        for (forwards, backwards) in PAIRS {
            match (optimization, forwards) {
                (Optimization::Full, "step") => check_within(&run.file, forwards, backwards),
                _ => check(&run.file, forwards, backwards),
            }
        }
    }
}

#[test]
fn steps_of_random_programs_are_undone() {
    for seed in 1..3 {
        check_random(seed, Optimization::None);
    }
}

#[test]
fn steps_of_optimized_programs_are_undone() {
    for seed in 4..6 {
        check_random(seed, Optimization::Full);
    }
}

/// Two threads, whose steps come in turn.
const TURNS: &str = "#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;
static void add(int number) {
    pthread_mutex_lock(&lock);
    sum += number;
    pthread_mutex_unlock(&lock);
}
static void *work(void *unused) {
    for (int i = 0; i < 3; i++)
        add(i);
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    add(7);
    return 0;
}
";

#[test]
fn a_thread_steps_back_over_what_others_did() {
    let fixture = Fixture::c("backwards_threads", TURNS).argument("-pthread");
    let run = recorded(&fixture.compile_plain(), &[], "", 0);
    let lines = |commands: &[&str]| -> Vec<String> {
        let answers = answers(&run.file, commands);
        let shown = answers.iter().filter_map(|(_, answer)| {
            let first = answer.lines().find(|line| line.contains(", thread "))?;
            let (_, at) = first.split_once(" at ")?;
            let (place, _) = at.split_once(',')?;
            Some(place.rsplit_once('/').map_or(place, |it| it.1).to_owned())
        });
        shown
            .map(|it| it.rsplit(':').next().unwrap_or("").to_owned())
            .collect()
    };
    let mut commands = vec!["break 20", "run"];
    commands.extend(["reverse-next"; 6]);
    assert_eq!(lines(&commands), ["20", "19", "18", "17", "16"]);
    let mut commands = vec!["break 20", "run", "next"];
    commands.extend(["reverse-step"; 4]);
    assert_eq!(lines(&commands), ["20", "21", "8", "7", "6", "5"]);
    // A step over the calls ends at a breakpoint in one.
    let commands = ["break 20", "run", "break 6", "next", "next", "reverse-next"];
    assert_eq!(lines(&commands), ["20", "6", "7", "6"]);
    let mut commands = vec!["break add if number == 7", "run", "next 2"];
    commands.extend(["reverse-finish"; 2]);
    assert_eq!(lines(&commands), ["5", "7", "5", "20"]);
}

#[test]
fn the_first_statement_has_none_before() {
    let fixture = Fixture::c("backwards_threads", TURNS).argument("-pthread");
    let run = recorded(&fixture.compile_plain(), &[], "", 0);
    let file = run.file.display().to_string();
    let commands = "break main\nrun\nreverse-step\nreverse-next 3\nbacktrace\nnext\n\
                    reverse-step 5\nkill\nquit\n";
    let output = juror(&["replay", &file]).input(commands).run();
    let text = format!("{}{}", output.stdout, output.stderr);
    assert_eq!(text.matches("no more history").count(), 2, "{text}");
    assert!(text.contains("#0  main () at"), "{text}");
}
