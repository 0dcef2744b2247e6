//! Property files that use other files, in all commands that read properties.

use crate::support::juror;
use juror_testing::{Output, repository_directory};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A property over the queue of the examples, in files that use one another.
const FILES: [(&str, &str); 3] = [
    (
        "main.prop",
        "use \"lib/queue.prop\"

property few \"a queue gets few letters\"
slice on queue

var letters = 0

state init {
    on letter when is_few(letters) { letters += 1 }  -> init  else -> many
}
state many non-accepting
",
    ),
    (
        "lib/queue.prop",
        "use \"events.prop\"

function is_few(count) { return count < 3 }

property new_ones \"queues are made\"
slice on queue
state init { on new -> made }
state made
",
    ),
    (
        "lib/events.prop",
        "event new    = after queue_new returns queue
event letter = before queue_push_letter(queue)
",
    ),
];

fn directory(files: &[(&str, &str)]) -> TempDir {
    let directory = TempDir::with_prefix("juror-used-").expect("a directory");
    for (name, text) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().expect("it has one")).expect("a directory");
        fs::write(path, text).expect("a file");
    }
    directory
}

fn queue() -> PathBuf {
    juror_testing::Fixture::example("queue").compile_plain()
}

fn run(directory: &Path, arguments: &[&str]) -> Output {
    let queue = queue();
    juror(arguments).args([&queue]).directory(directory).run()
}

fn all(output: &Output) -> String {
    format!("{}{}", output.stdout, output.stderr)
}

#[test]
fn a_run_and_its_trace_know_the_properties_of_used_files() {
    let directory = directory(&FILES);
    // From another directory: files are found from those that name them.
    let file = directory.path().join("main.prop").display().to_string();
    let trace = directory.path().join("run.jsonl").display().to_string();
    let options = [
        "run",
        "--batch",
        "--keep-going",
        "--color=never",
        "--property",
        &file,
    ];
    let live = run(
        &repository_directory(),
        &[&options[..], &["--trace", &trace]].concat(),
    );
    assert_eq!(live.code(), Some(1), "{}", all(&live));
    assert!(
        live.stdout
            .contains("VIOLATED  few: a queue gets few letters")
    );
    for property in ["new_ones", "few"] {
        assert!(live.stdout.contains(property), "{}", all(&live));
    }
    let offline = juror(&["check", "--color=never", "--property", &file, &trace]).run();
    assert_eq!(offline.code(), Some(1), "{}", all(&offline));
    let report = |text: &str| {
        let rest = text.split_once("VIOLATED").expect("a report").1;
        rest.split("\n\n").next().map(str::to_owned)
    };
    assert_eq!(report(&offline.stdout), report(&live.stdout));
    // What two files use is watched once.
    let library = directory
        .path()
        .join("lib/queue.prop")
        .display()
        .to_string();
    let twice = run(
        &repository_directory(),
        &[&options[..], &["--property", &library]].concat(),
    );
    assert_eq!(
        twice.stdout.matches("new_ones").count(),
        live.stdout.matches("new_ones").count(),
        "{}",
        all(&twice)
    );
}

#[test]
fn check_and_show_look_at_used_files_and_fmt_at_one() {
    let directory = directory(&FILES);
    let property = |arguments: &[&str]| {
        juror(&[&["property"], arguments].concat())
            .directory(directory.path())
            .run()
    };
    let checked = property(&["check", "main.prop"]);
    assert_eq!(checked.code(), Some(0), "{}", all(&checked));
    assert_eq!(checked.stdout, "2 properties, no errors, no warnings\n");
    // Each is counted once.
    let checked = property(&["check", "main.prop", "lib/queue.prop", "lib/events.prop"]);
    assert_eq!(checked.stdout, "2 properties, no errors, no warnings\n");
    let shown = property(&["show", "main.prop"]);
    for words in [
        "new_ones: queues are made",
        "few: a queue gets few letters",
        "letter when is_few(letters)",
    ] {
        assert!(shown.stdout.contains(words), "{}", all(&shown));
    }
    let named = property(&["show", "main.prop", "new_ones"]);
    assert!(!named.stdout.contains("few"), "{}", all(&named));
    fs::write(
        directory.path().join("lib/events.prop"),
        "event  new=before f\n",
    )
    .expect("a file");
    let formatted = property(&["fmt", "--check", "main.prop"]);
    assert_eq!(formatted.code(), Some(0), "{}", all(&formatted));
}

/// What `property check`, `run` and `check` say of `main.prop`.
#[track_caller]
fn check_refused(files: &[(&str, &str)], expected: &[&str]) {
    let directory = directory(files);
    fs::write(directory.path().join("run.jsonl"), "").expect("a file");
    let commands: [&[&str]; 3] = [
        &["property", "check", "main.prop"],
        &["check", "--property", "main.prop", "run.jsonl"],
        &["run", "--batch", "--property", "main.prop", "true"],
    ];
    for command in commands {
        let output = juror(command).directory(directory.path()).run();
        assert_eq!(output.code(), Some(2), "{command:?} {}", all(&output));
        for words in expected {
            assert!(
                output.stderr.contains(words),
                "{command:?}: {words}\n{}",
                all(&output)
            );
        }
    }
}

#[test]
fn mistakes_are_shown_in_the_file_where_they_are() {
    check_refused(
        &[
            ("main.prop", "use \"lib/bad.prop\"\n"),
            (
                "lib/bad.prop",
                "property p\nevent e = before f\nstate s { on ee }\n",
            ),
        ],
        &[
            " --> lib/bad.prop:3:14",
            "3 | state s { on ee }",
            " --> main.prop:1:5",
            "1 | use \"lib/bad.prop\"",
        ],
    );
    check_refused(
        &[("main.prop", "use \"lib/none.prop\"\n")],
        &[
            "cannot read `lib/none.prop`: No such file",
            " --> main.prop:1:5",
        ],
    );
    check_refused(
        &[
            ("main.prop", "use \"lib/back.prop\"\n"),
            ("lib/back.prop", "use \"../main.prop\"\n"),
        ],
        &[
            "`main.prop` uses itself: main.prop -> lib/back.prop -> main.prop",
            " --> lib/back.prop:1:5",
        ],
    );
}

#[test]
fn a_function_that_is_not_there_is_shown_in_the_used_file() {
    let files = [
        ("main.prop", "use \"lib/p.prop\"\n"),
        (
            "lib/p.prop",
            "property p\nevent e = before queue_psh\nltl always not e\n",
        ),
    ];
    let directory = directory(&files);
    let output = run(
        directory.path(),
        &["run", "--batch", "--property", "main.prop"],
    );
    assert_eq!(output.code(), Some(2), "{}", all(&output));
    for words in [" --> lib/p.prop:2:18", "no function `queue_psh`"] {
        assert!(output.stderr.contains(words), "{}", all(&output));
    }
}

#[test]
fn an_error_of_a_guard_is_shown_in_its_file() {
    let files = [
        ("main.prop", "use \"lib/p.prop\"\n"),
        (
            "lib/p.prop",
            "property p\nevent e = after queue_new(size) returns queue\n\
             state s { on e when size / (size - size) > 1 -> s }\n",
        ),
    ];
    let directory = directory(&files);
    let output = run(
        directory.path(),
        &["run", "--batch", "--color=never", "--property", "main.prop"],
    );
    assert_eq!(output.code(), Some(2), "{}", all(&output));
    for words in [" --> lib/p.prop:3:21", "3 | state s { on e when size"] {
        assert!(all(&output).contains(words), "{}", all(&output));
    }
}

#[test]
fn a_library_is_added_at_the_prompt() {
    let directory = directory(&FILES);
    let output = juror(&["run", "--color=never"])
        .args([queue()])
        .directory(directory.path())
        .input("property add main.prop\nproperty\nrun\nquit\n")
        .run();
    for words in [
        "new_ones is evaluated from the start of the run.",
        "few is evaluated from the start of the run.",
        "lib/queue.prop",
        "VIOLATED  few: a queue gets few letters",
    ] {
        assert!(output.stdout.contains(words), "{words}\n{}", all(&output));
    }
}

#[test]
fn the_text_of_files_that_are_no_property_files_is_not_quoted() {
    let secrets = [
        "hunter2:x:0:0\n",
        "# for nobody\nhunter2 = 1\n",
        "#!/bin/sh\nexport KEY=hunter2\n",
        "property: hunter2\n",
        "{ \"event\": \"hunter2\" }\n",
        "event, hunter2\n",
        "\u{0}\u{1}hunter2",
    ];
    for secret in secrets {
        let main = "use \"x.prop\"\nproperty p state s accepting\n";
        let model = "#include \"x.prop\"\ninit { skip }\n";
        let files = [
            ("main.prop", main),
            ("x.prop", secret),
            ("model.pml", model),
            (
                "far.prop",
                "use \"main.prop\"\nproperty q state s accepting\n",
            ),
        ];
        let directory = directory(&files);
        for arguments in [
            &["property", "check", "main.prop"][..],
            &["property", "check", "far.prop"],
            &["property", "show", "main.prop"],
            &["model", "check", "model.pml"],
            &["model", "check", "--json", "model.pml"],
            &["run", "--batch", "--property", "main.prop", "/bin/true"],
            &[
                "run",
                "--batch",
                "--json=-",
                "--property",
                "main.prop",
                "/bin/true",
            ],
        ] {
            let output = juror(arguments).directory(directory.path()).run();
            let text = format!("{}{}", output.stdout, output.stderr);
            assert_eq!(output.code(), Some(2), "{arguments:?} {secret:?}: {text}");
            assert!(!text.contains("hunter2"), "{arguments:?}: {text}");
            assert!(text.contains("x.prop"), "{arguments:?}: {text}");
        }
    }
    // That of those that are is.
    let directory = directory(&[
        (
            "main.prop",
            "use \"x.prop\"\nproperty p state s accepting\n",
        ),
        ("x.prop", "property x state s acceptin\n"),
    ]);
    let check = juror(&["property", "check", "main.prop"]);
    let output = check.directory(directory.path()).run();
    assert!(output.stderr.contains("acceptin") || output.stdout.contains("acceptin"));
}
