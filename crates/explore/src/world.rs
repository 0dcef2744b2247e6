//! The world of a run: what it does to files goes when it ends.
//!
//! A run is one of many, and may do to files what it has done a thousand times, or what only a
//! failing program does. So it has a world of its own (`juror_debuggee::World`). One that a run has left
//! as it was serves the next run, too. Where there can be none, nothing is run: what a program
//! does to files cannot be undone, and the user can say that it may.
//!
//! A process that forks runs by itself would do what `World` does, once for each run: `unshare`, a
//! layer over each file system, and `pivot_root`.

use crate::error::ExploreError;
use juror_debuggee::World;
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The files to which a run writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Files {
    /// Layers over the user's files, which go with the run.
    #[default]
    Kept,
    /// The user's own.
    Real,
}

/// The worlds of runs, one after the other.
#[derive(Debug, Default)]
pub struct Worlds {
    files: Files,
    directories: Vec<PathBuf>,
    /// The world that the last run has left as it was.
    world: RefCell<Option<Arc<World>>>,
    made: Cell<u32>,
    /// Of all workers of a search.
    read_only: Arc<Mutex<Vec<PathBuf>>>,
}

impl Worlds {
    /// Returns the worlds of a program that is run in a directory.
    pub fn new(files: Files, program: &str, directory: &str) -> Worlds {
        let path = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let of_program = Path::new(program).parent().map(Path::to_owned);
        let likely = [
            Some(PathBuf::from(directory)),
            of_program.filter(|it| !it.as_os_str().is_empty()),
            path("HOME"),
            path("TMPDIR"),
            path("XDG_RUNTIME_DIR"),
            Some("/tmp".into()),
            Some("/var/tmp".into()),
            Some("/dev/shm".into()),
        ];
        Worlds {
            files,
            directories: likely.into_iter().flatten().collect(),
            ..Worlds::default()
        }
    }

    /// Returns what runs do to files.
    pub fn files(&self) -> Files {
        self.files
    }

    /// Returns the directories that runs cannot write, for want of a layer.
    pub fn read_only(&self) -> Vec<PathBuf> {
        let read_only = self.read_only.lock();
        read_only.map(|it| it.clone()).unwrap_or_default()
    }

    /// Returns what is needed to make those of another worker.
    pub(crate) fn recipe(&self) -> WorldsRecipe {
        WorldsRecipe {
            files: self.files,
            directories: self.directories.clone(),
            read_only: Arc::clone(&self.read_only),
        }
    }

    /// Returns the world of a run; none if it changes the files.
    pub(crate) fn take(&self) -> Result<Option<Arc<World>>, ExploreError> {
        if self.files == Files::Real {
            return Ok(None);
        }
        match self.world.take() {
            Some(world) if world.is_untouched() => return Ok(Some(world)),
            used => drop_aside(used),
        }
        let world = World::new(&self.directories)?;
        self.made.set(self.made.get() + 1);
        if let Ok(mut read_only) = self.read_only.lock() {
            *read_only = world.read_only().to_vec();
        }
        Ok(Some(Arc::new(world)))
    }

    /// Takes the world of a run that has ended, unless a process that it has made may be writing.
    pub(crate) fn give_back(&self, world: Option<Arc<World>>, made_processes: bool) {
        if made_processes {
            drop_aside(world);
        } else {
            self.world.replace(world);
        }
    }
}

/// The parts from which [`Worlds`] are made.
pub(crate) struct WorldsRecipe {
    files: Files,
    directories: Vec<PathBuf>,
    read_only: Arc<Mutex<Vec<PathBuf>>>,
}

impl WorldsRecipe {
    pub(crate) fn worlds(self) -> Worlds {
        Worlds {
            files: self.files,
            directories: self.directories,
            read_only: self.read_only,
            ..Worlds::default()
        }
    }
}

/// Drops a world while the next run is made: the kernel takes its time over it, most of it asleep.
fn drop_aside(world: Option<Arc<World>>) {
    if let Some(world) = world {
        // Without a thread it is dropped here.
        let _ = std::thread::Builder::new().spawn(move || drop(world));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_world_that_was_left_as_it_was_serves_again() {
        let worlds = Worlds::new(Files::Kept, "./program", "/");
        // If there can be no world, the test says so.
        let Ok(world) = worlds.take() else {
            return;
        };
        worlds.give_back(world, false);
        let world = worlds.take().unwrap();
        assert_eq!(worlds.made.get(), 1);
        worlds.give_back(world, true);
        assert!(worlds.take().unwrap().is_some());
        assert_eq!(worlds.made.get(), 2);
    }

    #[test]
    fn real_files_need_no_world() {
        let worlds = Worlds::new(Files::Real, "program", "/");
        assert!(worlds.take().unwrap().is_none());
    }
}
