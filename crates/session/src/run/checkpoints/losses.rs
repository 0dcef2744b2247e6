//! Reports the state that checkpoints cannot restore, for commands that no user typed.
//!
//! At the prompt, `checkpoint` and `restore` list it each time. Scenarios and automatic checkpoints
//! may number thousands: there each loss is reported once, at a checkpoint and at a restore.

use crate::session::Session;
use crate::state::checkpoints::Checkpoints;
use juror_view::observer::Observer;
use std::collections::BTreeSet;

/// Returns the losses that were not reported yet, and notes them as reported.
fn new_ones(told: &mut BTreeSet<String>, losses: &[String]) -> Vec<String> {
    let new = losses.iter().filter(|loss| told.insert((*loss).clone()));
    new.cloned().collect()
}

impl Checkpoints {
    /// Notes the losses of a restore.
    pub(crate) fn note_losses(&mut self, losses: &[String]) {
        self.lost = losses.to_vec();
    }
}

/// Reports the losses of a checkpoint whose result is not shown.
pub(crate) fn report_losses_of_checkpoint(
    session: &mut Session,
    number: u32,
    losses: &[String],
    observer: &mut dyn Observer,
) {
    let new = new_ones(
        &mut session.checkpoints.reported_losses.at_checkpoints,
        losses,
    );
    if !new.is_empty() {
        let lost = new.join("; ");
        observer.notice(&format!("checkpoint {number} cannot restore: {lost}"));
    }
}

/// Reports the losses of a restore that has just been made.
pub(crate) fn report_losses_of_restore(
    session: &mut Session,
    number: u64,
    observer: &mut dyn Observer,
) {
    let losses = std::mem::take(&mut session.checkpoints.lost);
    let new = new_ones(
        &mut session.checkpoints.reported_losses.at_restores,
        &losses,
    );
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
