//! Random functions of Rust, each called with known values.

use super::types::LeafValue;
use super::{Check, Moment, Program, Random};

/// How a function is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Generic,
    Method,
    Dynamic,
    /// A closure without an environment.
    Bare,
    /// A closure that borrows, called through `dyn FnMut`.
    Borrowing,
    /// A closure that owns a number, called through `Fn`.
    Owning,
    /// A closure that is called by value.
    Once,
}

/// A part of a value that events read.
struct Leaf {
    /// How it is reached from the name of the parameter; `*` in front for what is pointed to.
    path: String,
    value: LeafValue,
}

/// A type of Rust with the expression of a value.
struct Shape {
    name: String,
    declaration: String,
    /// A value that the compiler does not know, or knows.
    expression: String,
    leaves: Vec<Leaf>,
    /// An expression of a `u64` that uses all of the value, named `{}`.
    use_all: String,
}

const SCALARS: &[(&str, u32, bool)] = &[
    ("u8", 1, false),
    ("i8", 1, true),
    ("u16", 2, false),
    ("i16", 2, true),
    ("u32", 4, false),
    ("i32", 4, true),
    ("u64", 8, false),
    ("i64", 8, true),
    ("usize", 8, false),
];

const HEAD: &str = "#![allow(unused, improper_ctypes_definitions)]
use std::hint::black_box as b; use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
static SINK: AtomicU64 = AtomicU64::new(0);
fn add(n: u64) { SINK.store(SINK.load(Relaxed).wrapping_add(n), Relaxed); }
#[derive(Clone, Copy)] pub struct Unit;
";

/// Writes a program with `count` functions.
pub fn program(random: &mut Random, count: usize) -> Program {
    let mut source = HEAD.to_owned();
    let mut calls = String::new();
    let mut checks = Vec::new();
    for number in 0..count {
        source.push_str(&function(random, number, &mut checks));
        calls.push_str(&format!("    drive{number}();\n"));
    }
    source.push_str(&format!(
        "fn main() {{\n{calls}    std::process::exit((SINK.load(Relaxed) == 1) as i32); }}\n"
    ));
    Program { source, checks }
}

/// Returns a scalar: its type, a literal, the value, and how it is used.
fn scalar(random: &mut Random) -> (&'static str, String, LeafValue, &'static str) {
    let bits = random.next();
    match random.below(12) {
        0 => (
            "bool",
            (bits & 1 == 1).to_string(),
            LeafValue::Bool(bits & 1 == 1),
            "{} as u64",
        ),
        1 | 2 => {
            let value = (bits % 4_000_000) as f64 * 0.25 - 500_000.0;
            (
                "f64",
                format!("{value:?}"),
                LeafValue::Float(value),
                "{}.to_bits()",
            )
        }
        3 => {
            let value = (bits % 40_000) as f64 * 0.25 - 5_000.0;
            (
                "f32",
                format!("{value:?}f32"),
                LeafValue::Float(value),
                "{}.to_bits() as u64",
            )
        }
        _ => {
            let (of, bytes, is_signed) = SCALARS[random.below(SCALARS.len())];
            let unused = 64 - bytes * 8;
            let value = match is_signed {
                true => i128::from((bits << unused) as i64 >> unused),
                false => i128::from(bits << unused >> unused),
            };
            (
                of,
                format!("({value}{of})"),
                LeafValue::Integer(value),
                "{} as u64",
            )
        }
    }
}

fn shape(random: &mut Random, number: &str, is_result: bool) -> Shape {
    let (of, literal, value, used) = scalar(random);
    let alone = |path: &str| {
        vec![Leaf {
            path: path.to_owned(),
            value,
        }]
    };
    let at = |place: &str| used.replace("{}", place);
    let plain = |name: String, expression: String, leaves: Vec<Leaf>, use_all: String| Shape {
        name,
        declaration: String::new(),
        expression,
        leaves,
        use_all,
    };
    match random.below(20) {
        10 if !is_result => plain(
            format!("&'static {of}"),
            format!("Box::leak(Box::new(b({literal})))"),
            alone("*"),
            at("*{}").replace("*{}.to", "(*{}).to"),
        ),
        11 => plain(
            "u128".into(),
            format!("b({}u128)", random.next()),
            Vec::new(),
            "{} as u64".into(),
        ),
        12 => plain(
            "&'static str".into(),
            "b(\"abc\")".into(),
            Vec::new(),
            "{}.len() as u64".into(),
        ),
        13 => plain("Unit".into(), "Unit".into(), Vec::new(), "0".into()),
        14 if !is_result => plain(
            "String".into(),
            "String::from(b(\"abcd\"))".into(),
            Vec::new(),
            "{}.len() as u64".into(),
        ),
        15 => plain(
            format!("Option<{of}>"),
            format!("b(Some({literal}))"),
            Vec::new(),
            format!("{{}}.map_or(0, |v| {})", at("v")),
        ),
        16 => {
            let count = 1 + random.below(4);
            let leaves = (0..count)
                .map(|at| Leaf {
                    path: format!("[{at}]"),
                    value,
                })
                .collect();
            plain(
                format!("[{of}; {count}]"),
                format!("b([{literal}; {count}])"),
                leaves,
                at(&format!("{{}}[{}]", count - 1)),
            )
        }
        17..=19 => structure(random, number),
        _ => plain(of.to_owned(), format!("b({literal})"), alone(""), at("{}")),
    }
}

fn structure(random: &mut Random, number: &str) -> Shape {
    let count = 1 + random.below(5);
    let (mut fields, mut values, mut leaves, mut uses) = (vec![], vec![], vec![], vec![]);
    for member in 0..count {
        let (of, literal, value, used) = scalar(random);
        fields.push(format!("pub m{member}: {of}"));
        values.push(format!("m{member}: {literal}"));
        leaves.push(Leaf {
            path: format!(".m{member}"),
            value,
        });
        uses.push(format!(
            "({})",
            used.replace("{}", &format!("{{}}.m{member}"))
        ));
    }
    let name = format!("S{number}");
    Shape {
        declaration: format!(
            "#[derive(Clone, Copy)] pub struct {name} {{ {} }}\n",
            fields.join(", ")
        ),
        expression: format!("b({name} {{ {} }})", values.join(", ")),
        name,
        leaves,
        use_all: format!(
            "[{}].iter().fold(0u64, |a, v| a.wrapping_add(*v))",
            uses.join(", ")
        ),
    }
}

fn function(random: &mut Random, number: usize, checks: &mut Vec<Check>) -> String {
    let forms = [
        Form::Plain,
        Form::Plain,
        Form::Plain,
        Form::Generic,
        Form::Method,
        Form::Dynamic,
        Form::Bare,
        Form::Borrowing,
        Form::Owning,
        Form::Once,
    ];
    let form = forms[random.below(forms.len())];
    let count = [0, 1, 2, 2, 3, 3, 4, 5, 6, 8][random.below(10)];
    let mut shapes = Vec::new();
    let mut is_used = Vec::new();
    for index in 0..count {
        shapes.push(shape(random, &format!("{number}x{index}"), false));
        is_used.push(random.below(4) > 0);
    }
    let result = (random.below(4) > 0).then(|| shape(random, &format!("{number}xr"), true));
    let is_result_used = random.below(4) > 0;
    let kept = random.next() >> 1;

    let mut text = String::new();
    for it in shapes.iter().chain(&result) {
        text.push_str(&it.declaration);
    }
    let parameter = |(at, it): (usize, &Shape)| match form {
        Form::Generic if at == 0 => format!("a{at}: T"),
        _ => format!("a{at}: {}", it.name),
    };
    let list: Vec<String> = shapes.iter().enumerate().map(parameter).collect();
    let list = list.join(", ");
    let returned = result.as_ref().map_or("()", |it| &it.name);
    let mut body = format!("{{ add({}); ", 1000 + number);
    for (at, it) in shapes.iter().enumerate() {
        if is_used[at] && !(form == Form::Generic && at == 0) {
            body.push_str(&format!(
                "add({}); ",
                it.use_all.replace("{}", &format!("a{at}"))
            ));
        }
    }
    if form == Form::Generic && count > 0 {
        body.push_str("add(std::mem::size_of_val(&a0) as u64); b(&a0); ");
    }
    match form {
        Form::Method | Form::Dynamic => body.push_str("add(self.tag); "),
        Form::Borrowing => body.push_str("kept = kept.wrapping_add(1); add(other); "),
        Form::Owning | Form::Once => body.push_str("add(kept); "),
        _ => {}
    }
    match &result {
        Some(it) => body.push_str(&format!("{} }}", it.expression)),
        None => body.push('}'),
    }
    let types: Vec<&str> = shapes.iter().map(|it| it.name.as_str()).collect();
    let types = types.join(", ");
    let names: Vec<String> = (0..count).map(|at| format!("a{at}")).collect();
    let names = names.join(", ");
    let with_self = if list.is_empty() {
        "&self".to_owned()
    } else {
        format!("&self, {list}")
    };
    let (subject, called) = match form {
        Form::Plain => {
            text.push_str(&format!(
                "#[inline(never)] pub fn f{number}({list}) -> {returned} {body}\n"
            ));
            (format!("f{number}"), format!("f{number}({names})"))
        }
        Form::Generic => {
            let generic = if count > 0 { "<T>" } else { "" };
            text.push_str(&format!(
                "#[inline(never)] pub fn f{number}{generic}({list}) -> {returned} {body}\n"
            ));
            (format!("f{number}"), format!("f{number}({names})"))
        }
        Form::Method | Form::Dynamic => {
            text.push_str(&format!("pub struct C{number} {{ tag: u64 }}\n"));
            if form == Form::Method {
                text.push_str(&format!("impl C{number} {{ #[inline(never)] pub fn f{number}({with_self}) -> {returned} {body} }}\n"));
                (format!("f{number}"), format!("o.f{number}({names})"))
            } else {
                text.push_str(&format!("pub trait T{number} {{ fn f{number}({with_self}) -> {returned}; }}\nimpl T{number} for C{number} {{ #[inline(never)] fn f{number}({with_self}) -> {returned} {body} }}\n"));
                (
                    format!("f{number}"),
                    format!("b(&o as &dyn T{number}).f{number}({names})"),
                )
            }
        }
        Form::Bare | Form::Borrowing => {
            text.push_str(&format!("#[inline(never)] fn call{number}(f: &mut dyn FnMut({types}) -> {returned}, {list}) -> {returned} {{ f({names}) }}\n"));
            (
                format!("drive{number}::{{closure#0}}"),
                format!("call{number}(&mut f, {names})"),
            )
        }
        Form::Owning | Form::Once => {
            let kind = if form == Form::Owning { "Fn" } else { "FnOnce" };
            text.push_str(&format!("#[inline(never)] fn call{number}<F: {kind}({types}) -> {returned}>(f: F, {list}) -> {returned} {{ f({names}) }}\n"));
            (
                format!("drive{number}::{{closure#0}}"),
                format!("call{number}(f, {names})"),
            )
        }
    };
    text.push_str(&format!("#[inline(never)] fn drive{number}() {{ "));
    match form {
        Form::Method | Form::Dynamic => text.push_str(&format!("let o = C{number} {{ tag: b({kept}u64) }}; ")),
        Form::Borrowing => text.push_str(&format!("let mut kept = b({kept}u64); let other = b(3u64); let mut f = |{list}| -> {returned} {body}; ")),
        Form::Bare => text.push_str(&format!("let mut f = |{list}| -> {returned} {body}; ")),
        Form::Owning | Form::Once => text.push_str(&format!("let kept = b({kept}u64); let f = move |{list}| -> {returned} {body}; ")),
        _ => {}
    }
    for (at, it) in shapes.iter().enumerate() {
        text.push_str(&format!("let a{at} = {}; ", it.expression));
    }
    match &result {
        Some(it) if is_result_used => {
            text.push_str(&format!(
                "let r = {called}; add({}); }}\n",
                it.use_all.replace("{}", "r")
            ));
        }
        _ => text.push_str(&format!("{called}; }}\n")),
    }
    let mut add = |capture: String, value: LeafValue, moment: Moment, kind: String| {
        checks.push(Check {
            function: number,
            subject: subject.clone(),
            moment,
            capture,
            values: vec![value],
            calls: 1,
            kind: format!("{form:?} {kind}"),
        });
    };
    for (at, it) in shapes.iter().enumerate() {
        let used = if is_used[at] { "used" } else { "unused" };
        for leaf in &it.leaves {
            let capture = match leaf.path.strip_prefix('*') {
                Some(path) => format!("*a{at}{path}"),
                None => format!("a{at}{}", leaf.path),
            };
            let kind = format!("{used} {}", it.name.split('x').next().unwrap_or(""));
            add(capture.clone(), leaf.value, Moment::Before, kind.clone());
            if leaf.path.is_empty() {
                add(capture, leaf.value, Moment::After, kind);
            }
        }
    }
    if let Some(it) = &result {
        let used = if is_result_used { "used" } else { "unused" };
        for leaf in &it.leaves {
            add(
                format!("ret{}", leaf.path),
                leaf.value,
                Moment::After,
                format!("result {used}"),
            );
        }
    }
    match form {
        Form::Method | Form::Dynamic => add(
            "self.tag".into(),
            LeafValue::Integer(kept.into()),
            Moment::Before,
            "own".into(),
        ),
        Form::Borrowing | Form::Owning => add(
            "kept".into(),
            LeafValue::Integer(kept.into()),
            Moment::Before,
            "own".into(),
        ),
        _ => {}
    }
    text
}
