//! The layout of the file systems of a world, as steps from the outermost to the innermost.
//!
//! A user who may mount gets a layer over each mount. Others may do so in a user namespace of their
//! own only, where the mounts that it has inherited cannot be taken apart: a directory with a mount
//! somewhere below it can have no layer. So each directory that lies beside them has one, and those on
//! the way are read-only.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use libc::c_ulong;
use nix::unistd::{AccessFlags, access, geteuid};

use super::mounts::{self, Mount};

/// The most steps.
const STEPS_MAX: usize = 400;

/// The most sockets of other programs that are kept within reach.
const SOCKETS_MAX: usize = 64;

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// A directory, or a socket, with all that is mounted below it, as it is.
    Keep(PathBuf),
    /// A directory over which a layer takes what is written; read-only with these flags if it can
    /// have none.
    Layer(PathBuf, c_ulong),
    /// A directory or a file that is read-only.
    ReadOnly(PathBuf, c_ulong),
    /// The message queues of the world.
    Queues(PathBuf),
}

impl Step {
    pub(super) fn path(&self) -> &Path {
        match self {
            Step::Keep(path)
            | Step::Layer(path, _)
            | Step::ReadOnly(path, _)
            | Step::Queues(path) => path,
        }
    }
}

/// The user that makes the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Maker {
    /// A user who may mount.
    Privileged,
    /// Anyone, in a user namespace.
    Anyone,
}

/// Returns the steps. `directories` are those in which the program will write most likely.
pub(super) fn steps(maker: Maker, directories: &[PathBuf]) -> io::Result<Vec<Step>> {
    let mounts = mounts::visible()?;
    let mut steps = match maker {
        Maker::Privileged => over_mounts(&mounts, Path::is_dir),
        Maker::Anyone => {
            let mut steps = beside_mounts(&mounts);
            add_own(&mut steps, &mounts, directories);
            steps
        }
    };
    add_sockets(&mut steps);
    Ok(steps)
}

/// Returns a layer over each mount that is not kept.
fn over_mounts(mounts: &[Mount], is_directory: fn(&Path) -> bool) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for mount in mounts {
        let point = &mount.point;
        let outer = innermost(&steps, point);
        let is_kept_with_outer = matches!(outer, Some(Step::Keep(_)));
        if mount.kind == "mqueue" {
            steps.push(Step::Queues(point.clone()));
        } else if mount.is_kept() {
            if !is_kept_with_outer {
                steps.push(Step::Keep(point.clone()));
            }
        } else if is_directory(point) {
            steps.push(Step::Layer(point.clone(), mount.flags));
        } else {
            steps.push(Step::ReadOnly(point.clone(), mount.flags));
        }
    }
    steps
}

/// Returns the index of the step that decides about a path so far.
pub(super) fn deciding(steps: &[Step], path: &Path) -> Option<usize> {
    let around = steps.iter().enumerate();
    let around = around.filter(|(_, step)| path.starts_with(step.path()));
    let innermost = around.max_by_key(|(_, step)| step.path().as_os_str().len());
    innermost.map(|(index, _)| index)
}

fn innermost<'a>(steps: &'a [Step], path: &Path) -> Option<&'a Step> {
    steps.get(deciding(steps, path)?)
}

/// Returns a layer over each directory that is not kept and has no mount below it.
fn beside_mounts(mounts: &[Mount]) -> Vec<Step> {
    let mut steps = vec![Step::Keep(PathBuf::from("/"))];
    let mut waiting = vec![PathBuf::from("/")];
    while let Some(directory) = waiting.pop() {
        let Some(mount) = mount_of(mounts, &directory) else {
            continue;
        };
        if mount.kind == "mqueue" {
            steps.push(Step::Queues(directory));
            continue;
        }
        let has_mounts = has_mount_below(mounts, &directory);
        if mount.is_kept() && !has_mounts {
            continue;
        }
        if !mount.is_kept() {
            let is_over = !has_mounts && directory.is_dir() && steps.len() < STEPS_MAX;
            if is_over {
                steps.push(Step::Layer(directory, mount.flags));
                continue;
            }
            steps.push(Step::ReadOnly(directory.clone(), mount.flags));
        }
        waiting.extend(directories_in(&directory));
    }
    steps
}

fn mount_of<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let around = mounts.iter().filter(|mount| path.starts_with(&mount.point));
    around.max_by_key(|mount| mount.point.as_os_str().len())
}

fn has_mount_below(mounts: &[Mount], directory: &Path) -> bool {
    let mut points = mounts.iter().map(|mount| &mount.point);
    points.any(|point| point != directory && point.starts_with(directory))
}

fn directories_in(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_directory = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let mut found: Vec<PathBuf> = entries
        .filter(is_directory)
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

/// Adds layers over directories of this user's: in the user namespace, whoever else has a directory
/// has no number, and a layer cannot copy such a directory up.
fn add_own(steps: &mut Vec<Step>, mounts: &[Mount], directories: &[PathBuf]) {
    for directory in directories {
        let Ok(directory) = directory.canonicalize() else {
            continue;
        };
        let place = outermost_own(directory);
        let is_layer = |step: &Step| matches!(step, Step::Layer(path, _) if *path == place);
        let Some(mount) = mount_of(mounts, &place) else {
            continue;
        };
        if mount.is_kept() || has_mount_below(mounts, &place) || steps.iter().any(is_layer) {
            continue;
        }
        if access(&place, AccessFlags::W_OK).is_ok() {
            steps.push(Step::Layer(place, mount.flags));
        }
    }
}

/// Returns the outermost directory around this one, or itself, that belongs to this user
/// together with all between them.
fn outermost_own(directory: PathBuf) -> PathBuf {
    let own = geteuid().as_raw();
    let is_own = |path: &Path| fs::metadata(path).is_ok_and(|it| it.uid() == own);
    let around = directory.ancestors().take_while(|path| is_own(path));
    let outermost = around.last().map(Path::to_owned);
    outermost.unwrap_or(directory)
}

/// Adds the sockets of other programs: through a layer nobody could connect to them.
fn add_sockets(steps: &mut Vec<Step>) {
    let text = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let paths = text.lines().filter_map(|line| {
        let start = line.find(" /")?;
        line.get(start + 1..).map(PathBuf::from)
    });
    let is_socket = |path: &PathBuf| {
        fs::symlink_metadata(path).is_ok_and(|it| it.file_type().is_socket())
            && path.canonicalize().is_ok_and(|real| real == *path)
    };
    let mut sockets: Vec<PathBuf> = paths.filter(is_socket).collect();
    sockets.sort();
    sockets.dedup();
    let is_layered = |path: &PathBuf| matches!(innermost(steps, path), Some(Step::Layer(..)));
    sockets.retain(is_layered);
    steps.extend(sockets.into_iter().take(SOCKETS_MAX).map(Step::Keep));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(point: &str, kind: &str) -> Mount {
        Mount {
            id: 0,
            point: point.into(),
            kind: kind.to_owned(),
            is_read_only: false,
            flags: 0,
        }
    }

    #[test]
    fn each_mount_of_files_has_a_layer() {
        let mounts = [
            mount("/", "ext4"),
            mount("/dev", "devtmpfs"),
            mount("/dev/mqueue", "mqueue"),
            mount("/dev/pts", "devpts"),
            mount("/dev/shm", "tmpfs"),
            mount("/etc/hosts", "ext4"),
            mount("/home", "ext4"),
            mount("/home/share", "proc"),
            mount("/proc", "proc"),
            mount("/proc/fs", "binfmt_misc"),
        ];
        let steps = over_mounts(&mounts, |path| !path.ends_with("hosts"));
        let keep = |path: &str| Step::Keep(path.into());
        let layer = |path: &str| Step::Layer(path.into(), 0);
        assert_eq!(
            steps,
            [
                layer("/"),
                keep("/dev"),
                Step::Queues("/dev/mqueue".into()),
                layer("/dev/shm"),
                Step::ReadOnly("/etc/hosts".into(), 0),
                layer("/home"),
                keep("/home/share"),
                keep("/proc"),
            ]
        );
    }

    #[test]
    fn no_layer_lies_over_a_mount_if_it_may_not() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        for path in ["beside/inner", "way/beside", "way/disk"] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        let disk = root.join("way/disk");
        let mounts = [mount("/", "proc"), mount(root.to_str().unwrap(), "ext4")];
        let layers = |mounts: &[Mount]| {
            let mut layers: Vec<PathBuf> = beside_mounts(mounts)
                .into_iter()
                .filter(|step| matches!(step, Step::Layer(..)))
                .map(|step| step.path().to_owned())
                .collect();
            layers.sort();
            layers
        };
        assert_eq!(layers(&mounts), std::slice::from_ref(&root));
        let [first, second] = mounts;
        let mounts = [first, second, mount(disk.to_str().unwrap(), "ext4")];
        let expected = [root.join("beside"), root.join("way/beside"), disk];
        assert_eq!(layers(&mounts), expected);
    }
}
