//! Tests heads in real files: the C library of this machine, and on demand the files in `FILES`,
//! with statistics of the reasons.

use super::code::{ModuleCode, Wanted};
use super::segment::Segment;
use super::{Heads, NoHead};
use juror_stepping::instruction_length;
use juror_stub::head::{BranchTargets, JUMP_LENGTH, Obstacle, Place, Text};
use juror_symbols::SymbolFile;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

const C_LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/libc.so.6";

fn wanted(address: u64, place: Place) -> Wanted {
    Wanted {
        address,
        place,
        next: u64::MAX,
        shadow_stack: false,
    }
}

/// Returns whether an instruction is a near call.
fn is_call(code: &[u8]) -> bool {
    let is_prefix = |byte: &&u8| matches!(byte, 0x3e | 0x40..=0x4f | 0x64..=0x66 | 0xf2);
    let prefixes = code.iter().take_while(is_prefix).count();
    match code.get(prefixes..).unwrap_or(&[]) {
        [0xe8, ..] => true,
        [0xff, operands, ..] => operands >> 3 & 7 == 2,
        _ => false,
    }
}

/// Returns the sites of a text that is read from its start to its end: the targets of
/// direct calls, and the addresses to which calls return.
fn sites(address: u64, bytes: &[u8]) -> (BTreeSet<u64>, Vec<u64>) {
    let (mut entries, mut returns) = (BTreeSet::new(), Vec::new());
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        at += instruction_length(rest).unwrap_or(1);
        if !is_call(rest) {
            continue;
        }
        let next = address + at as u64;
        returns.push(next);
        if let [0xe8, a, b, c, d, ..] = rest {
            let distance = i32::from_le_bytes([*a, *b, *c, *d]);
            entries.insert(next.wrapping_add_signed(distance.into()));
        }
    }
    let text = address..address + bytes.len() as u64;
    entries.retain(|entry| text.contains(entry));
    returns.retain(|site| text.contains(site));
    (entries, returns)
}

/// Returns the reason without addresses.
fn reason(why: &NoHead) -> String {
    match why {
        NoHead::Obstacle(Obstacle::NotRelocatable { why, .. }) => why.to_string(),
        NoHead::Obstacle(obstacle) => {
            let words = format!("{obstacle:?}");
            words
                .split(['(', ' '])
                .next()
                .unwrap_or_default()
                .to_owned()
        }
        NoHead::Function(_) => "a function that keeps its instructions".to_owned(),
        other => other.to_string(),
    }
}

/// The number of sites, those with a head, and the reasons for the others.
#[derive(Default)]
struct Count {
    all: usize,
    heads: usize,
    /// The sites whose best head is short.
    short: usize,
    reasons: BTreeMap<String, usize>,
}

impl Count {
    fn add(&mut self, found: Result<Heads, NoHead>) {
        self.all += 1;
        match found {
            Ok(heads) => {
                self.heads += 1;
                self.short += usize::from(heads.possible[0].is_short());
            }
            Err(why) => *self.reasons.entry(reason(&why)).or_default() += 1,
        }
    }

    fn print(&self, what: &str) {
        let share = 100.0 * self.heads as f64 / self.all.max(1) as f64;
        println!("  {what}: {} of {}, {share:.1} %", self.heads, self.all);
        println!("    {} short", self.short);
        for (reason, count) in &self.reasons {
            let share = 100.0 * *count as f64 / self.all.max(1) as f64;
            println!("    {share:5.2} % {reason}");
        }
    }
}

/// Counts the entries and the return sites of a file that have heads. Entries are those
/// of functions with a symbol, and targets of direct calls.
fn count(path: &str) -> (Count, Count) {
    let symbols = SymbolFile::open(path).unwrap();
    let started = Instant::now();
    let code = ModuleCode::new(&symbols, 0);
    println!("{path}: text read in {:?}", started.elapsed());
    let functions = symbols.functions();
    let functions = functions.filter(|it| !it.plt && !it.fragment);
    let mut starts: BTreeSet<u64> = functions.map(|it| it.low_pc).collect();
    let mut ends = Vec::new();
    for segment in symbols.header().segments.iter().filter(|it| it.executable) {
        let bytes = symbols
            .bytes_at(segment.address, segment.file_size)
            .unwrap();
        let (called, returns) = sites(segment.address, &bytes);
        starts.extend(called.iter().filter(|it| !symbols.is_linkage_stub(**it)));
        ends.extend(returns);
    }
    let (mut entries, mut returns) = (Count::default(), Count::default());
    let started = Instant::now();
    for start in starts {
        entries.add(code.heads(wanted(start, Place::Entry)));
    }
    println!("  entries in {:?}", started.elapsed());
    let started = Instant::now();
    for end in ends {
        returns.add(code.heads(wanted(end, Place::ReturnSite)));
    }
    println!("  return sites in {:?}", started.elapsed());
    (entries, returns)
}

#[test]
#[ignore = "prints figures for the files that `FILES` names"]
fn heads_of_files_are_counted() {
    let files = std::env::var("FILES").unwrap_or_else(|_| C_LIBRARY.to_owned());
    for path in files.split_whitespace() {
        let (entries, returns) = count(path);
        entries.print("entries");
        returns.print("return sites");
    }
}

#[test]
fn most_functions_of_the_c_library_have_heads() {
    if !std::path::Path::new(C_LIBRARY).exists() {
        return;
    }
    let (entries, returns) = count(C_LIBRARY);
    assert!(entries.heads * 100 > entries.all * 90);
    // A loop whose back edge follows a call makes some of a hundred short; entries have no short
    // heads.
    assert!(returns.heads * 100 > returns.all * 90);
    assert!(returns.short * 100 > returns.all * 3);
    assert_eq!(entries.short, 0);
    let symbols = SymbolFile::open(C_LIBRARY).unwrap();
    let code = ModuleCode::new(&symbols, 0);
    let head = |name: &str| {
        let function = symbols.functions_named(name).remove(0);
        let heads = code.heads(wanted(function.low_pc, Place::Entry));
        heads.map(|heads| heads.possible.into_iter().next().unwrap())
    };
    for name in ["malloc", "free", "pthread_mutex_lock", "fopen"] {
        assert!(head(name).is_ok(), "{name}: {:?}", head(name));
    }
    for name in ["_setjmp", "vfork", "dlsym"] {
        assert!(matches!(head(name), Err(NoHead::Function(_))), "{name}");
    }
    // A difference between the process and the file is detected.
    let malloc = head("malloc").unwrap();
    let file = |address: u64, bytes: &mut [u8]| {
        let found = symbols.bytes_at(address, bytes.len() as u64);
        bytes.copy_from_slice(&found.unwrap());
        true
    };
    assert_eq!(code.check_process(&malloc, file), Ok(()));
    let other = |address: u64, bytes: &mut [u8]| {
        let is_read = file(address, bytes);
        bytes[0] ^= 1;
        is_read
    };
    assert_eq!(code.check_process(&malloc, other), Err(NoHead::Differs));
    // A head ends before the next site.
    let next = Wanted {
        next: malloc.jump + 4,
        ..wanted(malloc.address, Place::Entry)
    };
    assert_eq!(code.heads(next), Err(NoHead::NextSite(malloc.jump + 4)));
}

#[test]
fn the_branches_around_a_site_are_those_of_the_whole_text() {
    if !std::path::Path::new(C_LIBRARY).exists() {
        return;
    }
    let symbols = SymbolFile::open(C_LIBRARY).unwrap();
    for segment in Segment::all(&symbols, 0) {
        let size = segment.range.end - segment.range.start;
        let bytes = symbols.bytes_at(segment.range.start, size).unwrap();
        let whole = BranchTargets::of(Text {
            address: segment.range.start,
            bytes: &bytes,
        });
        let (entries, returns) = sites(segment.range.start, &bytes);
        let (mut inside, mut outside) = (0, 0);
        for site in entries.into_iter().chain(returns) {
            let around = segment.around(site).unwrap();
            let Some(unit) = around.unit.as_ref() else {
                continue;
            };
            let head = site.max(unit.start + 1)..unit.end.min(site + JUMP_LENGTH);
            let found = around.branches.first_within(head.clone());
            assert_eq!(found, whole.first_within(head), "{site:#x}");
            let from = found.map(|(_, from)| unit.contains(&from));
            inside += usize::from(from == Some(true));
            outside += usize::from(from == Some(false));
        }
        assert!(inside > 100 && outside > 10, "{inside} {outside}");
    }
}

#[test]
fn return_sites_of_a_large_segment_are_put_off_for_the_time_of_a_scan() {
    if !std::path::Path::new(C_LIBRARY).exists() {
        return;
    }
    let symbols = SymbolFile::open(C_LIBRARY).unwrap();
    let mut segment = Segment::all(&symbols, 0).remove(0);
    assert!(!segment.puts_off(), "it is small");
    segment.range.end = segment.range.start + (1 << 23);
    let count = (0..1_000).filter(|_| segment.puts_off()).count();
    assert_eq!(count, 127);
}
