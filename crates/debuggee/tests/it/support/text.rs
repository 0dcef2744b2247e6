//! Executable memory, compared with the files.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

/// The same as [`differences`], of a process that is not traced.
pub fn differences_of(process: u32) -> Vec<u64> {
    let memory = File::open(format!("/proc/{process}/mem")).unwrap();
    differences(process, &memory)
}

/// The addresses at which executable memory is not what the file has.
pub fn differences(process: u32, memory: &File) -> Vec<u64> {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap();
    let mut found = Vec::new();
    let mut compared = 0;
    for line in maps.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [range, permissions, offset, _, _, path] = fields[..] else {
            continue;
        };
        let (true, Ok(file)) = (permissions.contains('x'), File::open(path)) else {
            continue;
        };
        let (start, end) = range.split_once('-').unwrap();
        let start = u64::from_str_radix(start, 16).unwrap();
        let end = u64::from_str_radix(end, 16).unwrap();
        let mut original = vec![0; (end - start) as usize];
        let offset = u64::from_str_radix(offset, 16).unwrap();
        let length = read_up_to(&file, &mut original, offset);
        let mut present = vec![0; length];
        memory.read_exact_at(&mut present, start).unwrap();
        let pairs = present.iter().zip(&original).enumerate();
        found.extend(
            pairs
                .filter(|(_, (present, original))| present != original)
                .map(|(index, _)| start + index as u64),
        );
        compared += length;
    }
    assert!(compared > 1000, "{compared} bytes");
    found
}

fn read_up_to(file: &File, bytes: &mut [u8], offset: u64) -> usize {
    let mut length = 0;
    loop {
        match file.read_at(&mut bytes[length..], offset + length as u64) {
            Ok(0) => return length,
            Ok(count) => length += count,
            Err(error) => panic!("{error}"),
        }
    }
}
