//! The threads: where each is, for what it waits, and who holds that.

use crate::columns::{self, Cell};
use crate::escape::safe;
use crate::locations::long_location;
use crate::page::{BAD, Page, STRONG};
use juror_view::{ThreadView, WaitView};
use std::collections::HashMap;

/// The number of threads of one name in one place from which they are one row.
const GROUP_MIN: usize = 3;

/// Writes the threads; the selected one is marked. Those of one name that stand in the same place are
/// one row.
pub fn write(page: &mut Page, threads: &[ThreadView]) {
    if threads.is_empty() {
        page.push("No threads: the program is not running.\n");
    }
    let places = threads.iter().map(|it| thread_place(page, it, threads));
    let places: Vec<String> = places.collect();
    let mut groups: HashMap<(&str, &str), Vec<u32>> = HashMap::new();
    for (thread, place) in threads.iter().zip(&places).filter(|it| !it.0.current) {
        let group = groups.entry((&thread.name, place)).or_default();
        group.push(thread.number);
    }
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for (thread, place) in threads.iter().zip(&places) {
        let group = groups.get(&(&*thread.name, &**place));
        let group = group.filter(|group| !thread.current && group.len() >= GROUP_MIN);
        let (number, id) = match group {
            // The row of its first thread stands for all.
            Some(group) if group.first() != Some(&thread.number) => continue,
            Some(group) => (ranges(group), format!("{} threads", group.len())),
            None => (thread.number.to_string(), id_of(thread)),
        };
        rows.push(vec![
            if thread.current { "→" } else { " " }.into(),
            Cell::new(number, STRONG),
            id.into(),
            safe(&thread.name).as_ref().into(),
            place.as_str().into(),
        ]);
    }
    let heading = ["", "#", "id", "name", "where"];
    columns::write(page, 0, &heading, &rows);
    write_deadlock(page, threads);
}

/// Returns ascending numbers with ranges: `2-5, 7`.
fn ranges(numbers: &[u32]) -> String {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match found.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => found.push((number, number)),
        }
    }
    let words = found.iter().map(|(first, last)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first}-{last}")
        }
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Returns the kernel's ID of a thread, if it is known.
fn id_of(thread: &ThreadView) -> String {
    match thread.id {
        0 => String::new(),
        id => id.to_string(),
    }
}

/// Returns where a thread is: in a library, with the caller that has source.
fn thread_place(page: &Page, thread: &ThreadView, all: &[ThreadView]) -> String {
    let place = long_location(page, &thread.location);
    let place = match &thread.caller {
        Some(caller) => format!("{place}, called from {}", long_location(page, caller)),
        None => place,
    };
    match &thread.waits {
        Some(waits) => format!("{place}, waits for {}", wait_words(page, waits, all)),
        None => place,
    }
}

/// Returns for what a thread waits, and who holds it, with the line of the user's code where the
/// holder is.
fn wait_words(page: &Page, waits: &WaitView, all: &[ThreadView]) -> String {
    let what = safe(&waits.what);
    if !waits.guards.is_empty() {
        return format!("{what}, {}", guard_words(page, waits));
    }
    match waits.holder {
        // The end of a thread names it.
        Some(holder) if !what.ends_with(&format!("thread {holder}")) => {
            let holding = all.iter().find(|it| it.number == holder);
            let place = holding.map(|it| it.caller.as_ref().unwrap_or(&it.location));
            let place = place.filter(|place| place.line.is_some());
            let place = place.map_or(String::new(), |it| {
                format!(" ({})", long_location(page, it))
            });
            format!("{what}, which thread {holder} holds{place}")
        }
        _ => what.into_owned(),
    }
}

/// Returns which threads have guards of a lock, and where.
fn guard_words(page: &Page, waits: &WaitView) -> String {
    let words = waits.guards.iter().map(|guard| {
        let place = long_location(page, &guard.location);
        format!("thread {} (a guard in {place})", guard.thread)
    });
    let words = words.collect::<Vec<_>>().join(" or ");
    match (waits.holder, waits.guards.len()) {
        (Some(_), _) => format!("held by {words}"),
        (None, 1) => format!("may be held by {words}, unless it was dropped"),
        (None, _) => format!("may be held by {words}"),
    }
}

/// Returns the threads that wait for one another in a circle, each for the next one; empty if there
/// is no circle.
fn deadlock(threads: &[ThreadView]) -> Vec<u32> {
    let holder = |number: u32| {
        let thread = threads.iter().find(|it| it.number == number)?;
        thread.waits.as_ref()?.holder
    };
    for thread in threads {
        let mut circle = vec![thread.number];
        while let Some(next) = circle.last().and_then(|&last| holder(last)) {
            if next == thread.number {
                return circle;
            }
            if circle.contains(&next) {
                break;
            }
            circle.push(next);
        }
    }
    Vec::new()
}

/// Writes that threads wait for one another.
fn write_deadlock(page: &mut Page, threads: &[ThreadView]) {
    let circle = deadlock(threads);
    let (Some(first), rest) = (circle.first(), circle.get(1..).unwrap_or_default()) else {
        return;
    };
    let all = rest.iter().chain([first]);
    let links: Vec<String> = all.map(|number| format!("thread {number}")).collect();
    let links = links.join(", which waits for ");
    write!(
        page,
        "{BAD}Deadlock:{BAD:#} thread {first} waits for {links}."
    );
    page.end_line(2);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::plain;
    use crate::stops::samples::location;
    use crate::tables::samples;
    use juror_view::GuardView;

    #[test]
    fn the_current_thread_is_marked() {
        assert_eq!(
            plain(|page| write(page, &samples::threads())),
            "   #  id    name         where
→  1  4711  main         take at src/queue.c:40
   2  4712  work\\u{7}er  take at src/queue.c:40, called from serve at src/queue.c:12, waits for the mutex `q\\u{7}`, held by thread 1 (a guard in take at src/queue.c:40)
"
        );
    }

    #[test]
    fn threads_of_one_name_in_one_place_are_one_row() {
        let named = |number: u32, name: &str, line: u32| ThreadView {
            number,
            id: 4710 + number,
            name: name.into(),
            current: number == 2,
            location: location("take", "queue.c", line),
            caller: None,
            waits: None,
        };
        let lines = [40, 9, 9, 9, 8, 9, 40];
        let threads = (1..)
            .zip(lines)
            .map(|(number, line)| named(number, "worker", line));
        assert_eq!(
            plain(|page| write(page, &threads.collect::<Vec<_>>())),
            "   #       id         name    where
   1       4711       worker  take at src/queue.c:40
→  2       4712       worker  take at src/queue.c:9
   3-4, 6  3 threads  worker  take at src/queue.c:9
   5       4715       worker  take at src/queue.c:8
   7       4717       worker  take at src/queue.c:40
"
        );
    }

    #[test]
    fn a_guard_says_who_may_hold_a_lock() {
        let guard = |thread: u32, line: u32| GuardView {
            thread,
            location: location("transfer", "bank.rs", line),
        };
        let said = |holder: Option<u32>, guards: &[GuardView]| {
            let waits = WaitView {
                what: "the lock at 0x10".into(),
                holder,
                guards: guards.to_vec(),
            };
            wait_words(&Page::new(Some("/home/user".into())), &waits, &[])
        };
        assert!(
            said(Some(2), &[guard(2, 7)])
                .contains("0x10, held by thread 2 (a guard in transfer at ")
        );
        assert!(said(None, &[guard(2, 7)]).contains(", may be held by thread 2 (a guard in "));
        assert!(said(None, &[guard(2, 7)]).ends_with("bank.rs:7), unless it was dropped"));
        let both = said(None, &[guard(2, 7), guard(3, 8)]);
        assert!(
            both.contains("bank.rs:7) or thread 3 (a guard in "),
            "{both}"
        );
    }

    #[test]
    fn threads_that_wait_in_a_circle_are_told() {
        let waits = |what: &str, holder: Option<u32>| {
            Some(WaitView {
                what: what.to_owned(),
                holder,
                guards: Vec::new(),
            })
        };
        let all = |waits: [Option<WaitView>; 3]| -> Vec<ThreadView> {
            let threads = (1..).zip(waits).map(|(number, waits)| ThreadView {
                number,
                waits,
                ..samples::threads().remove(0)
            });
            threads.collect()
        };
        let joins = || waits("the end of thread 2", Some(2));
        let lock = |holder| waits("the mutex `a`", Some(holder));
        for (threads, expected) in [
            (all([joins(), lock(3), lock(2)]), &[2, 3][..]),
            (all([lock(1), None, None]), &[1]),
            (all([joins(), lock(1), None]), &[1, 2]),
            (all([joins(), lock(3), None]), &[]),
            (all([joins(), waits("a barrier", None), lock(9)]), &[]),
        ] {
            assert_eq!(deadlock(&threads), expected);
        }
        let threads = all([joins(), lock(3), lock(2)]);
        let text = plain(|page| write(page, &threads));
        let expected = "Deadlock: thread 2 waits for thread 3, which waits for thread 2.\n";
        assert!(text.ends_with(expected), "{text}");
        assert!(text.contains("waits for the end of thread 2\n"), "{text}");
    }
}
