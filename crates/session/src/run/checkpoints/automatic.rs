//! Checkpoints that are made without being asked for, so that there is one from
//! before a violation.
//!
//! Invariant: of those that are made every so many events the last two are
//! kept; counting an event costs a subtraction.

use crate::session::Session;
use crate::state::checkpoints::{CheckpointId, Checkpoints, interval};
use juror_view::error::CommandError;
use juror_view::observer::Observer;

/// How many of those that come again and again are kept.
const KEPT: usize = 2;

impl Checkpoints {
    /// The program is started.
    pub(crate) fn begin_run(&mut self) {
        self.automatic.has_begun = false;
        self.automatic.left = interval(self.automatic.when);
    }
}

impl Session {
    /// The program is about to begin: the first automatic checkpoint.
    pub(crate) fn checkpoint_at_start(
        &mut self,
        observer: &mut dyn Observer,
    ) -> Result<(), CommandError> {
        let is_fresh = self.is_fresh();
        let automatic = &mut self.checkpoints.automatic;
        if automatic.when.is_none() || !is_fresh || automatic.has_begun {
            return Ok(());
        }
        automatic.has_begun = true;
        match self.take_checkpoint(true) {
            Ok(id) => self.tell_of_automatic(id, observer),
            Err(error) => self.give_automatic_up(&error, observer),
        }
    }

    /// An event has been taken in, and its thread waits.
    #[inline]
    pub(crate) fn count_for_checkpoint(
        &mut self,
        observer: &mut dyn Observer,
    ) -> Result<(), CommandError> {
        let left = &mut self.checkpoints.automatic.left;
        if *left == 0 {
            return Ok(());
        }
        *left -= 1;
        match *left {
            0 => self.checkpoint_again(observer),
            _ => Ok(()),
        }
    }

    #[cold]
    fn checkpoint_again(&mut self, observer: &mut dyn Observer) -> Result<(), CommandError> {
        self.checkpoints.automatic.left = interval(self.checkpoints.automatic.when);
        let id = match self.take_checkpoint(true) {
            Ok(id) => id,
            Err(error) => return self.give_automatic_up(&error, observer),
        };
        self.tell_of_automatic(id, observer)?;
        let kept = &mut self.checkpoints.automatic.kept;
        kept.push(id);
        while kept.len() > KEPT {
            let oldest = kept.remove(0);
            self.checkpoints.saved.remove(&oldest.0);
        }
        Ok(())
    }

    fn tell_of_automatic(
        &mut self,
        id: CheckpointId,
        observer: &mut dyn Observer,
    ) -> Result<(), CommandError> {
        let losses = self.saved(id)?.view.losses.clone();
        self.tell_losses_of_checkpoint(id.0, &losses, observer);
        Ok(())
    }

    /// The next would fail, too: there are none from here on.
    fn give_automatic_up(
        &mut self,
        error: &CommandError,
        observer: &mut dyn Observer,
    ) -> Result<(), CommandError> {
        self.checkpoints.automatic.when = None;
        self.checkpoints.automatic.left = 0;
        observer.notice(&format!("there are no automatic checkpoints: {error}"));
        Ok(())
    }

    /// A property has been violated: which checkpoint is from before.
    pub(crate) fn tell_of_checkpoint(&self, observer: &mut dyn Observer) {
        let last = self.checkpoints().next_back();
        if let Some(CheckpointId(number)) =
            last.filter(|_| self.checkpoints.automatic.when.is_some())
        {
            observer.notice(&format!(
                "checkpoint {number} is from before this: restore {number}"
            ));
        }
    }
}
