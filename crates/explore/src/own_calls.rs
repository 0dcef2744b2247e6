//! Calls that a recorded program makes and notes itself (`juror_agent::recording`).
//!
//! The stubs are for the modules that are there when the recording begins. What has none stops, as do the
//! calls that may wait. Replay needs no stubs: each call stops, and is fed.
//!
//! Invariant: one thread runs at a time, so all calls in the ring are those of the thread that ran last,
//! and the ring is emptied before anything else is recorded.

mod sites;
mod stubs;

use crate::error::ExploreError;
use juror_agent::recording::layout::{
    BEHIND_CALL, CAPACITY, CODE_END, DESCRIPTORS, ENABLED, ENTRIES, FILES, RING, TABLE, TURN,
    WRITTEN,
};
use juror_agent::recording::{OwnCall, image, table, take_call};
use juror_arch::instruction::SYSTEM_CALL;
use juror_debuggee::{Debuggee, SharedMemory};
use juror_program::modules::Module;
use juror_program::program::Program;
use rustc_hash::FxHashMap;
use sites::{Site, sites_in};
use std::ops::Range;

/// The largest function in which system calls are looked for.
const FUNCTION_SIZE_MAX: u64 = 1 << 20;

/// The most bytes of padding behind a function.
const PADDING_MAX: u64 = 64;

/// The distance of jumps that are written at once.
const NEAR: u64 = 1_024;

/// The bytes of code that are read at once.
const CODE_BYTES: u64 = 1 << 20;

/// The calls of one process.
#[derive(Debug)]
pub(crate) struct OwnCalls {
    ring: SharedMemory,
    /// The number of bytes of the ring that are taken.
    taken: u64,
    /// Room for what is taken.
    bytes: Vec<u8>,
    /// Whether the program notes its calls now.
    is_enabled: bool,
    /// Whether it has made a process, which is about to have its memory.
    is_paused: bool,
    /// Descriptors whose calls do not wait, and the standard streams to which they lead.
    files: FxHashMap<u64, u8>,
}

/// Returns the address behind the only instruction whose calls do not stop.
pub(crate) fn passing() -> u64 {
    image().entry + BEHIND_CALL
}

/// Returns whether a thread is in the code that notes calls.
pub(crate) fn is_within(address: u64) -> bool {
    let entry = image().entry;
    (entry..entry + CODE_END).contains(&address)
}

impl OwnCalls {
    /// Maps the image into a program that stands at its beginning, and leads its calls there. Returns
    /// nothing if that cannot be.
    pub(crate) fn install(program: &mut Program) -> Result<Option<OwnCalls>, ExploreError> {
        let mut of_modules = Vec::new();
        for module in program.modules.iter() {
            let sites = sites_of(module, &program.debuggee);
            if module.path.is_absolute() && !sites.is_empty() {
                of_modules.push(sites);
            }
        }
        let debuggee = &mut program.debuggee;
        let image = image();
        let size = ENTRIES + CAPACITY;
        let Some(ring) = debuggee.share_memory(size)? else {
            return Ok(None);
        };
        let is_there = ring.reserve(size)
            && debuggee.lengthen_memory(&ring)?
            && debuggee.map_program((image.address, image.size), image.bytes)?;
        if !is_there {
            debuggee.unshare_memory(&ring)?;
            return Ok(None);
        }
        debuggee.write_own_words(image.entry + TABLE, &table())?;
        debuggee.write_own_words(image.entry + RING, &[ring.address()])?;
        ring.store(TURN, CAPACITY);
        for sites in of_modules {
            lead(&sites, debuggee)?;
        }
        Ok(Some(OwnCalls {
            ring,
            taken: 0,
            bytes: Vec::new(),
            is_enabled: false,
            is_paused: false,
            files: FxHashMap::default(),
        }))
    }

    /// Lets the program note its calls, or not: those that others want to see stop.
    pub(crate) fn adjust(&mut self, debuggee: &mut Debuggee) -> Result<(), ExploreError> {
        let is_enabled = !self.is_paused && debuggee.lets_calls_pass();
        if is_enabled != self.is_enabled {
            let word = u64::from(is_enabled);
            debuggee.write_own_words(image().entry + ENABLED, &[word])?;
            self.is_enabled = is_enabled;
        }
        Ok(())
    }

    /// Lets all calls stop while the program makes a process, which must not write to the ring: it has a
    /// copy of the word that says so, or the same one until it executes a program.
    pub(crate) fn pause(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
    }

    /// Lets the next call stop.
    pub(crate) fn stop_next(&self) {
        self.ring.store(TURN, 0);
    }

    /// Takes the calls that were noted since. `None`: the ring is spoiled.
    pub(crate) fn take(&mut self) -> Option<Vec<OwnCall>> {
        let written = self.ring.load(WRITTEN);
        if written == self.taken {
            return Some(Vec::new());
        }
        if written > CAPACITY || written < self.taken {
            return None;
        }
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        for offset in (self.taken..written).step_by(8) {
            bytes.extend_from_slice(&self.ring.load(ENTRIES + offset).to_le_bytes());
        }
        self.taken = written;
        let mut rest = &*bytes;
        let calls = std::iter::from_fn(|| take_call(&mut rest)).collect();
        let is_whole = rest.is_empty();
        self.bytes = bytes;
        is_whole.then_some(calls)
    }

    /// Empties the ring, of which all is taken: the thread that has the baton stands outside of the
    /// image.
    pub(crate) fn empty(&mut self) {
        self.taken = 0;
        self.ring.store(WRITTEN, 0);
        self.ring.store(TURN, CAPACITY);
    }

    /// Notes whether the calls on a descriptor may wait, and the standard stream to which it leads.
    pub(crate) fn note_descriptor(&mut self, descriptor: u64, stream: Option<u8>) {
        match stream {
            Some(stream) => self.files.insert(descriptor, stream),
            None => self.files.remove(&descriptor),
        };
        if descriptor >= DESCRIPTORS {
            return;
        }
        let offset = FILES + descriptor / 64 * 8;
        let bit = 1 << (descriptor % 64);
        let word = self.ring.load(offset);
        let word = if stream.is_some() {
            word | bit
        } else {
            word & !bit
        };
        self.ring.store(offset, word);
    }

    /// Notes that descriptors are closed.
    pub(crate) fn note_closed(&mut self, descriptors: Range<u64>) {
        let known = self.files.keys().copied();
        let closed: Vec<u64> = known.filter(|it| descriptors.contains(it)).collect();
        for descriptor in closed {
            self.note_descriptor(descriptor, None);
        }
    }

    /// Returns the standard stream to which a descriptor leads; 0 for none.
    pub(crate) fn stream(&self, descriptor: u64) -> u8 {
        self.files.get(&descriptor).copied().unwrap_or(0)
    }
}

/// Returns the places of the calls of a module.
fn sites_of(module: &Module, debuggee: &Debuggee) -> Vec<Site> {
    let mut functions: Vec<Range<u64>> = module.symbols.unwind_ranges().cloned().collect();
    functions.sort_by_key(|range| (range.start, range.end));
    let mut code = Code::default();
    let mut sites = Vec::new();
    let mut covered = 0;
    for (number, range) in functions.iter().enumerate() {
        let size = range.end.saturating_sub(range.start);
        // Ranges may be listed twice.
        if size > FUNCTION_SIZE_MAX || range.start < covered {
            continue;
        }
        covered = range.end;
        let next = functions.get(number + 1).map_or(range.end, |it| it.start);
        let padding = next.saturating_sub(range.end).min(PADDING_MAX);
        let start = module.to_process(range.start);
        let bytes = code.at(start, size + padding, debuggee);
        if bytes.windows(2).any(|pair| pair == SYSTEM_CALL) {
            sites.extend(sites_in(bytes, size, start));
        }
    }
    sites
}

/// Code that has been read.
#[derive(Debug, Default)]
struct Code {
    start: u64,
    bytes: Vec<u8>,
}

impl Code {
    /// Returns the bytes at an address, as far as there are some.
    fn at(&mut self, address: u64, length: u64, debuggee: &Debuggee) -> &[u8] {
        let end = self.start + self.bytes.len() as u64;
        if address < self.start || address + length > end {
            let wanted = usize::try_from(length.max(CODE_BYTES)).unwrap_or_default();
            self.bytes.resize(wanted, 0);
            let count = debuggee.read_up_to(address, &mut self.bytes);
            self.bytes.truncate(count);
            self.start = address;
        }
        let from = usize::try_from(address - self.start).unwrap_or_default();
        let length = usize::try_from(length).unwrap_or_default();
        let bytes = self.bytes.get(from..).unwrap_or_default();
        bytes.get(..length).unwrap_or(bytes)
    }
}

/// Leads calls to the image. They stay as they are if there is no room for stubs within their reach.
fn lead(sites: &[Site], debuggee: &mut Debuggee) -> Result<(), ExploreError> {
    let Some(reach) = stubs::reach(sites) else {
        return Ok(());
    };
    let size = stubs::size_of(sites.len()).next_multiple_of(4096);
    let free = debuggee.free_ranges_near(reach.start, reach.end);
    // The farthest below: mappings of the program would meet the nearest ones, at other places than in a
    // run without stubs.
    let mut starts = free.into_iter().filter_map(|range| {
        let start = range.start.next_multiple_of(4096);
        (start + size <= range.end).then_some(start)
    });
    let Some(start) = starts.next() else {
        return Ok(());
    };
    let stubs = stubs::stubs(sites, start, image().entry);
    if !debuggee.map_program((start, size), &stubs.code)? {
        return Ok(());
    }
    let mut jumps = stubs.jumps;
    jumps.sort_unstable();
    for near in jumps.chunk_by(|one, next| next.0 - one.0 < NEAR) {
        write_near(near, debuggee)?;
    }
    Ok(())
}

/// Writes jumps that are near one another at once.
fn write_near(jumps: &[(u64, Vec<u8>)], debuggee: &mut Debuggee) -> Result<(), ExploreError> {
    let (Some((start, _)), Some((last, bytes))) = (jumps.first(), jumps.last()) else {
        return Ok(());
    };
    let length = usize::try_from(last - start).unwrap_or_default() + bytes.len();
    let mut code = vec![0; length];
    debuggee.read(*start, &mut code)?;
    for (address, bytes) in jumps {
        let from = usize::try_from(address - start).unwrap_or_default();
        if let Some(part) = code.get_mut(from..from + bytes.len()) {
            part.copy_from_slice(bytes);
        }
    }
    Ok(debuggee.write(*start, &code)?)
}
