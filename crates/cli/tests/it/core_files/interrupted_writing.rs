//! Ctrl-C while a core file is written.

use crate::support::{juror, program};
use std::fs;

const PROMPT: &str = "(juror) ";

#[test]
fn control_c_stops_gcore_and_leaves_no_file() {
    let executable = program("spacious.c").compile_plain();
    let directory = tempfile::tempdir().expect("a directory");
    let probe = directory.path().join("probe");
    let file = fs::File::create(&probe).expect("a file");
    if let Err(error) = file.set_len(5 << 40) {
        println!("skipped: no file of 5 TiB here: {error}");
        return;
    }
    fs::remove_file(probe).expect("it goes");
    let mut terminal = juror(&["run"])
        .args([executable])
        .directory(directory.path())
        .terminal();
    terminal.expect(PROMPT);
    let files = || fs::read_dir(directory.path()).expect("a directory").count();
    for line in ["break reached", "run"] {
        terminal.type_line(line);
        terminal.expect("\n");
        terminal.expect(PROMPT);
    }
    terminal.type_line("print mapping != (void *)-1");
    terminal.expect("\n");
    let answer = terminal.expect(PROMPT);
    if !answer.contains("true") {
        println!("skipped: there is no mapping of 4 TiB here");
        return;
    }
    terminal.type_line("gcore here.core");
    terminal.expect("\n");
    // It has begun when there is a file: not under its own name yet.
    while files() == 0 {
        std::thread::yield_now();
    }
    terminal.type_control('c');
    let answer = terminal.expect(PROMPT);
    assert!(answer.contains("interrupted"), "{answer}");
    assert_eq!(files(), 0);
    // The key was for gcore: the program goes on to its end.
    terminal.type_line("continue");
    terminal.expect("exited");
    terminal.expect(PROMPT);
    terminal.type_line("quit");
    let (_, status) = terminal.finish();
    assert_eq!(status, 0);
}
