//! Converts compiled expressions that are chains of loads to captures of emitted code.

use super::Check;
use super::node::{Node, Reading, Scalar, Word};
use crate::word_chain::Chain;
use juror_event::Conversion;
use juror_monitor::lowering::{Origin, WordCapture, WordKind};

impl Check {
    /// Returns its value as a machine word. `conversion` is the type that an event gives to the
    /// bytes at the location. Returns `None` if the value is computed, or if its bytes have another
    /// form.
    pub(crate) fn word(&self, conversion: Option<Conversion>) -> Option<WordCapture> {
        match (self.node.as_ref()?, conversion) {
            (Node::Constant(scalar), None) => constant(*scalar),
            (Node::Read(word, reading), None) => {
                let (bytes, kind) = form(*reading)?;
                capture(word, bytes, kind)
            }
            (Node::Read(Word::Load(address, size), reading), Some(conversion)) => {
                // It is in memory, so the other type is read at the same address.
                form(*reading).filter(|(own, _)| own == size)?;
                let (bytes, kind) = converted(conversion)?;
                chain(address)?.load(bytes).ok()?.value(bytes, kind).ok()
            }
            (Node::Read(word, reading), Some(conversion)) => {
                let (own, _) = form(*reading)?;
                let (bytes, kind) = converted(conversion).filter(|(bytes, _)| *bytes == own)?;
                capture(word, bytes, kind)
            }
            _ => None,
        }
    }
}

fn constant(scalar: Scalar) -> Option<WordCapture> {
    let (word, kind) = match scalar {
        Scalar::Int(number) => (i64::try_from(number).ok()? as u64, WordKind::Signed),
        Scalar::Bool(truth) => (u64::from(truth), WordKind::Boolean),
        Scalar::Address(address) => (address, WordKind::Address),
        Scalar::Float(_) => return None,
    };
    Chain::new(Origin::Constant(word)).value(8, kind).ok()
}

/// Returns the size in bytes and the kind of a number that fills whole bytes, or `None` for others.
fn form(reading: Reading) -> Option<(u8, WordKind)> {
    let (bits, kind) = match reading {
        Reading::Signed { shift: 0, bits } => (bits, WordKind::Signed),
        Reading::Unsigned { shift: 0, bits } => (bits, WordKind::Unsigned),
        Reading::Bool { shift: 0, bits } => (bits, WordKind::Boolean),
        Reading::Address => (64, WordKind::Address),
        _ => return None,
    };
    (bits % 8 == 0).then_some((bits / 8, kind))
}

fn converted(conversion: Conversion) -> Option<(u8, WordKind)> {
    Some(match conversion {
        Conversion::Signed { bytes } => (bytes, WordKind::Signed),
        Conversion::Unsigned { bytes } => (bytes, WordKind::Unsigned),
        Conversion::Bool => (1, WordKind::Boolean),
        Conversion::Address => (8, WordKind::Address),
        Conversion::Float32 | Conversion::Float64 | Conversion::String => return None,
    })
}

/// Returns the capture of the low bytes of a word.
fn capture(word: &Word, bytes: u8, kind: WordKind) -> Option<WordCapture> {
    let word = match word {
        Word::Computed(node) => low_bits(node, bytes.checked_mul(8)?)?,
        word => word,
    };
    let chain = match word {
        // A shorter load could succeed where the complete one fails.
        Word::Load(address, size) if *size == bytes => chain(address)?.load(bytes).ok()?,
        Word::Load(..) => return None,
        word => chain(word)?,
    };
    chain.value(bytes, kind).ok()
}

/// Returns the word whose low bits are those of a number, if the number is only a truncated word.
fn low_bits(node: &Node, wanted: u8) -> Option<&Word> {
    let (mut node, mut is_cut) = (node, false);
    loop {
        match node {
            Node::Wrapped(inner, Reading::Unsigned { shift: 0, bits }) if *bits >= wanted => {
                (node, is_cut) = (inner, true);
            }
            Node::Read(word, reading) => {
                let fits = match reading {
                    Reading::Unsigned { shift: 0, bits } => *bits >= wanted,
                    // A negative number is not an address until it has been truncated.
                    Reading::Signed { shift: 0, bits } => is_cut && *bits >= wanted,
                    Reading::Address => true,
                    _ => false,
                };
                match word {
                    _ if !fits => return None,
                    Word::Computed(inner) => (node, is_cut) = (inner, false),
                    word => return Some(word),
                }
            }
            _ => return None,
        }
    }
}

/// Returns a word of eight bytes as a chain of loads.
fn chain(word: &Word) -> Option<Chain> {
    enum Step {
        Load,
        Behind(i64),
    }
    let (mut word, mut steps) = (word, Vec::new());
    let mut chain = loop {
        word = match word {
            Word::Constant(bits) => break Chain::new(Origin::Constant(*bits)),
            Word::Register(number) => break Chain::register(*number).ok()?,
            Word::Load(address, 8) => {
                steps.push(Step::Load);
                address
            }
            Word::Offset(base, bytes) => {
                steps.push(Step::Behind(*bytes));
                base
            }
            Word::Computed(node) => low_bits(node, 64)?,
            Word::Vector(_)
            | Word::Load(..)
            | Word::Element(..)
            | Word::Part(..)
            | Word::Captured(..) => return None,
        };
    };
    while let Some(step) = steps.pop() {
        chain = match step {
            Step::Load => chain.load(8),
            Step::Behind(bytes) => chain.behind(bytes),
        }
        .ok()?;
    }
    Some(chain)
}
