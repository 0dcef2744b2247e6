//! The processes that a command has started, down to the last generation: a
//! debugger that is killed must not leave its debuggee behind.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;

/// Ends what a process has started. The process itself must still be there, or
/// its children have other parents; none of these children may be waited for
/// by anybody else, or their numbers may be used again.
pub(crate) fn kill_descendants(process: Pid) {
    // The youngest last: whoever is ended starts nothing more.
    for descendant in descendants(process.as_raw_nonzero().get()) {
        if let Some(pid) = Pid::from_raw(descendant) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// Children before grandchildren.
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

/// All processes, with their parents.
fn parents() -> Vec<(i32, i32)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers
        .filter_map(|process: i32| {
            let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
            // After the name, which may hold anything: the state, the parent.
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
        // The pipe's end comes when the last of them is gone.
        let mut rest = String::new();
        output.read_line(&mut rest).unwrap();
        assert_eq!(rest, "");
        child.wait().unwrap();
    }
}
