//! A function that waits, and what it keeps meanwhile.

use std::future::{Future, pending};
use std::pin::pin;
use std::task::{Context, Waker};

async fn later(n: u32) -> usize {
    let text = format!("it's {n}");
    pending::<()>().await;
    text.len()
}

fn main() {
    let mut future = pin!(later(4));
    let mut context = Context::from_waker(Waker::noop());
    let is_ready = future.as_mut().poll(&mut context).is_ready();
    println!("ready {is_ready}"); // mark: waits
}
