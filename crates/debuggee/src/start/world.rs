//! The world of a program: the files that it sees, and what it may leave there.
//!
//! The writes of a program go to layers over the file systems, which nobody else sees, and which end
//! with the world: no file changes. So it is with the objects of System V and the message queues of
//! POSIX. Devices, and connections to other programs, are as without a world. The program's user, its
//! directories and its files have the names that they always have.
//!
//! A world is a set of namespaces that no process needs to be in: the descriptors here keep it, so it
//! ends with juror, however that ends. A program that has left nothing leaves its world to the next
//! one; which costs a run some ten microseconds, and a new world some milliseconds.
//!
//! Invariant: nothing that is written in a world is seen outside of it, or in another world.

mod layout;
mod making;
mod mounts;
mod prepared;

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;

use nix::errno::Errno;
use nix::unistd::{AccessFlags, access};

use crate::kernel::{namespace, process_status};
use layout::Maker;
pub(crate) use making::Entry;
use making::{Made, Refusal};

/// The world of a program, in which it can be launched.
#[derive(Debug)]
pub struct World {
    user: Option<OwnedFd>,
    mounts: OwnedFd,
    objects: Option<OwnedFd>,
    uppers: Vec<(std::fs::File, Trace)>,
    tables: Vec<(std::fs::File, Vec<u8>)>,
    read_only: Vec<PathBuf>,
}

/// The attributes of a directory that change with its entries.
type Trace = (u64, u64, u32, u32, u32, (i64, i64), (i64, i64));

/// Why there is no world.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WorldError(String);

impl World {
    /// Makes a world. `directories` are those in which the program will write most likely: the one
    /// where it works, then others.
    ///
    /// # Errors
    /// The kernel, or a policy of the system, forbids it.
    pub fn new(directories: &[PathBuf]) -> Result<World, WorldError> {
        let own = std::process::id();
        let makers: &[Maker] = if process_status::may_mount(own) {
            &[Maker::Privileged, Maker::Anyone]
        } else {
            &[Maker::Anyone]
        };
        let mut refused = None;
        for maker in makers {
            match World::by(*maker, directories) {
                Ok(world) => return Ok(world),
                Err(refusal) => refused = Some(refusal),
            }
        }
        Err(WorldError(match refused {
            Some(Refusal::Namespaces(errno)) => namespace::refusal(errno),
            Some(Refusal::Mounts(errno)) => format!(
                "layers over the file systems are forbidden here ({}), or the kernel has none",
                errno.desc()
            ),
            Some(Refusal::System(error)) => error.to_string(),
            None => String::new(),
        }))
    }

    fn by(maker: Maker, directories: &[PathBuf]) -> Result<World, Refusal> {
        let steps = layout::steps(maker, directories)?;
        let Made {
            user,
            mounts,
            objects,
            uppers,
            tables,
            without_layer,
        } = making::make(maker, &steps)?;
        // A program that cannot write in its working directory behaves in another way.
        let works_at = directories.first();
        let deciding = works_at.and_then(|directory| layout::deciding(&steps, directory));
        if deciding.is_some_and(|index| without_layer.contains(&index)) {
            return Err(Refusal::Mounts(Errno::EROFS));
        }
        let step = |index: &usize| steps.get(*index);
        let is_missed = |path: &PathBuf| access(path, AccessFlags::W_OK).is_ok();
        let read_only = without_layer.iter().filter_map(step);
        let uppers = uppers.into_iter().map(|directory| {
            let directory = std::fs::File::from(directory);
            let trace = trace_of(&directory)?;
            Ok((directory, trace))
        });
        let tables = tables.into_iter().map(|table| {
            let table = std::fs::File::from(table);
            let content = content_of(&table)?;
            Ok((table, content))
        });
        Ok(World {
            user,
            mounts,
            objects,
            uppers: uppers.collect::<io::Result<_>>()?,
            tables: tables.collect::<io::Result<_>>()?,
            read_only: read_only
                .map(|step| step.path().to_owned())
                .filter(is_missed)
                .collect(),
        })
    }

    /// Returns whether no program has left anything in it.
    pub fn is_untouched(&self) -> bool {
        let has_same_trace = |(directory, then): &(std::fs::File, Trace)| {
            trace_of(directory).is_ok_and(|now| now == *then)
        };
        let has_same_content = |(table, then): &(std::fs::File, Vec<u8>)| {
            content_of(table).is_ok_and(|now| now == *then)
        };
        self.uppers.iter().all(has_same_trace) && self.tables.iter().all(has_same_content)
    }

    /// Returns the directories of this user that cannot be written in this world, for want of a layer.
    pub fn read_only(&self) -> &[PathBuf] {
        &self.read_only
    }

    pub(crate) fn entry(&self) -> Entry {
        let number = |descriptor: &OwnedFd| descriptor.as_raw_fd();
        Entry {
            user: self.user.as_ref().map(number),
            mounts: number(&self.mounts),
            objects: self.objects.as_ref().map(number),
        }
    }
}

fn trace_of(directory: &std::fs::File) -> io::Result<Trace> {
    let it = directory.metadata()?;
    let (changed, modified) = ((it.ctime(), it.ctime_nsec()), (it.mtime(), it.mtime_nsec()));
    Ok((
        it.size(),
        it.nlink(),
        it.mode(),
        it.uid(),
        it.gid(),
        changed,
        modified,
    ))
}

/// Returns the content of a file of `/proc`, from its start.
fn content_of(table: &std::fs::File) -> io::Result<Vec<u8>> {
    let mut content = vec![0; 4096];
    let count = table.read_at(&mut content, 0)?;
    content.truncate(count);
    Ok(content)
}
