//! Runs leave nothing behind, neither files nor processes.

use super::programs::HEAD;
use crate::support::juror;
use juror_testing::Fixture;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const JUROR: &str = env!("CARGO_BIN_EXE_juror");

/// Returns whether what a run does to files can go with it here; if not, juror refuses to run
/// anything.
pub fn is_possible() -> bool {
    static IS_POSSIBLE: LazyLock<bool> = LazyLock::new(|| {
        let tried = juror(&["explore", "--runs", "1", "/bin/true"]).run();
        let is_refused = tried.stderr.contains("cannot be undone here");
        assert_eq!(is_refused, tried.code() == Some(2), "{}", tried.stderr);
        !is_refused
    });
    *IS_POSSIBLE
}

/// Two threads that take a lock, with something before, and an end.
pub fn program(name: &str, before: &str, end: &str) -> PathBuf {
    let source = format!(
        "#define _GNU_SOURCE
         #include <fcntl.h>
         #include <stdio.h>
         #include <string.h>
         #include <sys/ipc.h>
         #include <sys/mman.h>
         #include <sys/prctl.h>
         #include <sys/shm.h>
         #include <sys/socket.h>
         #include <sys/stat.h>
         #include <sys/wait.h>
         #include <netinet/in.h>
         #include <arpa/inet.h>
         {HEAD}
         static void *one(void *x) {{ LOCK(a); shared++; UNLOCK(a); return x; }}
         int main(int count, char **words) {{
             pthread_t first, second;
             {before}
             pthread_create(&first, 0, one, 0);
             pthread_create(&second, 0, one, 0);
             pthread_join(first, 0);
             pthread_join(second, 0);
             {end}
         }}"
    );
    let fixture = Fixture::c(&format!("explored-world-{name}"), &source);
    fixture.argument("-pthread").compile_plain()
}

/// All that a directory holds, but the file of a run.
pub fn contents(directory: &Path) -> BTreeMap<PathBuf, (u32, i64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            let status = fs::metadata(&path).expect("a file");
            if path.extension().is_some_and(|it| it == "run") {
                continue;
            }
            let bytes = if status.is_dir() {
                waiting.push(path.clone());
                Vec::new()
            } else {
                fs::read(&path).expect("a file")
            };
            found.insert(path, (status.mode(), status.mtime_nsec(), bytes));
        }
    }
    found
}

/// The files that the writing program finds.
fn furnished() -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name| directory.path().join(name);
    fs::write(path("old"), "old\n").expect("a file");
    fs::write(path("gone"), "gone\n").expect("a file");
    fs::write(path("longer"), "longer\n").expect("a file");
    fs::create_dir(path("inner")).expect("a directory");
    fs::write(path("inner/file"), "file\n").expect("a file");
    directory
}

/// Ends with 9 if anything is not as it was left by the test.
const WRITES: &str = r#"
    int file = open("made", O_CREAT | O_EXCL | O_WRONLY, 0644);
    if (file < 0 || write(file, "made", 4) != 4) _exit(9);
    int other = open("longer", O_WRONLY | O_APPEND);
    if (other < 0 || lseek(other, 0, SEEK_END) != 7 || write(other, "more", 4) != 4) _exit(9);
    if (rename("old", "renamed") || unlink("gone") || chmod("longer", 0600)) _exit(9);
    if (mkdir("directory", 0755) || unlink("inner/file") || truncate("renamed", 1)) _exit(9);
    char name[64];
    snprintf(name, sizeof name, "/juror-%s", words[1]);
    if (shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0600) < 0) _exit(9);
    if (shmget(atoi(words[1]), 4096, IPC_CREAT | IPC_EXCL | 0600) < 0) _exit(9);
"#;

#[test]
fn runs_that_write_change_no_file() {
    if !is_possible() {
        eprintln!("left out: there are no worlds here");
        return;
    }
    let right = program("writes", WRITES, "return 0;");
    let wrong = program("writes-and-fails", WRITES, "assert(shared != 2);");
    let key = std::process::id().to_string();
    for (executable, status) in [(&right, 0), (&wrong, 1)] {
        let directory = furnished();
        let before = contents(directory.path());
        let path = executable.display().to_string();
        let explored = juror(&["explore", "--runs", "20", &path, &key])
            .directory(directory.path())
            .run();
        let text = format!("{}{}", explored.stdout, explored.stderr);
        assert_eq!(explored.code(), Some(status), "{text}");
        assert_eq!(contents(directory.path()), before, "{text}");
        if status == 1 {
            assert!(text.contains("CRASH  SIGABRT"), "{text}");
            let file = run_files(directory.path()).pop().expect("a file");
            for _ in 0..2 {
                let replayed = juror(&["replay", "--batch", &file.display().to_string()]).run();
                assert_eq!(replayed.code(), Some(1), "{}", replayed.stderr);
                assert_eq!(contents(directory.path()), before);
            }
        }
        assert!(!Path::new(&format!("/dev/shm/juror-{key}")).exists());
    }
}

fn run_files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("a directory");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .filter(|path| path.extension().is_some_and(|it| it == "run"))
        .collect()
}

#[test]
fn runs_change_real_files_if_they_may() {
    let before = "int file = open(\"count\", O_CREAT | O_APPEND | O_WRONLY, 0644);
                  if (write(file, \".\", 1) != 1) return 9;";
    let executable = program("counts", before, "assert(shared != 2);");
    let directory = tempfile::tempdir().expect("a directory");
    let path = executable.display().to_string();
    let explored = juror(&["explore", "--real-files", &path])
        .directory(directory.path())
        .run();
    assert_eq!(explored.code(), Some(1), "{}", explored.stderr);
    let count = || fs::read(directory.path().join("count")).map_or(0, |text| text.len());
    let then = count();
    assert!(then > 0);
    let file = run_files(directory.path()).pop().expect("a file");
    let replayed = juror(&["replay", "--batch", &file.display().to_string()]).run();
    assert_eq!(replayed.code(), Some(1), "{}", replayed.stderr);
    assert_eq!(count(), then + 1);
}

#[test]
fn runs_that_make_processes_go_on_and_leave_none() {
    if !is_possible() {
        eprintln!("left out: there are no worlds here");
        return;
    }
    let marker = format!("{}", 600_000_000 + std::process::id());
    let end = "return 0;";
    let rows = [
        ("fork", "if (!fork()) _exit(0); wait(0);"),
        (
            "exec",
            "if (!fork()) { execl(\"/bin/true\", \"true\", (char *)0); _exit(9); } wait(0);",
        ),
        (
            "vfork",
            "if (!vfork()) { execl(\"/bin/true\", \"true\", (char *)0); _exit(9); } wait(0);",
        ),
        (
            "daemon",
            "pid_t child = fork();
             if (!child) {
                 setsid();
                 if (fork()) _exit(0);
                 for (int file = 0; file < 3; file++) close(file);
                 execlp(\"sleep\", \"sleep\", words[1], (char *)0);
                 _exit(9);
             }
             waitpid(child, 0, 0);",
        ),
    ];
    for (name, before) in rows {
        let executable = program(name, before, end);
        let path = executable.display().to_string();
        let explored = juror(&["explore", "--runs", "8", &path, &marker]).run();
        let text = format!("{}{}", explored.stdout, explored.stderr);
        assert_eq!(explored.code(), Some(0), "{name}: {text}");
        assert!(text.contains("no failure in 8"), "{name}: {text}");
        assert!(is_gone(&marker), "{name}");
    }
}

/// Returns whether the processes with a word of their command line end.
pub fn is_gone(word: &str) -> bool {
    let until = Instant::now() + Duration::from_secs(60);
    while !processes(word).is_empty() {
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

/// Returns the processes that have a word in their command line.
pub fn processes(word: &str) -> Vec<i32> {
    let entries = fs::read_dir("/proc").expect("processes").flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let has_word = |number: &i32| {
        let text = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        let mut words = text.split(|byte| *byte == 0);
        words.any(|it| it == word.as_bytes())
    };
    numbers.filter(has_word).collect()
}

#[test]
fn a_run_file_that_cannot_be_written_is_an_error() {
    if !is_possible() {
        eprintln!("left out: there are no worlds here");
        return;
    }
    let executable = program("fails", "", "assert(shared != 2);");
    let directory = tempfile::tempdir().expect("a directory");
    let explore = |place: &Path, limit: &str| {
        let output = Command::new("sh")
            .arg("-c")
            .arg(format!("{limit} exec \"$0\" explore \"$1\""))
            .args([OsStr::new(JUROR), executable.as_os_str()])
            .current_dir(place)
            .output();
        let output = output.expect("it runs");
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("CRASH  SIGABRT"), "{text}");
        assert!(text.contains("schedule not written"), "{text}");
    };
    // Nothing that is written has room.
    explore(directory.path(), "ulimit -f 0;");
    assert!(contents(directory.path()).is_empty());
    // No file can be made there.
    explore(Path::new("/proc"), "");
}

#[test]
fn connections_to_the_outside_are_told() {
    if !is_possible() {
        eprintln!("left out: there are no worlds here");
        return;
    }
    let connects = |address: &str| {
        format!(
            "int file = socket(AF_INET, SOCK_DGRAM, 0);
             struct sockaddr_in to = {{.sin_family = AF_INET, .sin_port = htons(4711)}};
             inet_pton(AF_INET, \"{address}\", &to.sin_addr);
             connect(file, (struct sockaddr *)&to, sizeof to);"
        )
    };
    let own = "int own = socket(AF_INET, SOCK_DGRAM, 0);
               struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(4711)};
               inet_pton(AF_INET, \"127.0.0.1\", &at.sin_addr);
               if (bind(own, (struct sockaddr *)&at, sizeof at)) return 9;";
    let rows = [
        ("far", connects("192.0.2.1"), Some("192.0.2.1:4711")),
        ("near", connects("127.0.0.1"), Some("127.0.0.1:4711")),
        ("own", format!("{own}{}", connects("127.0.0.1")), None),
    ];
    for (name, before, said) in rows {
        let executable = program(name, &before, "return 0;");
        let path = executable.display().to_string();
        let explored = juror(&["explore", "--runs", "1", &path]).run();
        let text = format!("{}{}", explored.stdout, explored.stderr);
        assert_eq!(explored.code(), Some(0), "{name}: {text}");
        match said {
            Some(address) => assert!(text.contains(address), "{name}: {text}"),
            None => assert!(!text.contains("talks to"), "{name}: {text}"),
        }
    }
}

#[test]
fn the_result_does_not_depend_on_how_many_runs_are_made_at_once() {
    if !is_possible() {
        eprintln!("left out: there are no worlds here");
        return;
    }
    // Fails in some orders of the threads only.
    let source = format!(
        "{HEAD}
         static void *one(void *x) {{ LOCK(a); shared = 1; UNLOCK(a); LOCK(a); shared = 0; UNLOCK(a); return x; }}
         static void *two(void *x) {{ LOCK(a); ready |= shared; UNLOCK(a); return x; }}
         int main(void) {{
             pthread_t first, second;
             pthread_create(&first, 0, one, 0);
             pthread_create(&second, 0, two, 0);
             pthread_join(first, 0);
             pthread_join(second, 0);
             assert(!ready);
             return 0;
         }}"
    );
    let fixture = Fixture::c("explored-world-jobs", &source).argument("-pthread");
    let path = fixture.compile_plain().display().to_string();
    let directory = tempfile::tempdir().expect("a directory");
    for seed in ["1", "2", "3"] {
        let results = ["1", "2", "5"].map(|jobs| {
            let explored = juror(&["explore", "--seed", seed, "--jobs", jobs, &path])
                .directory(directory.path())
                .run();
            assert_eq!(explored.code(), Some(1), "{}", explored.stderr);
            let file = run_files(directory.path()).pop().expect("a file");
            let text = fs::read_to_string(&file).expect("its text");
            fs::remove_file(&file).expect("it can be removed");
            (explored.stdout, text)
        });
        let [first, second, third] = &results;
        assert_eq!(first, second);
        assert_eq!(first, third);
    }
}
