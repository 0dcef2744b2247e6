//! Checkpoints.

use crate::columns::{self, Cell};
use crate::escape::safe;
use crate::locations::long_location;
use crate::page::{BAD, Page, QUIET, STRONG};
use juror_view::CheckpointView;

/// Writes a new checkpoint.
pub fn write_one(page: &mut Page, checkpoint: &CheckpointView) {
    let place = match checkpoint.location.address {
        0 => "at the start of the program".to_owned(),
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

/// Writes what a restore does not bring back, one a line if there are several.
pub fn write_losses(page: &mut Page, losses: &[String]) {
    match losses {
        [] => {}
        [only] => writeln!(page, "{QUIET}not restored: {}{QUIET:#}", safe(only)),
        several => {
            writeln!(page, "{QUIET}not restored:{QUIET:#}");
            for loss in several {
                writeln!(page, "  {QUIET}{}{QUIET:#}", safe(loss));
            }
        }
    }
}

/// Writes the list of checkpoints.
pub fn write_all(page: &mut Page, checkpoints: &[CheckpointView]) {
    if checkpoints.is_empty() {
        page.push("No checkpoints.\n");
        return;
    }
    let rows: Vec<Vec<Cell>> = checkpoints
        .iter()
        .map(|checkpoint| {
            let place = match checkpoint.location.address {
                0 => "at the start of the program".to_owned(),
                _ => long_location(page, &checkpoint.location),
            };
            let made = match (checkpoint.alive, checkpoint.automatic) {
                (false, _) => Cell::new("process is gone", BAD),
                (true, true) => "automatic".into(),
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

/// Sample views for tests.
#[cfg(any(test, feature = "samples"))]
pub mod samples {
    use super::*;
    use crate::stops::samples::location;

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
    fn a_checkpoint_shows_what_is_lost() {
        let text = plain(|page| write_one(page, &samples::checkpoint()));
        assert_eq!(
            text,
            "Checkpoint 1 in queue_push at src/queue.c:23, 3 threads\nnot restored:\n  \
             the time of day\n  socket 3\n"
        );
    }

    #[test]
    fn a_checkpoint_without_its_process_is_marked() {
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
        assert!(lines[2].ends_with("process is gone"), "{text}");
        assert_eq!(plain(|page| write_all(page, &[])), "No checkpoints.\n");
    }
}
