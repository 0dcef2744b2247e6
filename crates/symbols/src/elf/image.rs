//! The bytes of an ELF file: on disk, or in memory for the vDSO, which the kernel maps into
//! every process.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::SystemTime;

/// The bytes of an ELF file.
#[derive(Debug)]
pub(super) enum Image {
    OnDisk(File),
    InMemory(Arc<[u8]>),
}

/// A reader that starts at the beginning of the bytes.
pub(super) trait Source: Read + Seek {}

impl<T: Read + Seek> Source for T {}

impl Image {
    /// Returns a reader with a position of its own.
    pub fn source(&self) -> io::Result<Box<dyn Source>> {
        Ok(match self {
            Image::OnDisk(file) => Box::new(file.try_clone()?),
            Image::InMemory(bytes) => Box::new(Cursor::new(Arc::clone(bytes))),
        })
    }

    /// Returns when the file was last written to.
    pub fn written(&self) -> Option<SystemTime> {
        match self {
            Image::OnDisk(file) => file.metadata().and_then(|data| data.modified()).ok(),
            Image::InMemory(_) => None,
        }
    }

    /// Fills a buffer with the bytes from an offset on.
    pub fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        match self {
            Image::OnDisk(file) => file.read_exact_at(buffer, offset),
            Image::InMemory(bytes) => {
                let start = usize::try_from(offset).ok();
                let end = start.and_then(|start| start.checked_add(buffer.len()));
                let part = start
                    .zip(end)
                    .and_then(|(start, end)| bytes.get(start..end));
                let part = part.ok_or(io::ErrorKind::UnexpectedEof)?;
                buffer.copy_from_slice(part);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_in_memory_are_read_like_those_of_a_file() {
        let image = Image::InMemory([1, 2, 3, 4].into());
        let mut two = [0; 2];
        assert!(image.read_exact_at(&mut two, 2).is_ok());
        assert_eq!(two, [3, 4]);
        assert!(image.read_exact_at(&mut two, 3).is_err());
        assert!(image.read_exact_at(&mut two, u64::MAX).is_err());
        let mut all = Vec::new();
        image.source().unwrap().read_to_end(&mut all).unwrap();
        assert_eq!(all, [1, 2, 3, 4]);
    }
}
