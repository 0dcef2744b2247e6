//! The last moment at which another order of the threads still avoids a failure.
//!
//! The run is made again up to one of its decisions, and goes on in other orders from there. If none
//! of them avoids the failure, it is taken to be inevitable there: so later it is, too, and the last
//! moment is found by halves.

use crate::error::ExploreError;
use crate::outcome::ThreadPlace;
use crate::run_file::RunFile;
use crate::runner::{Ended, Limits, Plan, Runner, Streams};
use juror_schedule::{Choice, ChoiceKind, Portfolio, Replay, Strategy};
use std::time::Duration;

/// The longest time of one run.
const TIME_MAX: Duration = Duration::from_secs(10);

/// The number of times that the points of the run are the limit of another one.
const POINTS_FACTOR: u64 = 4;

/// The last moment at which a failure could be avoided, as far as other orders were tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inevitable {
    /// The number of decisions of the run.
    pub decisions: u64,
    /// The number of those that were made before; none if no order that was tried avoids the
    /// failure.
    pub last: Option<u64>,
    /// The number of orders that avoid the failure from that moment on.
    pub avoiding: u32,
    /// The number of orders that were tried from each moment.
    pub orders: u32,
    /// The decision that makes it inevitable: what the run does there, and what could happen
    /// instead.
    pub choice: Option<Decided>,
}

/// The decision that decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// The choice of the run.
    pub taken: Option<Offered>,
    /// The other ones.
    pub others: Vec<Offered>,
}

/// Something that could happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offered {
    /// The kind of the choice.
    pub kind: ChoiceKind,
    /// The thread, and from where it goes on.
    pub place: ThreadPlace,
}

/// Looks for the last moment at which a failure could be avoided. `begin` is told the
/// number of each moment that is tried, and how many there are at most.
///
/// # Errors
/// The program cannot be started or controlled, was changed, or does not fail again.
pub fn inevitable(
    runner: &Runner,
    file: &RunFile,
    orders: u32,
    begin: &mut dyn FnMut(u32, u32),
) -> Result<Inevitable, ExploreError> {
    let whole = file.replay(runner, Streams::Closed, false)?;
    if !file.is_same(&whole) {
        return Err(ExploreError::AnotherWay);
    }
    let search = Search {
        runner,
        file,
        orders,
        points: whole.points.saturating_mul(POINTS_FACTOR),
        length: whole.decisions,
    };
    let steps = u64::BITS - whole.decisions.leading_zeros() + 1;
    let mut found = Inevitable {
        decisions: whole.decisions,
        last: None,
        avoiding: 0,
        orders,
        choice: None,
    };
    let (mut first, mut end) = (0, whole.decisions);
    let mut step = 0;
    // At the end of the run it has failed.
    while first < end {
        step += 1;
        begin(step, steps);
        let middle = if step == 1 { 0 } else { (first + end) / 2 };
        let avoiding = search.avoiding(middle)?;
        if avoiding == 0 {
            end = middle;
            continue;
        }
        (found.last, found.avoiding) = (Some(middle), avoiding);
        first = middle + 1;
    }
    if let Some(last) = found.last {
        found.choice = search.decided(last)?;
    }
    Ok(found)
}

struct Search<'a> {
    runner: &'a Runner,
    file: &'a RunFile,
    orders: u32,
    points: u64,
    length: u64,
}

impl Search<'_> {
    /// Returns the number of orders that avoid the failure after the first decisions of the run.
    fn avoiding(&self, decisions: u64) -> Result<u32, ExploreError> {
        let portfolio = Portfolio::new(self.file.seed, self.length);
        let mut count = 0;
        for order in 0..self.orders {
            let ended = self.branch(decisions, portfolio.strategy(order.into()))?;
            count += u32::from(ended.outcome.signature() != self.file.signature);
        }
        Ok(count)
    }

    /// Returns the decision that the run makes after these.
    fn decided(&self, decisions: u64) -> Result<Option<Decided>, ExploreError> {
        let Some(asked) = self.branch(decisions, Strategy::Person)?.asked else {
            return Ok(None);
        };
        let deviations = self.file.schedule_deviations();
        let mut deviations = deviations.iter();
        let deviation = deviations.find(|it| it.moment == asked.moment);
        let choice = deviation.map(|it| it.choice).or(asked.usual);
        let offered = |(choice, place): &(Choice, ThreadPlace)| Offered {
            kind: choice.kind,
            place: place.clone(),
        };
        let (taken, others): (Vec<_>, Vec<_>) = asked
            .offers
            .iter()
            .partition(|(offer, _)| Some(*offer) == choice);
        Ok(Some(Decided {
            taken: taken.first().map(|it| offered(it)),
            others: others.into_iter().map(offered).collect(),
        }))
    }

    fn branch(&self, decisions: u64, then: Strategy) -> Result<Ended, ExploreError> {
        let plan = Plan {
            points: self.file.points(),
            streams: Streams::Closed,
            options: self.file.options(),
            expected: None,
            explains: false,
            predicts: false,
            limits: Limits {
                points: self.points,
                time: TIME_MAX,
            },
        };
        let strategy = Strategy::Branch {
            replay: Replay::new(&self.file.schedule_deviations()),
            decisions,
            then: Box::new(then),
        };
        self.runner.run(plan, strategy)
    }
}
