// A counter by a load and a store.
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static COUNT: AtomicU32 = AtomicU32::new(0);

fn main() {
    let add = || COUNT.store(COUNT.load(Ordering::SeqCst) + 1, Ordering::SeqCst);
    let one = thread::spawn(add);
    let two = thread::spawn(add);
    one.join().unwrap();
    two.join().unwrap();
    assert_eq!(COUNT.load(Ordering::SeqCst), 2);
}
