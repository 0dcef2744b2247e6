//! Signals: traps at points, system calls, and faults.

use crate::calls;
use crate::entry::SIGNAL_STACK;
use crate::kernel::{self, call};
use crate::memory;
use crate::points;
use crate::protocol::*;
use crate::returns;
use crate::runs;
use crate::settings;
use crate::threads::{self, Frame, PARTS, context, current};
use core::arch::asm;

const SIGILL: u64 = 4;
const SIGTRAP: u64 = 5;
const SIGBUS: u64 = 7;
const SIGFPE: u64 = 8;
const SIGSEGV: u64 = 11;
const SIGSYS: u64 = 31;
/// `SA_SIGINFO`, `SA_ONSTACK`, `SA_NODEFER`, `SA_RESTORER`.
const FLAGS: u64 = 4 | 0x0800_0000 | 0x4000_0000 | 0x0400_0000;
const SET_PARENT_DEATH_SIGNAL: u64 = 1;
const KILL: u64 = 9;
const SET_DISPATCH: u64 = 59;
const DISPATCH_ON: u64 = 1;
/// The size of the image and of all that belongs to it.
const OWN_SIZE: u64 = 0x1000_0000_0000;
const OWN_START: u64 = 0x2000_0000_0000;

/// Whether system calls of the program are dispatched: always.
static SELECTOR: u8 = 1;

const SIGNALS: usize = 65;
/// The actions that the program has set: they are not the kernel's.
static mut ACTIONS: [[u64; 4]; SIGNALS] = [[0; 4]; SIGNALS];

fn actions() -> &'static mut [[u64; 4]; SIGNALS] {
    // SAFETY: one thread runs the agent.
    unsafe { &mut *(&raw mut ACTIONS) }
}

static mut NOTED_ACTIONS: [[u64; 4]; SIGNALS] = [[0; 4]; SIGNALS];

/// Notes the actions, to which each run returns.
pub fn note_actions() {
    // SAFETY: one thread runs the agent.
    unsafe { NOTED_ACTIONS = *actions() };
}

/// Makes the actions what they were when they were noted.
pub fn put_actions_back() {
    // SAFETY: one thread runs the agent.
    *actions() = unsafe { NOTED_ACTIONS };
}

/// Returns whether a signal ends the program: it has no action of the program's own.
pub fn is_default(signal: u64) -> bool {
    actions().get(signal as usize).is_some_and(|it| it[0] == 0)
}

/// Sets or returns an action (rt_sigaction(2)).
pub fn act(signal: u64, new: u64, old: u64) -> i64 {
    const INVALID: i64 = -22;
    let Some(action) = actions().get_mut(signal as usize).filter(|_| signal != 0) else {
        return INVALID;
    };
    if old != 0 {
        for (number, word) in action.iter().enumerate() {
            // SAFETY: the program has given the address.
            unsafe { ((old + number as u64 * 8) as *mut u64).write_unaligned(*word) };
        }
    }
    if new != 0 {
        for (number, word) in action.iter_mut().enumerate() {
            *word = memory::read_u64(new + number as u64 * 8);
        }
    }
    0
}

/// Takes the signals. Returns false if the kernel does not know what is needed.
pub fn begin() -> bool {
    let stack = &raw const SIGNAL_STACK as u64;
    let stack = [stack, 0, 1 << 17];
    // SAFETY: the stack, the handler and the selector live for ever; no other code of the process runs
    // meanwhile.
    unsafe {
        call(kernel::SIGALTSTACK, [stack.as_ptr() as u64, 0, 0, 0, 0, 0]);
        let action = [
            on_signal as *const () as u64,
            FLAGS,
            on_signal as *const () as u64,
            0,
        ];
        for signal in [SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS] {
            let arguments = [signal, action.as_ptr() as u64, 0, 8, 0, 0];
            call(kernel::RT_SIGACTION, arguments);
        }
        call(kernel::PRCTL, [SET_PARENT_DEATH_SIGNAL, KILL, 0, 0, 0, 0]);
        let dispatch = [
            SET_DISPATCH,
            DISPATCH_ON,
            OWN_START,
            OWN_SIZE,
            &raw const SELECTOR as u64,
            0,
        ];
        call(kernel::PRCTL, dispatch) == 0
    }
}

/// The numbers in instructions of the registers in a signal frame, which begins with `r8`.
const ORDER: [usize; 16] = [8, 9, 10, 11, 12, 13, 14, 15, 7, 6, 5, 3, 2, 0, 1, 4];
/// The offsets in a signal frame.
const REGISTERS_AT: u64 = 40;
const COUNTER_AT: u64 = REGISTERS_AT + 16 * 8;
const FLAGS_AT: u64 = COUNTER_AT + 8;
const STATE_AT: u64 = REGISTERS_AT + 23 * 8;

extern "C" fn on_signal(signal: u64, information: u64, frame: u64) -> ! {
    let counter = memory::read_u64(frame + COUNTER_AT);
    if (OWN_START..OWN_START + OWN_SIZE).contains(&counter) {
        let address = memory::read_u64(information + 16);
        let is_own = OWN_START..OWN_START + OWN_SIZE;
        if signal == SIGSEGV && address != 0 && !is_own.contains(&address) {
            runs::give_up(REASON_UNMAPPED);
        }
        settings::set_word(FAULT_COUNTER, counter);
        runs::give_up(REASON_FAULT);
    }
    let index = current();
    take(frame, &mut context(index).frame);
    match signal {
        SIGSYS => calls::on_call(index),
        SIGTRAP if returns::end_wait(index, counter.wrapping_sub(1)) => threads::go_on(index),
        SIGTRAP => match settings::site_at(counter.wrapping_sub(1)) {
            Some(number) => points::on_site(number),
            None => runs::give_up(REASON_TRAP),
        },
        signal if is_default(signal) => runs::end_killed(signal),
        _ => runs::give_up(REASON_SIGNAL),
    }
}

/// Takes the registers from a signal frame; those that are not in the frame of a thread are loaded.
fn take(from: u64, to: &mut Frame) {
    for (number, register) in ORDER.iter().enumerate() {
        to.general[*register] = memory::read_u64(from + REGISTERS_AT + number as u64 * 8);
    }
    to.counter = memory::read_u64(from + COUNTER_AT);
    to.flags = memory::read_u64(from + FLAGS_AT);
    let state = memory::read_u64(from + STATE_AT);
    // SAFETY: the kernel has written the state, aligned, as the instruction reads it.
    unsafe {
        asm!(
            "xrstor64 [{state}]",
            "movups [{to}], xmm0",
            "movups [{to} + 16], xmm1",
            "movups [{to} + 32], xmm2",
            "movups [{to} + 48], xmm3",
            "movups [{to} + 64], xmm4",
            "movups [{to} + 80], xmm5",
            "movups [{to} + 96], xmm6",
            "movups [{to} + 112], xmm7",
            "movups [{to} + 128], xmm8",
            "movups [{to} + 144], xmm9",
            "movups [{to} + 160], xmm10",
            "movups [{to} + 176], xmm11",
            "movups [{to} + 192], xmm12",
            "movups [{to} + 208], xmm13",
            "movups [{to} + 224], xmm14",
            "movups [{to} + 240], xmm15",
            state = in(reg) state,
            to = in(reg) &raw mut to.vectors,
            inout("eax") PARTS => _, inout("edx") 0 => _,
            clobber_abi("C"), options(nostack)
        );
    }
}
