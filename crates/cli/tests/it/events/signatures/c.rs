//! Random functions of C and C++, each called with known values.

use super::types::{Leaf, LeafValue, Shape, capture};
use super::{Check, Moment, Program, Random};

/// How a function is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    External,
    Static,
    /// Static, and called through a pointer, too.
    Taken,
    Method,
    /// A constructor of a class with a virtual base, called for a base and a whole object.
    Constructor,
    Template,
    Lambda,
}

/// How often each function is called.
const CALLS: usize = 2;

struct Parameter {
    name: String,
    shape: Shape,
    values: [Vec<LeafValue>; CALLS],
    /// The same in all calls, and known to the compiler.
    is_known: bool,
    used: Vec<bool>,
}

/// Writes a program with `count` functions.
pub fn program(random: &mut Random, count: usize, is_cpp: bool) -> Program {
    let mut source = String::from(if is_cpp { HEAD_CPP } else { HEAD_C });
    let mut calls = String::new();
    let mut checks = Vec::new();
    for number in 0..count {
        let written = function(random, number, is_cpp, &mut checks);
        source.push_str(&written);
        calls.push_str(&format!("    drive{number}();\n"));
    }
    source.push_str(&format!(
        "int main(void) {{\n{calls}    return sink == 1 && fsink == 1; }}\n"
    ));
    Program { source, checks }
}

const HEAD_C: &str = "#define NI __attribute__((noinline))
typedef int v4si __attribute__((vector_size(16))); typedef float v4sf __attribute__((vector_size(16)));
typedef float v2sf __attribute__((vector_size(8))); typedef long v2di __attribute__((vector_size(16)));
volatile long vi; volatile double vd; unsigned long sink; double fsink;
static long held[4096]; static int last;
static long *hold(long value) { held[++last % 4096] = value; return &held[last % 4096]; }
";

const HEAD_CPP: &str = "#define NI __attribute__((noinline))
typedef int v4si __attribute__((vector_size(16))); typedef float v4sf __attribute__((vector_size(16)));
typedef float v2sf __attribute__((vector_size(8))); typedef long v2di __attribute__((vector_size(16)));
volatile long vi; volatile double vd; unsigned long sink; double fsink;
static long held[4096]; static int last;
static long *hold(long value) { held[++last % 4096] = value; return &held[last % 4096]; }
struct Base { long base = 5; virtual ~Base() {} };
";

fn form(random: &mut Random, is_cpp: bool) -> Form {
    let all: &[Form] = match is_cpp {
        false => &[Form::External, Form::Static, Form::Static, Form::Taken],
        true => &[
            Form::External,
            Form::Static,
            Form::Method,
            Form::Constructor,
            Form::Template,
            Form::Lambda,
        ],
    };
    all[random.below(all.len())]
}

fn function(random: &mut Random, number: usize, is_cpp: bool, checks: &mut Vec<Check>) -> String {
    let form = form(random, is_cpp);
    let count = [0, 1, 2, 2, 3, 3, 4, 5, 6, 8, 11][random.below(11)];
    let mut parameters = Vec::new();
    for index in 0..count {
        let shape = Shape::random(random, &format!("{number}_{index}"), is_cpp, false);
        let is_known = random.below(10) == 0 && !shape.is_reference;
        let mut draw = || -> Vec<LeafValue> {
            let leaves = shape.leaves.iter();
            leaves.map(|leaf| leaf.kind.value(random)).collect()
        };
        let first = draw();
        let second = if is_known { first.clone() } else { draw() };
        // Callers need not store a value that the function does not read through its address.
        let is_behind = shape.is_reference || shape.declaration.contains("&o)");
        let part = if is_behind { 4 } else { random.below(5) };
        let used = shape.leaves.iter().map(|_| match part {
            0 => false,
            1 => random.below(2) == 0,
            _ => true,
        });
        parameters.push(Parameter {
            name: format!("a{index}"),
            used: used.collect(),
            values: [first, second],
            is_known,
            shape,
        });
    }
    let returns = form != Form::Constructor && random.below(4) > 0;
    let result = returns.then(|| Shape::random(random, &format!("{number}_r"), is_cpp, true));
    let result_values: Vec<LeafValue> = match &result {
        Some(shape) => shape
            .leaves
            .iter()
            .map(|leaf| leaf.kind.value(random))
            .collect(),
        None => Vec::new(),
    };
    let is_result_used = random.below(4) > 0;
    Writer {
        number,
        form,
        parameters,
        result,
        result_values,
        is_result_used,
        captured: random.next() as u32 as i64,
    }
    .write(checks)
}

struct Writer {
    number: usize,
    form: Form,
    parameters: Vec<Parameter>,
    result: Option<Shape>,
    result_values: Vec<LeafValue>,
    is_result_used: bool,
    /// The value of a field of the object, or of what a lambda has captured.
    captured: i64,
}

impl Writer {
    fn write(&self, checks: &mut Vec<Check>) -> String {
        let number = self.number;
        let mut text = String::new();
        for shape in self
            .parameters
            .iter()
            .map(|it| &it.shape)
            .chain(&self.result)
        {
            text.push_str(&shape.declaration);
        }
        let result = self.result.as_ref().map_or("void", |it| &it.name);
        let written = |it: &Parameter| {
            let reference = if it.shape.is_reference { "&" } else { "" };
            format!("{} {reference}{}", it.shape.name, it.name)
        };
        let list: Vec<String> = self.parameters.iter().map(written).collect();
        let list = match list.is_empty() {
            true => "void".to_owned(),
            false => list.join(", "),
        };
        let body = self.body();
        let (definition, subject) = match self.form {
            Form::External => (
                format!("NI {result} f{number}({list}) {body}"),
                format!("f{number}"),
            ),
            Form::Static | Form::Taken => (
                format!("static NI {result} f{number}({list}) {body}"),
                format!("f{number}"),
            ),
            Form::Method => (
                format!(
                    "struct C{number} {{ long tag; NI {result} f{number}({list}) const {body} }};"
                ),
                format!("C{number}::f{number}"),
            ),
            Form::Constructor => {
                let list = if self.parameters.is_empty() {
                    ""
                } else {
                    &list
                };
                let names: Vec<&str> = self.parameters.iter().map(|it| it.name.as_str()).collect();
                let names = names.join(", ");
                (
                    format!(
                        "struct C{number} : virtual Base {{ long tag; NI C{number}({list}) {body} }};\n\
                         struct D{number} : C{number} {{ NI D{number}({list}) : C{number}({names}) {{ sink++; }} }};"
                    ),
                    format!("C{number}::C{number}"),
                )
            }
            Form::Template => {
                let types: Vec<String> = self
                    .parameters
                    .iter()
                    .enumerate()
                    .map(|(at, it)| {
                        let reference = if it.shape.is_reference { "&" } else { "" };
                        format!("T{at} {reference}{}", it.name)
                    })
                    .collect();
                let mut names: Vec<String> = (0..self.parameters.len())
                    .map(|at| format!("class T{at}"))
                    .collect();
                names.insert(0, "int N".to_owned());
                (
                    format!(
                        "template <{}> NI {result} f{number}({}) {body}",
                        names.join(", "),
                        types.join(", ")
                    ),
                    format!("f{number}"),
                )
            }
            Form::Lambda => (String::new(), format!("symbol:drive{number}vE")),
        };
        text.push_str(&definition);
        text.push('\n');
        text.push_str(&self.driver(result, &list, &body));
        self.add_checks(&subject, checks);
        text
    }

    fn body(&self) -> String {
        let mut body = format!("{{ sink += {}UL;", 1000 + self.number);
        for it in &self.parameters {
            for (leaf, _) in it
                .shape
                .leaves
                .iter()
                .zip(&it.used)
                .filter(|(_, used)| **used)
            {
                body.push(' ');
                body.push_str(&it.shape.uses(&it.name, leaf));
            }
        }
        match self.form {
            Form::Method => body.push_str(" sink += (unsigned long)tag;"),
            Form::Lambda => body.push_str(" sink += (unsigned long)kept;"),
            _ => {}
        }
        if let Some(shape) = &self.result {
            body.push(' ');
            body.push_str(&shape.variable("r", &self.result_values, false));
            body.push_str(" return r;");
        }
        body.push_str(" }");
        body
    }

    fn driver(&self, result: &str, list: &str, body: &str) -> String {
        let number = self.number;
        let mut text = format!("NI void drive{number}(void) {{\n");
        let names = |call: usize| {
            let names = self
                .parameters
                .iter()
                .map(|it| format!("{}_{call}", it.name));
            names.collect::<Vec<_>>().join(", ")
        };
        match self.form {
            Form::Method => text.push_str(&format!(
                "  C{number} o; o.tag = {}L + vi;\n",
                self.captured
            )),
            Form::Taken => text.push_str(&format!(
                "  {result} (*volatile way)({list}) = f{number};\n"
            )),
            Form::Lambda => {
                let arrow = format!("-> {result}");
                text.push_str(&format!(
                    "  long kept = {}L + vi; auto l = [kept]({list}) NI {arrow} {body};\n",
                    self.captured
                ));
            }
            _ => {}
        }
        for call in 0..CALLS {
            text.push_str("  {");
            for it in &self.parameters {
                let name = format!("{}_{call}", it.name);
                text.push(' ');
                text.push_str(&it.shape.variable(&name, &it.values[call], it.is_known));
            }
            let names = names(call);
            let called = match self.form {
                Form::Method => format!("o.f{number}({names})"),
                Form::Constructor => String::new(),
                Form::Taken if call == 1 => format!("way({names})"),
                Form::Template if self.parameters.is_empty() => format!("f{number}<1>()"),
                Form::Template => format!("f{number}<1>({names})"),
                Form::Lambda => format!("l({names})"),
                _ => format!("f{number}({names})"),
            };
            match (&self.result, self.form) {
                (_, Form::Constructor) => {
                    let class = ["C", "D"][call];
                    let arguments = if names.is_empty() {
                        String::new()
                    } else {
                        format!("({names})")
                    };
                    text.push_str(&format!(
                        " {class}{number} o{arguments}; sink += (unsigned long)o.base;"
                    ));
                }
                (Some(shape), _) if self.is_result_used => {
                    text.push_str(&format!(" {result} r = {called};"));
                    for leaf in &shape.leaves {
                        text.push(' ');
                        text.push_str(&shape.uses("r", leaf));
                    }
                }
                _ => text.push_str(&format!(" {called};")),
            }
            text.push_str(" }\n");
        }
        text.push_str("}\n");
        text
    }

    fn add_checks(&self, subject: &str, checks: &mut Vec<Check>) {
        let mut add =
            |name: &str, leaf: &Leaf, moment: Moment, values: Vec<LeafValue>, kind: String| {
                let Some(capture) = capture(name, leaf) else {
                    return;
                };
                checks.push(Check {
                    function: self.number,
                    subject: subject.to_owned(),
                    moment,
                    capture,
                    values,
                    calls: CALLS,
                    kind,
                });
            };
        for it in &self.parameters {
            for (at, leaf) in it.shape.leaves.iter().enumerate() {
                let values: Vec<LeafValue> = it.values.iter().map(|call| call[at]).collect();
                let used = if it.used[at] { "used" } else { "unused" };
                let kind = format!("{:?} {used} {}", self.form, describe(&it.shape, leaf));
                add(&it.name, leaf, Moment::Before, values.clone(), kind.clone());
                // The target of a pointer, and a copy on the stack, may have changed.
                if leaf.path.is_empty() && !it.shape.is_reference {
                    add(&it.name, leaf, Moment::After, values, kind);
                }
            }
        }
        if let Some(shape) = &self.result {
            for (leaf, value) in shape.leaves.iter().zip(&self.result_values) {
                let used = if self.is_result_used {
                    "used"
                } else {
                    "unused"
                };
                let kind = format!("{:?} result {used} {}", self.form, describe(shape, leaf));
                add("ret", leaf, Moment::After, vec![*value], kind);
            }
        }
        let own = match self.form {
            Form::Method => Some("tag"),
            Form::Lambda => Some("kept"),
            _ => None,
        };
        if let Some(own) = own {
            checks.push(Check {
                function: self.number,
                subject: subject.to_owned(),
                moment: Moment::Before,
                capture: own.to_owned(),
                values: vec![LeafValue::Integer(i128::from(self.captured))],
                calls: CALLS,
                kind: format!("{:?} own", self.form),
            });
        }
    }
}

fn describe(shape: &Shape, leaf: &Leaf) -> String {
    let whole = match shape.name.as_str() {
        name if name.contains('u') && shape.declaration.starts_with("union") => "in union",
        _ if !shape.declaration.is_empty() => "in struct",
        name if name.starts_with('v') => "in vector",
        _ if shape.is_reference => "reference",
        _ => "alone",
    };
    let kind = match leaf.kind {
        super::types::LeafKind::Integer { of, .. } => of.to_owned(),
        kind => format!("{kind:?}"),
    };
    format!("{kind} {whole}")
}
