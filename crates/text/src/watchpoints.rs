//! Stops at watchpoints.

use crate::escape::safe;
use crate::locations::long_location;
use crate::page::{NAME, Page, QUIET, STRONG};
use juror_view::WatchedAccess;

/// Writes accesses to watched memory, with the values and who made them.
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
        let lead = match number {
            // The run has gone back to it.
            0 => "Last write".to_owned(),
            number => format!("Watchpoint {number}"),
        };
        writeln!(
            page,
            "{STRONG}{lead}{STRONG:#}  {NAME}{}{NAME:#}",
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

/// Writes the watchpoints that were deleted because the call of their variables ended.
pub fn write_ended(page: &mut Page, numbers: &[u32], expressions: &[String], function: &str) {
    for (number, expression) in numbers.iter().zip(expressions) {
        writeln!(
            page,
            "{STRONG}Watchpoint {number}{STRONG:#} deleted: the call of {} that {NAME}{}{NAME:#} belongs to has ended",
            safe(function),
            safe(expression)
        );
    }
    page.gap();
}
