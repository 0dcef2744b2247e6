//! Instances of generic functions that the optimizer puts into their callers.
use std::sync::atomic::{AtomicU32, Ordering};

static ENTERED_PUT: AtomicU32 = AtomicU32::new(0);
static ENTERED_LARGER: AtomicU32 = AtomicU32::new(0);

struct Shelf<T> {
    things: Vec<T>,
}

impl<T: Copy + PartialOrd> Shelf<T> {
    #[inline(always)]
    fn put(&mut self, thing: T) {
        ENTERED_PUT.fetch_add(1, Ordering::SeqCst);
        self.things.push(thing);
    }
}

#[inline(always)]
fn larger<T: PartialOrd>(one: T, other: T) -> T {
    ENTERED_LARGER.fetch_add(1, Ordering::SeqCst);
    if one < other { other } else { one }
}

#[inline(never)]
fn turn(shelf: &mut Shelf<i32>, round: i32) -> i32 {
    shelf.put(round);
    let seen = larger(round, 3);
    if seen > 3 {
        shelf.put(seen);
    }
    seen
}

fn main() {
    let rounds = std::env::args().nth(1).and_then(|it| it.parse().ok()).unwrap_or(10);
    let mut shelf = Shelf { things: Vec::new() };
    let mut sum = 0;
    for round in 0..rounds {
        sum += turn(&mut shelf, round);
    }
    println!(
        "put {} larger {}",
        ENTERED_PUT.load(Ordering::SeqCst),
        ENTERED_LARGER.load(Ordering::SeqCst)
    );
    std::process::exit(i32::from(sum < 0));
}
