//! Random programs of small functions: equal bodies, loops, calls of themselves, destructors of
//! trees, several and virtual bases. `JUROR_FUNCTIONS` asks for more programs, and
//! `JUROR_FUNCTIONS_SEED` for those from another number on.

use super::{is_refused, seen_natively};
use crate::support::{Batch, property_of};
use juror_testing::{Build, Fixture, Language};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// A generator of numbers (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

/// A program that is being made.
#[derive(Default)]
struct Source {
    functions: String,
    calls: String,
    /// Per function its kind, the word that is printed before its count, and its name.
    rows: Vec<(&'static str, String, String)>,
}

impl Source {
    /// Declares the counter of a function.
    fn counter(&mut self, kind: &'static str, word: &str, event: &str) {
        writeln!(self.functions, "static long {word};").expect("it is text");
        self.rows.push((kind, word.to_owned(), event.to_owned()));
    }

    fn add(&mut self, functions: &str, calls: &str) {
        self.functions.push_str(functions);
        self.calls.push_str(calls);
    }

    fn text(&self) -> String {
        let printed: Vec<String> = self
            .rows
            .iter()
            .map(|(_, word, _)| format!("    std::printf(\"{word} %ld\\n\", {word});\n"))
            .collect();
        format!(
            "#include <cstdio>\n#define NOINLINE __attribute__((noinline))\n{}\
             int main(int argc, char **)\n{{\n    int sum = 0;\n{}{}    \
             std::printf(\"sum %d\\n\", sum);\n}}\n",
            self.functions,
            self.calls,
            printed.concat()
        )
    }
}

/// Equal bodies, which are counted where they are called.
fn twins(source: &mut Source, at: usize, numbers: &mut Numbers) {
    let body = numbers.of(&[
        "{ return *p * 3 + n; }",
        "{ for (int i = 0; i < n; i++) *p += i; return *p; }",
        "{ if (--*p == 0) { std::printf(\"gone %d\\n\", n); return n * 3; } return *p; }",
        "{ int s = 0; for (int i = 0; i < n; i++) s += std::printf(\"%d\\n\", *p + i); return s; }",
    ]);
    let scope = numbers.of(&["static", "", "extern \"C\"", "inline"]);
    for twin in 0..2 + numbers.below(2) {
        let name = format!("twin{at}_{twin}");
        source.counter("twins", &format!("n_{name}"), &name);
        let calls = 1 + numbers.below(4);
        source.add(
            &format!("{scope} NOINLINE int {name}(int *p, int n) {body}\n"),
            &format!(
                "    for (int i = 0, x = argc + {twin}; i < {calls}; i++)\n        \
                 n_{name}++, sum += {name}(&x, i);\n"
            ),
        );
    }
}

/// A loop that the function may begin with.
fn looped(source: &mut Source, at: usize, numbers: &mut Numbers) {
    let name = format!("loop{at}");
    source.counter("loops", &format!("n_{name}"), &name);
    let body = numbers.of(&[
        "while ((*p)--) ;",
        "do { *p -= 1; } while (*p > 0);",
        "while (*p > 3) *p /= 2;",
        "do { *p -= 2; } while (*p > 0); std::puts(\"down\");",
        "again: *p -= 1; if (*p > 9) goto again; if (*p > 0) { *p -= 1; goto again; }",
    ]);
    let calls = 1 + numbers.below(4);
    source.add(
        &format!("NOINLINE void {name}(volatile int *p) {{ {body} }}\n"),
        &format!(
            "    for (int i = 0; i < {calls}; i++) {{\n        volatile int x = 12 + i;\n        \
             n_{name}++, {name}(&x);\n    }}\n"
        ),
    );
}

/// Calls of a function to itself.
fn recursive(source: &mut Source, at: usize, numbers: &mut Numbers) {
    let name = format!("self{at}");
    source.counter("recursion", &format!("n_{name}"), &name);
    let rest = numbers.of(&[
        "return n < 1 ? s : NAME(n - 1, s + n);",
        "if (n < 2) return n + s;\n    return NAME(n / 2, s) + NAME(n / 2 - 1, s);",
        "for (int i = 0; i < n; i++)\n        s += NAME(i / 2 - 1, i);\n    return s;",
        "while (n > 1) {\n        s += NAME(n / 3, 1);\n        n /= 2;\n    }\n    return s;",
        "if (n > 0)\n        return NAME(n - 2, s ^ n) * 3;\n    return s;",
    ]);
    let rest = rest.replace("NAME", &name);
    source.add(
        &format!("NOINLINE int {name}(int n, int s)\n{{\n    n_{name}++;\n    {rest}\n}}\n"),
        &format!("    sum += {name}(argc + {}, 1);\n", 3 + numbers.below(9)),
    );
}

/// Objects that destroy others of their class, and are made by constructors of it.
fn tree(source: &mut Source, at: usize, numbers: &mut Numbers) {
    let class = format!("Tree{at}");
    let gone = format!("n_gone{at}");
    source.counter("destructors", &gone, &format!("\"{class}::~{class}\""));
    let made = format!("n_made{at}");
    source.counter("constructors", &made, &format!("\"{class}::{class}\""));
    let is_virtual = numbers.of(&["", "virtual "]);
    let base = numbers.of(&["", " : Empty", " : virtual Empty"]);
    if base.contains("Empty") && !source.functions.contains("struct Empty") {
        source.add("struct Empty { virtual ~Empty() {} int e = 0; };\n", "");
    }
    let other = numbers.of(&[
        "",
        "CLASS() : CLASS(nullptr, nullptr) { MADE++; }",
        "CLASS(const CLASS &of) : left(of.left ? new CLASS(*of.left) : nullptr), right(nullptr) { MADE++; }",
    ]);
    let other = other.replace("CLASS", &class).replace("MADE", &made);
    let body = numbers.of(&[
        "delete left; delete right;",
        "delete right; if (left) delete left;",
        "while (left) { CLASS *next = left->left; left->left = nullptr; delete left; left = next; } delete right;",
    ]);
    let body = body.replace("CLASS", &class);
    let more = if other.contains("const") {
        "        delete new CLASS(*it);\n"
    } else if other.is_empty() {
        ""
    } else {
        "        delete new CLASS;\n"
    };
    let more = more.replace("CLASS", &class);
    source.add(
        &format!(
            "struct {class}{base} {{\n    {class} *left, *right;\n    \
             {class}({class} *a, {class} *b) : left(a), right(b) {{ {made}++; }}\n    {other}\n    \
             {is_virtual}~{class}() {{ {gone}++; {body} }}\n}};\n\
             NOINLINE {class} *grow{at}(int n)\n\
             {{\n    return n > 0 ? new {class}(grow{at}(n - 1), grow{at}(n - 2)) : nullptr;\n}}\n"
        ),
        &format!(
            "    {{\n        {class} *it = grow{at}(argc + {});\n{more}        delete it;\n    }}\n",
            1 + numbers.below(3)
        ),
    );
}

/// A virtual function that is called through several bases.
fn bases(source: &mut Source, at: usize, numbers: &mut Numbers) {
    let class = format!("Both{at}");
    let word = format!("n_put{at}");
    source.counter("thunks", &word, &format!("{class}::put"));
    let virtually = numbers.of(&["", "virtual "]);
    let body = numbers.of(&[
        "last = value; return ++done;",
        "return last += value;",
        "std::printf(\"put %d\\n\", value); return value + done;",
    ]);
    let (first, second) = (1 + numbers.below(3), 1 + numbers.below(3));
    source.add(
        &format!(
            "struct One{at} {{ virtual int get() = 0; int one = 1; }};\n\
             struct Two{at} {{ virtual int put(int value) = 0; int done = 0; }};\n\
             struct {class} : One{at}, {virtually}Two{at} {{\n    int last = 0;\n    \
             int get() override;\n    int put(int value) override;\n}};\n\
             int {class}::get() {{ return last; }}\n\
             int {class}::put(int value) {{ {word}++; {body} }}\n\
             NOINLINE int through{at}(Two{at} *it, int value) {{ return it->put(value) + 1; }}\n\
             NOINLINE int direct{at}({class} *it, int value) {{ return it->put(value) + 2; }}\n"
        ),
        &format!(
            "    {{\n        {class} *it = new {class};\n        \
             for (int i = 0; i < {first}; i++)\n            sum += through{at}(it, i);\n        \
             for (int i = 0; i < {second}; i++)\n            sum += direct{at}(it, i);\n    }}\n"
        ),
    );
}

fn make(seed: u64) -> Source {
    let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut source = Source::default();
    for at in 0..3 {
        let piece = [twins, looped, recursive, tree, bases][numbers.below(5) as usize];
        piece(&mut source, at, &mut numbers);
    }
    source
}

/// Checks all functions of a program; counts those that are seen, told and refused, by kind.
#[track_caller]
fn check(executable: &Path, case: &str, source: &Source, found: &mut BTreeMap<String, [u64; 3]>) {
    for (kind, word, function) in &source.rows {
        for moment in ["before", "after"] {
            let property = property_of(&format!("event e = {moment} {function}"));
            let report = Batch::watching(&property).run(executable, &[]);
            let of_kind = found.entry(format!("{kind} {moment}")).or_default();
            if is_refused(&report) {
                of_kind[2] += 1;
                continue;
            }
            let all = || {
                format!(
                    "{case}, {moment} {function}: {}\n{}",
                    report.all(),
                    source.text()
                )
            };
            let is_told = report
                .remarks("watched")
                .iter()
                .any(|it| it.contains("not counted"));
            let printed = report.printed(word);
            if is_told {
                of_kind[1] += 1;
                continue;
            }
            of_kind[0] += 1;
            assert_eq!(report.occurrences("e"), printed, "{}", all());
            assert_eq!(
                seen_natively(executable, &property),
                printed,
                "native, {}",
                all()
            );
        }
    }
}

#[test]
fn functions_of_random_programs_are_counted_as_they_are_called() {
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse().ok());
    let programs: u64 = number("JUROR_FUNCTIONS").unwrap_or(2);
    let first: u64 = number("JUROR_FUNCTIONS_SEED").unwrap_or(1);
    let builds: Vec<Build> = Build::light_of(Language::Cpp);
    let levels = ["-O2", "-O1", "-O3", "-Os", "-O0", "-Og"];
    let mut found = BTreeMap::new();
    for seed in first..first + programs {
        let source = make(seed);
        let build = builds[seed as usize % builds.len()];
        let level = levels[(seed as usize / builds.len()) % levels.len()];
        let name = format!("functions_{seed}");
        let fixture = Fixture::cpp(&name, &source.text()).argument(level);
        let executable = fixture.compile(&build);
        let case = format!("seed {seed}, {build} {level}");
        check(&executable, &case, &source, &mut found);
    }
    println!("seen, told, refused: {found:#?}");
}
