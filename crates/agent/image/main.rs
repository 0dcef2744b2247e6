//! The agent inside the debuggee: see the crate `juror-agent`.
//!
//! One kernel thread runs everything. The program enters the agent at a point (a jump to a stub, or a
//! trap) or at a system call (`SIGSYS`); the agent never returns from there, but loads the registers of
//! the thread that goes on.

#![no_std]
#![no_main]

extern crate alloc;

mod access;
mod begin;
mod calls;
mod control;
mod entry;
mod futex;
mod heap;
mod kernel;
mod locks;
mod maps;
mod memory;
mod orders;
mod points;
#[path = "../src/protocol.rs"]
#[allow(dead_code)]
mod protocol;
mod returns;
mod runs;
mod settings;
mod signals;
mod system;
mod threads;

use core::panic::PanicInfo;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    runs::give_up(protocol::REASON_FAULT)
}

/// The compiled libraries name it; nothing unwinds.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
/// As above.
#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() {}
