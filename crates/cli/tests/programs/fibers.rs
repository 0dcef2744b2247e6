//! Fibers on stacks side by side in the heap: calls of one wait while another panics and
//! catches that.

use std::cell::UnsafeCell;
use std::panic::{catch_unwind, set_hook};
use std::sync::atomic::{AtomicUsize, Ordering};

const COUNT: usize = 4;
const STACK_BYTES: usize = 1 << 17;

/// What glibc keeps of a fiber, and a little more.
#[repr(C, align(16))]
struct Context(UnsafeCell<[usize; 256]>);

// SAFETY: There is one thread.
unsafe impl Sync for Context {}

unsafe extern "C" {
    fn getcontext(context: *mut usize) -> i32;
    fn makecontext(context: *mut usize, entry: extern "C" fn(i32), count: i32, ...);
    fn swapcontext(from: *mut usize, to: *const usize) -> i32;
}

static HOME: Context = Context(UnsafeCell::new([0; 256]));
static FIBERS: [Context; COUNT] = [const { Context(UnsafeCell::new([0; 256])) }; COUNT];
static CURRENT: AtomicUsize = AtomicUsize::new(0);
static DONE: AtomicUsize = AtomicUsize::new(0);
static ENTERED: AtomicUsize = AtomicUsize::new(0);
static RETURNED: AtomicUsize = AtomicUsize::new(0);

impl Context {
    fn words(&self) -> *mut usize {
        self.0.get().cast()
    }
}

#[inline(never)]
fn pause() {
    let fiber = &FIBERS[CURRENT.load(Ordering::Relaxed)];
    // SAFETY: `HOME` was saved when this fiber was entered.
    unsafe { swapcontext(fiber.words(), HOME.words()) };
}

#[inline(never)]
fn work(n: usize) -> usize {
    ENTERED.fetch_add(1, Ordering::Relaxed);
    pause();
    if n % 2 == 1 {
        panic!("{n} is odd");
    }
    pause();
    RETURNED.fetch_add(1, Ordering::Relaxed);
    std::hint::black_box(n)
}

extern "C" fn run(number: i32) {
    let number = number as usize;
    let _ = catch_unwind(|| std::hint::black_box(work(number)) + 1);
    pause();
    DONE.fetch_add(1, Ordering::Relaxed);
}

fn main() {
    set_hook(Box::new(|_| ()));
    let stacks = vec![0_u8; COUNT * STACK_BYTES].leak();
    for (number, stack) in stacks.chunks_mut(STACK_BYTES).enumerate() {
        let words = FIBERS[number].words();
        // SAFETY: The context has room; link, stack and size are where glibc has them.
        unsafe {
            getcontext(words);
            *words.add(1) = HOME.words() as usize;
            *words.add(2) = stack.as_mut_ptr() as usize;
            *words.add(4) = stack.len();
            makecontext(words, run, 1, number as i32);
        }
    }
    // Each pauses twice or three times, and ends.
    for round in 0..4 {
        for (number, fiber) in FIBERS.iter().enumerate() {
            if round < 3 + (number + 1) % 2 {
                CURRENT.store(number, Ordering::Relaxed);
                // SAFETY: It was made, or it has paused, and is not over.
                unsafe { swapcontext(HOME.words(), fiber.words()) };
            }
        }
    }
    println!("entered {ENTERED:?} returned {RETURNED:?} done {DONE:?}");
}
