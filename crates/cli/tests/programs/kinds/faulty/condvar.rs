// The flag is looked at under the lock, but set without it.
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

fn main() {
    let shared = Arc::new((Mutex::new(()), Condvar::new(), AtomicBool::new(false)));
    let other = Arc::clone(&shared);
    let waiter = thread::spawn(move || {
        let (lock, changed, is_ready) = &*other;
        let mut held = lock.lock().unwrap();
        while !is_ready.load(Ordering::SeqCst) {
            held = changed.wait(held).unwrap();
        }
    });
    let (_, changed, is_ready) = &*shared;
    is_ready.store(true, Ordering::SeqCst);
    changed.notify_one();
    waiter.join().unwrap();
}
