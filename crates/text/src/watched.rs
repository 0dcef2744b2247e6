//! Stops at watched memory.

use crate::escape::safe;
use crate::page::{NAME, Page, QUIET, STRONG};
use crate::places::long_location;
use juror_view::WatchedAccess;

/// Writes what was done to watched memory, and the values.
pub fn write_accesses(page: &mut Page, accesses: &[WatchedAccess]) {
    for access in accesses {
        let WatchedAccess {
            number,
            expression,
            access: kind,
            before,
            value,
            place,
            system_call,
        } = access;
        writeln!(
            page,
            "{STRONG}Watchpoint {number}{STRONG:#}  {NAME}{}{NAME:#}",
            safe(expression)
        );
        match before {
            Some(before) if before == value => {
                writeln!(page, "  written, still {}", safe(value));
            }
            Some(before) => {
                writeln!(page, "  {} → {}", safe(before), safe(value));
            }
            None => writeln!(page, "  {}: {}", safe(kind), safe(value)),
        }
        let by = match system_call {
            Some(call) => format!("by the system call {}, made in ", safe(call)),
            None => "by ".to_owned(),
        };
        let place = long_location(page, place);
        writeln!(page, "  {QUIET}{by}{QUIET:#}{place}");
    }
    page.gap();
}

/// Writes which watchpoints went with their call.
pub fn write_ended(page: &mut Page, numbers: &[u32], expressions: &[String], function: &str) {
    for (number, expression) in numbers.iter().zip(expressions) {
        writeln!(
            page,
            "{STRONG}Watchpoint {number}{STRONG:#} is gone: {NAME}{}{NAME:#} has ended with its call of {}",
            safe(expression),
            safe(function)
        );
    }
    page.gap();
}
