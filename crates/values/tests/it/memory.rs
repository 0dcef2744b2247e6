//! Expressions, formats and pretty-printers over memory that the test fills: no process.

use juror_language::parse_expression;
use juror_symbols::{Type, signal_information};
use juror_values::error::ValueError;
use juror_values::expression::{ExpressionError, Scope, evaluate};
use juror_values::format::{Names, Radix, format};
use juror_values::pretty_printers::PrettyPrinters;
use juror_values::standard_types::LibraryTypes;
use juror_values::typed::{Memory, Typed};

/// The address of the first byte of [`Page`].
const START: u64 = 0x1000;
/// Offsets in [`Page`].
const NUMBERS: u64 = 0;
const POINTER: u64 = 16;
const NAME: u64 = 24;
const SIGNAL: u64 = 32;

/// The memory of a program that has four variables and no process.
struct Page {
    bytes: Vec<u8>,
    views: PrettyPrinters,
}

impl Page {
    fn new() -> Page {
        let mut bytes = vec![0; 160];
        let mut put = |at: u64, source: &[u8]| {
            let at = at as usize;
            bytes[at..at + source.len()].copy_from_slice(source);
        };
        for (index, number) in [7i32, -1, 40, 2].iter().enumerate() {
            put(NUMBERS + 4 * index as u64, &number.to_le_bytes());
        }
        put(POINTER, &(START + NUMBERS + 8).to_le_bytes());
        put(NAME, b"queue\0");
        put(SIGNAL, &11i32.to_le_bytes());
        put(SIGNAL + 8, &1i32.to_le_bytes());
        Page {
            bytes,
            views: PrettyPrinters::default(),
        }
    }

    fn evaluate(&self, text: &str) -> Result<Typed, ExpressionError> {
        let (expression, diagnostics) = parse_expression(text);
        assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
        evaluate(&expression.expect("an expression"), self)
    }

    fn shown(&self, text: &str) -> String {
        match self.evaluate(text) {
            Ok(value) => format(&value, self, self, Radix::Natural),
            Err(error) => format!("error: {error}"),
        }
    }
}

impl Memory for Page {
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        let found = address.checked_sub(START).and_then(|offset| {
            let start = usize::try_from(offset).ok()?;
            self.bytes.get(start..start.checked_add(buffer.len())?)
        });
        found
            .inspect(|bytes| buffer.copy_from_slice(bytes))
            .is_some()
    }
}

impl Names for Page {
    fn name_of(&self, _: u64) -> Option<String> {
        None
    }
    fn pretty_printers(&self) -> &PrettyPrinters {
        &self.views
    }
}

impl Scope for Page {
    fn name(&self, name: &str) -> Result<Typed, ValueError> {
        let known = |name| Type::builtin(name).ok_or("no such type");
        let (r#type, offset) = match name {
            "numbers" => (known("int")?.array_of(4), NUMBERS),
            "pointer" => (known("int")?.pointer_to(), POINTER),
            "name" => (known("char")?.array_of(8), NAME),
            "signal" => (signal_information().ok_or("no such type")?, SIGNAL),
            "lost" => (known("int")?, 0x8000),
            _ => return Err(format!("there is no `{name}`").into()),
        };
        Ok(Typed::in_memory(r#type, START + offset))
    }
    fn register(&self, name: &str) -> Result<Typed, ValueError> {
        Err(format!("there is no `${name}`").into())
    }
    fn argument(&self, _: u8) -> Result<Typed, ValueError> {
        Err("there is no call".into())
    }
    fn returned(&self) -> Result<Typed, ValueError> {
        Err("there is no call".into())
    }
    fn caller(&self) -> Result<Box<dyn Scope + '_>, ValueError> {
        Err("there is no caller".into())
    }
    fn type_named(&self, name: &str) -> Option<Type> {
        Type::builtin(name)
    }
    fn memory(&self) -> &dyn Memory {
        self
    }
    fn standard_types(&self) -> Option<&dyn LibraryTypes> {
        Some(&self.views)
    }
}

#[test]
fn expressions_read_the_memory_they_are_given() {
    let page = Page::new();
    for (text, expected) in [
        ("numbers[0] + numbers[2]", "47"),
        ("*pointer", "40"),
        ("pointer[1]", "2"),
        ("numbers[1..3]", "{-1, 40}"),
        ("numbers[1]@2", "{-1, 40}"),
        ("&numbers[1] == pointer - 1", "true"),
        ("(unsigned char)numbers[1]", "255 '\\377'"),
        ("sizeof(numbers)", "16"),
        ("len(numbers)", "4"),
        ("name == \"queue\"", "true"),
        ("name", "\"queue\""),
        ("signal.si_signo * 2", "22"),
        ("numbers[1] < 0 ? 1 : 2", "1"),
        ("lost + 1", "error: memory at 0x9000 cannot be read"),
    ] {
        assert_eq!(page.shown(text), expected, "{text}");
    }
}

#[test]
fn a_pretty_printer_decides_what_is_shown_and_what_an_index_means() {
    let mut page = Page::new();
    let rule = "view struct siginfo as list {\n    element si_signo\n    element si_code\n}\n";
    assert_eq!(page.views.add("signal.views", rule), Ok(1));
    assert_eq!(page.shown("signal"), "{11, 1}");
    assert_eq!(page.shown("signal[1]"), "1");
    assert_eq!(
        page.shown("signal[2]"),
        "error: there is no 2 in it: it has 2 elements"
    );
}

/// A value that is cast to another type in place keeps its address.
#[test]
fn a_cast_says_what_memory_is_seen_as() {
    let page = Page::new();
    for (text, expected) in [
        ("(short[2])numbers[1]", "{-1, -1}"),
        ("&((short[2])numbers[1])[1]", "0x1006"),
        ("(unsigned char &)numbers[1] + 0", "255"),
        ("(int)signal", "11"),
        ("&(int)signal", "0x1020"),
    ] {
        assert_eq!(page.shown(text), expected, "{text}");
    }
    let reference = page.evaluate("(unsigned char &)numbers[1]");
    let reference = reference.expect("a value").r#type;
    assert_eq!(reference.name(), "unsigned char &");
}

/// Contiguous elements stay in place; others are copied.
#[test]
fn elements_of_a_view_are_an_array() {
    for (second, whole, address) in [
        ("si_errno", "{11, 0}", "0x1020"),
        (
            "si_code",
            "{11, 1}",
            "error: this value is not in memory, so it has no address",
        ),
    ] {
        let mut page = Page::new();
        let rule = format!(
            "view struct siginfo as list {{\n    element si_signo\n    element {second}\n}}\n"
        );
        assert_eq!(page.views.add("signal.views", &rule), Ok(1));
        assert_eq!(page.shown("signal[0..2]"), whole, "{second}");
        assert_eq!(page.shown("&signal[0..2]"), address, "{second}");
    }
}

/// A view evaluates `let` at once: if it cannot, the fields are shown.
#[test]
fn a_view_that_takes_what_cannot_be_read_is_not_used() {
    for (expression, expected) in [("si_signo", "{1}"), ("*(int *)1", "{si_signo = 11, ")] {
        let mut page = Page::new();
        let rule = format!(
            "view struct siginfo as list {{\n    let n = {expression}\n    element si_code\n}}\n"
        );
        assert_eq!(page.views.add("signal.views", &rule), Ok(1));
        let shown = page.shown("signal");
        assert!(shown.starts_with(expected), "{expression}: {shown}");
    }
}

#[test]
fn a_snapshot_keeps_what_memory_held() {
    let mut page = Page::new();
    let kept = page
        .evaluate("numbers")
        .expect("a value")
        .with_snapshot(&page);
    page.bytes[NUMBERS as usize] = 9;
    let shown = |value: &Typed| format(value, &page, &page, Radix::Natural);
    assert_eq!(shown(&kept), "{7, -1, 40, 2}");
    assert_eq!(shown(&kept.without_snapshot()), "{9, -1, 40, 2}");
}

#[test]
fn a_scope_that_says_nothing_of_functions_has_none() {
    let page = Page::new();
    assert_eq!(page.function_linked("main"), None);
    assert!(page.functions_of("node", "next").is_empty());
    assert!(page.overloads("main").is_empty());
    assert!(page.functions_in("std", "swap").is_empty());
    assert!(Scope::type_of_table(&page, START).is_none());
    assert!(!page.is_cpp());
    assert_eq!(page.decided(&(0..1)), None);
    assert!(page.returned_from(&(0..1)).is_none());
    let int = Type::builtin("int").expect("a type");
    assert!(page.class_name(&int, "count").is_none());
    assert_eq!(page.shown("main(1)"), "error: there is no `main`");
}
