//! Values of a trace without declarations: by position, and where a guard converts them.

use super::*;

/// Returns a property whose only event is checked by this guard.
fn guarded(event: &str, guard: &str) -> Arc<Property> {
    let source =
        format!("property p\nevent e = {event}\nstate s accepting {{ on e when {guard} -> s }}\n");
    let (mut properties, diagnostics) = juror_language::load(&source);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    Arc::new(properties.remove(0))
}

/// Checks all captures of an event, the guard's after those that it declares, in a trace
/// whose values have these names and are 301, 302, ….
#[track_caller]
fn check_all(property: &Arc<Property>, keys: &[&str], declared: bool, expected: &[Value]) {
    let values: Vec<Value> = (301..).take(keys.len()).map(Value::Int).collect();
    let mut binding = Binding::new(Arc::clone(property));
    binding.add(&layout("before f", keys, declared.then_some(&[])));
    let found = binding.events(0).first().expect("it is the same event");
    let mut captures = Vec::new();
    found.fill(&given_of(&values), u64::MAX, &mut captures);
    assert_eq!(captures, expected, "{keys:?}");
}

#[test]
fn a_parameter_is_found_by_its_position_among_the_parameters() {
    let int = Value::Int;
    let event = "before f(a, k = arg 7, b: u8, n = a->n, c)";
    let property = guarded(event, "a > 0 && b > 0 && c > 0 && k > 0 && n > 0");
    let plain = ["arg 1", "arg 2", "arg 3"];
    check_all(
        &property,
        &plain,
        false,
        &[int(301), ABSENT, int(46), ABSENT, int(303)],
    );
    // Names come first.
    let mixed = ["arg 3", "arg 1", "b", "k"];
    check_all(
        &property,
        &mixed,
        false,
        &[int(302), int(304), int(47), ABSENT, int(301)],
    );
    // juror names what it reads.
    check_all(&property, &plain, true, &[ABSENT; 5]);
}

#[test]
fn what_a_guard_converts_may_have_the_name_of_a_parameter() {
    let int = Value::Int;
    let property = guarded("before f(a, b: u16)", "(char)b > 0");
    let keys = ["arg 1", "arg 2", "arg 3"];
    check_all(&property, &keys, false, &[int(301), int(302), int(46)]);
    check_all(&property, &["b"], false, &[ABSENT, int(301), int(45)]);
    check_all(&property, &["c"], false, &[ABSENT; 3]);
    let property = guarded("before f(a = arg 2, b = arg 1)", "(char)b > 0");
    check_all(
        &property,
        &["a", "b"],
        false,
        &[int(301), int(302), int(46)],
    );
    check_all(&property, &["a", "b"], true, &[ABSENT; 3]);
    // A variable of the program is no parameter, and two names are two values.
    let property = guarded("before f(a, b: u8 = a)", "lib::x > 0");
    check_all(
        &property,
        &["arg 1", "arg 2", "arg 3"],
        false,
        &[int(301), int(46), ABSENT],
    );
    let property = guarded("before f(a: u16 = arg 1, b: u8 = arg 1)", "a > 0 && b > 0");
    check_all(&property, &["b"], false, &[ABSENT, int(45)]);
}
