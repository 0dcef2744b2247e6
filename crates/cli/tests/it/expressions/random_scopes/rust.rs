//! Random programs of Rust: shadowed variables, blocks, patterns, closures, modules.
//!
//! Left out is what rustc does not describe: constants, `use`, and the block of a `static`.

use super::numbers::Numbers;

const NAMES: &[&str] = &["a", "b", "c"];
const STATICS: &[&str] = &["A", "B"];

const HEAD: &str = "#![allow(warnings)]
use std::hint::black_box;
#[inline(never)] pub fn look() { black_box(()); }
pub fn zero() -> i64 { black_box(0) }
macro_rules! p { ($x:expr) => { eprintln!(\"{} {}\", stringify!($x).replace(\" \", \"\").replace(\"crate::\", \"scopes::\"), ($x) as i64) }; }
macro_rules! mark { () => { eprintln!(\"look {}\", line!()); crate::look(); black_box(()); }; }
";

struct Writer {
    numbers: Numbers,
    text: String,
    next: usize,
    depth: usize,
    /// The variables that exist, by scope.
    scopes: Vec<Vec<String>>,
}

/// Returns the source of a program.
pub fn program(seed: u64) -> String {
    let mut writer = Writer {
        numbers: Numbers::new(seed),
        text: HEAD.to_owned(),
        next: 100,
        depth: 0,
        scopes: Vec::new(),
    };
    writer.module(0);
    writer.line("fn main() {");
    for path in ["", "one::", "one::two::"] {
        for number in 0..2 {
            writer.line(&format!("  black_box({path}f{number}({}));", 900 + number));
        }
    }
    writer.line("}");
    writer.text
}

impl Writer {
    fn line(&mut self, text: &str) {
        let indent = "  ".repeat(self.depth);
        self.text.push_str(&format!("{indent}{text}\n"));
    }

    fn fresh(&mut self) -> usize {
        self.next += 1 + self.numbers.below(3);
        self.next
    }

    fn module(&mut self, level: usize) {
        for name in STATICS {
            let value = self.fresh();
            self.line(&format!("pub static {name}: i64 = {value};"));
        }
        if level > 0 {
            self.line("use crate::{look, zero}; use std::hint::black_box;");
        }
        for number in 0..2 {
            let parameter = *self.numbers.of(NAMES);
            let inline = *self.numbers.of(&["#[inline(never)] ", "", "#[inline] "]);
            self.line(&format!(
                "{inline}pub fn f{number}({parameter}: i64) -> i64 {{"
            ));
            if self.numbers.one_in(3) {
                let value = self.fresh();
                self.line(&format!("  static B: i64 = {value}; black_box(&B);"));
            }
            self.scopes = vec![vec![parameter.to_owned()]];
            self.block(3);
            self.line("  zero()");
            self.line("}");
        }
        if level < 2 {
            self.line(&format!("pub mod {} {{", ["one", "two"][level]));
            self.depth += 1;
            self.module(level + 1);
            self.depth -= 1;
            self.line("}");
        }
    }

    fn block(&mut self, budget: usize) {
        self.depth += 1;
        for _ in 0..3 + self.numbers.below(5) {
            match self.numbers.below(10) {
                0..=3 => self.variable(),
                4 | 5 if budget > 0 => self.nested(budget - 1),
                _ => self.mark(),
            }
        }
        if let Some(name) = self.visible() {
            self.line(&format!("black_box({name});"));
        }
        self.depth -= 1;
    }

    fn visible(&mut self) -> Option<String> {
        let all: Vec<&String> = self.scopes.iter().flatten().collect();
        let at = self.numbers.below(all.len());
        all.get(at).map(|name| (*name).clone())
    }

    fn declare(&mut self, name: &str) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(name.to_owned());
        }
    }

    fn variable(&mut self) {
        let (name, value) = (*self.numbers.of(NAMES), self.fresh());
        let line = match self.numbers.below(5) {
            0 => format!("let {name} = {value}i32 + zero() as i32;"),
            1 => format!("let {name} = {value}i64;"),
            2 => format!("let mut {name} = {value} + zero(); {name} += 1000;"),
            3 => format!("let ({name}, _) = ({value} + zero(), 1);"),
            _ => format!("let {name}; {name} = {value} + zero();"),
        };
        self.line(&line);
        self.declare(name);
    }

    fn nested(&mut self, budget: usize) {
        let (name, value) = (*self.numbers.of(NAMES), self.fresh());
        let (head, tail, declares) = match self.numbers.below(8) {
            0 | 1 => ("{".to_owned(), "}", false),
            2 => (
                format!("if let Some({name}) = black_box(Some({value}i64)) {{"),
                "}",
                true,
            ),
            3 => (
                format!("for {name} in {value}..{value} + 1 + zero() {{"),
                "}",
                true,
            ),
            4 => (
                format!("match black_box({value}i64) {{ {name} if {name} > 1 => {{"),
                "} _ => {} }",
                true,
            ),
            5 => ("if false {".to_owned(), "}", false),
            6 => (format!("(|{name}: i64| {{"), "})(VALUE);", true),
            _ => ("while zero() > 1 {".to_owned(), "}", false),
        };
        self.line(&head);
        self.scopes.push(Vec::new());
        if declares {
            self.declare(name);
        }
        self.block(budget);
        self.scopes.pop();
        let tail = tail.replace("VALUE", &value.to_string());
        self.line(&tail);
    }

    fn mark(&mut self) {
        for _ in 0..2 + self.numbers.below(2) {
            let printed = match self.numbers.below(8) {
                0 => (*self.numbers.of(STATICS)).to_owned(),
                1 => format!(
                    "crate::{}",
                    self.numbers.of(&["A", "B", "one::A", "one::two::B"])
                ),
                _ => match self.visible() {
                    Some(name) => name,
                    None => continue,
                },
            };
            self.line(&format!("p!({printed});"));
        }
        self.line("mark!();");
    }
}
