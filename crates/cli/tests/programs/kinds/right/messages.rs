use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

fn main() {
    let (requests, inbox) = mpsc::sync_channel::<(u32, mpsc::Sender<u32>)>(1);
    let server = thread::spawn(move || {
        for (value, answer) in inbox {
            answer.send(value * 2).unwrap();
        }
    });
    let (results, collected) = mpsc::channel();
    thread::scope(|scope| {
        for value in 1..3 {
            let (requests, results) = (requests.clone(), results.clone());
            scope.spawn(move || {
                let (answer, mine) = mpsc::channel();
                requests.send((value, answer)).unwrap();
                results.send(mine.recv().unwrap()).unwrap();
            });
        }
    });
    drop((requests, results));
    assert_eq!(collected.iter().sum::<u32>(), 6);
    server.join().unwrap();
    let (sender, receiver) = mpsc::channel();
    let late = thread::spawn(move || sender.send(1));
    let _ = receiver.recv_timeout(Duration::from_millis(5));
    drop(receiver);
    let _ = late.join().unwrap();
    static IS_READY: AtomicBool = AtomicBool::new(false);
    let sleeper = thread::spawn(|| {
        while !IS_READY.load(Ordering::Acquire) {
            thread::park();
        }
    });
    IS_READY.store(true, Ordering::Release);
    sleeper.thread().unpark();
    sleeper.join().unwrap();
}
