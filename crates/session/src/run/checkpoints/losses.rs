//! What does not come back, told where nobody has typed the command.
//!
//! At the prompt, `checkpoint` and `restore` list it each time. Scenarios, and
//! juror by itself, may make thousands: there each loss is told when it is first
//! one, at a checkpoint and at a restore.

use crate::session::Session;
use crate::state::checkpoints::Checkpoints;
use juror_view::observer::Observer;
use std::collections::BTreeSet;

/// Those that have not been told, which are now.
fn new_ones(told: &mut BTreeSet<String>, losses: &[String]) -> Vec<String> {
    let new = losses.iter().filter(|loss| told.insert((*loss).clone()));
    new.cloned().collect()
}

impl Checkpoints {
    /// A restore has not brought this back.
    pub(crate) fn note_losses(&mut self, losses: &[String]) {
        self.lost = losses.to_vec();
    }
}

/// A checkpoint was made for somebody who does not see what it answers.
pub(crate) fn tell_losses_of_checkpoint(
    session: &mut Session,
    number: u32,
    losses: &[String],
    observer: &mut dyn Observer,
) {
    let new = new_ones(&mut session.checkpoints.told_losses.at_checkpoints, losses);
    if !new.is_empty() {
        let lost = new.join("; ");
        observer.notice(&format!("checkpoint {number} cannot restore: {lost}"));
    }
}

/// The same of a restore that has just been made.
pub(crate) fn tell_losses_of_restore(
    session: &mut Session,
    number: u64,
    observer: &mut dyn Observer,
) {
    let losses = std::mem::take(&mut session.checkpoints.lost);
    let new = new_ones(&mut session.checkpoints.told_losses.at_restores, &losses);
    if !new.is_empty() {
        let lost = new.join("; ");
        observer.notice(&format!("not restored with checkpoint {number}: {lost}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_is_not_told_again() {
        let mut told = BTreeSet::new();
        let losses = |all: &[&str]| -> Vec<String> { all.iter().map(|it| (*it).into()).collect() };
        let first = losses(&["the time of day", "socket 3"]);
        assert_eq!(new_ones(&mut told, &first), first);
        assert!(new_ones(&mut told, &first).is_empty());
        let more = losses(&["the time of day", "socket 4"]);
        assert_eq!(new_ones(&mut told, &more), losses(&["socket 4"]));
    }
}
