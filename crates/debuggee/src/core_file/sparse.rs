//! A file that is complete or does not exist, with holes where it has zeros.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The unit of holes.
const BLOCK: usize = 4096;

/// A file under another name until it is complete. Dropped before that, it is
/// removed.
#[derive(Debug)]
pub(super) struct PartialFile {
    file: File,
    partial: PathBuf,
    path: PathBuf,
    is_complete: bool,
}

impl PartialFile {
    /// Creates the file, in the directory of `path`.
    pub(super) fn create(path: &Path) -> io::Result<PartialFile> {
        let known = std::fs::symlink_metadata(path);
        if known.is_ok_and(|known| !known.is_file()) {
            return Err(io::Error::other("it exists, and is not a regular file"));
        }
        let name = path.file_name();
        let name = name.ok_or_else(|| io::Error::other("it has no file name"))?;
        let mut partial = name.to_owned();
        partial.push(format!(".partial-{}", std::process::id()));
        let partial = path.with_file_name(partial);
        let mut options = OpenOptions::new();
        // The memory of a program may hold secrets.
        let options = options.write(true).create_new(true).mode(0o600);
        Ok(PartialFile {
            file: options.open(&partial)?,
            partial,
            path: path.to_owned(),
            is_complete: false,
        })
    }

    /// Sets the length; what is not written is zero.
    pub(super) fn set_length(&self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    /// Writes bytes; blocks of zeros are left out.
    pub(super) fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut from = 0;
        while let Some(rest) = bytes.get(from..).filter(|rest| !rest.is_empty()) {
            let mut blocks = rest.chunks(BLOCK);
            let is_zero = |block: &&[u8]| block.iter().all(|&byte| byte == 0);
            let zeros: usize = blocks.clone().take_while(is_zero).map(<[u8]>::len).sum();
            if zeros > 0 {
                from += zeros;
                continue;
            }
            let count: usize = blocks
                .by_ref()
                .take_while(|block| !is_zero(block))
                .map(<[u8]>::len)
                .sum();
            let written = rest.get(..count).unwrap_or_default();
            self.file.write_all_at(written, offset + from as u64)?;
            from += count;
        }
        Ok(())
    }

    /// Gives the complete file its name.
    pub(super) fn complete(mut self) -> io::Result<()> {
        std::fs::rename(&self.partial, &self.path)?;
        self.is_complete = true;
        Ok(())
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if !self.is_complete {
            let _ = std::fs::remove_file(&self.partial);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn zeros_are_holes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f");
        let file = PartialFile::create(&path).unwrap();
        let length = 64 * BLOCK;
        file.set_length(length as u64).unwrap();
        let mut bytes = vec![0; length - BLOCK];
        bytes[5] = 1;
        bytes[40 * BLOCK] = 2;
        bytes[length - BLOCK - 1] = 3;
        file.write(BLOCK as u64, &bytes).unwrap();
        assert!(!path.exists());
        file.complete().unwrap();
        let mut expected = vec![0; BLOCK];
        expected.extend(bytes);
        assert_eq!(std::fs::read(&path).unwrap(), expected);
        let metadata = path.metadata().unwrap();
        assert!(metadata.blocks() * 512 < length as u64, "{metadata:?}");
        assert_eq!(metadata.mode() & 0o777, 0o600);
    }

    #[test]
    fn what_is_not_complete_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f");
        std::fs::write(&path, "before").unwrap();
        let file = PartialFile::create(&path).unwrap();
        file.write(0, b"x").unwrap();
        drop(file);
        assert_eq!(std::fs::read(&path).unwrap(), b"before");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
        // A directory, a device, a link is not replaced.
        assert!(PartialFile::create(directory.path()).is_err());
        assert!(PartialFile::create(Path::new("/dev/null")).is_err());
    }
}
