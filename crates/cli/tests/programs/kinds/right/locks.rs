use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock};
use std::thread;

static ONCE: Once = Once::new();
static CELL: OnceLock<String> = OnceLock::new();
static LAZY: LazyLock<usize> = LazyLock::new(|| MADE.fetch_add(1, Ordering::SeqCst) + 40);
static MADE: AtomicUsize = AtomicUsize::new(0);
thread_local!(static MINE: Cell<u32> = const { Cell::new(0) });

fn main() {
    let shared = Arc::new((Mutex::new(0), Condvar::new(), RwLock::new(1), Barrier::new(3)));
    let threads: Vec<_> = (0..3)
        .map(|number| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let (count, changed, table, barrier) = &*shared;
                ONCE.call_once(|| {
                    MADE.fetch_add(1, Ordering::SeqCst);
                });
                assert_eq!(CELL.get_or_init(|| "one".to_owned()), "one");
                assert!(*LAZY >= 40);
                MINE.set(MINE.get() + number);
                assert_eq!(MINE.get(), number);
                assert!(*table.read().unwrap() >= 1);
                *table.write().unwrap() += 1;
                barrier.wait();
                assert_eq!(*table.read().unwrap(), 4);
                let mut held = count.lock().unwrap();
                *held += 1;
                changed.notify_all();
                while *held < 3 {
                    held = changed.wait(held).unwrap();
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(*shared.0.lock().unwrap(), 3);
    assert_eq!(MADE.load(Ordering::SeqCst), 2);
}
