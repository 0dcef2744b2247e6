//! Arbitrary expressions of the prompt, over values of all C types, formatted in all
//! formats.

use crate::noise::Noise;
use juror_language::parse_expression;
use juror_symbols::{Memory, SymbolFile, Type};
use juror_values::error::ValueError;
use juror_values::expression::{Assignment, Scope, evaluate, is_true};
use juror_values::format::{Names, Radix, format};
use juror_values::pretty_printers::PrettyPrinters;
use juror_values::standard_types::LibraryTypes;
use juror_values::typed::Typed;
use std::sync::LazyLock;

/// A compiled program for structures and unions, named by `run`. Without one there are only
/// the basic types.
static PROGRAM: LazyLock<Option<SymbolFile>> = LazyLock::new(|| {
    let path = std::env::var_os("JUROR_FUZZ_PROGRAM")?;
    Some(SymbolFile::open(path).expect("JUROR_FUZZ_PROGRAM is a program"))
});

struct Everything;

const MEMORY: Noise = Noise { seed: 2 };

fn type_named(name: &str) -> Option<Type> {
    let own = PROGRAM.as_ref().and_then(|file| file.type_named(name));
    own.or_else(|| Type::builtin(name))
}

impl Scope for Everything {
    fn name(&self, name: &str) -> Result<Typed, ValueError> {
        let known = |name| type_named(name).unwrap_or(Type::void());
        let r#type = match name {
            "a" => known("int").array_of(8),
            "b" => known("bool"),
            "c" => known("char"),
            "d" => known("double"),
            "f" => known("float"),
            "h" => known("char").array_of(u64::MAX),
            "i" => known("int"),
            "l" => known("unsigned long"),
            "p" => known("int").pointer_to(),
            "q" => known("char").pointer_to().pointer_to(),
            "s" => known("struct list"),
            "t" => known("struct list").pointer_to(),
            "u" => known("char").pointer_to(),
            "v" => Type::void().pointer_to(),
            "w" => Type::void(),
            "z" => known("char").array_of(0),
            "missing" => return Ok(Typed::missing(known("int"), "optimized out")),
            "short" => return Ok(Typed::of_bytes(known("long"), vec![1, 2, 3])),
            _ => return Err(format!("there is no `{name}`").into()),
        };
        Ok(Typed::in_memory(
            r#type,
            0x4000 + u64::from(name.as_bytes()[0]),
        ))
    }
    fn register(&self, name: &str) -> Result<Typed, ValueError> {
        Typed::of_integer(name.len() as i128 - 2).ok_or_else(|| "".into())
    }
    fn argument(&self, position: u8) -> Result<Typed, ValueError> {
        Typed::of_integer(i128::from(u64::MAX) - i128::from(position)).ok_or_else(|| "".into())
    }
    fn returned(&self) -> Result<Typed, ValueError> {
        self.name("t")
    }
    fn caller(&self) -> Result<Box<dyn Scope + '_>, ValueError> {
        Ok(Box::new(Everything))
    }
    fn standard_types(&self) -> Option<&dyn LibraryTypes> {
        Some(PrettyPrinters::standard())
    }
    fn type_named(&self, name: &str) -> Option<Type> {
        type_named(name)
    }
    fn memory(&self) -> &dyn Memory {
        &MEMORY
    }
    fn assign(&self, assignment: Assignment) -> Result<Typed, ValueError> {
        Ok(assignment.target.unwrap_or(assignment.value))
    }
}

impl Names for Everything {
    fn name_of(&self, address: u64) -> Option<String> {
        address.is_multiple_of(3).then(|| format!("name+{address}"))
    }
}

/// Runs the target with an input.
pub fn fuzz(bytes: &[u8]) {
    let Ok(source) = std::str::from_utf8(bytes) else {
        return;
    };
    let (expression, diagnostics) = parse_expression(source);
    for diagnostic in &diagnostics {
        assert!(
            source.get(diagnostic.span.clone()).is_some(),
            "{diagnostic:?}"
        );
    }
    let Some(expression) = expression else {
        return;
    };
    let _ = is_true(&expression, &Everything);
    match evaluate(&expression, &Everything) {
        Ok(value) => {
            for radix in [
                Radix::Natural,
                Radix::Hexadecimal,
                Radix::Decimal,
                Radix::Unsigned,
            ] {
                format(&value, &MEMORY, &Everything, radix);
            }
            let _ = value.to_value(&MEMORY);
        }
        Err(error) => assert!(source.get(error.span.clone()).is_some(), "{error:?}"),
    }
}
