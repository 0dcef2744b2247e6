//! The rolling hash of a run: equal runs have equal hashes at equal points.

use crate::random::mix;
use crate::terms::{Point, ThreadPath};

/// A hash to which values are added one after the other. It does not depend on the machine,
/// so it may be kept in files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct RunHash(u64);

impl RunHash {
    /// Returns the hash so far.
    pub fn value(self) -> u64 {
        self.0
    }

    /// Adds a value.
    pub fn add(&mut self, value: u64) {
        self.0 = mix(self.0.rotate_left(5) ^ value.wrapping_add(0x2545_F491_4F6C_DD1D));
    }

    /// Adds that a thread stands at a point.
    pub(crate) fn add_point(&mut self, thread: ThreadPath, point: &Point) {
        self.add(thread.numbers().len() as u64);
        for number in thread.numbers() {
            self.add(u64::from(*number));
        }
        for value in [point.kind as u64, point.site, point.object, point.state] {
            self.add(value);
        }
    }
}
