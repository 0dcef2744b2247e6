//! Values of enumerations that carry data.

use std::hint::black_box;

pub enum Shape {
    Circle { radius: u32 },
    Rectangle(u32, u32),
    Empty,
}

#[inline(never)]
fn area(shape: &Shape, scale: Option<u32>) -> u32 {
    let scale = scale.unwrap_or(1);
    match black_box(shape) {
        Shape::Circle { radius } => 3 * radius * radius * scale,
        Shape::Rectangle(width, height) => width * height * scale,
        Shape::Empty => 0,
    }
}

fn main() {
    let circle = Shape::Circle { radius: 3 };
    let boxed = Some(Box::new(Shape::Rectangle(7, 8)));
    let nothing: Option<Box<Shape>> = black_box(None);
    let unit = black_box(());
    let mut sum = area(&circle, Some(2));
    sum += area(boxed.as_deref().unwrap_or(&Shape::Empty), None);
    sum += area(&Shape::Empty, Some(5));
    println!("sum {sum} {unit:?} {}", nothing.is_none()); // mark: known
}
