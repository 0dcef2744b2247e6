//! Opening a core file as a debuggee.

use std::cell::OnceCell;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use juror_corefile::{CoreFile, CoreThread, MappedFile, PAGE};
use juror_stepping::ThreadId;

use super::builds::{self, Build, Builds, digits};
use super::error::OpenCoreError;
use super::{CoreState, maps, raw};
use crate::debuggee::Debuggee;
use crate::host::cpu::Cpu;
use crate::host::cpu::CpuPolicy;
use crate::image::modules::{self, Auxiliary, Module};
use crate::memory::Memory;
use crate::memory::core_file::{self, CoreMemory};
use crate::state::life::Origin;
use crate::state::thread::{PendingSignal, State, StopRegisters, Thread};
use juror_arch::Registers;

/// `AT_PHDR`: the address of the program headers.
const AT_PHDR: u64 = 3;

/// A core file to open, and its program.
#[derive(Debug, Clone, Default)]
pub struct OpenCore {
    /// The core file.
    pub core: PathBuf,
    /// The program; if none is given, the one that the core file names.
    pub program: Option<PathBuf>,
}

/// What the user should know of a core file that was opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CoreRemarks {
    /// The length that the file has, and that it would have if it were whole.
    pub truncated: Option<(u64, u64)>,
    /// Whether nothing tells if the program is the one of the core file.
    pub is_program_unknown: bool,
    /// Libraries that are other builds now.
    pub other_builds: Vec<PathBuf>,
    /// Libraries of which nothing tells whether they are the same builds.
    pub unknown_builds: Vec<PathBuf>,
    /// Libraries that cannot be opened.
    pub missing: Vec<PathBuf>,
}

impl Debuggee {
    /// Opens a core file. Its threads are stopped for good.
    ///
    /// # Errors
    /// It cannot be read, or the program is not the one that it is of.
    pub fn open_core(open: &OpenCore) -> Result<(Debuggee, CoreRemarks), OpenCoreError> {
        let path = &open.core;
        let (file, core) = read(path)?;
        let core = Arc::new(core);
        let second = file.try_clone();
        let second = second.map_err(|source| OpenCoreError::Open {
            path: path.clone(),
            source,
        })?;
        let mut memory = CoreMemory::new(Arc::clone(&core), second);
        let main = main_file(&core);
        let program = program_of(open, main)?;
        let main_path = main.map_or(&[][..], |main| &*main.path);
        let builds = Builds::compare(&core, &memory, main_path, &program);
        let mut remarks = CoreRemarks {
            truncated: core
                .whole_length
                .map(|whole| (file.metadata().map_or(0, |it| it.len()), whole)),
            ..CoreRemarks::default()
        };
        remarks.is_program_unknown = !is_of_core(open, &program, &core, &memory, &builds)?;
        builds.allow(&core, &mut memory);
        let state = CoreState {
            maps: maps::maps_of(&core),
            core,
            path: path.clone(),
            program,
        };
        let mut debuggee = Debuggee::of_core(state, Memory::of_core(file, memory));
        debuggee.find_modules_of_core(&builds, &mut remarks);
        Ok((debuggee, remarks))
    }

    fn of_core(state: CoreState, memory: Memory) -> Debuggee {
        let first = state.core.threads.first().map_or(0, |first| first.id);
        let process = state.core.process.as_ref();
        let process = process.map_or(first, |process| process.id);
        let cpu = Cpu::unshared(CpuPolicy::Free, process);
        let mut debuggee = Debuggee::new(process, memory, cpu, Origin::CoreFile);
        // Nothing is ever carried out.
        debuggee.driver.disconnect();
        for thread in &state.core.threads {
            if let Some(known) = thread_of(thread) {
                debuggee.threads.insert(thread.id, known);
            }
        }
        debuggee.image.auxiliary = Auxiliary::parse(&state.core.auxiliary);
        debuggee.core = Some(Box::new(state));
        debuggee
    }

    /// Finds the modules: in the list of the dynamic linker, or, if that is
    /// not in the core file, among the mapped files.
    fn find_modules_of_core(&mut self, builds: &Builds, remarks: &mut CoreRemarks) {
        let Some(state) = &self.core else {
            return;
        };
        let auxiliary = &self.image.auxiliary;
        let mut found = modules::at_start(&self.memory, auxiliary, state.program.clone());
        let is_read = self
            .memory
            .read(auxiliary.program_headers, &mut [0; 8])
            .is_ok();
        if let (false, Some(main)) = (is_read, found.first_mut()) {
            main.bias = bias_by_file(&state.core, &state.program).unwrap_or(0);
        }
        match modules::read_rendezvous(&self.memory, &found) {
            Some(rendezvous) if !rendezvous.modules.is_empty() => found = rendezvous.modules,
            _ => add_mapped(&state.core, builds, &mut found),
        }
        found.retain(|module| is_usable(module, &state.core, builds, remarks));
        self.image.modules = found;
    }
}

fn read(path: &Path) -> Result<(File, CoreFile), OpenCoreError> {
    let opened = std::fs::metadata(path).and_then(|data| {
        if data.is_file() {
            File::open(path).map(|file| (file, data.len()))
        } else {
            Err(std::io::Error::other("it is not a regular file"))
        }
    });
    let (file, length) = opened.map_err(|source| OpenCoreError::Open {
        path: path.to_owned(),
        source,
    })?;
    let read = |offset: u64, bytes: &mut [u8]| core_file::read(&file, offset, bytes);
    let core = CoreFile::parse(length, &read);
    let core = core.map_err(|source| OpenCoreError::Core {
        path: path.to_owned(),
        source,
    })?;
    Ok((file, core))
}

/// Returns the mapped file of the program, by the address of its headers.
fn main_file(core: &CoreFile) -> Option<&MappedFile> {
    let headers = core.auxiliary_entry(AT_PHDR)?;
    core.file_at(headers)
}

/// Returns by how much the addresses of the program differ from those in its
/// file, by where the file was mapped.
fn bias_by_file(core: &CoreFile, program: &Path) -> Option<u64> {
    let main = main_file(core)?;
    let mut mapped = core.files.iter();
    let first = mapped.find(|mapped| mapped.offset == 0 && mapped.path == main.path)?;
    let file = File::open(program).ok()?;
    let read = |offset: u64, bytes: &mut [u8]| core_file::read(&file, offset, bytes);
    let identity = juror_corefile::identity(&read, 0)?;
    Some(first.range.start.wrapping_sub(identity.first_address))
}

/// Returns the path of the program: the given one, or the one that is named.
fn program_of(open: &OpenCore, main: Option<&MappedFile>) -> Result<PathBuf, OpenCoreError> {
    if let Some(given) = &open.program {
        let program = crate::start::executable::locate(given);
        return program.map_err(|error| OpenCoreError::Open {
            path: given.clone(),
            source: std::io::Error::other(error.to_string()),
        });
    }
    let main = main.ok_or_else(|| OpenCoreError::NoProgram(open.core.clone()))?;
    Ok(PathBuf::from(std::ffi::OsStr::from_bytes(&main.path)))
}

/// Checks that the program is that of the core file. Returns false if nothing
/// tells.
fn is_of_core(
    open: &OpenCore,
    program: &Path,
    core: &CoreFile,
    memory: &CoreMemory,
    builds: &Builds,
) -> Result<bool, OpenCoreError> {
    let main = main_file(core);
    let known = main.and_then(|main| builds.of(&main.path));
    let compared;
    let build = match known {
        Some(build) => build,
        // The file is not listed: its headers may be there nevertheless.
        None => {
            let headers = core.auxiliary_entry(AT_PHDR).unwrap_or(0);
            let stored = |at: u64, bytes: &mut [u8]| memory.read_stored(at, bytes);
            let wanted = juror_corefile::identity(&stored, headers & !(PAGE - 1));
            compared = builds::compare(program, wanted);
            &compared
        }
    };
    match build {
        Build::Same { .. } => Ok(true),
        Build::Unknown => Ok(false),
        Build::OtherHeaders => Err(OpenCoreError::OtherHeaders {
            program: program.to_owned(),
            core: open.core.clone(),
        }),
        Build::NoElf => Err(OpenCoreError::NotProgram(program.to_owned())),
        Build::Differs { own, wanted } => Err(OpenCoreError::OtherBuild {
            program: program.to_owned(),
            core: open.core.clone(),
            own: digits(own),
            wanted: digits(wanted),
        }),
        Build::Missing(source) => {
            let source = std::io::Error::new(source.kind(), source.to_string());
            Err(match open.program {
                Some(_) => OpenCoreError::Open {
                    path: program.to_owned(),
                    source,
                },
                None => OpenCoreError::MissingProgram {
                    core: open.core.clone(),
                    program: program.to_owned(),
                    source,
                },
            })
        }
    }
}

fn thread_of(thread: &CoreThread) -> Option<Thread> {
    let registers = Registers::from_words(thread.registers);
    let mut known = Thread::new(ThreadId(thread.id), State::Stopped);
    known.awaits_resume = true;
    known.registers = OnceCell::from(StopRegisters {
        kernel_counter: registers.instruction_pointer(),
        shown: registers,
    });
    let information = thread.signal_information.as_deref();
    let information = information.and_then(raw::signal_information);
    known.pending = information
        .filter(|information| thread.signal != 0 && information.si_signo == thread.signal as i32)
        .map(|information| PendingSignal {
            number: information.si_signo,
            information,
            deliver: true,
            fresh: false,
            synchronous: information.si_code > 0 && is_fault(information.si_signo),
            is_injected: false,
        });
    Some(known)
}

/// Returns whether an instruction causes a signal.
fn is_fault(signal: i32) -> bool {
    matches!(
        signal,
        libc::SIGSEGV | libc::SIGBUS | libc::SIGILL | libc::SIGFPE | libc::SIGTRAP
    )
}

/// Adds the mapped ELF files that are not known.
fn add_mapped(core: &CoreFile, builds: &Builds, found: &mut Vec<Module>) {
    for mapped in core.files.iter().filter(|mapped| mapped.offset == 0) {
        let is_known = found.iter().any(|module| {
            let address = module.dynamic_address.max(module.bias);
            let at = core.file_at(address);
            at.is_some_and(|at| at.path == mapped.path)
        });
        let Some(Build::Same { file, .. }) = builds.of(&mapped.path) else {
            continue;
        };
        let read = |offset: u64, bytes: &mut [u8]| core_file::read(file, offset, bytes);
        let Some(identity) = juror_corefile::identity(&read, 0) else {
            continue;
        };
        if !is_known {
            found.push(Module {
                path: PathBuf::from(std::ffi::OsStr::from_bytes(&mapped.path)),
                bias: mapped.range.start.wrapping_sub(identity.first_address),
                dynamic_address: 0,
                link_map: 0,
                is_main: false,
                in_memory: false,
            });
        }
    }
}

/// Returns whether the symbols of a module's file are those of the process;
/// remarks why not.
fn is_usable(module: &Module, core: &CoreFile, builds: &Builds, remarks: &mut CoreRemarks) -> bool {
    if module.is_main || module.in_memory {
        return true;
    }
    let address = module.dynamic_address.max(module.bias);
    let Some(mapped) = core.file_at(address) else {
        return true;
    };
    match builds.of(&mapped.path) {
        Some(Build::Differs { .. } | Build::OtherHeaders) => {
            remarks.other_builds.push(module.path.clone());
        }
        Some(Build::Unknown) => {
            remarks.unknown_builds.push(module.path.clone());
            return true;
        }
        Some(Build::Missing(_)) => remarks.missing.push(module.path.clone()),
        _ => return true,
    }
    false
}
