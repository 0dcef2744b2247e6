//! Core files: those that juror, gdb and the kernel write say what the stop said; those that are
//! damaged, or of something else, say nothing that is wrong.

use crate::support::{Batch, Report, juror, program};
use juror_testing::Output;
use serde_json::Value;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Commands that show the crash, and what they look at.
const COMMANDS: [&str; 19] = [
    "backtrace",
    "thread apply all backtrace",
    "info args",
    "info locals",
    "info registers rax rbx rip rsp eflags",
    "info symbol leaf",
    "info line leaf",
    "info sharedlibrary",
    "print counter",
    "print shared",
    "print words",
    "print own",
    "print local",
    "print $xmm0",
    "print $_siginfo.si_signo",
    "ptype shared",
    "x/2s words[0]",
    "x/4xb leaf",
    "disassemble leaf",
];

/// Runs juror in batch mode with these commands.
fn report(directory: &Path, executable: &Path, arguments: &[&str], commands: &[&str]) -> Report {
    let batch = Batch::new().directory(directory);
    let batch = commands.iter().fold(batch, |it, line| it.command(line));
    batch.run(executable, arguments)
}

/// Returns the result of each command. Values that were printed have numbers that depend on the session.
fn shown(report: &Report) -> Vec<String> {
    let of = |command: &&str| {
        let value = without_numbers(report.outcome(command).clone());
        format!("{command}: {value:#}")
    };
    COMMANDS.iter().map(of).collect()
}

/// Removes the numbers of values, and the names of threads, of which a core file has only one.
fn without_numbers(mut value: Value) -> Value {
    if let Some(object) = value.as_object_mut() {
        object.remove("number");
    }
    for stack in value.as_array_mut().into_iter().flatten() {
        if let Some(thread) = stack["thread"].as_object_mut() {
            thread.remove("name");
        }
    }
    value
}

fn functions(backtrace: &Value) -> Vec<&str> {
    let frames = backtrace["frames"].as_array().or(backtrace.as_array());
    let frames = frames.expect("frames").iter();
    frames
        .filter_map(|frame| frame["location"]["function"].as_str())
        .collect()
}

/// A core file that juror writes at the crash, and what the stop says.
fn core_of_a_stop(executable: &Path, arguments: &[&str]) -> (TempDir, PathBuf, Report) {
    let directory = TempDir::with_prefix("juror-core-").expect("a directory");
    let gcore = "gcore crash.core";
    let commands = [&["run"][..], &COMMANDS[..], &["info threads", gcore]].concat();
    let live = report(directory.path(), executable, arguments, &commands);
    let core = directory.path().join("crash.core");
    assert!(core.is_file(), "{}", live.all());
    (directory, core, live)
}

/// Everything that a run has written: in batch mode, errors are part of the log.
fn said(output: &Output) -> String {
    format!("{}{}", output.stdout, output.stderr)
}

fn text_of(path: &Path) -> &str {
    path.to_str().expect("text")
}

#[test]
fn the_core_of_a_stop_says_what_the_stop_says() {
    let executable = program("crashes.c").compile_plain();
    let (directory, core, live) = core_of_a_stop(&executable, &[]);
    let commands = [&COMMANDS[..], &["info threads", "info auxv"]].concat();
    let read = report(directory.path(), &executable, &[text_of(&core)], &commands);
    assert_eq!(shown(&read), shown(&live), "{}", read.all());
    read.assert_code(0);
    let stop = read.stop();
    assert_eq!(stop["reason"], "core_file");
    assert_eq!(stop["signal"], "SIGSEGV");
    assert_eq!(stop["fault_address"], 16);
    assert_eq!(stop["thread_count"], 3);
    let live_stop = live.kind("stop").next().expect("a stop");
    for key in ["thread", "location", "source", "backtrace"] {
        assert_eq!(stop[key], live_stop[key], "{key}");
    }
    let places = |report: &Report| -> Vec<(Value, Value)> {
        let threads = report.outcome("info threads").as_array().expect("threads");
        let place = |thread: &Value| (thread["number"].clone(), thread["location"].clone());
        threads.iter().map(place).collect()
    };
    assert_eq!(places(&read), places(&live));
    // The same by the option, and with the program that the core file names.
    let named = juror(&["--batch", "--core", text_of(&core), "-e", "print shared"]).run();
    named.assert_code(0);
    for part in [
        "Core of ",
        "SIGSEGV at address 0x10",
        "leaf",
        "shared point",
    ] {
        assert!(named.stdout.contains(part), "{part}: {}", named.stdout);
    }
    let alone = juror(&["--batch", text_of(&core)]).run();
    assert!(
        alone.stdout.contains("SIGSEGV at address 0x10"),
        "{}",
        alone.stdout
    );
}

#[test]
fn the_core_of_the_kernel_is_read() {
    let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").expect("the pattern");
    let pattern = pattern.trim();
    if pattern.starts_with('|') || pattern.contains(['/', '%']) {
        eprintln!("the kernel does not write core files here: core_pattern is {pattern}");
        return;
    }
    let executable = program("crashes.c").compile_plain();
    let directory = TempDir::with_prefix("juror-core-").expect("a directory");
    let status = Command::new("sh")
        .args(["-c", "ulimit -c unlimited && exec \"$0\""])
        .arg(&executable)
        .current_dir(directory.path())
        .status()
        .expect("a shell");
    assert!(status.core_dumped(), "{status}");
    let mut entries = fs::read_dir(directory.path()).expect("the directory");
    let core = entries
        .next()
        .expect("a core file")
        .expect("an entry")
        .path();
    check_crash(&executable, &core);
}

#[test]
fn the_core_of_gdb_is_read_and_gdb_reads_ours() {
    if Command::new("gdb").arg("--version").output().is_err() {
        eprintln!("gdb is not installed");
        return;
    }
    let executable = program("crashes.c").compile_plain();
    let directory = TempDir::with_prefix("juror-core-").expect("a directory");
    let core = directory.path().join("gdb.core");
    let gcore = format!("gcore {}", core.display());
    gdb(&[
        "-ex",
        "run",
        "-ex",
        &gcore,
        "-ex",
        "kill",
        text_of(&executable),
    ]);
    check_crash(&executable, &core);
    // The other way round.
    let (_directory, core, _) = core_of_a_stop(&executable, &[]);
    let said = gdb(&[
        "-ex",
        "backtrace",
        "-ex",
        "print shared",
        "-ex",
        "print own",
        "-ex",
        "info threads",
        "-ex",
        "print $_siginfo.si_signo",
        "-ex",
        "thread apply all -q backtrace 1",
        text_of(&executable),
        text_of(&core),
    ]);
    for part in [
        "terminated with signal SIGSEGV",
        "leaf (depth=2, target=0x10)",
        "middle (depth=1, target=0x10)",
        "crasher (unused=0x0)",
        "{x = 7, y = 2.5, name = 0x",
        "\"shared point\"}",
        "$2 = 3\n",
        "$3 = 11\n",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(said.matches("(LWP ").count(), 3 + 1, "{said}");
}

fn gdb(arguments: &[&str]) -> String {
    let output = Command::new("gdb")
        .args(["-nx", "-batch", "-ex", "set debuginfod enabled off"])
        .args(["-ex", "set width 0", "-ex", "set pagination off"])
        .args(arguments)
        .output()
        .expect("gdb runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Checks the known values in a core file of `crashes.c` that another program has written.
#[track_caller]
fn check_crash(executable: &Path, core: &Path) {
    let directory = core.parent().expect("a directory");
    let read = report(directory, executable, &[text_of(core)], &COMMANDS);
    read.assert_code(0);
    let stop = read.stop();
    assert_eq!(stop["signal"], "SIGSEGV", "{}", read.all());
    assert_eq!(stop["fault_address"], 16);
    assert_eq!(stop["thread_count"], 3);
    let stack = functions(read.outcome("backtrace"));
    assert_eq!(stack[..3], ["leaf", "middle", "crasher"]);
    for (command, expected) in [
        ("print counter", "42"),
        ("print own", "3"),
        ("print local", "203"),
        ("print $_siginfo.si_signo", "11"),
    ] {
        assert_eq!(read.outcome(command)["value"], expected, "{command}");
    }
    let text = read.all();
    for part in ["\\\"first\\\"", "\\\"second\\\"", "\\\"shared point\\\""] {
        let lines = read.lines.iter().map(Value::to_string).collect::<String>();
        assert!(lines.contains(part), "{part}: {text}");
    }
    let all = read.outcome("thread apply all backtrace").to_string();
    for function in ["\"sleeper\"", "\"main\"", "\"crasher\""] {
        assert!(all.contains(function), "{function}: {all}");
    }
}

#[test]
fn a_core_has_no_traces_of_juror() {
    let executable = program("crashes.c").compile_plain();
    let directory = TempDir::with_prefix("juror-core-").expect("a directory");
    let live = Batch::new()
        .directory(directory.path())
        .property(
            "property few\nevent leaf = before leaf(depth)\nvar count = 0\n\
             state init accepting { on leaf when depth < 2 { count += 1 } -> init }\n",
        )
        .command("break middle")
        .command("break leaf")
        .command("tbreak snprintf")
        .command("run")
        .command("info proc mappings")
        .command("gcore here.core")
        .run(&executable, &[]);
    let core = directory.path().join("here.core");
    assert!(core.is_file(), "{}", live.all());
    let commands = [
        "info breakpoints",
        "backtrace",
        "info registers rip",
        "disassemble middle",
        "disassemble leaf",
        "x/60xb leaf",
        "info proc mappings",
    ];
    let read = report(directory.path(), &executable, &[text_of(&core)], &commands);
    read.assert_code(0);
    assert_eq!(functions(read.outcome("backtrace"))[0], "middle");
    // No trap and no jump: the code is that of the file.
    let plain = report(
        directory.path(),
        &executable,
        &[],
        &["disassemble middle", "disassemble leaf", "x/60xb leaf"],
    );
    let text = |report: &Report, command| -> Vec<String> {
        let lines = report.outcome(command)["lines"].as_array().expect("lines");
        let bytes = |line: &Value| format!("{} {}", line["bytes"], line["text"]);
        lines.iter().map(bytes).collect()
    };
    for command in ["disassemble middle", "disassemble leaf"] {
        let found = text(&read, command);
        assert!(found.iter().all(|line| !line.contains("int3")), "{found:?}");
        assert_eq!(found, text(&plain, command));
    }
    // The file lacks the memory that juror has mapped: the areas of the core file are the program's own.
    let areas = |report: &Report| -> Vec<(u64, u64)> {
        let mappings = report.outcome("info proc mappings")["mappings"].as_array();
        let number = |mapping: &Value, key: &str| mapping[key].as_u64().expect("a number");
        mappings
            .expect("mappings")
            .iter()
            .map(|it| (number(it, "start"), number(it, "end")))
            .collect()
    };
    let kept = areas(&read);
    let gone: Vec<_> = areas(&live)
        .into_iter()
        .filter(|it| !kept.contains(it))
        .collect();
    let mappings = live.outcome("info proc mappings")["mappings"].to_string();
    assert!(
        !gone.is_empty() && gone.len() <= 6,
        "{gone:x?} of {mappings}"
    );
}

#[test]
fn commands_that_need_a_process_are_refused() {
    let executable = program("crashes.c").compile_plain();
    let (directory, core, _) = core_of_a_stop(&executable, &[]);
    let refused = |line: &str| -> Output {
        juror(&["--batch", "-e", line, text_of(&executable), text_of(&core)])
            .directory(directory.path())
            .run()
    };
    let by_name = [
        "continue",
        "step",
        "next",
        "stepi",
        "nexti",
        "finish",
        "until 40",
        "advance leaf",
        "jump 40",
        "signal 0",
        "return",
        "restart-frame",
        "break leaf",
        "tbreak leaf",
        "hbreak leaf",
        "rbreak le",
        "watch counter",
        "rwatch counter",
        "awatch counter",
        "catch fork",
        "call leaf(1, 0)",
        "checkpoint",
        "restore 1",
        "detach",
        "monitor list",
        "property add x.prop",
        "gcore",
        "handle SIGUSR1 nostop",
        "dprintf leaf,\"x\"",
        "delete 1",
    ];
    for line in by_name {
        let output = refused(line);
        let (word, _) = line.split_once(' ').unwrap_or((line, ""));
        let name = if word == "gcore" {
            "generate-core-file"
        } else {
            word
        };
        let expected = format!("`{name}` needs a running program: this is a core file");
        assert!(
            said(&output).contains(&expected),
            "{line}: {}",
            output.stderr
        );
        output.assert_code(2);
    }
    for line in [
        "print leaf(1, 0)",
        "set var counter = 1",
        "print counter = 2",
        "set $rip = 0",
    ] {
        let output = refused(line);
        let expected = "needs a running program: this is a core file";
        assert!(
            said(&output).contains(expected),
            "{line}: {}",
            output.stderr
        );
        output.assert_code(2);
    }
    // The debugger's own variables can be changed.
    refused("set $mine = counter + 1").assert_code(0);
    let output = juror(&[
        "--batch",
        "-e",
        "kill",
        "-e",
        "core-file crash.core",
        "-e",
        "core-file",
        "-e",
        "info threads",
        text_of(&executable),
        text_of(&core),
    ])
    .directory(directory.path())
    .run();
    assert_eq!(
        output.stdout.matches("the core file is closed").count(),
        2,
        "{}",
        output.stdout
    );
    assert!(
        said(&output).contains("the program is not running"),
        "{}",
        output.stderr
    );
}

#[test]
fn run_starts_the_program_of_a_core_anew() {
    let executable = program("crashes.c").compile_plain();
    let (directory, core, _) = core_of_a_stop(&executable, &[]);
    for arguments in [
        &["--core", text_of(&core)][..],
        &[text_of(&executable), text_of(&core)],
    ] {
        let start = [
            "--batch",
            "-e",
            "start",
            "-e",
            "print counter",
            "-e",
            "next",
        ];
        let output = juror(&[&start[..], arguments].concat())
            .directory(directory.path())
            .run();
        assert!(
            output.stdout.contains("Started in main"),
            "{}",
            output.stdout
        );
        assert!(output.stdout.contains("= 41"), "{}", output.stdout);
    }
}

#[test]
fn what_is_left_out_is_never_guessed() {
    let executable = program("crashes.c").compile_plain();
    // Nothing of the process's own memory is in the file.
    let (directory, core, live) = core_of_a_stop(&executable, &["0x10"]);
    let commands = [
        "print counter",
        "print shared",
        "x/2xg &shared",
        "print words[0]",
        "x/4xb leaf",
        "x/4xb &zeros",
        "print *nowhere",
        "x/2xg 16",
    ];
    let read = report(directory.path(), &executable, &[text_of(&core)], &commands);
    let all = read.all();
    for command in [
        "print counter",
        "print shared",
        "x/2xg &shared",
        "x/4xb &zeros",
    ] {
        let found = read.lines.iter().filter(|line| line["command"] == command);
        let found: String = found.map(Value::to_string).collect();
        assert!(
            found.contains("is not in the core file"),
            "{command}: {found} {all}"
        );
        assert!(!found.contains("\"0x00"), "{command}: {found}");
    }
    // The code is in the file of the program, which is the same build.
    assert_eq!(read.outcome("x/4xb leaf"), live.outcome("x/4xb leaf"));
    // An address that was never mapped is another matter.
    let unmapped: String = read.lines.iter().map(Value::to_string).collect();
    assert!(unmapped.contains("memory at 0x10 cannot be read"), "{all}");
}

#[test]
fn a_shared_file_is_left_out_and_not_read_again() {
    let executable = program("crashes.c").compile_plain();
    let directory = TempDir::with_prefix("juror-core-").expect("a directory");
    let file = directory.path().join("data");
    fs::write(&file, [b'x'; 4096]).expect("a file");
    let (_directory, core, live) = core_of_a_stop(&executable, &["-", text_of(&file)]);
    drop(live);
    fs::write(&file, [b'y'; 4096]).expect("a file");
    let read = report(
        directory.path(),
        &executable,
        &[text_of(&core)],
        &["print mapped"],
    );
    let value = read.outcome("print mapped").to_string();
    assert!(value.contains("is not in the core file"), "{value}");
}

#[test]
fn another_build_is_refused() {
    let executable = program("crashes.c").compile_plain();
    let other = program("crashes.c").define("OTHER").compile_plain();
    let (directory, core, _) = core_of_a_stop(&executable, &[]);
    let output = juror(&["--batch", text_of(&other), text_of(&core)]).run();
    output.assert_code(2);
    let expected = format!("is not the program of {}: its build id is ", core.display());
    assert!(said(&output).contains(&expected), "{}", output.stderr);
    // The program that the core file names is built anew, or removed.
    let copy = directory.path().join("copy");
    fs::copy(&executable, &copy).expect("a copy");
    let (_directory, core, _) = core_of_a_stop(&copy, &[]);
    fs::remove_file(&copy).expect("it is there");
    fs::copy(&other, &copy).expect("a copy");
    let output = juror(&["--batch", text_of(&core)]).run();
    assert!(
        said(&output).contains("its build id is"),
        "{}",
        output.stderr
    );
    fs::remove_file(&copy).expect("it is there");
    let output = juror(&["--batch", text_of(&core)]).run();
    assert!(
        said(&output).contains("which cannot be opened"),
        "{}",
        output.stderr
    );
    let given = juror(&["--batch", text_of(&executable), text_of(&core)]).run();
    given.assert_code(0);
    assert!(
        given.stdout.contains("SIGSEGV at address 0x10"),
        "{}",
        given.stdout
    );
}

#[test]
fn a_program_without_a_build_id_has_its_code_in_the_core() {
    let fixture = program("crashes.c").argument("-Wl,--build-id=none");
    let executable = fixture.compile_plain();
    let (directory, core, live) = core_of_a_stop(&executable, &[]);
    let read = report(directory.path(), &executable, &[text_of(&core)], &COMMANDS);
    assert_eq!(shown(&read), shown(&live), "{}", read.all());
    assert!(said(&read.output).contains("no build id") || read.all().contains("no build id"));
}

#[test]
fn other_files_are_refused() {
    let executable = program("crashes.c").compile_plain();
    let (directory, core, _) = core_of_a_stop(&executable, &[]);
    let bytes = fs::read(&core).expect("the core file");
    let changed = |name: &str, at: usize, byte: u8| {
        let path = directory.path().join(name);
        let mut bytes = bytes.clone();
        bytes[at] = byte;
        fs::write(&path, bytes).expect("a file");
        path
    };
    let open = |path: &Path| {
        let output = juror(&["--batch", "--core", text_of(path), text_of(&executable)]).run();
        output.assert_code(2);
        said(&output)
    };
    for (path, expected) in [
        (changed("arm", 18, 183), "core of a program for 64-bit ARM"),
        (changed("narrow", 4, 1), "core of a 32-bit program"),
        (changed("text", 0, b'x'), "this is not a core file"),
        (
            executable.clone(),
            "this is a program or library, not a core file",
        ),
        (directory.path().join("none"), "cannot be opened"),
        (directory.path().to_owned(), "it is not a regular file"),
    ] {
        let said = open(&path);
        assert!(said.contains(expected), "{}: {said}", path.display());
    }
}

#[test]
fn truncated_and_damaged_cores_say_nothing_wrong() {
    let executable = program("crashes.c").compile_plain();
    let (directory, core, live) = core_of_a_stop(&executable, &[]);
    let bytes = fs::read(&core).expect("the core file");
    let path = directory.path().join("damaged");
    let commands = [
        "print counter",
        "print shared.x",
        "backtrace",
        "info locals",
        "print words",
    ];
    let read = |bytes: &[u8]| {
        fs::write(&path, bytes).expect("a file");
        let batch = Batch::new().option("--core").option(&path);
        let batch = commands.iter().fold(batch, |it, line| it.command(line));
        let report = batch.run(&executable, &[]);
        let code = report.output.status.code();
        assert!(matches!(code, Some(0 | 2)), "{}", report.all());
        report
    };
    let length = bytes.len();
    let mut lengths = vec![0, 1, 19, 63, 64, 100, 500, 1500, 3000, 5000, 8191, 8192];
    lengths.extend((1..12).map(|part| length * part / 12));
    lengths.push(length - 1);
    for length in lengths {
        let found = read(&bytes[..length]);
        for command in ["print counter", "print shared.x"] {
            let outcomes = found.kind("outcome").filter(|it| it["command"] == command);
            for outcome in outcomes {
                let value = &outcome["value"]["value"];
                let expected = &live_value(&live, command);
                let shown = value.to_string();
                let is_missing =
                    shown.contains("not in the core file") || shown.contains("cannot be read");
                assert!(
                    value == expected || is_missing,
                    "{length}: {command}: {value}"
                );
            }
        }
    }
    // A simple generator: the same damage in every run.
    let mut seed = 12345_u64;
    let mut next = |limit: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % limit
    };
    for _ in 0..15 {
        let mut bytes = bytes.clone();
        for _ in 0..4 {
            let at = next(8192.min(length));
            bytes[at] = next(256) as u8;
        }
        read(&bytes);
    }
}

fn live_value(live: &Report, command: &str) -> Value {
    match command {
        "print shared.x" => Value::from("7"),
        command => live.outcome(command)["value"].clone(),
    }
}

#[test]
fn a_word_that_was_meant_as_a_core_file_is_no_argument() {
    let directory = TempDir::with_prefix("juror-core-").expect("a directory");
    let executable = program("crashes.c").compile_plain();
    let executable = text_of(&executable);
    fs::write(directory.path().join("core.7"), "junk").expect("a file");
    fs::write(directory.path().join("notes"), "words").expect("a file");
    let given = |options: &[&str], word: &str| {
        let arguments = [options, &[executable, word]].concat();
        juror(&arguments).directory(directory.path()).run()
    };
    let show = ["--batch", "-e", "show args"];
    for (word, expected) in [
        ("core", "core does not exist"),
        ("./core.1234", "./core.1234 does not exist"),
        ("prog.core", "prog.core does not exist"),
        ("core.7", "core.7 is no core file"),
        (executable, "is a program, and no core file"),
    ] {
        let output = given(&show, word);
        output.assert_code(2);
        let shown = said(&output);
        let help = format!("juror --args {executable} {word}");
        assert!(shown.contains(expected) && shown.contains(&help), "{shown}");
        for before in [&["run", "--args"][..], &["run"]] {
            let options = [
                before,
                &show,
                if before.len() == 1 { &["--"][..] } else { &[] },
            ]
            .concat();
            let shown = said(&given(&options, word));
            assert!(shown.contains(word) && !shown.contains(expected), "{shown}");
        }
    }
    for word in ["notes", "coreutils", "--core", "absent", "/dev/null"] {
        let shown = said(&given(&show, word));
        assert!(shown.contains(word) && !shown.contains("error"), "{shown}");
    }
    let output = juror(&["--batch", executable, "core", "more"]).run();
    assert!(
        !said(&output).contains("does not exist"),
        "{}",
        said(&output)
    );
    // The command that opens the file of the option tells about it.
    for (core, expected) in [("none", "none"), ("core.7", "core.7")] {
        let arguments = ["--batch", "--core", core, executable];
        let output = juror(&arguments).directory(directory.path()).run();
        output.assert_code(2);
        assert!(said(&output).contains(expected), "{}", said(&output));
    }
}

#[test]
fn a_core_that_cannot_be_written_leaves_nothing() {
    let executable = program("crashes.c").compile_plain();
    let directory = TempDir::with_prefix("juror-core-").expect("a directory");
    let commands = ["run", "gcore none/x.core"];
    let refused = report(directory.path(), &executable, &[], &commands);
    assert!(
        said(&refused.output).contains("none/x.core cannot be written"),
        "{}",
        refused.all()
    );
    let commands = ["run", "gcore ."];
    let refused = report(directory.path(), &executable, &[], &commands);
    assert!(
        said(&refused.output).contains("cannot be written"),
        "{}",
        refused.all()
    );
    let left: Vec<_> = fs::read_dir(directory.path())
        .expect("the directory")
        .collect();
    assert!(left.is_empty(), "{left:?}");
    // The name says the process.
    let named = report(
        directory.path(),
        &executable,
        &[],
        &["run", "info program", "gcore"],
    );
    let process = named.outcome("info program")["process"].to_string();
    assert!(
        directory.path().join(format!("core.{process}")).is_file(),
        "{}",
        named.all()
    );
}

#[test]
fn a_word_after_args_is_an_argument() {
    let executable = program("crashes.c").compile_plain();
    let (_directory, core, _) = core_of_a_stop(&executable, &[]);
    let executable = text_of(&executable);
    let words = [
        "--batch",
        "-e",
        "show args",
        "--args",
        executable,
        text_of(&core),
    ];
    let output = juror(&words).run();
    assert!(output.stdout.contains("crash.core"), "{}", output.stdout);
    assert!(!output.stdout.contains("Core of"), "{}", output.stdout);
}
