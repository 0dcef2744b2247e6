//! Transcripts of sessions at the prompt.
//!
//! In a transcript, lines that begin with `> ` are typed, and the others are the output. Of the
//! source around a stop only the marked line is kept; addresses are `0x…`, absolute paths lose
//! their directories, and several spaces are one. So one transcript is valid for all builds.

use crate::support::{Batch, juror, program, property_of};
use juror_testing::{Build, Compiler, Expected, Fixture, Language, Optimization, is_update};
use std::path::Path;

/// Runs the lines of a transcript that are typed, and gives the whole.
fn transcript(executable: &Path, typed: &str) -> String {
    let lines: String = typed
        .lines()
        .filter_map(typed_in)
        .flat_map(|line| [line, "\n"])
        .collect();
    let output = juror(&["run"])
        .args([executable])
        .directory(executable.parent().expect("a directory"))
        .input(lines)
        .run();
    let mut shown = String::new();
    let mut listing = false;
    // Each build has a name of its own.
    let name = executable.file_name().expect("a name").to_string_lossy();
    for line in output.stdout.lines().chain(output.stderr.lines()) {
        if let Some(typed) = line.strip_prefix("(juror) ") {
            listing = typed.starts_with("list");
        }
        if let Some(line) = normalized(line, listing) {
            shown.push_str(&line.replace(&*name, "PROGRAM"));
            shown.push('\n');
        }
    }
    shown
}

/// What was typed in a line of a transcript: after the prompt `> `, or after
/// the prompts for lines that belong to a breakpoint, which have no space.
fn typed_in(line: &str) -> Option<&str> {
    let rest = line.strip_prefix('>')?;
    Some(
        rest.strip_prefix(' ')
            .unwrap_or(rest.trim_start_matches('>')),
    )
}

/// A line as transcripts have it; none for source around the marked line,
/// unless it was asked for.
fn normalized(line: &str, listing: bool) -> Option<String> {
    if line == "(juror) " {
        return None;
    }
    if let Some(typed) = line.strip_prefix("(juror) ") {
        return Some(format!("> {typed}"));
    }
    let is_context = line.starts_with("    ")
        && line
            .trim_start()
            .split(' ')
            .next()
            .is_some_and(|number| number.parse::<u32>().is_ok());
    if is_context && !listing {
        return None;
    }
    // Which threads there still are depends on how they were scheduled.
    let line = match line.find(", thread ") {
        Some(at) if line[at..].contains(", one of ") => &format!("{}, of several", &line[..at]),
        _ => line,
    };
    let words: Vec<String> = line.split_whitespace().map(without_places).collect();
    Some(words.join(" "))
}

fn without_places(word: &str) -> String {
    // Where a library's source lies is the test's own affair.
    if let Some((_, name)) = word
        .strip_prefix('/')
        .and_then(|path| path.rsplit_once('/'))
    {
        return name.to_owned();
    }
    let Some(at) = word.find("0x") else {
        return word.to_owned();
    };
    let (before, rest) = word.split_at(at + 2);
    let end = rest
        .find(|c: char| !c.is_ascii_hexdigit())
        .unwrap_or(rest.len());
    if end < 4 {
        return word.to_owned();
    }
    format!("{before}…{}", &rest[end..])
}

/// Plays a transcript of `tests/transcripts` over a program of
/// `tests/programs`, in every build that `wanted` has.
#[track_caller]
fn check(name: &str, file: &str, wanted: impl Fn(&Build) -> bool) {
    let fixture = program(file);
    check_fixture(name, &fixture, wanted);
}

#[track_caller]
fn check_fixture(name: &str, fixture: &Fixture, wanted: impl Fn(&Build) -> bool) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/transcripts")
        .join(name)
        .with_extension("txt");
    let file = Expected::file(path);
    let mut expected = file.text();
    assert!(
        typed_in(&expected).is_some(),
        "{name} begins with a command"
    );
    let mut builds = Build::all_of(fixture.language());
    builds.retain(wanted);
    assert!(!builds.is_empty(), "{name} is played with no build");
    let first = builds[0];
    for build in builds {
        let executable = fixture.compile(&build);
        let given = transcript(&executable, &expected);
        if given.trim_end() == expected.trim_end() {
            continue;
        }
        assert!(
            is_update(),
            "{name} in {build}: expected\n{expected}\ngiven\n{given}\n\
             (JUROR_UPDATE=1 writes the transcript anew)"
        );
        // The first build says what the others are to give.
        assert!(build == first, "{name}: {first} and {build} differ");
        file.change(|_| given.clone());
        expected = given;
    }
}

fn unoptimized(build: &Build) -> bool {
    build.optimization == Optimization::None
}

#[test]
fn addresses_and_context_are_left_out() {
    for (line, expected) in [
        (
            "#1  f (p=0x7fffffffe010) at a.c:3",
            Some("#1 f (p=0x…) at a.c:3"),
        ),
        ("    12   x = 0x10;", None),
        ("  →   12   x = 0x10;", Some("→ 12 x = 0x10;")),
        ("(juror) next", Some("> next")),
        ("(juror) ", None),
    ] {
        assert_eq!(normalized(line, false).as_deref(), expected, "{line:?}");
    }
    assert_eq!(normalized("    12   x;", true).as_deref(), Some("12 x;"));
}

#[test]
fn steps_go_from_statement_to_statement() {
    check("steps", "steps.c", unoptimized);
}

#[test]
fn finish_leaves_one_call_of_a_recursion() {
    check("finish", "steps.c", unoptimized);
}

#[test]
fn breakpoints_have_conditions_and_outlive_the_program() {
    check("breakpoints", "steps.c", unoptimized);
}

#[test]
fn a_breakpoint_has_locations_conditions_and_commands() {
    check("points", "points.cpp", unoptimized);
}

#[test]
fn watchpoints_show_the_store_and_end_with_their_call() {
    let gcc = |build: &Build| unoptimized(build) && build.compiler == Compiler::Gcc;
    check("watched", "watched.c", gcc);
}

/// A field of `this` is watched until the call ends, a global variable for good.
#[test]
fn names_in_a_member_function_are_fields_or_global_variables() {
    check("members", "members.cpp", unoptimized);
}

#[test]
fn virtual_base_classes_are_found_by_the_object() {
    check("virtual_bases", "virtual_bases.cpp", |_| true);
}

#[test]
fn variables_of_threads_are_those_of_the_thread_at_hand() {
    check("thread_local", "thread_local.c", |_| true);
}

#[test]
fn sizes_and_constants_with_a_high_bit_are_what_they_are() {
    check("numbers", "numbers.c", |_| true);
}

/// Where the code of a label begins, and where variables are, is the compiler's affair.
#[test]
fn labels_are_places() {
    let gcc = |build: &Build| unoptimized(build) && build.compiler == Compiler::Gcc;
    check("labels", "labels.c", gcc);
}

#[test]
fn conditions_go_through_virtual_base_classes() {
    let file = "virtual_bases.cpp";
    check("virtual_bases_in_guards", file, unoptimized);
}

#[test]
fn functions_return_what_they_are_told_to_in_all_registers() {
    check("results", "results.c", unoptimized);
}

/// Where a compiler has moved the code of a copy is its own affair.
#[test]
fn stops_in_inlined_copies_are_in_their_frames() {
    let optimized = |build: &Build| build.optimization == Optimization::Full;
    let gcc = |build: &Build| optimized(build) && build.compiler == Compiler::Gcc;
    check("inlined_by_gcc", "inlined.c", gcc);
    if Compiler::Clang.is_present() {
        let clang = |build: &Build| optimized(build) && build.compiler == Compiler::Clang;
        check("inlined_by_clang", "inlined.c", clang);
    }
}

/// The place that was asked for is where one stops and where a condition is asked, and
/// what begins there is stepped into without a move.
#[test]
fn inlined_calls_that_begin_at_one_instruction_are_entered_one_by_one() {
    let gcc =
        |build: &Build| build.compiler == Compiler::Gpp && build.optimization == Optimization::Full;
    check("within", "within.cpp", gcc);
}

/// The lines of calls that were inlined, and of which nothing else is left.
#[test]
fn a_line_of_which_only_an_inlined_call_is_left_is_stopped_at() {
    let gcc =
        |build: &Build| build.compiler == Compiler::Gpp && build.optimization == Optimization::Full;
    check("called", "called.cpp", gcc);
}

/// The stop is before the first statement of the copy, in its frame; the function around it
/// is stopped at by the same instruction.
#[test]
fn a_copy_with_which_a_function_begins_is_stopped_at_on_its_entry() {
    let gcc =
        |build: &Build| build.compiler == Compiler::Gcc && build.optimization == Optimization::Full;
    check("opens", "opens.c", gcc);
    let optimized = |build: &Build| build.optimization == Optimization::Full;
    check("at_entry", "at_entry.c", optimized);
}

/// What is told of where a copy begins may be the code of another one.
#[test]
fn a_copy_is_stopped_at_on_its_own_code() {
    let gcc =
        |build: &Build| build.compiler == Compiler::Gpp && build.optimization == Optimization::Full;
    check("scattered", "scattered.cpp", gcc);
}

/// Only a beginning was copied: a call may come by it, or by the rest alone.
#[test]
fn each_call_of_a_function_that_was_inlined_in_parts_is_seen_once() {
    let gcc =
        |build: &Build| build.compiler == Compiler::Gcc && build.optimization == Optimization::Full;
    check("outlined", "outlined.c", gcc);
    check("split", "split.c", gcc);
}

#[test]
fn what_begins_where_a_call_returns_to_is_not_entered_by_returning() {
    let gcc = |build: &Build| !unoptimized(build) && build.compiler == Compiler::Gpp;
    check("emptied", "emptied.cpp", gcc);
}

#[test]
fn references_are_assigned_through() {
    check("references", "references.cpp", unoptimized);
}

/// Of 9 to 16 bytes, too, which are handed over in memory unless they are two numbers.
#[test]
fn aggregates_of_rust_are_handed_over_as_rustc_does() {
    check("aggregates", "aggregates.rs", unoptimized);
}

#[test]
fn numbers_of_all_formats_are_read_and_computed_with() {
    check("formats", "formats.c", |build| {
        unoptimized(build) && build.compiler == Compiler::Gcc
    });
}

#[test]
fn casts_between_classes_move_the_address_as_cpp_does() {
    check("casts", "casts.cpp", unoptimized);
}

#[test]
fn pointers_to_members_lead_to_them_in_every_object() {
    check("member_pointers", "member_pointers.cpp", unoptimized);
}

#[test]
fn types_are_made_of_others_as_c_writes_them() {
    check("written_types", "written_types.c", unoptimized);
}

/// Arguments that only the caller still knows, and those that it must not be asked for.
#[test]
fn what_a_function_was_called_with_is_found_in_its_caller() {
    let optimized =
        |build: &Build| build.compiler == Compiler::Gcc && build.optimization == Optimization::Full;
    check("entered", "entered.c", optimized);
}

/// What a function leaves behind that ends in a jump to another one.
#[test]
fn functions_that_have_ended_in_jumps_have_frames() {
    let optimized =
        |build: &Build| build.compiler == Compiler::Gcc && build.optimization == Optimization::Full;
    check("tails", "tails.c", optimized);
}

#[test]
fn lists_go_on() {
    check("lists", "steps.c", unoptimized);
}

#[test]
fn values_are_printed_with_their_types() {
    check("values", "values.c", unoptimized);
}

#[test]
fn types_are_shown_and_expressions_displayed() {
    check("types.txt", "values.c", unoptimized);
}

#[test]
fn parts_of_standard_types_are_reached_as_they_are_shown() {
    let cpp = program("views.cpp").argument("-std=c++17");
    check_fixture("containers.txt", &cpp, unoptimized);
    check("library_parts.txt", "library.rs", unoptimized);
}

#[test]
fn a_frame_that_is_a_guess_is_marked() {
    check("bare.txt", "bare.c", unoptimized);
}

/// By the frame pointer where one leads on; else the stack ends, and says so.
#[test]
fn stacks_go_through_code_of_no_file_as_far_as_can_be_guessed() {
    let gcc = |build: &Build| unoptimized(build) && build.compiler == Compiler::Gcc;
    check("ruleless", "ruleless.c", gcc);
}

/// The kernel's own library has a name, names and rules.
#[test]
fn stacks_go_through_what_the_kernel_has_put_into_the_process() {
    let executable = program("ruleless.c").argument("-Wl,-z,now").compile_plain();
    let mut batch = Batch::new().command("break now").command("run");
    for _ in 0..60 {
        batch = batch.command("stepi");
    }
    let report = batch.run(&executable, &[]);
    let inside = report
        .kind("stop")
        .find(|stop| stop["location"]["module"] == "[vdso]");
    let inside = inside.expect("the clock is read there");
    let frames = inside["backtrace"].as_array().expect("a list");
    let names: Vec<&str> = frames
        .iter()
        .filter_map(|frame| frame["location"]["function"].as_str())
        .collect();
    assert!(names[0].contains("clock_gettime"), "{names:?}");
    assert_eq!(names[names.len() - 2..], ["now", "main"], "{names:?}");
}

#[test]
fn the_stacks_of_all_threads_are_shown_at_once() {
    let executable = program("workers.c").argument("-pthread").compile_plain();
    let report = Batch::new()
        .command("break add if n == 11")
        .command("run")
        .command("thread")
        .command("thread apply all backtrace full")
        .command("print n")
        .run(&executable, &[]);
    let stacks = report.outcome("thread apply all backtrace full");
    let stacks = stacks.as_array().expect("a list");
    assert_eq!(stacks.len(), 3, "{stacks:?}");
    let functions = |stack: &serde_json::Value| -> Vec<String> {
        let frames = stack["frames"].as_array().expect("frames");
        let names = frames.iter().map(|it| it["location"]["function"].as_str());
        names.map(|name| name.unwrap_or("?").to_owned()).collect()
    };
    let whole: Vec<Vec<String>> = stacks.iter().map(functions).collect();
    assert_eq!(
        whole[0].last().map(String::as_str),
        Some("main"),
        "{whole:?}"
    );
    let current = stacks.iter().find(|it| it["thread"]["current"] == true);
    let current = current.expect("one is selected");
    assert_eq!(functions(current)[..2], ["add", "work"], "{current}");
    let locals = &current["frames"][1]["locals"];
    let value = |name: &str| {
        let found = locals.as_array().expect("a list").iter();
        let found = found.clone().find(|it| it["name"] == name);
        found.map(|it| it["value"].clone())
    };
    assert_eq!(value("worker"), Some("1".into()), "{locals}");
    assert_eq!(value("i"), Some("1".into()), "{locals}");
    // The thread that was selected still is.
    assert_eq!(report.outcome("print n")["value"], "11");
}

#[test]
fn a_jump_does_not_let_a_step_run_away() {
    let gcc = |build: &Build| unoptimized(build) && build.compiler == Compiler::Gcc;
    check("jumps", "jumps.c", gcc);
}

#[test]
fn an_exception_does_not_let_a_step_run_away() {
    check("throws", "throws.cpp", unoptimized);
}

#[test]
fn rust_is_stepped_by_its_own_lines() {
    check("rust", "shapes.rs", unoptimized);
}

/// Of what is inlined from Rust's own library nobody sees anything.
#[test]
fn optimized_rust_is_stepped_by_its_own_lines() {
    check("chained", "chained.rs", |build| !unoptimized(build));
}

#[test]
fn steps_of_one_thread_let_the_others_run() {
    check("workers", "workers.c", unoptimized);
}

#[test]
fn optimized_code_is_stepped_forward() {
    let full = |build: &Build| !unoptimized(build) && build.compiler == Compiler::Gcc;
    check("optimized", "optimized.c", full);
}

/// The head of a loop is at its beginning, and again where gcc has put its condition.
#[test]
fn the_head_of_a_loop_is_a_place_of_its_own() {
    let gcc =
        |build: &Build| build.compiler == Compiler::Gcc && build.optimization == Optimization::Full;
    check("rotated", "rotated.c", gcc);
}

#[test]
fn a_step_goes_through_the_linkage_table() {
    let plain = Build::plain(Language::C);
    let library = program("scale.c")
        .argument("-shared")
        .argument("-fPIC")
        .compile(&plain);
    // It stands before the source that needs it.
    let fixture = program("scaled.c")
        .argument("-Wl,--no-as-needed")
        .argument(&library.display().to_string());
    check_fixture("library", &fixture, |build| *build == plain);
}

#[test]
fn the_program_is_led_elsewhere_and_texts_are_shown() {
    check("elsewhere", "elsewhere.c", unoptimized);
}

#[test]
fn a_function_that_a_person_left_has_not_returned() {
    let executable = program("elsewhere.c").compile_plain();
    let events = "event weighed = after weigh\nevent out = after outer";
    let report = Batch::watching(&property_of(events))
        .command("break weigh")
        .command("run")
        .command("return 5")
        .command("next")
        .command("print inside")
        .command("continue")
        .run(&executable, &[]);
    assert_eq!(report.outcome("print inside")["value"], "5");
    let counts = ["weighed", "out"].map(|event| report.counts(event).occurrences);
    assert_eq!(counts, [0, 1]);
}

#[test]
fn commands_come_from_files() {
    let executable = program("elsewhere.c").compile_plain();
    let directory = executable.parent().expect("a directory");
    let inner = directory.join("inner.commands");
    std::fs::write(&inner, "print sum\n").expect("a file");
    let text = "# Comments and empty lines are passed over.\n\n\
                break 35\ncommands\nsilent\nprint p.x\nend\n\
                run\nnext\nsource inner.commands\nprint nosuch\nprint never\n";
    std::fs::write(directory.join("outer.commands"), text).expect("a file");
    let output = juror(&["run"])
        .args([&executable])
        .directory(directory)
        .input("source outer.commands\nprint ratio\n")
        .run();
    let values = output.stdout.lines().filter(|line| line.starts_with('$'));
    let values: Vec<&str> = values.collect();
    assert_eq!(values, ["$1 = 3", "$2 = 103", "$3 = 0.25"], "{output:?}");
    assert!(output.stdout.contains("there is no `nosuch`"), "{output:?}");
    assert!(!output.stdout.contains("`never`"), "{output:?}");
}

#[test]
fn the_input_may_end_before_the_commands_of_a_point_do() {
    let executable = program("steps.c").compile_plain();
    let output = juror(&["run"])
        .args([&executable])
        .input("break half\nrun\ncommands\nprint x\n")
        .run();
    assert_eq!(output.code(), Some(0), "{output:?}");
}

/// The inlined calls around it have no code of their own there.
#[test]
fn callers_in_optimized_code_have_their_own_variables() {
    check("callers", "overloads.cpp", |build| !unoptimized(build));
}

#[test]
fn steps_go_into_the_right_one_of_several_calls() {
    let gcc = |build: &Build| unoptimized(build) && build.compiler == Compiler::Gpp;
    check("nested_calls", "nested_calls.cpp", gcc);
}

#[test]
fn what_is_skipped_is_not_entered() {
    let gcc = |build: &Build| unoptimized(build) && build.compiler == Compiler::Gpp;
    check("skips", "nested_calls.cpp", gcc);
}

#[test]
fn member_functions_are_called_as_they_are_written() {
    let gcc = |build: &Build| unoptimized(build) && build.compiler == Compiler::Gpp;
    check("member_calls", "overloads.cpp", gcc);
}

#[test]
fn a_function_that_is_left_gives_back_a_fraction() {
    check("returned", "overloads.cpp", unoptimized);
}

#[test]
fn trait_objects_are_what_they_lead_to() {
    check("traits", "generics.rs", unoptimized);
}

/// The counts stand before the object, which may be aligned to more than they are.
#[test]
fn trait_objects_behind_counts_are_what_they_lead_to() {
    check("counted", "counted.rs", unoptimized);
}

#[test]
fn signals_are_handled_as_the_table_says() {
    check("signals", "signals.c", unoptimized);
}

#[test]
fn functions_are_called_with_values_of_all_classes() {
    check("callees", "callees.c", unoptimized);
}

#[test]
fn a_stop_inside_a_call_leaves_an_evaluation_open() {
    check("evaluations", "callees.c", unoptimized);
}

#[test]
fn conditions_may_call_functions() {
    check("conditions", "callees.c", unoptimized);
}
