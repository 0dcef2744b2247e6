//! Instances of generic functions, of which a call means one. It prints their sum.

use std::hint::black_box;

struct Scale {
    by: u32,
}

trait Size {
    fn bits(&self) -> u32;
}

trait Width {
    fn bits(&self) -> u32;
}

impl Size for Scale {
    #[inline(never)]
    fn bits(&self) -> u32 {
        black_box(1)
    }
}

impl Width for Scale {
    #[inline(never)]
    fn bits(&self) -> u32 {
        black_box(2)
    }
}

impl Scale {
    #[inline(never)]
    fn with<T: Into<f64>>(&self, value: T) -> f64 {
        value.into() * f64::from(self.by) + std::mem::size_of::<T>() as f64 * 1000.0
    }

    #[inline(never)]
    fn fixed<T: Into<f64>>(&self, value: T, by: i64) -> f64 {
        value.into() * by as f64
    }
}

#[inline(never)]
fn size<T>(value: T) -> usize {
    black_box(&value);
    std::mem::size_of::<T>()
}

#[inline(never)]
fn only<T: Into<i64>>(value: T) -> i64 {
    value.into() + 1
}

#[inline(never)]
fn look() {
    black_box(());
}

fn main() {
    let scale = Scale { by: black_box(3) };
    let (byte, short, long) = (black_box(7u8), black_box(7u16), black_box(7i32));
    let (real, wide) = (black_box(0.5f32), black_box(7i64));
    let mut sum = scale.with(short) + scale.with(long) + scale.with(real) + scale.fixed(short, wide);
    sum += (size(short) + size(wide) + size(2.5f64)) as f64 + only(short) as f64;
    sum += f64::from(Size::bits(&scale) + Width::bits(&scale));
    look();
    println!("{sum} {byte}");
}
