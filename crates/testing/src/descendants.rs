//! The descendants of a process: a debugger that is killed must not leave its debuggee
//! behind.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;

/// Kills the descendants of a process. The process must still exist, or its children have
/// been reparented; none of its children may be reaped concurrently, or their process ids
/// may be reused.
pub(crate) fn kill_descendants(process: Pid) {
    // Parents first: a killed process starts no more children.
    for descendant in descendants(process.as_raw_nonzero().get()) {
        if let Some(pid) = Pid::from_raw(descendant) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// Returns the descendants, children before grandchildren.
fn descendants(process: i32) -> Vec<i32> {
    let parents = parents();
    let mut found = vec![process];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        let children = parents.iter().filter(|(_, of)| *of == parent);
        found.extend(children.map(|(child, _)| *child));
        next += 1;
    }
    found.split_off(1)
}

/// Returns all processes with their parents.
fn parents() -> Vec<(i32, i32)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers
        .filter_map(|process: i32| {
            let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
            // After the name, which may contain anything: the state, then the parent.
            let (_, rest) = stat.rsplit_once(") ")?;
            Some((process, rest.split(' ').nth(1)?.parse().ok()?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    #[test]
    fn children_of_children_are_found_and_ended() {
        let script = "sh -c 'tail -f /dev/null & echo $! $$; wait' & wait";
        let mut child = Command::new("sh")
            .args(["-c", script])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let expected: Vec<i32> = line
            .split_whitespace()
            .map(|n| n.parse().unwrap())
            .collect();
        let found = descendants(child.id() as i32);
        assert!(expected.iter().all(|process| found.contains(process)));
        kill_descendants(Pid::from_child(&child));
        // The pipe is closed when the last of them has ended.
        let mut rest = String::new();
        output.read_line(&mut rest).unwrap();
        assert_eq!(rest, "");
        child.wait().unwrap();
    }
}
