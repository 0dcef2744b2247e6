//! The mounts of this process (proc_pid_mountinfo(5)).

use std::ffi::{CString, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use libc::c_ulong;

/// A mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    pub(super) id: u64,
    pub(super) point: PathBuf,
    /// The type of its file system.
    pub(super) kind: String,
    pub(super) is_read_only: bool,
    /// The flags that a change of it has to repeat.
    pub(super) flags: c_ulong,
}

/// Types of file systems that hold no user's files, or none that a copy could stand for.
const KERNELS_OWN: [&str; 22] = [
    "autofs",
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "devtmpfs",
    "efivarfs",
    "fusectl",
    "hugetlbfs",
    "mqueue",
    "nfsd",
    "nsfs",
    "proc",
    "pstore",
    "rpc_pipefs",
    "securityfs",
    "selinuxfs",
    "sysfs",
    "tracefs",
];

impl Mount {
    /// Returns whether a program may use it as it is.
    pub(super) fn is_kept(&self) -> bool {
        let is_below = |directory| self.point.starts_with(directory);
        self.is_read_only
            || KERNELS_OWN.contains(&&*self.kind)
            || is_below("/proc")
            || is_below("/sys")
            || is_below("/dev") && !is_below("/dev/shm")
    }

    fn parse(line: &[u8]) -> Option<Mount> {
        let mut words = line.split(|byte| *byte == b' ');
        let id = std::str::from_utf8(words.next()?).ok()?.parse().ok()?;
        let point = unescape(words.nth(3)?);
        let options = std::str::from_utf8(words.next()?).ok()?;
        let kind = words.skip_while(|word| *word != b"-").nth(1)?;
        let options = || options.split(',');
        let flags = options()
            .filter_map(flag_of)
            .fold(0, |all, flag| all | flag);
        Some(Mount {
            id,
            point: PathBuf::from(OsString::from_vec(point)),
            kind: String::from_utf8_lossy(kind).into_owned(),
            is_read_only: options().any(|option| option == "ro"),
            flags,
        })
    }
}

fn flag_of(option: &str) -> Option<c_ulong> {
    Some(match option {
        "nosuid" => libc::MS_NOSUID,
        "nodev" => libc::MS_NODEV,
        "noexec" => libc::MS_NOEXEC,
        "noatime" => libc::MS_NOATIME,
        "nodiratime" => libc::MS_NODIRATIME,
        "relatime" => libc::MS_RELATIME,
        _ => return None,
    })
}

/// Replaces `\040` and the like by the characters that they stand for.
fn unescape(word: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(word.len());
    let mut rest = word;
    while let [first, after @ ..] = rest {
        let digits = after.get(..3).filter(|_| *first == b'\\');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                text.push(byte);
                rest = after.get(3..).unwrap_or_default();
            }
            None => {
                text.push(*first);
                rest = after;
            }
        }
    }
    text
}

/// Returns the mounts that are not hidden by others, each after the one that it lies in.
pub(super) fn visible() -> std::io::Result<Vec<Mount>> {
    let text = std::fs::read("/proc/self/mountinfo")?;
    let mut mounts = parse(&text);
    mounts.retain(|mount| mount_at(&mount.point).is_none_or(|id| id == mount.id));
    Ok(mounts)
}

/// Returns the last mount at each place, sorted by place.
fn parse(text: &[u8]) -> Vec<Mount> {
    let lines = text.split(|byte| *byte == b'\n');
    let mut mounts: Vec<Mount> = lines.filter_map(Mount::parse).collect();
    mounts.reverse();
    mounts.sort_by(|one, other| one.point.cmp(&other.point));
    mounts.dedup_by(|later, first| later.point == first.point);
    mounts
}

/// Returns the number of the mount to which a path leads; none if that is not known.
fn mount_at(path: &Path) -> Option<u64> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    // SAFETY: `statx` is plain data of integers, for which zero is a value.
    let mut status: libc::statx = unsafe { std::mem::zeroed() };
    let flags = libc::AT_NO_AUTOMOUNT | libc::AT_SYMLINK_NOFOLLOW;
    // SAFETY: a string that ends with zero, and a live structure for the kernel to fill in.
    let result = unsafe {
        libc::statx(
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            libc::STATX_MNT_ID,
            &raw mut status,
        )
    };
    // A place that this user cannot see is left as it is.
    let is_known = result == 0 && status.stx_mask & libc::STATX_MNT_ID != 0;
    is_known.then_some(status.stx_mnt_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"\
22 27 0:21 / /proc rw,relatime - proc proc rw
24 27 0:6 / /dev rw,nosuid,relatime - devtmpfs devtmpfs rw
25 24 0:23 / /dev/shm rw,relatime - tmpfs tmpfs rw
30 25 0:27 / /dev/shm rw,nosuid,nodev,relatime shared:3 master:1 - tmpfs tmpfs rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
31 27 8:1 / /media/a\\040disk ro,nosuid - vfat /dev/sda rw
a damaged line
";

    #[test]
    fn the_last_mount_at_a_place_is_read() {
        let mounts = parse(TEXT);
        let points: Vec<_> = mounts.iter().map(|it| it.point.to_str().unwrap()).collect();
        assert_eq!(points, ["/", "/dev", "/dev/shm", "/media/a disk", "/proc"]);
        let shared = mounts.get(2).unwrap();
        assert_eq!(shared.id, 30);
        assert_eq!(
            shared.flags,
            libc::MS_NOSUID | libc::MS_NODEV | libc::MS_RELATIME
        );
        let kept: Vec<bool> = mounts.iter().map(Mount::is_kept).collect();
        assert_eq!(kept, [false, true, false, true, true]);
    }

    #[test]
    fn escapes_are_those_of_the_kernel() {
        assert_eq!(unescape(b"/a\\040b\\134"), b"/a b\\");
        assert_eq!(unescape(b"\\0"), b"\\0");
    }

    #[test]
    fn the_root_is_visible() {
        let mounts = visible().unwrap();
        assert!(mounts.iter().any(|mount| mount.point == Path::new("/")));
    }
}
