use super::*;
use crate::typed::Partial;

struct Nothing;
impl Memory for Nothing {
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        let text = b"hi\x1b\0";
        match text.get((address.wrapping_sub(0x100)) as usize..) {
            Some(rest) if rest.len() >= buffer.len() => {
                buffer.copy_from_slice(&rest[..buffer.len()]);
                true
            }
            _ => false,
        }
    }
}
impl Names for Nothing {
    fn name_of(&self, address: u64) -> Option<String> {
        (address == 0x4000).then(|| "main+4".to_owned())
    }
}

fn check(type_name: &str, bytes: &[u8], radix: Radix, expected: &str) {
    let mut r#type = Type::builtin(type_name.trim_end_matches('*')).unwrap_or(Type::void());
    if type_name.ends_with('*') {
        r#type = r#type.pointer_to();
    }
    let value = Typed::of_bytes(r#type, bytes.to_vec());
    assert_eq!(
        format(&value, &Nothing, &Nothing, radix),
        expected,
        "{type_name}"
    );
}

#[test]
fn formats_are_those_of_gdb() {
    use Radix::*;
    let int = |number: i32| number.to_le_bytes();
    for (type_name, bytes, radix, expected) in [
        ("unsigned char", &[200][..], Decimal, "-56"),
        ("unsigned char", &[200], Character, "200 '\\310'"),
        ("signed char", &[0x80], Address, "0xffffffffffffff80"),
        ("unsigned short", &[0xfd, 0xff], Character, "253 '\\375'"),
        ("int", &int(-2), Character, "-2 '\\376'"),
        ("int", &int(255), Character, "-1 '\\377'"),
        ("int", &int(-2), Address, "0xfffffffffffffffe"),
        ("int", &int(3), Padded, "0x00000003"),
        ("int", &int(0), Octal, "0"),
        ("int", &int(0x3fc0_0000), Float, "1.5"),
        ("int", &int(-2), Float, "-nan(0x7ffffe)"),
        ("short", &[5, 0], Float, "5"),
        ("char", b"A", String, "65 'A'"),
        ("bool", &[1], String, "true"),
        ("bool", &[1], Padded, "0x01"),
        ("float", &1.5f32.to_le_bytes(), Unsigned, "1069547520"),
        ("float", &3e10f32.to_le_bytes(), Address, "0x6fc23b000"),
        ("double", &100f64.to_le_bytes(), Character, "100 'd'"),
        (
            "double",
            &1.5f64.to_le_bytes(),
            Padded,
            "0x3ff8000000000000",
        ),
        (
            "double",
            &f64::NAN.to_le_bytes(),
            Natural,
            "nan(0x8000000000000)",
        ),
        ("char*", &0x100u64.to_le_bytes(), Address, "0x100"),
        (
            "char*",
            &0x100u64.to_le_bytes(),
            Padded,
            "0x0000000000000100",
        ),
        ("int*", &0x148u64.to_le_bytes(), Character, "72 'H'"),
    ] {
        check(type_name, bytes, radix, expected);
    }
}

#[test]
fn values_are_shown_as_c_writes_them() {
    use Radix::*;
    check("int", &(-3i32).to_le_bytes(), Natural, "-3");
    check("int", &(-3i32).to_le_bytes(), Hexadecimal, "0xfffffffd");
    check("int", &10i32.to_le_bytes(), Binary, "1010");
    check("int", &10i32.to_le_bytes(), Octal, "012");
    check("int", &(-1i32).to_le_bytes(), Unsigned, "4294967295");
    check("char", b"a", Natural, "97 'a'");
    check("char", b"\n", Natural, "10 '\\n'");
    check("unsigned char", &[200], Natural, "200 '\\310'");
    check("float", &0.1f32.to_le_bytes(), Natural, "0.1");
    check("float", &3i32.to_le_bytes(), Natural, "4e-45");
    check("float", &1.5f32.to_le_bytes(), Hexadecimal, "0x3fc00000");
    check(
        "double",
        &(-3f64).to_le_bytes(),
        Hexadecimal,
        "0xc008000000000000",
    );
    check(
        "double",
        &(-3.7f64).to_le_bytes(),
        Decimal,
        "-4607857958744122982",
    );
    check("bool", &[1], Natural, "true");
    check("double", &2.5f64.to_le_bytes(), Natural, "2.5");
    check("double", &1e300f64.to_le_bytes(), Natural, "1e300");
    check("int*", &0x4000u64.to_le_bytes(), Natural, "0x4000 <main+4>");
    check("int*", &0x4000u64.to_le_bytes(), Decimal, "16384");
    check(
        "char*",
        &0x100u64.to_le_bytes(),
        Natural,
        "0x100 \"hi\\033\"",
    );
    check("char*", &0u64.to_le_bytes(), Natural, "0x0");
    check(
        "char*",
        &0x300u64.to_le_bytes(),
        Natural,
        "0x300 <memory at 0x300 cannot be read>",
    );
    check("void*", &1u64.to_le_bytes(), Natural, "0x1");
}

#[test]
fn arrays_larger_than_memory_are_not_walked() {
    let check = |inner, outer, expected: &str| {
        let r#type = Type::builtin("int").unwrap();
        let r#type = r#type.array_of(inner).array_of(outer);
        let value = Typed::in_memory(r#type, 0x100);
        let shown = format(&value, &Nothing, &Nothing, Radix::Natural);
        assert_eq!(shown, expected, "{inner}, {outer}");
    };
    check(u64::MAX, 5, "<array of unknown size>");
    check(1 << 61, 5, "<array of unknown size>");
    check(0, 2, "{{}, {}}");
}

/// An array of three rows of four elements; the bits of `known` say which elements are known.
fn partly_known(element: &str, known: u16) -> String {
    let element = Type::builtin(element).expect("a type");
    let size = element.size().expect("a size") as usize;
    let mut partial = Partial {
        bytes: vec![0; 12 * size],
        known: vec![0; 12 * size],
    };
    for number in (0..12).filter(|number| known >> number & 1 == 1) {
        let of = number * size..(number + 1) * size;
        partial.bytes[of.start] = b'a' + number as u8;
        partial.known[of].fill(0xff);
    }
    let value = Typed {
        location: partial.into_location(None),
        ..Typed::missing(element.array_of(4).array_of(3), "")
    };
    format(&value, &Nothing, &Nothing, Radix::Natural)
}

#[test]
fn unknown_elements_of_rows_are_not_zero() {
    let optimized = "<optimized out>";
    assert_eq!(
        partly_known("int", 0b1011_1111_1111),
        format!("{{{{97, 98, 99, 100}}, {{101, 102, 103, 104}}, {{105, 106, {optimized}, 108}}}}")
    );
    assert_eq!(
        partly_known("char", 0b0001_1111_0000),
        format!("{{{optimized}, \"efgh\", {{105 'i', {optimized}, {optimized}, {optimized}}}}}")
    );
}

#[test]
fn cut_texts_are_not_said_to_repeat() {
    let int = Type::builtin("int").expect("a type");
    let numbers: Vec<Typed> = (0..400_i32)
        .map(|number| Typed::of_bytes(int.clone(), (number * number).to_le_bytes().to_vec()))
        .collect();
    let mut writer = Writer::new(&Nothing, &Nothing, Radix::Natural);
    writer.length_max = 100;
    writer.elements("{", &numbers, false, "}", 0);
    assert!(!writer.text.contains("repeats"), "{}", writer.text);
    assert!(writer.text.ends_with("...}"), "{}", writer.text);
    let same: Vec<Typed> = numbers.iter().take(1).cycle().take(30).cloned().collect();
    let mut writer = Writer::new(&Nothing, &Nothing, Radix::Natural);
    writer.elements("{", &same, false, "}", 0);
    assert_eq!(writer.text, "{0 <repeats 30 times>}");
}
