//! Random expressions of C and C++, and the variables that they read.

use juror_testing::{Language, Numbers};
use std::fmt::Write as _;

/// The parameters of `probe`, which are also fields of `struct all`.
const VARIABLES: &[(&str, &str)] = &[
    ("char", "c"),
    ("signed char", "sc"),
    ("unsigned char", "uc"),
    ("short", "s"),
    ("unsigned short", "us"),
    ("int", "i"),
    ("unsigned int", "u"),
    ("long", "l"),
    ("unsigned long", "ul"),
    ("long long", "ll"),
    ("unsigned long long", "ull"),
    ("bool", "b"),
    ("enum color", "e"),
    ("float", "f"),
    ("double", "d"),
    ("long double", "ld"),
];
/// How many of them are whole numbers.
const WHOLE: u64 = 13;

/// Places of whole numbers that are no parameters.
const PLACES: &[&str] = &[
    "g.bits.low",
    "g.bits.high",
    "p->bits.wide",
    "p->bits.flag",
    "p->bits.small",
    "g.row[1]",
    "p->row[3]",
    "g.bytes[2]",
    "*ip",
    "*(p->row + 2)",
    "ip[0]",
    "(ip == &g.i)",
    "(p->row + 3 - g.row)",
    "sizeof(short)",
    "sizeof g.row",
    "GREEN",
];

/// The spellings of the types of casts.
const WHOLE_TYPES: &[&str] = &[
    "char",
    "signed char",
    "unsigned char",
    "short",
    "short int",
    "unsigned short",
    "short unsigned int",
    "int",
    "signed",
    "unsigned",
    "unsigned int",
    "long",
    "long int",
    "int long",
    "unsigned long",
    "long unsigned int",
    "long long",
    "unsigned long long",
    "long long unsigned int",
    "const long",
    "bool",
    "enum color",
];
const FRACTION_TYPES: &[&str] = &["float", "double", "long double"];

/// What the values of an expression are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Whole,
    Fraction,
}

/// An expression, and those that it consists of.
#[derive(Debug, Clone)]
pub(super) struct Form {
    pub(super) text: String,
    pub(super) parts: Vec<Form>,
    class: Class,
    /// Whether it reads a variable: events read no constants.
    pub(super) reads: bool,
}

impl Form {
    fn leaf(text: impl Into<String>, class: Class) -> Form {
        Form {
            text: text.into(),
            parts: Vec::new(),
            class,
            reads: false,
        }
    }

    fn variable(text: impl Into<String>, class: Class) -> Form {
        Form {
            reads: true,
            ..Form::leaf(text, class)
        }
    }
}

/// A source of expressions, from a seed.
pub(super) struct Forms {
    pub(super) numbers: Numbers,
    pub(super) language: Language,
}

impl Forms {
    pub(super) fn new(seed: u64, language: Language) -> Forms {
        let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        // The first numbers of neighbouring seeds are alike.
        (0..8).for_each(|_| {
            numbers.below(2);
        });
        Forms { numbers, language }
    }

    fn chosen<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.numbers.below(of.len() as u64) as usize]
    }

    /// Returns the next expression.
    pub(super) fn form(&mut self) -> Form {
        let depth = 1 + self.numbers.below(4);
        match self.numbers.below(4) {
            0 => self.fraction(depth),
            _ => self.whole(depth),
        }
    }

    fn any(&mut self, depth: u64) -> Form {
        match self.numbers.below(3) {
            0 => self.fraction(depth),
            _ => self.whole(depth),
        }
    }

    fn variable(&mut self, from: u64, count: u64) -> String {
        let (_, name) = VARIABLES[(from + self.numbers.below(count)) as usize];
        match self.numbers.below(4) {
            0 => format!("g.{name}"),
            1 => format!("p->{name}"),
            _ => name.to_owned(),
        }
    }

    fn literal(&mut self) -> String {
        let suffix = self.chosen(&["", "", "", "u", "l", "L", "ul", "UL", "ll", "ull"]);
        match self.numbers.below(6) {
            0 => format!("{:#x}{suffix}", self.bits(32)),
            1 => format!("{:#x}{suffix}", self.bits(64)),
            2 => format!("'{}'", self.chosen(&["a", "Z", "0", "\\n", "\\\\"])),
            3 => format!("{}{suffix}", self.bits(31)),
            4 => format!("{}{suffix}", self.bits(62)),
            _ => format!("{}{suffix}", self.numbers.below(10)),
        }
    }

    /// Returns a number of up to so many bits; often one at the end of a type.
    fn bits(&mut self, width: u32) -> u64 {
        let width = 1 + self.numbers.below(u64::from(width)) as u32;
        let wide = self.numbers.below(1 << 31) << 33 ^ self.numbers.below(1 << 31) << 16;
        match self.numbers.below(4) {
            0 => 1_u64.checked_shl(width).unwrap_or(0).wrapping_sub(1),
            1 => 1 << (width - 1),
            _ => (wide ^ self.numbers.below(1 << 20)) >> (64 - width),
        }
    }

    fn whole(&mut self, depth: u64) -> Form {
        if depth == 0 {
            return match self.numbers.below(8) {
                0 | 1 => Form::leaf(self.literal(), Class::Whole),
                2 => match self.chosen(PLACES) {
                    constant if constant.starts_with("sizeof") || constant == "GREEN" => {
                        Form::leaf(constant, Class::Whole)
                    }
                    place => Form::variable(place, Class::Whole),
                },
                _ => Form::variable(self.variable(0, WHOLE), Class::Whole),
            };
        }
        let depth = depth - 1;
        match self.numbers.below(12) {
            0..=3 => {
                let operator = self.chosen(&["+", "-", "*", "&", "|", "^"]);
                let (left, right) = (self.whole(depth), self.whole(depth));
                binary(left, operator, right, Class::Whole)
            }
            4 => {
                let operator = self.chosen(&["/", "%"]);
                let (left, right) = (self.whole(depth), self.whole(depth));
                binary(left, operator, right, Class::Whole)
            }
            5 => {
                let operator = self.chosen(&["<<", ">>"]);
                let (left, count) = (self.whole(depth), self.whole(depth.min(1)));
                // C++ defines the bits that leave a signed type; here integers are exact.
                let is_defined = operator == "<<" && self.language == Language::Cpp;
                let left = if is_defined {
                    Form {
                        text: format!("((unsigned long){})", left.text),
                        class: Class::Whole,
                        reads: left.reads,
                        parts: vec![left],
                    }
                } else {
                    left
                };
                let mask = self.chosen(&["7", "15", "31"]);
                let count = Form {
                    text: format!("({} & {mask})", count.text),
                    ..count
                };
                binary(left, operator, count, Class::Whole)
            }
            6 => {
                let operator = self.chosen(&["==", "!=", "<", "<=", ">", ">="]);
                let (left, right) = (self.any(depth), self.any(depth));
                binary(left, operator, right, Class::Whole)
            }
            7 => {
                let operator = self.chosen(&["&&", "||"]);
                let (left, right) = (self.any(depth), self.any(depth));
                binary(left, operator, right, Class::Whole)
            }
            8 => {
                let (condition, then) = (self.any(depth), self.whole(depth));
                conditional(condition, then, self.whole(depth))
            }
            9 => {
                let sign = self.chosen(&["-", "~", "+", "-"]);
                let operand = self.whole(depth);
                unary(sign, operand)
            }
            10 => {
                let operand = self.any(depth);
                let operand = unary("!", operand);
                Form {
                    class: Class::Whole,
                    ..operand
                }
            }
            _ => {
                let (r#type, operand) = (self.chosen(WHOLE_TYPES), self.any(depth));
                self.cast(r#type, operand, Class::Whole)
            }
        }
    }

    fn fraction(&mut self, depth: u64) -> Form {
        if depth == 0 {
            return match self.numbers.below(5) {
                0 => {
                    let constants = ["0.5", "1.5f", "-2.25", "0.1", "0.1f", "1e10", "3.0", "1e-3"];
                    Form::leaf(self.chosen(&constants), Class::Fraction)
                }
                _ => {
                    let name = self.variable(WHOLE, VARIABLES.len() as u64 - WHOLE);
                    Form::variable(name, Class::Fraction)
                }
            };
        }
        let depth = depth - 1;
        match self.numbers.below(8) {
            0..=3 => {
                let operator = self.chosen(&["+", "-", "*", "/"]);
                let (left, right) = match self.numbers.below(3) {
                    0 => (self.fraction(depth), self.whole(depth)),
                    1 => (self.whole(depth), self.fraction(depth)),
                    _ => (self.fraction(depth), self.fraction(depth)),
                };
                binary(left, operator, right, Class::Fraction)
            }
            4 => {
                let sign = self.chosen(&["-", "+"]);
                let operand = self.fraction(depth);
                unary(sign, operand)
            }
            5 => {
                let (condition, then) = (self.any(depth), self.fraction(depth));
                conditional(condition, then, self.any(depth))
            }
            _ => {
                let (r#type, operand) = (self.chosen(FRACTION_TYPES), self.any(depth));
                self.cast(r#type, operand, Class::Fraction)
            }
        }
    }

    fn cast(&mut self, r#type: &str, operand: Form, class: Class) -> Form {
        let is_cpp = self.language == Language::Cpp;
        let text = match self.numbers.below(3) {
            0 if is_cpp => format!("static_cast<{type}>({})", operand.text),
            // `(double((unsigned(x)))) - y` is a cast to the type of a function.
            1 if is_cpp && !r#type.contains(' ') && !begins_with_type(&operand.text) => {
                format!("{type}({})", operand.text)
            }
            _ => format!("({type}){}", operand.text),
        };
        Form {
            text: format!("({text})"),
            reads: operand.reads,
            parts: vec![operand],
            class,
        }
    }
}

/// Returns whether an operand begins with the name of a type, as in `(unsigned(x))`.
fn begins_with_type(operand: &str) -> bool {
    let operand = operand.trim_start_matches('(');
    let word = operand.split(|it: char| !it.is_ascii_alphanumeric()).next();
    let types = WHOLE_TYPES.iter().chain(&["float", "double"]);
    types.into_iter().any(|known| Some(*known) == word)
}

fn binary(left: Form, operator: &str, right: Form, class: Class) -> Form {
    Form {
        text: format!("({} {operator} {})", left.text, right.text),
        reads: left.reads || right.reads,
        parts: vec![left, right],
        class,
    }
}

fn unary(sign: &str, operand: Form) -> Form {
    Form {
        // `--x` is another operator.
        text: format!("({sign}({}))", operand.text),
        class: operand.class,
        reads: operand.reads,
        parts: vec![operand],
    }
}

fn conditional(condition: Form, then: Form, otherwise: Form) -> Form {
    Form {
        text: format!("({} ? {} : {})", condition.text, then.text, otherwise.text),
        class: then.class,
        reads: condition.reads || then.reads || otherwise.reads,
        parts: vec![condition, then, otherwise],
    }
}

impl Forms {
    /// Returns a value of a type, as C writes it.
    fn value(&mut self, r#type: &str) -> String {
        match r#type {
            "bool" => self.chosen(&["0", "1"]).to_owned(),
            "enum color" => self.chosen(&["RED", "GREEN", "BLUE"]).to_owned(),
            "float" | "double" | "long double" => self
                .chosen(&[
                    "0", "1.5", "-2.25", "0.1", "-1e10", "3e-5", "16777217", "-7", "1.0 / 3",
                ])
                .to_owned(),
            _ => format!("({type}){:#x}ull", self.sign() ^ self.bits(64)),
        }
    }

    fn sign(&mut self) -> u64 {
        match self.numbers.below(3) {
            0 => u64::MAX,
            _ => 0,
        }
    }

    /// Returns a program whose `probe` reads random variables. With an argument it shows the
    /// values of the expressions.
    pub(super) fn program(&mut self, forms: &[&Form]) -> String {
        let parameters: Vec<String> = VARIABLES
            .iter()
            .map(|(r#type, name)| format!("{type} {name}"))
            .collect();
        let (fields, parameters) = (parameters.join("; "), parameters.join(", "));
        let mut set = String::new();
        for (r#type, name) in VARIABLES {
            let _ = writeln!(set, "    g.{name} = {};", self.value(r#type));
        }
        for (at, r#type) in ["short"; 4].iter().enumerate() {
            let _ = writeln!(set, "    g.row[{at}] = {};", self.value(r#type));
            let _ = writeln!(set, "    g.bytes[{at}] = {};", self.value("unsigned char"));
        }
        for (name, r#type) in [
            ("low", "unsigned int"),
            ("high", "int"),
            ("wide", "unsigned int"),
            ("flag", "bool"),
            ("small", "short"),
        ] {
            let _ = writeln!(set, "    g.bits.{name} = {};", self.value(r#type));
        }
        let given: Vec<String> = VARIABLES
            .iter()
            .map(|(r#type, _)| self.value(r#type))
            .collect();
        let shown: String = forms
            .iter()
            .enumerate()
            .map(|(number, form)| format!("    SHOW({number}, {})\n", form.text))
            .collect();
        let show = match self.language {
            Language::Cpp => SHOW_CPP,
            _ => SHOW_C,
        };
        format!(
            "#include <setjmp.h>\n#include <signal.h>\n#include <stdbool.h>\n#include <stdio.h>\n\
             enum color {{ RED, GREEN = 5, BLUE = -2 }};\n\
             struct bits {{ unsigned low : 3; int high : 5; unsigned wide : 32; bool flag : 1; \
             short small : 7; }};\n\
             struct all {{ {fields}; struct bits bits; short row[4]; unsigned char bytes[4]; }};\n\
             static struct all g;\nstatic int is_own;\nstatic sigjmp_buf before;\n\
             static void undefined(int signal) {{ siglongjmp(before, signal); }}\n{show}\
             void probe({parameters}, struct all *p, int *ip)\n{{\n    \
             (void)b; (void)c; (void)sc; (void)uc; (void)s; (void)us; (void)ld; (void)p; (void)ip;\n    \
             if (!is_own) return;\n{shown}}}\n\
             int main(int argc, char **argv)\n{{\n    (void)argv;\n    is_own = argc > 1;\n    \
             signal(SIGILL, undefined);\n    signal(SIGTRAP, undefined);\n{set}    \
             probe({}, &g, &g.i);\n    return 0;\n}}\n",
            given.join(", ")
        )
    }
}

const SHOW_C: &str = r#"
static void show_signed(int n, long long v) { printf("%d i %lld\n", n, v); }
static void show_unsigned(int n, unsigned long long v) { printf("%d u %llu\n", n, v); }
static void show_float(int n, float v) { printf("%d e %.17g\n", n, v); }
static void show_double(int n, double v) { printf("%d f %.17g\n", n, v); }
static void show_wide(int n, long double v) { printf("%d g %.21Lg\n", n, v); }
#define SHOW(n, v) if (sigsetjmp(before, 1)) printf("%d ?\n", n); else _Generic((v) + 0, \
    int: show_signed, long: show_signed, long long: show_signed, unsigned: show_unsigned, \
    unsigned long: show_unsigned, unsigned long long: show_unsigned, float: show_float, \
    double: show_double, long double: show_wide)(n, v);
"#;

const SHOW_CPP: &str = r#"
static void show(int n, long long v) { printf("%d i %lld\n", n, v); }
static void show(int n, long v) { printf("%d i %ld\n", n, v); }
static void show(int n, int v) { printf("%d i %d\n", n, v); }
static void show(int n, unsigned long long v) { printf("%d u %llu\n", n, v); }
static void show(int n, unsigned long v) { printf("%d u %lu\n", n, v); }
static void show(int n, unsigned v) { printf("%d u %u\n", n, v); }
static void show(int n, float v) { printf("%d e %.17g\n", n, v); }
static void show(int n, double v) { printf("%d f %.17g\n", n, v); }
static void show(int n, long double v) { printf("%d g %.21Lg\n", n, v); }
#define SHOW(n, v) if (sigsetjmp(before, 1)) printf("%d ?\n", n); else show(n, (v) + 0);
"#;
