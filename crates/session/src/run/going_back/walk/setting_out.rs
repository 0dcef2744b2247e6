//! The start of a walk, and its start once more.

use super::Walk;
use crate::run::going_back::again::Kept;
use crate::run::going_back::here::Here;
use crate::run::going_back::last_write::Watched;
use crate::run::going_back::way::Way;
use crate::run::going_back::waypoints::Origin;
use crate::session::Session;
use juror_fault::CommandError;
use juror_view::observer::Observer;
use rustc_hash::FxHashMap;
use std::time::Instant;

/// The happenings that a walk tells of.
pub(in crate::run::going_back) struct Plan {
    sites: Vec<u64>,
    told_at: Option<u64>,
    watched: Option<Watched>,
}

impl<'a> Walk<'a> {
    /// Makes the run again. `here` is where the walk ends at the latest.
    pub(in crate::run::going_back) fn begin(
        session: &mut Session,
        kept: &'a Kept,
        here: &Here,
        observer: &'a mut dyn Observer,
    ) -> Result<Walk<'a>, CommandError> {
        Walk::begin_before(session, kept, (here, here.points), observer)
    }

    /// As [`Walk::begin`], from before so many schedule points; from the start for none.
    pub(in crate::run::going_back) fn begin_before(
        session: &mut Session,
        kept: &'a Kept,
        (here, points): (&Here, u64),
        observer: &'a mut dyn Observer,
    ) -> Result<Walk<'a>, CommandError> {
        let origin = kept.set_out_before(session, points)?;
        Ok(Walk::from(origin, kept, here, observer))
    }

    /// As [`Walk::begin`], from where the walk has set out that has found the place last: what was counted
    /// is counted from there.
    pub(in crate::run::going_back) fn begin_as_before(
        session: &mut Session,
        kept: &'a Kept,
        here: &Here,
        observer: &'a mut dyn Observer,
    ) -> Result<Walk<'a>, CommandError> {
        let origin = kept.set_out_from(session, kept.origin.get())?;
        Ok(Walk::from(origin, kept, here, observer))
    }

    fn from(
        origin: Origin,
        kept: &'a Kept,
        here: &Here,
        observer: &'a mut dyn Observer,
    ) -> Walk<'a> {
        let now = Instant::now();
        Walk {
            kept,
            observer,
            points: here.points,
            sites: Vec::new(),
            sites_from: 0,
            has_sites: false,
            told_at: None,
            tells_each: false,
            stepping: None,
            stops: 0,
            watched: None,
            last: None,
            arrivals: FxHashMap::default(),
            stretch: 0,
            way: Way::from(origin),
            started: now,
            shown: now,
        }
    }

    /// Returns whether the walk sets out at the start of the run.
    pub(in crate::run::going_back) fn is_from_start(&self) -> bool {
        self.way.origin == Origin::Start
    }

    /// Returns where the walk sets out.
    pub(in crate::run::going_back) fn origin(&self) -> Origin {
        self.way.origin
    }

    /// Returns the number of schedule points before the place at which the walk sets out.
    pub(in crate::run::going_back) fn origin_points(&self) -> u64 {
        self.way.origin.points()
    }

    /// Returns whether the walk visits its sites from where it has set out.
    pub(in crate::run::going_back) fn visits_from_origin(&self) -> bool {
        self.way.origin.points() >= self.sites_from
    }

    /// Returns what the walk tells of.
    pub(in crate::run::going_back) fn plan(&self) -> Plan {
        Plan {
            sites: self.sites.clone(),
            told_at: self.told_at,
            watched: self.watched.as_ref().map(Watched::again),
        }
    }

    /// Sets out earlier, to tell of the same.
    pub(in crate::run::going_back) fn set_out_earlier(
        &mut self,
        session: &mut Session,
        plan: &Plan,
    ) -> Result<(), CommandError> {
        let points = self.way.further_back(self.stretch);
        self.set_out_before(session, points)?;
        self.sites.clone_from(&plan.sites);
        self.told_at = plan.told_at;
        self.watched = plan.watched.as_ref().map(Watched::again);
        Ok(())
    }

    /// Sets out once more, before so many schedule points, if the walk has not set out there. What is not
    /// told yet stays to be told.
    pub(in crate::run::going_back) fn set_out_no_later_than(
        &mut self,
        session: &mut Session,
        points: u64,
    ) -> Result<(), CommandError> {
        if self.is_from_start() || self.way.origin.points() < points {
            return Ok(());
        }
        self.set_out_before(session, points)
    }

    fn set_out_before(&mut self, session: &mut Session, points: u64) -> Result<(), CommandError> {
        let origin = self.kept.set_out_before(session, points)?;
        self.way = Way::from(origin);
        self.has_sites = false;
        self.stops = 0;
        self.arrivals.clear();
        self.stretch = 0;
        Ok(())
    }
}
