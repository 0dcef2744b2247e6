//! The order of a trace's events: sequence numbers and times.
//!
//! Sequence numbers determine the order. Times may go back if there are numbers, since
//! clocks do, and must not if there are none.

use crate::fault::FaultKind;
use std::cmp::Ordering;

/// The state of the order so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Order {
    sequence: Option<u64>,
    time_ns: u64,
    /// The number of events.
    pub events: u64,
    /// The number of unreadable records, for which numbers may be missing.
    pub lost: u64,
}

/// What to do with an event.
#[derive(Debug, PartialEq)]
pub(crate) enum Judgement {
    /// The event is in order.
    Take,
    /// The event is in order, but time went back.
    TakeWentBack,
    /// The event counts, with a fault.
    TakeWith(FaultKind),
    /// The event does not count.
    Leave(FaultKind),
}

impl Order {
    /// Checks the next event.
    #[inline]
    pub fn judge(&mut self, sequence: Option<u64>, time_ns: Option<u64>) -> Judgement {
        if let Some(sequence) = sequence {
            let first = match self.sequence {
                // The first event is number 1; numbering from 0 is accepted.
                None => sequence.min(1),
                Some(after) => match sequence.cmp(&after) {
                    Ordering::Less => {
                        return Judgement::Leave(FaultKind::Reordered { sequence, after });
                    }
                    Ordering::Equal => return Judgement::Leave(FaultKind::Repeated(sequence)),
                    Ordering::Greater => after + 1,
                },
            };
            self.sequence = Some(sequence);
            match self.lost.checked_sub(sequence - first) {
                // The unreadable records have been reported.
                Some(lost) => self.lost = lost,
                None => {
                    self.events += 1;
                    self.time_ns = time_ns.unwrap_or(self.time_ns);
                    let last = sequence - 1;
                    return Judgement::TakeWith(FaultKind::Missing { first, last });
                }
            }
        }
        self.events += 1;
        let before_ns = self.time_ns;
        self.time_ns = time_ns.unwrap_or(before_ns);
        match time_ns {
            Some(time_ns) if time_ns < before_ns => match sequence {
                Some(_) => Judgement::TakeWentBack,
                None => Judgement::TakeWith(FaultKind::TimeBack { time_ns, before_ns }),
            },
            _ => Judgement::Take,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(events: &[(Option<u64>, Option<u64>)], expected: &[Judgement]) {
        let mut order = Order::default();
        let given: Vec<Judgement> = events
            .iter()
            .map(|&(sequence, time_ns)| order.judge(sequence, time_ns))
            .collect();
        assert_eq!(given, expected, "{events:?}");
    }

    #[test]
    fn numbers_tell_the_order_and_times_do_where_there_are_none() {
        use Judgement::{Leave, Take, TakeWentBack, TakeWith};
        let numbered = |sequence| (Some(sequence), None);
        check(&[(None, None), (None, None)], &[Take, Take]);
        check(
            &[numbered(0), numbered(1), numbered(2)],
            &[Take, Take, Take],
        );
        check(&[numbered(1), numbered(2)], &[Take, Take]);
        check(
            &[numbered(1), numbered(1), numbered(2)],
            &[Take, Leave(FaultKind::Repeated(1)), Take],
        );
        let (first, last) = (2, 3);
        let (sequence, after) = (3, 4);
        check(
            &[numbered(1), numbered(4), numbered(3), numbered(5)],
            &[
                Take,
                TakeWith(FaultKind::Missing { first, last }),
                Leave(FaultKind::Reordered { sequence, after }),
                Take,
            ],
        );
        check(
            &[numbered(3)],
            &[TakeWith(FaultKind::Missing { first: 1, last: 2 })],
        );
        check(
            &[(Some(1), Some(9)), (Some(2), Some(8))],
            &[Take, TakeWentBack],
        );
        let (time_ns, before_ns) = (8, 9);
        check(
            &[(None, Some(9)), (None, Some(8)), (None, Some(8))],
            &[
                Take,
                TakeWith(FaultKind::TimeBack { time_ns, before_ns }),
                Take,
            ],
        );
        check(
            &[numbered(u64::MAX), numbered(u64::MAX)],
            &[
                TakeWith(FaultKind::Missing {
                    first: 1,
                    last: u64::MAX - 1,
                }),
                Leave(FaultKind::Repeated(u64::MAX)),
            ],
        );
    }
}
