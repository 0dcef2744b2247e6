//! Pointers, cells, locks and iterators around values, all alive at the call of `look`.

use std::cell::{OnceCell, RefCell};
use std::collections::{LinkedList, VecDeque};
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::sync::atomic::AtomicPtr;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, RwLock};

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

struct Small {
    side: u8,
}

impl Area for Small {
    fn area(&self) -> i64 {
        i64::from(self.side)
    }
}

#[inline(never)]
fn look(count: usize) {
    println!("looked {count}");
}

fn main() {
    let counted: Rc<[i32]> = Rc::from(vec![1, 2, 3]);
    let shared: Arc<[u8]> = Arc::from(vec![4, 5]);
    let wide: Rc<[Wide]> = Rc::from(vec![Wide(1), Wide(2)]);
    let weak_slice = Rc::downgrade(&counted);
    let text: Rc<str> = Rc::from("text");
    let weak_text = Rc::downgrade(&text);
    let never: Weak<i32> = Weak::new();
    let in_cell: Rc<RefCell<dyn Area>> = Rc::new(RefCell::new(6));
    let wide_in_cell: Rc<RefCell<dyn Area>> = Rc::new(RefCell::new(Wide(61)));
    let small_in_cell: Box<RefCell<dyn Area>> = Box::new(RefCell::new(Small { side: 9 }));
    let locked: Arc<Mutex<dyn Area>> = Arc::new(Mutex::new(Wide(7)));
    let small_locked: Arc<Mutex<dyn Area>> = Arc::new(Mutex::new(Small { side: 8 }));
    let guarded: Arc<RwLock<dyn Area>> = Arc::new(RwLock::new(10));
    let object: Rc<dyn Area> = Rc::new(5);
    let weak_object = Rc::downgrade(&object);
    let pinned: Pin<Box<i32>> = Box::pin(11);
    let once: OnceCell<i32> = OnceCell::new();
    let set_once: OnceCell<i32> = OnceCell::from(12);
    let lock_once: OnceLock<String> = OnceLock::new();
    let locked_once: OnceLock<String> = OnceLock::from("set".to_owned());
    let lazy: LazyLock<i32> = LazyLock::new(|| 13);
    let forced: LazyLock<i32> = LazyLock::new(|| 14);
    let mut number = 15;
    let pointer = AtomicPtr::new(&mut number);
    let mutex = Mutex::new(16);
    let guard = mutex.lock().unwrap();
    let cell = RefCell::new(17);
    let borrowed = cell.borrow();
    let numbers = vec![10, 20, 30, 40];
    let mut iterator = numbers.iter();
    iterator.next();
    let owned = numbers.clone().into_iter();
    let units = [(), ()];
    let nothings = units.iter();
    let characters = "abc".chars();
    let linked = LinkedList::from([1, 2, 3, 4]);
    let mut ends = VecDeque::with_capacity(4);
    ends.extend([1, 2, 3, 4]);
    ends.rotate_left(2);
    let large: u128 = u128::MAX - 1;
    let sum = *forced + pointer.load(std::sync::atomic::Ordering::Relaxed) as usize as i32;
    look(sum as usize);
    let areas = in_cell.borrow().area() + wide_in_cell.borrow().area();
    let areas = areas + small_in_cell.borrow().area() + locked.lock().unwrap().area();
    let areas = areas + small_locked.lock().unwrap().area() + guarded.read().unwrap().area();
    println!("{areas}{counted:?}{shared:?}{}{}", wide[0].0, object.area());
    println!("{:?}{:?}{:?}", weak_slice.upgrade(), weak_text.upgrade(), never.upgrade());
    println!("{}{pinned}{once:?}{set_once:?}{lock_once:?}{locked_once:?}", weak_object.strong_count());
    println!("{}{guard}{borrowed}{}{}", *lazy, iterator.len(), owned.len());
    println!("{}{}{linked:?}{ends:?}{large}", nothings.len(), characters.count());
}
