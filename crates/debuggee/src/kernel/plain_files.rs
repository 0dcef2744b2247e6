//! Files whose reads and writes wait for no other program.

use std::path::Path;

use nix::sys::statfs::statfs;

/// The file systems on a disk or in memory: ext2 to ext4, XFS, Btrfs, F2FS, overlayfs, tmpfs, ramfs,
/// SquashFS, ZFS, bcachefs, ISO 9660, FAT, exFAT, EROFS. Others may ask a program (FUSE), a network, or
/// the kernel for news (procfs).
const PLAIN: [i64; 14] = [
    0xef53,
    0x5846_5342,
    0x9123_683e,
    0xf2f5_2010,
    0x794c_7630,
    0x0102_1994,
    0x8584_58f6,
    0x7371_7368,
    0x2fc1_2fc1,
    0xca45_1a4e,
    0x9660,
    0x4d44,
    0x2011_bab0,
    0xe0f5_e1e2,
];

/// Returns whether an open file of a process is a regular file or a directory whose reads and writes
/// wait for no other program.
pub(crate) fn leads_to_one(process: u32, descriptor: u64) -> bool {
    let path = format!("/proc/{process}/fd/{descriptor}");
    let path = Path::new(&path);
    let kind = std::fs::metadata(path).map(|it| it.file_type());
    let is_file = kind.is_ok_and(|it| it.is_file() || it.is_dir());
    let system = || statfs(path).map(|it| it.filesystem_type().0);
    is_file && system().is_ok_and(|it| PLAIN.contains(&it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn files_of_the_kernel_and_devices_are_none() {
        let own = std::process::id();
        let is_plain = |path: &str| {
            let file = std::fs::File::open(path).unwrap();
            leads_to_one(own, file.as_raw_fd() as u64)
        };
        assert!(!is_plain("/proc/self/status") && !is_plain("/dev/null"));
        assert!(!leads_to_one(own, 1 << 20));
        let file = tempfile::tempfile().unwrap();
        let system = nix::sys::statfs::fstatfs(&file).unwrap();
        let is_known = PLAIN.contains(&system.filesystem_type().0);
        assert_eq!(leads_to_one(own, file.as_raw_fd() as u64), is_known);
    }
}
