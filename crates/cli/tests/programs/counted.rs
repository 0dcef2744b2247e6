//! Trait objects behind counts, with and without something around them.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

trait Area {
    fn area(&self) -> i64;
}

impl Area for i32 {
    fn area(&self) -> i64 {
        i64::from(*self)
    }
}

#[repr(align(64))]
struct Wide(i64);

impl Area for Wide {
    fn area(&self) -> i64 {
        self.0
    }
}

fn main() {
    let counted: Rc<dyn Area> = Rc::new(3);
    let shared: Arc<dyn Area + Send + Sync> = Arc::new(4);
    let wide: Rc<dyn Area> = Rc::new(Wide(5));
    let inner: Rc<RefCell<dyn Area>> = Rc::new(RefCell::new(6));
    let flag = AtomicBool::new(true);
    let sum = counted.area() + shared.area() + wide.area() + inner.borrow().area();
    println!("{sum} {}", flag.load(Ordering::Relaxed));
}
