//! A small system for tests: a number that counts up and down in a ring.

use crate::system::{Change, Fault, Participants, Step, System, Visitor};

/// The system.
#[derive(Debug, Clone)]
pub struct Toy {
    /// Number of values.
    pub size: u32,
    /// The number without a step.
    pub stuck: Option<u32>,
    /// Whether the stuck number is a valid end state.
    pub ends: bool,
    /// The number to which each step is faulty.
    pub fault: Option<u32>,
}

impl Toy {
    /// Returns a ring of `size` numbers without errors.
    pub fn ring(size: u32) -> Toy {
        Toy {
            size,
            stuck: None,
            ends: false,
            fault: None,
        }
    }
}

fn number(state: &[u8]) -> u32 {
    u32::from_le_bytes(state.try_into().unwrap())
}

impl System for Toy {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, (): &mut (), visitor: &mut impl Visitor) {
        visitor.next(&0_u32.to_le_bytes(), Participants::default());
    }

    fn successors(&self, (): &mut (), state: &[u8], visitor: &mut impl Visitor) {
        let here = number(state);
        if self.stuck == Some(here) {
            return;
        }
        for (actor, next) in [(here + 1) % self.size, (here + self.size - 1) % self.size]
            .into_iter()
            .enumerate()
        {
            let more = if self.fault == Some(next) {
                visitor.fault(Fault::new("toy", "wrong number", None))
            } else {
                visitor.next(&next.to_le_bytes(), Participants::one(actor))
            };
            if !more {
                return;
            }
        }
    }

    fn may_end(&self, (): &mut (), _state: &[u8]) -> bool {
        self.ends
    }

    fn steps(&self, _state: &[u8], number: usize) -> Vec<Step> {
        vec![Step {
            actor: Some(number),
            partner: None,
            text: ["up", "down"][number].to_owned(),
            span: None,
            changes: Vec::new(),
            printed: String::new(),
        }]
    }

    fn actors(&self, _state: &[u8]) -> Vec<String> {
        vec!["up".to_owned(), "down".to_owned()]
    }

    fn values(&self, state: &[u8]) -> Vec<Change> {
        vec![Change {
            name: "number".to_owned(),
            value: number(state).to_string(),
        }]
    }
}
