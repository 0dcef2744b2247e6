//! The threads of the program: contexts in user mode.

use crate::entry::{self, CURRENT_FRAME};
use crate::protocol;
use crate::returns;
use crate::runs;
use core::arch::asm;
use core::mem::MaybeUninit;

/// The most threads that a run has had.
pub const THREADS_MAX: usize = 256;

/// The parts of the state of the processor that a switch saves: x87, SSE, AVX and AVX-512.
pub const PARTS: u32 = 0xe7;

/// The general registers by their numbers in instructions, the counter, the flags, and the vectors.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Frame {
    pub general: [u64; 16],
    pub counter: u64,
    pub flags: u64,
    pub vectors: [[u64; 2]; 16],
}

pub const RAX: usize = 0;
pub const RCX: usize = 1;
pub const RDX: usize = 2;
pub const RSP: usize = 4;
pub const RSI: usize = 6;
pub const RDI: usize = 7;
pub const R8: usize = 8;
pub const R9: usize = 9;
pub const R10: usize = 10;
pub const R11: usize = 11;

/// The rest of the state of the processor.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub struct Rest(pub [u8; 4096]);

/// The step that a thread makes when it gets the baton.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Ready,
    LockCall(u64),
    Futex,
    FutexWaitv,
    Sleep(u64),
    /// It makes the call that it stands at, which does not wait.
    InCall,
    Makes,
    Exit,
    /// It reads what it changes at an address of some bytes, and writes it at its next step.
    Reads(u64, u8),
    /// It has read this there.
    Writes(u64, u8, u64),
}

/// A call of `pthread_cond_wait`.
#[derive(Clone, Copy)]
pub struct ConditionWait {
    pub condition: u64,
    pub return_address: u64,
    /// The stack pointer when it has returned.
    pub stack_then: u64,
    /// Whether it returns for no reason.
    pub is_spurious: bool,
}

/// A thread.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Context {
    pub frame: Frame,
    pub rest: Rest,
    /// The bases of `fs` and `gs`.
    pub base: u64,
    pub other_base: u64,
    pub id: u32,
    pub is_alive: bool,
    pub standing: Standing,
    /// The address of the call at which it stands; of one of the system, its number and arguments.
    pub call_site: u64,
    pub number: u64,
    pub arguments: [u64; 6],
    pub robust_list: u64,
    pub mask: u64,
    pub signal_stack: [u64; 3],
    pub awaited: Option<u64>,
    /// Where it used a lock last.
    pub site: u64,
    /// The place at which it changes memory in two steps.
    pub site_of_access: u64,
    pub condition: Option<ConditionWait>,
    pub stack_end: u64,
    /// The words of a wait for one of several.
    pub words: [u64; 8],
    pub word_count: usize,
    pub code: u64,
}

/// No thread.
pub const NONE: Context = Context {
    frame: Frame {
        general: [0; 16],
        counter: 0,
        flags: 0,
        vectors: [[0; 2]; 16],
    },
    rest: Rest([0; 4096]),
    base: 0,
    other_base: 0,
    id: 0,
    is_alive: false,
    standing: Standing::Ready,
    call_site: 0,
    number: 0,
    arguments: [0; 6],
    robust_list: 0,
    mask: 0,
    signal_stack: [0; 3],
    awaited: None,
    site: 0,
    site_of_access: 0,
    condition: None,
    stack_end: 0,
    words: [0; 8],
    word_count: 0,
    code: 0,
};

/// All zeros are a context, and no bytes of the image.
static mut CONTEXTS: MaybeUninit<[Context; THREADS_MAX]> = MaybeUninit::zeroed();
static mut COUNT: usize = 0;
/// The thread whose state the processor has.
static mut LOADED: usize = 0;

/// Returns a thread by its index.
pub fn context(index: usize) -> &'static mut Context {
    // SAFETY: one thread runs the agent, and no two references to a context are used in turn; all of
    // their parts may be zeros.
    unsafe { &mut (*(&raw mut CONTEXTS)).assume_init_mut()[index % THREADS_MAX] }
}

/// Returns the number of threads that the run has had.
pub fn count() -> usize {
    // SAFETY: one thread runs the agent.
    unsafe { COUNT }
}

/// Returns the index of the thread that runs, or ran last.
pub fn current() -> usize {
    // SAFETY: one thread runs the agent.
    unsafe { LOADED }
}

/// Returns the index of a thread by its id.
pub fn index_of(id: u32) -> usize {
    let is_it = |index: &usize| context(*index).id == id;
    match (0..count()).find(is_it) {
        Some(index) => index,
        None => runs::give_up(protocol::REASON_FAULT),
    }
}

/// Forgets all threads but the first, which is the one that is loaded.
pub fn begin(first_id: u32) -> &'static mut Context {
    // SAFETY: one thread runs the agent.
    unsafe {
        COUNT = 1;
        LOADED = 0;
        CURRENT_FRAME = &raw mut context(0).frame;
    }
    let first = context(0);
    reset(first);
    first.id = first_id;
    first
}

fn reset(context: &mut Context) {
    context.is_alive = true;
    context.standing = Standing::Ready;
    context.robust_list = 0;
    context.mask = 0;
    context.signal_stack = [0, 2, 0];
    context.awaited = None;
    context.site = 0;
    context.condition = None;
    context.stack_end = u64::MAX;
    context.word_count = 0;
    context.code = 0;
}

/// Makes a thread; returns its index.
pub fn make() -> usize {
    let index = count();
    if index >= THREADS_MAX {
        runs::give_up(protocol::REASON_THREADS);
    }
    // SAFETY: one thread runs the agent.
    unsafe { COUNT += 1 };
    let new = context(index);
    reset(new);
    new.id = context(0).id + index as u32;
    index
}

/// Saves the state of the processor beside the registers in the frame.
pub fn save_rest(to: &mut Context) {
    // SAFETY: the area is large enough and aligned; the instruction writes there alone.
    unsafe {
        asm!("xsave64 [{}]", in(reg) &raw mut to.rest, in("eax") PARTS, in("edx") 0,
            options(nostack));
    }
}

/// Loads what [`save_rest`] has saved.
pub fn load_rest(from: &Context) {
    // SAFETY: the area was written by `xsave64`; the vectors that the agent uses are clobbered.
    unsafe {
        asm!("xrstor64 [{}]", in(reg) &raw const from.rest, in("eax") PARTS, in("edx") 0,
            clobber_abi("C"), options(nostack));
    }
}

/// Returns the base of `fs`.
pub fn base() -> u64 {
    let base;
    // SAFETY: the kernel allows the instruction: juror has looked.
    unsafe { asm!("rdfsbase {}", out(reg) base, options(nomem, nostack, preserves_flags)) };
    base
}

/// Sets the base of `fs`.
pub fn set_base(base: u64) {
    // SAFETY: as above; the agent itself has no thread-local memory.
    unsafe { asm!("wrfsbase {}", in(reg) base, options(nomem, nostack, preserves_flags)) };
}

/// Returns the base of `gs`.
pub fn other_base() -> u64 {
    let base;
    // SAFETY: as above.
    unsafe { asm!("rdgsbase {}", out(reg) base, options(nomem, nostack, preserves_flags)) };
    base
}

/// Sets the base of `gs`, which the agent itself does not use.
pub fn set_other_base(base: u64) {
    // SAFETY: as above.
    unsafe { asm!("wrgsbase {}", in(reg) base, options(nomem, nostack, preserves_flags)) };
}

/// Lets a thread go on.
pub fn go_on(index: usize) -> ! {
    let loaded = current();
    returns::arm(context(index).condition);
    if loaded != index {
        let before = context(loaded);
        if before.is_alive {
            save_rest(before);
            before.base = base();
            before.other_base = other_base();
        }
        load_rest(context(index));
        set_base(context(index).base);
        set_other_base(context(index).other_base);
        // SAFETY: one thread runs the agent.
        unsafe {
            LOADED = index;
            CURRENT_FRAME = &raw mut context(index).frame;
        }
    }
    // SAFETY: the frame is that of the thread, whose other registers have been loaded.
    unsafe { entry::leave(&raw const context(index).frame) }
}
