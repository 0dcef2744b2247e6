//! `juror property`: checks, formats and draws property files.

use juror_testing::{Expected, Fixture, repository_directory};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

struct Said {
    status: i32,
    stdout: String,
    stderr: String,
}

fn juror(directory: &Path, arguments: &[&str], input: &str) -> Said {
    let mut child = Command::new(env!("CARGO_BIN_EXE_juror"))
        .arg("property")
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("juror runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    // It may end without reading.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    Said {
        status: output.status.code().expect("a status"),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}

const MESSY: &str = "property p\nevent e=before f(x)\n\n\nvar  count = 0 # so far\nstate init {\n on e when count<3 {count += 1} ->init else->bad\n}\nstate bad non-accepting\n";
const TIDY: &str = "\
property p
event e = before f(x)

var count = 0  # so far
state init {
    on e when count < 3 {count += 1}  -> init  else -> bad
}
state bad non-accepting
";

fn directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("messy.prop"), MESSY).expect("a file");
    fs::write(directory.path().join("tidy.prop"), TIDY).expect("a file");
    fs::write(directory.path().join("wrong.prop"), "property p\nstte x\n").expect("a file");
    directory
}

#[test]
fn a_file_is_laid_out_in_place() {
    let directory = directory();
    let file = directory.path().join("messy.prop");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("permissions");
    let said = juror(directory.path(), &["fmt", "messy.prop"], "");
    assert_eq!((said.status, &*said.stdout, &*said.stderr), (0, "", ""));
    assert_eq!(fs::read_to_string(&file).expect("a file"), TIDY);
    let mode = fs::metadata(&file).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}

#[test]
fn standard_input_goes_to_standard_output() {
    let directory = directory();
    for arguments in [&["fmt"][..], &["fmt", "-"], &["format", "-"]] {
        let said = juror(directory.path(), arguments, MESSY);
        assert_eq!((said.status, &*said.stdout), (0, TIDY));
    }
}

#[test]
fn check_names_what_is_not_laid_out() {
    let directory = directory();
    let said = juror(
        directory.path(),
        &["fmt", "--check", "messy.prop", "tidy.prop"],
        "",
    );
    assert_eq!(said.status, 1);
    assert_eq!(said.stdout, "messy.prop is not formatted\n");
    let said = juror(directory.path(), &["fmt", "--check", "tidy.prop"], "");
    assert_eq!((said.status, &*said.stdout), (0, ""));
}

#[test]
fn a_file_with_a_mistake_stays_as_it_is() {
    let directory = directory();
    let said = juror(directory.path(), &["fmt", "wrong.prop", "messy.prop"], "");
    assert_eq!(said.status, 2);
    assert!(said.stderr.contains("wrong.prop:2:1"), "{}", said.stderr);
    assert!(
        said.stderr.contains("did you mean `state`?"),
        "{}",
        said.stderr
    );
    let wrong = fs::read_to_string(directory.path().join("wrong.prop"));
    assert_eq!(wrong.expect("a file"), "property p\nstte x\n");
    // The others are laid out all the same.
    let messy = fs::read_to_string(directory.path().join("messy.prop"));
    assert_eq!(messy.expect("a file"), TIDY);
}

const BOUND: &str = r#"
#include <stdio.h>
static inline __attribute__((always_inline)) int half(int n) { return n / 2; }
__attribute__((noinline)) int f(int n) { int local = n; local += 1; return half(local); }
int global;
int main(void) { puts("it runs"); global = f(1); return half(global); }
"#;

#[test]
fn events_are_bound_to_a_program_that_does_not_run() {
    let program = Fixture::c("bound.c", BOUND).compile_plain();
    let directory = tempfile::tempdir().expect("a directory");
    let check = |property: &str, options: &[&str]| {
        fs::write(directory.path().join("p.prop"), property).expect("a file");
        let mut arguments = vec!["check", "--program", program.to_str().expect("text")];
        arguments.extend(options);
        arguments.push("p.prop");
        juror(directory.path(), &arguments, "")
    };
    let property = "property p
event begin = before f(n)
event store = write global
event local = write local
event system = exit write
event later = before plugin(n) in library
state init { on begin -> init on store -> init on local -> init on system -> init on later -> init }
";
    let said = check(property, &[]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    let rows: Vec<String> = said.stdout.lines().map(words_of).collect();
    for (event, place) in [
        ("p begin before f", "f at "),
        ("store write global", ""),
        ("local write local", "each call of f at "),
        ("system exit write", "the kernel reports it"),
        (
            "later before plugin",
            "no loaded module has the function `plugin`",
        ),
    ] {
        let expected = format!("{event} {place}");
        assert!(
            rows.iter().any(|row| row.starts_with(expected.trim_end())),
            "{expected}: {rows:#?}"
        );
    }
    assert!(!said.stdout.contains("it runs"), "{}", said.stdout);
    assert_eq!(check(property, &["--strict"]).status, 2);

    let inlined = "property p
event half = before half(n)
state init { on half -> init }
";
    let said = check(inlined, &[]);
    assert_eq!(said.status, 2);
    assert!(said.stderr.contains("inlined into"), "{}", said.stderr);
    let said = check(inlined, &["--ignore-inlined"]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert!(
        said.stdout.contains("2 inlined calls are not monitored"),
        "{}",
        said.stdout
    );

    let absent = "property p
event gone = before gone()
state init { on gone -> init }
";
    let said = check(absent, &[]);
    assert_eq!(said.status, 2);
    assert!(
        said.stderr.contains("no function `gone`"),
        "{}",
        said.stderr
    );
}

/// Returns a line with one space between its words.
fn words_of(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn check_counts_what_it_finds() {
    let directory = directory();
    let said = juror(directory.path(), &["check", "tidy.prop"], "");
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert_eq!(said.stdout, "1 property, no errors, no warnings\n");
    let said = juror(
        directory.path(),
        &["check", "tidy.prop", "wrong.prop", "none.prop"],
        "",
    );
    assert_eq!(said.status, 2);
    assert!(said.stdout.starts_with("1 property, "), "{}", said.stdout);
    assert!(
        said.stderr.contains("none.prop cannot be read"),
        "{}",
        said.stderr
    );
    let said = juror(directory.path(), &["check", "--json", "wrong.prop"], "");
    let line = said.stdout.lines().next().expect("a line");
    let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
    assert_eq!(line["diagnostics"][0]["line"], 2, "{line}");
}

#[test]
fn warnings_count_when_they_shall() {
    let directory = directory();
    let source = format!("{TIDY}event unused = before g\n");
    fs::write(directory.path().join("warned.prop"), source).expect("a file");
    let said = juror(directory.path(), &["check", "warned.prop"], "");
    assert_eq!(said.status, 0);
    assert!(said.stdout.contains("1 warning\n"), "{}", said.stdout);
    let said = juror(directory.path(), &["check", "--strict", "warned.prop"], "");
    assert_eq!(said.status, 2);
    // The warning is the reason, and not an option that is not known.
    assert!(said.stdout.contains("1 warning\n"), "{}", said.stdout);
    let said = juror(directory.path(), &["check", "--strict", "tidy.prop"], "");
    assert_eq!(said.status, 0, "{}", said.stderr);
}

#[test]
fn a_property_is_drawn_in_each_form() {
    let directory = directory();
    let said = juror(directory.path(), &["show", "tidy.prop"], "");
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert_eq!(
        said.stdout,
        "\
p

 → init
      e when count < 3  { count += 1 }  → init
      e unless count < 3                → bad

   bad  [violation]
"
    );
    for (form, start) in [
        ("dot", "digraph \"p\" {"),
        ("svg", "<svg xmlns="),
        ("mermaid", "flowchart TD"),
    ] {
        let said = juror(directory.path(), &["show", "--as", form, "tidy.prop"], "");
        assert_eq!(said.status, 0);
        assert!(said.stdout.starts_with(start), "{}", said.stdout);
        // What is in the picture does not move.
        assert!(said.stdout.contains("state-1"), "{}", said.stdout);
    }
}

#[test]
fn a_property_is_chosen_by_name() {
    let directory = directory();
    let two = format!("{TIDY}\n{}", TIDY.replace("property p", "property second"));
    fs::write(directory.path().join("two.prop"), two).expect("a file");
    let said = juror(directory.path(), &["show", "two.prop", "second"], "");
    assert!(said.stdout.starts_with("second\n"), "{}", said.stdout);
    let said = juror(directory.path(), &["show", "two.prop", "secnd"], "");
    assert_eq!(said.status, 2);
    assert!(
        said.stderr.contains("did you mean `second`?"),
        "{}",
        said.stderr
    );
    let said = juror(directory.path(), &["show", "--as", "svg", "two.prop"], "");
    assert_eq!(said.status, 2);
    assert!(
        said.stderr.contains("name one of p, second"),
        "{}",
        said.stderr
    );
}

/// A formula about `f` and `g`.
fn formula(text: &str) -> String {
    format!(
        "property p\nproposition asked\n    pulse before f\nproposition answered\n    pulse before g\nltl {text}\n"
    )
}

#[test]
fn a_formula_that_no_run_decides_is_announced() {
    let directory = directory();
    let check = |text: &str| {
        fs::write(directory.path().join("formula.prop"), formula(text)).expect("a file");
        juror(directory.path(), &["check", "formula.prop"], "")
    };
    let said = check("always (asked implies eventually answered)");
    assert_eq!(said.status, 0, "{}", said.stderr);
    for part in [
        "note[undecided]: this is decided only at the end of the run",
        "--> formula.prop:6:1",
        "help: no events decide it earlier",
        "a bound does:",
    ] {
        assert!(said.stderr.contains(part), "{part}: {}", said.stderr);
    }
    let said = check("always (asked implies eventually within 1 s answered)");
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert!(!said.stderr.contains("undecided"), "{}", said.stderr);
}

#[test]
fn what_is_not_drawn_says_why() {
    let directory = directory();
    for (text, why) in [
        (
            "always (asked implies eventually from 1 to 3 s answered)",
            "`eventually from 1 s to 3 s answered` can be pending any number of times at once",
        ),
        (
            "always (asked implies eventually within 900 steps answered)",
            "its automaton has more than 500 states, which is too large for a picture",
        ),
    ] {
        fs::write(directory.path().join("formula.prop"), formula(text)).expect("a file");
        let said = juror(directory.path(), &["show", "formula.prop"], "");
        assert_eq!(said.status, 0, "{}", said.stderr);
        assert!(
            said.stdout.starts_with("p: always (asked"),
            "{}",
            said.stdout
        );
        assert!(
            said.stdout.contains(&format!("(not drawn: {why}")),
            "{}",
            said.stdout
        );
        let said = juror(
            directory.path(),
            &["show", "--as", "svg", "formula.prop"],
            "",
        );
        assert_eq!(said.status, 2);
        assert!(
            said.stderr.contains(&format!("`p` cannot be drawn: {why}")),
            "{}",
            said.stderr
        );
    }
}

#[test]
fn help_begins_with_examples() {
    let directory = directory();
    for arguments in [&["--help"][..], &["fmt", "--help"], &["show", "--help"]] {
        let said = juror(directory.path(), arguments, "");
        assert_eq!(said.status, 0);
        assert!(said.stdout.starts_with("Examples:\n"), "{}", said.stdout);
    }
}

#[test]
fn the_book_shows_a_picture_with_time() {
    let page = repository_directory().join("book/src/property-command.md");
    let file = Expected::file(page);
    let page = file.text();
    let block = |mark: &str| {
        let from = page.find(mark).expect("the mark is there");
        let lines = page[from..]
            .lines()
            .skip_while(|line| !line.starts_with("```"));
        let lines = lines.skip(1).take_while(|line| !line.starts_with("```"));
        lines.flat_map(|line| [line, "\n"]).collect::<String>()
    };
    let directory = directory();
    fs::write(
        directory.path().join("answered.prop"),
        block("<!-- file: answered.prop -->"),
    )
    .expect("a file");
    let said = juror(directory.path(), &["show", "answered.prop"], "");
    let shown = block("<!-- output: answered -->");
    let given = format!("$ juror property show answered.prop\n{}", said.stdout);
    file.check_part(&shown, &given, &said.stderr);
    for form in ["dot", "svg", "mermaid"] {
        let said = juror(
            directory.path(),
            &["show", "--as", form, "answered.prop"],
            "",
        );
        assert_eq!(said.status, 0, "{form}: {}", said.stderr);
        assert!(said.stdout.contains("5 ms over"), "{form}: {}", said.stdout);
    }
}
