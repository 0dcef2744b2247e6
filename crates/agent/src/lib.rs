//! The agent: the shell of the scheduler inside the debuggee, which makes run after run of a program
//! without a stop.
//!
//! It is an *image* of machine code without libc, into which the scheduler (`juror-schedule`) is
//! compiled. Juror maps it into a program that it has started, gives it the points ([`protocol`]), and
//! lets the process go. The threads of the program are contexts in user mode on one kernel thread, so
//! that a switch enters no kernel. After a run the memory is put back, and the next one begins. What
//! the agent cannot hold ends its run with [`protocol::NOT_MINE`]: that run is made by ptrace.
//!
//! A second, small image ([`recording`]) is for runs that are recorded by ptrace: the calls that cannot
//! wait are made and noted in the process.
//!
//! Invariant: for equal points and choices a run of the agent has the end, the number of points and of
//! decisions, and the hash that a run by ptrace has.

#![forbid(unsafe_code)]

pub mod protocol;
pub mod recording;

mod built {
    include!(concat!(env!("OUT_DIR"), "/image.rs"));
}

/// The image as it is mapped.
#[derive(Debug, Clone, Copy)]
pub struct Image {
    /// The address of its first byte.
    pub address: u64,
    /// Its bytes; those that follow are 0.
    pub bytes: &'static [u8],
    /// Its size in memory.
    pub size: u64,
    /// The address at which it begins; `rdi` holds the address of the shared words.
    pub entry: u64,
    /// The address to which a stub leads: the number of the site is on the stack, and behind it the
    /// stack pointer of the thread.
    pub site_entry: u64,
}

/// Returns the image.
pub fn image() -> Image {
    Image {
        address: built::BASE,
        bytes: include_bytes!(concat!(env!("OUT_DIR"), "/image.bin")),
        size: built::SIZE,
        entry: built::ENTRY,
        site_entry: built::ENTRY + 16,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_image_has_its_entries() {
        let image = image();
        assert!(image.bytes.len() as u64 <= image.size);
        for entry in [image.entry, image.site_entry] {
            let offset = usize::try_from(entry - image.address).unwrap();
            assert!(image.bytes.len() > offset);
        }
        // push rax: the first register that is saved.
        let offset = usize::try_from(image.site_entry - image.address).unwrap();
        assert_eq!(image.bytes[offset], 0x50);
    }

    #[test]
    fn the_words_do_not_overlap() {
        use protocol::*;
        let ends = [
            (REGISTERS + 18 * 8, PROCESS),
            (AREAS + AREAS_MAX as u64 * 16, TASKS),
            (TASKS + TASKS_MAX * TASK_SIZE, RESULTS),
            (RESULTS + TASKS_MAX * RESULT_SIZE, GOALS),
            (GOALS + GOALS_MAX * 8, RANGES),
            (RANGES + RANGES_MAX * 16, SITES),
        ];
        for (end, next) in ends {
            assert!(end <= next, "{end} {next}");
        }
    }
}
