// The receiver that has counted all messages in the channel takes one more than there are.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

static SENT: AtomicUsize = AtomicUsize::new(0);

fn main() {
    let (sender, receiver) = mpsc::channel();
    let worker = thread::spawn(move || {
        for i in 0..2 {
            SENT.fetch_add(1, Ordering::SeqCst);
            sender.send(i).unwrap();
        }
    });
    let mut received = 0;
    while received < SENT.load(Ordering::SeqCst) {
        receiver.try_recv().expect("what was counted is there");
        received += 1;
    }
    drop(receiver);
    let _ = worker.join();
}
