//! Stacks, values and steps in code that is optimized for debugging (`-Og`).

use super::optimized::missing_or_value;
use super::*;

fn question(program: &'static str, before: &'static [&'static str], asked: &[&str]) -> Question {
    Question {
        program,
        wanted: light,
        before,
        asked: lines(asked),
    }
}

#[test]
fn stacks_of_lightly_optimized_code_are_the_same() {
    let stack = |program, before| question(program, before, &["backtrace", "up", "frame"]);
    compare(
        &[
            stack("steps.c", &["break factorial if n == 1", "run"]),
            stack("steps.c", &["break half", "run"]),
            stack("throws.cpp", &["break checked", "run"]),
            stack("overloads.cpp", &["break overloads.cpp:twice", "run"]),
            stack("overloads.cpp", &["break geo::Square::area", "run"]),
            stack("nested_calls.cpp", &["break f", "run"]),
            stack("nested_calls.cpp", &["break Heavy::weight", "run"]),
            stack("virtual_bases.cpp", &["break Room::all", "run"]),
            stack("optimized.c", &["break sum", "run"]),
        ],
        &[],
        frames,
    );
}

#[test]
fn values_in_lightly_optimized_code_are_the_same() {
    compare(
        &[
            question(
                "values.c",
                // The stack holds what the dynamic linker has left there: no values yet.
                &["break main", "run"],
                &[
                    "whatis numbers[0]",
                    "whatis numbers[0] + 1",
                    "whatis first.number",
                    "print sizeof numbers",
                ],
            ),
            question(
                "steps.c",
                &["break factorial if n == 1", "run"],
                &["print n", "print n * 3", "whatis n"],
            ),
            question(
                "overloads.cpp",
                &["break overloads.cpp:twice", "run", "up", "up"],
                &["print sum", "print square.side", "whatis sum"],
            ),
            question(
                "results.c",
                &["break make_large", "run", "up"],
                &["print x", "print w", "whatis w"],
            ),
        ],
        &[],
        missing_or_value,
    );
}

/// Where a function begins for a breakpoint or a step, the two see differently (see
/// `optimized`), so it is stepped from a line on, and with gcc into functions.
#[test]
fn steps_in_lightly_optimized_code_are_the_same() {
    let stepped = |wanted, program, before, word: &str, count| Question {
        program,
        wanted,
        before,
        asked: steps(word, count),
    };
    let differences = [Difference {
        program: "overloads.cpp",
        gdb: &["main at new_allocator.h:80"],
        juror: &["main at overloads.cpp:47"],
        why: "gdb stops in the middle of what was inlined from a header of the library, and \
              calls it `main`; `next` passes it",
    }];
    let by_gcc = |build: &Build| light(build) && build.compiler == Compiler::Gcc;
    compare(
        &[
            stepped(light, "steps.c", &["break main", "run"], "next", 6),
            stepped(by_gcc, "steps.c", &["break main", "run"], "step", 8),
            stepped(
                light,
                "overloads.cpp",
                &["break overloads.cpp:43", "run"],
                "next",
                4,
            ),
            stepped(light, "nested_calls.cpp", &["break main", "run"], "step", 8),
        ],
        &differences,
        frames,
    );
}
