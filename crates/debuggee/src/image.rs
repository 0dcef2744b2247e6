//! The image of a program: its modules, and the memory that juror has mapped in it.

pub(crate) mod module_files;
pub(crate) mod modules;
mod overwritten_code;
mod preparation;
mod resolver;

use crate::image::modules::{Auxiliary, Module};
use crate::patches::Patches;
use crate::state::out_of_line::{OriginalLocation, OutOfLineSlots};

/// The mapped program, as far as juror knows it, and the memory that juror has
/// mapped in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Image {
    pub(crate) auxiliary: Auxiliary,
    pub(crate) modules: Vec<Module>,
    /// The function that the dynamic linker calls at each change of its list of
    /// modules, if a trap is there.
    pub(crate) rendezvous_address: Option<u64>,
    /// The entry point of the program, until it has been reached: by then a
    /// linker whose rendezvous function has no known name is ready.
    pub(crate) entry_point: Option<u64>,
    pub(crate) out_of_line: OutOfLineSlots,
    pub(crate) patches: Patches,
    /// A seccomp filter of the program's is installed: juror injects no system call.
    pub(crate) is_seccomp_filtered: bool,
    /// A juror that was killed has left patches.
    pub(crate) is_left_over: bool,
    /// The sites whose traps and jumps the program had written over when it ended.
    pub(crate) overwritten_at_end: Vec<u64>,
}

impl Image {
    /// Forgets the program, which has been replaced.
    fn forget(&mut self) {
        self.out_of_line = OutOfLineSlots::default();
        self.patches = Patches::default();
        self.is_left_over = false;
        self.overwritten_at_end.clear();
        self.rendezvous_address = None;
        self.entry_point = None;
        self.modules.clear();
    }

    /// Returns the position in the program of a counter in a slot, or at a twin of a
    /// patch.
    #[inline]
    pub(crate) fn original_of(&self, counter: u64) -> Option<OriginalLocation> {
        if let Some(place) = self.out_of_line.original_of(counter) {
            return Some(place);
        }
        if !self.patches.is_any() {
            return None;
        }
        let (address, is_first) = self.patches.original_of(counter)?;
        Some(OriginalLocation {
            address,
            executed: !is_first,
        })
    }

    /// Takes over the modules of the process of which this one is a copy.
    pub(crate) fn take_modules_of(&mut self, other: &Image) {
        self.auxiliary = other.auxiliary;
        self.modules.clone_from(&other.modules);
        self.rendezvous_address = other.rendezvous_address;
        self.entry_point = other.entry_point;
    }

    /// Returns the addresses of the traps that follow the dynamic linker.
    fn own_points(&self) -> impl Iterator<Item = u64> + use<> {
        let points = [self.rendezvous_address, self.entry_point];
        points.into_iter().flatten()
    }

    /// Returns true if a trap that follows the dynamic linker is here.
    pub(crate) fn is_own_point(&self, address: u64) -> bool {
        self.rendezvous_address == Some(address) || self.entry_point == Some(address)
    }
}
