//! Random programs of C and C++. The names that are printed may not exist or be ambiguous where
//! they stand: what the compiler rejects is taken out.

use super::numbers::Numbers;

const NAMES: &[&str] = &["a", "b", "c", "d"];
const TYPES: &[&str] = &["S", "T"];

const HEAD: &str = "#include <stdio.h>
volatile int zero; volatile long sink;
__attribute__((noinline)) void look(void) { __asm__ volatile(\"\" ::: \"memory\"); }
#define P(x) fprintf(stderr, \"%s %ld\\n\", #x, (long)(x));
#define LOOK fprintf(stderr, \"look %d\\n\", __LINE__); look(); __asm__ volatile(\"\");
";

struct Writer {
    numbers: Numbers,
    text: String,
    is_cpp: bool,
    is_clang: bool,
    is_optimized: bool,
    next: usize,
    depth: usize,
    /// Whether the code is of a member function.
    is_member: bool,
    /// Whether the function has a `using` so far: a lambda does not know the blocks around it.
    has_using: bool,
}

/// Returns the source of a program.
pub fn program(seed: u64, is_cpp: bool, is_clang: bool, is_optimized: bool) -> String {
    let mut writer = Writer {
        numbers: Numbers::new(seed),
        text: HEAD.to_owned(),
        is_cpp,
        is_clang,
        is_optimized,
        next: 100,
        depth: 0,
        is_member: false,
        has_using: false,
    };
    writer.globals();
    for number in 0..5 {
        writer.function(number);
    }
    if is_cpp {
        writer.member_functions();
    }
    writer.main();
    writer.text
}

impl Writer {
    fn line(&mut self, text: &str) {
        let indent = "  ".repeat(self.depth);
        self.text.push_str(&format!("{indent}{text}\n"));
    }

    /// Returns a number that no other entity has.
    fn fresh(&mut self) -> usize {
        self.next += 1 + self.numbers.below(3);
        self.next
    }

    fn globals(&mut self) {
        for name in NAMES {
            let value = self.fresh();
            let storage = *self.numbers.of(&["", "static ", ""]);
            self.line(&format!("{storage}int {name} = {value};"));
        }
        for name in TYPES {
            let size = self.fresh();
            // An unused type is not described.
            self.line(&format!("struct {name} {{ char x[{size}]; }} of_{name};"));
        }
        if !self.is_cpp {
            return;
        }
        for space in ["n", "m"] {
            self.line(&format!("namespace {space} {{"));
            self.depth += 1;
            for name in NAMES {
                let value = self.fresh();
                if self.numbers.one_in(3) {
                    self.line(&format!("inline namespace v {{ int {name} = {value}; }}"));
                } else {
                    self.line(&format!("int {name} = {value};"));
                }
            }
            let (inner, size) = (self.fresh(), self.fresh());
            self.line(&format!(
                "namespace deep {{ int e = {inner}; int a = {}; }}",
                inner + 1
            ));
            self.line(&format!("struct T {{ char x[{size}]; }} of_T;"));
            self.line(&format!("int {space}_only = {};", inner + 2));
            self.depth -= 1;
            self.line("}");
        }
        let values: Vec<usize> = (0..6).map(|_| self.fresh()).collect();
        self.line(&format!(
            "struct Base {{ int a = {}; int b = {}; static int c; struct T {{ char x[{}]; }} t; }}; int Base::c = {};",
            values[0], values[1], values[2], values[3]
        ));
        self.line(&format!(
            "struct C : Base {{ int b = {}; enum {{ d = {} }}; int one(int p); static int two(int p); int three(int p) const; }};",
            values[4], values[5]
        ));
        self.line("namespace n { struct K { int a = 77; int four(int p); }; int five(int p); }");
    }

    fn function(&mut self, number: usize) {
        let storage = *self.numbers.of(&[
            "__attribute__((noinline)) ",
            "static ",
            "static inline ",
            "",
        ]);
        let parameter = *self.numbers.of(&["a", "b", "p", "p"]);
        self.line(&format!("{storage}int f{number}(int {parameter})"));
        self.body(parameter);
    }

    fn member_functions(&mut self) {
        for head in [
            "int C::one(int p)",
            "int C::two(int a)",
            "int C::three(int p) const",
            "int n::K::four(int p)",
            "int n::five(int b)",
        ] {
            self.line(head);
            self.is_member = !head.contains("two") && !head.contains("five");
            let parameter = head
                .rsplit(' ')
                .find(|word| word.contains(')'))
                .unwrap_or("p)");
            let parameter = parameter.trim_end_matches(')').to_owned();
            self.body(&parameter);
        }
        self.is_member = false;
    }

    fn body(&mut self, parameter: &str) {
        self.line("{");
        self.has_using = false;
        let mut known = vec![parameter.to_owned()];
        self.block(&mut known, 3);
        self.line(&format!("  return (int)sink + {parameter};"));
        self.line("}");
    }

    fn main(&mut self) {
        self.line("int main(void) { long r = 0;");
        for number in 0..5 {
            self.line(&format!("  r += f{number}({});", 900 + number));
        }
        if self.is_cpp {
            self.line("  C c; n::K k; r += c.one(910) + C::two(911) + c.three(912) + k.four(913) + n::five(914);");
        }
        self.line("  sink += r; return 0; }");
    }

    /// Writes the statements of a block; `known` are the names that it declares already.
    fn block(&mut self, known: &mut Vec<String>, budget: usize) {
        self.depth += 1;
        for number in 0..2 + self.numbers.below(5) {
            match self.numbers.below(12) {
                0..=3 => self.declaration(known, number == 0),
                4..=6 if budget > 0 => self.nested(budget - 1),
                7 => self.change(known),
                _ => self.mark(),
            }
        }
        if self.numbers.one_in(2) {
            self.change(known);
        }
        self.depth -= 1;
    }

    fn declaration(&mut self, known: &mut Vec<String>, is_first: bool) {
        let value = self.fresh();
        if self.numbers.one_in(6) {
            let name = *self.numbers.of(TYPES);
            if !known.iter().any(|it| it == name) {
                known.push(name.to_owned());
                self.line(&format!(
                    "struct {name} {{ char x[{value}]; }}; {{ struct {name} made; made.x[0] = 1; sink += made.x[0]; }}"
                ));
            }
            return;
        }
        let name = *self.numbers.of(NAMES);
        if known.iter().any(|it| it == name) {
            return;
        }
        known.push(name.to_owned());
        let last = if self.is_cpp { 9 } else { 7 };
        let declared = match self.numbers.below(last) {
            0..=2 => format!("int {name} = {value} + zero;"),
            3 => format!("static int {name} = {value};"),
            4 => format!("const int {name} = {value};"),
            // Only gcc says in which block an enumeration is, and only of C.
            5 if !self.is_cpp && !self.is_clang => format!("enum {{ {name} = {value} }};"),
            // clang does not describe it, nor does g++ in a block that it left nothing else of.
            6 if !(self.is_clang || self.is_cpp && self.is_optimized) => {
                format!("extern int {name};")
            }
            // g++ does not say where in a block they stand.
            7 if self.is_clang || is_first => format!("using n::{name};"),
            8 if self.is_clang || is_first => format!("using m::{name};"),
            _ => format!("long {name} = {value};"),
        };
        self.has_using |= declared.starts_with("using");
        let is_extern = declared.starts_with("extern");
        self.line(&declared);
        if !is_extern && self.numbers.one_in(3) {
            self.line(&format!("sink += {name};"));
        }
    }

    fn change(&mut self, known: &[String]) {
        let names: Vec<&String> = known
            .iter()
            .filter(|it| it.len() == 1 && NAMES.contains(&&***it))
            .collect();
        if let Some(name) = (!names.is_empty()).then(|| self.numbers.of(&names).to_string()) {
            self.line(&format!("sink += {name};"));
        }
    }

    fn nested(&mut self, budget: usize) {
        let (value, name) = (self.fresh(), *self.numbers.of(NAMES));
        let mut known = Vec::new();
        let last = if self.is_cpp { 11 } else { 7 };
        let (head, tail) = match self.numbers.below(last) {
            0 | 1 => ("{".to_owned(), "}"),
            2 => ("if (0) {".to_owned(), "}"),
            3 => ("if (zero) {".to_owned(), "}"),
            4 => ("if (!zero) {".to_owned(), "}"),
            5 => {
                known.push(name.to_owned());
                (
                    format!("for (int {name} = {value}; {name} < {value} + 1; ++{name}) {{"),
                    "}",
                )
            }
            6 => ("if (sizeof(int) == 2) {".to_owned(), "}"),
            7 => ("{ using namespace n::deep; P(e) LOOK".to_owned(), "}"),
            8 => (
                "{ namespace al = m; P(al::a) P(al::deep::e) LOOK".to_owned(),
                "}",
            ),
            9 if !self.has_using => {
                known.push(name.to_owned());
                (format!("[&](int {name}) {{"), "}(VALUE);")
            }
            _ => {
                known.push(name.to_owned());
                (
                    format!("try {{ throw {value}; }} catch (int {name}) {{"),
                    "}",
                )
            }
        };
        self.line(&head);
        self.block(&mut known, budget);
        let tail = tail.replace("VALUE", &value.to_string());
        self.line(&tail);
    }

    /// Writes a marked call, with what is printed there.
    fn mark(&mut self) {
        for _ in 0..2 + self.numbers.below(3) {
            let name = *self.numbers.of(NAMES);
            let type_name = *self.numbers.of(TYPES);
            let printed = match (self.is_cpp, self.numbers.below(12)) {
                (true, 0) => format!("::{name}"),
                (true, 1) => format!("n::{name}"),
                (true, 2) => format!("m::{name}"),
                (true, 3) => format!("m::deep::{}", self.numbers.of(&["a", "e"])),
                (true, 4) if self.is_member => format!("this->{name}"),
                (true, 5) => format!("C::{name}"),
                (true, 6) => (*self.numbers.of(&["n_only", "m_only", "e"])).to_owned(),
                (true, 7) => format!("sizeof(::{type_name})"),
                (_, 8) => format!("sizeof(struct {type_name})"),
                _ => name.to_owned(),
            };
            self.line(&format!("P({printed})"));
        }
        self.line("LOOK");
    }
}
