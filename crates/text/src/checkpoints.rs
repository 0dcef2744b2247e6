//! Checkpoints, as text.

use crate::columns::{self, Cell};
use crate::escape::safe;
use crate::page::{BAD, Page, QUIET, STRONG};
use crate::places::long_location;
use juror_view::CheckpointView;

/// Writes a checkpoint that has just been made.
pub fn write_one(page: &mut Page, checkpoint: &CheckpointView) {
    let place = match checkpoint.location.address {
        0 => "before the beginning".to_owned(),
        _ => format!("in {}", long_location(page, &checkpoint.location)),
    };
    let threads = match checkpoint.thread_count {
        0 | 1 => String::new(),
        count => format!(", {count} threads"),
    };
    writeln!(
        page,
        "{STRONG}Checkpoint {}{STRONG:#} {place}{threads}",
        checkpoint.number
    );
    write_losses(page, &checkpoint.losses);
}

/// Writes what a restore does not bring back, a line each when there are many.
pub fn write_losses(page: &mut Page, losses: &[String]) {
    match losses {
        [] => {}
        [only] => writeln!(page, "{QUIET}not brought back: {}{QUIET:#}", safe(only)),
        several => {
            writeln!(page, "{QUIET}not brought back:{QUIET:#}");
            for loss in several {
                writeln!(page, "  {QUIET}{}{QUIET:#}", safe(loss));
            }
        }
    }
}

/// Writes all checkpoints.
pub fn write_all(page: &mut Page, checkpoints: &[CheckpointView]) {
    if checkpoints.is_empty() {
        page.push("No checkpoints.\n");
        return;
    }
    let rows: Vec<Vec<Cell>> = checkpoints
        .iter()
        .map(|checkpoint| {
            let place = match checkpoint.location.address {
                0 => "before the beginning".to_owned(),
                _ => long_location(page, &checkpoint.location),
            };
            let made = match (checkpoint.alive, checkpoint.automatic) {
                (false, _) => Cell::new("killed from outside", BAD),
                (true, true) => "by itself".into(),
                (true, false) => "".into(),
            };
            vec![
                Cell::new(checkpoint.number.to_string(), STRONG),
                checkpoint.thread_count.to_string().into(),
                checkpoint.events.to_string().into(),
                place.into(),
                made,
            ]
        })
        .collect();
    let heading = ["#", "threads", "events", "where", ""];
    columns::write(page, 0, &heading, &rows);
}

#[cfg(any(test, feature = "samples"))]
pub mod samples {
    use super::*;
    use crate::report::samples::location;

    pub fn checkpoint() -> CheckpointView {
        CheckpointView {
            number: 1,
            automatic: false,
            alive: true,
            process: 815,
            thread: 1,
            thread_count: 3,
            location: location("queue_push", "queue.c", 23),
            events: 12,
            losses: vec!["the time of day".into(), "socket 3".into()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::plain;

    #[test]
    fn a_checkpoint_says_what_is_lost() {
        let text = plain(|page| write_one(page, &samples::checkpoint()));
        assert_eq!(
            text,
            "Checkpoint 1 in queue_push at src/queue.c:23, 3 threads\nnot brought back:\n  \
             the time of day\n  socket 3\n"
        );
    }

    #[test]
    fn a_checkpoint_that_is_gone_is_marked() {
        let gone = CheckpointView {
            alive: false,
            ..samples::checkpoint()
        };
        let text = plain(|page| write_all(page, &[samples::checkpoint(), gone]));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0].split_whitespace().collect::<Vec<_>>(),
            ["#", "threads", "events", "where"]
        );
        assert!(lines[2].ends_with("killed from outside"), "{text}");
        assert_eq!(plain(|page| write_all(page, &[])), "No checkpoints.\n");
    }
}
