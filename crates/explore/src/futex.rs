//! Futex calls as the scheduler takes them, from the registers of a thread at the entry of the
//! call (futex(2)).

use juror_schedule::FutexCall;

const WAIT: i32 = 0;
const WAKE: i32 = 1;
const REQUEUE: i32 = 3;
const CMP_REQUEUE: i32 = 4;
const WAKE_OP: i32 = 5;
const LOCK_PI: i32 = 6;
const UNLOCK_PI: i32 = 7;
const TRYLOCK_PI: i32 = 8;
const WAIT_BITSET: i32 = 9;
const WAKE_BITSET: i32 = 10;
const LOCK_PI2: i32 = 13;

/// `FUTEX_PRIVATE_FLAG`, which says nothing that matters here.
const PRIVATE: i32 = 128;
/// `FUTEX_CLOCK_REALTIME`.
const REALTIME: i32 = 256;

/// `-EAGAIN`.
pub(crate) const AGAIN: i64 = -11;
/// `FUTEX_WAITV_MAX`, and the size of a `struct futex_waitv`.
pub(crate) const WAITV_MAX: u64 = 128;
pub(crate) const WAITV_SIZE: u64 = 24;

/// The clock of a time-out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clock {
    /// From now on.
    Relative,
    Monotonic,
    Realtime,
}

/// A call, with what is still to be read: the time-out at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) call: FutexCall,
    /// The address of the time-out and its clock.
    pub(crate) timeout: Option<(u64, Clock)>,
}

impl Decoded {
    /// Returns the call with the deadline of its time-out.
    pub(crate) fn with_deadline(self, until: Option<u64>) -> FutexCall {
        let mut call = self.call;
        if let FutexCall::Wait { deadline, .. } | FutexCall::LockPi { deadline, .. } = &mut call {
            *deadline = until;
        }
        call
    }
}

/// Returns the addresses of the words that the call is about.
pub(crate) fn words(call: &FutexCall) -> (u64, Option<u64>) {
    match *call {
        FutexCall::Wait { address, .. }
        | FutexCall::Wake { address, .. }
        | FutexCall::LockPi { address, .. }
        | FutexCall::TryLockPi { address }
        | FutexCall::UnlockPi { address } => (address, None),
        FutexCall::Requeue { from, to, .. } => (from, Some(to)),
        FutexCall::WakeOp { first, second, .. } => (first, Some(second)),
    }
}

/// Returns whether these are the arguments of a wait without a time-out.
pub(crate) fn waits_without_end(arguments: [u64; 6]) -> bool {
    let decoded = decode(arguments);
    decoded.is_some_and(|it| matches!(it.call, FutexCall::Wait { .. }) && it.timeout.is_none())
}

/// Reads the arguments of `futex`; nothing for an operation that is not known.
pub(crate) fn decode(arguments: [u64; 6]) -> Option<Decoded> {
    let [address, operation, value, fourth, second, sixth] = arguments;
    let operation = operation as i32;
    let clock = if operation & REALTIME == 0 {
        Clock::Monotonic
    } else {
        Clock::Realtime
    };
    let command = operation & !(PRIVATE | REALTIME);
    let timeout = |clock| (fourth != 0).then_some((fourth, clock));
    let wait = |mask| FutexCall::Wait {
        address,
        expected: value as u32,
        mask,
        deadline: None,
    };
    let wake = |mask| FutexCall::Wake {
        address,
        count: value as i32,
        mask,
    };
    let requeue = |expected| FutexCall::Requeue {
        from: address,
        to: second,
        wake: value as i32,
        requeue: fourth as i32,
        expected,
    };
    let lock = FutexCall::LockPi {
        address,
        deadline: None,
    };
    let (call, timeout) = match command {
        WAIT => (wait(u32::MAX), timeout(Clock::Relative)),
        WAIT_BITSET => (wait(sixth as u32), timeout(clock)),
        WAKE => (wake(u32::MAX), None),
        WAKE_BITSET => (wake(sixth as u32), None),
        REQUEUE => (requeue(None), None),
        CMP_REQUEUE => (requeue(Some(sixth as u32)), None),
        WAKE_OP => {
            let call = FutexCall::WakeOp {
                first: address,
                second,
                wake_first: value as i32,
                wake_second: fourth as i32,
                operation: sixth as u32,
            };
            (call, None)
        }
        LOCK_PI => (lock, timeout(Clock::Realtime)),
        LOCK_PI2 => (lock, timeout(clock)),
        TRYLOCK_PI => (FutexCall::TryLockPi { address }, None),
        UNLOCK_PI => (FutexCall::UnlockPi { address }, None),
        _ => return None,
    };
    Some(Decoded { call, timeout })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_out_has_the_clock_of_its_operation() {
        let clock = |operation: i32| {
            let decoded = decode([8, operation as u64, 1, 16, 0, 0]);
            decoded.and_then(|decoded| decoded.timeout)
        };
        assert_eq!(clock(WAIT | PRIVATE), Some((16, Clock::Relative)));
        assert_eq!(clock(WAIT_BITSET), Some((16, Clock::Monotonic)));
        assert_eq!(clock(WAIT_BITSET | REALTIME), Some((16, Clock::Realtime)));
        assert_eq!(clock(LOCK_PI), Some((16, Clock::Realtime)));
        assert_eq!(clock(LOCK_PI2 | PRIVATE), Some((16, Clock::Monotonic)));
        assert_eq!(clock(WAKE), None);
    }

    #[test]
    fn an_operation_that_is_not_known_is_none() {
        assert_eq!(decode([8, 99, 0, 0, 0, 0]), None);
    }

    #[test]
    fn a_requeue_has_two_words() {
        let decoded = decode([8, (CMP_REQUEUE | PRIVATE) as u64, 1, 7, 24, 3]);
        let call = decoded.map(|decoded| decoded.call);
        let expected = FutexCall::Requeue {
            from: 8,
            to: 24,
            wake: 1,
            requeue: 7,
            expected: Some(3),
        };
        assert_eq!(call, Some(expected));
        assert_eq!(call.as_ref().map(words), Some((8, Some(24))));
    }
}
