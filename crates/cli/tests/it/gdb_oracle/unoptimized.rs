//! Stacks, values and steps in unoptimized code.

use super::*;

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

#[test]
fn members_and_types_are_the_same() {
    let values = |program, asked: &[&str]| Question {
        program,
        wanted: gcc_unoptimized,
        before: match program {
            "written_types.c" => &["break depth if n == 0", "run", "up 2"],
            _ => &["break member_of", "run", "up"],
        },
        asked: lines(asked),
    };
    let differences = [Difference {
        program: "written_types.c",
        gdb: &[],
        juror: &["0"],
        why: "gdb finds a function among the callers of the frame alone",
    }];
    compare(
        &[
            values(
                "written_types.c",
                &[
                    "print *(int (*)[4])begin",
                    "print (*(int (*)[2])begin)[1]",
                    "print ((int (*)(int))call)(4)",
                    "whatis (int(*)[4])begin",
                    "whatis row",
                    "whatis *row",
                    "whatis &table",
                    "whatis &twice",
                    "whatis *call",
                    "whatis &behind",
                    "whatis int[3]",
                    "whatis int (*)[4]",
                    "whatis int &",
                    "ptype operation",
                    "print sizeof(int (*)[4])",
                    "print sizeof(char *[3])",
                    "print main::n",
                    "print depth::n",
                ],
            ),
            values(
                "member_pointers.cpp",
                &[
                    "whatis member",
                    "print plain.*member",
                    "print pointer->*member",
                    "print plain.*whole",
                    "print (plain.*values)[1]",
                    "print square.*inherited",
                    "print box.*outside",
                    "print (plain.*add)(3)",
                    "print (pointer->*look)(3)",
                    "print (sized->*grow)(1)",
                    "print member == &Plain::second",
                    "print add == &Plain::add",
                    "print (long)member",
                    "print sizeof(grow)",
                    "print sizeof('a')",
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
