// Generic functions, methods of traits, and closures.
use std::fmt::Debug;

trait Shape {
    fn area(&self) -> i64;
}

struct Square(i64);
struct Circle {
    radius: i64,
}

impl Shape for Square {
    #[inline(never)] // mark: square
    fn area(&self) -> i64 {
        self.0 * self.0
    }
}

impl Shape for Circle {
    #[inline(never)] // mark: circle
    fn area(&self) -> i64 {
        3 * self.radius * self.radius
    }
}

struct Stack<T> {
    items: Vec<T>,
}

impl<T: Debug> Stack<T> {
    #[inline(never)] // mark: push
    fn push(&mut self, item: T) {
        self.items.push(item);
    }
}

#[inline(never)] // mark: largest
fn largest<T: PartialOrd + Copy>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

#[inline(never)] // mark: apply
fn apply(f: &dyn Fn(i64) -> i64, n: i64) -> i64 {
    f(n)
}

mod deep {
    #[inline(never)] // mark: helper
    pub fn helper(n: i64) -> i64 {
        n + 1
    }
}

// mark: main
fn main() {
    let shapes: Vec<Box<dyn Shape>> = vec![Box::new(Square(3)), Box::new(Circle { radius: 2 })];
    let mut sum: i64 = shapes.iter().map(|shape| shape.area()).sum();
    let mut stack = Stack { items: Vec::new() };
    stack.push(7u8);
    let mut names = Stack { items: Vec::new() };
    names.push("seven");
    sum += largest(3i64, 4) + largest(1.5f64, 0.5) as i64;
    let offset = sum;
    sum += apply(&|n| n + offset, 2);
    sum = deep::helper(sum);
    println!("{sum} {} {}", stack.items.len(), names.items.len());
}
