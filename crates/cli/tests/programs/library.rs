//! Values of Rust's standard library, all alive at the call of `look`.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::rc::{Rc, Weak};
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, RwLock};

#[derive(Debug)]
struct Point {
    x: i32,
    y: i32,
}

#[derive(Debug)]
struct Meters(f64);

#[derive(Debug)]
struct Nothing;

#[derive(Debug)]
enum Shape {
    Circle { radius: f64 },
    Square(u32),
    Empty,
}

#[derive(Debug, Clone, Copy)]
enum Color {
    Red,
    Green = 7,
}

#[inline(never)]
fn look(count: i32) {
    println!("looked {count}");
}

fn main() {
    let numbers = vec![1, 2, 3];
    let none: Vec<i32> = Vec::new();
    let points = vec![Point { x: 1, y: 2 }, Point { x: 3, y: 4 }];
    let many = vec![5u8; 1000];
    let text = String::from("hello");
    let borrowed = &text[1..4];
    let words = vec!["one", "a \"quoted\" word"];
    let slice = &numbers[1..];
    let array = [4u16, 5, 6];
    let boxed = Box::new(Point { x: 5, y: 6 });
    let boxed_slice: Box<[i32]> = vec![7, 8].into();
    let mut ends = VecDeque::from(vec![2, 3]);
    ends.push_front(1);
    let linked = LinkedList::from([7i64, 8, 9]);
    let heap = BinaryHeap::from([3]);
    let ages = HashMap::from([("ann".to_owned(), 31)]);
    let bag = HashSet::from([5]);
    let small = BTreeMap::from([(1, 'a'), (2, 'b')]);
    let large: BTreeMap<u32, u32> = (0..100).map(|i| (i * 7 % 100, i)).collect();
    let sorted = BTreeSet::from([3, 1, 2]);
    let empty: BTreeMap<i32, i32> = BTreeMap::new();
    let some = Some(5);
    let nothing: Option<i32> = None;
    let pointer: Option<Box<i32>> = Some(Box::new(6));
    let vacant: Option<&i32> = None;
    let right: Result<i32, String> = Ok(1);
    let wrong: Result<i32, String> = Err("why".to_owned());
    let shapes = [
        Shape::Circle { radius: 1.5 },
        Shape::Square(4),
        Shape::Empty,
    ];
    let colors = [Color::Red, Color::Green];
    let tuple = (1, 2.5, 'x', "y");
    let unit = ();
    let meters = Meters(2.5);
    let unit_like = Nothing;
    let letter = 'ä';
    let truth = true;
    let shared = Rc::new(8);
    let weak = Rc::downgrade(&shared);
    let expired: Weak<i32> = Rc::downgrade(&Rc::new(9));
    let atomic_shared = Arc::new(10);
    let cell = Cell::new(11);
    let ref_cell = RefCell::new(vec![12]);
    let mutex = Mutex::new(13);
    let lock = RwLock::new(14);
    let atomic = AtomicU32::new(15);
    let path = std::path::PathBuf::from("/tmp");
    let path_of: &std::path::Path = &path;
    let part = path_of.file_name();
    let boxed_path = path.clone().into_boxed_path();
    let system_text = std::ffi::OsString::from("tmp");
    let system_part: &std::ffi::OsStr = &system_text;
    let c_text: &std::ffi::CStr = c"see";
    let counted: Rc<str> = Rc::from("counted");
    let shared_path: Arc<std::path::Path> = Arc::from(path_of);
    look(1);
    println!("{part:?}{boxed_path:?}{system_part:?}{c_text:?}{counted}{shared_path:?}");
    println!("{numbers:?}{none:?}{points:?}{}{text}{borrowed}{words:?}{slice:?}", many.len());
    println!("{array:?}{boxed:?}{boxed_slice:?}{ends:?}{linked:?}{heap:?}{ages:?}{bag:?}{small:?}");
    println!("{large:?}{sorted:?}{empty:?}{some:?}{nothing:?}{pointer:?}{vacant:?}{right:?}{wrong:?}");
    println!("{shapes:?}{colors:?}{tuple:?}{unit:?}{meters:?}{unit_like:?}{letter}{truth}{shared}");
    println!("{weak:?}{expired:?}{atomic_shared}{cell:?}{ref_cell:?}{mutex:?}{lock:?}{atomic:?}{path:?}");
}
