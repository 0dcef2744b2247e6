//! Threads that wait for locks of the standard library; the main thread says so when all do.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, RwLock};
use std::thread;

static ACCOUNTS: Mutex<u64> = Mutex::new(1);
static JOURNAL: Mutex<u64> = Mutex::new(2);
static SPARE: Mutex<u64> = Mutex::new(3);
static TABLE: RwLock<u64> = RwLock::new(4);
static MET: AtomicUsize = AtomicUsize::new(0);

/// Waits for the others without a system call.
fn meet() {
    MET.fetch_add(1, Ordering::SeqCst);
    while MET.load(Ordering::SeqCst) < 4 {
        std::hint::spin_loop();
    }
}

fn transfer() {
    let source = ACCOUNTS.lock().unwrap();
    meet();
    let target = JOURNAL.lock().unwrap(); // mark: transfer
    println!("{}", *source + *target);
}

fn audit() {
    let book = JOURNAL.lock().unwrap();
    meet();
    let account = ACCOUNTS.lock().unwrap(); // mark: audit
    println!("{}", *book + *account);
}

fn read() {
    let spare = SPARE.lock().unwrap();
    drop(spare);
    let table = TABLE.read().unwrap();
    meet();
    let book = JOURNAL.lock().unwrap(); // mark: read
    println!("{}", *table + *book);
}

fn late() {
    println!("{}", *SPARE.lock().unwrap());
}

fn write() {
    *TABLE.write().unwrap() += 1;
}

/// Returns whether all threads but this one wait in `futex`.
fn all_wait() -> bool {
    let own = std::fs::read_link("/proc/thread-self").unwrap();
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let waits = |task: std::path::PathBuf| {
        let call = std::fs::read_to_string(task.join("syscall"));
        own.file_name() == task.file_name() || call.is_ok_and(|call| call.starts_with("202 "))
    };
    tasks.flatten().all(|task| waits(task.path()))
}

#[inline(never)]
fn hanging() {
    println!("all wait");
    std::process::exit(7);
}

fn main() {
    for body in [transfer, audit, read] {
        thread::spawn(body);
    }
    meet();
    // No variable has this guard.
    std::mem::forget(SPARE.lock().unwrap());
    for body in [late, write] {
        thread::spawn(body);
    }
    while !all_wait() {
        thread::yield_now();
    }
    hanging();
}
