use super::*;

fn constant(word: u64) -> Chain {
    Chain::new(Origin::Constant(word))
}

#[test]
fn registers_are_encoded_as_in_instructions() {
    // DWARF: rdx, rcx, rsi, rdi, rbp, rsp; the processor: 2, 1, 6, 7, 5, 4.
    for (dwarf, encoded) in [(1, 2), (2, 1), (4, 6), (5, 7), (6, 5), (7, 4), (12, 12)] {
        let found = Chain::register(dwarf).map(|it| it.origin);
        assert_eq!(found, Ok(Origin::Register(encoded)), "{dwarf}");
    }
    assert!(Chain::register(16).is_err(), "the program counter");
}

#[test]
fn a_distance_has_to_fit_into_an_operand() {
    assert!(Chain::stack(DISTANCE_MAX - 1).is_ok());
    assert!(Chain::stack(-DISTANCE_MAX).is_ok());
    assert_eq!(Chain::stack(DISTANCE_MAX).err(), Some(TOO_FAR));
    assert_eq!(Chain::stack(-DISTANCE_MAX - 1).err(), Some(TOO_FAR));
    let far = constant(0).behind(DISTANCE_MAX).and_then(|it| it.load(8));
    assert_eq!(far.err(), Some(TOO_FAR));
    let sum = constant(0).behind(i64::MAX).and_then(|it| it.behind(1));
    assert_eq!(sum.err(), Some(TOO_FAR));
}

#[test]
fn a_load_takes_the_offset_and_begins_a_new_one() {
    let chain = constant(0x1000).behind(8).and_then(|it| it.behind(-4));
    let chain = chain.and_then(|it| it.load(8)).and_then(|it| it.behind(16));
    let found = chain.and_then(|it| it.load(2)?.value(2, WordKind::Signed));
    let expected = WordCapture {
        origin: Origin::Constant(0x1000),
        reads: vec![4, 16],
        bytes: 2,
        kind: WordKind::Signed,
    };
    assert_eq!(found, Ok(expected));
}

#[test]
fn only_a_word_of_eight_bytes_is_followed() {
    let short = constant(0).load(4).and_then(|it| it.load(8));
    assert!(short.is_err());
    assert!(constant(0).load(8).and_then(|it| it.load(4)).is_ok());
}

#[test]
fn a_value_has_the_size_of_its_load() {
    let kind = WordKind::Unsigned;
    assert!(constant(0).value(3, kind).is_err(), "an unusual size");
    let loaded = |size, bytes| constant(0).load(size).and_then(|it| it.value(bytes, kind));
    assert!(loaded(4, 4).is_ok());
    assert!(loaded(8, 4).is_err() && loaded(4, 8).is_err());
    // The low bytes of a word that is not loaded are taken as they are.
    assert!(constant(0).value(4, kind).is_ok());
}

#[test]
fn an_offset_at_the_end_is_part_of_a_known_address() {
    let kind = WordKind::Address;
    let origin = |chain: Result<Chain, &'static str>| {
        chain
            .and_then(|it| it.behind(8)?.value(8, kind))
            .map(|it| it.origin)
    };
    assert_eq!(origin(Ok(constant(16))), Ok(Origin::Constant(24)));
    assert_eq!(origin(Chain::stack(-16)), Ok(Origin::Stack(-8)));
    assert!(origin(Chain::register(5)).is_err());
    assert!(origin(constant(16).load(8)).is_err());
}
