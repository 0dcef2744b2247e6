//! Events as parts of a sentence: `after a store to total`.
//!
//! Lists of events use the words of the property language (`write total`); sentences
//! use these phrases.

use juror_event::EventKind;

/// Returns the phrase that follows `Stopped` for an event in the words of the property
/// language.
pub fn phrase(what: &str) -> String {
    match EventKind::of_words(what) {
        Some((kind, subject)) => phrase_of(kind, subject),
        // A newer version of juror has recorded it.
        None => format!("at {what}"),
    }
}

/// Returns what joins the phrase and the location of the thread: ` in ` if the event
/// happened there, `, in ` if the thread has moved on since.
pub fn joint(what: &str) -> &'static str {
    use EventKind::{ModuleLoad, ModuleUnload, ProgramExit, ThreadEnd, Unwound};
    match EventKind::of_words(what) {
        Some((ThreadEnd | ModuleLoad | ModuleUnload | ProgramExit | Unwound, _)) => ", in ",
        _ => " in ",
    }
}

/// Returns the subject of an event: `total` for `write total`.
pub fn subject(what: &str) -> &str {
    EventKind::of_words(what).map_or("", |(_, subject)| subject)
}

/// Returns the phrase for an event of this kind.
fn phrase_of(kind: EventKind, subject: &str) -> String {
    let named = |with: &str, without: &str| {
        if subject.is_empty() {
            without.to_owned()
        } else {
            with.replace('*', subject)
        }
    };
    match kind {
        EventKind::BeforeCall => named("before *", "before a call"),
        EventKind::AfterCall => named("after *", "after a call"),
        EventKind::Unwound => named("after * was unwound", "after a call was unwound"),
        EventKind::Read => named("after a read of *", "after a read"),
        EventKind::Write => named("after a store to *", "after a store"),
        EventKind::Change => named("after a change of *", "after a change"),
        EventKind::Access => named("after an access to *", "after an access"),
        EventKind::SystemCallEntry => named("before system call *", "before a system call"),
        EventKind::SystemCallExit => named("after system call *", "after a system call"),
        EventKind::Signal => named(
            "before the delivery of *",
            "before the delivery of a signal",
        ),
        EventKind::ThreadStart => "at the start of a thread".to_owned(),
        EventKind::ThreadEnd => "after the end of a thread".to_owned(),
        EventKind::ModuleLoad => named("after * was loaded", "after a module was loaded"),
        EventKind::ModuleUnload => named("after * was unloaded", "after a module was unloaded"),
        EventKind::Line => named("before line *", "before a line"),
        EventKind::ProgramStart => "at the start of the program".to_owned(),
        EventKind::ProgramExit => "after the end of the program".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(what: &str, expected: &str) {
        let sentence = format!("Stopped {}{}main", phrase(what), joint(what));
        assert_eq!(sentence, expected, "{what}");
    }

    #[test]
    fn each_kind_of_event_makes_a_sentence() {
        check("before queue_push", "Stopped before queue_push in main");
        check("after queue_new", "Stopped after queue_new in main");
        check(
            "unwound queue_new",
            "Stopped after queue_new was unwound, in main",
        );
        check("read limit", "Stopped after a read of limit in main");
        check(
            "write board[0..81]",
            "Stopped after a store to board[0..81] in main",
        );
        check(
            "change q->count",
            "Stopped after a change of q->count in main",
        );
        check(
            "access *answer",
            "Stopped after an access to *answer in main",
        );
        check("entry read", "Stopped before system call read in main");
        check("entry 318", "Stopped before system call 318 in main");
        check("exit read", "Stopped after system call read in main");
        check(
            "signal SIGUSR1",
            "Stopped before the delivery of SIGUSR1 in main",
        );
        check("signal", "Stopped before the delivery of a signal in main");
        check("thread start", "Stopped at the start of a thread in main");
        check("thread end", "Stopped after the end of a thread, in main");
        check("module load", "Stopped after a module was loaded, in main");
        check("module load libm", "Stopped after libm was loaded, in main");
        check(
            "module unload",
            "Stopped after a module was unloaded, in main",
        );
        check(
            "module unload libm",
            "Stopped after libm was unloaded, in main",
        );
        check("line queue.c:42", "Stopped before line queue.c:42 in main");
        check(
            "program start",
            "Stopped at the start of the program in main",
        );
        check(
            "program exit",
            "Stopped after the end of the program, in main",
        );
        check("a newer kind", "Stopped at a newer kind in main");
    }

    #[test]
    fn each_kind_has_a_phrase_of_its_own() {
        for kind in EventKind::ALL {
            let phrase = phrase(kind.word());
            let first = phrase.split(' ').next();
            assert!(matches!(first, Some("before" | "after" | "at")), "{phrase}");
            assert_ne!(phrase, format!("at {kind}"));
        }
    }
}
