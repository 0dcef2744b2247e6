//! Guards of properties compute with values of the program as the program does; the compiler
//! is the reference.

use crate::support::{Batch, juror};
use juror_testing::{Build, Compiler, Fixture, Language, Optimization};
use std::fmt::Write as _;
use std::path::Path;

const TYPES: &str = r#"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
enum mode { OFF, ON };
struct queue {
    unsigned count, max;
    size_t size;
    long total;
    int delta;
    unsigned char flag;
    unsigned narrow : 3;
    unsigned wide : 32;
    float ratio, third;
    double half;
    int *first, *last;
    enum mode mode;
    bool open;
    struct queue *next;
};
"#;

const MAIN: &str = r#"
int main(void) {
    int cells[6] = {1, 2, 3, 4, 5, 6};
    struct queue q = {0, 5, 0, -3, -1, 200, 1, 1, 0.1f, 0.3f, 0.5, cells, cells + 4, ON, true, 0};
    return seen(&q, 1, 2, -1, cells + 1, 0.1f) & 0;
}
"#;

/// Expressions of C that are true or false. Compilers may warn of some: that is the point.
const GUARDS: &[&str] = &[
    "q->count - 1 > 3",
    "q->count - 1 < q->max",
    "n - 2 > q->max",
    "n - size > 100",
    "i < n",
    "i > size",
    "-1 < n",
    "n > -1",
    "i == -1 && i == 4294967295",
    "-n > 5",
    "~n > 5",
    "~q->flag < 0",
    "~q->size == -1",
    "q->size - 1 == -1",
    "q->narrow - 2 < 0",
    "q->wide - 2 < 0",
    "q->flag + 100 > 255",
    "q->flag * 2 - 500 < 0",
    "q->delta + n == 0",
    "q->delta / n > 1",
    "(q->count - 1) / 2 > 1000",
    "(q->count - 7) % 10 == 9",
    "q->total + q->count < 0",
    "q->total - q->size > 0",
    "q->total * n < 0",
    "n << 31 > 5 && n << 1 == 2",
    "(q->count - 1) >> 1 > 1",
    "(q->count - 1 & 15) == 15",
    "(i ^ n) > 0",
    "p + 1 == q->first + 2",
    "q->last - q->first == 4",
    "q->last - p > 2",
    "p - 1 == q->first",
    "&q->max - &q->count == 1",
    "p < q->last",
    "p[1] - n > 1",
    "*p - q->max > 3",
    "q->ratio * 3 == q->third",
    "q->ratio + q->third > 0.4",
    "q->ratio == 0.1",
    "f == q->ratio",
    "f * 10 == 1",
    "q->half * 2 == 1",
    "q->mode - 2 < 0",
    "q->next != 0 && q->next->count - 1 > 3",
    "q->next == 0 || q->next->count - 1 > 3",
    "(q->next ? q->next->count - 1 : n - 2) > 7",
    "(q->count ? n : i) > 0",
    "sizeof *q - 1000 > 0",
    "(unsigned)i - 1 > 7",
    "(unsigned char)i - 256 < 0",
    "(short)q->max - 6 < 0",
    "q->open == 1",
    "q->open != 0",
    "q->open < 0.5",
    "q->open + 1 == 2",
    "!q->open",
    "!q->count",
    "q->count || q->flag",
    "q->flag && i",
    "!(q->flag - 200)",
];

/// The program, and the line at which it knows whether each of them holds.
fn source() -> (String, usize) {
    let mut source = String::from(TYPES);
    source.push_str(
        "__attribute__((noinline)) long seen(struct queue *q, unsigned n, size_t size, int i, \
         int *p, float f) {\n",
    );
    let line = source.lines().count() + 1;
    source.push_str("    int *volatile here = p;\n");
    for (number, guard) in GUARDS.iter().enumerate() {
        writeln!(source, "    printf(\"guard{number} %d\\n\", {guard});").expect("written");
    }
    source.push_str("    return *here + n + size + i + (long)f + q->total;\n}\n");
    source.push_str(MAIN);
    (source, line)
}

/// A trace has room for the values of so many.
const AT_ONCE: usize = 20;

type Numbered = (usize, &'static str);

fn properties(event: &str, guards: &[Numbered]) -> String {
    let mut text = String::new();
    for (number, guard) in guards {
        writeln!(
            text,
            "property of{number} event seen = {event}(q, n, size, i, p, f)\n\
             state init {{ on seen when {guard} -> held }}\nstate held non-accepting final"
        )
        .expect("written");
    }
    text
}

#[track_caller]
fn check(event: &str, guards: &[Numbered], executable: &Path, what: &str) {
    let properties = properties(event, guards);
    let batch = Batch::watching(&properties).option("--keep-going");
    let trace = tempfile::NamedTempFile::new().expect("a file");
    let report = batch.option("--trace").option(trace.path());
    let report = report.run(executable, &[]);
    for (number, guard) in guards {
        let name = format!("of{number}");
        let found = report.summary(&name)["verdict"] == "violated";
        let holds = report.printed(&format!("guard{number}")) == 1;
        assert_eq!(found, holds, "{guard} {event} {what}");
        let errors = &report.summary(&name)["errors"];
        assert!(errors.is_null() || *errors == 0, "{guard}: {errors}");
    }
    // What was recorded is judged in the same way.
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("guards.prop");
    std::fs::write(&file, properties).expect("written");
    let again = juror(&["check", "--keep-going", "--json", "--property"])
        .args([file.as_os_str(), trace.path().as_os_str()])
        .run();
    let end = again.stdout.lines().find_map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).ok()?;
        (line["kind"] == "trace_end").then_some(line)
    });
    let end = end.expect("an end");
    let ours = &report.end()["summaries"];
    let pairs = ours.as_array().into_iter().flatten();
    let theirs = end["summaries"].as_array().expect("a list");
    assert_eq!(theirs.len(), guards.len());
    for (ours, theirs) in pairs.zip(theirs) {
        assert_eq!(ours["verdict"], theirs["verdict"], "{ours} {theirs}");
    }
}

#[test]
fn guards_compute_as_the_program_does() {
    let (source, line) = source();
    for (language, compiler) in [
        (Language::C, Compiler::Gcc),
        (Language::C, Compiler::Clang),
        (Language::Cpp, Compiler::Gpp),
    ] {
        if !compiler.is_present() {
            continue;
        }
        let fixture = match language {
            Language::C => Fixture::c("guards", &source),
            _ => Fixture::cpp("guards", &source),
        };
        for optimization in [Optimization::None, Optimization::Full] {
            let build = Build {
                compiler,
                optimization,
                ..Build::plain(language)
            };
            let executable = fixture.compile(&build);
            let what = format!("{compiler:?} {optimization:?}");
            let guards: Vec<Numbered> = GUARDS.iter().copied().enumerate().collect();
            for guards in guards.chunks(AT_ONCE) {
                check("before seen", guards, &executable, &what);
                check("after seen", guards, &executable, &what);
                if optimization == Optimization::None {
                    let file = if language == Language::C { "c" } else { "cpp" };
                    let event = format!("line \"guards.{file}:{line}\"");
                    check(&event, guards, &executable, &what);
                }
            }
        }
    }
}
