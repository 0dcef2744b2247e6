//! Values that Rust hands over in registers, as one number, and by their address.

use std::hint::black_box;

#[derive(Clone, Copy)]
pub struct Point {
    x: i32,
    y: i32,
    z: i32,
}

#[derive(Clone, Copy)]
pub struct Mixed {
    a: i64,
    b: u8,
    c: u8,
}

#[inline(never)]
pub fn point(x: i32) -> Point {
    black_box(Point { x, y: 2, z: 3 })
}

#[inline(never)]
pub fn mixed(x: i64) -> Mixed {
    black_box(Mixed { a: x, b: 2, c: 3 })
}

#[inline(never)]
pub fn row(x: i32) -> [i32; 3] {
    black_box([x, 2, 3])
}

#[inline(never)]
pub fn short_row(x: f32) -> [f32; 2] {
    black_box([x, 2.5])
}

#[inline(never)]
pub fn together(x: i32) -> (i32, f64, u8) {
    black_box((x, 2.5, 3))
}

#[inline(never)]
pub fn found(x: f64) -> Option<f64> {
    black_box(Some(x))
}

#[inline(never)]
pub fn told(x: u64) -> Result<f64, u64> {
    black_box(Err(x))
}

#[inline(never)]
pub fn sum(p: Point, m: Mixed, r: [i32; 3], s: [f32; 2], t: (i32, f64, u8)) -> i64 {
    let ints = i64::from(p.x + p.y + p.z) * 100 + m.a + i64::from(m.b) + i64::from(m.c);
    ints + i64::from(r[0] + r[1] + r[2]) + (s[0] + s[1]) as i64 + i64::from(t.0) + t.1 as i64
}

#[inline(never)]
pub fn shown(total: i64) {
    println!("{total}");
}

fn main() {
    let (p, m) = (point(1), mixed(1));
    let (r, s, t) = (row(1), short_row(1.5), together(1));
    let (f, e) = (found(1.5), told(7));
    let add = |more: i32| p.x + more; let total = sum(p, m, r, s, t) + black_box(&add)(0) as i64 - p.size() as i64 + p.double() as i64 / 2;
    shown(total + f.map_or(0, |x| x as i64) + e.is_ok() as i64);
}

pub trait Measured {
    fn size(&self) -> i32;
    #[inline(never)]
    fn double(&self) -> i32 {
        self.size() * 2
    }
}

impl Measured for Point {
    fn size(&self) -> i32 {
        self.x + self.y + self.z
    }
}
