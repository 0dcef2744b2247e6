//! The two names of a parameter in what is read of it.

use super::super::*;

#[test]
fn a_parameter_is_renamed_wherever_it_is_read() {
    let parameters = ["queue".to_owned(), "other".to_owned()];
    let (named, by_position) = (Read::Name("other".into()), Read::Argument(2));
    let around: [fn(Box<Read>) -> Read; 6] = [
        Read::Dereference,
        Read::AddressOf,
        |inner| Read::Field(inner, "n".into()),
        |inner| Read::Index(inner, 3),
        |inner| Read::Elements(inner, 0, 3),
        |inner| Read::Convert(inner, Conversion::Address),
    ];
    for around in around {
        let (name, position) = (
            around(named.clone().into()),
            around(by_position.clone().into()),
        );
        assert_eq!(renamed(&name, &parameters), Some(position.clone()));
        assert_eq!(renamed(&position, &parameters), Some(name));
        // Of a caller, or of nothing known, it is not.
        let unknown = around(Read::Name("elsewhere".into()).into());
        assert_eq!(renamed(&unknown, &parameters), None);
    }
    for read in [
        Read::Return,
        Read::Caller(named.into()),
        Read::Thread,
        Read::Argument(0),
        Read::Argument(3),
    ] {
        assert_eq!(renamed(&read, &parameters), None, "{read}");
    }
}

#[test]
fn the_operands_of_an_operation_are_renamed_as_far_as_they_have_two_names() {
    let parameters = ["queue".to_owned()];
    let operation = |operand: Read| {
        Read::Arithmetic(Arithmetic {
            text: "$0 - $1".into(),
            operands: [operand, Read::Value].into(),
        })
    };
    let named = operation(Read::Name("queue".into()));
    let by_position = operation(Read::Argument(1));
    assert_eq!(renamed(&named, &parameters), Some(by_position.clone()));
    assert_eq!(renamed(&by_position, &parameters), Some(named));
}
