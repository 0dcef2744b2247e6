//! Values whose types compilers have described.

use juror_symbols::{SymbolFile, Type};
use juror_testing::is_installed;
use juror_values::error::ValueError;
use juror_values::expression::request::Request;
use juror_values::expression::{Scope, evaluate};
use juror_values::format::{Names, Radix, format, summary};
use juror_values::pretty_printers::PrettyPrinters;
use juror_values::standard_types::LibraryTypes;
use juror_values::typed::{Memory, Typed};
use std::collections::BTreeMap;
use std::process::Command;

/// The address of the first variable; each has a page of its own.
const START: u64 = 0x10_0000;
const PAGE: u64 = 0x1000;
/// The address of a table of methods.
const TABLE: u64 = 0x9000;
/// The address of every function.
const CODE: u64 = 0x4000;

const SHARED: [&str; 3] = ["-g", "-shared", "-fPIC"];

/// The global variables of a program, with the bytes that they are given.
struct Compiled {
    file: SymbolFile,
    variables: BTreeMap<String, (Type, Vec<u8>)>,
    /// The concrete type that the table of methods belongs to.
    concrete: Option<Type>,
    views: PrettyPrinters,
}

impl Compiled {
    fn new(command: &str, file: &str, source: &str, options: &[&str]) -> Compiled {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join(file);
        std::fs::write(&path, source).expect("a source");
        let library = directory.path().join("library.so");
        let mut compiler = Command::new(command);
        let compiler = compiler.args(options).arg("-o").arg(&library).arg(&path);
        let output = compiler.output().expect("a compiler");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        Compiled {
            file: SymbolFile::open(&library).expect("a library"),
            variables: BTreeMap::new(),
            concrete: None,
            views: PrettyPrinters::standard().clone(),
        }
    }

    fn set(&mut self, name: &str, bytes: &[u8]) {
        let found = self.file.globals_named(name);
        let r#type = found.first().expect(name).r#type.clone();
        self.variables
            .insert(name.to_owned(), (r#type, bytes.to_vec()));
    }

    fn address(&self, name: &str) -> u64 {
        let position = self.variables.keys().position(|known| known == name);
        START + PAGE * position.expect(name) as u64
    }

    fn summary(&self, name: &str) -> String {
        let value = self.name(name).expect("a variable");
        summary(&value, self, self, Radix::Natural, false)
    }

    fn shown(&self, text: &str) -> String {
        let (expression, _) = juror_language::parse_expression(text);
        match evaluate(&expression.expect("an expression"), self) {
            Ok(value) => format(&value, self, self, Radix::Natural),
            Err(error) => format!("error: {error}"),
        }
    }
}

impl Memory for Compiled {
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        let bytes = |number: u64| {
            let mut variables = self.variables.values();
            variables.nth(usize::try_from(number).ok()?)
        };
        let found = address.checked_sub(START).and_then(|offset| {
            let (_, bytes) = bytes(offset / PAGE)?;
            let start = usize::try_from(offset % PAGE).ok()?;
            bytes.get(start..start.checked_add(buffer.len())?)
        });
        found
            .inspect(|bytes| buffer.copy_from_slice(bytes))
            .is_some()
    }
}

impl Names for Compiled {
    fn name_of(&self, _: u64) -> Option<String> {
        None
    }
    fn pretty_printers(&self) -> &PrettyPrinters {
        &self.views
    }
}

impl Scope for Compiled {
    fn name(&self, name: &str) -> Result<Typed, ValueError> {
        let (r#type, _) = self.variables.get(name).ok_or("no such variable")?;
        Ok(Typed::in_memory(r#type.clone(), self.address(name)))
    }
    fn register(&self, _: &str) -> Result<Typed, ValueError> {
        Err("no registers".into())
    }
    fn argument(&self, _: u8) -> Result<Typed, ValueError> {
        Err("no call".into())
    }
    fn returned(&self) -> Result<Typed, ValueError> {
        Err("no call".into())
    }
    fn caller(&self) -> Result<Box<dyn Scope + '_>, ValueError> {
        Err("no caller".into())
    }
    fn type_named(&self, name: &str) -> Option<Type> {
        self.file.type_named(name)
    }
    fn memory(&self) -> &dyn Memory {
        self
    }
    fn standard_types(&self) -> Option<&dyn LibraryTypes> {
        Some(&self.views)
    }
    fn type_of_table(&self, address: u64) -> Option<Type> {
        self.concrete.clone().filter(|_| address == TABLE)
    }
    fn function_linked(&self, _: &str) -> Option<u64> {
        Some(CODE)
    }
    fn call(&self, _: Request) -> Result<Typed, ValueError> {
        Ok(Typed::of_integer(42).ok_or("no number")?)
    }
}

#[test]
fn each_step_of_a_complex_product_is_rounded_to_the_type_of_the_parts() {
    let source = "float _Complex f, g; double _Complex d, e;";
    let mut program = Compiled::new("gcc", "complex.c", source, &SHARED);
    let (f, g) = ([1.1_f32, 2.3], [3.7_f32, 1.7]);
    let bytes = |parts: [f32; 2]| parts.map(f32::to_le_bytes).concat();
    program.set("f", &bytes(f));
    program.set("g", &bytes(g));
    let in_doubles = f64::from(f[0]) * f64::from(g[0]) - f64::from(f[1]) * f64::from(g[1]);
    let real = f[0] * g[0] - f[1] * g[1];
    // Otherwise the rounding would not be observable.
    assert_ne!(real, in_doubles as f32);
    assert_eq!(program.shown("__real__(f * g)"), format!("{real}"));
    let (d, e) = ([1.1_f64, 2.3], [3.7_f64, 1.7]);
    let bytes = |parts: [f64; 2]| parts.map(f64::to_le_bytes).concat();
    program.set("d", &bytes(d));
    program.set("e", &bytes(e));
    let real = d[0] * e[0] - d[1] * e[1];
    assert_eq!(program.shown("__real__(d * e)"), format!("{real}"));
}

/// Bit offsets count from the first byte of the field.
#[test]
fn bit_fields_are_read_from_the_bytes_that_hold_them() {
    let source = "struct flags { unsigned a : 3, b : 7, c : 9, d : 13; };
        struct flags flags;";
    let mut compiled = Compiled::new("gcc", "flags.c", source, &SHARED);
    let bits: u32 = 5 | 99 << 3 | 300 << 10 | 5000 << 19;
    compiled.set("flags", &bits.to_le_bytes());
    for (text, expected) in [
        ("flags.a", "5"),
        ("flags.b", "99"),
        ("flags.c", "300"),
        ("flags.d", "5000"),
        ("flags", "{a = 5, b = 99, c = 300, d = 5000}"),
    ] {
        assert_eq!(compiled.shown(text), expected, "{text}");
    }
}

#[test]
fn methods_of_a_class_are_those_that_it_declares() {
    let source = "struct counter { int count; int get() { return count; } };
         counter total; int main() { return total.get(); }";
    let mut program = Compiled::new("g++", "counter.cpp", source, &SHARED);
    program.set("total", &[7, 0, 0, 0]);
    assert_eq!(program.shown("total.count"), "7");
    assert_eq!(program.shown("total.get()"), "42");
    assert!(program.shown("total.put()").starts_with("error: "));
}

#[test]
fn a_trait_object_is_what_its_table_says() {
    if !is_installed("rustc") {
        return;
    }
    let source = "pub trait Shape: Sync { fn side(&self) -> u64; }
         pub struct Square { pub width: u64 }
         impl Shape for Square { fn side(&self) -> u64 { self.width } }
         static SQUARE: Square = Square { width: 9 };
         #[unsafe(no_mangle)] pub static SHAPE: &dyn Shape = &SQUARE;
         #[unsafe(no_mangle)] pub static PLACE: Square = Square { width: 9 };
         #[unsafe(no_mangle)] pub static LARGE: u128 = u128::MAX;
         #[unsafe(no_mangle)] pub static SMALL: u128 = 7;";
    let options = ["-g", "--edition=2024", "--crate-type=cdylib"];
    let mut program = Compiled::new("rustc", "shapes.rs", source, &options);
    program.set("PLACE", &9_u64.to_le_bytes());
    program.set("SHAPE", &[]);
    let object = program.address("PLACE").to_le_bytes();
    program.set("SHAPE", &[object, TABLE.to_le_bytes()].concat());
    assert!(program.shown("SHAPE.width").starts_with("error: "));
    program.concrete = Some(program.variables["PLACE"].0.clone());
    assert_eq!(program.shown("SHAPE.width"), "9");
    assert_eq!(program.shown("PLACE.width"), "9");
    // Rust's numbers without sign do not wrap.
    program.set("LARGE", &u128::MAX.to_le_bytes());
    program.set("SMALL", &7_u128.to_le_bytes());
    let beyond = "error: the result is larger than 16 bytes hold";
    assert_eq!(program.shown("-LARGE"), beyond);
    assert_eq!(program.shown("-SMALL"), "-7");
    assert_eq!(program.shown("~SMALL"), format!("{}", !7_u128));
}

#[test]
fn summaries_tell_that_parts_are_left_out() {
    let members: String = (0..90).map(|it| format!("int member_{it};")).collect();
    let bases: Vec<String> = (0..90).map(|it| format!("Base<{it}>")).collect();
    let source = format!(
        "struct Wide {{ {members} }} wide; struct Few {{ int first, last; }} few;
         template <int> struct Base {{ int value; }};
         struct Derived : {} {{ int last; }} derived;
         struct Ends {{ int first; char text[190]; }} ends;
         struct Goes {{ int first; char text[190]; int last; }} goes;",
        bases.join(", ")
    );
    let mut program = Compiled::new("g++", "wide.cpp", &source, &SHARED);
    for name in ["wide", "few", "derived", "ends", "goes"] {
        let text = b"xy".iter().copied().cycle();
        let bytes: Vec<u8> = [1, 2, 3, 4].into_iter().chain(text).take(400).collect();
        program.set(name, &bytes);
    }
    for name in ["wide", "derived", "goes"] {
        let (whole, short) = (program.shown(name), program.summary(name));
        let start = short.strip_suffix(", ...}").expect(&short);
        let rest = whole.strip_prefix(start).expect(&short);
        assert!(rest.starts_with(", "), "{name}: {rest}");
        assert!((200..240).contains(&start.len()), "{name}: {short}");
    }
    for name in ["few", "ends"] {
        assert_eq!(program.summary(name), program.shown(name));
    }
}

#[test]
fn summaries_of_structures_of_rust_tell_that_fields_are_left_out() {
    if !is_installed("rustc") {
        return;
    }
    let fields: String = (0..90).map(|it| format!("field_{it}: i32,")).collect();
    let values: String = (0..90).map(|it| format!("field_{it}: {it},")).collect();
    let source = format!(
        "#[repr(C)] pub struct Wide {{ {fields} }}
         #[unsafe(no_mangle)] pub static WIDE: Wide = Wide {{ {values} }};"
    );
    let options = ["-g", "--edition=2024", "--crate-type=cdylib"];
    let mut program = Compiled::new("rustc", "wide.rs", &source, &options);
    let bytes: Vec<u8> = (0..90_i32).flat_map(i32::to_le_bytes).collect();
    program.set("WIDE", &bytes);
    let (whole, short) = (program.shown("WIDE"), program.summary("WIDE"));
    let start = short.strip_suffix(", ...}").expect(&short);
    let rest = whole.strip_prefix(start).expect(&short);
    assert!(rest.starts_with(", field_"), "{rest}");
}

#[test]
fn members_of_base_classes_are_named_by_their_class() {
    let source = "namespace ns { struct Named { int length; }; }
         template <class T> struct Shape : ns::Named { T length; };
         struct Square : Shape<int> { int length; };
         struct Framed { int color; Square square; } framed; Framed *frame;
         Square &square = framed.square;";
    let mut program = Compiled::new("g++", "named.cpp", source, &SHARED);
    let bytes = [9_i32, 5, 4, 3].map(i32::to_le_bytes).concat();
    program.set("frame", &[]);
    program.set("framed", &bytes);
    program.set("square", &[]);
    let framed = program.address("framed");
    program.set("frame", &framed.to_le_bytes());
    program.set("square", &(framed + 4).to_le_bytes());
    for (text, expected) in [
        ("framed.square.length", "3"),
        ("framed.square.Shape<int>::length", "4"),
        ("framed.square.ns::Named::length", "5"),
        ("frame->square.ns::Named::length", "5"),
        ("(&frame->square)->Shape<int>::length", "4"),
        ("square.Shape<int>::length", "4"),
        ("(*frame).square.Square::length", "3"),
    ] {
        assert_eq!(program.shown(text), expected, "{text}");
    }
    let error = program.shown("frame->square.Framed::color");
    assert!(error.contains("has no base class `Framed`"), "{error}");
}
