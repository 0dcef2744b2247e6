//! The communication of threads under a schedule: a column for each thread.

use crate::columns::{self, Cell};
use crate::escape::safe;
use crate::page::{Page, QUIET, STRONG};
use juror_view::CommunicationView;

/// With more threads, one column names the thread.
const COLUMNS_MAX: usize = 4;

/// Writes the steps, and the file to which a picture was written.
pub fn write(page: &mut Page, communication: &CommunicationView) {
    let CommunicationView {
        threads,
        steps,
        left_out,
        file,
    } = communication;
    if *left_out > 0 {
        let steps = if *left_out == 1 { "step" } else { "steps" };
        writeln!(page, "{QUIET}{left_out} older {steps} left out{QUIET:#}");
    }
    let has_columns = threads.len() <= COLUMNS_MAX;
    let heads: Vec<String> = if has_columns {
        threads.iter().map(|it| format!("thread {it}")).collect()
    } else {
        vec!["thread".to_owned(), "step".to_owned()]
    };
    let mut heading = vec!["point"];
    heading.extend(heads.iter().map(String::as_str));
    heading.push("where");
    let rows: Vec<Vec<Cell>> = steps
        .iter()
        .map(|step| {
            let words = safe(&step.step).into_owned();
            let mut row = vec![Cell::new(step.point.to_string(), QUIET)];
            if has_columns {
                let cell = |thread: &u32| {
                    let is_meant = *thread == step.thread;
                    Cell::from(if is_meant { words.as_str() } else { "" })
                };
                row.extend(threads.iter().map(cell));
            } else {
                row.push(Cell::new(step.thread.to_string(), STRONG));
                row.push(words.into());
            }
            row.push(safe(&step.place).into_owned().into());
            row
        })
        .collect();
    columns::write(page, 0, &heading, &rows);
    if let Some(file) = file {
        writeln!(page, "{} shows it", safe(file));
    }
}

/// Sample views for tests.
#[cfg(any(test, feature = "samples"))]
pub mod samples {
    use super::*;
    use juror_view::CommunicationStepView;

    /// Returns the steps of two threads, of which one waits for the other.
    pub fn communication() -> CommunicationView {
        let step = |point, thread, step: &str, place: &str| CommunicationStepView {
            point,
            thread,
            step: step.to_owned(),
            by: None,
            place: place.to_owned(),
        };
        CommunicationView {
            threads: vec![1, 2],
            steps: vec![
                step(0, 1, "begins", ""),
                step(3, 1, "pthread_mutex_lock(bob)", "main, locks.c:70"),
                step(3, 2, "begins", ""),
                step(5, 2, "pthread_mutex_lock(bob)", "move, locks.c:36"),
                step(6, 2, "waits for bob", ""),
                CommunicationStepView {
                    by: Some(1),
                    ..step(8, 2, "goes on, by thread 1", "")
                },
            ],
            left_out: 2,
            file: Some("steps.svg".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::plain;

    fn shown(communication: &CommunicationView) -> Vec<String> {
        let text = plain(|page| write(page, communication));
        text.lines()
            .map(|line| line.trim_end().to_owned())
            .collect()
    }

    #[test]
    fn each_thread_has_a_column() {
        assert_eq!(
            shown(&samples::communication()),
            [
                "2 older steps left out",
                "point  thread 1                 thread 2                 where",
                "0      begins",
                "3      pthread_mutex_lock(bob)                           main, locks.c:70",
                "3                               begins",
                "5                               pthread_mutex_lock(bob)  move, locks.c:36",
                "6                               waits for bob",
                "8                               goes on, by thread 1",
                "steps.svg shows it",
            ]
        );
    }

    #[test]
    fn the_threads_are_named_if_they_are_many() {
        let many = CommunicationView {
            threads: vec![1, 2, 3, 4, 5],
            left_out: 0,
            file: None,
            ..samples::communication()
        };
        let shown = shown(&many);
        assert_eq!(shown[0], "point  thread  step                     where");
        assert_eq!(
            shown[2],
            "3      1       pthread_mutex_lock(bob)  main, locks.c:70"
        );
    }
}
