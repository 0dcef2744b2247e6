// Locks in statics, in opposite orders, one of them a lock for readers and writers.
use std::sync::{Mutex, RwLock};
use std::thread;

static TABLE: RwLock<i32> = RwLock::new(1);
static JOURNAL: Mutex<i32> = Mutex::new(2);

fn main() {
    thread::scope(|scope| {
        scope.spawn(|| {
            let table = TABLE.read().unwrap();
            *JOURNAL.lock().unwrap() += *table;
        });
        scope.spawn(|| {
            let journal = JOURNAL.lock().unwrap();
            *TABLE.write().unwrap() += *journal;
        });
    });
}
