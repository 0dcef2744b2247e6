// Transfers in both directions lock the accounts in the order of their arguments.
use std::sync::{Arc, Mutex};
use std::thread;

fn transfer(from: &Mutex<i64>, to: &Mutex<i64>, amount: i64) {
    let mut from = from.lock().unwrap();
    let mut to = to.lock().unwrap();
    *from -= amount;
    *to += amount;
}

fn main() {
    let accounts = Arc::new((Mutex::new(10), Mutex::new(20)));
    let other = Arc::clone(&accounts);
    let there = thread::spawn(move || transfer(&other.0, &other.1, 3));
    let other = Arc::clone(&accounts);
    let back = thread::spawn(move || transfer(&other.1, &other.0, 4));
    there.join().unwrap();
    back.join().unwrap();
    assert_eq!(*accounts.0.lock().unwrap() + *accounts.1.lock().unwrap(), 30);
}
