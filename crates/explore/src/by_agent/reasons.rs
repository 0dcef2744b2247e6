//! The reasons for which runs cannot be made in the process, in words.

use juror_agent::protocol;
use juror_points::system_call_names::system_call_name;

/// Returns what the program does that cannot be held, or put back.
pub(super) fn words(reason: u64) -> String {
    if let Some(call) = reason.checked_sub(protocol::REASON_CALL) {
        return format!("makes the system call {}", system_call_name(call));
    }
    let words = match reason {
        protocol::REASON_THREADS => "has many threads",
        protocol::REASON_MEMORY => "has much memory",
        protocol::REASON_OVER => "goes on when all of its threads have ended",
        protocol::REASON_SPURIOUS => "gives its conditions to functions of its own",
        protocol::REASON_TRAP => "has traps of its own",
        protocol::REASON_UNMAPPED => "gives addresses at which there is nothing",
        protocol::REASON_SIGNAL => "sends itself signals",
        _ => "does what is not foreseen there",
    };
    words.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_words() {
        assert_eq!(words(20_257), "makes the system call openat");
        assert_eq!(words(protocol::REASON_THREADS), "has many threads");
        assert_eq!(
            words(protocol::REASON_FAULT),
            "does what is not foreseen there"
        );
    }
}
