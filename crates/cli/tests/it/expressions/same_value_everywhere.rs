//! Expressions have the same value everywhere: at the prompt, in conditions, in guards of
//! properties, and in events before and after calls.

use crate::support::{Batch, juror, program};
use juror_testing::{Build, Compiler, Language, Optimization};
use std::fmt::Write as _;

/// What is true at the second call of `use` in `expressions.cpp`.
const TRUE: &[&str] = &[
    "(long)count == 1",
    "(int)thing->ratio == 2",
    "(double)count == 1.0",
    "(struct Node *)thing->list == thing->list",
    "((struct Node *)thing->list)->value == 21",
    "sizeof(int) == 4",
    "sizeof *thing->list == 16",
    "sizeof(struct Node) == 16",
    "sizeof(Thing) > 8",
    "sizeof total == 4",
    "(thing->list + 1) > thing->list",
    "*(&thing->cells[0] + 1) == 8",
    "thing->list->next->value == 22",
    "thing->text == \"text\"",
    "\"lab\" == thing->label",
    "thing->name == \"gadget\"",
    "word == \"word\"",
    "word != \"words\"",
    "$rsp != 0",
    "expressions.cpp::counter == 5",
    "limits::highest == 42",
    "thing->level == limits::HIGH",
    "thing->kind == Kind::Fancy",
    "use::calls >= 7",
    "expressions.cpp::use::calls < 10",
    "thing->numbers[1] == 2",
    "thing->numbers[count] == 2",
    "thing->ages[\"ann\"] == 30",
    "(*thing->owned).value == 11",
    "thing->owned->value == 11",
    "*thing->maybe == 77",
    "thing->bits.low == 5",
    "thing->bits.high == -3",
    "thing->ratio == 2.5",
    "half == 1.5",
    "thing->cells[count + 1] == 7",
    "&thing->cells[1] != 0",
    "~count == -2",
    "-count == -1",
    "count + 1 == 2 and not (count == 2)",
    "total == 12",
    "total / 5 * 5 == 10",
    "rest[1] == 5",
    "left.left == 3",
    "left.top == 70",
    "thing->room.top == 71",
    "thing->deep.top - thing->deep.left == 67",
    "(count == 1 ? thing->ratio : 0) == 2.5",
    "(count == 2 ? 1 : thing->ratio) / 2 == 1.25",
    "count == 1 ? total == 12 : thing->cells[9] == 0",
    "(count == 2 ? *(int *)0 : count == 1 ? 7 : 8) == 7",
    "+count == 1 and 3 - +count == 2",
    "{int}&thing->cells[1] == 8",
    "{struct Node *}&thing->list == thing->list",
    "{unsigned char}(&thing->cells[1]) == 8",
    "'expressions.cpp'::counter == 5",
    "thing->wide == L\"breit \u{e4}\"",
    "thing->wide != L\"breit\"",
    "thing->units == u\"\u{20ac} 5\"",
    "thing->points == U\"z\"",
    "thing->title == L\"title\"",
    "thing->wide[0] == L'b'",
    "($eflags & 2) == 2",
    "(size_t)-count > 5",
    "$xmm0.v16_int8[3] == $xmm0.v4_int32[0] >> 24",
    "thing->list->*thing->spot == 21",
    "(*thing->list).*thing->spot + 1 == 22",
    "(*(int (*)[4])thing->cells)[2] == 7",
    "(int (*)(int))thing->one == thing->one",
    "sizeof(int (*)[4]) == 8",
    "sizeof(char *[3]) == 24",
    "sizeof('a') == 1",
    "sizeof thing->spot == 8",
    "sizeof thing->area == 16",
];

/// What a guard knows once its event reads it by name: without `::` a name may be one of
/// the property.
const DECLARED: &[&str] = &[
    "thing->color == GREEN",
    "counter == 5",
    "RED == 0",
    "^i == 1",
    "thing->part / 3 == thing->third",
    "(count ? thing->part : 0) / 3 == thing->third",
    "(count ? 1 : thing->ratio) / 2 == 0.5",
    "(count ? thing->list : null)->value == 21",
    "thing->spot == &Node::value",
    "thing->spot != null",
    "thing->area == &Thing::measure",
    "thing->one == add_one",
    "thing->one == &add_one",
];

/// Values of more than a number.
const SEVERAL: &[(&str, &str)] = &[
    ("thing->cells[1..3]", "[8, 7]"),
    ("thing->numbers[0..2]", "[1, 2]"),
    ("(*&thing->cells[2])@2", "[7, 6]"),
    ("thing->cells[count..4]", "[8, 7, 6]"),
];

const PARAMETERS: &str = "thing, count, half, word, total, rest, left";

/// Every way to compile C++ in which the types of the library are described.
fn builds() -> Vec<Build> {
    let mut builds = Build::all_of(Language::Cpp);
    // LLVM leaves out what it takes to be described elsewhere.
    builds.retain(|build| build.compiler != Compiler::Clangpp);
    builds
}

/// A property that holds at the end if `guard` was true when `count` was 1.
fn property(name: &str, event: &str, guard: &str) -> String {
    format!(
        "property {name}\n{event}\nstate open non-accepting {{\n    on e when count == 1 and \
         {guard}  -> found\n}}\nstate found accepting final\n\n"
    )
}

/// Returns the text of a value or of a type.
fn text_of(outcome: &serde_json::Value) -> Option<&str> {
    let named = || {
        outcome[0]["definition"]
            .as_str()
            .or(outcome[0]["name"].as_str())
    };
    outcome["value"]
        .as_str()
        .or(outcome.as_str())
        .or_else(named)
}

#[test]
fn events_and_guards_read_all_expressions_of_the_prompt() {
    let mut properties = String::new();
    let mut add = |name: String, event: String, guard: &str| {
        properties += &property(&name, &event, guard);
    };
    let all = TRUE.iter().chain(DECLARED);
    for (number, expression) in all.enumerate() {
        let before = format!("event e = before use({PARAMETERS}, x = {expression})");
        add(format!("before_{number}"), before, "x");
        // `^i` names a variable of the caller, which is the same after the call.
        let after = format!("event e = after use({PARAMETERS}, x = {expression})");
        let is_changed = expression.starts_with("thing->cells") || expression.contains('$');
        if !is_changed {
            add(format!("after_{number}"), after, "x");
        }
    }
    for (number, expression) in TRUE.iter().enumerate() {
        let event = format!("event e = before use({PARAMETERS})");
        add(format!("guard_{number}"), event, &format!("({expression})"));
    }
    for (number, (expression, value)) in SEVERAL.iter().enumerate() {
        let event = format!("event e = before use({PARAMETERS}, x = {expression})");
        add(format!("several_{number}"), event, &format!("x == {value}"));
    }
    let after = "event e = after use(thing, count, n = ret->cells[count]) returns r";
    add(
        "returned".into(),
        after.into(),
        "(n == 8 and r->room.top == 71)",
    );
    for build in builds() {
        let executable = program("expressions.cpp").compile(&build);
        let report = Batch::watching(&properties).run(&executable, &[]);
        assert_eq!(report.output.code(), Some(0), "{build}: {}", report.all());
    }
}

#[test]
fn conditions_and_the_prompt_evaluate_the_same() {
    for build in builds() {
        let executable = program("expressions.cpp").compile(&build);
        let mut typed = String::from("break *use if count == 1\nrun\n");
        let all = || TRUE.iter().chain(DECLARED);
        for expression in all() {
            // Writing to a text does not fail.
            let _ = writeln!(typed, "print {expression}");
        }
        typed += "kill\n";
        let output = juror(&["run"]).args([&executable]).input(typed).run();
        let mut lines = output.stdout.lines();
        for expression in all() {
            let typed = format!("(juror) print {expression}");
            assert!(lines.any(|line| line == typed), "{build} {expression}");
            let answer = lines.next().unwrap_or("");
            assert!(answer.ends_with("= true"), "{build} {expression}: {answer}");
        }
        let conditions: Vec<String> = all().map(|it| format!("({it})")).collect();
        // An expression has no more than 400 parts.
        for conditions in conditions.chunks(20) {
            let condition = conditions.join(" and ");
            let typed =
                format!("break *use if count == 1 and {condition}\nrun\nprint count\nkill\n");
            let output = juror(&["run"]).args([&executable]).input(typed).run();
            assert!(
                output.stdout.contains("$1 = 1"),
                "{build}: {}",
                output.stdout
            );
        }
    }
}

/// Where an object is not constructed, its virtual bases are nowhere.
#[test]
fn virtual_bases_of_no_object_have_no_value() {
    let property = "property raw
        event look = before look(left, top = left->top)
        state open accepting { on look -> open }";
    let asking = "property raw
        event look = before look(top = ((Left *)&raw)->top)
        state open accepting { on look when top == 1 -> open }";
    for build in Build::all_of(Language::Cpp) {
        let executable = program("virtual_bases.cpp").compile(&build);
        let report = Batch::watching(property).run(&executable, &[]);
        assert_eq!(report.output.code(), Some(0), "{build}: {}", report.all());
        let tops: Vec<_> = report.values("look", "top");
        assert_eq!(tops, [1, 1, 1], "{build}: {}", report.all());
        let report = Batch::watching(asking).run(&executable, &[]);
        assert_eq!(report.output.code(), Some(2), "{build}: {}", report.all());
        assert!(
            report.all().contains(": no value"),
            "{build}: {}",
            report.all()
        );
    }
}

#[test]
fn what_runs_code_of_the_program_is_refused_with_the_reason() {
    let build = Build {
        optimization: Optimization::None,
        ..Build::plain(Language::Cpp)
    };
    let executable = program("expressions.cpp").compile(&build);
    for (capture, words) in [
        ("add_one(count)", "guards are pure"),
        ("$1", "`arg 1`"),
        ("$$", "values of the prompt"),
        ("thing->numbrs", "did you mean `numbers`"),
        ("(struct Nod *)thing", "there is no type `struct Nod`"),
        ("ret + 1", "no return value before"),
        (
            "thing->spot",
            "which member it is, `thing->spot == &Node::NAME`",
        ),
        ("(thing->*thing->area)(1)", "guards are pure"),
    ] {
        let property = format!(
            "property p event e = before use(count, half, thing, x = {capture})
             state s accepting {{ on e -> s }}"
        );
        let report = Batch::watching(&property).run(&executable, &[]);
        let shown = report.all();
        assert_eq!(report.output.code(), Some(2), "{capture}: {shown}");
        assert!(shown.contains(words), "{capture}: {shown}");
    }
}

/// What an enumeration of Rust holds, by the alternative that it is.
#[test]
fn the_fields_of_an_alternative_are_those_of_the_value() {
    let build = Build {
        optimization: Optimization::None,
        ..Build::plain(Language::Rust)
    };
    let executable = program("alternatives.rs").compile(&build);
    let source = include_str!("../../programs/alternatives.rs");
    let line = source.lines().position(|line| line.contains("mark: known"));
    let line = line.expect("the line is there") + 1;
    let asked = [
        ("circle.radius", "= 3"),
        ("circle.Circle.radius", "= 3"),
        ("circle.width", "this is `Circle`"),
        ("boxed.0", "Rectangle(7, 8)"),
        ("boxed.0.1", "= 8"),
        ("(*boxed.0).0", "= 7"),
        ("nothing.0", "this is `None`"),
        ("unit", "= ()"),
        ("circle == Circle", "= true"),
        ("circle != Shape::Circle", "= false"),
        ("circle == alternatives::Shape::Empty", "= false"),
        ("&circle == Circle", "= true"),
        ("boxed == Option::Some", "= true"),
        ("*boxed.0 == Rectangle", "= true"),
        ("nothing == None", "= true"),
        ("circle == Triangle", "there is no `Triangle`"),
        ("circle == Option::Circle", "there is no `Option::Circle`"),
    ];
    let mut typed = format!("break alternatives.rs:{line}\nrun\n");
    for (expression, _) in asked {
        typed += &format!("print {expression}\n");
    }
    let output = juror(&["run"]).args([&executable]).input(typed).run();
    for (expression, expected) in asked {
        let mut lines = output.stdout.lines();
        let typed = format!("(juror) print {expression}");
        assert!(lines.any(|line| line == typed), "{}", output.stdout);
        let answer = lines.next().unwrap_or("");
        assert!(answer.contains(expected), "{expression}: {answer}");
    }
    let condition = "break alternatives::area if shape.radius == 4\nrun\n";
    let output = juror(&["run"]).args([&executable]).input(condition).run();
    let expected = "cannot be evaluated: this is `Rectangle`";
    assert!(output.stdout.contains(expected), "{}", output.stdout);
    let typed = "break alternatives::area if shape == Empty && scale == Some\nrun\n\
                 break alternatives::area if shape == Emty\nprint shape\n";
    let output = juror(&["run"]).args([&executable]).input(typed).run();
    for expected in ["$1 = @", ": Empty", "there is no `Emty` here"] {
        let said = format!("{}{}", output.stdout, output.stderr);
        assert!(said.contains(expected), "{said}");
    }
}

/// A field that the alternative does not have makes a guard an error, not false.
#[test]
fn events_read_the_fields_of_alternatives() {
    let event = "event area = before alternatives::area(shape, r = shape.radius)";
    let property = |guard: &str| {
        format!(
            "property round {event}
             state open non-accepting {{ on area when {guard} -> found }}
             state found accepting final"
        )
    };
    for build in Build::all_of(Language::Rust) {
        let executable = program("alternatives.rs").compile(&build);
        for guard in ["r == 3", "shape.radius == 3"] {
            let report = Batch::watching(&property(guard)).run(&executable, &[]);
            assert_eq!(report.output.code(), Some(0), "{build}: {}", report.all());
        }
        let report = Batch::watching(&property("r == 4")).run(&executable, &[]);
        assert_eq!(report.output.code(), Some(2), "{build}: {}", report.all());
        assert!(report.all().contains("no value"), "{}", report.all());
    }
}

/// Which alternative it is can be asked where an event reads it.
#[test]
fn events_tell_alternatives_apart() {
    for build in Build::all_of(Language::Rust) {
        let executable = program("alternatives.rs").compile(&build);
        for (read, guard) in [
            ("is_empty = shape == Empty", "is_empty"),
            ("is_empty = *shape == Shape::Empty", "is_empty"),
            (
                "c = shape != Circle, r = shape != Shape::Rectangle",
                "c and r",
            ),
        ] {
            let property = format!(
                "property shapes event area = before alternatives::area({read})
                 var empty = 0
                 state open accepting {{ on area when {guard} {{ empty += 1 }} -> open }}"
            );
            let report = Batch::watching(&property).run(&executable, &[]);
            assert_eq!(report.output.code(), Some(0), "{build}: {}", report.all());
            assert_eq!(report.changes("area").len(), 1, "{build}: {}", report.all());
        }
    }
}

/// What a function that waits keeps meanwhile has the name of where it waits.
#[test]
fn a_future_is_shown_by_where_it_waits() {
    let build = Build {
        optimization: Optimization::None,
        ..Build::plain(Language::Rust)
    };
    let executable = program("waiting.rs").compile(&build);
    let typed = "break waiting.rs:17\nrun\nprint future\nprint future.pointer.text\n";
    let output = juror(&["run"]).args([&executable]).input(typed).run();
    for expected in ["Suspend0 {n: 4, text: \"it's 4\"", "$2 = \"it's 4\""] {
        assert!(output.stdout.contains(expected), "{}", output.stdout);
    }
}

/// What is printed in `lengths.c`, and as what.
const PRINTED: &[(&str, &str)] = &[
    ("numbers", "{0, 1, 4, 9}"),
    ("sizeof numbers", "16"),
    ("grid", "{{0, 1, 2, 3}, {10, 11, 12, 13}}"),
    ("grid[1]", "{10, 11, 12, 13}"),
    ("letters", "\"abcd\""),
    ("message->text", "\"flexible\""),
    ("*message", "{length = 0, text = \"flexible\"}"),
    ("table->cells", "<array of unknown length>"),
    ("table->cells[1]", "0"),
    ("*matrix", "{1, 2, 3}"),
    ("*matrix@2", "{{1, 2, 3}, {4, 5, 6}}"),
    ("**(matrix + 1)", "4"),
    ("fraction == 1.1f", "true"),
    ("fraction == 1.1", "false"),
    ("both", "(READS | RUNS)"),
    ("unnamed", "8"),
    ("between", "7"),
    ("/d both", "5"),
    ("widest", "340282366920938463463374607431768211455"),
];

#[test]
fn arrays_and_numbers_are_shown_as_they_are() {
    let source = include_str!("../../programs/lengths.c");
    let line = source.lines().position(|line| line.contains("/* here */"));
    let line = line.expect("the line is there") + 1;
    for compiler in [Compiler::Gcc, Compiler::Clang] {
        let build = Build {
            compiler,
            ..Build::plain(Language::C)
        };
        if !compiler.is_present() {
            continue;
        }
        let commands = PRINTED
            .iter()
            .map(|(printed, _)| match printed.strip_prefix('/') {
                Some(rest) => format!("print/{rest}"),
                None => format!("print {printed}"),
            });
        let batch = Batch::new()
            .command(&format!("break {line}"))
            .command("run");
        let batch = commands.clone().fold(batch, |batch, it| batch.command(&it));
        let report = batch.run(program("lengths.c").compile(&build), &[]);
        for (command, (_, expected)) in commands.zip(PRINTED) {
            let value = &report.outcome(&command)["value"];
            assert_eq!(value, expected, "{command}: {}", report.all());
        }
    }
}

/// Which names are types, only the program tells.
#[test]
fn names_of_types_in_casts() {
    let source = "typedef int number; typedef struct box { int in; } *pointer;
        struct box box = {5}; number value = 7; unsigned long large = 3;
        __attribute__((noinline)) int use(int count) { return count + value + (int)large; }
        __attribute__((noinline)) int take(int number) { return number + 1; }
        int main(void) { pointer p = &box; return use(p->in) + take(2); }";
    let program = juror_testing::Fixture::c("typedefs", source).compile_plain();
    // Here a type, and there a variable: neither is guessed.
    let report = Batch::new()
        .command("break take if (number)-1 == 1")
        .run(&program, &[]);
    let told = report.all().contains("`number` is a variable there");
    assert!(told, "{}", report.all());
    let asked = [
        ("print (number)-5 * 2", "-10"),
        ("print (number)(3.7)", "3"),
        ("print ((pointer)&box)->in", "5"),
        ("print (value)-5", "2"),
        ("print (box.in) * 2", "10"),
        ("print (use)(1)", "11"),
        ("print sizeof(1L) + sizeof(1.0f)", "12"),
        ("whatis 1u", "unsigned int"),
        ("ptype size_t", "unsigned long"),
        ("whatis uint32_t", "unsigned int"),
    ];
    let batch = Batch::new()
        .command("break use if (number)-count == -5 && ((pointer)&box)->in == 5")
        .command("run");
    let batch = asked
        .iter()
        .fold(batch, |batch, (line, _)| batch.command(line));
    let report = batch.run(program, &[]);
    for (line, expected) in asked {
        let outcome = report.outcome(line);
        let said = text_of(outcome);
        assert_eq!(said, Some(expected), "{line}: {outcome}");
    }
}

/// What the compiler computes, and in which type, where types differ in size and sign.
const COMPUTED: &[&str] = &[
    "ui - 2",
    "uc - 2",
    "us - 2",
    "ul - 2",
    "-ui",
    "-uc",
    "-ul",
    "~ui",
    "~uc",
    "ui * i",
    "ul * ui - 2",
    "ul * ul * i",
    "ui / i",
    "i / ui",
    "i % ui",
    "i / 2 * 2 - uc",
    "l + ui",
    "l / ul",
    "fields.narrow - 2",
    "-fields.narrow",
    "fields.whole - 2",
    "colour - 1",
    "ui << 31 << 1",
    "i >> ui",
    "l >> uc",
    "ui & i",
    "i ^ ul",
    "ui - 1.5",
    "sizeof(int) - 5",
    "ui ? i : ui",
    "ui ? -1 : ul",
    "ui ? uc : us",
    "ui - 2 + l",
    "ui - (ui + ui) + i",
    "uc + 4294967295",
    "most - 1 + ui",
    "wide - 2",
    "-wide",
    "~wide",
    "wide * l",
    "wide << 127 >> 126",
    "l / wide",
    "ui ? l : wide",
];

/// The same of comparisons, which C and C++ give different types.
const COMPARED: &[&str] = &[
    "i < ui",
    "l < ul",
    "i < ul",
    "i < uc",
    "l < ui",
    "ui - 2 > 0",
    "ui - 2 == 4294967295",
    "fields.narrow - 2 < 0",
    "-1 > ui",
    "i == ui - 2",
    "cells + ui - 1 == cells",
    "cells[ui - 1] == 4",
    "l < wide",
    "wide - 2 > wide",
];

/// The compiler is asked itself, by variables that it fills.
#[test]
fn numbers_are_what_the_compiler_makes_of_them() {
    for (language, compiler) in [
        (Language::C, Compiler::Gcc),
        (Language::C, Compiler::Clang),
        (Language::Cpp, Compiler::Gpp),
        (Language::Cpp, Compiler::Clangpp),
    ] {
        if !compiler.is_present() {
            continue;
        }
        let mut source = String::from(
            "enum colour { RED, GREEN } colour = RED;
             struct { unsigned narrow : 3; unsigned whole : 32; } fields = {1, 1};
             unsigned char uc = 1; unsigned short us = 1; unsigned ui = 1; unsigned long ul = 1;
             unsigned __int128 wide = 1; int i = -1, most = 2147483647; long l = -1; int cells[2] = {4, 5};
             int main(void) {\n",
        );
        for (number, text) in COMPUTED.iter().enumerate() {
            writeln!(source, "__typeof__({text}) computed{number} = {text};").expect("written");
        }
        for (number, text) in COMPARED.iter().enumerate() {
            writeln!(source, "int compared{number} = {text};").expect("written");
        }
        source.push_str("return ui; }\n");
        let fixture = match language {
            Language::C => juror_testing::Fixture::c("computed", &source),
            _ => juror_testing::Fixture::cpp("computed", &source),
        };
        let build = Build {
            compiler,
            ..Build::plain(language)
        };
        let computed = COMPUTED.iter().enumerate().flat_map(|(number, text)| {
            ["print", "whatis"]
                .map(|verb| (format!("{verb} {text}"), format!("{verb} computed{number}")))
        });
        let compared = COMPARED.iter().enumerate().map(|(number, text)| {
            (
                format!("print (int)({text})"),
                format!("print compared{number}"),
            )
        });
        let pairs: Vec<_> = computed.chain(compared).collect();
        let mut batch = Batch::new()
            .command(&format!("break {}", source.lines().count()))
            .command("run");
        for (asked, told) in &pairs {
            batch = batch.command(asked).command(told);
        }
        let report = batch.run(fixture.compile(&build), &[]);
        for (asked, told) in &pairs {
            let said = |line: &str| {
                let outcome = report.outcome(line);
                let said = text_of(outcome);
                // One type has several names.
                said.unwrap_or_else(|| panic!("{line}: {outcome}"))
                    .replace("long unsigned int", "unsigned long")
                    .replace("long int", "long")
                    .replace("__int128 unsigned", "unsigned __int128")
            };
            assert_eq!(said(asked), said(told), "{asked} ({compiler:?})");
        }
    }
}

/// libc has variables of these names, which are its own affair.
#[test]
fn in_a_frame_of_a_library_a_name_is_the_programs() {
    let executable = program("hidden_names.c").compile(&Build::plain(Language::C));
    let lines = "run\nprint lock + 0\nprint initial + 0\nprint leaf + 0\nprint state + 0\n\
                 set var lock = 7\nprint lock * 2\n";
    let output = juror(&["run"]).args([&executable]).input(lines).run();
    for expected in [
        "$1 = 43", "$2 = 42", "$3 = 44", "$4 = 45", "lock = 7", "$5 = 14",
    ] {
        let shown = &output.stdout;
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
}
