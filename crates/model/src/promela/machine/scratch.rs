//! Working memory of a thread that generates steps.

use super::Micro;
use super::chain::Chains;
use crate::cache_padded::buffer;
use crate::promela::channel::Message;
use crate::promela::shape::{Shape, Shapes};
use std::sync::Arc;

/// Working memory of a search.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(super) path: Vec<Micro>,
    pub(super) chains: Chains,
    pool: Vec<Vec<u8>>,
    pub(super) shape: Option<Arc<Shape>>,
    /// Copies of shapes by number, so that the thread does not read memory that others
    /// write.
    shapes: Vec<Option<Arc<Shape>>>,
    pub(in crate::promela) message: Message,
}

/// A thread copies the shapes with lower numbers.
const COPIED_MAX: u16 = 1024;

impl Scratch {
    /// Returns the shape with a number, copying it from the shared ones.
    pub(super) fn shape(&mut self, number: u16, all: &Shapes) -> Option<Arc<Shape>> {
        if number >= COPIED_MAX {
            return all.get(number);
        }
        let place = usize::from(number);
        if self.shapes.len() <= place {
            self.shapes.resize(place + 1, None);
        }
        let own = self.shapes.get_mut(place)?;
        if own.is_none() {
            *own = all.get(number).map(|shape| Arc::new(Shape::clone(&shape)));
        }
        own.clone()
    }

    /// Prepares for the steps from another state.
    pub(super) fn begin(&mut self) {
        self.path.clear();
        self.chains.begin();
    }

    /// Keeps a buffer for another state.
    #[inline]
    pub(super) fn recycle(&mut self, state: Vec<u8>) {
        // The state of a buffer without memory was taken away.
        if state.capacity() > 0 {
            self.pool.push(state);
        }
    }

    /// Returns a copy of a state, in a recycled buffer if there is one.
    pub(super) fn copy(&mut self, state: &[u8]) -> Vec<u8> {
        let mut copy = self.pool.pop().unwrap_or_else(buffer);
        copy.clear();
        copy.extend_from_slice(state);
        copy
    }
}
