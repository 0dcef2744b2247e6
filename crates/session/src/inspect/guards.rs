//! Guards of Rust's locks: they say who holds a lock of the standard library.
//!
//! Such a lock has no owner in memory. Its guard points to it and is a variable, or a part of one, of
//! the function that holds it, whose debug information says where. A guard that was moved or dropped
//! is still in its variable: whether that may be so, the source says.

use crate::session::Session;
use juror_debuggee::ThreadId;
use juror_program::locations;
use juror_program::program::Program;
use juror_program::stack::frames::Frame;
use juror_symbols::TypeKind;
use juror_values::typed::{Memory, Number, Typed};
use juror_view::GuardView;
use std::ops::Range;

/// The types of guards in the standard library, without module and parameters.
const GUARDS: [&str; 4] = [
    "MutexGuard",
    "RwLockReadGuard",
    "RwLockWriteGuard",
    "ReentrantLockGuard",
];

/// The fields of guards that point to the lock.
const LOCKS: [&str; 2] = ["lock", "inner_lock"];

/// How deep a guard may be in a variable.
const DEPTH_MAX: usize = 4;

/// The most lines of a function that are looked through for what drops a guard.
const LINES_MAX: usize = 400;

/// A guard in a variable of a frame.
#[derive(Debug)]
pub(crate) struct Guard {
    /// The bytes that the lock waits with.
    lock: Range<u64>,
    thread: ThreadId,
    frame: Frame,
    /// The variable.
    name: String,
}

/// Returns the guards in the variables of stacks.
pub(crate) fn guards(program: &Program, stacks: &[(ThreadId, &[Frame])]) -> Vec<Guard> {
    let mut found: Vec<Guard> = Vec::new();
    for (thread, frames) in stacks {
        for frame in *frames {
            for (variable, _) in program.variables(frame) {
                let value = program.value_of(frame, &variable);
                let mut locks = Vec::new();
                add_locks(&value, program, DEPTH_MAX, &mut locks);
                // A guard that was handed on is in the innermost frame.
                locks.retain(|lock| {
                    !found
                        .iter()
                        .any(|it| it.thread == *thread && it.lock == *lock)
                });
                found.extend(locks.into_iter().map(|lock| Guard {
                    lock,
                    thread: *thread,
                    frame: frame.clone(),
                    name: variable.name.to_string(),
                }));
            }
        }
    }
    found
}

/// Returns the guards of the lock that waits with an address, and whether it is certain that the
/// first one holds it: it is the only one, and nothing may have dropped it.
pub(crate) fn of_lock(
    session: &mut Session,
    guards: &[Guard],
    address: u64,
) -> (Vec<GuardView>, bool) {
    let found: Vec<&Guard> = guards
        .iter()
        .filter(|it| it.lock.contains(&address))
        .collect();
    let is_certain = match &*found {
        [guard] => !may_be_dropped(session, guard),
        _ => false,
    };
    let Some(program) = &session.processes.program else {
        return (Vec::new(), false);
    };
    let views = found.into_iter().map(|guard| GuardView {
        thread: program.thread_number(guard.thread),
        location: locations::location_of(program, &guard.frame),
    });
    (views.collect(), is_certain)
}

/// Adds the locks to whose guards a value, or a part of it, belongs.
fn add_locks(value: &Typed, memory: &dyn Memory, depth: usize, found: &mut Vec<Range<u64>>) {
    let of = value.r#type.strip();
    let TypeKind::Composite(composite) = of.kind() else {
        return;
    };
    if is_guard(&of.name()) {
        let fields = LOCKS
            .iter()
            .filter_map(|name| value.field(name, memory).ok());
        found.extend(fields.filter_map(|field| lock_of(&field, memory)));
        return;
    }
    if depth > 0 && composite.variants.is_none() {
        for field in &composite.fields {
            add_locks(&value.member(field), memory, depth - 1, found);
        }
    }
}

fn is_guard(name: &str) -> bool {
    let plain = name.split('<').next().unwrap_or(name);
    let plain = plain.rsplit("::").next().unwrap_or(plain);
    GUARDS.contains(&plain)
}

/// Returns the bytes of the lock that a pointer points to: those of the system's lock in it, without the
/// data that it guards.
fn lock_of(pointer: &Typed, memory: &dyn Memory) -> Option<Range<u64>> {
    let (TypeKind::Pointer(to) | TypeKind::Reference(to)) = pointer.r#type.strip().kind() else {
        return None;
    };
    let Ok(Number::Pointer(address, _)) = pointer.number(memory) else {
        return None;
    };
    let to = to.strip();
    let (start, size) = match to.field("inner") {
        Some(inner) => (address.checked_add(inner.offset)?, inner.r#type.size()?),
        None => (address, to.size()?),
    };
    Some(start..start.checked_add(size)?)
}

/// Returns whether the function may have moved or dropped a guard before its present line. Without
/// source it may.
fn may_be_dropped(session: &mut Session, guard: &Guard) -> bool {
    let (Some(file), Some(line)) = (&guard.frame.file, guard.frame.line) else {
        return true;
    };
    let Ok(text) = session.user.sources.whole(file) else {
        return true;
    };
    let lines: Vec<&str> = text.lines().take(line as usize).collect();
    moves(&lines, &guard.name)
}

/// Returns whether the function that the last line belongs to moves a variable.
fn moves(lines: &[&str], name: &str) -> bool {
    for line in lines.iter().rev().take(LINES_MAX) {
        let line = line.split("//").next().unwrap_or(line);
        if line.split_whitespace().any(|word| word == "fn") {
            return false;
        }
        if moves_in_line(line, name) {
            return true;
        }
    }
    true
}

fn moves_in_line(line: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(name).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + name.len()..]);
        if before.ends_with(is_part) || after.starts_with(is_part) {
            return false;
        }
        let before = before.trim_end();
        let is_given = before.ends_with(['(', ',', '=', '{', '[']) || before.ends_with("return");
        let is_whole = after.trim_start().starts_with([')', ',', ';', '}', ']']);
        let is_last = after.trim().is_empty();
        (is_given && (is_whole || is_last)) || (before.is_empty() && is_last)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_guards_are_known_with_their_modules_and_parameters() {
        assert!(is_guard(
            "std::sync::poison::mutex::MutexGuard<alloc::vec::Vec<u8>>"
        ));
        assert!(is_guard("RwLockReadGuard<u64>"));
        assert!(!is_guard("Option<MutexGuard<u64>>"));
        assert!(!is_guard("MutexGuards"));
    }

    #[test]
    fn a_guard_that_is_given_away_may_be_dropped() {
        for (line, expected) in [
            ("drop(guard);", true),
            ("consume(1, guard)", true),
            ("let other = guard;", true),
            ("Holder { guard }", true),
            ("guard", true),
            ("return guard;", true),
            ("let guard = lock.lock().unwrap();", false),
            ("*guard += 1;", false),
            ("sum(*guard, &guard);", false),
            ("guard.push(1);", false),
            ("drop(guards);", false),
            ("// drop(guard)", false),
        ] {
            assert_eq!(
                moves(&["fn f() {", line, "wait();"], "guard"),
                expected,
                "{line}"
            );
        }
        assert!(!moves(&["drop(guard)", "fn f() {", "wait()"], "guard"));
        assert!(moves(&["wait()"], "guard"));
    }
}
