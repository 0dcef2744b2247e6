// Every way in which rustc returns a value: the program counts what it has returned.
use std::hint::black_box;

pub enum Frame {
    Simple(String),
    Int(u64),
    Bulk([u64; 3]),
    Null,
}
#[derive(Clone, Copy)]
pub struct Three {
    pub a: u64,
    pub b: u64,
    pub c: u64,
}
#[derive(Clone, Copy)]
pub struct Small {
    pub a: u8,
    pub b: u16,
}
#[derive(Clone, Copy)]
pub struct Floats {
    pub x: f64,
    pub y: f64,
}
#[derive(Clone, Copy)]
pub struct Mixed {
    pub x: f64,
    pub n: u32,
}

#[inline(never)]
pub fn make(n: u64) -> Result<Option<Frame>, String> {
    match black_box(n) {
        0 => Ok(None),
        1 => Ok(Some(Frame::Int(7))),
        2 => Ok(Some(Frame::Bulk([1, 2, 3]))),
        3 => Ok(Some(Frame::Simple(format!("s{n}")))),
        4 => Ok(Some(Frame::Null)),
        _ => Err(format!("e{n}")),
    }
}
#[inline(never)]
pub fn three(n: u64) -> Three {
    black_box(Three { a: n, b: n + 1, c: n + 2 })
}
#[inline(never)]
pub fn forwarded(n: u64) -> Three {
    three(n + 10)
}
#[inline(never)]
pub fn looped(n: u64) -> [u64; 4] {
    let mut all = [0; 4];
    for (at, it) in all.iter_mut().enumerate() {
        *it = black_box(three(n + at as u64)).b;
    }
    all
}
#[inline(never)]
pub fn option(n: u64) -> Option<u64> {
    if black_box(n) % 2 == 0 { None } else { Some(n) }
}
#[inline(never)]
pub fn narrow(n: u64) -> Result<u32, u32> {
    if black_box(n) % 2 == 0 { Ok(n as u32) } else { Err(n as u32 + 100) }
}
#[inline(never)]
pub fn text(n: u64) -> Option<String> {
    if black_box(n) % 2 == 0 { None } else { Some(format!("t{n}")) }
}
#[inline(never)]
pub fn pair(n: u64) -> (u64, u32) {
    black_box((n, n as u32 + 1))
}
#[inline(never)]
pub fn small(n: u64) -> Small {
    black_box(Small { a: n as u8, b: n as u16 + 300 })
}
#[inline(never)]
pub fn float(n: u64) -> f32 {
    black_box(n as f32 + 0.5)
}
#[inline(never)]
pub fn floats(n: u64) -> Floats {
    black_box(Floats { x: n as f64 + 0.5, y: n as f64 + 0.25 })
}
#[inline(never)]
pub fn mixed(n: u64) -> Mixed {
    black_box(Mixed { x: n as f64 + 0.5, n: n as u32 })
}
#[inline(never)]
pub fn wide(n: u64) -> u128 {
    black_box(u128::from(n) + (1 << 64))
}
#[inline(never)]
pub fn word(n: u64) -> &'static str {
    if black_box(n) % 2 == 0 { "even" } else { "odd" }
}

fn main() {
    let mut total = 0;
    for n in black_box(0..6u64) {
        let made = black_box(make(n));
        total += u64::from(made.is_err());
        let it = black_box(three(n));
        total += it.a + black_box(forwarded(n)).c + black_box(looped(n))[3];
        let _ = black_box((option(n), narrow(n), text(n), pair(n), word(n)));
        let (s, f, m) = (small(n), floats(n), mixed(n));
        black_box((s, f.x + f.y, m.x, m.n, s.a, s.b, float(n), wide(n)));
    }
    println!("total {total}");
}
