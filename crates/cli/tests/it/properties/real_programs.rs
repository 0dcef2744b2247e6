//! Properties over the C library hold in programs that were not written for these tests, and
//! do not change their behaviour.
//!
//! A program that is not installed is left out, with a message.

use crate::support::{Batch, base_name, named, property_file};
use juror_testing::{Build, Fixture, Optimization, repository_directory, run_with_deadline};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

const PROPERTIES: [&str; 3] = ["double-free", "streams", "mutex"];

/// The path of a program of the system, or a message that there is none.
fn system_program(name: &str) -> Option<PathBuf> {
    let path = ["/usr/bin", "/bin"]
        .iter()
        .map(|directory| Path::new(directory).join(name))
        .find(|path| path.is_file());
    if path.is_none() {
        eprintln!("there is no {name} here; it is left out");
    }
    path
}

/// A run of a system program, in a directory of its own.
struct Case {
    directory: TempDir,
    program: &'static str,
    arguments: Vec<String>,
    input: Vec<u8>,
}

impl Case {
    fn new(program: &'static str, arguments: &[&str]) -> Case {
        Case {
            directory: TempDir::with_prefix("juror-real-").expect("a directory"),
            program,
            arguments: arguments.iter().map(|&word| word.to_owned()).collect(),
            input: Vec::new(),
        }
    }

    fn file(self, name: &str, content: impl AsRef<[u8]>) -> Case {
        fs::write(self.directory.path().join(name), content).expect("a file");
        self
    }

    fn input(mut self, input: impl Into<Vec<u8>>) -> Case {
        self.input = input.into();
        self
    }

    /// The program alone and then with each property: the same output and
    /// status, and no violation. What a run leaves in `made` is compared too.
    #[track_caller]
    fn check(&self, made: Option<&str>) {
        let Some(program) = system_program(self.program) else {
            return;
        };
        let alone = run_with_deadline(
            Command::new(&program)
                .args(&self.arguments)
                .current_dir(self.directory.path())
                .env("LC_ALL", "C.UTF-8"),
            &self.input,
            Duration::from_secs(60),
        )
        .expect("it runs");
        let taken = || made.map(|name| self.take(name));
        let expected = taken();
        for property in PROPERTIES {
            self.check_with(property, &program, &alone);
            assert!(taken() == expected, "{property}: another file is made");
        }
    }

    /// Reads and removes a file of the run.
    fn take(&self, name: &str) -> Vec<u8> {
        let path = self.directory.path().join(name);
        let content = fs::read(&path).expect("the file is made");
        fs::remove_file(path).expect("it can be removed");
        content
    }

    #[track_caller]
    fn check_with(&self, property: &str, program: &Path, alone: &juror_testing::Output) {
        let stdout = self.directory.path().join("juror-stdout");
        let stderr = self.directory.path().join("juror-stderr");
        let words: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let mut batch =
            Batch::watching_file(property_file(&format!("properties/libc/{property}.prop")));
        for option in [
            OsStr::new("--env"),
            OsStr::new("LC_ALL=C.UTF-8"),
            OsStr::new("--stdout"),
            stdout.as_os_str(),
            OsStr::new("--stderr"),
            stderr.as_os_str(),
        ] {
            batch = batch.option(option);
        }
        let report = batch
            .directory(self.directory.path())
            .input(self.input.clone())
            .run(program, &words);
        let place = format!("{property} on {}", self.program);
        let read = |path: &Path| {
            let bytes = fs::read(path).expect("the output is there");
            fs::remove_file(path).expect("it can be removed");
            String::from_utf8_lossy(&bytes).into_owned()
        };
        assert_eq!(read(&stdout), alone.stdout, "{place}: {}", report.all());
        assert_eq!(read(&stderr), alone.stderr, "{place}");
        let status = report.end()["ending"]["status"].as_i64();
        assert_eq!(status, alone.code().map(i64::from), "{place}");
        for summary in report.end()["summaries"].as_array().expect("a list") {
            // A correct program may leave streams open.
            if summary["property"] != "stream_closed" {
                assert_eq!(summary["violations"], 0, "{place}: {}", report.all());
            }
        }
        // `false` does nothing but exit; all others allocate, and are seen to.
        if property == "double-free" && self.program != "false" {
            assert!(
                report.occurrences("malloc") > 0,
                "{place}: {}",
                report.all()
            );
        }
        let is_open_at_end = report.end()["violations"]
            .as_array()
            .is_some_and(|list| list.iter().all(|it| it["property"] == "stream_closed"));
        assert!(is_open_at_end, "{place}: {}", report.all());
    }
}

fn lines(count: u32) -> String {
    // A fixed disorder.
    (0..count)
        .map(|n| format!("line {}\n", n.wrapping_mul(2_654_435_761) % 10_007))
        .collect()
}

#[test]
fn sort_sorts() {
    Case::new("sort", &["--parallel=2", "-k2,2n", "words"])
        .file("words", lines(3000))
        .check(None);
}

#[test]
fn sort_reads_its_input() {
    Case::new("sort", &["-u"]).input(lines(500)).check(None);
}

#[test]
fn xz_compresses_with_threads() {
    Case::new("xz", &["-T2", "-k", "-0", "--block-size=65536", "words"])
        .file("words", lines(20_000))
        .check(Some("words.xz"));
}

#[test]
fn python_computes() {
    let script = "import json, re\nprint(json.dumps({str(n): re.sub('1', 'one', str(n * n)) for n in range(40)}))";
    Case::new("python3", &["-S", "-c", script]).check(None);
}

#[test]
fn python_runs_threads() {
    let script = "\
import threading
lock = threading.Lock()
total = 0
def work(count):
    global total
    for n in range(count):
        with lock:
            total += n
threads = [threading.Thread(target=work, args=(50 * i,)) for i in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(total)";
    Case::new("python3", &["-S", "-c", script]).check(None);
}

#[test]
fn git_shows_its_log() {
    let Some(git) = system_program("git") else {
        return;
    };
    let case = Case::new(
        "git",
        &[
            "-c",
            "safe.directory=*",
            "--no-pager",
            "log",
            "--stat",
            "--format=%h %an %s",
        ],
    );
    let git = |arguments: &[&str]| {
        let output = Command::new(&git)
            .args(["-c", "user.name=A", "-c", "user.email=a@example.org"])
            .args(arguments)
            .current_dir(case.directory.path())
            .output()
            .expect("git runs");
        assert!(output.status.success(), "{output:?}");
    };
    git(&["init", "--quiet"]);
    for commit in ["first", "second", "third"] {
        fs::write(case.directory.path().join(commit), lines(20)).expect("a file");
        git(&["add", commit]);
        git(&["commit", "--quiet", "-m", commit]);
    }
    case.check(None);
}

#[test]
fn small_programs_print_the_same() {
    Case::new("cat", &["words", "-"])
        .file("words", lines(100))
        .input("from the input\n")
        .check(None);
    Case::new("ls", &["-la", "/usr/share"]).check(None);
    Case::new("ls", &["/no/such/directory"]).check(None);
    Case::new("grep", &["-c", "7", "words"])
        .file("words", lines(500))
        .check(None);
    Case::new("sed", &["-n", "s/line \\(1.*\\)/<\\1>/p", "words"])
        .file("words", lines(100))
        .check(None);
    Case::new("grep", &["-q", "nothing", "words"])
        .file("words", lines(10))
        .check(None);
}

/// The number of the line that holds this text, which is there once.
fn line_of(file: &str, text: &str) -> u64 {
    let path = repository_directory()
        .join("crates/testing/programs")
        .join(file);
    let source = fs::read_to_string(path).expect("the program is there");
    let mut found = source
        .lines()
        .zip(1..)
        .filter(|(line, _)| line.contains(text));
    let (_, number) = found.next().expect("the text is there");
    assert!(found.next().is_none(), "`{text}` is there twice");
    number
}

#[test]
fn a_seeded_double_free_is_caught_where_it_happens() {
    let file = "double-free.c";
    let clear = line_of(file, "#ifdef FIXED") - 1;
    let clears = line_of(file, "note_clear(first);");
    let again = line_of(file, "free(note);") - 1;
    let deletes = line_of(file, "note_delete(first);");
    for build in Build::all() {
        let seeded = Fixture::program(file).compile(&build);
        let report = Batch::watching_file(property_file("properties/libc/double-free.prop"))
            .run(seeded, &[]);
        report.assert_code(1);
        let stop = report.stop();
        assert_eq!(stop["reason"], "violation", "{build}");
        let violation = &stop["violations"][0];
        assert_eq!(violation["state"], "freed_again", "{build}");
        let frees: Vec<u64> = violation["path"]
            .as_array()
            .expect("a list")
            .iter()
            .filter(|step| step["event"] == "free")
            .map(|step| {
                assert_eq!(base_name(&step["location"]["file"]), file, "{build}");
                step["location"]["line"].as_u64().expect("a line")
            })
            .collect();
        assert_eq!(frees.len(), 2, "{build}: {frees:?}");
        // Optimised, the first one is a tail call: whoever called comes next.
        let is_tail_call = build.optimization == Optimization::Full;
        let first = if is_tail_call { clears } else { clear };
        assert_eq!(frees, [first, again], "{build}");
        // The stack says the same, and the block is what `free` was given.
        let frame = |level: usize| &stop["backtrace"][level]["location"];
        assert_eq!(frame(1)["function"], "note_delete", "{build}");
        assert_eq!(frame(1)["line"], again, "{build}");
        assert_eq!(frame(2)["function"], "main", "{build}");
        assert_eq!(frame(2)["line"], deletes, "{build}");
        let freed = report.values("free", "block");
        assert_eq!(freed.last(), Some(&named(&violation["slice"], "block")));
    }
}

/// Checks that a property of the C library holds in programs without a mistake.
#[track_caller]
fn check_holds(property: &str) {
    let file = property_file(&format!("properties/libc/{property}.prop"));
    for build in Build::all() {
        let fixed = Fixture::program("double-free.c").define("FIXED");
        for fixture in [fixed, Fixture::program("correct.c")] {
            let executable = fixture.compile(&build);
            let report = Batch::watching_file(&file).run(&executable, &[]);
            report.assert_code(0);
            assert_eq!(report.end()["ending"]["status"], 0, "{build}");
        }
    }
}

#[test]
fn correct_programs_free_once() {
    check_holds("double-free");
}

#[test]
fn correct_programs_close_their_streams() {
    check_holds("streams");
}

#[test]
fn correct_programs_use_mutexes_as_they_should() {
    check_holds("mutex");
}
