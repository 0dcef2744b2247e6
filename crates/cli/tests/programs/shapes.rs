enum Shape {
    Circle { radius: f64 },
    Square(u32),
    Empty,
}

fn area(shape: &Shape) -> f64 {
    match shape {
        Shape::Circle { radius } => radius * radius * 3.0,
        Shape::Square(side) => f64::from(side * side),
        Shape::Empty => 0.0,
    }
}

fn main() {
    let shapes = vec![Shape::Circle { radius: 2.0 }, Shape::Square(3), Shape::Empty];
    let text = "some text";
    let mut all = 0.0;
    for shape in &shapes {
        all += area(shape);
    }
    println!("{all} {text}");
}
