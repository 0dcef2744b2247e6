//! Open files, pipes, counters and timers of the process: saving and restoring
//! them.
//!
//! A copy of the process has the same open files, so an offset that is set in
//! one is set in all; only files that have been closed or opened since differ.

use crate::chunks::{Chunks, LENGTH};
use crate::loss::Loss;
use crate::open::{self, FileType, Kind};
use juror_debuggee::Descriptors;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::statfs::{FsType, fstatfs};
use nix::unistd::{Whence, lseek};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};

/// The state of files that is to be kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    /// The maximum length of files whose contents are kept, if any are.
    pub(crate) contents: Option<u64>,
}

/// The saved state of everything that was open.
#[derive(Debug, Default)]
pub(crate) struct SavedFiles {
    kinds: BTreeMap<i32, Kind>,
    files: BTreeMap<i32, SavedFile>,
    pipes: BTreeMap<i32, Vec<u8>>,
    /// The identities of the files among them.
    identities: BTreeSet<(u64, u64)>,
}

/// The saved state of a file.
#[derive(Debug)]
struct SavedFile {
    offset: i64,
    flags: u32,
    /// Its length and contents, if it can be written.
    written: Option<Written>,
    name: String,
}

#[derive(Debug)]
struct Written {
    /// Whether appended data is cut off. If no contents are to be kept, the
    /// file stays.
    is_cut: bool,
    length: u64,
    identity: (u64, u64),
    contents: Option<Chunks>,
}

/// A descriptor that is being examined.
struct Seen {
    number: i32,
    descriptor: OwnedFd,
    link: String,
    information: String,
    metadata: Metadata,
}

/// Saves everything that is open; `before` is the state of an earlier
/// checkpoint.
pub(crate) fn save(
    descriptors: &Descriptors,
    wanted: Wanted,
    before: Option<&SavedFiles>,
    losses: &mut Vec<Loss>,
) -> SavedFiles {
    let mut saved = SavedFiles::default();
    let seen = look(descriptors);
    for seen in &seen {
        let kind = Kind::of(
            &seen.link,
            &seen.information,
            seen.file_type(),
            seen.metadata.ino(),
        );
        saved.kinds.insert(seen.number, kind);
    }
    let inner = open::inner_pipes(&saved.kinds);
    let mut without_contents = 0;
    // The writing end has the flag.
    let with_packets: BTreeSet<u64> = seen
        .iter()
        .filter(|seen| open::has_packets(&seen.information))
        .map(|seen| seen.metadata.ino())
        .collect();
    let mut packets = Vec::new();
    for seen in &seen {
        match saved.kinds.get(&seen.number) {
            Some(Kind::File | Kind::Directory) => {
                // Changing the offset would change juror's, too.
                if is_own_stream(identity(&seen.metadata)) {
                    let path = seen.link.clone();
                    losses.push(Loss::OwnStream { path });
                    continue;
                }
                saved.identities.insert(identity(&seen.metadata));
                let file = save_file(descriptors, seen, wanted, before, losses);
                let is_bare = file
                    .written
                    .as_ref()
                    .is_some_and(|it| it.contents.is_none());
                without_contents += usize::from(is_bare && wanted.contents.is_none());
                saved.files.insert(seen.number, file);
            }
            Some(Kind::Pipe {
                reads: true, pipe, ..
            }) if inner.contains(pipe) => {
                if let Ok(bytes) = descriptors.peek_pipe(&seen.descriptor) {
                    if !bytes.is_empty() && with_packets.contains(pipe) {
                        packets.push(seen.number);
                    }
                    saved.pipes.insert(seen.number, bytes);
                }
            }
            _ => {}
        }
    }
    losses.extend(open::losses(&saved.kinds));
    if !packets.is_empty() {
        losses.push(Loss::Packets(packets));
    }
    let locks = open::locks(seen.iter().map(|seen| seen.information.as_str()));
    if locks > 0 {
        losses.push(Loss::Locks(locks));
    }
    if without_contents > 0 {
        losses.push(Loss::Contents {
            count: without_contents,
        });
    }
    saved
}

/// Returns the files that a process has open for writing and had not open then.
pub(crate) fn opened_since(descriptors: &Descriptors, then: &SavedFiles) -> Vec<Loss> {
    let seen = look(descriptors);
    let later = seen.iter().filter(|seen| {
        let identity = identity(&seen.metadata);
        seen.metadata.is_file()
            && open::is_writable(&seen.information)
            && !then.identities.contains(&identity)
            && !is_own_stream(identity)
    });
    let mut losses: Vec<Loss> = later
        .map(|seen| Loss::LaterFile {
            path: seen.link.clone(),
        })
        .collect();
    losses.dedup();
    losses
}

fn look(descriptors: &Descriptors) -> Vec<Seen> {
    let process = descriptors.process();
    let listed = fs::read_dir(format!("/proc/{process}/fd"));
    let numbers = listed.into_iter().flatten().flatten();
    let mut seen: Vec<Seen> = numbers
        .filter_map(|entry| {
            let number: i32 = entry.file_name().to_str()?.parse().ok()?;
            let link = fs::read_link(entry.path()).ok()?;
            let file = File::from(descriptors.get(number)?);
            let metadata = file.metadata().ok()?;
            let information = format!("/proc/{process}/fdinfo/{number}");
            Some(Seen {
                number,
                link: link.display().to_string(),
                information: fs::read_to_string(information).unwrap_or_default(),
                metadata,
                descriptor: file.into(),
            })
        })
        .collect();
    seen.sort_by_key(|seen| seen.number);
    seen
}

impl Seen {
    fn file_type(&self) -> FileType {
        let file = self.metadata.file_type();
        match () {
            () if file.is_file() && self.is_queue() => FileType::Queue,
            () if file.is_file() => FileType::Regular,
            () if file.is_dir() => FileType::Directory,
            () if file.is_fifo() => FileType::Pipe,
            () if file.is_socket() => FileType::Socket,
            () if file.is_char_device() || file.is_block_device() => FileType::Device,
            () => FileType::Other,
        }
    }

    /// Returns true for a message queue, which looks like a file of a few
    /// bytes.
    fn is_queue(&self) -> bool {
        /// `MQUEUE_MAGIC` of the kernel.
        const QUEUES: FsType = FsType(0x1980_0202);
        fstatfs(&self.descriptor).is_ok_and(|found| found.filesystem_type() == QUEUES)
    }
}

fn save_file(
    descriptors: &Descriptors,
    seen: &Seen,
    wanted: Wanted,
    before: Option<&SavedFiles>,
    losses: &mut Vec<Loss>,
) -> SavedFile {
    let is_written = seen.metadata.is_file() && open::is_writable(&seen.information);
    let mut file = SavedFile {
        offset: lseek(&seen.descriptor, 0, Whence::SeekCur).unwrap_or(0),
        flags: open::flags(&seen.information),
        written: None,
        name: seen.link.clone(),
    };
    if !is_written {
        return file;
    }
    let (identity, length) = (identity(&seen.metadata), seen.metadata.len());
    let contents = match wanted.contents {
        Some(limit) if length > limit => {
            losses.push(Loss::LargeFile {
                path: seen.link.clone(),
                length,
            });
            None
        }
        Some(_) => {
            let known = before.and_then(|before| before.contents_of(identity));
            let read = read_contents(descriptors.process(), seen.number, known);
            if let Err(error) = &read {
                losses.push(failure(&seen.link, error));
            }
            read.ok()
        }
        None => None,
    };
    file.written = Some(Written {
        is_cut: wanted.contents.is_some(),
        length,
        identity,
        contents,
    });
    file
}

/// Returns the identity of a file: its device and inode.
fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Returns true if juror itself reads or writes this file.
fn is_own_stream(identity_of_file: (u64, u64)) -> bool {
    let own = |number| fs::metadata(format!("/proc/self/fd/{number}"));
    (0..=2).any(|number| own(number).is_ok_and(|it| identity(&it) == identity_of_file))
}

fn read_contents(process: u32, number: i32, before: Option<&Chunks>) -> io::Result<Chunks> {
    let mut file = File::open(format!("/proc/{process}/fd/{number}"))?;
    let mut chunks = Chunks::default();
    let mut buffer = vec![0; LENGTH];
    loop {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match file.read(rest)? {
                0 => break,
                count => filled += count,
            }
        }
        chunks.push(buffer.get(..filled).unwrap_or(&[]), before);
        if filled < LENGTH {
            return Ok(chunks);
        }
    }
}

impl SavedFiles {
    fn contents_of(&self, identity: (u64, u64)) -> Option<&Chunks> {
        let written = self.files.values().filter_map(|file| file.written.as_ref());
        written
            .filter(|written| written.identity == identity)
            .find_map(|written| written.contents.as_ref())
    }

    /// Writes the saved bytes into the pipes of a process again.
    pub(crate) fn restore_pipes(&self, descriptors: &Descriptors, losses: &mut Vec<Loss>) {
        for (&number, bytes) in &self.pipes {
            let put = match descriptors.get(number) {
                Some(pipe) => restore_pipe(&pipe, bytes),
                None => Ok(()),
            };
            if let Err(error) = put {
                losses.push(failure(&format!("pipe {number}"), &error));
            }
        }
    }

    /// Restores contents, lengths, offsets, flags and counters.
    pub(crate) fn restore_files(&self, descriptors: &Descriptors, losses: &mut Vec<Loss>) {
        for (&number, file) in &self.files {
            let Some(descriptor) = descriptors.get(number) else {
                continue;
            };
            if let Err(error) = file.restore(descriptors.process(), number, &descriptor) {
                losses.push(failure(&file.name, &error));
            }
        }
        for (&number, kind) in &self.kinds {
            if let (Kind::Counter { count }, Some(descriptor)) = (kind, descriptors.get(number))
                && let Err(error) = restore_counter(descriptors, number, descriptor, *count)
            {
                losses.push(failure(&format!("counter {number}"), &error));
            }
        }
    }

    /// Sets the timers again.
    pub(crate) fn restore_timers(&self, descriptors: &Descriptors, losses: &mut Vec<Loss>) {
        for (&number, kind) in &self.kinds {
            if let (Kind::Timer { times }, Some(descriptor)) = (kind, descriptors.get(number))
                && let Err(error) = descriptors.set_timer(&descriptor, 0, *times)
            {
                let what = format!("timer {number}");
                let why = error.to_string();
                losses.push(Loss::Failure { what, why });
            }
        }
    }
}

impl SavedFile {
    fn restore(&self, process: u32, number: i32, descriptor: &OwnedFd) -> io::Result<()> {
        if let Some(written) = &self.written {
            let path = format!("/proc/{process}/fd/{number}");
            written.restore(&path)?;
        }
        /// The flags that can be changed of an open file.
        const CHANGEABLE: OFlag = OFlag::O_APPEND.union(OFlag::O_NONBLOCK);
        let flags = OFlag::from_bits_truncate(self.flags as i32) & CHANGEABLE;
        fcntl(descriptor, FcntlArg::F_SETFL(flags))?;
        lseek(descriptor, self.offset, Whence::SeekSet)?;
        Ok(())
    }
}

impl Written {
    fn restore(&self, path: &str) -> io::Result<()> {
        // A file that cannot be read is written without a comparison.
        let opened = OpenOptions::new().read(true).write(true).open(path);
        let (file, is_readable) = match opened {
            Ok(file) => (file, true),
            Err(_) => (OpenOptions::new().write(true).open(path)?, false),
        };
        if self.is_cut && file.metadata()?.len() != self.length {
            file.set_len(self.length)?;
        }
        let Some(contents) = &self.contents else {
            return Ok(());
        };
        let mut present = vec![0; LENGTH];
        for (offset, bytes) in contents.iter() {
            let present = present.get_mut(..bytes.len()).unwrap_or(&mut []);
            let is_same = is_readable
                && file.read_exact_at(present, offset as u64).is_ok()
                && *present == *bytes;
            if !is_same {
                file.write_all_at(&bytes, offset as u64)?;
            }
        }
        Ok(())
    }
}

fn restore_pipe(pipe: &OwnedFd, bytes: &[u8]) -> io::Result<()> {
    let path = format!("/proc/self/fd/{}", pipe.as_raw_fd());
    let mut options = OpenOptions::new();
    let mut reader = options
        .read(true)
        .custom_flags(OFlag::O_NONBLOCK.bits())
        .open(&path)?;
    let mut rest = Vec::new();
    match reader.read_to_end(&mut rest) {
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
        _ => {}
    }
    if bytes.is_empty() {
        return Ok(());
    }
    // It may have been made smaller since.
    let needed = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
    if fcntl(pipe, FcntlArg::F_GETPIPE_SZ)? < needed {
        fcntl(pipe, FcntlArg::F_SETPIPE_SZ(needed))?;
    }
    let mut options = OpenOptions::new();
    let mut writer = options
        .write(true)
        .custom_flags(OFlag::O_NONBLOCK.bits())
        .open(&path)?;
    writer.write_all(bytes)
}

fn restore_counter(
    descriptors: &Descriptors,
    number: i32,
    descriptor: OwnedFd,
    count: u64,
) -> io::Result<()> {
    let process = descriptors.process();
    let mut file = File::from(descriptor);
    let path = format!("/proc/{process}/fdinfo/{number}");
    let present = || match Kind::of(
        "anon_inode:[eventfd]",
        &fs::read_to_string(&path)?,
        FileType::Other,
        0,
    ) {
        Kind::Counter { count } => Ok::<u64, io::Error>(count),
        _ => Ok(0),
    };
    // A counter that is a semaphore is decremented one at a time.
    while present()? > 0 {
        file.read_exact(&mut [0; 8])?;
    }
    match count {
        0 => Ok(()),
        count => file.write_all(&count.to_ne_bytes()),
    }
}

fn failure(what: &str, error: &io::Error) -> Loss {
    Loss::Failure {
        what: what.to_owned(),
        why: error.to_string(),
    }
}
