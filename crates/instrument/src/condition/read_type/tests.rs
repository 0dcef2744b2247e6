//! Tests which reads no event can represent, and what is suggested instead.

use super::super::node::Word;
use super::super::operand::{Operand, OperandLocation, Unknown};
use super::*;

/// A variable `x` of a type, in memory.
struct Variable(Type);

impl Names for Variable {
    fn name(&self, name: &str) -> Result<Operand, Unknown> {
        if name != "x" {
            return Err(Unknown::Missing(format!("there is no `{name}`").into()));
        }
        let location = OperandLocation::Memory(Word::Constant(0x1000));
        Ok(Operand::new(self.0.clone(), location))
    }

    fn register(&self, _: &str) -> Result<Operand, Unknown> {
        Err(Unknown::UntilHit)
    }

    fn argument(&self, _: u8) -> Result<Operand, Unknown> {
        Err(Unknown::UntilHit)
    }

    fn type_named(&self, name: &str) -> Option<Type> {
        Type::builtin(name)
    }

    fn type_of_name(&self, name: &str) -> Option<Type> {
        (name == "x").then(|| self.0.clone())
    }
}

fn int() -> Type {
    Type::builtin("int").expect("a type")
}

fn structure() -> Type {
    juror_symbols::signal_information().expect("a structure")
}

/// Returns the suggestions for a read that no event can represent.
fn instead(r#type: Type, read: &str) -> Option<Vec<String>> {
    let (expression, _) = juror_language::parse_expression(read);
    let expression = expression.expect("an expression");
    no_value(&expression, read, &Variable(r#type)).map(|found| found.instead)
}

#[test]
fn numbers_addresses_and_sequences_are_values_of_an_event() {
    for r#type in [
        int(),
        int().pointer_to(),
        int().array_of(3),
        structure().pointer_to(),
    ] {
        let name = r#type.name();
        assert_eq!(instead(r#type, "x"), None, "{name}");
    }
}

#[test]
fn a_part_or_the_address_of_a_structure_is_suggested() {
    let expected = ["a part, `x.si_signo`", "its address, `&x`"];
    assert_eq!(
        instead(structure(), "x").as_deref(),
        Some(&expected.map(str::to_owned)[..])
    );
    // A prefix binds less than a suffix.
    let behind = instead(structure().pointer_to(), "*x").expect("a structure");
    assert_eq!(behind, ["a part, `(*x).si_signo`", "its address, `&(*x)`"]);
}

#[test]
fn a_part_of_an_element_and_the_number_of_elements_are_suggested() {
    let found = instead(structure().array_of(4), "x").expect("an array of structures");
    let expected = [
        "a part, `x[0].si_signo`",
        "how many there are, `len(x)`",
        "its address, `&x`",
    ];
    assert_eq!(found, expected);
    let range = instead(structure().array_of(4), "x[1..3]").expect("a range of structures");
    assert_eq!(range, ["a part, `x[1].si_signo`"]);
}

#[test]
fn a_pointer_to_a_member_is_compared_with_a_member() {
    let pointer = int().member_pointer_of(&structure());
    let found = instead(pointer, "x").expect("a pointer to a member");
    assert!(
        found
            .iter()
            .any(|it| it.contains("`x == &") && it.ends_with("::NAME`"))
    );
}

#[test]
fn only_arrays_and_containers_have_a_length() {
    let names = Variable(int());
    assert!(may_have_length(&int().array_of(2), &names));
    for r#type in [int(), int().pointer_to(), structure()] {
        assert!(!may_have_length(&r#type, &names), "{}", r#type.name());
    }
}

#[test]
fn internals_of_a_library_are_not_suggested() {
    for (name, expected) in [
        ("count", true),
        ("_M_impl", false),
        ("__begin_", false),
        ("__0", true),
        ("__12", true),
        ("__", false),
    ] {
        assert_eq!(is_for_people(name), expected, "{name}");
    }
}

#[test]
fn a_key_is_suggested_for_numbers_alone_if_the_type_is_no_text() {
    let names = Variable(int());
    assert_eq!(key_of(&int(), &names), Some("7"));
    assert_eq!(key_of(&structure(), &names), None);
    assert_eq!(key_of(&int().pointer_to(), &names), None);
}

#[test]
fn the_type_of_a_read_is_that_of_its_last_step() {
    let type_of_read = |r#type: Type, read: &str| {
        let (expression, _) = juror_language::parse_expression(read);
        let found = value_type(&expression.expect("an expression"), &Variable(r#type));
        found.map(|it| it.name())
    };
    let rows = || int().array_of(2).array_of(3);
    assert_eq!(type_of_read(rows(), "x[1][0]").as_deref(), Some("int"));
    let field = type_of_read(structure().pointer_to(), "x->si_code");
    assert_eq!(field.as_deref(), Some("int"));
    let referent = type_of_read(int().reference_to(), "x");
    assert_eq!(referent.as_deref(), Some("int"));
    assert_eq!(type_of_read(int(), "y"), None);
}
