//! A place in a run that can be made again.

/// A place that is known by a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// The number of schedule points before it.
    pub points: u64,
    /// An address, and the how many-th arrival there since the last point; without one, it is where a
    /// thread goes on after that point.
    pub site: Option<(u64, u64)>,
    /// The number of instructions of the thread since then.
    pub steps: u64,
}

impl Place {
    /// Returns the start of the run.
    pub(crate) const START: Place = Place {
        points: 0,
        site: None,
        steps: 0,
    };
}
