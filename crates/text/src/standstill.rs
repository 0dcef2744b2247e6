//! Threads under a schedule: which can go on, and those that do not.

use crate::columns::{self, Cell};
use crate::escape::safe;
use crate::page::{GOOD, Page, QUIET, STRONG};
use juror_view::{ScheduleView, ScheduledState, StandstillKind, WaitingThreadView};

/// Returns the rest of the title of a standstill.
pub fn explanation(kind: StandstillKind) -> &'static str {
    match kind {
        StandstillKind::Deadlock => "",
        StandstillKind::PartialDeadlock => "of some threads; others go on",
        StandstillKind::Endless => "within the limits of the run",
        StandstillKind::Diverged => {
            "than the one that is repeated: the program depends on more than the order of its threads"
        }
    }
}

/// Returns the threads of a standstill, a line for each.
pub fn lines(kind: StandstillKind, waiting: &[WaitingThreadView]) -> String {
    let mut text = String::new();
    for thread in waiting {
        let WaitingThreadView {
            number,
            place,
            object,
            holder,
            taken_at,
        } = thread;
        text += &format!("thread {number}");
        if !place.is_empty() {
            text += &format!(" ({})", safe(place));
        }
        if let Some(object) = object {
            text += &format!(" waits for {}", safe(object));
        }
        if let Some(holder) = holder {
            text += &format!(", which thread {holder} has");
        }
        if let Some(place) = taken_at {
            text += &format!(" ({})", safe(place));
        }
        text.push('\n');
    }
    if text.is_empty() {
        text += explanation(kind);
    }
    text
}

/// Writes the threads under a schedule.
pub fn write(page: &mut Page, schedule: &ScheduleView) {
    let rows: Vec<Vec<Cell>> = schedule
        .threads
        .iter()
        .map(|thread| {
            let state = match thread.state {
                ScheduledState::Runs => Cell::new("runs", STRONG),
                ScheduledState::Ready => Cell::new("ready", GOOD),
                ScheduledState::Waits => "waits for".into(),
                ScheduledState::InKernel => "in a call".into(),
            };
            vec![
                Cell::new(thread.number.to_string(), STRONG),
                state,
                safe(&thread.next).into_owned().into(),
                safe(&thread.place).into_owned().into(),
            ]
        })
        .collect();
    columns::write(page, 0, &["thread", "state", "next", "where"], &rows);
    let count = schedule.points;
    let points = if count == 1 { "point" } else { "points" };
    let branched = if schedule.is_branched {
        "; the run has left its order, and run makes it again"
    } else {
        ""
    };
    writeln!(
        page,
        "{QUIET}{count} schedule {points} so far{branched}{QUIET:#}"
    );
}

/// Sample views for tests.
#[cfg(any(test, feature = "samples"))]
pub mod samples {
    use super::*;
    use juror_view::ScheduledThreadView;

    /// Returns three threads, of which one was chosen.
    pub fn schedule() -> ScheduleView {
        let thread = |number, state, next: &str, place: &str| ScheduledThreadView {
            number,
            state,
            next: next.to_owned(),
            place: place.to_owned(),
        };
        ScheduleView {
            points: 12,
            is_branched: true,
            threads: vec![
                thread(
                    1,
                    ScheduledState::Waits,
                    "the end of thread 2",
                    "main, locks.c:75",
                ),
                thread(2, ScheduledState::Runs, "", "move, locks.c:36"),
                thread(
                    3,
                    ScheduledState::Ready,
                    "pthread_mutex_lock(bob)",
                    "move, locks.c:36",
                ),
            ],
        }
    }

    /// Returns a thread that waits for another one.
    pub fn waiting() -> Vec<WaitingThreadView> {
        vec![WaitingThreadView {
            number: 2,
            place: "move, locks.c:37".into(),
            object: Some("bob".into()),
            holder: Some(3),
            taken_at: Some("move, locks.c:36".into()),
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::plain;

    #[test]
    fn a_thread_that_waits_is_told_with_the_one_that_has_what_it_waits_for() {
        assert_eq!(
            lines(StandstillKind::Deadlock, &samples::waiting()),
            "thread 2 (move, locks.c:37) waits for bob, which thread 3 has (move, locks.c:36)\n"
        );
        let endless = lines(StandstillKind::Endless, &[]);
        assert_eq!(endless, "within the limits of the run");
    }

    #[test]
    fn the_threads_are_shown_side_by_side() {
        let text = plain(|page| write(page, &samples::schedule()));
        let shown: Vec<&str> = text.lines().map(str::trim_end).collect();
        assert_eq!(
            shown,
            [
                "thread  state      next                     where",
                "1       waits for  the end of thread 2      main, locks.c:75",
                "2       runs                                move, locks.c:36",
                "3       ready      pthread_mutex_lock(bob)  move, locks.c:36",
                "12 schedule points so far; the run has left its order, and run makes it again",
            ]
        );
    }
}
