//! Formats, registers, frames, threads and memory with the commands of gdb.

use crate::support::{juror, program};
use juror_testing::{Build, Language};
use std::path::Path;
use tempfile::TempDir;

/// What is said to each of these lines, in a directory.
fn answers(directory: &Path, build: &Build, lines: &[&str]) -> Vec<String> {
    let executable = program("machine.c").compile(build);
    let typed: String = lines.iter().map(|line| format!("{line} \n")).collect();
    let run = juror(&["run"]).args([executable]).directory(directory);
    let output = run.input(typed).run();
    let all = output.stdout.split("(juror) ").skip(1);
    let said = |part: &str| {
        part.split_once('\n')
            .map_or("", |(_, said)| said)
            .to_owned()
    };
    let answers: Vec<String> = all.map(said).collect();
    assert!(answers.len() >= lines.len(), "{}", output.stdout);
    answers
}

/// Each line with words that are in its answer.
#[track_caller]
fn check(build: &Build, typed: &[(&str, &str)]) {
    let directory = TempDir::with_prefix("juror-machine-").expect("a directory");
    let lines: Vec<&str> = typed.iter().map(|(line, _)| *line).collect();
    let answers = answers(directory.path(), build, &lines);
    for ((line, expected), answer) in typed.iter().zip(&answers) {
        assert!(answer.contains(expected), "{build} {line}: {answer}");
    }
}

fn builds() -> Vec<Build> {
    Build::all_of(Language::C)
}

#[test]
fn values_are_shown_in_the_formats_of_gdb() {
    for build in builds() {
        check(
            &build,
            &[
                ("tbreak main", ""),
                ("run", ""),
                ("print/d bytes", "{0, 65, -56, -1}"),
                (
                    "print/c ints",
                    "{1 '\\001', -2 '\\376', 3 '\\003', -4 '\\374', -1 '\\377'}",
                ),
                ("print/z ints", "{0x00000001, 0xfffffffe, "),
                ("print/f ints[1]", "-nan(0x7ffffe)"),
                ("print/d floats", "{1069547520, -1110651699, 1356825718}"),
                ("print/c half", "= 253 '\\375'"),
                ("print/a ints[1]", "= 0xfffffffffffffffe"),
                ("print/x int_pointer", "= 0x"),
                ("print/s letters[0]", "= 104 'h'"),
                ("print/x -1", "= 0xffffffff\n"),
                ("print ~bytes[2]", "= -201"),
                ("print sizeof(bytes[0] + 1) + sizeof(int[4])", "= 20"),
                ("print wide", "= L\"wide \u{e4}\"\n"),
                ("print wide_pointer", " L\"pointer\"\n"),
                ("print units", "= u\"\u{20ac} 5\"\n"),
                ("print points", "= U\"z\u{1f600}\"\n"),
                ("print wide[5]", "= 228 L'\u{e4}'"),
                ("print &ints", "(int (*)[5]) 0x"),
            ],
        );
    }
}

#[test]
fn memory_is_examined_as_it_is() {
    for build in builds() {
        check(
            &build,
            &[
                ("tbreak main", ""),
                ("run", ""),
                ("x/2x ints", "0x00000001  0xfffffffe\n"),
                ("x/2f doubles", "0.5  100\n"),
                ("x/2f floats", "1.5  -0.1\n"),
                ("x/a &int_pointer", "<ints+4>\n"),
                ("x/ws wide", "U\"wide \u{e4}\""),
                ("x/hs units", "u\"\u{20ac} 5\""),
                ("x/s letters", "\"hello\""),
                ("x/s name_of(0)", "\"zero\""),
                ("x/ws wide_name(L\"p\")", "U\"wide"),
                ("list 10,+2", "12"),
            ],
        );
    }
}

#[test]
fn vectors_and_flags_are_values() {
    for build in builds() {
        check(
            &build,
            &[
                ("break *leaf", ""),
                ("run", "in leaf"),
                ("print $xmm0.v2_double[0]", "= 2.5"),
                ("print $xmm1.v4_float[0] + 1", "= 1.25"),
                ("print $xmm0.v4_float[1] = 1.5", "= 1.5"),
                ("set var $xmm1.v4_float[0] = 4", "$xmm1.v4_float[0] = 4"),
                ("print $xmm1.v4_int32[0] == 0x40800000", "= true"),
                ("print $eflags & 2", "= 2"),
                ("print $eflags", "= [ "),
                ("print $mxcsr", "PM ]"),
                ("whatis $xmm0", "union vec128"),
                ("info registers xmm1", "v4_float = {4, "),
                ("print $st0", "= "),
                ("print $xmm16", "no register"),
                ("up", "middle (n=4)"),
                ("print $xmm0", "in the innermost frame only"),
                ("condition 1 $xmm1.v4_float[0] == 0.25", ""),
                ("run", "in leaf"),
                ("condition 1 $xmm1.v4_float[0] == 0.5", ""),
                ("run", "exited"),
            ],
        );
    }
}

#[test]
fn frames_say_where_they_are_in_memory() {
    for build in builds() {
        check(
            &build,
            &[
                ("break *leaf", ""),
                ("run", "in leaf"),
                ("info frame", "saved registers: rip at 0x"),
                ("info frame", "it returns to 0x"),
                ("print *(long *)$sp == (long)^$pc", "= true"),
                ("up", "middle (n=4)"),
                ("info frame", "it has called leaf"),
                ("info frame", ", in main"),
            ],
        );
    }
}

#[test]
fn threads_have_names() {
    check(
        &Build::plain(Language::C),
        &[
            ("break middle", ""),
            ("run", "in middle"),
            ("thread name the first", ""),
            ("info threads", "the first"),
            ("thread find ^the", "the first"),
            ("thread find nothing", "no thread has this name"),
            ("thread apply 1 2 print $_thread", "Thread 1 (the first):\n"),
            ("thread find (", "regular expression"),
            ("thread nowhere", "not the number of a thread"),
            ("thread name", ""),
            ("thread find the", "no thread has this name"),
        ],
    );
}

#[test]
fn memory_comes_back_from_a_file() {
    check(
        &Build::plain(Language::C),
        &[
            ("starti", "thread 1"),
            ("print table[1]", "= 20"),
            ("dump binary memory out table &table[4]", "16 bytes in out"),
            ("print table[1] = 7", "= 7"),
            ("restore out binary table", "16 bytes in memory at 0x"),
            ("print table", "{10, 20, 30, 40}"),
            ("restore out binary table 4 8", "4 bytes in memory"),
            ("restore out binary &table[1] 0 4", "4 bytes in memory"),
            ("print table", "{10, 10, 30, 40}"),
            ("restore nowhere binary table", "nowhere cannot be read"),
            (
                "restore out binary table 8 4",
                "the range of bytes in the file is not valid",
            ),
            ("continue", "exited with status 0"),
        ],
    );
}
