//! Tests which operands are compiled, and to which nodes.

use super::*;

fn builtin(name: &str) -> Type {
    Type::builtin(name).expect("a type")
}

fn structure() -> Type {
    juror_symbols::signal_information().expect("a structure")
}

fn in_memory(r#type: Type) -> Operand {
    Operand::new(r#type, OperandLocation::Memory(Word::Constant(0x1000)))
}

fn number(name: &str) -> NumberOperand {
    number_operand(in_memory(builtin(name)), &(0..0)).expect("a number")
}

fn load(bytes: u8) -> Word {
    Word::Load(Box::new(Word::Constant(0x1000)), bytes)
}

#[test]
fn a_value_with_a_fixed_location_is_an_operand() {
    let int = || builtin("int");
    let at = Operand::of(Typed::in_memory(int(), 8)).map(|it| it.location);
    assert_eq!(at, Ok(OperandLocation::Memory(Word::Constant(8))));
    let here = Operand::of(Typed::of_bytes(int(), vec![1, 2, 0, 0]));
    let bits = OperandLocation::Bits(Word::Constant(0x201));
    assert_eq!(here.map(|it| it.location), Ok(bits));
    for other in [
        Typed::of_bytes(int().array_of(3), vec![0; 12]),
        Typed::missing(int(), ValueError::OptimizedOut),
    ] {
        assert_eq!(Operand::of(other).err(), Some(Unknown::UntilHit));
    }
}

#[test]
fn numbers_are_read_by_size_and_encoding() {
    let unsigned = Reading::Unsigned { shift: 0, bits: 8 };
    for (name, bytes, reading) in [
        ("int", 4, Reading::Signed { shift: 0, bits: 32 }),
        ("unsigned char", 1, unsigned),
        ("bool", 1, Reading::Bool { shift: 0, bits: 8 }),
        ("float", 4, Reading::Float32),
        ("double", 8, Reading::Float64),
    ] {
        assert_eq!(
            number(name).node,
            Node::Read(load(bytes), reading),
            "{name}"
        );
    }
    let pointer = number_operand(in_memory(builtin("int").pointer_to()), &(0..0));
    let pointer = pointer.expect("an address");
    assert_eq!(pointer.node, Node::Read(load(8), Reading::Address));
    assert_eq!(pointer.target.map(|it| it.name()).as_deref(), Some("int"));
}

#[test]
fn values_that_are_not_one_word_are_not_compiled() {
    for name in ["long double", "__int128"] {
        let found = number_operand(in_memory(builtin(name)), &(0..0));
        assert_eq!(found.err(), Some(NotCompiled::Evaluate), "{name}");
    }
    let found = number_operand(in_memory(structure()), &(3..4)).err();
    let Some(NotCompiled::Wrong(error)) = found else {
        panic!("{found:?}");
    };
    assert_eq!(error.span, 3..4);
}

#[test]
fn a_bit_field_is_read_from_its_bytes_and_promoted() {
    let field = Operand {
        bits: Some(BitField {
            offset_bits: 3,
            size_bits: 7,
        }),
        ..in_memory(builtin("unsigned int"))
    };
    assert_eq!(
        field
            .clone()
            .type_of_number()
            .map(|it| it.name())
            .as_deref(),
        Some("int")
    );
    let found = number_operand(field, &(0..0)).expect("a number");
    let reading = Reading::Unsigned { shift: 3, bits: 7 };
    assert_eq!(found.node, Node::Read(load(2), reading));
    assert_eq!(found.r#type.name(), "int");
}

#[test]
fn a_constant_index_is_added_to_the_address() {
    let at = |index| behind(Word::Constant(0x1000), index, 8);
    let int = |number| Node::Constant(Scalar::Int(number));
    assert_eq!(at(int(3)), Word::Constant(0x1018));
    // A distance of more than 32 bits is computed at the hit.
    assert!(matches!(at(int(1 << 40)), Word::Element(..)));
    let variable = number("int").node;
    assert!(matches!(at(variable), Word::Element(..)));
}

#[test]
fn pointers_are_moved_by_sums_and_differences_alone() {
    let moved = |operator| {
        let count = Node::Constant(Scalar::Int(2));
        let pointer = Node::Read(load(8), Reading::Address);
        moved(operator, pointer, builtin("int"), count, &(0..0))
    };
    for operator in [BinaryOperator::Add, BinaryOperator::Subtract] {
        let found = moved(operator).expect("a pointer");
        assert_eq!(found.r#type.name(), "int *");
        let is_of_ints = matches!(
            &found.location,
            OperandLocation::Bits(Word::Element(_, _, 4))
        );
        assert!(is_of_ints, "{found:?}");
    }
    let product = moved(BinaryOperator::Multiply);
    assert!(matches!(product, Err(NotCompiled::Wrong(_))));
}

#[test]
fn casts_to_integers_and_pointers_are_compiled() {
    let cast_to = |r#type: Type| cast(number("int"), r#type);
    let narrow = cast_to(builtin("char")).map(|it| it.location);
    let Ok(OperandLocation::Bits(Word::Computed(node))) = narrow else {
        panic!("{narrow:?}");
    };
    assert!(matches!(
        *node,
        Node::Wrapped(_, Reading::Unsigned { shift: 0, bits: 8 })
    ));
    assert!(cast_to(builtin("int").pointer_to()).is_ok());
    let truth = cast_to(builtin("bool")).map(|it| it.r#type.name());
    assert_eq!(truth.as_deref(), Ok("bool"));
    for other in [
        builtin("double"),
        builtin("__int128"),
        Type::void(),
        structure(),
    ] {
        let name = other.name();
        assert_eq!(cast_to(other).err(), Some(NotCompiled::Evaluate), "{name}");
    }
}
