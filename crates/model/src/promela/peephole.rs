//! Peephole optimization of expressions into single reads of the state.
//!
//! Most of a search evaluates guards that are false: comparisons of variables with
//! numbers, and of array elements with variable indices. Such an expression over bytes
//! becomes one node that is evaluated without visiting its parts.
//!
//! Invariant: an optimized node has the value, and the errors, of the nodes it replaces.

use super::layout::comparison;
use super::program::{Code, Element, Kept, Node, Place, Scope, Source};
use super::syntax::{Binary, Unary};

/// Replaces the nodes that are single reads; the layout must be final.
pub(super) fn optimize(nodes: &mut [Node]) {
    // Parts precede the nodes that contain them.
    for index in 0..nodes.len() {
        if let Some(short) = nodes.get(index).and_then(|node| short(nodes, node))
            && let Some(place) = nodes.get_mut(index)
        {
            *place = short;
        }
    }
}

fn short(nodes: &[Node], node: &Node) -> Option<Node> {
    let at = |code: &Code| nodes.get(code.0 as usize);
    match node {
        Node::Indexed(place) => {
            let source = match place.scope {
                Scope::Global => Source::Global,
                Scope::Local => Source::Local,
            };
            element(nodes, place, source).map(Node::Element)
        }
        Node::Table(place) => element(nodes, place, Source::Constants).map(Node::Element),
        Node::Unary(Unary::Not, part) => match at(part)? {
            Node::Element(element) => {
                let element = Box::new(*element);
                Some(Node::CompareElement(Binary::Equal, 0, element))
            }
            Node::Compare(operator, scope, offset, number) => {
                Some(Node::Compare(negated(*operator)?, *scope, *offset, *number))
            }
            Node::CompareElement(operator, number, element) => {
                let operator = negated(*operator)?;
                Some(Node::CompareElement(operator, *number, element.clone()))
            }
            _ => None,
        },
        Node::Binary(operator, left, right) => {
            let (left, right) = (at(left)?, at(right)?);
            match (left, right) {
                (Node::Element(element), Node::Number(number)) => {
                    negated(*operator)?;
                    let element = Box::new(*element);
                    Some(Node::CompareElement(*operator, *number, element))
                }
                _ => comparison(*operator, left, right),
            }
        }
        _ => None,
    }
}

/// Returns the element of an array of bytes at a byte index, if the place is one.
fn element(nodes: &[Node], place: &Place, source: Source) -> Option<Element> {
    let [index] = &place.indices[..] else {
        return None;
    };
    let (index_scope, cell) = match nodes.get(index.value.0 as usize)? {
        Node::Global(cell) => (Scope::Global, cell),
        Node::Local(cell) => (Scope::Local, cell),
        _ => return None,
    };
    let are_bytes = place.cell.scalar.kept == Kept::Byte && cell.scalar.kept == Kept::Byte;
    (are_bytes && index.stride == 1 && !place.is_discard).then_some(Element {
        source,
        offset: place.cell.offset,
        index_scope,
        index_offset: cell.offset,
        length: index.length,
        index: index.value,
    })
}

/// Returns the negated comparison; `None` for other operators.
fn negated(operator: Binary) -> Option<Binary> {
    Some(match operator {
        Binary::Equal => Binary::NotEqual,
        Binary::NotEqual => Binary::Equal,
        Binary::Less => Binary::GreaterEqual,
        Binary::GreaterEqual => Binary::Less,
        Binary::Greater => Binary::LessEqual,
        Binary::LessEqual => Binary::Greater,
        _ => return None,
    })
}
