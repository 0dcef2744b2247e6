//! Types and words that are easily taken for others: the words of arithmetic types, Rust's `!`,
//! variables without debug information, and variables whose names are words of the language.

use crate::support::dialog::{check_at_looks, dialog};
use crate::support::printed::plain_builds;
use crate::support::{Batch, property_of};
use juror_testing::{Build, Compiler, Fixture, Language};
use std::path::Path;
use std::process::Command;

/// The types of the library's headers come before those of the program.
const CASTS: &str = r#"
#include <stdio.h>
int n = -3; unsigned short us = 65533; unsigned char flags = 160;
static long total(long v) { return v; }
static long total_of_short(short v) { return v; }
void look(void) {}
int main(void) { look(); printf("%ld %ld %d %d\n", total(n), total_of_short(n), us, flags); return 0; }
"#;

const CAST: &[(usize, &str, &str)] = &[
    (1, "print (long)n", "=-3"),
    (1, "print (long)-1", "=-1"),
    (1, "print (short)us", "=-3"),
    (1, "print (signed)-1", "=-1"),
    (1, "print (signed char)-1", "=-1 '\\377'"),
    (1, "print (int long)n", "=-3"),
    (1, "print (long const)n", "=-3"),
    (1, "print (long unsigned int)n", "=18446744073709551613"),
    (1, "print (unsigned)n", "=4294967293"),
    (1, "print -1L", "=-1"),
    (1, "print n - 4L < 0", "=true"),
    (1, "print 1UL - 2", "=18446744073709551615"),
    (1, "print n < 5u", "=false"),
    (1, "print -1 == 0xffffffff", "=true"),
    (1, "print 0xffffffff + 1", "=0"),
    (1, "print (long)n / 2", "=-1"),
    (1, "print *(long *)&n == 0", "=false"),
    (1, "whatis (long)1", "=long"),
    (1, "whatis (short)1", "=short"),
    (1, "whatis (signed)1", "=int"),
    (1, "whatis (const int *)&n", "=const int *"),
    (1, "ptype long", "=long"),
];

#[test]
fn the_words_of_arithmetic_types_are_one_type() {
    for build in plain_builds(Language::C) {
        let executable = Fixture::c("casts", CASTS).compile(&build);
        check_at_looks(&executable, &build.to_string(), CAST);
        let events = "event t = before total(v, low = (long)n < 0, of = v - 9L, over = v < 5u)";
        let report = Batch::watching(&property_of(events)).run(&executable, &[]);
        for (name, expected) in [("low", "true"), ("of", "-12"), ("over", "true")] {
            let values = report.values("t", name);
            let shown: Vec<String> = values.iter().map(ToString::to_string).collect();
            assert_eq!(shown, [expected], "{build} {name}: {}", report.all());
        }
        let commands = [
            "break total if (long)n - 1L == -4",
            "run",
            "print v",
            "condition 1 (short)us > 0",
        ];
        let answers = dialog(&executable, &commands);
        assert_eq!(answers[2], "-3", "{build}: {answers:?}");
    }
}

const OVERLOADS: &str = r#"
#include <cstdio>
static long total(long v) { return v; }
static long total(unsigned long v) { return (long)v + 1000; }
static long total(short v) { return v + 1; }
static int which(int *) { return 1; }
static int which(const int *) { return 2; }
static int which(volatile int *) { return 3; }
static int named(const int &) { return 1; }
static int named(volatile int &) { return 2; }
static int only(int *) { return 1; }
static int only(double *) { return 2; }
void look() {}
int main()
{
    int i = 0; const int *c = &i; volatile int *v = &i; int *p = &i; volatile int vi = 1; const int ci = 2;
    long sum = total(-3L) + total(3UL) + total((short)1) + which(c) + which(v) + which(p)
        + named(vi) + named(ci) + only(p) + only((double *)nullptr);
    look();
    std::printf("%ld\n", sum);
}
"#;

const OVERLOADED: &[(usize, &str, &str)] = &[
    (1, "print total((long)-3)", "=-3"),
    (1, "print total(-3L)", "=-3"),
    (1, "print total((unsigned long)3)", "=1003"),
    (1, "print total((short)3)", "=4"),
    (1, "print which(c)", "=2"),
    (1, "print which(v)", "=3"),
    (1, "print which(p)", "=1"),
    (1, "print which((const int *)p)", "=2"),
    (1, "print which((volatile int *)p)", "=3"),
    (1, "print named(vi)", "=2"),
    (1, "print named(ci)", "=1"),
    (1, "print only(p)", "=1"),
    (1, "print only(v)", "none of these takes such arguments"),
];

#[test]
fn signs_and_qualifiers_select_overloads() {
    for build in plain_builds(Language::Cpp) {
        let executable = Fixture::cpp("overloads_of_words", OVERLOADS).compile(&build);
        check_at_looks(&executable, &build.to_string(), OVERLOADED);
    }
}

const RUST: &str = "
#[inline(never)]
fn look(flags: u8, count: i32, ok: bool, wide: u128, by: &u16) -> i32 {
    count + flags as i32 + ok as i32 + wide as i32 + *by as i32
}
fn main() {
    let mut total = 0;
    for i in 0..3u8 {
        total += look(0b1010_0000 | i, i as i32 - 2, i & 1 == 0, u128::MAX - i as u128, &7);
    }
    std::process::exit(total & 1);
}";

#[test]
fn the_sign_of_rust_inverts_the_bits_of_integers() {
    for build in plain_builds(Language::Rust) {
        let executable = Fixture::rust("inverted", RUST).compile(&build);
        let asked = [
            ("print flags", "160"),
            ("print !flags", "95"),
            ("print !count", "1"),
            ("print !ok", "false"),
            ("print !0u8", "255"),
            ("print !0u16", "65535"),
            ("print !0", "-1"),
            ("print !flags & 0x0f", "15"),
            ("print !wide", "0"),
            ("print !by", "65528"),
            ("print !(count == -2)", "false"),
            ("print not flags", "false"),
            ("print !!flags", "160"),
        ];
        let mut commands = vec!["break look if (!flags & 1) == 1 && !flags == 95", "run"];
        commands.extend(asked.iter().map(|(command, _)| *command));
        let answers = dialog(&executable, &commands);
        for ((command, expected), answer) in asked.iter().zip(&answers[2..]) {
            assert_eq!(answer, expected, "{build} {command}: {answers:?}");
        }
        let events = "event l = before look(inverted = !flags, low = !count & 1, no = !ok)";
        let report = Batch::watching(&property_of(events)).run(&executable, &[]);
        for (name, expected) in [
            ("inverted", ["95", "94", "93"]),
            ("low", ["1", "0", "1"]),
            ("no", ["false", "true", "false"]),
        ] {
            let values = report.values("l", name);
            let shown: Vec<String> = values.iter().map(ToString::to_string).collect();
            assert_eq!(shown, expected, "{build} {name}");
        }
    }
}

const WORDS: &str = r#"
#include <stdio.h>
struct relay { int on; long when; int or, and, not, null; };
int look(struct relay *r, int on, long when, int or, int and)
{
    int null = 7, not = 8;
    r->on = on; r->when = when; r->null = 3;
    return on + null + not + or + and;
}
int main(void)
{
    struct relay r = { 0, 0, 1, 2, 3, 4 };
    int sum = 0;
    for (int i = 0; i < 3; i++) sum += look(&r, i, i * 10L, 5, 6);
    printf("%d\n", sum);
    return 0;
}
"#;

#[test]
fn a_variable_comes_before_a_word() {
    for build in plain_builds(Language::C) {
        let executable = Fixture::c("words", WORDS).compile(&build);
        let asked = [
            ("print on", "1"),
            ("print when + 1", "11"),
            ("print or * and", "30"),
            ("print (and) - 1", "5"),
            ("print null", "7"),
            ("print null + 1", "8"),
            ("print not", "8"),
            ("print not + 1", "9"),
            ("print (not) - 1", "7"),
            ("print not == 8", "true"),
            ("print not on", "false"),
            ("print not (on == 1)", "false"),
            ("print on and or", "true"),
            ("print r->null", "3"),
            ("print r->or + r->and + r->not", "6"),
            ("print (int)when", "10"),
            ("print (long)on", "1"),
            ("print nullptr == r", "false"),
            ("up", ""),
            ("print null", "(void *) 0x0"),
            ("print &r == null", "false"),
            ("print not 0", "true"),
        ];
        let mut commands = vec![
            "break 8 if on == 1 && when > 9 && null == 7 && not == 8",
            "run",
        ];
        commands.extend(asked.iter().map(|(command, _)| *command));
        let answers = dialog(&executable, &commands);
        for ((command, expected), answer) in asked.iter().zip(&answers[2..]) {
            let is_right = *command == "up" || answer == expected;
            assert!(is_right, "{build} {command}: {answer}: {answers:?}");
        }
        let events = "event l = before look(o = on, w = when * 2, none = r == null, a = or - and)";
        let report = Batch::watching(&property_of(events)).run(&executable, &[]);
        for (name, expected) in [
            ("o", ["0", "1", "2"]),
            ("w", ["0", "20", "40"]),
            ("none", ["false"; 3]),
            ("a", ["-1"; 3]),
        ] {
            let values = report.values("l", name);
            let shown: Vec<String> = values.iter().map(ToString::to_string).collect();
            assert_eq!(shown, expected, "{build} {name}: {}", report.all());
        }
    }
}

const DECLARING: &str = "
extern int balance; extern double ratio; extern signed char sign; extern int table[4];
extern float gains[]; extern char banner[];
struct pair { short a, b; };
extern struct pair both; extern struct pair *where;
void hide(void);
int look(void) { return balance + table[1] + (int)ratio + sign + banner[0] + both.b + where->a + (int)gains[0]; }
int main(void) { hide(); return look() & 1; }";

const DEFINING: &str = "
int balance = -7; double ratio = 0.5; signed char sign = -1; int table[4] = {1, -2, 3, 4};
float gains[2] = {1.5f, 2.5f}; char banner[] = \"hello there\";
struct pair { short a, b; } both = {-1, 2}; struct pair *where = &both;
short hidden = -3; double hidden_ratio = 1.5; int hidden_table[2] = {5, -6};
void hide(void) { hidden++; hidden_ratio += hidden_table[0]; }";

/// Compiles a program of two files, the second without debug information.
fn half_described(directory: &Path) -> std::path::PathBuf {
    let path = |name: &str| directory.join(name);
    std::fs::write(path("declaring.c"), DECLARING).expect("a file");
    std::fs::write(path("defining.c"), DEFINING).expect("a file");
    let compile = |arguments: &[&str]| {
        let done = Command::new("gcc")
            .current_dir(directory)
            .args(arguments)
            .status();
        assert!(done.expect("gcc runs").success(), "{arguments:?}");
    };
    compile(&["-c", "-g0", "defining.c"]);
    compile(&["-g", "declaring.c", "defining.o", "-o", "program"]);
    path("program")
}

const HALF_DESCRIBED: &[(usize, &str, &str)] = &[
    (1, "print balance", "=-7"),
    (1, "print balance < 0", "=true"),
    (1, "print ratio * 2", "=1"),
    (1, "print sign", "=-1 '\\377'"),
    (1, "print table", "={1, -2, 3, 4}"),
    (1, "print gains[1]", "=2.5"),
    (1, "print banner", "=\"hello there\""),
    (1, "print both", "={a = -1, b = 2}"),
    (1, "print where->b", "=2"),
    (1, "whatis balance", "=int"),
    (1, "print hidden", "cast it to its declared type"),
    (1, "print hidden + 1", "cast it to its declared type"),
    (1, "print hidden < 0", "cast it to its declared type"),
    (1, "set var hidden = 3", "cast it to its declared type"),
    (1, "display hidden", "cast it to its declared type"),
    (1, "print (short)hidden", "=-2"),
    (1, "print short(hidden)", "=-2"),
    (1, "print (int)hidden", "`hidden` has 2 bytes"),
    (1, "print (double)hidden_ratio", "=6.5"),
    (1, "print *(double *)&hidden_ratio", "=6.5"),
    (1, "print {int[2]}&hidden_table", "={5, -6}"),
    (1, "print (int[2])hidden_table", "={5, -6}"),
    (1, "whatis &hidden", "=<data variable, no debug info> *"),
];

#[test]
fn the_type_of_a_variable_is_never_guessed() {
    if !Compiler::Gcc.is_present() {
        println!("There is no gcc here: the declarations of clang say nothing.");
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let executable = half_described(directory.path());
    check_at_looks(&executable, "gcc", HALF_DESCRIBED);
    let events = "event l = before look(money = balance, share = ratio, level: i16 = hidden)";
    let report = Batch::watching(&property_of(events)).run(&executable, &[]);
    for (name, expected) in [("money", "-7"), ("share", "0.5"), ("level", "-2")] {
        let values = report.values("l", name);
        let shown: Vec<String> = values.iter().map(ToString::to_string).collect();
        assert_eq!(shown, [expected], "{name}: {}", report.all());
    }
    for refused in [
        "level = hidden",
        "level = hidden + 1",
        "level: i32 = hidden",
    ] {
        let events = format!("event l = before look({refused})");
        let report = Batch::watching(&property_of(&events)).run(&executable, &[]);
        assert_eq!(report.output.code(), Some(2), "{refused}: {}", report.all());
        assert!(report.all().contains("hidden"), "{refused}");
    }
    let answers = dialog(&executable, &["break look if hidden < 0", "run"]);
    assert!(
        answers[0].contains("cast it to its declared type"),
        "{answers:?}"
    );
}

const MEMORY: &str = r#"
#include <string.h>
char text[16] = "xxaab";
signed char levels[4] = {5, 97, 97, 6};
void look(void) {}
int main(void) { look(); return (int)strlen(text) + levels[0] - 10; }
"#;

#[test]
fn a_character_is_searched_as_one_byte() {
    let rows = &[
        (1, "find text, +sizeof(text), 'a', 'a'", "<text+2>"),
        (1, "find &text[0], +5, 'b'", "<text+4>"),
        (1, "find levels, +sizeof(levels), 'a'", "<levels+1>"),
        (1, "find/b levels, +sizeof(levels), 97", "<levels+2>"),
        (1, "find text, +sizeof(text), L'a'", "not there"),
    ];
    for build in plain_builds(Language::C) {
        let executable = Fixture::c("characters_in_memory", MEMORY).compile(&build);
        check_at_looks(&executable, &build.to_string(), rows);
    }
}

const OPTIONALS: &str = r#"
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>
using Answer = std::optional<std::optional<bool>>;
void look() { asm volatile(""); }
int main()
{
    Answer not_asked, no_answer = std::optional<bool>(), yes = std::optional<bool>(true);
    std::vector<std::optional<std::optional<int>>> row(3);
    row[1].emplace();
    row[2].emplace(4);
    std::optional<std::optional<std::optional<int>>> deep, deeper;
    deep.emplace();
    deeper.emplace().emplace();
    std::vector<int> squares;
    std::vector<std::string> words;
    for (int i = 0; i < 150; i++) { squares.push_back(i * i); words.push_back(std::string(300, 'x') + std::to_string(i)); }
    look();
    return squares[7] + (int)words.size() + not_asked.has_value() + no_answer.has_value() + yes.has_value();
}
"#;

#[test]
fn an_empty_optional_in_a_full_one_is_shown() {
    let rows = &[
        (1, "print not_asked", "=nullopt"),
        (1, "print no_answer", "=optional(nullopt)"),
        (1, "print yes", "=true"),
        (1, "print row", "={nullopt, optional(nullopt), 4}"),
        (1, "print deep", "=optional(nullopt)"),
        (1, "print deeper", "=optional(optional(nullopt))"),
    ];
    let is_whole = |build: &Build| build.compiler != Compiler::Clangpp;
    for build in plain_builds(Language::Cpp).into_iter().filter(is_whole) {
        let executable = Fixture::cpp("optionals", OPTIONALS).compile(&build);
        check_at_looks(&executable, &build.to_string(), rows);
        // Texts that are cut are not said to be equal.
        let answers = dialog(&executable, &["break look", "run", "up", "print words"]);
        assert!(!answers[3].contains("repeats"), "{build}: {}", answers[3]);
    }
}

/// Libraries have variables of the same names.
const TYPEDEFS: &str = "
typedef unsigned char byte; typedef long num;
struct bits { unsigned low : 3; _Bool flag : 1, off : 1; } bits = {5, 1, 0};
byte b = 3; num n = -4;
int look(byte x, long double ld) { return x + (int)ld; }
int main(void) { return look(b, 2) & bits.low; }";

#[test]
fn a_name_of_a_library_does_not_hide_a_type() {
    let asked = [
        ("print (byte)(x + 300)", "47 '/'"),
        ("print (byte)(!ld)", "0 '\\0'"),
        ("print (byte)~x", "252 '\\374'"),
        ("print (num)(x)", "3"),
        ("print (num)-x", "-3"),
        ("print ~(x == 3)", "-2"),
    ];
    let events = "event l = before look(cut = (byte)(x + 300), low = (num)~x, all = (bool)(x + 1), \
                  flag = bits.flag, off = bits.off, not_flag = ~(x == 3))";
    for build in plain_builds(Language::C) {
        let executable = Fixture::c("typedefs", TYPEDEFS).compile(&build);
        let mut commands = vec![
            "break look if bits.flag && !bits.off && (byte)(x + 300) == 47",
            "run",
        ];
        commands.extend(asked.iter().map(|(command, _)| *command));
        let answers = dialog(&executable, &commands);
        for ((command, expected), answer) in asked.iter().zip(&answers[2..]) {
            assert_eq!(answer, expected, "{build} {command}");
        }
        let report = Batch::watching(&property_of(events)).run(&executable, &[]);
        for (name, expected) in [
            ("cut", "47"),
            ("low", "-4"),
            ("all", "true"),
            ("flag", "true"),
            ("off", "false"),
            ("not_flag", "-2"),
        ] {
            let values = report.values("l", name);
            let shown: Vec<String> = values.iter().map(ToString::to_string).collect();
            assert_eq!(shown, [expected], "{build} {name}: {}", report.all());
        }
    }
}

const CASTS_OF_CPP: &str = "
struct pair { long a; int b; };
int look(long n, const pair *p) { return (int)n + p->b; }
int main() { pair p = {-5, 2}; return look(-3, &p) & 1; }";

#[test]
fn casts_in_the_notation_of_cpp_are_casts() {
    let asked = [
        ("print static_cast<unsigned char>(n)", "253 '\\375'"),
        ("print static_cast<int>(n) + 1", "-2"),
        ("print int(n * 2)", "-6"),
        ("print unsigned(n) > 5u", "true"),
        ("print reinterpret_cast<long>(p) == (long)p", "true"),
        ("print reinterpret_cast<const long *>(p)[0]", "-5"),
        ("print const_cast<pair *>(p)->b", "2"),
        ("print bool(n)", "true"),
    ];
    for build in plain_builds(Language::Cpp) {
        let executable = Fixture::cpp("casts_of_cpp", CASTS_OF_CPP).compile(&build);
        let mut commands = vec!["break look if static_cast<int>(n) == -3", "run"];
        commands.extend(asked.iter().map(|(command, _)| *command));
        let answers = dialog(&executable, &commands);
        for ((command, expected), answer) in asked.iter().zip(&answers[2..]) {
            assert_eq!(answer, expected, "{build} {command}: {answers:?}");
        }
        let events = "event l = before look(low = static_cast<short>(n), b = int(p->a))";
        let report = Batch::watching(&property_of(events)).run(&executable, &[]);
        for (name, expected) in [("low", "-3"), ("b", "-5")] {
            let values = report.values("l", name);
            let shown: Vec<String> = values.iter().map(ToString::to_string).collect();
            assert_eq!(shown, [expected], "{build} {name}: {}", report.all());
        }
    }
}

/// Branches that are bit fields: the compilers promote them differently, and the program has what its
/// compiler says.
const BRANCHES: [&str; 9] = [
    "-1 > (some ? bits.low : from->flag)",
    "-1 > (some ? bits.low : bits.low)",
    "-1 > (some ? bits.low : 1)",
    "-1 > (some ? 1 : bits.low)",
    "-1 > (some ? bits.low : 1u)",
    "-1 > bits.low",
    "-1 > (some ? bits.wide : from->wide)",
    "-1 > (some ? bits.sign : from->sign)",
    "-1 > (some ? bits.low : +bits.flag) + 0",
];

#[test]
fn bit_fields_as_branches_have_the_type_of_the_compiler() {
    let own: Vec<String> = BRANCHES.iter().map(|it| format!("({it})")).collect();
    let source = format!(
        "struct fields {{ unsigned low : 3; unsigned flag : 1; unsigned long wide : 40; int sign : 4; }};
         struct fields bits = {{ 1, 1, 1, 1 }};
         int look(int some, struct fields *from, int *own) {{ return some + from->flag + own[0]; }}
         int main(int count, char **words)
         {{
             int some = count; struct fields *from = &bits;
             int own[] = {{ {} }};
             return look(count, &bits, own) == 0;
         }}",
        own.join(", ")
    );
    let builds = [Language::C, Language::Cpp].map(plain_builds);
    for build in builds.into_iter().flatten() {
        let fixture = match build.compiler.language() {
            Language::Cpp => Fixture::cpp("branches_cpp", &source),
            _ => Fixture::c("branches_c", &source),
        };
        let executable = fixture.argument("-w").compile(&build);
        let mut commands = vec!["break look".to_owned(), "run".to_owned()];
        for (number, branch) in BRANCHES.iter().enumerate() {
            commands.push(format!("print ({branch}) == (own[{number}] != 0)"));
        }
        let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
        let answers = dialog(&executable, &commands);
        for (branch, answer) in BRANCHES.iter().zip(&answers[2..]) {
            assert_eq!(answer, "true", "{build} {branch}");
        }
        let condition = format!("break look if ({}) == (own[0] != 0)", BRANCHES[0]);
        let answers = dialog(&executable, &[condition.as_str(), "run", "kill"]);
        assert!(answers[1].contains("Breakpoint 1"), "{build}: {answers:?}");
    }
}
