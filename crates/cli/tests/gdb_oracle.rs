//! gdb as an oracle: over the same programs, compiled in every way, both debuggers
//! show the same stacks, the same values and the same lines stepped.
//!
//! Where they differ, a table has both answers and the reason ([`Difference`]);
//! one that is no difference any more fails the test. Without gdb nothing is
//! compared, and the test says that.

mod support;

use juror_testing::{Build, Compiler, Optimization};
use std::path::Path;
use std::process::Command;
use support::{juror, program};

/// A question that both debuggers are asked: what is typed before it, and what
/// is typed for each of its answers.
struct Question {
    program: &'static str,
    wanted: fn(&Build) -> bool,
    before: &'static [&'static str],
    asked: Vec<String>,
}

/// Where the two differ.
struct Difference {
    program: &'static str,
    gdb: &'static [&'static str],
    juror: &'static [&'static str],
    /// Why it is right that they do.
    why: &'static str,
}

/// Where the program is loaded is the same to both.
fn unoptimized(build: &Build) -> bool {
    build.optimization == Optimization::None && build.pie
}

fn optimized(build: &Build) -> bool {
    build.optimization == Optimization::Full && build.pie
}

fn gcc_unoptimized(build: &Build) -> bool {
    unoptimized(build) && build.compiler == Compiler::Gcc
}

fn has_gdb() -> bool {
    let found = Command::new("gdb").arg("--version").output().is_ok();
    if !found {
        println!("There is no gdb here: what it shows is not compared.");
    }
    found
}

/// What stands after each mark in the output of a debugger.
fn sections(output: &str) -> Vec<Vec<String>> {
    let mut sections: Vec<Vec<String>> = Vec::new();
    for line in output.lines().filter(|line| !line.starts_with("(juror) ")) {
        match sections.last_mut() {
            _ if line.trim() == MARK => sections.push(Vec::new()),
            Some(section) => section.push(line.to_owned()),
            None => {}
        }
    }
    sections
}

const MARK: &str = "@@";

/// The commands, with a mark before each answer.
fn script(question: &Question) -> String {
    let mut script = String::new();
    for line in question.before {
        script.push_str(&format!("{line}\n"));
    }
    for line in &question.asked {
        script.push_str(&format!("echo {MARK}\\n\n{line}\n"));
    }
    script
}

fn ask_gdb(executable: &Path, question: &Question) -> Vec<Vec<String>> {
    // One mistake would end the file, so each line is an option.
    let mut gdb = Command::new("gdb");
    gdb.args(["-nx", "-q", "-batch", "-iex", "set debuginfod enabled off"]);
    // juror steps into code whose source is there, gdb into all that has lines.
    gdb.args(["-iex", "set debug-file-directory /nowhere"]);
    let set = [
        "confirm off",
        "width 0",
        "print null-stop on",
        "startup-with-shell off",
    ];
    for line in set {
        gdb.args(["-ex", &format!("set {line}")]);
    }
    for line in script(question).lines() {
        gdb.args(["-ex", line]);
    }
    let output = gdb.arg(executable).output().expect("gdb runs");
    sections(&String::from_utf8_lossy(&output.stdout))
}

fn ask_juror(executable: &Path, question: &Question) -> Vec<Vec<String>> {
    let output = juror(&["run"]).args([executable]).input(script(question));
    sections(&output.run().stdout)
}

/// A frame as both show it: `#1  0x401136 in f (n=2) at file.c:3`.
fn frame(line: &str) -> Option<String> {
    let rest = line.strip_prefix('#')?.split_once(' ')?.1.trim_start();
    let rest = match rest.split_once(" in ") {
        Some((address, rest)) if address.starts_with("0x") => rest,
        _ => rest,
    };
    let (name, _) = rest.split_once(" (")?;
    let (_, place) = rest.rsplit_once(" at ")?;
    let (file, number) = place.rsplit_once(':')?;
    let file = file.rsplit('/').next()?;
    // Which frames are inlined only juror says.
    let number = number.strip_suffix(" [inlined]").unwrap_or(number);
    Some(format!("{name} at {file}:{number}"))
}

fn frames(section: &[String]) -> Vec<String> {
    section.iter().filter_map(|line| frame(line)).collect()
}

/// A value without what is each debugger's own: the type before a pointer,
/// addresses, the symbol behind one.
fn value(section: &[String]) -> Vec<String> {
    let shown = section.iter().find(|line| !line.is_empty());
    let Some(text) = shown.map(|line| line.split_once(" = ").map_or(&**line, |it| it.1)) else {
        return Vec::new();
    };
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("0x") {
        let (before, address) = rest.split_at(at);
        plain.push_str(before);
        plain.push_str("0x…");
        let digits = address.get(2..).unwrap_or("");
        let end = digits.find(|c: char| !c.is_ascii_hexdigit());
        rest = digits.get(end.unwrap_or(digits.len())..).unwrap_or("");
    }
    plain.push_str(rest);
    while let Some((start, end)) = plain
        .find("(")
        .and_then(|start| Some((start, start + plain[start..].find("*) ")?)))
    {
        plain.replace_range(start..end + 3, "");
    }
    while let Some((start, end)) = plain
        .find(" <")
        .and_then(|start| Some((start, start + plain[start..].find('>')?)))
    {
        plain.replace_range(start..=end, "");
    }
    vec![plain]
}

/// Compares the answers, read by `read`; each difference must be in the table,
/// and what is there must be one.
#[track_caller]
fn compare(questions: &[Question], differences: &[Difference], read: fn(&[String]) -> Vec<String>) {
    if !has_gdb() {
        return;
    }
    let mut problems = Vec::new();
    let mut seen = vec![false; differences.len()];
    for question in questions {
        let fixture = program(question.program);
        let builds = Build::all_of(fixture.language());
        for build in builds.into_iter().filter(|build| (question.wanted)(build)) {
            let executable = fixture.compile(&build);
            let theirs = ask_gdb(&executable, question);
            let ours = ask_juror(&executable, question);
            let count = question.asked.len();
            assert_eq!((theirs.len(), ours.len()), (count, count), "{build}");
            for (line, (theirs, ours)) in question.asked.iter().zip(theirs.iter().zip(&ours)) {
                let (theirs, ours) = (read(theirs), read(ours));
                if theirs == ours {
                    continue;
                }
                let is_known = |known: &Difference| {
                    known.program == question.program && known.gdb == theirs && known.juror == ours
                };
                match differences.iter().position(is_known) {
                    Some(known) => seen[known] = true,
                    None => problems.push(format!(
                        "{} in {build}, {line}: gdb {theirs:?}, juror {ours:?}",
                        question.program,
                    )),
                }
            }
        }
    }
    let mut unseen = differences.iter().zip(&seen).filter(|(_, seen)| !**seen);
    if let Some((gone, _)) = unseen.next() {
        problems.push(format!(
            "{}: no difference any more: {}",
            gone.program, gone.why
        ));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// So many steps, each followed by the frame where it ended.
fn steps(word: &str, count: usize) -> Vec<String> {
    (0..count)
        .flat_map(|_| [word.to_owned(), "frame".to_owned()])
        .collect()
}

fn lines(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|&line| line.to_owned()).collect()
}

#[test]
fn stacks_are_the_same() {
    let stack = |program, before, asked: &[&str]| Question {
        program,
        wanted: unoptimized,
        before,
        asked: lines(asked),
    };
    let out = ["backtrace", "finish", "frame", "up", "frame"];
    let differences = [Difference {
        program: "throws.cpp",
        gdb: &["checked at throws.cpp:12"],
        juror: &["tried at throws.cpp:21"],
        why: "gdb's finish runs on when the function is left by an exception, up to the next \
              breakpoint; juror stops where it is caught",
    }];
    compare(
        &[
            stack("steps.c", &["break factorial if n == 1", "run"], &out),
            stack("steps.c", &["break half", "run"], &out),
            stack(
                "throws.cpp",
                &["break checked", "run"],
                &["backtrace", "finish", "frame"],
            ),
            stack("overloads.cpp", &["break overloads.cpp:twice", "run"], &out),
            stack("nested_calls.cpp", &["break Heavy::weight", "run"], &out),
            stack("nested_calls.cpp", &["break f", "run"], &out),
        ],
        &differences,
        frames,
    );
}

#[test]
fn values_are_the_same() {
    let values = |program, before, asked: &[&str]| Question {
        program,
        wanted: unoptimized,
        before,
        asked: lines(asked),
    };
    let shortest = "juror shows the fewest digits that are read as this number again";
    let differences = [
        Difference {
            program: "values.c",
            gdb: &["{whole = 1, real = 1.40129846e-45}"],
            juror: &["{whole = 1, real = 1e-45}"],
            why: shortest,
        },
        Difference {
            program: "values.c",
            gdb: &["1"],
            juror: &["true"],
            why: "a comparison is a truth value, also in C",
        },
        Difference {
            program: "overloads.cpp",
            gdb: &[],
            juror: &["2"],
            why: "gdb calls no function objects as they are written",
        },
    ];
    compare(
        &[
            values(
                "values.c",
                &["break look", "run", "up"],
                &[
                    "print first.number",
                    "print first.low + first.high",
                    "print first.color",
                    "print first.inner",
                    "print first.weights",
                    "print table",
                    "print table[1][2] * 2",
                    "print text",
                    "print *text@3",
                    "print numbers[1]",
                    "print &numbers[2] - numbers",
                    "print sizeof(struct item)",
                    "print/x first.high",
                    "print -7 / 2",
                    "print -7 % 3",
                    "print (char)65",
                    "print first.next->inner.name",
                    "print first.both",
                    "print second.weights",
                    "print *first.next->inner.name@2",
                    "print first.next == &second",
                    "print 1.5 + 2",
                    "print 7 / 2.0",
                    "print (unsigned char)300",
                    "print/o 8",
                    "print/t 10",
                    "print/c 65",
                    "print/d 'a'",
                    "print GREEN",
                    "whatis first",
                    "whatis table",
                    "whatis first.next",
                ],
            ),
            values(
                "overloads.cpp",
                // The calls below come there, too.
                &["tbreak overloads.cpp:twice", "run", "up", "up"],
                &[
                    "print square.side",
                    "print sum",
                    "print square.area()",
                    "print shape.area(3)",
                    "print geo::area(5)",
                    "print twice(4)",
                    "print numbers(1)",
                    "whatis twice",
                    "whatis sum",
                ],
            ),
        ],
        &differences,
        value,
    );
}

/// Where the virtual base classes of an object are, of whole ones and of those that are
/// being constructed.
#[test]
fn virtual_base_classes_are_the_same() {
    let values = |wanted, before, asked: &[&str]| Question {
        program: "virtual_bases.cpp",
        wanted,
        before,
        asked: lines(asked),
    };
    let objects = [
        "print room",
        "print bottom",
        "print left",
        "print room.top + bottom.top",
        "print room.floor",
        "print *(Top *)&room",
        "print ((Floor *)&room)->floor",
        "print ((Right *)&bottom)->right",
        "print (Room *)(Floor *)&room == &room",
        "print ((Left *)&room)->top",
        "print room.height()",
    ];
    let parts = ["print *this", "print top", "print this->top"];
    let is_gcc = |build: &Build| build.pie && build.compiler == Compiler::Gcc;
    compare(
        &[
            values(unoptimized, &["break high", "run", "up"], &objects),
            values(optimized, &["break high", "run", "up"], &objects),
            values(is_gcc, &["break stop", "run", "up"], &parts),
        ],
        &[],
        value,
    );
}

/// In optimized code neither knows more than the compiler kept, and what they know is
/// the same.
#[test]
fn stacks_of_optimized_code_are_the_same() {
    let stack = |program, before| Question {
        program,
        wanted: optimized,
        before,
        asked: lines(&["backtrace", "up", "frame"]),
    };
    let first_rows = "several rows of gcc's line table are for the first instruction: juror takes \
                      the first of them, where the function begins, gdb the last";
    let entry = "gcc has moved the first code of the copy to before the calls that it is in: gdb \
                 stops there, juror at the entry that the compiler marks";
    let begins = "the code of two calls begins at one address: juror shows both, gdb the one that \
                  the breakpoint is for";
    let inner = |gdb, juror, why| Difference {
        program: "inlined.c",
        gdb,
        juror,
        why,
    };
    let differences = [
        Difference {
            program: "optimized.c",
            gdb: &["sum at optimized.c:14", "main at optimized.c:22"],
            juror: &["sum at optimized.c:10", "main at optimized.c:22"],
            why: first_rows,
        },
        inner(
            &[
                "at_entry at inlined.c:7",
                "start at inlined.c:29",
                "main at inlined.c:37",
            ],
            &[
                "at_entry at inlined.c:21",
                "start at inlined.c:29",
                "main at inlined.c:37",
            ],
            first_rows,
        ),
        inner(
            &[
                "square at inlined.c:7",
                "both at inlined.c:15",
                "start at inlined.c:28",
                "main at inlined.c:37",
            ],
            &[
                "square at inlined.c:8",
                "both at inlined.c:15",
                "start at inlined.c:28",
                "main at inlined.c:37",
            ],
            entry,
        ),
        inner(
            &[
                "both at inlined.c:15",
                "start at inlined.c:28",
                "main at inlined.c:37",
            ],
            &[
                "square at inlined.c:8",
                "both at inlined.c:15",
                "start at inlined.c:28",
                "main at inlined.c:37",
            ],
            begins,
        ),
        inner(
            &[
                "both at inlined.c:15",
                "start at inlined.c:28",
                "main at inlined.c:37",
            ],
            &[
                "square at inlined.c:7",
                "both at inlined.c:15",
                "start at inlined.c:28",
                "main at inlined.c:37",
            ],
            begins,
        ),
        inner(
            &["start at inlined.c:28"],
            &["both at inlined.c:15"],
            begins,
        ),
        inner(
            &[
                "at_entry at inlined.c:22",
                "start at inlined.c:29",
                "main at inlined.c:37",
            ],
            &[
                "square at inlined.c:7",
                "at_entry at inlined.c:22",
                "start at inlined.c:29",
                "main at inlined.c:37",
            ],
            begins,
        ),
        inner(
            &["start at inlined.c:29"],
            &["at_entry at inlined.c:22"],
            begins,
        ),
    ];
    compare(
        &[
            stack("optimized.c", &["break sum", "run"]),
            stack("overloads.cpp", &["break overloads.cpp:twice", "run"]),
            stack("overloads.cpp", &["break geo::Square::area", "run"]),
            stack("nested_calls.cpp", &["break f", "run"]),
            stack("nested_calls.cpp", &["break g", "run"]),
            stack("nested_calls.cpp", &["break Heavy::weight", "run"]),
            stack("nested_calls.cpp", &["break thrower", "run"]),
            stack("inlined.c", &["break square", "run"]),
            stack("inlined.c", &["break square", "run", "continue"]),
            stack(
                "inlined.c",
                &["break square", "run", "continue", "continue"],
            ),
            stack("inlined.c", &["break both", "run"]),
            stack("inlined.c", &["break at_entry", "run"]),
            stack("virtual_bases.cpp", &["break Room::all", "run"]),
            stack("virtual_bases.cpp", &["break stop", "run"]),
        ],
        &differences,
        frames,
    );
}

#[test]
fn values_in_optimized_code_are_the_same() {
    let values = |program, before, asked: &[&str]| Question {
        program,
        wanted: optimized,
        before,
        asked: lines(asked),
    };
    let synthetic = "of what the compiler removed gdb says that there is a pointer to it, also where \
                     it is no pointer; juror says that it was optimized out";
    let differences = [
        Difference {
            program: "values.c",
            gdb: &[
                "{number = 7, low = 5, high = 17, color = BLUE, both = {whole = 1, real = \
                    1.40129846e-45}, inner = {a = -2, name = \"abc\"}, next =, weights = \
                    {<synthetic pointer>,,}}",
            ],
            juror: &["optimized out"],
            why: synthetic,
        },
        Difference {
            program: "values.c",
            gdb: &["{<synthetic pointer>,,}"],
            juror: &["optimized out"],
            why: synthetic,
        },
        Difference {
            program: "elsewhere.c",
            gdb: &["{x = 3, y =}"],
            juror: &["optimized out"],
            why: synthetic,
        },
        Difference {
            program: "inlined.c",
            gdb: &["optimized out"],
            juror: &["25"],
            why: "gdb stops before the product is computed, at the first code of the copy; juror \
                  at the entry that the compiler marks",
        },
    ];
    compare(
        &[
            values(
                "values.c",
                &["break main", "run"],
                &[
                    "print first",
                    "print second",
                    "print table",
                    "print first.inner",
                    "print first.weights",
                    "print first.number",
                    "print first.low",
                    "print first.high",
                    "print first.color",
                    "print first.inner.a",
                    "print first.both.whole",
                    "print second.number",
                    "print second.low",
                    "print second.high",
                    "print numbers[0]",
                    "print numbers[0] + 1",
                ],
            ),
            values(
                "overloads.cpp",
                &["break overloads.cpp:twice", "run", "up", "up"],
                &[
                    "print sum",
                    "print square.side",
                    "print shape.side",
                    "whatis sum",
                ],
            ),
            values(
                "nested_calls.cpp",
                &["break Heavy::weight", "run", "up"],
                &["print sum", "whatis sum"],
            ),
            values(
                "nested_calls.cpp",
                &["break thrower", "run", "up"],
                &["print sum"],
            ),
            values(
                "elsewhere.c",
                &["break main", "run"],
                &["print p", "print p.x", "print sum", "print total"],
            ),
            values(
                "results.c",
                &["break make_large", "run", "up"],
                &["print x", "print w", "print p", "print v", "print l"],
            ),
            values(
                "inlined.c",
                &["break square", "run"],
                &["print side", "print area"],
            ),
        ],
        &differences,
        missing_or_value,
    );
}

/// Where a breakpoint is: its line, or at how many places.
fn place(section: &[String]) -> Vec<String> {
    let told = section.iter().find(|line| line.contains("reakpoint "));
    let Some((_, told)) = told.and_then(|line| line.split_once(" at ")) else {
        return Vec::new();
    };
    let number = |text: &str| {
        text.chars()
            .filter(char::is_ascii_digit)
            .collect::<String>()
    };
    let several = told.rsplit_once('(').map(|it| it.1);
    if let Some(several) = several.filter(|it| it.contains(" locations") || it.contains(" places"))
    {
        return vec![format!("{} places", number(several))];
    }
    let (file, line) = match told.split_once(": file ") {
        Some((_, rest)) => rest.split_once(", line ").unwrap_or_default(),
        None => told.rsplit_once(':').unwrap_or_default(),
    };
    let file = file.rsplit([' ', '/']).next().unwrap_or("");
    vec![format!("{file}:{}", number(line))]
}

#[test]
fn breakpoints_in_optimized_code_are_at_the_same_places() {
    let places = |program, asked: &[&str]| Question {
        program,
        wanted: optimized,
        before: &[],
        asked: lines(asked),
    };
    let first = "several rows of the line table are for the first instruction: juror names the \
                 line where the function begins, gdb the last of them";
    let last = "several rows of the line table are for the first instruction: juror names the \
                line of the last, whose code it is, gdb that of the last that begins a statement";
    let call = "of a call that was inlined juror names where it would be, gdb the line of its code";
    let placed = |program, gdb, juror, why| Difference {
        program,
        gdb,
        juror,
        why,
    };
    let differences = [
        placed(
            "optimized.c",
            &["optimized.c:7"],
            &["optimized.c:10"],
            first,
        ),
        placed(
            "optimized.c",
            &["optimized.c:20"],
            &["optimized.c:19"],
            last,
        ),
        placed("values.c", &["values.c:37"], &["values.c:38"], last),
        placed(
            "elsewhere.c",
            &["elsewhere.c:33"],
            &["elsewhere.c:30"],
            last,
        ),
        placed(
            "virtual_bases.cpp",
            &["virtual_bases.cpp:45"],
            &["virtual_bases.cpp:44"],
            last,
        ),
        placed("results.c", &["results.c:36"], &["results.c:35"], last),
        placed("optimized.c", &["optimized.c:7"], &["optimized.c:14"], call),
        placed("optimized.c", &["optimized.c:6"], &["optimized.c:14"], call),
        placed("inlined.c", &["inlined.c:7"], &["inlined.c:28"], call),
        placed("inlined.c", &["inlined.c:7"], &["inlined.c:21"], first),
        placed("inlined.c", &["inlined.c:22"], &["inlined.c:21"], first),
        placed(
            "virtual_bases.cpp",
            &["virtual_bases.cpp:6"],
            &["virtual_bases.cpp:49"],
            first,
        ),
    ];
    compare(
        &[
            places("values.c", &["break main"]),
            places("optimized.c", &["break sum", "break twice", "break main"]),
            places(
                "overloads.cpp",
                &["break overloads.cpp:twice", "break geo::Square::area"],
            ),
            places(
                "nested_calls.cpp",
                &["break f", "break g", "break Heavy::weight", "break thrower"],
            ),
            places("elsewhere.c", &["break main"]),
            places(
                "inlined.c",
                &["break square", "break both", "break at_entry"],
            ),
            places(
                "virtual_bases.cpp",
                &["break look", "break high", "break Room::all"],
            ),
            places(
                "results.c",
                &["break precise", "break make_pair", "break main"],
            ),
        ],
        &differences,
        place,
    );
}

/// A value, or that there is none, whichever way that is said.
fn missing_or_value(section: &[String]) -> Vec<String> {
    let has_none = |line: &String| line.contains("optimized out");
    match section.iter().any(has_none) {
        true => vec!["optimized out".to_owned()],
        false => value(section),
    }
}

#[test]
fn steps_are_the_same() {
    let stepped = |program, word, count, wanted| Question {
        program,
        wanted,
        before: &["break main", "run"],
        asked: steps(word, count),
    };
    let differences = [
        Difference {
            program: "elsewhere.c",
            gdb: &["outer at elsewhere.c:25"],
            juror: &["outer at elsewhere.c:26"],
            why: "after a return gdb stops in the middle of a statement where the line table has \
                  a row of its own for the rest of it; juror goes on to the next statement",
        },
        Difference {
            program: "jumps.c",
            gdb: &[],
            juror: &["main at jumps.c:29"],
            why: "gdb lets the program run away when a longjmp leaves the call that next steps \
                  over",
        },
    ];
    compare(
        &[
            stepped("steps.c", "step", 40, unoptimized),
            stepped("steps.c", "next", 18, unoptimized),
            stepped("optimized.c", "next", 8, unoptimized),
            stepped("nested_calls.cpp", "step", 16, gcc_unoptimized),
            stepped("elsewhere.c", "step", 11, gcc_unoptimized),
            stepped("jumps.c", "next", 4, gcc_unoptimized),
        ],
        &differences,
        frames,
    );
}
