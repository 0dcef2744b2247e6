//! Calls that end by a panic or by a return.

use std::panic::{catch_unwind, set_hook};
use std::sync::atomic::{AtomicUsize, Ordering};

static ENTERED: AtomicUsize = AtomicUsize::new(0);
static RETURNED: AtomicUsize = AtomicUsize::new(0);

struct Guard;

impl Drop for Guard {
    #[inline(never)]
    fn drop(&mut self) {
        std::hint::black_box(self);
    }
}

#[inline(never)]
fn work(n: u32) -> u32 {
    ENTERED.fetch_add(1, Ordering::Relaxed);
    if n % 2 == 1 {
        panic!("{n} is odd");
    }
    RETURNED.fetch_add(1, Ordering::Relaxed);
    n
}

#[inline(never)]
fn outer(n: u32) -> u32 {
    let _guard = Guard;
    std::hint::black_box(work(n)) + 1
}

fn main() {
    set_hook(Box::new(|_| ()));
    let results = (0..6).map(|n| catch_unwind(move || outer(n)).is_ok());
    let good = results.filter(|&is_ok| is_ok).count();
    let last = catch_unwind(|| outer(7)).is_ok(); // mark: caught
    assert!(!std::hint::black_box(last));
    let (entered, returned) = (&ENTERED, &RETURNED);
    println!("entered {entered:?} returned {returned:?} good {good}");
}
