//! Writing the core file of a stopped process.
//!
//! The file is what the kernel would have written without juror: original
//! bytes at traps and jumps, threads in the program's own code, none of the
//! memory that juror has mapped.

use juror_arch::Register;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use juror_corefile::{Contents, CoreThread, Layout, PAGE, StoredSegment, identity, lay_out};
use juror_stepping::ThreadId;

use super::error::WriteCoreError;
use super::sparse::PartialFile;
use super::stored_memory::{self, FILTER_DEFAULT, Header, Region};
use crate::debuggee::Debuggee;
use crate::error::gone_or;
use crate::frozen;
use crate::kernel;
use crate::kernel::mapping::PAGE_LENGTH;
use crate::memory::core_file;
use crate::state::out_of_line::REGION_LENGTH;
use crate::state::thread::State;

/// The number of bytes that are copied at once.
const PIECE: u64 = 1 << 20;

/// A core file that has been written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenCore {
    /// The file.
    pub path: PathBuf,
    /// Its length, with its holes.
    pub bytes: u64,
    /// The number of its threads.
    pub thread_count: usize,
    /// The threads whose registers could not be read, since they wait in the
    /// kernel for a child.
    pub left_out: Vec<ThreadId>,
}

impl Debuggee {
    /// Writes a core file of the process, all of whose threads are stopped.
    /// `first` is the thread that it is about. Nothing is left of the file if
    /// it cannot be completed, or if `is_cancelled`.
    ///
    /// # Errors
    /// The process cannot be read, the file cannot be written, or the user has
    /// interrupted it.
    pub fn write_core(
        &self,
        path: &Path,
        first: ThreadId,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<WrittenCore, WriteCoreError> {
        self.needs_process()?;
        if self.open_calls().next().is_some() {
            return Err(WriteCoreError::InCall);
        }
        let (threads, left_out) = self.core_threads(first)?;
        let smaps = std::fs::read(self.file_of("smaps")).map_err(WriteCoreError::Mappings)?;
        let regions = stored_memory::regions(&String::from_utf8_lossy(&smaps));
        let regions = stored_memory::without(regions, &self.own_mappings());
        // Threads have no such file of their own.
        let filter = format!("/proc/{}/coredump_filter", self.process);
        let filter = std::fs::read_to_string(filter).ok();
        let filter = filter.and_then(|text| u32::from_str_radix(text.trim(), 16).ok());
        let filter = filter.unwrap_or(FILTER_DEFAULT);
        let segments = stored_memory::segments(&regions, filter, |at| self.header_at(at));
        let mut layout = lay_out(&Contents {
            threads: &threads,
            process: &self.process_info(),
            auxiliary: &self.auxiliary_vector().unwrap_or_default(),
            files: &stored_memory::files(&regions),
            segments: &segments,
        });
        let failed = |source| WriteCoreError::Write {
            path: path.to_owned(),
            source,
        };
        let file = PartialFile::create(path).map_err(failed)?;
        file.set_length(layout.length).map_err(failed)?;
        let copy = Copy {
            debuggee: self,
            pagemap: File::open(self.file_of("pagemap")).ok(),
            file: &file,
            path,
            is_cancelled,
        };
        for (number, (region, segment)) in regions.iter().zip(&segments).enumerate() {
            copy.segment(region, segment, number, &mut layout)?;
        }
        file.write(0, &layout.head).map_err(failed)?;
        file.complete().map_err(failed)?;
        Ok(WrittenCore {
            path: path.to_owned(),
            bytes: layout.length,
            thread_count: threads.len(),
            left_out,
        })
    }

    /// Returns the threads, `first` first, and those that cannot be read.
    fn core_threads(
        &self,
        first: ThreadId,
    ) -> Result<(Vec<CoreThread>, Vec<ThreadId>), WriteCoreError> {
        let own = self.threads.values().filter(|it| !it.is_vfork_child);
        let (stopped, left_out): (Vec<_>, Vec<_>) =
            own.partition(|known| known.state == State::Stopped);
        let mut ids: Vec<ThreadId> = stopped.iter().map(|known| known.id).collect();
        ids.sort_by_key(|&id| (id != first, id));
        let threads: Result<Vec<_>, _> =
            ids.into_iter().map(|id| self.core_thread_of(id)).collect();
        let threads = threads?;
        if threads.is_empty() {
            Err(WriteCoreError::NoThread)
        } else {
            Ok((threads, left_out.iter().map(|known| known.id).collect()))
        }
    }

    fn core_thread_of(&self, thread: ThreadId) -> Result<CoreThread, WriteCoreError> {
        let mut shown = self.stop_registers(thread)?.shown;
        if self.image.patches.is_record(shown.get(Register::GsBase)) {
            shown.set(Register::GsBase, 0);
        }
        let failed = |errno| gone_or("read vector registers", thread)(errno);
        let float = kernel::float_registers(thread.0).map_err(failed)?;
        let extended = kernel::extended_state(thread.0).ok();
        let pending = self
            .threads
            .get(&thread.0)
            .and_then(|it| it.pending.as_ref());
        Ok(CoreThread {
            id: thread.0,
            signal: pending.map_or(0, |pending| pending.number as u32),
            registers: *shown.words(),
            float_registers: Some(float.to_vec()),
            extended_state: extended.map(|state| state.bytes().to_vec()),
            signal_information: pending.map(|pending| frozen::bytes_of(&pending.information)),
        })
    }

    /// Returns the memory that juror has mapped in the process.
    fn own_mappings(&self) -> Vec<Range<u64>> {
        let slots = self.image.out_of_line.region_starts().into_iter();
        let mut own: Vec<_> = slots.map(|start| start..start + REGION_LENGTH).collect();
        let data = self.image.out_of_line.data();
        own.extend(data.map(|page| page..page + PAGE_LENGTH));
        own.extend(self.image.patches.own_mappings());
        own
    }

    fn header_at(&self, address: u64) -> Header {
        let read = |at: u64, bytes: &mut [u8]| self.memory.read_up_to(at, bytes);
        match identity(&read, address) {
            None => Header::None,
            Some(found) if found.build_id.as_ref().is_some_and(|id| !id.is_empty()) => {
                Header::WithId
            }
            Some(_) => Header::WithoutId,
        }
    }
}

/// The copying of memory to the file.
struct Copy<'a> {
    debuggee: &'a Debuggee,
    pagemap: Option<File>,
    file: &'a PartialFile,
    path: &'a Path,
    is_cancelled: &'a dyn Fn() -> bool,
}

impl Copy<'_> {
    /// Copies a segment up to the first byte that cannot be read: what follows
    /// is left out.
    fn segment(
        &self,
        region: &Region,
        segment: &StoredSegment,
        number: usize,
        layout: &mut Layout,
    ) -> Result<(), WriteCoreError> {
        let Some(&offset) = layout.offsets.get(number) else {
            return Ok(());
        };
        let mut done = 0;
        let mut bytes = Vec::new();
        while done < segment.stored {
            if (self.is_cancelled)() {
                return Err(WriteCoreError::Interrupted);
            }
            let count = (segment.stored - done).min(PIECE);
            let address = segment.range.start + done;
            if region.is_plain && self.is_untouched(address, count) {
                done += count;
                continue;
            }
            bytes.resize(count as usize, 0);
            let filled = self.debuggee.memory.read_up_to(address, &mut bytes);
            let read = bytes.get(..filled).unwrap_or_default();
            let written = self.file.write(offset + done, read);
            written.map_err(|source| WriteCoreError::Write {
                path: self.path.to_owned(),
                source,
            })?;
            done += filled as u64;
            if (filled as u64) < count {
                // Behind the end of a mapped file there is nothing; memory without a file has
                // no such end.
                if region.is_plain {
                    return Err(WriteCoreError::Memory(segment.range.start + done));
                }
                layout.cut(number, done);
                return Ok(());
            }
        }
        Ok(())
    }

    /// Returns whether memory without a file has no page in a range: it is
    /// zero, and reading it would only make pages.
    fn is_untouched(&self, address: u64, count: u64) -> bool {
        /// The bits of a page that is present, or swapped out (`pagemap`).
        const EXISTS: u64 = 0b11 << 62;
        let Some(pagemap) = &self.pagemap else {
            return false;
        };
        let mut entries = vec![0; (count.div_ceil(PAGE) * 8) as usize];
        let filled = core_file::read(pagemap, address / PAGE * 8, &mut entries);
        let is_empty = |entry: &[u8]| {
            let entry: [u8; 8] = entry.try_into().unwrap_or([0xff; 8]);
            u64::from_le_bytes(entry) & EXISTS == 0
        };
        filled == entries.len() && entries.chunks_exact(8).all(is_empty)
    }
}
