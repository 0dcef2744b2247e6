// Locks in one order, a panic while one is held, and a pool of threads.
use std::panic;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let first = Arc::new(Mutex::new(1));
    let second = Arc::new(Mutex::new(2));
    let (one, two) = (Arc::clone(&first), Arc::clone(&second));
    let failing = thread::spawn(move || {
        let held = one.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let other = two.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        assert_eq!(*held + *other, 0, "it panics");
    });
    let tried = thread::spawn(move || {
        if let Ok(mut held) = second.try_lock()
            && let Ok(other) = first.try_lock()
        {
            *held += *other;
        }
    });
    assert!(failing.join().is_err());
    tried.join().unwrap();
    let (jobs, queue) = mpsc::channel::<Box<dyn FnOnce() + Send>>();
    let queue = Arc::new(Mutex::new(queue));
    let pool: Vec<_> = (0..2)
        .map(|_| {
            let queue = Arc::clone(&queue);
            thread::spawn(move || {
                loop {
                    let job = queue.lock().unwrap().recv();
                    match job {
                        Ok(job) => job(),
                        Err(_) => break,
                    }
                }
            })
        })
        .collect();
    let (done, all) = mpsc::channel();
    for i in 0..3 {
        let done = done.clone();
        jobs.send(Box::new(move || done.send(i).unwrap())).unwrap();
    }
    drop((jobs, done));
    assert_eq!(all.iter().sum::<i32>(), 3);
    for thread in pool {
        thread.join().unwrap();
    }
}
