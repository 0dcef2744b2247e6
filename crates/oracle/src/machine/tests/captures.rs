//! The values that events capture.

use super::script::{F, monitors, program};
use crate::abstract_machine::variable;
use crate::{Access, AccessMode, Debuggee, Fault};
use juror_event::{Unavailability, Value};

/// Returns the value that an event captures as `x` at the beginning of `f`, with this
/// write of `v1`; `None` if it is no event.
fn captured(event: &str) -> Result<Option<Value>, Fault> {
    let source = format!("property p\nevent e = {event}\nstate s accepting {{ on e -> s }}");
    let monitors = monitors(&[&source]);
    let mut machine = program();
    machine.set_program_counter(F).unwrap();
    let values = [
        ("v0", 300),
        ("argument1", 11),
        ("argument2", 12),
        ("result", 13),
    ];
    for (name, value) in values {
        let address = machine.address_of(name).unwrap();
        machine.write(address, value).unwrap();
    }
    let access = Access {
        address: variable(1),
        mode: AccessMode::Write,
        old: 20,
        new: 21,
    };
    let number = monitors.events().next().unwrap();
    let access = monitors
        .symbolic(number)
        .is_some_and(|it| it.kind.is_about_memory())
        .then_some(&access);
    let event = monitors.instantiate(number, access, &machine)?;
    Ok(event.map(|mut event| event.values.remove(0)))
}

#[test]
fn each_kind_of_value_is_captured() {
    let not_captured = Value::Unavailable(Unavailability::NotCaptured);
    let table = [
        ("before f(x = arg 1)", Value::Int(11)),
        ("before f(x = arg 2)", Value::Int(12)),
        ("before f(x: i64 = arg 2)", Value::Int(12)),
        ("before f(x = v0)", Value::Int(300)),
        ("before f(x: i32 = v0)", Value::Int(300)),
        ("before f(x = thread)", Value::Int(1)),
        ("before f(x = time)", not_captured),
        ("after f() returns x", Value::Int(13)),
        ("write v1 (x = value)", Value::Int(21)),
        ("write v1 (x = old)", Value::Int(20)),
        ("change v1 (x = old)", Value::Int(20)),
        ("write v1 (x = address)", Value::Address(variable(1))),
        ("write v1 (x = v0)", Value::Int(300)),
    ];
    for (event, expected) in table {
        assert_eq!(captured(event), Ok(Some(expected)), "{event}");
    }
}

#[test]
fn a_value_that_the_program_does_not_have_is_a_fault() {
    for (event, name) in [
        ("before f(x = elsewhere)", "elsewhere"),
        ("before f(x = arg 3)", "arg 3"),
    ] {
        let none = Err(Fault::NoSymbol(name.to_owned()));
        assert_eq!(captured(event), none, "{event}");
    }
}
