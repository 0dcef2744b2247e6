//! A function whose first instruction is that of what was inlined into it.

struct Item {
    weight: u32,
}

#[inline(never)]
fn total(items: &[Item]) -> u32 {
    let sum: u32 = items.iter().map(|item| item.weight).sum();
    let most = items.iter().map(|item| item.weight).max().unwrap_or(0);
    sum + most
}

fn main() {
    let items: Vec<Item> = (0..5).map(|n| Item { weight: n * 10 }).collect();
    println!("{}", total(&items));
}
