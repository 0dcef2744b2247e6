//! Tests which plan a draft ends in, over types that need no debug information.

use super::*;

fn builtin(name: &str) -> Type {
    Type::builtin(name).expect("a type")
}

fn structure() -> Type {
    juror_symbols::signal_information().expect("a structure")
}

fn part(offset: u32, size: u32, source: Source) -> Part {
    Part {
        offset,
        size,
        source,
        pointed: false,
    }
}

const fn register(number: u8) -> Source {
    Source::Register { number, shift: 0 }
}

/// Returns a draft of a value in register 5.
fn in_register(r#type: Type) -> Draft {
    Draft::new(SmallVec::from_iter([part(0, 8, register(5))]), Some(r#type))
}

/// Returns a draft of a global variable at 0x1000.
fn global(r#type: Type) -> Draft {
    let size = u32::try_from(r#type.size().expect("a size")).expect("a small one");
    let source = Source::Absolute { address: 0x1000 };
    Draft::new(SmallVec::from_iter([part(0, size, source)]), Some(r#type))
}

fn field(draft: Draft, name: &str) -> Result<Draft, CaptureError> {
    draft.field(name, &Modules::default())
}

#[track_caller]
fn check(draft: Result<Draft, CaptureError>, source: Source, follow: &[i64], decode: Decode) {
    let plan = draft.and_then(Draft::finish).expect("a plan");
    let steps: Vec<Step> = follow.iter().map(|&it| Step::Behind(it)).collect();
    assert_eq!(plan.source, source);
    assert_eq!(&*plan.follow, &*steps);
    assert_eq!(plan.decode, decode);
}

#[track_caller]
fn refused(draft: Result<Draft, CaptureError>, words: &str) -> CaptureError {
    let error = draft.and_then(Draft::finish).expect_err("a refusal");
    assert!(error.message.contains(words), "{}", error.message);
    error
}

#[test]
fn pointers_are_followed_and_fields_move_the_last_step() {
    let to_int = || in_register(builtin("int").pointer_to());
    check(to_int().dereference(), register(5), &[0], Decode::Signed(4));
    check(to_int().index(2), register(5), &[8], Decode::Signed(4));
    check(to_int().index(-1), register(5), &[-4], Decode::Signed(4));
    let to_structure = in_register(structure().pointer_to());
    let code = field(to_structure, "si_code");
    check(code, register(5), &[8], Decode::Signed(4));
    let twice = in_register(builtin("short").pointer_to().pointer_to());
    let twice = twice.dereference().and_then(|it| it.index(3));
    check(twice, register(5), &[0, 6], Decode::Signed(2));
}

#[test]
fn elements_of_an_array_move_its_location_without_a_read() {
    let at = |address| Source::Absolute { address };
    let numbers = || global(builtin("int").array_of(4));
    check(numbers().index(2), at(0x1008), &[], Decode::Signed(4));
    let rows = global(builtin("int").array_of(2).array_of(2));
    let element = rows.index(1).and_then(|row| row.index(1));
    check(element, at(0x100c), &[], Decode::Signed(4));
    refused(numbers().index(-1), "before the start");
    refused(in_register(builtin("int")).index(0), "has no elements");
    refused(numbers().index(i64::MAX), "too large");
}

#[test]
fn only_a_value_in_memory_has_an_address() {
    let at = |address| Source::Absolute { address };
    let element = global(builtin("int").array_of(4)).index(3);
    let address = element.and_then(Draft::address_of);
    check(address.clone(), at(0x100c), &[], Decode::AddressOf);
    let back = address.and_then(Draft::dereference);
    check(back, at(0x100c), &[], Decode::Signed(4));
    let behind = field(in_register(structure().pointer_to()), "si_code");
    let behind = behind.and_then(Draft::address_of);
    check(behind, register(5), &[8], Decode::AddressOf);
    refused(in_register(builtin("int")).address_of(), "in a register");
}

#[test]
fn a_number_is_not_dereferenced_at_an_event() {
    // The prompt would read the word there, so no other way is tried.
    let error = refused(in_register(builtin("int")).dereference(), "not a pointer");
    assert!(error.is_final);
    let error = refused(global(structure()).dereference(), "not a pointer");
    assert!(!error.is_final);
}

#[test]
fn a_value_without_a_type_is_a_word_without_fields() {
    let untyped = || Draft::new(SmallVec::from_iter([part(0, 8, register(5))]), None);
    check(Ok(untyped()), register(5), &[], Decode::Unsigned(8));
    let target = untyped().dereference();
    check(target, register(5), &[0], Decode::Unsigned(8));
    let error = refused(field(untyped(), "x"), "is not known");
    assert!(error.help.is_some_and(|help| help.contains("-g")));
}

#[test]
fn a_missing_field_suggests_a_near_one() {
    let error = refused(
        field(global(structure()), "si_cod"),
        "has no field `si_cod`",
    );
    assert_eq!(error.help.as_deref(), Some("did you mean `si_code`?"));
}

#[test]
fn a_field_is_read_from_the_part_that_holds_it() {
    let parts = [part(0, 8, register(5)), part(8, 8, register(4))];
    let both = Draft::new(SmallVec::from_iter(parts.clone()), Some(structure()));
    check(
        field(both.clone(), "si_code"),
        register(4),
        &[],
        Decode::Signed(4),
    );
    let high = Source::Register {
        number: 5,
        shift: 32,
    };
    check(field(both, "si_errno"), high, &[], Decode::Signed(4));
    let [first, _] = parts;
    let first = Draft::new(SmallVec::from_iter([first]), Some(structure()));
    refused(field(first, "si_code"), "is not passed");
}

#[test]
fn a_composite_that_is_passed_by_its_address_is_read_there() {
    let pointed = Part {
        pointed: true,
        ..part(0, 128, register(5))
    };
    let draft = Draft::new(SmallVec::from_iter([pointed]), Some(structure()));
    let code = field(draft.clone(), "si_code");
    check(code, register(5), &[8], Decode::Signed(4));
    check(draft.address_of(), register(5), &[0], Decode::AddressOf);
}

#[test]
fn references_are_followed_unless_their_address_is_asked_for() {
    let reference = || in_register(builtin("int").reference_to());
    check(Ok(reference()), register(5), &[0], Decode::Signed(4));
    let address = Draft {
        conversion: Some(Conversion::Address),
        ..reference()
    };
    check(Ok(address), register(5), &[], Decode::Address);
    let to_object = in_register(structure().reference_to());
    check(Ok(to_object), register(5), &[], Decode::Address);
    let to_pointer = in_register(builtin("int").pointer_to().reference_to());
    let target = to_pointer.dereference();
    check(target, register(5), &[0, 0], Decode::Signed(4));
}

#[test]
fn a_conversion_decides_how_bytes_are_decoded() {
    let text = Decode::StringPointer(Character::Byte);
    for (name, conversion, expected) in [
        ("long", Conversion::Signed { bytes: 2 }, Decode::Signed(2)),
        (
            "int",
            Conversion::Unsigned { bytes: 1 },
            Decode::Unsigned(1),
        ),
        ("int", Conversion::Bool, Decode::Bool(1)),
        ("int", Conversion::Float32, Decode::Float32),
        ("long", Conversion::Float64, Decode::Float64),
        ("long", Conversion::Address, Decode::Address),
        ("long", Conversion::String, text),
    ] {
        let draft = Draft {
            conversion: Some(conversion),
            ..in_register(builtin(name))
        };
        check(Ok(draft), register(5), &[], expected);
    }
    let array = Draft {
        conversion: Some(Conversion::String),
        ..global(builtin("char").array_of(8))
    };
    let in_place = Decode::StringInPlace {
        bytes: 8,
        character: Character::Byte,
    };
    check(
        Ok(array),
        Source::Absolute { address: 0x1000 },
        &[],
        in_place,
    );
    let structure = Draft {
        conversion: Some(Conversion::String),
        ..global(structure())
    };
    refused(Ok(structure), "is not text");
}

#[test]
fn integers_and_floating_point_numbers_are_of_other_kinds() {
    let signed = Conversion::Signed { bytes: 4 };
    for (name, conversion, expected) in [
        ("int", Some(Conversion::Float32), true),
        ("double", Some(Conversion::Float64), false),
        ("float", Some(Conversion::Float64), true),
        ("double", Some(signed), true),
        ("int", Some(signed), false),
        ("double", Some(Conversion::Address), false),
        ("double", None, false),
    ] {
        let draft = Draft {
            conversion,
            ..in_register(builtin(name))
        };
        assert_eq!(draft.is_of_other_kind(), expected, "{name} {conversion:?}");
    }
}

#[test]
fn types_of_single_values_are_decoded() {
    let text = |bytes| Decode::StringInPlace {
        bytes,
        character: Character::Byte,
    };
    for (r#type, expected) in [
        (builtin("bool"), Some(Decode::Bool(1))),
        (builtin("int"), Some(Decode::Signed(4))),
        (builtin("unsigned char"), Some(Decode::Unsigned(1))),
        (builtin("float"), Some(Decode::Float32)),
        (builtin("double"), Some(Decode::Float64)),
        (builtin("int").pointer_to(), Some(Decode::Address)),
        (builtin("int").reference_to(), Some(Decode::Address)),
        (builtin("char").array_of(4), Some(text(4))),
        (
            builtin("int").function(vec![], false),
            Some(Decode::AddressOf),
        ),
        (builtin("long double"), None),
        (builtin("__int128"), None),
        (builtin("int").array_of(2), None),
        (structure(), None),
    ] {
        let found = decode_type(&r#type, None);
        assert_eq!(found.ok(), expected, "{}", r#type.name());
    }
}

#[test]
fn bit_fields_are_decoded_from_the_bytes_that_hold_them() {
    let bits = |offset_bits, size_bits| {
        Some(BitField {
            offset_bits,
            size_bits,
        })
    };
    let signed = Decode::SignedBits {
        bytes: 1,
        shift: 3,
        bits: 5,
    };
    let unsigned = Decode::UnsignedBits {
        bytes: 2,
        shift: 3,
        bits: 6,
    };
    assert_eq!(decode_type(&builtin("int"), bits(3, 5)), Ok(signed));
    assert_eq!(
        decode_type(&builtin("unsigned int"), bits(3, 6)),
        Ok(unsigned)
    );
}

#[test]
fn a_source_is_moved_within_its_value() {
    let shifted = |shift| Source::Register { number: 5, shift };
    for (source, bytes, expected) in [
        (shifted(0), 4, shifted(32)),
        (
            Source::Frame { offset: -8 },
            4,
            Source::Frame { offset: -4 },
        ),
        (
            Source::Absolute { address: 16 },
            4,
            Source::Absolute { address: 20 },
        ),
        (
            Source::Constant { bits: 0x1234 },
            1,
            Source::Constant { bits: 0x12 },
        ),
        (
            Source::Vector {
                number: 1,
                shift: 0,
            },
            4,
            Source::Vector {
                number: 1,
                shift: 32,
            },
        ),
    ] {
        assert_eq!(moved(source, bytes), Some(expected), "{source:?} {bytes}");
        // The upper half of a register is in no word.
        let is_memory = matches!(source, Source::Frame { .. } | Source::Absolute { .. });
        assert_eq!(moved(source, 8).is_some(), is_memory, "{source:?}");
    }
}
