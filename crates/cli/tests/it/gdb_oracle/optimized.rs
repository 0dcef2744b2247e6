//! Stacks, values and breakpoint locations in optimized code.

use super::*;

const THROUGH_POINTER: &str = "the function ends in this jump and no other: whom it leads to is not \
                               said, but it has led there; gdb then shows nothing of it";

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
                      that of the call that was inlined there, gdb the last";
    let over = |gdb, juror| Difference {
        program: "overloads.cpp",
        gdb,
        juror,
        why: THROUGH_POINTER,
    };
    let inner = |gdb, juror, why| Difference {
        program: "inlined.c",
        gdb,
        juror,
        why,
    };
    let differences = [
        over(
            &["twice at overloads.cpp:35", "main at overloads.cpp:47"],
            &[
                "twice at overloads.cpp:35",
                "area at overloads.cpp:25",
                "main at overloads.cpp:47",
            ],
        ),
        over(&["main at overloads.cpp:47"], &["area at overloads.cpp:25"]),
        inner(
            &[
                "at_entry at inlined.c:7",
                "start at inlined.c:29",
                "main at inlined.c:37",
            ],
            &[
                "at_entry at inlined.c:22",
                "start at inlined.c:29",
                "main at inlined.c:37",
            ],
            first_rows,
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
fn stacks_with_tail_calls_are_the_same() {
    let question = |wanted, before, asked: &[&str]| Question {
        program: "tails.c",
        wanted,
        before,
        asked: lines(asked),
    };
    let by_gcc = |before| {
        question(
            gcc_optimized,
            before,
            &["backtrace", "up", "frame", "finish"],
        )
    };
    let by_clang = |before| question(clang_optimized, before, &["backtrace"]);
    let clang = "gdb does not read where clang's jumps are (DW_AT_call_pc)";
    let differ = |gdb, juror, why| Difference {
        program: "tails.c",
        gdb,
        juror,
        why,
    };
    let differences = [
        differ(
            &["last at tails.c:14", "main at tails.c:78"],
            &[
                "last at tails.c:14",
                "middle at tails.c:21",
                "start at tails.c:25",
                "main at tails.c:78",
            ],
            clang,
        ),
        differ(
            &["last at tails.c:14", "main at tails.c:82"],
            &[
                "last at tails.c:14",
                "through at tails.c:60",
                "main at tails.c:82",
            ],
            THROUGH_POINTER,
        ),
        differ(
            &["main at tails.c:82"],
            &["through at tails.c:60"],
            THROUGH_POINTER,
        ),
    ];
    compare(
        &[
            by_gcc(&["break last", "run"]),
            by_gcc(&["break last", "run", "continue"]),
            by_gcc(&["break last", "run", "continue 2"]),
            by_gcc(&["break last", "run", "continue 3"]),
            by_gcc(&["break last", "run", "continue 4"]),
            by_gcc(&["break last", "run", "continue 5"]),
            by_clang(&["break last", "run"]),
            by_clang(&["break last", "run", "continue 3"]),
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
    let told = told.split(" (no code at this line").next().unwrap_or(told);
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
        placed("inlined.c", &["inlined.c:7"], &["inlined.c:22"], call),
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

/// Where calls were inlined, rows of other lines and of the library are at the addresses of
/// a line.
#[test]
fn lines_with_inlined_calls_have_their_breakpoints_at_the_same_places() {
    let of_main = |wanted| Question {
        program: "overloads.cpp",
        wanted,
        before: &[],
        asked: (43..=49)
            .map(|line| format!("break overloads.cpp:{line}"))
            .collect(),
    };
    compare(&[of_main(light), of_main(optimized)], &[], place);
}

/// A value, or that there is none, whichever way that is said.
pub fn missing_or_value(section: &[String]) -> Vec<String> {
    let has_none = |line: &String| line.contains("optimized out");
    if section.iter().any(has_none) {
        vec!["optimized out".to_owned()]
    } else {
        value(section)
    }
}
