// A value that is moved through a vector and a thread.
use std::hint::black_box;
use std::thread;

static mut RESULT: u64 = 0;

#[inline(never)]
fn done() {
    black_box(());
}

fn main() {
    let numbers: Vec<u64> = black_box(vec![3, 5]);
    let moved = thread::spawn(move || numbers[1] + 2).join().unwrap();
    unsafe { RESULT = moved };
    done();
    println!("{moved}");
}
