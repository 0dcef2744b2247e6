//! Tests the decisions of nodes over a page of memory.

use super::*;
use BinaryOperator::{Add, Divide, Less};

/// Memory from 0x1000 to 0x2000 that ends with "end" and its terminator.
struct Page;

impl Machine for Page {
    fn register(&self, number: u8) -> u64 {
        u64::from(number)
    }

    fn vector(&self, _: u8) -> Option<u64> {
        None
    }

    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        let end = address.saturating_add(buffer.len() as u64);
        if address < 0x1000 || end > 0x2000 {
            return false;
        }
        for (at, byte) in (address..).zip(buffer) {
            *byte = match at {
                0x1ffc => b'e',
                0x1ffd => b'n',
                0x1ffe => b'd',
                _ => 0,
            };
        }
        true
    }
}

fn int(number: i128) -> Node {
    Node::Constant(Scalar::Int(number))
}

fn float(number: f64) -> Node {
    Node::Constant(Scalar::Float(number))
}

fn truth(truth: bool) -> Box<Node> {
    Box::new(Node::Constant(Scalar::Bool(truth)))
}

/// Returns a node that cannot be read.
fn unreadable() -> Node {
    let word = Word::Load(Box::new(Word::Constant(8)), 8);
    Node::Read(word, Reading::Address)
}

fn binary(operator: BinaryOperator, overflow: Overflow, left: Node, right: Node) -> Node {
    Node::Binary(operator, overflow, Box::new(left), Box::new(right))
}

#[test]
fn offsets_of_an_address_are_added_up() {
    let register = Word::Register(7);
    assert_eq!(register.clone().offset(0), register);
    assert_eq!(Word::Constant(16).offset(-8), Word::Constant(8));
    let moved = register.clone().offset(8).offset(-3);
    assert_eq!(moved, Word::Offset(Box::new(register), 5));
}

#[test]
fn an_element_is_at_a_whole_number_of_its_size() {
    let address = |index| {
        let word = Word::Element(Box::new(Word::Constant(0x1000)), Box::new(index), 8);
        word.evaluate(&Page)
    };
    assert_eq!(address(int(3)), Some(0x1018));
    assert_eq!(address(int(-1)), Some(0xff8));
    assert_eq!(address(*truth(true)), Some(0x1008));
    assert_eq!(address(float(1.0)), None);
    assert_eq!(address(int(-0x201)), None, "below address 0");
}

#[test]
fn text_at_the_end_of_memory_is_compared_up_to_its_terminator() {
    let is_string = |address, text: &[u8]| {
        let text = Arc::from(text);
        let node = Node::IsString(Word::Constant(address), text, true);
        node.evaluate(&Page)
    };
    assert_eq!(is_string(0x1ffc, b"end\0"), Some(Scalar::Bool(true)));
    assert_eq!(is_string(0x1ffc, b"ens\0"), Some(Scalar::Bool(false)));
    assert_eq!(is_string(0x1ffc, b"end"), Some(Scalar::Bool(true)));
    // A difference before the end of memory decides, equality up to there does not.
    assert_eq!(is_string(0x1ffc, b"enough\0"), Some(Scalar::Bool(false)));
    assert_eq!(is_string(0x1ffe, b"d\0more\0"), None);
    assert_eq!(is_string(8, b"end\0"), None);
}

#[test]
fn what_is_not_chosen_is_not_evaluated() {
    let chosen = |condition| {
        let parts = [*truth(condition), int(1), unreadable()];
        Node::Conditional(Box::new(parts)).evaluate(&Page)
    };
    assert_eq!(chosen(true), Some(Scalar::Int(1)));
    assert_eq!(chosen(false), None);
    let both = |first| Node::Both(truth(first), Box::new(unreadable())).evaluate(&Page);
    assert_eq!((both(false), both(true)), (Some(Scalar::Bool(false)), None));
    let either = |first| Node::Either(truth(first), Box::new(unreadable())).evaluate(&Page);
    assert_eq!(
        (either(true), either(false)),
        (Some(Scalar::Bool(true)), None)
    );
}

#[test]
fn a_result_that_no_c_type_holds_has_no_value() {
    let most = i128::from(u64::MAX);
    let least = i128::from(i64::MIN);
    let sum = |left, right| {
        let node = binary(BinaryOperator::Add, Overflow::Error, int(left), int(right));
        node.evaluate(&Page)
    };
    assert_eq!(sum(most - 1, 1), Some(Scalar::Int(most)));
    assert_eq!(sum(most, 1), None);
    assert_eq!(sum(least, 0), Some(Scalar::Int(least)));
    assert_eq!(sum(least, -1), None);
}

#[test]
fn a_distance_counts_elements_and_never_divides_by_zero() {
    let distance = |size| {
        let node = Node::Distance(Box::new(int(0x1010)), Box::new(int(0x1000)), size);
        node.evaluate(&Page)
    };
    assert_eq!(distance(4), Some(Scalar::Int(4)));
    assert_eq!(distance(0), Some(Scalar::Int(16)));
}

#[test]
fn a_complement_stays_in_the_width_of_an_unsigned_operand() {
    let complement = |number, bits| {
        let node = Node::Complement(Box::new(int(number)), bits);
        node.evaluate(&Page)
    };
    assert_eq!(complement(5, None), Some(Scalar::Int(-6)));
    assert_eq!(complement(5, Some(32)), Some(Scalar::Int(0xffff_fffa)));
    assert_eq!(complement(-1, Some(32)), Some(Scalar::Int(0)));
}

#[test]
fn a_node_has_the_kind_of_its_operands() {
    let add = |left, right| binary(BinaryOperator::Add, Overflow::Error, left, right);
    for (node, expected) in [
        (add(int(1), int(2)), NumberClass::Whole),
        (add(int(1), float(2.0)), NumberClass::Float),
        (
            binary(BinaryOperator::Less, Overflow::Error, int(1), float(2.0)),
            NumberClass::Truth,
        ),
        (unreadable(), NumberClass::Address),
        (Node::Not(Box::new(float(1.0))), NumberClass::Truth),
        (
            Node::Negate(Overflow::Error, Box::new(float(1.0))),
            NumberClass::Float,
        ),
        (
            Node::Conditional(Box::new([int(1), float(1.0), float(2.0)])),
            NumberClass::Float,
        ),
    ] {
        assert_eq!(node.class(), expected, "{node:?}");
    }
}

#[test]
fn operations_that_wrap_or_divide_by_a_variable_are_not_exact() {
    let captured = |reading| Node::Read(Word::Captured(0, 8), reading);
    let signed = || captured(Reading::Signed { shift: 0, bits: 64 });
    let unsigned = || captured(Reading::Unsigned { shift: 0, bits: 32 });
    let double = || captured(Reading::Float64);
    let wraps = Overflow::Wraps { bits: 32 };
    for (node, expected) in [
        (binary(Add, Overflow::Error, signed(), int(1)), true),
        (binary(Add, wraps, unsigned(), int(1)), false),
        (binary(Less, wraps, unsigned(), int(1)), true),
        (binary(Less, wraps, unsigned(), signed()), false),
        (binary(Divide, Overflow::Error, double(), float(4.0)), true),
        (binary(Divide, Overflow::Error, double(), float(0.0)), false),
        (binary(Divide, Overflow::Error, double(), double()), false),
        (Node::Negate(wraps, Box::new(unsigned())), false),
        (Node::Rounded(Box::new(double())), false),
        (unreadable(), false),
    ] {
        assert_eq!(node.is_exact(), expected, "{node:?}");
    }
}
