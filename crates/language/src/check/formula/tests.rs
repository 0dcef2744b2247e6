use super::*;

#[test]
fn literals_and_their_negatives_are_constants() {
    let of = |text: &str| {
        let (expression, diagnostics) = crate::parse_expression(text);
        assert_eq!(diagnostics, [], "{text}");
        constant_value(&expression.expect("an expression"))
    };
    for (text, expected) in [
        ("7", Value::Int(7)),
        ("-7", Value::Int(-7)),
        ("- -7", Value::Int(7)),
        ("1.5", Value::Float(1.5)),
        ("-1.5", Value::Float(-1.5)),
        ("\"a\"", Value::String("a".into())),
        ("true", Value::Bool(true)),
        ("false", Value::Bool(false)),
        ("nullptr", Value::Address(0)),
    ] {
        assert_eq!(of(text), Some(expected), "{text}");
    }
    for text in ["x", "-x", "-true", "-\"a\"", "1 + 2", "~7"] {
        assert_eq!(of(text), None, "{text}");
    }
}
