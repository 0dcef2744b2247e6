//! A program that evaluates expressions of C itself, and shows their values and the variables
//! afterwards, each in a fresh state. A debugger does the same where it calls `look`.

use crate::support::dialog::dialog;
use juror_testing::{Build, Fixture, Language};
use std::path::Path;
use std::process::Command;

const PROGRAM: &str = r#"
#include <stdio.h>
#include <string.h>
struct bits { unsigned low : 3; int high : 5; };
struct pair { int a; long b; };
enum color { RED, GREEN, BLUE };
signed char c; unsigned char uc; short s; unsigned short us; int y; unsigned u;
long l; unsigned long ul; float f; double d; _Bool b; struct bits bits;
struct pair o, *q; int table[8]; int calls; enum color e; char name[4];
int ri = 5; unsigned ru = 7; signed char rc = -3; long rl = 1000; double rd = 2.5;
int next(void) { return calls++; }
int twice(int i) { calls += 10; return 2 * i; }
void look(void) {}
static void reset(void)
{
    c = 100; uc = 200; s = 30; us = 5; y = 1; u = 7; l = -4; ul = 50; f = 2.5f; d = 1.5; b = 1;
    bits.low = 6; bits.high = -7; o.a = 3; o.b = 4; q = &o; calls = 0; e = RED;
    for (int i = 0; i < 8; i++) table[i] = 10 * (i + 1);
    memcpy(name, "abc", 4);
}
static void show_signed(long long v) { printf("= %lld\n", v); }
static void show_unsigned(unsigned long long v) { printf("= %llu\n", v); }
static void show_fraction(double v) { printf("= %.17g\n", v); }
static void show_place(int *v) { printf("= #%ld\n", (long)(v - table)); }
#define SHOW(value) _Generic((value) + 0, int: show_signed, long: show_signed, \
    unsigned: show_unsigned, unsigned long: show_unsigned, float: show_fraction, \
    double: show_fraction, int *: show_place)((value) + 0)
"#;

/// The variables, as `printf` shows them in the program and in debuggers.
const VARIABLES: &str = r#""V %d %d %ld %d %d %d %d %d %u %ld %lu %.17g %.17g %d %d %d %d %ld %d %d %d %d %d %d %d %d %d %d %d %d\n", x, n, p - table, c, uc, s, us, y, u, l, ul, f, d, b, bits.low, bits.high, o.a, o.b, calls, e, name[0], name[1], table[0], table[1], table[2], table[3], table[4], table[5], table[6], table[7]"#;

/// The value of a form, and the variables afterwards.
type Seen = (String, String);

fn source(forms: &[String]) -> String {
    let state = "reset(); x = 2; n = 3; p = table;";
    let evaluated: Vec<String> = forms
        .iter()
        .map(|form| format!("    {state} SHOW(({form})); printf({VARIABLES});\n"))
        .collect();
    format!(
        "{PROGRAM}int main(int argc, char **argv)\n{{\n    int x, n; int *p;\n    (void)argv;\n    \
         for (int i = 0; argc > 1 && i < {}; i++) {{ {state} look(); }}\n    \
         if (argc > 1) return 0;\n{}    return 0;\n}}\n",
        forms.len(),
        evaluated.concat()
    )
}

fn compiled(forms: &[String], build: &Build) -> std::path::PathBuf {
    Fixture::c("assigning", &source(forms)).compile(build)
}

/// Returns what the program says of its forms.
fn of_program(executable: &Path) -> Vec<Seen> {
    let output = Command::new(executable).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut seen = Vec::new();
    let mut lines = text.lines();
    while let (Some(value), Some(variables)) = (lines.next(), lines.next()) {
        let value = value.strip_prefix("= ").expect("a value");
        seen.push((number(value), variables_in(variables)));
    }
    seen
}

/// Returns the commands that look at each form where `look` was called.
fn commands(forms: &[String]) -> Vec<String> {
    let mut commands = vec!["break look".to_owned(), "run debugged".to_owned()];
    for form in forms {
        let print = format!("print {form}");
        commands.extend(["up".to_owned(), print, format!("printf {VARIABLES}")]);
        commands.push("continue".to_owned());
    }
    commands
}

fn of_juror(executable: &Path, forms: &[String]) -> Vec<Seen> {
    let commands = commands(forms);
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    let answers = dialog(executable, &commands);
    let mut seen = answers.get(2..).unwrap_or_default().chunks(4);
    forms
        .iter()
        .map(|_| match seen.next() {
            Some([_, value, variables, _]) => (number(value), variables_in(variables)),
            other => (format!("{other:?}"), String::new()),
        })
        .collect()
}

/// Returns what gdb says of the forms, or `None` if it is not installed.
fn of_gdb(executable: &Path, forms: &[String]) -> Option<Vec<Seen>> {
    let mut gdb = Command::new("gdb");
    gdb.args(["-nx", "-q", "-batch", "-iex", "set debuginfod enabled off"]);
    for line in commands(forms) {
        gdb.args(["-ex", &line]);
    }
    let output = gdb.arg(executable).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut seen = Vec::new();
    let mut value = String::new();
    for line in text.lines() {
        if line.starts_with("V ") {
            seen.push((std::mem::take(&mut value), variables_in(line)));
        } else if let Some((_, shown)) = line.split_once(" = ").filter(|_| line.starts_with('$')) {
            value = number(shown);
        }
    }
    Some(seen)
}

/// Returns a value in one form: `98 'b'` is 98, a truth value 0 or 1, a pointer the number of
/// its element, an enumerator its number.
fn number(shown: &str) -> String {
    if let Some((_, place)) = shown.split_once("<table") {
        let place = place.trim_end_matches('>').trim_start_matches('+');
        let offset: u64 = place.parse().unwrap_or(0);
        return format!("#{}", offset / 4);
    }
    let word = shown.split_whitespace().next().unwrap_or("");
    match word {
        "true" | "GREEN" => "1".to_owned(),
        "false" | "RED" => "0".to_owned(),
        "BLUE" => "2".to_owned(),
        _ if word.contains('.') => word
            .parse()
            .map_or(word.to_owned(), |it: f64| it.to_string()),
        _ if word.parse::<i128>().is_ok() || word.starts_with('#') => word.to_owned(),
        _ => shown.to_owned(),
    }
}

fn variables_in(line: &str) -> String {
    let words = line.split_whitespace().map(number);
    words.collect::<Vec<_>>().join(" ")
}

/// Checks that juror evaluates the forms as the program does.
#[track_caller]
pub(super) fn check(forms: &[String], build: &Build) {
    let executable = compiled(forms, build);
    compare(
        forms,
        &of_juror(&executable, forms),
        &executable,
        "juror",
        build,
    );
}

/// Checks that gdb does, if it is installed.
#[track_caller]
pub(super) fn check_gdb(forms: &[String]) {
    let build = &crate::support::printed::plain_builds(Language::C)[0];
    let executable = compiled(forms, build);
    match of_gdb(&executable, forms) {
        Some(seen) => compare(forms, &seen, &executable, "gdb", build),
        None => println!("There is no gdb here: what it assigns is not compared."),
    }
}

/// Checks that juror and gdb say the same of forms whose values are open in C.
#[track_caller]
pub(super) fn compare_with_gdb(forms: &[String]) {
    let build = &crate::support::printed::plain_builds(Language::C)[0];
    let executable = compiled(forms, build);
    let of_juror = of_juror(&executable, forms);
    match of_gdb(&executable, forms) {
        Some(of_gdb) => {
            for (at, form) in forms.iter().enumerate() {
                assert_eq!(of_juror.get(at), of_gdb.get(at), "{form}");
            }
        }
        None => println!("There is no gdb here: the order is not compared."),
    }
}

#[track_caller]
fn compare(forms: &[String], seen: &[Seen], executable: &Path, who: &str, build: &Build) {
    let expected = of_program(executable);
    assert_eq!(expected.len(), forms.len(), "{build}");
    let differing: Vec<String> = forms
        .iter()
        .enumerate()
        .filter(|(at, _)| seen.get(*at) != expected.get(*at))
        .map(|(at, form)| format!("{form}:\n  {:?}\n  {:?}", seen.get(at), expected[at]))
        .collect();
    assert!(
        differing.is_empty(),
        "{who} and the program differ, {build}:\n{}",
        differing.join("\n")
    );
}
